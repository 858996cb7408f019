"""A causal graph over named variables, frozen; several of them as one: the union, and in which
contexts an edge is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import DataError, check_choice, did_you_mean, listed, value_text
from causalcontext.graphs.endpoints import (
    Endpoint,
    Endpoints,
    GraphKind,
    adjacent,
    arcs_of_edge,
    as_written,
    endpoints_of_mark,
    kind_of_marks,
    mark_of,
)
from causalcontext.graphs.lag_names import at, split, times
from causalcontext.kernels.arrays import Bools

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx
    from matplotlib.axes import Axes

Node = str | tuple[str, int]
"""A name; in a window graph also a variable and its time: `("X", -1)` is `"X(t-1)"`."""


class Edge(NamedTuple):
    """One edge by name; it is written towards its arrow (`"-->"`, `"o->"`) if it has just one."""

    source: str
    target: str
    mark: str

    def __str__(self) -> str:
        return f"{self.source} {self.mark} {self.target}"


class Graph:
    """A graph over named variables.

    Parameters
    ----------
    names : sequence of str
        The variables, in the order of the table.
    endpoints : array of int, shape (variables, variables)
        `endpoints[i, j]` is the `Endpoint` at j of the edge between `i` and `j`; both endpoints of
        an edge are set, or none.
    kind : {"cpdag", "pag"}
        Whether the graph leaves directed acyclic graphs open, or is a partial ancestral graph, in
        which variables may be hidden and `o-o` promises less.

    Examples
    --------
    >>> graph = Graph.from_edges(["X", "Y", "Z"], [("X", "Y", "-->"), ("Z", "Y", "o-o")])
    >>> graph.mark("Y", "X")
    '<--'
    >>> [str(edge) for edge in graph.edges]
    ['X --> Y', 'Y o-o Z']
    """

    __slots__ = ("_endpoints", "_index", "kind", "names")

    def __init__(
        self, names: Sequence[str], endpoints: NDArray[np.integer[Any]], kind: str = GraphKind.CPDAG
    ) -> None:
        check_choice("kind", kind, [known.value for known in GraphKind])
        codes: Endpoints = np.asarray(endpoints, dtype=np.int8)
        if codes.flags.writeable:
            codes = codes.copy()
        codes.setflags(write=False)
        self.names: tuple[str, ...] = tuple(names)
        self.kind = GraphKind(kind)
        self._endpoints = codes
        self._index = {name: position for position, name in enumerate(self.names)}
        if codes.shape != (len(self.names),) * 2 or not _is_whole(codes):
            raise DataError(
                f"endpoints of a graph over {len(self.names)} variables must be a square array of"
                " that size, with both endpoints of every edge, and no edge to itself"
            )

    @classmethod
    def from_edges(
        cls,
        names: Sequence[str],
        edges: Iterable[tuple[str, str, str]],
        kind: str = GraphKind.CPDAG,
    ) -> Graph:
        """The graph with just these `(source, target, mark)` edges."""
        index = {name: position for position, name in enumerate(names)}
        endpoints = np.zeros((len(index), len(index)), dtype=np.int8)
        for source, target, mark in edges:
            x = index[source]
            y = index[target]
            endpoints[y, x], endpoints[x, y] = endpoints_of_mark(mark)
        return cls(names, endpoints, kind)

    @property
    def endpoints(self) -> Endpoints:
        """The `Endpoint` at j of the edge between i and j, read-only, in the order of `names`."""
        return self._endpoints

    @property
    def adjacency(self) -> Bools:
        """True where two variables share an edge of any kind; symmetric, in the order of
        `names`.
        """
        return adjacent(self._endpoints)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge once: those with one arrow are written towards it, the others in the order of
        `names`.
        """
        edges = []
        for i, j in np.argwhere(np.triu(self._endpoints)).tolist():
            source, target = as_written(self._endpoints, i, j)
            mark = mark_of(self._endpoints, source, target)
            edges.append(Edge(self.names[source], self.names[target], mark))
        return tuple(edges)

    def mark(self, x: Node, y: Node) -> str:
        """The edge read from `x` to `y`, the endpoint at `x` first: `"-->"`, `"<--"`, `"o-o"`, ...,
        or `""` for none.

        `"x-x"` is a conflict; `"o->"` and `"<->"` stand in a PAG; in a union of contexts `"<=>"`
        points one way here and the other way there, and `"+"` is an endpoint that is a tail here
        and an arrow there. In a window graph `("X", -1)` is `"X(t-1)"`.
        """
        return mark_of(self._endpoints, self.position(x), self.position(y))

    def lags(self, x: str, y: str) -> tuple[int, ...]:
        """The lags at which x is a cause of y, in a window graph: the steps from cause to effect.

        Examples
        --------
        >>> names = ["X(t-1)", "Y(t-1)", "X", "Y"]
        >>> Graph.from_edges(names, [("X(t-1)", "Y", "-->")]).lags("X", "Y")
        (1,)
        """
        self.position(x)
        return tuple(sorted(lag for name, lag in map(split, self.parents(y)) if name == x))

    def neighbours(self, name: Node) -> tuple[str, ...]:
        """The variables that share an edge with `name`, in the order of `names`."""
        return tuple(self.names[i] for i in np.flatnonzero(self._endpoints[self.position(name)]))

    def parents(self, name: Node) -> tuple[str, ...]:
        """The variables with a directed edge into `name`, in the order of `names`."""
        position = self.position(name)
        arrows_into = self._endpoints[:, position] == Endpoint.ARROW
        tails_at_cause = self._endpoints[position] == Endpoint.TAIL
        return tuple(self.names[i] for i in np.flatnonzero(arrows_into & tails_at_cause))

    def position(self, name: Node) -> int:
        """The place of a variable in `names`."""
        spelled = name
        if isinstance(name, tuple):  # a time is given as 0, -1, -2, ...
            if (
                len(name) != 2
                or not isinstance(name[0], str)
                or not isinstance(name[1], int)
                or name[1] > 0
            ):
                raise DataError(
                    f"{name!r} is no variable at a time, expected one such as ('X', -1) for X one"
                    " step ago"
                )
            spelled = at(name[0], -name[1])
        if spelled not in self._index:
            raise DataError(
                f"the graph has no variable {name!r}{did_you_mean(spelled, self.names)} (expected"
                f" one of {listed(map(repr, self.names), 8)})"
            )
        return self._index[spelled]

    def replaced(
        self, names: Sequence[str] | None = None, endpoints: NDArray[np.integer[Any]] | None = None
    ) -> Graph:
        """A graph of the same kind with other names, other endpoints, or both."""
        return Graph(
            self.names if names is None else names,
            self._endpoints if endpoints is None else endpoints,
            self.kind,
        )

    def to_networkx(self) -> nx.DiGraph:
        """The graph for networkx: `A --> B` is one arc, every other edge two; `mark` is an
        attribute of arcs.

        A mark reads along its arc. A PAG has the attribute `kind`; nodes of a window graph have
        `variable` and `lag`.

        Examples
        --------
        >>> arcs = Graph.from_edges("XYZ", [("X", "Y", "-->"), ("Y", "Z", "o-o")]).to_networkx()
        >>> sorted(arcs.edges(data="mark"))
        [('X', 'Y', '-->'), ('Y', 'Z', 'o-o'), ('Z', 'Y', 'o-o')]
        """
        import networkx as nx

        made = nx.DiGraph() if self.kind is GraphKind.CPDAG else nx.DiGraph(kind=self.kind.value)
        attributes = times(self.names)
        made.add_nodes_from((name, attributes.get(name, {})) for name in self.names)
        made.add_edges_from(
            (x, y, {"mark": mark}) for edge in self.edges for x, y, mark in arcs_of_edge(*edge)
        )
        return made

    @classmethod
    def from_networkx(cls, graph: nx.Graph) -> Graph:
        """The graph of arcs: with `mark` what it says; without, one arc is `-->`, two or an
        undirected edge `o-o`.
        """
        if graph.is_multigraph():
            raise DataError(
                "the networkx graph is a multigraph; a graph here has at most one edge between two "
                "variables"
            )
        names = list(graph.nodes)
        for name in names:
            if not isinstance(name, str):
                raise DataError(f"the networkx graph has a node {name!r}, expected names as text")
        edges: dict[frozenset[str], tuple[str, str, str]] = {}
        for source, target, mark in graph.edges(data="mark"):
            if source == target:
                raise DataError(f"the networkx graph has an edge from {source!r} to itself")
            if mark is None:
                both = not graph.is_directed() or graph.has_edge(target, source)
                mark = "o-o" if both else "-->"
            edges[frozenset((source, target))] = (source, target, mark)
        said = graph.graph.get("kind")
        kind = kind_of_marks(
            (mark for *_, mark in edges.values()), said if said in list(GraphKind) else None
        )
        return cls.from_edges(names, edges.values(), kind)

    def to_dag(self) -> Graph:
        """The graph itself if every edge is directed and there is no cycle; else an error that says
        what to do.
        """
        from causalcontext.graphs.dags import to_dag

        return to_dag(self)

    def to_dags(self, limit: int = 1000) -> tuple[Graph, ...]:
        """Every directed acyclic graph that this one leaves open: same edges, no new collider."""
        from causalcontext.graphs.dags import to_dags

        return to_dags(self, limit)

    def plot(self, *, axes: Axes | None = None, path: str | Path | None = None) -> tuple[Axes, ...]:
        """A picture, causes left of effects; `path` is a `.png`, `.svg` or `.pdf` file to write."""
        from causalcontext.drawing.plot import graph_picture, painted

        return painted(graph_picture(self), axes, path)

    def _repr_svg_(self) -> str | None:
        from causalcontext.drawing.plot import graph_svg

        return graph_svg(self)

    def __iter__(self) -> Iterator[Edge]:
        return iter(self.edges)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        same = (self.names, self.kind) == (other.names, other.kind)
        return same and np.array_equal(self._endpoints, other._endpoints)

    def __hash__(self) -> int:
        return hash((self.names, self.kind, self._endpoints.tobytes()))

    def __str__(self) -> str:
        return "\n".join(str(edge) for edge in self.edges) or "(no edges)"

    def __repr__(self) -> str:
        return f"Graph({len(self.names)} variables, {len(self.edges)} edges)"


def _is_whole(codes: Endpoints) -> bool:
    """True if every edge has two known endpoints, and no variable an edge to itself."""
    first, second = np.divmod(np.flatnonzero(codes != 0), max(len(codes), 1))
    ends_at_second = codes[first, second]
    ends_at_first = codes[second, first]
    known = (
        ends_at_second.min(initial=Endpoint.NONE) >= Endpoint.NONE
        and ends_at_second.max(initial=Endpoint.NONE) <= Endpoint.MIXED
    )
    return bool(known and ends_at_first.all() and (first != second).all())


def union_graph(graphs: Sequence[Graph]) -> Graph:
    """The union, endpoint by endpoint.

    Of CPDAGs a tail or an arrow wins over a circle, a circle over a conflict. An endpoint that is a
    tail here and an arrow there is mixed; so directed wins over undirected, undirected over
    conflict, and `<=>` is directed both ways.

    Of PAGs an endpoint is what all contexts with the edge agree on, else a circle: `o->` here and
    `<-o` there is `o-o`, not a hidden common cause that no context has. A mixed endpoint may stand
    by itself (`+->`: `-->` here and `<->` there).

    Examples
    --------
    >>> dry = Graph.from_edges("XY", [("X", "Y", "-->")])
    >>> wet = Graph.from_edges("XY", [("Y", "X", "-->")])
    >>> union_graph([dry, wet]).mark("X", "Y")
    '<=>'
    """
    has_pag = any(graph.kind is GraphKind.PAG for graph in graphs)
    kind = GraphKind.PAG if has_pag else GraphKind.CPDAG
    stack = np.stack([graph.endpoints for graph in graphs])
    return Graph(graphs[0].names, union_endpoints(stack, kind), kind)


def union_endpoints(stack: Endpoints, kind: GraphKind = GraphKind.CPDAG) -> Endpoints:
    """The endpoints of the union of several graphs, shape (N, N), from theirs, shape (graphs, N,
    N).
    """
    tail = np.isin(stack, (Endpoint.TAIL, Endpoint.MIXED)).any(axis=0)
    arrow = np.isin(stack, (Endpoint.ARROW, Endpoint.MIXED)).any(axis=0)
    largest = stack.max(axis=0)
    if kind is GraphKind.PAG:
        agreed = ((stack == largest) | (stack == Endpoint.NONE)).all(axis=0)
        union: Endpoints = np.select(
            [tail & arrow, agreed], [Endpoint.MIXED, largest], Endpoint.CIRCLE
        ).astype(np.int8)
        return union
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
    """The edges of the union graph, each with the contexts in which it is present (paper, App.
    "Labeled union graphs").

    An edge carries the mark of the union graph: where some contexts direct it and others leave it
    undirected, it is directed; in PAGs it has the endpoints on which all of them agree. An edge
    with a mixed endpoint, such as one that is directed one way here and the other way there, is
    several edges, each with its own mark and contexts; contexts that leave it undirected or in
    conflict are one of them.
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

    def __getitem__(self, number: int) -> LabeledEdge:
        return self.edges[number]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabeledUnion) and self.edges == other.edges

    def __hash__(self) -> int:
        return hash(self.edges)

    def __str__(self) -> str:
        lines = []
        for edge in self.edges:
            label = ""
            if edge.contexts != self.all_contexts:
                label = f"  [{', '.join(map(value_text, edge.contexts))}]"
            lines.append(f"{edge.source} {edge.mark} {edge.target}{label}")
        return "\n".join(lines) or "(no edges)"

    def __repr__(self) -> str:
        return f"LabeledUnion({len(self.edges)} edges, contexts {self.all_contexts!r})"

    def _repr_html_(self) -> str:
        from causalcontext.drawing.plot import union_html

        return union_html(self)


def _labeled_edges(graphs: Mapping[Any, Graph]) -> Iterator[LabeledEdge]:
    """The edges of the union with their contexts; one with a mixed endpoint once for every mark."""
    union = union_graph(list(graphs.values()))
    stack = np.stack([graph.endpoints for graph in graphs.values()])
    readable = np.where(stack == Endpoint.CONFLICT, Endpoint.CIRCLE, stack)
    for i, j in np.argwhere(np.triu(union.endpoints)).tolist():
        if Endpoint.MIXED not in (union.endpoints[i, j], union.endpoints[j, i]):
            yield _labeled(union.names, union.endpoints, i, j, compress(graphs, stack[:, i, j]))
            continue
        marks = [(int(endpoints[j, i]), int(endpoints[i, j])) for endpoints in readable]
        for pair in sorted(set(marks) - {(Endpoint.NONE, Endpoint.NONE)}):
            having = [other == pair for other in marks]
            yield _labeled(union.names, readable[having][0], i, j, compress(graphs, having))


def _labeled(
    names: Sequence[str], endpoints: Endpoints, i: int, j: int, contexts: Iterable[Any]
) -> LabeledEdge:
    """The edge between i and j as it is written, with the contexts that have it."""
    source, target = as_written(endpoints, i, j)
    mark = mark_of(endpoints, source, target)
    return LabeledEdge(names[source], names[target], mark, tuple(contexts))
