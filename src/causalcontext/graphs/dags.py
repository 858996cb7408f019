"""From a graph with undirected edges to the directed acyclic graphs it stands for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind, directed, marked
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.paths import is_acyclic


def to_dag(graph: Graph) -> Graph:
    """The graph itself if it is directed and acyclic.

    Raises
    ------
    OptionError
        An edge has no direction, or directed edges form a cycle; the message names it and says what to do.

    Examples
    --------
    >>> to_dag(Graph.from_edges("XYZ", [("X", "Y", "-->"), ("Y", "Z", "o-o")]))
    Traceback (most recent call last):
        ...
    causalcontext.errors.OptionError: 'Y o-o Z' has no direction; to_dags() lists the graphs it leaves open
    """
    _check_cpdag(graph)
    for edge in graph.edges:
        if edge.mark == "o-o":
            raise OptionError(f"'{edge}' has no direction; to_dags() lists the graphs it leaves open")
    if not is_acyclic(directed(graph.endpoints)):
        raise OptionError("directed edges form a cycle, so there is no directed acyclic graph with these edges")
    return graph


def to_dags(graph: Graph, limit: int = 1000) -> tuple[Graph, ...]:
    """Every directed acyclic graph with the same edges, the given directions, and no new collider.

    Raises
    ------
    OptionError
        There are more than `limit` of them, or none, or an edge is in conflict.

    Examples
    --------
    >>> found = to_dags(Graph.from_edges("XYZ", [("X", "Y", "o-o"), ("Y", "Z", "o-o")]))
    >>> [str(dag).replace("\\n", ", ") for dag in found]
    ['X --> Y, Y --> Z', 'Y --> X, Y --> Z', 'Y --> X, Z --> Y']
    """
    _check_cpdag(graph)
    found = []
    for endpoints in _extensions(graph.endpoints.copy(), _colliders(graph.endpoints)):
        found.append(Graph(graph.names, endpoints))
        if len(found) > limit:
            raise OptionError(f"the graph stands for more than {limit} directed acyclic graphs; add knowledge, or "
                              "raise the limit")  # fmt: skip
    if not found:
        raise OptionError("no directed acyclic graph has these edges and directions without a new collider")
    return tuple(found)


def _check_cpdag(graph: Graph) -> None:
    """Return if the graph can stand for directed acyclic graphs over its variables."""
    if graph.kind is GraphKind.PAG:
        raise OptionError("a PAG leaves room for hidden variables, so it stands for no directed acyclic graphs over "
                          "these ones")  # fmt: skip
    for edge in graph.edges:
        if edge.mark not in ("-->", "o-o"):
            raise OptionError(f"'{edge}' contradicts every directed acyclic graph; take the graph of one context, or "
                              "settle the edge by knowledge")  # fmt: skip


def _extensions(endpoints: Endpoints, colliders: frozenset[tuple[int, int, int]]) -> Iterator[Endpoints]:
    """Orient the first undirected edge both ways, as long as nothing is violated."""
    if not is_acyclic(directed(endpoints)) or _colliders(endpoints) != colliders:
        return
    open_edges = np.argwhere(np.triu(marked(endpoints, "o-o")))
    if not len(open_edges):
        yield endpoints
        return
    i, j = open_edges[0]
    for a, b in ((i, j), (j, i)):
        oriented = endpoints.copy()
        oriented[a, b], oriented[b, a] = Endpoint.ARROW, Endpoint.TAIL
        yield from _extensions(oriented, colliders)


def _colliders(endpoints: Endpoints) -> frozenset[tuple[int, int, int]]:
    """The triples x --> w <-- y, x < y not adjacent."""
    found = set()
    for w, into in enumerate(directed(endpoints).T):
        parents = np.flatnonzero(into)
        found |= {(int(x), w, int(y)) for x in parents for y in parents if x < y and endpoints[x, y] == Endpoint.NONE}
    return frozenset(found)
