"""A causal graph over named variables, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx
    from matplotlib.axes import Axes


class Mark(IntEnum):
    """The six kinds of edge, read from the first variable to the second, and no edge."""

    ABSENT = 0
    FORWARD = 1
    BACKWARD = 2
    UNDIRECTED = 3
    CONFLICT = 4
    BOTH = 5
    CONFOUNDED = 6

    @property
    def text(self) -> str:
        """The mark as it is written: `"-->"`, `"o-o"`, ..."""
        return _TEXT[self]

    @property
    def reversed(self) -> Mark:
        """The same edge read from the second variable to the first."""
        return _REVERSED.get(self, self)


_TEXT = {
    Mark.ABSENT: "",
    Mark.FORWARD: "-->",
    Mark.BACKWARD: "<--",
    Mark.UNDIRECTED: "o-o",
    Mark.CONFLICT: "x-x",
    Mark.BOTH: "<=>",
    Mark.CONFOUNDED: "<->",
}
_REVERSED = {Mark.FORWARD: Mark.BACKWARD, Mark.BACKWARD: Mark.FORWARD}
MARK_OF_TEXT = {text: mark for mark, text in _TEXT.items()}


class Edge(NamedTuple):
    """One edge by name; a directed edge is written from cause to effect, with the mark `"-->"`."""

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
    marks : array of int, shape (variables, variables)
        `marks[i, j]` is the `Mark` of the edge read from `i` to `j`; `marks[j, i]` must be its reverse.

    Examples
    --------
    >>> graph = Graph.from_edges(["X", "Y", "Z"], [("X", "Y", "-->"), ("Z", "Y", "o-o")])
    >>> graph.mark("Y", "X")
    '<--'
    >>> [str(edge) for edge in graph.edges]
    ['X --> Y', 'Y o-o Z']
    """

    __slots__ = ("_index", "_marks", "names")

    def __init__(self, names: Sequence[str], marks: NDArray[np.integer[Any]]) -> None:
        codes = np.array(marks, dtype=np.int8)
        codes.setflags(write=False)
        self.names: tuple[str, ...] = tuple(names)
        self._marks = codes
        self._index = {name: position for position, name in enumerate(self.names)}
        if codes.shape != (len(self.names),) * 2 or not np.array_equal(codes.T, _reversed_codes(codes)):
            raise DataError(f"marks of a graph over {len(self.names)} variables must be a square array of that "
                            "size in which marks[j, i] is the reverse of marks[i, j]")  # fmt: skip

    @classmethod
    def from_edges(cls, names: Sequence[str], edges: Iterable[tuple[str, str, str]]) -> Graph:
        """The graph with just these `(source, target, mark)` edges."""
        index = {name: position for position, name in enumerate(names)}
        marks = np.zeros((len(index), len(index)), dtype=np.int8)
        for source, target, text in edges:
            mark = MARK_OF_TEXT[text]
            marks[index[source], index[target]] = mark
            marks[index[target], index[source]] = mark.reversed
        return cls(names, marks)

    @property
    def marks(self) -> NDArray[np.int8]:
        """The `Mark` of every ordered pair, read-only, in the order of `names`."""
        return self._marks

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """True where two variables share an edge of any kind; symmetric, in the order of `names`."""
        present: NDArray[np.bool_] = self._marks != Mark.ABSENT
        return present

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge once: directed ones from cause to effect, the others in the order of `names`."""
        first, second = np.nonzero(np.triu(self._marks))
        return tuple(self._edge(int(i), int(j)) for i, j in zip(first, second, strict=True))

    def mark(self, x: str, y: str) -> str:
        """The edge read from `x` to `y`: `"-->"`, `"<--"`, `"o-o"`, `"x-x"`, `"<=>"`, or `""` for none."""
        return Mark(int(self._marks[self.position(x), self.position(y)])).text

    def neighbours(self, name: str) -> tuple[str, ...]:
        """The variables that share an edge with `name`, in the order of `names`."""
        return tuple(self.names[i] for i in np.flatnonzero(self._marks[self.position(name)]))

    def parents(self, name: str) -> tuple[str, ...]:
        """The variables with a directed edge into `name`, in the order of `names`."""
        return tuple(self.names[i] for i in np.flatnonzero(self._marks[:, self.position(name)] == Mark.FORWARD))

    def position(self, name: str) -> int:
        """The place of a variable in `names`."""
        if name not in self._index:
            raise DataError(f"the graph has no variable {name!r}{did_you_mean(name, self.names)}")
        return self._index[name]

    def to_networkx(self) -> nx.DiGraph:
        """The graph for networkx: `A --> B` is one arc, every other edge two; `mark` is an attribute of arcs."""
        from causalcontext.graphs.export.networkx_graph import to_networkx

        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: nx.Graph) -> Graph:
        """The graph of a networkx graph: an arc is directed, two arcs or an undirected edge are `o-o`."""
        from causalcontext.graphs.export.networkx_graph import from_networkx

        return from_networkx(graph)

    def to_dag(self) -> Graph:
        """The graph itself if every edge is directed and there is no cycle; else an error that says what to do."""
        from causalcontext.graphs.dags import to_dag

        return to_dag(self)

    def to_dags(self, limit: int = 1000) -> tuple[Graph, ...]:
        """Every directed acyclic graph that this one leaves open: same edges, no new collider."""
        from causalcontext.graphs.dags import to_dags

        return to_dags(self, limit)

    def plot(self, *, axes: Axes | None = None, path: str | Path | None = None) -> tuple[Axes, ...]:
        """A picture, causes left of effects; `path` is a `.png`, `.svg` or `.pdf` file to write."""
        from causalcontext.drawing.plot import plot_graph

        return plot_graph(self, axes=axes, path=path)

    def _repr_svg_(self) -> str | None:
        from causalcontext.report.notebook import graph_svg

        return graph_svg(self)

    def _edge(self, i: int, j: int) -> Edge:
        mark = Mark(int(self._marks[i, j]))
        if mark is Mark.BACKWARD:
            return Edge(self.names[j], self.names[i], Mark.FORWARD.text)
        return Edge(self.names[i], self.names[j], mark.text)

    def __iter__(self) -> Iterator[Edge]:
        return iter(self.edges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self.names == other.names and np.array_equal(self._marks, other._marks)

    def __hash__(self) -> int:
        return hash((self.names, self._marks.tobytes()))

    def __str__(self) -> str:
        return "\n".join(str(edge) for edge in self.edges) or "(no edges)"

    def __repr__(self) -> str:
        return f"Graph({len(self.names)} variables, {len(self.edges)} edges)"


def _reversed_codes(codes: NDArray[np.int8]) -> NDArray[np.int8]:
    """Every mark read the other way round."""
    table = np.array([mark.reversed for mark in Mark], dtype=np.int8)
    return table[codes]
