"""What an ordinary table brings with it: columns that cannot be variables, functions of others,
damaged cells.
"""
