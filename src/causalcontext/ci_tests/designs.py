"""Columns of a query as the design of a regression, reduced to full rank, and the linear
association of two designs.

Numbers enter as one column, categorical and ordered columns as indicators, counts as a condition
also by their logarithm. What a variable adds to the conditions is an orthogonal basis of the part
of its columns that the conditions do not explain, so that collinear columns, repeated conditions
and levels that determine each other lower the rank and do no harm.

Association is measured by Wilks' lambda and Rao's F. One formula serves several tests: Student's t
of the partial correlation where both sets have one column, the F test of adding columns to a linear
regression where one has one. It is symmetric, and exact in both cases for Gaussian noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from causalcontext.ci_tests.rows import Comparison, Variable, untestable
from causalcontext.ci_tests.settings import FEWEST_DF, LEAST_UNEXPLAINED_SHARE
from causalcontext.data.columns import Kind
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.views import Reason


def columns_of(variable: Variable) -> Floats:
    """A number less its mean, at most 1 in size; a column of 0 and 1 less its mean for every level
    of other variables.

    Shape (rows, 1) or (rows, levels).
    """
    if variable.is_number:
        centred = variable.values - variable.values.mean()
        return np.asarray((centred / np.abs(centred).max())[:, None])
    indicators = np.asarray(
        variable.values[:, None] == np.arange(variable.levels), dtype=np.float64
    )
    return np.asarray(indicators - indicators.mean(axis=0))


def base_of(given: Sequence[Variable], rows: int) -> Floats:
    """An orthogonal basis of 1 and the conditions, whose first column is 1 and whose columns have
    mean square 1.
    """
    intercept = np.ones((rows, 1))
    if not given:
        return intercept
    columns = []
    for variable in given:
        columns.append(columns_of(variable))
        # effects of counts are often proportional to them, and often to their logarithm; a
        # condition that misses its own effect leaves a dependence behind
        if variable.kind is Kind.COUNT and variable.values.min() >= 0.0:
            columns.append(columns_of(Variable(np.log1p(variable.values), Kind.CONTINUOUS)))
    return np.hstack([intercept, added_to(intercept, np.hstack(columns))])


def added_to(base: Floats, columns: Floats) -> Floats:
    """An orthogonal basis of what the columns add to `base`, with mean squares 1; shape (rows,
    added rank).
    """
    rows = len(base)
    length = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    scaled = columns / np.where(length > 0.0, length, 1.0)
    for _ in range(2):  # once more for what rounding left
        scaled = scaled - base @ (base.T @ scaled / rows)
    left, spread, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(left[:, spread > LEAST_UNEXPLAINED_SHARE] * np.sqrt(rows))


def strata_of(given: Sequence[Variable], rows: int) -> Ints:
    """A number 0, 1, ... for every row: the combination of values that the conditions have
    there.
    """
    strata = np.zeros(rows, dtype=np.int64)
    for variable in given:
        levels = level_numbers(variable.values)
        strata = level_numbers(strata * (levels.max() + 1) + levels)
    return strata


def level_numbers(values: Floats | Ints) -> Ints:
    """A number 0, 1, ... for every value, in their order; codes are counted, which is quicker than
    sorting them.
    """
    if values.min() >= 0 and values.max() < 10 * values.size:
        codes = values.astype(np.int64)
        if np.array_equal(codes, values):
            return np.asarray((np.cumsum(np.bincount(codes) > 0) - 1)[codes])
    return np.asarray(np.unique(values, return_inverse=True)[1])


def parts_of(strata: Ints) -> list[NDArray[np.intp]]:
    """The rows of every stratum, in order."""
    order = np.argsort(strata, kind="stable")
    return np.split(order, np.cumsum(np.bincount(strata))[:-1])


def association(x: Floats, y: Floats, base: Floats) -> Comparison:
    """The test of "x and y, bases of two variables beside `base` (from `added_to`), are
    uncorrelated".

    Parameters
    ----------
    x, y : ndarray of shape (rows, p) and (rows, q)
        Orthogonal bases of what either variable adds to the conditions.
    base : ndarray of shape (rows, rank)
        The basis of 1 and the conditions.

    Returns
    -------
    Comparison
        The correlation r and n - rank - 1 degrees of freedom for p = q = 1, tested by Student's
        t = r √(df / (1 - r²)); else Rao's F for Wilks' lambda Π (1 - ρ²), the ρ being canonical
        correlations, and its first degrees of freedom, pq. "Untestable" where a basis is empty or
        rows are too few.
    """
    rows, p = x.shape
    q = y.shape[1]
    rank = base.shape[1]
    if p == 0 or q == 0:
        return untestable(Reason.COLLINEAR)
    if rows - rank - max(p, q) < FEWEST_DF or rows - rank - p - q < 1:
        return untestable(Reason.FEW_ROWS)
    if p == q == 1:
        df = rows - rank - 1
        correlation = float(x[:, 0] @ y[:, 0]) / rows
        bounded = float(np.clip(correlation, -1.0, 1.0))
        unexplained = (1.0 - bounded) * (1.0 + bounded)
        t = math.inf
        if unexplained > 0.0:
            t = abs(bounded) * math.sqrt(df / unexplained)
        p = float(2.0 * scipy.special.stdtr(df, -t))
        return Comparison(bounded, df, p)
    correlations = np.linalg.svd(x.T @ y / rows, compute_uv=False)
    canonical = np.clip(correlations, 0.0, 1.0)
    unexplained = float(np.prod((1.0 - canonical) * (1.0 + canonical)))
    below = p * p + q * q - 5
    root = math.sqrt((p * p * q * q - 4) / below) if below > 0 else 1.0
    df = (rows - rank - (p + q + 1) / 2) * root - (p * q - 2) / 2
    share = unexplained ** (1.0 / root)
    ratio = math.inf
    if share > 0.0:
        ratio = (1.0 - share) / share * df / (p * q)
    p_value = float(scipy.special.fdtrc(p * q, df, ratio))
    return Comparison(ratio, float(p * q), p_value)
