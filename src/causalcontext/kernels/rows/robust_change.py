"""The robust test of a change between contexts, from rows to a p-value: parts, gate, and what the
gate asks.

Where a change is clear from moments, an upper bound of the p-value needs no rows of the query.
Moments give the parts for mean and slopes; the part for the spread can only lower p. Whether the
gate opens is not asked: the logit is taken as if it did, and needs no more than two likelihoods,
those of the context on Z and on Z with y, which queries share.

The parts ask whether the regression of y on Z differs between contexts: mean, slopes, spread, and
all in one (LR*). They prove nothing unless y given Z is linear with one spread inside the contexts.
Two checks, the gate, say whether it is; they are made inside the contexts, so that a change between
contexts does not disturb them, and what they look for is common to all contexts, as it is where
nothing changes. If it is not, a logit says whether the context needs y beside Z.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.kernels.linear import sweep
from causalcontext.kernels.rows.fits_by_context import (
    ContextFits,
    Groups,
    cross_products,
    fit_all,
    fits_from,
    group_into,
    group_rows,
    residuals_of,
    standardise,
)
from causalcontext.kernels.rows.glm import RIDGE, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.kernels.special import chi2_upper, digamma, f_upper

MEAN_WEIGHT = 5.0
SLOPE_WEIGHT = 1.0
SPREAD_WEIGHT = 1.0
"""How the level is shared out: docs/decisions/change-test.md."""
NOTHING_BELOW = 1e-9
"""A column of which the conditions leave less than this share adds nothing."""
TOLERANCE = 1e-7
"""A gain of likelihood that ends a fit."""


@kernel
def likelihood_ratio(groups: Groups, fits: ContextFits) -> tuple[float, float, float]:
    """LR* of one regression for all contexts, its df and p-value; NaN where a context leaves no
    residual.
    """
    n = groups.rows.shape[0]
    if fits.left[0] <= COLLINEAR_BELOW * n:
        return math.nan, math.nan, math.nan
    ratio = n * math.log(fits.left[0] / n)
    df = -(fits.rank[0] + 1)
    mean = n * (digamma(0.5 * (n - fits.rank[0])) + math.log(2.0 / n))
    for r in range(groups.start.size - 1):
        size = groups.start[r + 1] - groups.start[r]
        left = fits.left[r + 2]
        rank = fits.rank[r + 2]
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
def nested_f(
    groups: Groups, fits: ContextFits, small: int, large: int
) -> tuple[float, float, float]:
    """F of two nested fits (0 common, 1 shifts, 2 every context), its df and p-value; NaN where
    they are one.
    """
    left = fits.left[large]
    rank = float(fits.rank[large])
    if large == 2:
        for r in range(3, fits.left.size):
            left += fits.left[r]
            rank += fits.rank[r]
    df = rank - fits.rank[small]
    df_left = groups.start[groups.start.size - 1] - rank
    if df <= 0 or df_left <= 0:
        return math.nan, math.nan, math.nan
    explained = fits.left[small] - left
    left_over = left if left > COLLINEAR_BELOW * fits.left[small] else 0.0
    value = (explained / df) / (left_over / df_left) if left_over > 0.0 else math.inf
    return value, df, f_upper(explained, left_over, df, df_left)


@kernel
def combine(mean: float, slope: float, spread: float) -> float:
    """P(a smallest weighted p-value this small) for independent parts; a part that is NaN takes no
    share.
    """
    total = 0.0
    least = math.inf
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
    """F of absolute distances of residuals of the common fit from their medians by context, and its
    p-value.
    """
    values = residuals_of(groups, fits, 0)
    start = groups.start
    contexts = start.size - 1
    n = values.size
    away = np.empty(n)
    means = np.empty(contexts)
    inside = 0.0
    between = 0.0
    centre = 0.0
    for r in range(contexts):
        middle = np.median(values[start[r] : start[r + 1]])
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
    df = contexts - 1
    df_left = n - contexts
    value = (between / df) / (inside / df_left) if inside > 0.0 else math.inf
    return value, f_upper(between, inside, float(df), float(df_left))


@kernel
def bartlett(groups: Groups, fits: ContextFits) -> float:
    """The p-value of Bartlett's test for the residual variances of the contexts; it trusts in
    Gaussian tails.
    """
    contexts = groups.start.size - 1
    total_df = 0.0
    total = 0.0
    logs = 0.0
    inverse = 0.0
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
    """p-value of squares of the conditions and powers of the common fit, beside a line for every
    context.
    """
    n = groups.rows.shape[0]
    m = groups.rows.shape[1] - 1
    fitted = residuals_of(groups, fits, 0)
    squares = 0.0
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
    """p-value of the conditions and their squares for the size of residuals, in units of the
    context's spread.
    """
    n = groups.rows.shape[0]
    m = groups.rows.shape[1] - 1
    residuals = residuals_of(groups, fits, 2)
    table = np.empty((n, 2 * m + 1))
    for r in range(groups.start.size - 1):
        begin = groups.start[r]
        end = groups.start[r + 1]
        scale = 1.0 / max(math.sqrt(fits.left[r + 2] / (end - begin - fits.rank[r + 2])), 1e-150)
        for i in range(begin, end):
            for j in range(m):
                table[i, j] = groups.rows[i, j]
                table[i, m + j] = groups.rows[i, j] * groups.rows[i, j]
            table[i, 2 * m] = abs(residuals[i]) * scale
    return common_terms(table, groups.start, 0)


@kernel
def common_terms(table: Floats, start: Ints, own: int) -> float:
    """p-value of F for the middle columns: the first `own` have slopes by context, the last column
    is the target.

    Every context has an intercept. 1 where the columns add nothing.
    """
    contexts = start.size - 1
    extra = table.shape[1] - own - 1
    scatter = cross_products(table, start, np.empty((contexts, table.shape[1])))
    spread = np.zeros(extra)
    left = np.zeros((extra + 1, extra + 1))
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
    """p-value of y in telling the context beside Z: of its residual, of products with Z, of its
    square, in logits.

    Where Z alone tells the contexts apart, nothing can be gained: the p-values are about 1. As soon
    as p is known to be at most `enough`, what is left is not fitted: its p-values count as 1. A
    negative one asks for all of them.
    """
    m = groups.rows.shape[1] - 1
    free = groups.start.size - 2
    codes = np.repeat(np.arange(free + 1), np.diff(groups.start))
    design = np.empty((2 * m + 3, groups.rows.shape[0]))
    _fill_design(groups.rows, groups.start, fits.slopes, fits.left, fits.rank, fits.mean, design)
    p_slope = 1.0 if m else math.nan
    p_spread = 1.0
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
def _fill_design(
    rows: Floats,
    start: Ints,
    slopes: Floats,
    left: Floats,
    rank: Ints,
    mean: Floats,
    design: Floats,
) -> None:
    """Write 1, the conditions, and then, standardised, the residual, its products with the
    conditions, its square.
    """
    n = rows.shape[0]
    m = rows.shape[1] - 1
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
    """The logit on the first `width` columns, from the slopes of a fit on fewer of them, shape
    (classes - 1, fewer).
    """
    start = np.zeros((len(slopes), width))
    start[:, : slopes.shape[1]] = slopes
    return (
        fit_glm(LOGIT, design[:width], codes, len(slopes) + 1, start.reshape(-1), RIDGE, TOLERANCE),
        start,
    )


TESTABLE = 0
CONSTANT = 2
COLLINEAR = 3
FEW_CONTEXTS = 4
GATE_LEVEL = 0.01
"""Each of the two checks of the gate opens it below this p-value, unless another level is asked
for.
"""
CLEAR = 1e-6
"""Below this the p-value of the logit need not be known exactly: an upper bound is given."""


class Parts(NamedTuple):
    """p-values of what may have changed, of the two checks of the gate, and of the logit that it
    asks.
    """

    mean: float  # shifts of the mean between contexts, slopes in common
    slope: float  # slopes that differ between contexts; NaN without conditions
    mean_and_slope: float  # the two together: Chow's F
    variance: float  # Brown-Forsythe on the residuals of the common fit
    gaussian_variance: (
        float  # Bartlett's test on the fits by context; enters as the larger p of the two
    )
    # curvature, uneven_spread: y given Z is not linear, or its spread depends on Z, alike in all
    # contexts
    curvature: float
    uneven_spread: float
    logit: float  # the context needs y beside Z
    # statistic, df: F and its degrees of freedom of the part that decides: mean, slope or variance
    statistic: float
    df: float
    p: float
    reason: int  # why there is no p-value; 0 if there is one


(
    MEAN,
    SLOPE,
    _,
    VARIANCE,
    GAUSSIAN_VARIANCE,
    CURVATURE,
    UNEVEN_SPREAD,
    BY_LOGIT,
    STATISTIC,
    DF,
    P,
) = range(11)
"""Where the numbers of `Parts` stand."""


def robust_change(
    columns: Floats, y: Floats, codes: Ints, levels: int, look_below: float, gate: float
) -> Parts:
    """All parts of the test, with checks of the gate at the level `gate`.

    The gate is looked at where p without it is below `look_below`; it can only raise p.
    """
    numbers = np.full(len(Parts._fields) - 1, math.nan)
    m = columns.shape[1]
    rows = np.empty((codes.size, m + 1))
    start = np.empty(levels + 1, np.int64)
    rank = np.empty(levels + 2, np.int64)
    slopes = np.empty((levels + 2, m))
    left = np.empty(levels + 2)
    mean = np.empty((levels + 1, m + 1))
    room = ContextFits(slopes, left, rank, mean)
    reason, k = fill_parts(columns, y, codes, look_below, rows, start, room, numbers)
    if min(numbers[CURVATURE], numbers[UNEVEN_SPREAD]) < gate:
        groups = Groups(rows[: start[k]], start[: k + 1])
        fits = ContextFits(slopes[: k + 2], left[: k + 2], rank[: k + 2], mean[: k + 1])
        enough = max(numbers[P], CLEAR) if look_below <= 1.0 else -1.0
        numbers[BY_LOGIT] = context_needs(groups, fits, enough)
        numbers[P] = max(numbers[P], numbers[BY_LOGIT])
    return Parts._make([*numbers.tolist(), reason])


@kernel
def fill_parts(
    columns: Floats,
    y: Floats,
    codes: Ints,
    look_below: float,
    rows: Floats,
    start: Ints,
    room: ContextFits,
    numbers: Floats,
) -> tuple[int, int]:
    """Write down all numbers of `Parts` but the logit's, and `Groups` and `ContextFits`, whose
    arrays have room for all rows and levels; why there are no numbers, and how many contexts are
    left."""
    groups = group_into(columns, y, codes, rows, start)
    fits = fit_all(groups)
    for k in range(fits.left.size):
        room.left[k] = fits.left[k]
        room.rank[k] = fits.rank[k]
        for j in range(room.slopes.shape[1]):
            room.slopes[k, j] = fits.slopes[k, j]
    for k in range(groups.start.size):
        for j in range(room.mean.shape[1]):
            room.mean[k, j] = fits.mean[k, j]
    reason = _reason(groups, fits)
    if reason == TESTABLE:
        f = np.empty(3)
        df = np.empty(3)
        for part in range(3):
            small = 1 if part == 1 else 0
            large = 1 if part == 0 else 2
            f[part], df[part], numbers[part] = nested_f(groups, fits, small, large)
        f[2], numbers[VARIANCE] = brown_forsythe(groups, fits)
        df[2] = groups.start.size - 2.0
        numbers[GAUSSIAN_VARIANCE] = bartlett(groups, fits)
        spread = max(numbers[VARIANCE], numbers[GAUSSIAN_VARIANCE])
        by_spread = spread / SPREAD_WEIGHT
        by_slope = numbers[SLOPE] / SLOPE_WEIGHT
        by_slope = math.inf if math.isnan(by_slope) else by_slope
        decides = (
            0
            if numbers[MEAN] / MEAN_WEIGHT < min(by_spread, by_slope)
            else 1
            if by_slope < by_spread
            else 2
        )
        numbers[STATISTIC] = f[decides]
        numbers[DF] = df[decides]
        numbers[P] = combine(numbers[MEAN], numbers[SLOPE], spread)
        if columns.shape[1] > 0 and numbers[P] < look_below:
            numbers[CURVATURE] = curvature(groups, fits)
            numbers[UNEVEN_SPREAD] = uneven_spread(groups, fits)
    return reason, groups.start.size - 1


@kernel
def change_on_rows(
    columns: Floats, y: Floats, codes: Ints, levels: int
) -> tuple[float, float, float, int]:
    """LR* with its df and p-value, or the reason why there is none."""
    groups = group_rows(columns, y, codes, levels)
    fits = fit_all(groups)
    reason = _reason(groups, fits)
    if reason != TESTABLE:
        return math.nan, math.nan, math.nan, reason
    statistic, df, p = likelihood_ratio(groups, fits)
    return statistic, df, p, COLLINEAR if math.isnan(p) else TESTABLE


@kernel
def _reason(groups: Groups, fits: ContextFits) -> int:
    """Why nothing can be tested: few contexts, y constant or a linear function of Z, or Z tells the
    contexts apart.
    """
    n = groups.rows.shape[0]
    m = groups.rows.shape[1] - 1
    if groups.start.size < 3:
        return FEW_CONTEXTS
    constant = True
    for i in range(n):
        constant = constant and groups.rows[i, m] == 0.0
    if constant:
        return CONSTANT
    if fits.left[0] <= COLLINEAR_BELOW * n or fits.rank[1] == fits.rank[0]:
        return COLLINEAR
    return TESTABLE


class CellMoments(NamedTuple):
    """Moments of all numbers, standardised over all rows, in every context."""

    start: Ints  # shape (contexts + 1,): rows before every context
    mean: Floats  # shape (contexts + 1, numbers): of all rows (0), then of every context
    scatter: Floats  # shape (contexts, numbers, numbers): centred cross products


@kernel
def bound_from_moments(cells: CellMoments, places: Ints) -> tuple[float, float, float]:
    """F and df of what decides, mean or slopes, and what p before the gate can be at most.

    Of the last of `places` on the others; the spread counts as unchanged. NaN where rows are needed
    to tell.
    """
    contexts = cells.start.size - 1
    width = places.size
    scatter = np.empty((contexts, width, width))
    mean = np.zeros((contexts + 1, width))
    for r in range(contexts):
        if cells.start[r + 1] - cells.start[r] < width + SPARE_ROWS:
            return math.nan, math.nan, math.nan
        for j in range(width):
            mean[r + 1, j] = cells.mean[r + 1, places[j]]
            for a in range(width):
                scatter[r, j, a] = cells.scatter[r, places[j], places[a]]
    fits = fits_from(scatter, mean, cells.start)
    if fits.left[0] <= COLLINEAR_BELOW * cells.start[contexts] or fits.rank[1] == fits.rank[0]:
        return math.nan, math.nan, math.nan
    groups = Groups(np.empty((0, width)), cells.start)
    mean_f, mean_df, mean_p = nested_f(groups, fits, 0, 1)
    slope_f, slope_df, slope_p = nested_f(groups, fits, 1, 2)
    p = combine(mean_p, slope_p, 1.0)
    if slope_p / SLOPE_WEIGHT < mean_p / MEAN_WEIGHT:
        return slope_f, slope_df, p
    return mean_f, mean_df, p


@kernel
def bound_of_logit(gain: float, free: int) -> float:
    """What p of the logit can be at most if y gains so much likelihood, given some conditions."""
    return combine(chi2_upper(2.0 * max(gain, 0.0), float(free)), 1.0, 1.0)


def most_lost(slopes: Floats, at: int, weights: Floats, left: float, ridge: float) -> float:
    """How much less likelihood a fit can have with the residual of a column in place of the column.

    Both span the same models, but the ridge is another one. At the maximum of one fit the gradient
    of the likelihood is that of its ridge; since the likelihood is concave, the slopes of the other
    fit lie in a ball around that gradient, in their own units, with the slopes of the first one on
    its surface.

    `slopes`, shape (classes - 1, width), begin with the intercept, and `at` counts with it;
    `weights`, shape (width,), are those of the others in the regression of the column, 0 for the
    intercept and for itself; `left` is the standard deviation of the residual, by which it is
    divided.
    """
    start = slopes + np.outer(slopes[:, at], weights)
    middle = slopes.copy()
    start[:, at] = left * slopes[:, at]
    middle[:, at] = (slopes[:, at] - slopes @ weights) / left
    began, centre, apart = (
        float(np.sum(part[:, 1:] ** 2)) for part in (start, middle, middle - start)
    )
    nearest = max(math.sqrt(centre) - math.sqrt(apart), 0.0)
    return 0.5 * ridge * (began - nearest * nearest)
