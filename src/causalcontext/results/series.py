"""The facts that only time has: those of a search with lags besides its graphs, and their summary
over all lags.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.data.windows import WindowCounts
from causalcontext.errors import (
    NoSuchNameError,
    OptionError,
    did_you_mean,
    listed,
    shortly,
    value_text,
)
from causalcontext.graphs.lag_names import at, split
from causalcontext.results.equations import tuples
from causalcontext.results.settings import MOST_NAMES_SUGGESTED
from causalcontext.views import Contexts

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph
    from causalcontext.results.contexts import ContextGraphs

OneCopy = tuple[str, int | tuple[int, ...]]
"""A context and the lag of the copy that a variable reads; several lags where that is undecided."""
Copy = OneCopy | tuple[OneCopy, ...] | None
"""The copy that a variable reads, or of several contexts the copies; None for no copy."""


def copies_in(read: Copy) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Every context that a variable reads, and the lags at which it may read it.

    Examples
    --------
    >>> copies_in(("R", 1)), copies_in((("R", (0, 1)), ("S", 0))), copies_in(None)
    ((('R', (1,)),), (('R', (0, 1)), ('S', (0,))), ())
    """
    copies = () if read is None else (read,) if isinstance(read[0], str) else read
    return tuple((name, lags if isinstance(lags, tuple) else (lags,)) for name, lags in copies)


def read_of(copies: Sequence[tuple[str, Sequence[int]]]) -> Copy:
    """The short form of context names and their lags, as files have it: the inverse of `copies_in`.

    Examples
    --------
    >>> read_of([("R", [1])]), read_of([("R", [0, 1]), ("S", [0])]), read_of([])
    (('R', 1), (('R', (0, 1)), ('S', 0)), None)
    """
    names_and_lags = tuple(
        (name, tuple(lags) if len(lags) > 1 else lags[0]) for name, lags in copies
    )
    return (
        None
        if not names_and_lags
        else names_and_lags[0]
        if len(names_and_lags) == 1
        else names_and_lags
    )


class SlopeRow(NamedTuple):
    """A slope of a target on a source in one context, in the units of the table.

    `slope` and `error` are those of the model, which may share a slope between contexts; 0 and NaN
    where the link is absent. `own`, `own_error` and `df` are of a regression inside the context
    alone, on the parents of all contexts.
    """

    source: str
    target: str
    context: Any
    present: bool
    slope: float
    error: float
    own: float
    own_error: float
    df: int


@dataclass(frozen=True)
class SeriesFacts:
    """The facts of a result with lags besides its graphs."""

    variables: tuple[str, ...]  # the columns, the context included, without covariates
    lags: int
    covariates: tuple[str, ...]
    reads: Mapping[str, Copy]
    windows: WindowCounts
    slopes: tuple[SlopeRow, ...] = ()
    beyond_lags: float | None = (
        None  # p-value of the past beyond the lags, all columns together; None: not tested
    )
    # of a search by tests, the lags of the copies of the context that choose rows
    copies: tuple[int, ...] = ()
    depth: int = 0  # of a search by tests, the longest lag that was conditioned on

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """The nodes, then the past beyond the window that was conditioned on."""
        lags = range(self.lags + 1, self.depth + 1)
        return (*names, *(at(name, lag) for lag in lags for name in self.variables))

    def asked(self, cells: Contexts) -> Contexts:
        """The copies of the contexts that choose rows, among the nodes, and their values."""
        if not self.copies or not cells.positions:
            return cells
        step = len(self.variables)
        order = sorted(range(len(cells.positions)), key=cells.positions.__getitem__)
        positions = tuple(cells.positions[j] - lag * step for lag in self.copies for j in order)
        at_once = [tuple(cell[j] for j in order) for cell in cells.cells]
        return Contexts(
            positions,
            tuple(tuple(chain(*parts)) for parts in product(at_once, repeat=len(self.copies))),
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as lists, numbers and text; null stands for not a number."""
        return asdict(self) | {
            "slopes": [[None if value != value else value for value in row] for row in self.slopes]
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> SeriesFacts:
        """The facts of `to_dict`."""
        reads = {name: tuples(saved) for name, saved in content["reads"].items()}
        slopes = (
            SlopeRow(
                *map(tuples, row[:4]), *(np.nan if value is None else value for value in row[4:])
            )
            for row in content["slopes"]
        )
        return cls(
            tuple(content["variables"]),
            content["lags"],
            tuple(content["covariates"]),
            reads,
            WindowCounts(**content["windows"]),
            tuple(slopes),
            content.get("beyond_lags"),
            tuple(content.get("copies", ())),
            content.get("depth", 0),
        )


class ReadsByVariable(dict[str, Copy]):
    """The copies of contexts by the variable that reads them; a wrong name is an error that says
    which variables there are.
    """

    def __missing__(self, name: object) -> Copy:
        raise NoSuchNameError(f"there is no variable {not_among(name, self)}")


def not_among(name: object, known: Iterable[object]) -> str:
    """A name that is none of the known ones, which one may be meant, and which there are.

    >>> not_among("runof", ["rain", "runoff"])
    "'runof'; did you mean 'runoff'? (expected one of 'rain' and 'runoff')"
    """
    names = list(known)
    which = listed(map(repr, names), MOST_NAMES_SUGGESTED)
    return f"{shortly(name)}{did_you_mean(name, names)} (expected one of {which})"


class SummaryEdge(NamedTuple):
    """A link of the summary graph: at which lags, and in which contexts."""

    source: str
    target: str
    mark: str
    lags: tuple[int, ...]
    contexts: tuple[Any, ...]


class SummaryGraph:
    """The causes of each variable at any lag. The graph may have cycles, and a variable may cause
    itself.
    """

    __slots__ = ("_known", "all_contexts", "edges", "names")

    def __init__(self, names: Sequence[str], graphs: Mapping[Any, Graph]) -> None:
        self.names = tuple(names)
        nodes = (split(node)[0] for graph in graphs.values() for node in graph.names)
        self._known = tuple(dict.fromkeys((*self.names, *nodes)))  # covariates, too
        self.all_contexts = tuple(graphs)
        lags_and_contexts: dict[tuple[str, str, str], tuple[set[int], dict[Any, None]]] = {}
        for value, graph in graphs.items():
            for edge in graph.edges:
                source, lag = split(edge.source)
                lags, values = lags_and_contexts.setdefault(
                    (source, edge.target, edge.mark), (set(), {})
                )
                lags.add(lag)
                values[value] = None
        self.edges = tuple(
            SummaryEdge(*ends, tuple(sorted(lags)), tuple(values))
            for ends, (lags, values) in lags_and_contexts.items()
        )

    def lags(self, source: str, target: str) -> tuple[int, ...]:
        """The lags at which the source acts on the target, in any context."""
        for name in (source, target):
            if name not in self._known:
                raise OptionError(f"there is no variable {not_among(name, self._known)}")
        return tuple(
            sorted(
                {
                    lag
                    for edge in self.edges
                    if (edge.source, edge.target) == (source, target)
                    for lag in edge.lags
                }
            )
        )

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
        lines = []
        for edge in self.edges:
            label = (
                ""
                if edge.contexts == self.all_contexts
                else f"  [{', '.join(map(value_text, edge.contexts))}]"
            )
            lines.append(
                f"{edge.source} {edge.mark} {edge.target} (lag"
                f" {', '.join(map(str, edge.lags))}){label}"
            )
        return "\n".join(lines) or "(no edges)"

    def __repr__(self) -> str:
        return f"SummaryGraph({len(self.names)} variables, {len(self.edges)} edges)"


def series_of(result: ContextGraphs) -> SeriesFacts:
    """The facts of a result with lags besides its graphs; an error without lags."""
    if result.series is None:
        raise OptionError(
            "this result has no lags; pass lags=... to discover for rows that follow each other in"
            " time"
        )
    return result.series


def context_nodes(result: ContextGraphs) -> frozenset[int]:
    """The context variables by position, with lags at all times."""
    positions = result.cells.positions
    series = result.series
    if series is None:
        return frozenset(positions)
    step = len(series.variables)
    return frozenset(
        position - lag * step for position in positions for lag in range(series.lags + 1)
    )
