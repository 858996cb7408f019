"""The linear-Gaussian tests as one compiled function of (x, y, given), on moments alone.

A *row selection* says which rows answer. For two system variables it is one view (partial
correlation), or several views whose partial correlations are combined: the question given a context
variable on all rows. For a context variable against a system variable every view of the row
selection is divided into parts, and LR* asks whether the regression of y differs between them. The
formulas are in docs/tests.md.

The set of a regression is factored one variable at a time, so that the next set of a lexicographic
enumeration only pays for the positions that changed. A variable that is a linear function of the
ones before it is skipped and lowers the rank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Ints

STUDENT = 0
FISHER = 1
ONE_VIEW = 0
SEVERAL_VIEWS = 1
CHANGE = 2
"""How a row selection answers: the places of the tests among the labels of the prepared test."""
TESTABLE = 0
FEW_ROWS = 1
CONSTANT = 2
COLLINEAR = 3
FEW_CONTEXTS = 4


class Views(NamedTuple):
    """What is known about the rows of every view."""

    # cells, merged: centred cross products of every cell, and of cells taken together; zeros at
    # context variables. The cells are those of the table's moments, not copies: of thousands of
    # variables nothing else is as large.
    cells: Floats
    merged: Floats
    rows: Ints  # shape (views,)
    expected: (
        Floats  # shape (views, ranks): the view's term of the exact mean of LR under independence
    )
    kind: int  # `STUDENT` or `FISHER`: how the p-value of a partial correlation is computed


class RowSelections(NamedTuple):
    """Which rows answer; row selection k has the strata from `start[k]` up to `start[k + 1]`."""

    start: Ints  # shape (row selections + 1,)
    whole: Ints  # shape (strata,): the view of every stratum
    # shape (strata + 1,): where the parts of a stratum begin; it has none unless a context variable
    # is one of the pair
    parts_start: Ints
    parts: Ints  # shape (parts,): views
    change: int  # whether a context variable is one of the pair
    # shape (row selections,): 0 where a row selection holds all rows, 1 where it holds those of
    # some contexts
    inside: Ints


class PairFit(NamedTuple):
    """The regression of a pair on a set, factored for every view of a row selection."""

    factor: Floats
    loads: Floats
    moments: Floats
    rank: Ints


class Workspace(NamedTuple):
    """Scratch arrays of one thread: the regression in progress, its set, and a pool of candidates.

    The rows of `lists` are the places of the chosen candidates, the set, the pool, and for every
    member of the pool the graphs in which it may serve the one variable and the other (`CHOSEN` ...
    `THEIRS`).
    """

    fit: PairFit
    lists: Ints
    weakest: Floats


CHOSEN = 0
GIVEN = 1
POOL = 2
MINE = 3
THEIRS = 4


def workspace(selections: RowSelections, size: int, graphs: int, variables: int) -> Workspace:
    """Scratch arrays for sets of at most `size` variables."""
    width = size + 1
    views = 1
    for k in range(len(selections.start) - 1):
        strata = slice(selections.start[k], selections.start[k + 1])
        views = max(
            views,
            int(1 + selections.parts_start[strata.stop] - selections.parts_start[strata.start])
            + int(strata.stop - strata.start),
        )
    fit = PairFit(
        np.zeros((views, width, width)),
        np.zeros((views, 2, width)),
        np.zeros((views, width + 1, 3)),
        np.zeros((views, width + 1), dtype=np.int64),
    )
    return Workspace(fit, np.zeros((5, max(width, variables)), dtype=np.int64), np.zeros(graphs))


class PairQuery(NamedTuple):
    """A pair, and the row selection that answers about it."""

    selection: int
    x: int
    y: int


class CIQueries(NamedTuple):
    """Unrelated questions with sets of one size: row selections (n,), ends (n,), and conditions (n,
    size).
    """

    selection: Ints
    x: Ints
    y: Ints
    given: Ints


def answer_batch(
    data: Views,
    selections: RowSelections,
    asked: CIQueries,
    numbers: Floats,
    facts: Ints,
    work: Workspace,
) -> None:
    """Fill `numbers` (statistic, df, p) and `facts` (rows, reason, label)."""
    _kernels.answer_batch(data, selections, asked, numbers, facts, work)
