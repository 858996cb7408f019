"""Searches with lags: which columns of the past and of the present each variable depends on, and in
which contexts.
"""
