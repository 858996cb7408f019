"""The rules that several formats share: the marks and names they can hold, and edges as Tetrad and
causal-learn write them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from causalcontext.errors import OptionError, install
from causalcontext.graphs.endpoints import ENDPOINTS_OF_MARK, Endpoint, GraphKind, kind_of_marks
from causalcontext.graphs.graph import Graph

COMMON_MARKS: dict[GraphKind, tuple[str, ...]] = {
    GraphKind.CPDAG: ("-->", "o-o", "<->"),
    GraphKind.PAG: tuple(
        mark
        for mark, endpoints in ENDPOINTS_OF_MARK.items()
        if {*endpoints} <= {Endpoint.TAIL, Endpoint.ARROW, Endpoint.CIRCLE}
    ),
}
"""The marks that most tools have for a graph of either kind."""

_ADVICE = {
    Endpoint.CONFLICT: "; export.conflicts_as_undirected(graph) turns them into 'o-o'",
    Endpoint.MIXED: "; export the graphs of the contexts instead of their union",
}


def refuse_marks(graph: Graph, allowed: Collection[str], where: str) -> None:
    """Return if every edge, as it is written, has one of the allowed marks."""
    for edge in graph.edges:
        if edge.mark not in allowed:
            ends = ENDPOINTS_OF_MARK[edge.mark]
            advice = next((_ADVICE[end] for end in ends if end in _ADVICE), "")
            raise OptionError(f"{where} has no mark for '{edge}'{advice}")


def refuse_letters(names: Iterable[str], letters: Collection[str], where: str) -> None:
    """Return if no name holds one of the letters, and none is empty."""
    for name in names:
        refused = next((letter for letter in name if letter in letters), None)
        if refused is not None or not name:
            reason = "an empty name" if not name else f"{refused!r} in a name"
            raise OptionError(f"{where} cannot hold {reason}: {name!r}; rename the column")


def missing_package(package: str, extra: str) -> OptionError:
    """An error that says which package to install."""
    return OptionError(f"this needs the package {package}: {install(extra)}")


def plain_lines(graph: Graph, where: str) -> Iterator[tuple[str, str, str]]:
    """The edges as Tetrad and causal-learn write them: circles in a PAG, `---` for undirected
    elsewhere.

    An edge with a tail and a circle starts at its tail: causal-learn loses it the other way round.
    """
    refuse_marks(graph, COMMON_MARKS[graph.kind], where)
    line = "o-o" if graph.kind is GraphKind.PAG else "---"
    for x, y, mark in graph.edges:
        yield (y, x, "--o") if mark == "o--" else (x, y, line if mark == "o-o" else mark)


def graph_of_lines(
    names: Collection[str], edges: Collection[tuple[str, str, str]], kind: str | None
) -> Graph:
    """The graph of edges as `plain_lines` writes them; unless `kind` says what it is, a PAG if one
    has a circle.
    """
    kind = kind_of_marks((mark for *_, mark in edges), kind, pag_circles=(1, 2))
    line = "---" if kind == GraphKind.PAG else "o-o"
    return Graph.from_edges(
        tuple(names), [(x, y, line if mark == "---" else mark) for x, y, mark in edges], kind
    )
