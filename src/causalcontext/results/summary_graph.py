"""What causes what at any lag: the summary of window graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from causalcontext.data.frames import frame_of
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import split

if TYPE_CHECKING:
    import pandas as pd


class SummaryEdge(NamedTuple):
    """A link of the summary graph: at which lags, and in which contexts."""

    source: str
    target: str
    mark: str
    lags: tuple[int, ...]
    contexts: tuple[Any, ...]


class SummaryGraph:
    """What causes what at any lag. It may have cycles, and a variable may cause itself."""

    __slots__ = ("all_contexts", "edges", "names")

    def __init__(self, names: Sequence[str], graphs: Mapping[Any, Graph]) -> None:
        self.names = tuple(names)
        self.all_contexts = tuple(graphs)
        self.edges = tuple(_summarised(graphs))

    def lags(self, source: str, target: str) -> tuple[int, ...]:
        """The lags at which the source acts on the target, in any context."""
        return tuple(sorted({lag for edge in self.edges if (edge.source, edge.target) == (source, target)
                             for lag in edge.lags}))  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """The edges as a table."""
        return frame_of(list(self.edges), columns=list(SummaryEdge._fields))

    def __iter__(self) -> Iterator[SummaryEdge]:
        return iter(self.edges)

    def __len__(self) -> int:
        return len(self.edges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SummaryGraph) and self.edges == other.edges

    def __hash__(self) -> int:
        return hash(self.edges)

    def __str__(self) -> str:
        return "\n".join(self._line(edge) for edge in self.edges) or "(no edges)"

    def __repr__(self) -> str:
        return f"SummaryGraph({len(self.names)} variables, {len(self.edges)} edges)"

    def _line(self, edge: SummaryEdge) -> str:
        label = "" if edge.contexts == self.all_contexts else f"  [{', '.join(map(str, edge.contexts))}]"
        return f"{edge.source} {edge.mark} {edge.target} (lag {', '.join(map(str, edge.lags))}){label}"


def _summarised(graphs: Mapping[Any, Graph]) -> Iterator[SummaryEdge]:
    """One edge for every ordered pair, mark and set of contexts, with all of its lags."""
    having: dict[tuple[str, str, str, int], list[Any]] = {}
    for value, graph in graphs.items():
        for edge in graph.edges:
            source, lag = split(edge.source)
            having.setdefault((source, edge.target, edge.mark, lag), []).append(value)
    merged: dict[tuple[str, str, str], tuple[set[int], set[int]]] = {}
    order = tuple(graphs)
    for (source, target, mark, lag), values in having.items():
        lags, places = merged.setdefault((source, target, mark), (set(), set()))
        lags.add(lag)
        places.update(order.index(value) for value in values)
    for (source, target, mark), (lags, places) in merged.items():
        yield SummaryEdge(source, target, mark, tuple(sorted(lags)), tuple(order[place] for place in sorted(places)))
