"""Several context graphs as one: the union graph, and the labeled union that says in which contexts an edge is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causalcontext.graphs.graph import Graph, Mark


def union_graph(graphs: Sequence[Graph]) -> Graph:
    """The union: directed wins over undirected, undirected over conflict; `<=>` is directed both ways.

    Examples
    --------
    >>> dry = Graph.from_edges("XY", [("X", "Y", "-->")])
    >>> wet = Graph.from_edges("XY", [("Y", "X", "-->")])
    >>> union_graph([dry, wet]).mark("X", "Y")
    '<=>'
    """
    stack = np.stack([graph.marks for graph in graphs])
    forward, backward = (stack == Mark.FORWARD).any(axis=0), (stack == Mark.BACKWARD).any(axis=0)
    marks: NDArray[np.int8] = np.select(
        [forward & backward, forward, backward, (stack == Mark.UNDIRECTED).any(axis=0), stack.any(axis=0)],
        [Mark.BOTH, Mark.FORWARD, Mark.BACKWARD, Mark.UNDIRECTED, Mark.CONFLICT],
        default=Mark.ABSENT,
    ).astype(np.int8)
    return Graph(graphs[0].names, marks)


class LabeledEdge(NamedTuple):
    """An edge of the union and the contexts that have it; all of them where it is in all."""

    source: str
    target: str
    mark: str
    contexts: tuple[Any, ...]


class LabeledUnion:
    """The edges of the union graph, each with the contexts in which it is present (paper, App. "Labeled union graphs").

    An edge carries the mark of the union graph: where some contexts direct it and others leave it undirected, it is
    directed. An edge that is directed one way here and the other way there is two edges with their own contexts;
    contexts that leave such an edge undirected are a third.
    """

    __slots__ = ("all_contexts", "edges")

    def __init__(self, graphs: Mapping[Any, Graph]) -> None:
        self.all_contexts = tuple(graphs)
        self.edges = tuple(_labeled_edges(graphs))

    def to_frame(self) -> pd.DataFrame:
        """The edges as a table: source, target, mark, contexts."""
        return pd.DataFrame(list(self.edges), columns=list(LabeledEdge._fields))

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
        from causalcontext.report.notebook import union_html

        return union_html(self)

    def _line(self, edge: LabeledEdge) -> str:
        everywhere = edge.contexts == self.all_contexts
        label = "" if everywhere else f"  [{', '.join(str(value) for value in edge.contexts)}]"
        return f"{edge.source} {edge.mark} {edge.target}{label}"


def _labeled_edges(graphs: Mapping[Any, Graph]) -> Iterator[LabeledEdge]:
    contexts = tuple(graphs)
    stack = np.stack([graph.marks for graph in graphs.values()])
    union = union_graph(list(graphs.values()))
    for i, j in zip(*np.nonzero(np.triu(union.marks)), strict=True):
        x, y = union.names[i], union.names[j]
        mark, here = Mark(int(union.marks[i, j])), stack[:, i, j]
        if mark is not Mark.BOTH:
            if mark is Mark.BACKWARD:
                x, y, mark = y, x, Mark.FORWARD
            yield LabeledEdge(x, y, mark.text, _chosen(contexts, here != Mark.ABSENT))
            continue
        yield LabeledEdge(x, y, Mark.FORWARD.text, _chosen(contexts, here == Mark.FORWARD))
        yield LabeledEdge(y, x, Mark.FORWARD.text, _chosen(contexts, here == Mark.BACKWARD))
        rest = (here == Mark.UNDIRECTED) | (here == Mark.CONFLICT)
        if rest.any():
            yield LabeledEdge(x, y, Mark.UNDIRECTED.text, _chosen(contexts, rest))


def _chosen(contexts: tuple[Any, ...], where: NDArray[np.bool_]) -> tuple[Any, ...]:
    return tuple(value for value, chosen in zip(contexts, where, strict=True) if chosen)
