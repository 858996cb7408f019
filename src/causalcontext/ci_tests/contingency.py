"""G² and chi-squared of two categorical columns in the strata of categorical conditions.

A stratum says something about dependence only if both columns repeat a value and have two there;
others are left out. Where counts are small, the chi-squared law does not hold: there Pearson's
chi-squared answers, compared with the gamma law that has its exact mean and variance given the
margins. Formulas: `src/kernels/contingency.hpp`.

The codes of all columns are kept once, rows of a cell side by side, so that a view is a few ranges
of rows. A kernel answers whole levels; queries one by one are answered by the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from causalcontext.ci_tests.designs import level_numbers
from causalcontext.ci_tests.protocol import Declared, Label, Needs
from causalcontext.ci_tests.settings import FEWEST_TABLE_ROWS, ROWS_PER_CELL
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.kernels.arrays import Codes, Ints, Words
from causalcontext.kernels.levels.contingency import (
    CHI_SQUARED,
    FEWEST_ROWS_WITH_BITS,
    G_SQUARED,
    MOST_LEVELS_WITH_BITS,
    Tables,
    answer_tables,
)
from causalcontext.kernels.levels.gaussian import CIQueries, RowSelections
from causalcontext.views import CIQuery, Contexts, Outcomes

CHI_SQUARED_LABEL = Label("chi-squared")


@dataclass(frozen=True)
class TableTest:
    """A test of two columns without numbers, by the counts of their values in every stratum."""

    name: str
    kind: int  # `G_SQUARED` or `CHI_SQUARED`: the statistic where rows are enough
    # the kinds of x and y that it is asked about, if not all that it takes
    pair: frozenset[Kind] | None = None
    needs: ClassVar[Needs] = Needs.ROWS
    at_context: ClassVar[bool] = True

    @property
    def labels(self) -> tuple[Label, ...]:
        """The test itself, and the one that answers where rows are few."""
        own = Label(self.name)
        return (own,) if self.kind == CHI_SQUARED else (own, CHI_SQUARED_LABEL)

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """True where no column is a number, and the pair is of the kinds that it is asked about."""
        kinds = [data.kinds[column] for column in (query.x, query.y, *query.given)]
        return self.pair in (None, set(kinds[:2])) and not any(kind.is_number for kind in kinds)

    def answers_all(self, data: Dataset) -> bool:
        """True where it answers every query about a table."""
        kinds = set(data.kinds)
        of_pairs = self.pair is None or (len(self.pair) == 1 and kinds == self.pair)
        return of_pairs and not any(kind.is_number for kind in kinds)

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedTables:
        """The test for this table."""
        return PreparedTables(data, self.kind, self.labels)


@dataclass(frozen=True)
class GSquared(TableTest):
    """G² with df = the sum over strata of (rows - 1)(columns - 1) of the levels that occur there;
    chi-squared given the margins where rows are few.
    """

    name: str = "g-squared"
    kind: int = G_SQUARED


@dataclass(frozen=True)
class ChiSquared(TableTest):
    """Pearson's chi-squared with the same degrees of freedom, given the margins where rows are
    few.
    """

    name: str = "chi-squared"
    kind: int = CHI_SQUARED


class PreparedTables(Declared):
    """The codes of a table, and the rows of every view; incomplete rows are left out."""

    compiled_roles = (0, 1, 2)

    def __init__(self, data: Dataset, kind: int, labels: tuple[Label, ...]) -> None:
        self.labels = labels
        self.codes = codes_of(data, kind)
        self.selections = whole_views(len(data.contexts.views))
        self.tables = self

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order."""
        count = len(queries)
        width = max((len(query.given) for query in queries), default=0)
        ends = np.array([(query.x, query.y, query.view) for query in queries], dtype=np.int64)
        x, y, view = ends.reshape(count, 3).T.copy()
        given = np.full((count, width), -1, dtype=np.int64)
        for row, query in zip(given, queries, strict=True):
            row[: len(query.given)] = query.given
        numbers = np.full((count, 3), np.nan)
        facts = np.zeros((count, 3), dtype=np.int64)
        asked = CIQueries(view, x, y, given)
        answer_tables(self.codes, self.selections, asked, numbers, facts, _go_on)
        statistic, df, p = numbers.T
        reason = facts[:, 1].astype(np.int8)
        return Outcomes(statistic, df, p, facts[:, 0], reason, facts[:, 2].astype(np.int8))


def codes_of(data: Dataset, kind: int) -> Tables:
    """The columns of a table as codes of the values that occur, complete rows sorted by cell;
    columns of numbers are left at 0.
    """
    complete = np.flatnonzero(complete_rows(data))
    rows = complete[np.argsort(data.codes[complete], kind="stable")]
    codes = np.zeros((len(data.names), rows.size), dtype=np.int32)
    levels = np.ones(len(data.names), dtype=np.int64)
    for column, values in enumerate(data.columns):
        if rows.size and not data.kinds[column].is_number:
            codes[column] = level_numbers(np.asarray(values)[rows])
            levels[column] = codes[column].max() + 1
    cells = np.bincount(data.codes[rows], minlength=len(data.contexts.cells))
    range_start, ranges = ranges_of_views(data.contexts, cells)
    varies = np.zeros((len(range_start) - 1, len(levels)), dtype=bool)
    for view in range(len(varies)):
        parts = [slice(*bounds) for bounds in ranges[range_start[view] : range_start[view + 1]]]
        first = codes[:, parts[0].start] if parts else levels
        for part in parts:
            varies[view] |= (codes[:, part] != first[:, None]).any(axis=1)
    bits, bit_start, words = bits_of_views(codes, levels, range_start, ranges)
    counts = np.arange(rows.size + 1.0)
    logs = np.asarray(scipy.special.xlogy(counts, counts))
    return Tables(
        codes,
        levels,
        range_start,
        ranges,
        varies,
        bits,
        bit_start,
        words,
        logs,
        kind,
        FEWEST_TABLE_ROWS,
        ROWS_PER_CELL,
    )


def ranges_of_views(contexts: Contexts, cells: Ints) -> tuple[Ints, Ints]:
    """The rows of every view as ranges of rows that are sorted by cell, `cells` rows in each.

    View v has the ranges from `start[v]` up to `start[v + 1]`, shapes (views + 1,) and (ranges, 2);
    cells that follow each other are one range, empty ones none.

    >>> start, ranges = ranges_of_views(Contexts((0,), ((0,), (1,))), np.array([3, 2]))
    >>> start.tolist(), ranges.tolist()
    ([0, 1, 2, 3], [[0, 5], [0, 3], [3, 5]])
    """
    ends = np.cumsum(cells).tolist()
    starts = [0]
    ranges: list[tuple[int, int]] = []
    for view in range(len(contexts.views)):
        for cell in sorted(contexts.members(view)):
            begin = ends[cell] - int(cells[cell])
            if begin == ends[cell]:
                continue
            if len(ranges) > starts[-1] and ranges[-1][1] == begin:
                ranges[-1] = (ranges[-1][0], ends[cell])
            else:
                ranges.append((begin, ends[cell]))
        starts.append(len(ranges))
    return np.array(starts, dtype=np.int64), np.array(ranges, dtype=np.int64).reshape(-1, 2)


def bits_of_views(
    codes: Codes, levels: Ints, range_start: Ints, ranges: Ints
) -> tuple[Words, Ints, Ints]:
    """`bits`, `bit_start` and `words` of `Tables`: none for views of few rows."""
    with_bits = int(min(levels.max(initial=0), MOST_LEVELS_WITH_BITS))
    parts = [np.zeros(0, dtype=np.uint64)]
    bit_start = np.zeros(len(range_start) - 1, dtype=np.int64)
    words = np.zeros(len(range_start) - 1, dtype=np.int64)
    for view in range(len(words)):
        chosen = ranges[range_start[view] : range_start[view + 1]]
        rows = int((chosen[:, 1] - chosen[:, 0]).sum())
        bit_start[view] = sum(part.size for part in parts)
        if rows < FEWEST_ROWS_WITH_BITS:
            continue
        words[view] = -(-rows // 64)
        of_view = np.concatenate([codes[:, begin:end] for begin, end in chosen], axis=1)
        packed = np.zeros((with_bits, len(codes), 8 * int(words[view])), dtype=np.uint8)
        for level in range(with_bits):
            packed[level, :, : -(-rows // 8)] = np.packbits(of_view == level, axis=1)
        parts.append(packed.reshape(-1).view(np.uint64))
    return np.concatenate(parts), bit_start, words


def whole_views(views: int) -> RowSelections:
    """Row selections of one view each: number v is view v."""
    numbers = np.arange(views, dtype=np.int64)
    return RowSelections(
        start=np.arange(views + 1, dtype=np.int64),
        whole=numbers,
        parts_start=np.zeros(views + 1, dtype=np.int64),
        parts=np.zeros(0, dtype=np.int64),
        change=0,
        inside=np.minimum(numbers, 1),
    )


def _go_on() -> None:
    """Nothing: a batch is small, and Ctrl-C is heard when this is called."""
