"""Which columns the logit of a category keeps: sets of columns are thinned out on the rows, and the
best one wins (`src/kernels/class_choice.hpp`).

Wilks' lambda over all columns also picks curves that the logit does not need: given the category
every function of a cause differs in mean. So the choice among all columns, that among plain ones
and the union of what is left of the two are each thinned out by the logit itself, and the best is
taken. Ordered categories have proportional odds instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Ints

TOLERANCE = 1e-4
"""In log-likelihood: a Newton step that promises less is the last one."""
MUCH_WORK = 1e6
"""Rows times slopes squared: with more, a good start saves more than it costs."""
FEW_ROWS = 8
"""Every so many rows are enough to come close to a maximum."""


class ClassRows(NamedTuple):
    """A category on the rows of a block."""

    values: (
        Floats  # shape (columns, m): rows sorted by cell; `starts` has the first row of every cell
    )
    codes: Ints  # shape (m,)
    starts: Ints  # shape (cells + 1,)
    groups: (
        Ints  # shape (cells,): the intercept of every cell, -1 for cells that are not in the block
    )
    classes: int
    ordered: bool
    # `weight`, `price`: the rows that each of these stands for; what a parameter costs
    weight: float
    price: float


def choose_columns(rows: ClassRows, family: int, sets: Ints, prices: Floats) -> float:
    """The best score of two sets of columns and their union, each thinned out; the first set is
    replaced by the best.

    The family is `LOGIT`, `ORDINAL` for ordered classes or `TWO_PART` for hurdles. `sets`, shape
    (3, 1 + W), has the number of columns of each set, -1 for no set, then the columns; the third
    one is room for the union. `prices`, shape (3, W), are infinite for columns that must stay,
    whose price the caller subtracts.
    """
    return float(_kernels.choose_columns(rows, family, sets, prices))


def few_rows(design: Floats, codes: Ints, classes: int, slopes: int) -> tuple[Floats, Ints]:
    """Part of the rows of a design, shape (width, rows), to come close to the maximum; none if
    there are too few of some class.
    """
    part = np.empty((len(design), codes.size // FEW_ROWS))
    few = np.empty(codes.size // FEW_ROWS, dtype=np.int64)
    if not _kernels.write_few_rows(design, codes, classes, slopes, part, few):
        return part[:, :0].copy(), few[:0]
    return part, few
