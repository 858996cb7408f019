"""From what `discover` is given to the task of a search: a table in memory, a scan of one that is
not, or windows of rows.
"""
