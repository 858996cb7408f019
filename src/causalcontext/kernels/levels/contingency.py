"""Chi-squared and G² of two columns of codes in the strata of others: batches of questions, whole
levels of a skeleton, and votes on colliders.

Formulas and the way of counting stand in `src/kernels/contingency.hpp`. Every function here takes
`beat`, a function without arguments that is called about twenty times a second and may end the
kernel by an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints, Words
from causalcontext.kernels.levels.gaussian import CIQueries, RowSelections
from causalcontext.kernels.levels.neighbours import Neighbours, Pairs
from causalcontext.kernels.levels.skeleton import Ballots, Decisions, Masks, Sizes

G_SQUARED = 0
CHI_SQUARED = 1
"""The statistic that answers where rows are enough; `Tables.kind`."""

MOST_LEVELS_WITH_BITS = 8
"""Levels of a column that has sets of bits."""
FEWEST_ROWS_WITH_BITS = 2_000
"""Rows of a view from which on it takes less time to count by bits, making the bits included."""

Beat = Callable[[], None]
"""Called now and then while a kernel runs; an exception ends the kernel."""


class Tables(NamedTuple):
    """The codes of a table, and the rows of every view."""

    codes: Codes  # shape (columns, rows): 0, 1, ...; the rows of a cell follow each other
    levels: Ints  # shape (columns,): how many codes a column has
    # shape (views + 1,): view v has the ranges from `range_start[v]` up to `range_start[v + 1]`
    range_start: Ints
    ranges: Ints  # shape (ranges, 2): the first row of a range, and the row after its last one
    varies: Bools  # shape (views, columns): True where a column has two codes on the rows of a view
    # the rows of a view in which a column has a level, a bit each in `words[view]` words; in order
    # of view, level (up to `MOST_LEVELS_WITH_BITS`) and column, view v from `bit_start[v]` on. No
    # words: the view is short
    bits: Words
    bit_start: Ints  # shape (views,)
    words: Ints  # shape (views,)
    logs: Floats  # shape (rows + 1,): c log(c) at c
    kind: int  # `G_SQUARED` or `CHI_SQUARED`
    fewest_rows: int  # rows in strata that count, below which a question is untestable
    rows_per_cell: int  # rows a cell below which X² answers by its exact mean and variance


class TableLevel(NamedTuple):
    """All that the pairs of a level have in common, as `skeleton.Level`."""

    data: Tables
    selections: RowSelections
    neighbours: Neighbours
    masks: Masks
    alpha: float
    size: int


def answer_tables(
    data: Tables,
    selections: RowSelections,
    asked: CIQueries,
    numbers: Floats,
    facts: Ints,
    beat: Beat,
) -> None:
    """Fill `numbers`, shape (n, 3), with statistic, df and p, and `facts`, shape (n, 3), with rows,
    reason and label.

    The rows of `asked.given`, shape (n, width), are padded with -1.
    """
    _kernels.answer_tables(data, selections, asked, numbers, facts, beat)


def search_tables(
    level: TableLevel, pairs: Pairs, decisions: Decisions, tests: Ints, beat: Beat
) -> None:
    """Look for a separating set of `level.size` variables for these pairs; count tests on all rows
    (`tests[0]`) and on some (`tests[1]`).
    """
    _kernels.search_tables(level, pairs, decisions, tests, beat)


def vote_on_tables(
    level: TableLevel,
    ballots: Ballots,
    sizes: Sizes,
    separating: Ints,
    holding: Ints,
    beat: Beat,
) -> None:
    """Count, for these pairs, the sets of these sizes that separate them, as
    `skeleton.count_votes`.
    """
    _kernels.vote_on_tables(level, ballots, sizes, separating, holding, beat)
