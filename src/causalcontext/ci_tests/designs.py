"""Columns of a query as the design of a regression, reduced to full rank.

Numbers enter as one column, categorical and ordered columns as indicators, counts as a condition also by their
logarithm. What a variable adds to the conditions is an
orthogonal basis of the part of its columns that the conditions do not explain, so that collinear columns, repeated
conditions and levels that determine each other lower the rank and do no harm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.ci_tests.rows import Variable
from causalcontext.data.kinds import Kind
from causalcontext.kernels.arrays import Floats

SMALLEST_SHARE = 1e-5
"""A column whose unexplained part is shorter than this share of it adds nothing."""


def columns_of(variable: Variable) -> Floats:
    """A number less its mean, at most 1 in size; a column of 0 and 1 less its mean for every level of other variables.

    Returns
    -------
    array, shape (rows, 1) or (rows, levels)
    """
    if variable.is_number:
        centred = variable.values - variable.values.mean()
        return np.asarray((centred / np.abs(centred).max())[:, None])
    indicators = np.asarray(variable.values[:, None] == np.arange(variable.levels), dtype=np.float64)
    return np.asarray(indicators - indicators.mean(axis=0))


def base_of(given: Sequence[Variable], rows: int) -> Floats:
    """An orthogonal basis of 1 and the conditions, whose first column is 1 and whose columns have mean square 1."""
    one = np.ones((rows, 1))
    if not given:
        return one
    return np.hstack([one, added_to(one, np.hstack([condition_columns(variable) for variable in given]))])


def condition_columns(variable: Variable) -> Floats:
    """The columns of a condition: those of the variable, and log(1 + count) beside a count.

    Effects of counts are often proportional to them, and often to their logarithm; a condition that misses its own
    effect leaves a dependence behind.
    """
    own = columns_of(variable)
    if variable.kind is not Kind.COUNT or variable.values.min() < 0.0:
        return own
    return np.hstack([own, columns_of(Variable(np.log1p(variable.values), Kind.CONTINUOUS))])


def added_to(base: Floats, columns: Floats) -> Floats:
    """An orthogonal basis of what the columns add to `base`, with mean squares 1; shape (rows, added rank)."""
    rows = len(base)
    length = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    scaled = columns / np.where(length > 0.0, length, 1.0)
    for _ in range(2):  # once more for what rounding left
        scaled = scaled - base @ (base.T @ scaled / rows)
    left, spread, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(left[:, spread > SMALLEST_SHARE] * np.sqrt(rows))
