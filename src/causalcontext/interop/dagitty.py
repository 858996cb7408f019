"""DAGitty's text, for dagitty.net and the R package of that name."""

from __future__ import annotations

import re

from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import GraphKind
from causalcontext.graphs.graph import Graph
from causalcontext.interop.formats import COMMON_MARKS, refuse_letters, refuse_marks

_SPELLED = {"-->": "->", "<--": "<-", "<->": "<->"}
_LINES: dict[GraphKind, dict[str, str]] = {
    GraphKind.CPDAG: _SPELLED | {"o-o": "--"},
    GraphKind.PAG: (
        _SPELLED
        | {
            "o-o": "@-@",
            "o->": "@->",
            "<-o": "<-@",
            "---": "--",
            "o--": "@--",
            "--o": "--@",
        }
    ),
}
_NAME = r'"([^"]*)"'
_LINE = re.compile(rf"^\s*{_NAME}(?:\s*([<@-]*[>@-]+)\s*{_NAME})?\s*$")


def to_dagitty(graph: Graph) -> str:
    """The graph as `dag {...}`, `pdag {...}` if it has undirected edges, or `pag {...}` with
    circles as `@`.

    Quotes and line ends in names are refused.

    Examples
    --------
    >>> print(to_dagitty(Graph.from_edges("XY", [("X", "Y", "-->")])))
    dag {
    "X"
    "Y"
    "X" -> "Y"
    }
    """
    refuse_marks(graph, COMMON_MARKS[graph.kind], "DAGitty")
    refuse_letters(graph.names, '"\\\n\r', "DAGitty")
    pattern = "pdag" if any(edge.mark == "o-o" for edge in graph.edges) else "dag"
    graph_type = "pag" if graph.kind is GraphKind.PAG else pattern
    names = [f'"{name}"' for name in graph.names]
    spelled = _LINES[graph.kind]
    edges = [f'"{edge.source}" {spelled[edge.mark]} "{edge.target}"' for edge in graph.edges]
    return "\n".join([f"{graph_type} {{", *names, *edges, "}"])


def from_dagitty(text: str) -> Graph:
    """The graph in a text as `to_dagitty` writes it: one variable or edge a line, names in
    quotes.
    """
    lines = [line for line in text.strip().split("\n") if line.strip()]
    head = re.match(r"^\s*(dag|pdag|pag)\s*\{\s*$", lines[0]) if len(lines) > 1 else None
    if head is None or lines[-1].strip() != "}":
        raise DataError(
            "the text is not in DAGitty's format, expected 'dag {', a line per variable and edge,"
            " and '}'"
        )
    kind = GraphKind.PAG if head[1] == "pag" else GraphKind.CPDAG
    marks = {spelled: mark for mark, spelled in _LINES[kind].items()}
    names: dict[str, None] = {}
    edges = []
    for line in lines[1:-1]:
        match = _LINE.match(line)
        if match is None or match[2] not in (None, *marks):
            raise DataError(
                f"the DAGitty text has a line {line!r}, expected one quoted variable or edge"
            )
        names[match[1]] = None
        if match[2]:
            names[match[3]] = None
            edges.append((match[1], match[3], marks[match[2]]))
    return Graph.from_edges(tuple(names), edges, kind)
