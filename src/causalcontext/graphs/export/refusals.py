"""What a format cannot say, as one sentence."""

from __future__ import annotations

from collections.abc import Collection

from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import ENDPOINTS_OF_MARK, Endpoint, GraphKind
from causalcontext.graphs.graph import Graph

COMMON_MARKS: dict[GraphKind, tuple[str, ...]] = {
    GraphKind.CPDAG: ("-->", "o-o", "<->"),
    GraphKind.PAG: tuple(
        mark
        for mark, endpoints in ENDPOINTS_OF_MARK.items()
        if {*endpoints} <= {Endpoint.TAIL, Endpoint.ARROW, Endpoint.CIRCLE}
    ),
}
"""What most tools can say about a graph of either kind."""

_ADVICE = {
    Endpoint.CONFLICT: "; export.conflicts_as_undirected(graph) turns them into 'o-o'",
    Endpoint.MIXED: "; export the graphs of the contexts instead of their union",
}


def refuse_marks(graph: Graph, allowed: Collection[str], where: str) -> None:
    """Return if every edge, as it is written, has one of the allowed marks."""
    for edge in graph.edges:
        if edge.mark not in allowed:
            advice = next((_ADVICE[end] for end in ENDPOINTS_OF_MARK[edge.mark] if end in _ADVICE), "")
            raise OptionError(f"{where} has no mark for '{edge}'{advice}")


def refuse_pag(graph: Graph, where: str) -> None:
    """Return if the graph is no PAG."""
    if graph.kind is GraphKind.PAG:
        raise OptionError(f"{where} cannot say that a graph is a PAG, in which 'o-o' is no direction left open")


def refuse_letters(graph: Graph, letters: Collection[str], where: str) -> None:
    """Return if no name holds one of the letters, and none is empty."""
    for name in graph.names:
        found = next((letter for letter in name if letter in letters), None)
        if found is not None or not name:
            what = "an empty name" if not name else f"{found!r} in a name"
            raise OptionError(f"{where} cannot hold {what}: {name!r}; rename the column")


def missing_package(package: str, extra: str) -> OptionError:
    """What to install."""
    return OptionError(f"this needs the package {package}: pip install 'causalcontext[{extra}]'")
