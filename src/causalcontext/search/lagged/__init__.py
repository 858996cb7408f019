"""Searches over time: lagged parents first, then what acts inside a time step, each on the rows
that tell.
"""
