"""A result whose graphs are PAGs, made from that of a pattern: every mark of a PAG is in it, and
two that differ.
"""

from __future__ import annotations

from dataclasses import replace

import causalcontext as cc

MARKS = {
    "dry": ("-->", "o->", "<->", "o-o", "o->", "-->", "<->", "o-o"),
    "wet": ("<->", "o->", "<->", "<-o", "-->", "-->", "-->", "x-x"),
}


def soil_pags() -> cc.ContextGraphs:
    """The soil example, its edges with these marks; where they come from is not known."""
    soil = cc.discover(
        cc.examples.soil_moisture(2000, seed=1), context="soil", alpha=0.01, method="pc-ac"
    )
    graphs = {}
    for value, graph in soil.graphs.items():
        edges = [(*edge[:2], mark) for edge, mark in zip(graph.edges, MARKS[value], strict=False)]
        graphs[value] = cc.Graph.from_edges(graph.names, edges, "pag")
    return replace(soil, graphs=graphs, origins={})
