"""The rows that answer an independence question: the one idea of the paper.

Every constraint-based search asks questions. Context-specific discovery only changes which rows
answer them, so the methods of the paper differ in one small function each: `adaptive` (PC-AC,
Algorithm 1, line 8), `masked` (PC-M) and `pooled` (PC-P). Rows come in *views*: all of them, those
with R = wet, those with R = wet and S = 2. `Contexts` numbers the views of a table once, and
everything after speaks of their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.progress import ArrayEnumType

View = tuple[tuple[int, int], ...]
"""The rows where every (context variable, level) holds; without any, all rows."""
ALL_ROWS: View = ()


class CIQuery(NamedTuple):
    """Are columns `x` and `y` independent given the columns `given`, on the rows of a view?"""

    x: int
    y: int
    given: tuple[int, ...]
    view: int = 0


ViewRule = Callable[[View, Collection[int]], View]
"""`rule(cell of the graph, context variables that the conditions name)`: the rows that answer."""


def adaptive(cell: View, named: Collection[int]) -> View:
    """The paper's line 8: a context variable among the conditions is fixed at the cell's value, no
    other is.
    """
    return tuple(fixed for fixed in cell if fixed[0] in named)


def masked(cell: View, named: Collection[int]) -> View:
    """The rows of the graph's own cell, always."""
    return cell


def pooled(cell: View, named: Collection[int]) -> View:
    """All rows, always; a context variable is a column like any other."""
    return ALL_ROWS


@dataclass(frozen=True)
class Contexts:
    """The context variables of a table, and the combinations of their levels that occur: its
    cells.
    """

    positions: tuple[int, ...] = ()  # the columns that are context variables; none, one or several
    # the level of every context variable in every cell; without context variables there is one
    # cell, of all rows
    cells: tuple[tuple[int, ...], ...] = ((),)
    # for every context variable the column of which it is a step function (`cc.threshold`,
    # `cc.bins`), None for one that is measured; empty where all are. It is the column, not the
    # context, that conditions name, and it stays among them
    sources: tuple[int | None, ...] = ()

    @property
    def source(self) -> int | None:
        """The column of which the only context variable is a step function."""
        return self.sources[0] if len(self.sources) == 1 else None

    def source_of(self, position: int) -> int | None:
        """The column of which a context variable is a step function; None for one that is
        measured.
        """
        return self.sources[self.positions.index(position)] if self.sources else None

    @property
    def made(self) -> tuple[tuple[int, int], ...]:
        """The context variables that are step functions of a column, each with that column."""
        both = zip(self.positions, self.sources, strict=bool(self.sources))
        return tuple((position, source) for position, source in both if source is not None)

    def alike(self, position: int) -> tuple[tuple[int, ...], ...]:
        """The cells in groups that differ in one context variable alone."""
        number = self.positions.index(position)
        groups = dict[tuple[int, ...], list[int]]()
        for c, cell in enumerate(self.cells):
            groups.setdefault((*cell[:number], *cell[number + 1 :]), []).append(c)
        return tuple(tuple(group) for group in groups.values())

    @cached_property
    def views(self) -> tuple[View, ...]:
        """Every set of rows that may answer: all rows first, then by the number of context
        variables that are fixed.
        """
        views: list[View] = []
        for size in range(len(self.positions) + 1):
            for fixed in combinations(range(len(self.positions)), size):
                positions = [self.positions[j] for j in fixed]
                occurring = {tuple(cell[j] for j in fixed) for cell in self.cells}
                views += [
                    tuple(zip(positions, values, strict=True)) for values in sorted(occurring)
                ]
        return tuple(views)

    def number(self, view: View) -> int:
        """The number of a view."""
        return self._numbers[view]

    @cached_property
    def _numbers(self) -> dict[View, int]:
        """The number of every view."""
        return {view: number for number, view in enumerate(self.views)}

    def cell(self, number: int) -> View:
        """The rows of one cell."""
        return tuple(zip(self.positions, self.cells[number], strict=True))

    def members(self, number: int) -> tuple[int, ...]:
        """The cells that a view is made of."""
        return self._members[number]

    @cached_property
    def _members(self) -> tuple[tuple[int, ...], ...]:
        """The cells of every view, by the number of the view."""
        members: list[list[int]] = [[] for _ in self.views]
        fixed = sorted({self.fixed(number) for number in range(len(self.views))})
        for c in range(len(self.cells)):
            for named in fixed:
                members[self.number(adaptive(self.cell(c), named))].append(c)
        return tuple(tuple(cells) for cells in members)

    def parts(self, number: int, by: Collection[int]) -> tuple[int, ...]:
        """The views into which some context variables, none of them fixed, divide a view."""
        levels = {adaptive(self.cell(c), (*by, *self.fixed(number))) for c in self.members(number)}
        return tuple(sorted(self.number(view) for view in levels))

    def fixed(self, number: int) -> tuple[int, ...]:
        """The context variables that a view fixes."""
        return tuple(position for position, _ in self.views[number])

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """(c, d, position): the pairs of cells, both ways, between which just one context variable
        differs.
        """
        for position in self.positions:
            for alike in self.alike(position):
                yield from ((c, d, position) for c, d in permutations(alike, 2))

    def differing(self, first: int, second: int) -> tuple[int, ...]:
        """The context variables that differ between two cells."""
        levels = zip(self.positions, self.cells[first], self.cells[second], strict=True)
        return tuple(position for position, a, b in levels if a != b)


def described(
    contexts: Contexts, number: int, names: Sequence[str], levels: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    """The context variables that a view fixes, by name, with their values."""
    return {
        names[position]: levels[contexts.positions.index(position)][level]
        for position, level in contexts.views[number]
    }


class Reason(IntEnum, metaclass=ArrayEnumType):
    """The reason why a query has no p-value. An untestable pair keeps its edge: it is never called
    independent.
    """

    TESTABLE = 0
    FEW_ROWS = 1
    CONSTANT = 2
    COLLINEAR = 3
    FEW_CONTEXTS = 4
    NO_TEST = 5


REASON_TEXT = {
    Reason.FEW_ROWS: "too few rows",
    Reason.CONSTANT: "one of the two columns is constant in these rows",
    Reason.COLLINEAR: "one of the two columns is a linear function of the conditions in these rows",
    Reason.FEW_CONTEXTS: "fewer than two contexts have enough rows",
    Reason.NO_TEST: "no test is available for columns of these kinds",
}


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The answers to a batch of queries, one entry each."""

    statistic: Floats  # shape (queries,), as all others; NaN where a query is untestable
    df: Floats  # NaN also where the test has none
    p: Floats
    n: Ints  # rows used
    reason: NDArray[np.int8]  # a `Reason` for every query; 0 means that it was testable
    # the number of the label of the prepared test that answered; None where it has one alone
    label: NDArray[np.int8] | None = None
