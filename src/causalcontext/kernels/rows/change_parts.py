"""Does the regression of y on Z differ between contexts? Its parts: mean, slopes, spread, and all in one (LR*).

The parts prove nothing unless y given Z is linear with one spread inside the contexts. Two checks say whether it is;
they are made inside the contexts, so that a change between contexts does not disturb them, and what they look for is
common to all contexts, as it is where nothing changes. If it is not, a logit says whether the context needs y beside Z.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW
from causalcontext.kernels.linear import sweep
from causalcontext.kernels.rows.fits_by_context import ContextFits, Groups, cross_products, residuals_of, standardise
from causalcontext.kernels.rows.glm import RIDGE, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.kernels.special import chi2_upper, digamma, f_upper

MEAN_WEIGHT, SLOPE_WEIGHT, SPREAD_WEIGHT = 5.0, 1.0, 1.0
"""How the level is shared out: docs/decisions/change-test.md."""
NOTHING_BELOW = 1e-9
"""A column of which the conditions leave less than this share adds nothing."""
TOLERANCE = 1e-7
"""A gain of likelihood that ends a fit."""


@kernel
def likelihood_ratio(groups: Groups, fits: ContextFits) -> tuple[float, float, float]:
    """LR* of one regression for all contexts, its df and p-value; NaN where a context leaves no residual."""
    n = groups.rows.shape[0]
    if fits.left[0] <= COLLINEAR_BELOW * n:
        return math.nan, math.nan, math.nan
    ratio, df = n * math.log(fits.left[0] / n), -(fits.rank[0] + 1)
    mean = n * (digamma(0.5 * (n - fits.rank[0])) + math.log(2.0 / n))
    for r in range(groups.start.size - 1):
        size, left, rank = groups.start[r + 1] - groups.start[r], fits.left[r + 2], fits.rank[r + 2]
        if left <= 0.0:
            return math.nan, math.nan, math.nan
        ratio -= size * math.log(left / size)
        mean -= size * (digamma(0.5 * (size - rank)) + math.log(2.0 / size))
        df += rank + 1
    if df <= 0 or mean <= 0.0:
        return math.nan, math.nan, math.nan
    statistic = max(ratio, 0.0) * df / mean
    return statistic, float(df), chi2_upper(statistic, float(df))


@kernel
def nested_f(groups: Groups, fits: ContextFits, small: int, large: int) -> tuple[float, float, float]:
    """F of two nested fits (0 common, 1 shifts, 2 every context), its df and p-value; NaN where they are one."""
    left, rank = fits.left[large], float(fits.rank[large])
    if large == 2:
        for r in range(3, fits.left.size):
            left += fits.left[r]
            rank += fits.rank[r]
    df, df_left = rank - fits.rank[small], groups.start[groups.start.size - 1] - rank
    if df <= 0 or df_left <= 0:
        return math.nan, math.nan, math.nan
    explained = fits.left[small] - left
    left_over = left if left > COLLINEAR_BELOW * fits.left[small] else 0.0
    value = (explained / df) / (left_over / df_left) if left_over > 0.0 else math.inf
    return value, df, f_upper(explained, left_over, df, df_left)


@kernel
def combine(mean: float, slope: float, spread: float) -> float:
    """P(a smallest weighted p-value this small) for independent parts; a part that is NaN takes no share."""
    total, least = 0.0, math.inf
    parts = ((mean, MEAN_WEIGHT), (slope, SLOPE_WEIGHT), (spread, SPREAD_WEIGHT))
    for p, weight in parts:
        if not math.isnan(p):
            total += weight
            least = min(least, p / weight)
    if total == 0.0:
        return math.nan
    none = 0.0
    for p, weight in parts:
        if not math.isnan(p):
            none += math.log1p(-min(least * weight, 1.0)) if least * weight < 1.0 else -math.inf
    return 0.0 - math.expm1(none)


@kernel
def brown_forsythe(groups: Groups, fits: ContextFits) -> tuple[float, float]:
    """F of absolute distances of residuals of the common fit from their medians by context, and its p-value."""
    values, start = residuals_of(groups, fits, 0), groups.start
    contexts, n = start.size - 1, values.size
    away, means = np.empty(n), np.empty(contexts)
    inside, between, centre = 0.0, 0.0, 0.0
    for r in range(contexts):
        for i in range(start[r], start[r + 1]):
            away[i] = values[i]
        middle = _median(away, start[r], start[r + 1])
        total = 0.0
        for i in range(start[r], start[r + 1]):
            away[i] = abs(values[i] - middle)
            total += away[i]
        means[r] = total / (start[r + 1] - start[r])
        for i in range(start[r], start[r + 1]):
            inside += (away[i] - means[r]) * (away[i] - means[r])
    for i in range(n):
        centre += away[i]
    centre /= n
    for r in range(contexts):
        between += (start[r + 1] - start[r]) * (means[r] - centre) * (means[r] - centre)
    df, df_left = contexts - 1, n - contexts
    value = (between / df) / (inside / df_left) if inside > 0.0 else math.inf
    return value, f_upper(between, inside, float(df), float(df_left))


@kernel
def _median(values: Floats, begin: int, end: int) -> float:
    """The median of the values from `begin` up to `end`, which are put in another order."""
    middle, first, last = (begin + end) // 2, begin, end - 1
    while first < last:
        pivot, low, high = values[(first + last) // 2], first, last
        while low <= high:
            while values[low] < pivot:
                low += 1
            while values[high] > pivot:
                high -= 1
            if low <= high:
                values[low], values[high] = values[high], values[low]
                low += 1
                high -= 1
        if middle <= high:
            last = high
        elif middle >= low:
            first = low
        else:
            break
    if (end - begin) % 2:
        return float(values[middle])
    below = values[begin]
    for i in range(begin + 1, middle):
        below = max(below, values[i])
    return float(0.5 * (below + values[middle]))


@kernel
def bartlett(groups: Groups, fits: ContextFits) -> float:
    """The p-value of Bartlett's test for the residual variances of the contexts; it trusts in Gaussian tails."""
    contexts = groups.start.size - 1
    total_df, total, logs, inverse = 0.0, 0.0, 0.0, 0.0
    for r in range(contexts):
        df = groups.start[r + 1] - groups.start[r] - fits.rank[r + 2]
        if fits.left[r + 2] <= 0.0:
            return 0.0
        total_df += df
        total += fits.left[r + 2]
        logs += df * math.log(fits.left[r + 2] / df)
        inverse += 1.0 / df
    statistic = total_df * math.log(total / total_df) - logs
    correction = 1.0 + (inverse - 1.0 / total_df) / (3.0 * (contexts - 1))
    return chi2_upper(statistic / correction, contexts - 1.0)


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


def context_needs(groups: Groups, fits: ContextFits, enough: float) -> float:
    """p-value of y in telling the context beside Z: of its residual, of products with Z, of its square, in logits.

    Where Z alone tells the contexts apart, nothing can be gained: the p-values are about 1. As soon as p is known to be
    at most `enough`, what is left is not fitted: its p-values count as 1. A negative one asks for all of them.
    """
    m, free = groups.rows.shape[1] - 1, groups.start.size - 2
    codes = np.repeat(np.arange(free + 1), np.diff(groups.start))
    design = np.empty((2 * m + 3, groups.rows.shape[0]))
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
    return combine(p_mean, p_slope, p_spread)


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
        design[0, i] = 1.0
        for j in range(m):
            design[1 + j, i] = rows[i, j]
        for j in range(m + 2):
            design[1 + m + j, i] = added[i, j]


def _fit(design: Floats, width: int, codes: Ints, slopes: Floats) -> tuple[float, Floats]:
    """The logit on the first `width` columns, from the slopes of a fit on fewer of them, shape (classes - 1, fewer)."""
    start = np.zeros((len(slopes), width))
    start[:, : slopes.shape[1]] = slopes
    return fit_glm(LOGIT, design[:width], codes, len(slopes) + 1, start.reshape(-1), RIDGE, TOLERANCE), start
