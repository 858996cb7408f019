"""Compiled numerics: arrays in, arrays out. Nothing here knows a name, a table or a graph."""
