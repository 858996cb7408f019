"""From a graph with undirected edges to the directed acyclic graphs it stands for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import OptionError
from causalcontext.graphs.graph import Graph, Mark
from causalcontext.graphs.paths import is_acyclic

Marks = NDArray[np.int8]


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
    _refuse_conflicts(graph)
    for edge in graph.edges:
        if edge.mark == Mark.UNDIRECTED.text:
            raise OptionError(f"'{edge}' has no direction; to_dags() lists the graphs it leaves open")
    if not is_acyclic(graph.marks == Mark.FORWARD):
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
    _refuse_conflicts(graph)
    found = []
    for marks in _extensions(graph.marks.copy(), _colliders(graph.marks)):
        found.append(Graph(graph.names, marks))
        if len(found) > limit:
            raise OptionError(f"the graph stands for more than {limit} directed acyclic graphs; add knowledge, or "
                              "raise the limit")  # fmt: skip
    if not found:
        raise OptionError("no directed acyclic graph has these edges and directions without a new collider")
    return tuple(found)


def _refuse_conflicts(graph: Graph) -> None:
    for edge in graph.edges:
        if edge.mark not in (Mark.FORWARD.text, Mark.UNDIRECTED.text):
            raise OptionError(f"'{edge}' contradicts every directed acyclic graph; take the graph of one context, or "
                              "settle the edge by knowledge")  # fmt: skip


def _extensions(marks: Marks, colliders: frozenset[tuple[int, int, int]]) -> Iterator[Marks]:
    """Orient the first undirected edge both ways, as long as nothing is violated."""
    if not is_acyclic(marks == Mark.FORWARD) or _colliders(marks) != colliders:
        return
    open_edges = np.argwhere(np.triu(marks == Mark.UNDIRECTED))
    if not len(open_edges):
        yield marks
        return
    i, j = open_edges[0]
    for a, b in ((i, j), (j, i)):
        oriented = marks.copy()
        oriented[a, b], oriented[b, a] = Mark.FORWARD, Mark.BACKWARD
        yield from _extensions(oriented, colliders)


def _colliders(marks: Marks) -> frozenset[tuple[int, int, int]]:
    """The triples x --> w <-- y, x < y not adjacent."""
    found = set()
    for w in range(len(marks)):
        causes = np.flatnonzero(marks[:, w] == Mark.FORWARD)
        found |= {(int(x), w, int(y)) for x in causes for y in causes if x < y and marks[x, y] == Mark.ABSENT}
    return frozenset(found)
