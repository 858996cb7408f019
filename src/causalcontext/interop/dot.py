"""DOT, the language of graphviz; no graphviz is needed to write it."""

from __future__ import annotations

from typing import Any

from causalcontext.graphs.endpoints import Endpoint, endpoints_of_mark
from causalcontext.graphs.graph import Graph, LabeledEdge, LabeledUnion
from causalcontext.graphs.lag_names import times

_HEADS = {
    Endpoint.TAIL: "none",
    Endpoint.ARROW: "normal",
    Endpoint.CIRCLE: "odot",
    Endpoint.CONFLICT: "tee",
    Endpoint.MIXED: "onormal",
}
_STYLES = {"-->": "", "<=>": 'dir=both, arrowhead=normal, arrowtail=normal, color="black:black"'}


def to_dot(graph: Graph | LabeledUnion) -> str:
    """The graph in DOT; edges of a labeled union that not all contexts have are labeled with those
    that do.

    Nodes of a window graph have the attributes `variable` and `lag`, which graphviz leaves alone.

    Examples
    --------
    >>> print(to_dot(Graph.from_edges("XY", [("X", "Y", "-->")])))
    digraph {
      "X";
      "Y";
      "X" -> "Y";
    }
    """
    ends = (name for edge in graph.edges for name in edge[:2])
    names = graph.names if isinstance(graph, Graph) else tuple(dict.fromkeys(ends))
    lines = [f"  {quoted(name)};" for name in names]
    for number, (name, time) in enumerate(times(names).items()):
        variable = quoted(str(time["variable"]))
        lines[number] = f"  {quoted(name)} [variable={variable}, lag={time['lag']}];"
    for edge in graph.edges:
        contexts: tuple[Any, ...] = ()
        if isinstance(graph, LabeledUnion) and isinstance(edge, LabeledEdge):
            contexts = () if edge.contexts == graph.all_contexts else edge.contexts
        label = f"label={quoted(', '.join(map(str, contexts)))}" if contexts else ""
        attributes = ", ".join(filter(None, (_style(edge.mark), label)))
        bracket = f" [{attributes}]" if attributes else ""
        lines.append(f"  {quoted(edge.source)} -> {quoted(edge.target)}{bracket};")
    return "\n".join(["digraph {", *lines, "}"])


def _style(mark: str) -> str:
    """The attributes of an edge with a mark: heads at both ends, dashed where no end is a cause."""
    if mark in _STYLES:
        return _STYLES[mark]
    tail, head = (_HEADS[end] for end in endpoints_of_mark(mark))
    line = ", style=dashed" if mark in ("x-x", "<->") else ""
    return f"dir=both, arrowhead={head}, arrowtail={tail}{line}"


def quoted(text: str) -> str:
    """A DOT string. Only the quote has an escape; a backslash is itself, and doubled so that labels
    show it.
    """
    spelled = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    )
    return f'"{spelled}"'
