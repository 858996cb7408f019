"""DAGitty's text, for dagitty.net and the R package of that name."""

from __future__ import annotations

import re

from causalcontext.errors import DataError
from causalcontext.graphs.export.refusals import refuse_letters, refuse_marks
from causalcontext.graphs.graph import Graph, Mark

_ARROWS = {"-->": "->", "o-o": "--", "<->": "<->"}
_NAME = r'"([^"]*)"'
_LINE = re.compile(rf"^\s*{_NAME}(?:\s*(->|--|<->|<-)\s*{_NAME})?\s*$")


def to_dagitty(graph: Graph) -> str:
    """The graph as `dag {...}`, or `pdag {...}` if it has undirected edges; quotes and line ends in names are refused.

    Examples
    --------
    >>> print(to_dagitty(Graph.from_edges("XY", [("X", "Y", "-->")])))
    dag {
    "X"
    "Y"
    "X" -> "Y"
    }
    """
    refuse_marks(graph, {Mark.FORWARD, Mark.BACKWARD, Mark.UNDIRECTED, Mark.CONFOUNDED}, "DAGitty")
    refuse_letters(graph, '"\\\n\r', "DAGitty")
    kind = "pdag" if any(edge.mark == Mark.UNDIRECTED.text for edge in graph.edges) else "dag"
    names = [f'"{name}"' for name in graph.names]
    edges = [f'"{edge.source}" {_ARROWS[edge.mark]} "{edge.target}"' for edge in graph.edges]
    return "\n".join([f"{kind} {{", *names, *edges, "}"])


def from_dagitty(text: str) -> Graph:
    """The graph in a text as `to_dagitty` writes it: one variable or edge a line, names in quotes."""
    lines = [line for line in text.strip().split("\n") if line.strip()]
    if len(lines) < 2 or not re.match(r"^\s*p?dag\s*\{\s*$", lines[0]) or lines[-1].strip() != "}":
        raise DataError("the text is not DAGitty's, expected 'dag {', a line for each variable and edge, and '}'")
    names: dict[str, None] = {}
    edges = []
    for line in lines[1:-1]:
        found = _LINE.match(line)
        if found is None:
            raise DataError(f"the DAGitty text has a line {line!r}, expected one quoted variable or edge")
        names.update(dict.fromkeys(name for name in (found[1], found[3]) if name is not None))
        if found[2]:
            source, target = (found[3], found[1]) if found[2] == "<-" else (found[1], found[3])
            mark = {"->": "-->", "<-": "-->", "--": "o-o", "<->": "<->"}[found[2]]
            edges.append((source, target, mark))
    return Graph.from_edges(tuple(names), edges)
