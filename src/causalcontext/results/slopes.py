"""Coefficients of one variable on another inside one context, from its moments alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.results.settings import (
    LARGEST_ERROR_SHARE,
    LEAST_ERROR_SHARE,
    SINGULAR_BELOW,
)

BY_ERRORS = "numbers measured with errors of {:.0%} of their variance would explain it"


class Slope(NamedTuple):
    """The coefficient of x in the regression of y on x and a set, its standard error, and the
    partial correlation.

    NaN where the regression is not defined or has too few rows; `df` are its residual degrees of
    freedom.
    """

    value: float
    error: float
    correlation: float
    df: int

    @property
    def p(self) -> float:
        """The p-value of "the slope is 0"; NaN without rows to spare, and where nothing is left to
        compare it with.
        """
        if self.df <= 0 or self.error == 0.0:
            return np.nan
        return float(2.0 * scipy.special.stdtr(self.df, -abs(self.value / self.error)))


def slope(moments: Moments, cell: int, x: int, y: int, given: Sequence[int]) -> Slope:
    """The slope of y on x given a set, in one cell, from its moments.

    With b the coefficient and se its standard error, the partial correlation is t / √(t² + df) with
    t = b / se and df = n - |Z| - 2. NaN with fewer than `SPARE_ROWS` degrees of freedom, and where
    x, or a column of the set, is a linear function of the others.
    """
    df = int(moments.rows[cell]) - len(given) - 2
    fit = moments.regression(y, [x, *given], cell) if df >= SPARE_ROWS else None
    if fit is None:
        return Slope(np.nan, np.nan, np.nan, df)
    value = float(fit.slopes[0])
    error = float(fit.errors[0])
    t = value / error
    return Slope(value, error, float(t / np.sqrt(t * t + df)), df)


def corrected_slope(
    moments: Moments, cell: int, x: int, y: int, given: Sequence[int], errors: Floats
) -> Slope:
    """The slope of y on x given a set, had every column been measured with an error; NaN where that
    cannot be.

    `errors`, shape (variables,), are the variances of these errors, which are independent of
    everything.
    """
    columns = [x, *given]
    n = float(moments.rows[cell])
    every = [*columns, y]
    return corrected(
        moments.scatter[cell][np.ix_(every, every)] / n, errors[columns], int(n) - len(columns) - 1
    )


def corrected(covariance: Floats, errors: Floats, df: int) -> Slope:
    """The slope of the last column on the first one beside those between, the variances of errors
    subtracted.

    Parameters
    ----------
    covariance : ndarray of shape (columns, columns)
        The covariance of the causes and, last, of the effect.
    errors : ndarray of shape (columns - 1,)
        The variances of the errors of the causes, in squared units of these.
    df : int
        The residual degrees of freedom.

    Returns
    -------
    Slope
        b = (S - E)⁻¹ s with E the errors on the diagonal, and the standard error of Fuller (1987),
        section 2.2, which counts that errors were taken out. NaN where so large errors cannot be.
    """
    inside = covariance[:-1, :-1]
    towards = covariance[:-1, -1]
    exact = inside - np.diag(errors)
    unit = np.sqrt(np.diagonal(inside))
    if (
        df < SPARE_ROWS
        or not np.isfinite(exact).all()
        or not (unit > 0.0).all()
        or np.linalg.eigvalsh(exact / np.outer(unit, unit))[0] <= SINGULAR_BELOW
    ):
        return Slope(np.nan, np.nan, np.nan, df)
    inverse = np.linalg.inv(exact)
    slopes = inverse @ towards
    # but for rounding
    left = max(float(covariance[-1, -1] - 2.0 * slopes @ towards + slopes @ inside @ slopes), 0.0)
    moved = errors * slopes
    spread = inverse @ (inside * left + np.outer(moved, moved)) @ inverse / df
    return Slope(float(slopes[0]), float(np.sqrt(max(spread[0, 0], 0.0))), np.nan, df)


def shares_of_errors(inside: Sequence[Floats], variance: Floats) -> list[float]:
    """Errors of measurement to consider, as shares of the variance of every number; none where
    hardly any may be.

    Every number may have errors of an equal share of its variance: at most so large that the
    covariances of all numbers, `inside` every context, allow it, which is the smallest eigenvalue
    of their correlations. That share is bounded by `LARGEST_ERROR_SHARE`; a quarter, half, three
    quarters and all of it are considered, and nothing where it is below `LEAST_ERROR_SHARE`.
    """
    unit = np.sqrt(np.outer(variance, variance))
    least = LEAST_ERROR_SHARE * np.eye(len(variance))
    try:  # of wide tables hardly any has such a share, and eigenvalues take seconds there
        for covariance in inside:
            np.linalg.cholesky(covariance / unit - least)
    except np.linalg.LinAlgError:
        return []
    share = min(
        LARGEST_ERROR_SHARE,
        *(float(np.linalg.eigvalsh(covariance / unit)[0]) for covariance in inside),
    )
    return [part * share for part in (0.25, 0.5, 0.75, 1.0)] if share >= LEAST_ERROR_SHARE else []


def heterogeneity(slopes: Sequence[Slope]) -> tuple[float, float]:
    """Q = Σ (b_r - b̄)² / se_r² with the weighted mean b̄, and its p-value; NaN with fewer than two
    slopes with errors.

    The p-value is that of chi-squared with k - 1 degrees of freedom, for two slopes of Student's t
    with Welch's degrees of freedom: standard errors of small contexts are estimates too. For two
    slopes Q is the square of (b_1 - b_2) / √(se_1² + se_2²).
    """
    known = [s for s in slopes if np.isfinite(s.value) and s.error > 0.0]
    if len(known) < 2:
        return np.nan, np.nan
    errors = np.array([s.error for s in known])
    unit = float(errors.max())  # the powers of slopes of 1e-65 or 1e65 are no numbers
    value = np.array([s.value for s in known]) / unit
    errors /= unit
    weight = errors**-2
    centre = float(weight @ value / weight.sum())
    q = float(weight @ (value - centre) ** 2)
    if len(known) == 2:
        variances = errors**2
        degrees = np.array([s.df for s in known])
        welch = float(variances.sum() ** 2 / (variances**2 / degrees).sum())
        return q, float(2.0 * scipy.special.stdtr(welch, -np.sqrt(q)))
    return q, float(scipy.special.chdtrc(len(known) - 1, q))
