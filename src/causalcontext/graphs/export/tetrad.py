"""Tetrad's text file, which causal-learn and py-tetrad read too."""

from __future__ import annotations

import re

from causalcontext.errors import DataError
from causalcontext.graphs.export.refusals import refuse_letters, refuse_marks
from causalcontext.graphs.graph import Graph, Mark

_MARKS = {"-->": "-->", "o-o": "---", "<->": "<->"}


def to_tetrad(graph: Graph) -> str:
    """The graph as Tetrad saves it; names with blanks, commas or semicolons are refused.

    Examples
    --------
    >>> print(to_tetrad(Graph.from_edges("XY", [("X", "Y", "-->")])))
    Graph Nodes:
    X;Y
    <BLANKLINE>
    Graph Edges:
    1. X --> Y
    <BLANKLINE>
    """
    refuse_marks(graph, {Mark.FORWARD, Mark.BACKWARD, Mark.UNDIRECTED, Mark.CONFOUNDED}, "Tetrad")
    blanks = {letter for name in graph.names for letter in name if letter.isspace()}
    refuse_letters(graph, {";", ",", *blanks}, "Tetrad")
    edges = [f"{number}. {edge.source} {_MARKS[edge.mark]} {edge.target}" for number, edge in enumerate(graph.edges, 1)]
    return "\n".join(["Graph Nodes:", ";".join(graph.names), "", "Graph Edges:", *edges, ""])


def from_tetrad(text: str) -> Graph:
    """The graph in a text of Tetrad."""
    lines = [line.strip() for line in text.strip().split("\n")]
    if "Graph Nodes:" not in lines or "Graph Edges:" not in lines:
        raise DataError("the text is not Tetrad's, expected 'Graph Nodes:' and 'Graph Edges:'")
    names = re.split("[;,]", lines[lines.index("Graph Nodes:") + 1])
    edges = []
    for line in lines[lines.index("Graph Edges:") + 1 :]:
        if not line:
            break
        parts = line.split()
        if len(parts) != 4 or parts[2] not in ("-->", "<--", "---", "o-o", "<->"):
            raise DataError(f"the Tetrad text has an edge {line!r}, expected '1. X --> Y'")
        source, mark, target = parts[1:]
        if mark == "<--":
            source, target, mark = target, source, "-->"
        edges.append((source, target, "o-o" if mark == "---" else mark))
    return Graph.from_edges(names, edges)
