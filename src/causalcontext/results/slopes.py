"""Coefficients of one variable on another inside one context, from its moments alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import SPARE_ROWS


class Slope(NamedTuple):
    """The coefficient of x in the regression of y on x and a set, its standard error, and the partial correlation.

    NaN where the regression is not defined or has too few rows; `df` are its residual degrees of freedom.
    """

    value: float
    error: float
    correlation: float
    df: int

    @property
    def p(self) -> float:
        """The p-value of "the slope is 0"; NaN without rows to spare, and where nothing is left to compare it with."""
        if self.df <= 0 or self.error == 0.0:
            return np.nan
        return float(2.0 * scipy.special.stdtr(self.df, -abs(self.value / self.error)))


def slope(moments: Moments, cell: int, x: int, y: int, given: Sequence[int]) -> Slope:
    """The slope of y on x given a set, in one cell."""
    df = int(moments.rows[cell]) - len(given) - 2
    fit = moments.regression(y, [x, *given], cell) if df >= SPARE_ROWS else None
    if fit is None:
        return Slope(np.nan, np.nan, np.nan, df)
    value, error = float(fit.slopes[0]), float(fit.errors[0])
    t = value / error
    return Slope(value, error, float(t / np.sqrt(t * t + df)), df)


def corrected_slope(moments: Moments, cell: int, x: int, y: int, given: Sequence[int], errors: Floats) -> Slope:
    """The slope of y on x given a set, had every column been measured with an error; NaN where that cannot be.

    `errors`, shape (variables,), are the variances of these errors, which are independent of everything. They are
    subtracted from those of the columns (Fuller 1987, section 2.2).
    """
    columns, n = [x, *given], float(moments.rows[cell])
    df = int(n) - len(columns) - 1
    inside = moments.scatter[cell][np.ix_(columns, columns)] / n
    exact = inside - np.diag(errors[columns])
    if df < SPARE_ROWS or not np.isfinite(exact).all() or np.linalg.eigvalsh(exact)[0] <= 0.0:
        return Slope(np.nan, np.nan, np.nan, df)
    towards, inverse = moments.scatter[cell][columns, y] / n, np.linalg.inv(exact)
    slopes = inverse @ towards
    left = float(moments.scatter[cell][y, y] / n - 2.0 * slopes @ towards + slopes @ inside @ slopes)
    moved = errors[columns] * slopes
    covariance = inverse @ (inside * left + np.outer(moved, moved)) @ inverse / df
    return Slope(float(slopes[0]), float(np.sqrt(covariance[0, 0])), np.nan, df)


def heterogeneity(slopes: Sequence[Slope]) -> tuple[float, float]:
    """Q = Σ (b_r - b̄)² / se_r² with the weighted mean b̄, and its p-value; NaN with fewer than two slopes with errors.

    The p-value is that of chi-squared with k - 1 degrees of freedom, for two slopes of Student's t with Welch's degrees
    of freedom: standard errors of small contexts are estimates too.
    """
    known = [s for s in slopes if np.isfinite(s.value) and s.error > 0.0]
    if len(known) < 2:
        return np.nan, np.nan
    value, errors = np.array([s.value for s in known]), np.array([s.error for s in known])
    weight = errors**-2
    centre = float(weight @ value / weight.sum())
    q = float(weight @ (value - centre) ** 2)
    if len(known) == 2:
        variances, degrees = errors**2, np.array([s.df for s in known])
        welch = float(variances.sum() ** 2 / (variances**2 / degrees).sum())
        return q, float(2.0 * scipy.special.stdtr(welch, -np.sqrt(q)))
    return q, float(scipy.special.chdtrc(len(known) - 1, q))
