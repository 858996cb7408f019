"""Several context graphs as one: the union graph, and the labeled union that says in which contexts an edge is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind, as_written, mark_of
from causalcontext.graphs.graph import Graph


def union_graph(graphs: Sequence[Graph]) -> Graph:
    """The union, endpoint by endpoint.

    Of CPDAGs a tail or an arrow wins over a circle, a circle over a conflict. An endpoint that is a tail here and an
    arrow there is mixed; so directed wins over undirected, undirected over conflict, and `<=>` is directed both ways.

    Of PAGs an endpoint is what all contexts with the edge agree on, else a circle: `o->` here and `<-o` there is `o-o`,
    not a hidden common cause that no context has. A mixed endpoint may stand by itself (`+->`: `-->` here and `<->`
    there).

    Examples
    --------
    >>> dry = Graph.from_edges("XY", [("X", "Y", "-->")])
    >>> wet = Graph.from_edges("XY", [("Y", "X", "-->")])
    >>> union_graph([dry, wet]).mark("X", "Y")
    '<=>'
    """
    kind = GraphKind.PAG if any(graph.kind is GraphKind.PAG for graph in graphs) else GraphKind.CPDAG
    return Graph(graphs[0].names, union_endpoints(np.stack([graph.endpoints for graph in graphs]), kind), kind)


def union_endpoints(stack: Endpoints, kind: GraphKind = GraphKind.CPDAG) -> Endpoints:
    """The endpoints of the union of several graphs, shape (N, N), from theirs, shape (graphs, N, N)."""
    tail, arrow = (np.isin(stack, (end, Endpoint.MIXED)).any(axis=0) for end in (Endpoint.TAIL, Endpoint.ARROW))
    largest = stack.max(axis=0)
    if kind is GraphKind.PAG:
        agreed = ((stack == largest) | (stack == Endpoint.NONE)).all(axis=0)
        found: Endpoints = np.select([tail & arrow, agreed], [Endpoint.MIXED, largest], Endpoint.CIRCLE).astype(np.int8)
        return found
    return np.select(
        [tail & arrow, tail, arrow, (stack == Endpoint.CIRCLE).any(axis=0), stack.any(axis=0)],
        [Endpoint.MIXED, Endpoint.TAIL, Endpoint.ARROW, Endpoint.CIRCLE, Endpoint.CONFLICT],
        default=Endpoint.NONE,
    ).astype(np.int8)


class LabeledEdge(NamedTuple):
    """An edge of the union and the contexts that have it; all of them where it is in all."""

    source: str
    target: str
    mark: str
    contexts: tuple[Any, ...]


class LabeledUnion:
    """The edges of the union graph, each with the contexts in which it is present (paper, App. "Labeled union graphs").

    An edge carries the mark of the union graph: where some contexts direct it and others leave it undirected, it is
    directed; in PAGs it has the endpoints on which all of them agree. An edge with a mixed endpoint, such as one that
    is directed one way here and the other way there, is several edges, each with its own mark and contexts; contexts
    that leave it undirected or in conflict are one of them.
    """

    __slots__ = ("all_contexts", "edges")

    def __init__(self, graphs: Mapping[Any, Graph]) -> None:
        self.all_contexts = tuple(graphs)
        self.edges = tuple(_labeled_edges(graphs))

    def to_frame(self) -> pd.DataFrame:
        """The edges as a table: source, target, mark, contexts."""
        return frame_of(list(self.edges), columns=list(LabeledEdge._fields))

    def __iter__(self) -> Iterator[LabeledEdge]:
        return iter(self.edges)

    def __len__(self) -> int:
        return len(self.edges)

    def __getitem__(self, place: int) -> LabeledEdge:
        return self.edges[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabeledUnion) and self.edges == other.edges

    def __hash__(self) -> int:
        return hash(self.edges)

    def __str__(self) -> str:
        return "\n".join(self._line(edge) for edge in self.edges) or "(no edges)"

    def __repr__(self) -> str:
        return f"LabeledUnion({len(self.edges)} edges, contexts {self.all_contexts!r})"

    def _repr_html_(self) -> str:
        from causalcontext.drawing.plot import union_html

        return union_html(self)

    def _line(self, edge: LabeledEdge) -> str:
        everywhere = edge.contexts == self.all_contexts
        label = "" if everywhere else f"  [{', '.join(str(value) for value in edge.contexts)}]"
        return f"{edge.source} {edge.mark} {edge.target}{label}"


def _labeled_edges(graphs: Mapping[Any, Graph]) -> Iterator[LabeledEdge]:
    union = union_graph(list(graphs.values()))
    stack = np.stack([graph.endpoints for graph in graphs.values()])
    readable = np.where(stack == Endpoint.CONFLICT, Endpoint.CIRCLE, stack)
    for i, j in zip(*(place.tolist() for place in np.nonzero(np.triu(union.endpoints))), strict=True):
        if Endpoint.MIXED not in (union.endpoints[i, j], union.endpoints[j, i]):
            yield _labeled(union.names, union.endpoints, i, j, compress(graphs, stack[:, i, j]))
            continue
        own = [(int(endpoints[j, i]), int(endpoints[i, j])) for endpoints in readable]
        for pair in sorted(set(own) - {(Endpoint.NONE, Endpoint.NONE)}):
            having = [other == pair for other in own]
            yield _labeled(union.names, readable[having][0], i, j, compress(graphs, having))


def _labeled(names: Sequence[str], endpoints: Endpoints, i: int, j: int, contexts: Iterable[Any]) -> LabeledEdge:
    source, target = as_written(endpoints, i, j)
    return LabeledEdge(names[source], names[target], mark_of(endpoints, source, target), tuple(contexts))
