"""Tables of any kind and size as one `Dataset`, visited once: kinds, contexts, moments, missing
values, files, lags.
"""
