"""Does the regression of y on Z differ between contexts? Its parts: mean, slopes, spread, and all in one (LR*)."""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW
from causalcontext.kernels.rows.fits_by_context import ContextFits, Groups, residuals_of
from causalcontext.kernels.special import chi2_upper, digamma, f_upper

MEAN_WEIGHT, SLOPE_WEIGHT, SPREAD_WEIGHT = 5.0, 1.0, 1.0
"""How the level is shared out: docs/decisions/change-test.md."""


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
