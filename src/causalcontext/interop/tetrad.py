"""Tetrad's text file, which causal-learn and py-tetrad read too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from causalcontext.errors import DataError
from causalcontext.interop.formats import graph_of_lines, plain_lines, refuse_letters

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph


def to_tetrad(graph: Graph) -> str:
    """The graph as Tetrad saves it; names with blanks, commas or semicolons are refused.

    Undirected edges of a CPDAG are `---`; a PAG keeps its circles.

    Examples
    --------
    >>> from causalcontext.graphs.graph import Graph
    >>> print(to_tetrad(Graph.from_edges("XY", [("X", "Y", "-->")])))
    Graph Nodes:
    X;Y
    <BLANKLINE>
    Graph Edges:
    1. X --> Y
    <BLANKLINE>
    """
    edges = [
        f"{number}. {x} {mark} {y}"
        for number, (x, y, mark) in enumerate(plain_lines(graph, "Tetrad"), 1)
    ]
    blanks = {letter for name in graph.names for letter in name if letter.isspace()}
    refuse_letters(graph.names, {";", ",", *blanks}, "Tetrad")
    return "\n".join(["Graph Nodes:", ";".join(graph.names), "", "Graph Edges:", *edges, ""])


def from_tetrad(text: str, kind: str | None = None) -> Graph:
    """The graph in a text of Tetrad; unless `kind` says what it is, a PAG if an edge has a
    circle.
    """
    lines = [line.strip() for line in text.strip().split("\n")]
    if "Graph Nodes:" not in lines or "Graph Edges:" not in lines:
        raise DataError(
            "the text is not in Tetrad's format, expected 'Graph Nodes:' and 'Graph Edges:'"
        )
    names = re.split("[;,]", lines[lines.index("Graph Nodes:") + 1])
    edges = []
    for line in lines[lines.index("Graph Edges:") + 1 :]:
        if not line:
            break
        parts = line.split()
        if len(parts) != 4 or not re.fullmatch("[<o-]-[>o-]", parts[2]):
            raise DataError(f"the Tetrad text has an edge {line!r}, expected '1. X --> Y'")
        edges.append((parts[1], parts[3], parts[2]))
    return graph_of_lines(names, edges, kind)
