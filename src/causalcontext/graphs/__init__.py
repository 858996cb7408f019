"""Graphs by name: the marks of an edge, one graph, and the union of several."""
