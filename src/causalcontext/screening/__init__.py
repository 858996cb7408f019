"""The looks at an ordinary table before a search: columns that cannot be variables, functions of
others, damaged cells.

`screen.py` has their order, `settings.py` the numbers that they rest on.
"""
