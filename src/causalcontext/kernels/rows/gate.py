"""Is y given Z linear with one spread inside the contexts? If not, does the context need y beside Z?

The two checks are made inside the contexts, so that a change between contexts does not disturb them; what they look
for is common to all contexts, as it is where nothing changes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.rows.change_parts import combine
from causalcontext.kernels.rows.fits_by_context import (
    ContextFits,
    Groups,
    cross_products,
    residuals_of,
    standardise,
    sweep,
)
from causalcontext.kernels.rows.newton import LOGIT, RIDGE, maximum
from causalcontext.kernels.special import chi2_upper, f_upper

NOTHING_BELOW = 1e-9
"""A column of which the conditions leave less than this share adds nothing."""
TOLERANCE = 1e-5
"""Gain of likelihood that ends a fit; the step after it would gain about its square."""


class Logit(NamedTuple):
    """p-values of what joins a multinomial logit of the context on Z, one after another.

    Attributes
    ----------
    mean, slope, spread : float
        The residual of y, its products with the conditions, its square; NaN for `slope` without conditions.
    p : float
        The three combined.
    """

    mean: float
    slope: float
    spread: float
    p: float


@kernel
def curvature(groups: Groups, fits: ContextFits) -> float:
    """p-value of squares of the conditions and powers of the common fit, beside a line for every context."""
    n, m = groups.rows.shape[0], groups.rows.shape[1] - 1
    fitted, squares = residuals_of(groups, fits, 0), 0.0
    for i in range(n):
        fitted[i] = groups.rows[i, m] - fitted[i]
        squares += fitted[i] * fitted[i]
    scale = 1.0 / max(math.sqrt(squares / n), 1e-150)
    table = np.empty((n, 2 * m + 3))
    for i in range(n):
        for j in range(m):
            table[i, j] = groups.rows[i, j]
            table[i, m + j] = groups.rows[i, j] * groups.rows[i, j]
        value = fitted[i] * scale
        table[i, 2 * m] = value * value
        table[i, 2 * m + 1] = value * value * value
        table[i, 2 * m + 2] = groups.rows[i, m]
    return common_terms(table, groups.start, m)


@kernel
def uneven_spread(groups: Groups, fits: ContextFits) -> float:
    """p-value of the conditions and their squares for the size of residuals, in units of the context's spread."""
    n, m = groups.rows.shape[0], groups.rows.shape[1] - 1
    residuals = residuals_of(groups, fits, 2)
    table = np.empty((n, 2 * m + 1))
    for r in range(groups.start.size - 1):
        begin, end = groups.start[r], groups.start[r + 1]
        scale = 1.0 / max(math.sqrt(fits.left[r + 2] / (end - begin - fits.rank[r + 2])), 1e-150)
        for i in range(begin, end):
            for j in range(m):
                table[i, j] = groups.rows[i, j]
                table[i, m + j] = groups.rows[i, j] * groups.rows[i, j]
            table[i, 2 * m] = abs(residuals[i]) * scale
    return common_terms(table, groups.start, 0)


@kernel
def common_terms(table: Floats, start: Ints, own: int) -> float:
    """p-value of F for the middle columns: the first `own` have slopes by context, the last column is the target.

    Every context has an intercept. 1 where the columns add nothing.
    """
    contexts, extra = start.size - 1, table.shape[1] - own - 1
    scatter = cross_products(table, start, np.empty((contexts, table.shape[1])))
    spread, left = np.zeros(extra), np.zeros((extra + 1, extra + 1))
    df_left = table.shape[0] - contexts
    for r in range(contexts):
        for j in range(extra):
            spread[j] += scatter[r, own + j, own + j]
        df_left -= sweep(scatter[r], own, start[r + 1] - start[r])
        for j in range(extra + 1):
            for a in range(extra + 1):
                left[j, a] += scatter[r, own + j, own + a]
    for j in range(extra):
        if left[j, j] <= NOTHING_BELOW * spread[j]:
            for a in range(extra + 1):
                left[j, a] = 0.0
                left[a, j] = 0.0
    before = left[extra, extra]
    df = sweep(left, extra, table.shape[0])
    if df == 0 or df_left - df < 1:
        return 1.0
    after = max(left[extra, extra], 0.0)
    return f_upper(before - after, after, float(df), float(df_left - df))


def context_needs(groups: Groups, fits: ContextFits, enough: float) -> Logit:
    """Does the residual of y help to tell the context, beside Z? By likelihood ratios of multinomial logits.

    Where Z alone tells the contexts apart, nothing can be gained: the p-values are about 1. As soon as p is known to be
    at most `enough`, what is left is not fitted: its p-values count as 1. A negative one asks for all of them.
    """
    m, free = groups.rows.shape[1] - 1, groups.start.size - 2
    codes = np.repeat(np.arange(free + 1), np.diff(groups.start))
    design = np.empty((groups.rows.shape[0], 2 * m + 3))
    _fill_design(groups.rows, groups.start, fits.slopes, fits.left, fits.rank, fits.mean, design)
    p_slope, p_spread = 1.0 if m else math.nan, 1.0
    nothing, slopes = _fit(design, m + 1, codes, np.zeros((free, m + 1)))
    mean, slopes = _fit(design, m + 2, codes, slopes)
    p_mean = chi2_upper(2.0 * (mean - nothing), float(free))
    slope = mean
    if m and combine(p_mean, p_slope, p_spread) > enough:
        slope, slopes = _fit(design, 2 * m + 2, codes, slopes)
        p_slope = chi2_upper(2.0 * (slope - mean), float(free * m))
    if combine(p_mean, p_slope, p_spread) > enough:
        spread, _ = _fit(design, 2 * m + 3, codes, slopes)
        p_spread = chi2_upper(2.0 * (spread - slope), float(free))
    return Logit(p_mean, p_slope, p_spread, combine(p_mean, p_slope, p_spread))


@kernel
def _fill_design(rows: Floats, start: Ints, slopes: Floats, left: Floats, rank: Ints, mean: Floats,
                 design: Floats) -> None:  # fmt: skip
    """Write 1, the conditions, and then, standardised, the residual, its products with the conditions, its square."""
    n, m = rows.shape[0], rows.shape[1] - 1
    residuals = residuals_of(Groups(rows, start), ContextFits(slopes, left, rank, mean), 0)
    added = np.empty((n, m + 2))
    for i in range(n):
        added[i, 0] = residuals[i]
        for j in range(m):
            added[i, 1 + j] = residuals[i] * rows[i, j]
        added[i, m + 1] = residuals[i] * residuals[i]
    standardise(added)
    for i in range(n):
        design[i, 0] = 1.0
        for j in range(m):
            design[i, 1 + j] = rows[i, j]
        for j in range(m + 2):
            design[i, 1 + m + j] = added[i, j]


def _fit(design: Floats, width: int, codes: Ints, slopes: Floats) -> tuple[float, Floats]:
    """The logit on the first `width` columns, from the slopes of a fit on fewer of them, shape (classes - 1, fewer)."""
    start = np.zeros((len(slopes), width))
    start[:, : slopes.shape[1]] = slopes
    chosen = np.ascontiguousarray(design[:, :width])
    return maximum(LOGIT, chosen, codes, len(slopes) + 1, start.ravel(), RIDGE, TOLERANCE), start
