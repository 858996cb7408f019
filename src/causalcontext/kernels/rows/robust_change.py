"""The robust test of a change between contexts, from rows to a p-value: parts, gate, and what the gate asks.

Where a change is clear from moments, an upper bound of the p-value needs no rows of the query. Moments give the parts
for mean and slopes; the part for the spread can only lower p. Whether the gate opens is not asked: the logit is taken
as if it did, and needs no more than two likelihoods, those of the context on Z and on Z with y, which queries share.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.kernels.rows.change_parts import (
    MEAN_WEIGHT,
    SLOPE_WEIGHT,
    SPREAD_WEIGHT,
    bartlett,
    brown_forsythe,
    combine,
    context_needs,
    curvature,
    likelihood_ratio,
    nested_f,
    uneven_spread,
)
from causalcontext.kernels.rows.fits_by_context import ContextFits, Groups, fit_all, fits_from, group_into, group_rows
from causalcontext.kernels.special import chi2_upper

TESTABLE, CONSTANT, COLLINEAR, FEW_CONTEXTS = 0, 2, 3, 4
GATE_LEVEL = 0.01
"""Each of the two checks of the gate opens it below this p-value, unless another level is asked for."""
CLEAR = 1e-6
"""Below this the p-value of the logit need not be known exactly: an upper bound is given."""


class Parts(NamedTuple):
    """p-values of what may have changed, of the two checks of the gate, and of the logit that it asks."""

    mean: float  # shifts of the mean between contexts, slopes in common
    slope: float  # slopes that differ between contexts; NaN without conditions
    mean_and_slope: float  # the two together: Chow's F
    variance: float  # Brown-Forsythe on the residuals of the common fit
    gaussian_variance: float  # Bartlett's test on the fits by context; enters as the larger p of the two
    # curvature, uneven_spread: y given Z is not linear, or its spread depends on Z, alike in all contexts
    curvature: float
    uneven_spread: float
    logit: float  # the context needs y beside Z
    # statistic, df: F and its degrees of freedom of the part that decides: mean, slope or variance
    statistic: float
    df: float
    p: float
    reason: int  # why there is no p-value; 0 if there is one


MEAN, SLOPE, _, VARIANCE, GAUSSIAN_VARIANCE, CURVATURE, UNEVEN_SPREAD, LOGIT, STATISTIC, DF, P = range(11)
"""Where the numbers of `Parts` stand."""


def robust_change(columns: Floats, y: Floats, codes: Ints, levels: int, look_below: float, gate: float) -> Parts:
    """All parts of the test, with checks of the gate at the level `gate`.

    The gate is looked at where p without it is below `look_below`; it can only raise p.
    """
    numbers = np.full(len(Parts._fields) - 1, math.nan)
    m = columns.shape[1]
    rows, start, rank = np.empty((codes.size, m + 1)), np.empty(levels + 1, np.int64), np.empty(levels + 2, np.int64)
    slopes, left, mean = np.empty((levels + 2, m)), np.empty(levels + 2), np.empty((levels + 1, m + 1))
    room = ContextFits(slopes, left, rank, mean)
    reason, k = fill_parts(columns, y, codes, look_below, rows, start, room, numbers)
    if min(numbers[CURVATURE], numbers[UNEVEN_SPREAD]) < gate:
        groups = Groups(rows[: start[k]], start[: k + 1])
        fits = ContextFits(slopes[: k + 2], left[: k + 2], rank[: k + 2], mean[: k + 1])
        enough = max(numbers[P], CLEAR) if look_below <= 1.0 else -1.0
        numbers[LOGIT] = context_needs(groups, fits, enough)
        numbers[P] = max(numbers[P], numbers[LOGIT])
    return Parts._make([*numbers.tolist(), reason])


@kernel
def fill_parts(columns: Floats, y: Floats, codes: Ints, look_below: float, rows: Floats, start: Ints,
               room: ContextFits, numbers: Floats) -> tuple[int, int]:  # fmt: skip
    """Write down all numbers of `Parts` but the logit's, and `Groups` and `ContextFits`, whose arrays have room for all
    rows and levels; why there are no numbers, and how many contexts are left."""
    groups = group_into(columns, y, codes, rows, start)
    fits = fit_all(groups)
    for k in range(fits.left.size):
        room.left[k], room.rank[k] = fits.left[k], fits.rank[k]
        for j in range(room.slopes.shape[1]):
            room.slopes[k, j] = fits.slopes[k, j]
    for k in range(groups.start.size):
        for j in range(room.mean.shape[1]):
            room.mean[k, j] = fits.mean[k, j]
    reason = _reason(groups, fits)
    if reason == TESTABLE:
        f, df = np.empty(3), np.empty(3)
        for part in range(3):
            small, large = (1 if part == 1 else 0), (1 if part == 0 else 2)
            f[part], df[part], numbers[part] = nested_f(groups, fits, small, large)
        f[2], numbers[VARIANCE] = brown_forsythe(groups, fits)
        df[2] = groups.start.size - 2.0
        numbers[GAUSSIAN_VARIANCE] = bartlett(groups, fits)
        spread = max(numbers[VARIANCE], numbers[GAUSSIAN_VARIANCE])
        decides = _what_decides(numbers[MEAN], numbers[SLOPE], spread)
        numbers[STATISTIC], numbers[DF] = f[decides], df[decides]
        numbers[P] = combine(numbers[MEAN], numbers[SLOPE], spread)
        if columns.shape[1] > 0 and numbers[P] < look_below:
            numbers[CURVATURE], numbers[UNEVEN_SPREAD] = curvature(groups, fits), uneven_spread(groups, fits)
    return reason, groups.start.size - 1


@kernel
def _what_decides(mean: float, slope: float, spread: float) -> int:
    """0 for the mean, 1 for the slopes, 2 for the spread: what has the smallest p-value for its weight."""
    least = spread / SPREAD_WEIGHT
    decides = 2
    if not math.isnan(slope) and slope / SLOPE_WEIGHT < least:
        decides = 1
    least = min(least, math.inf if math.isnan(slope) else slope / SLOPE_WEIGHT)
    return 0 if mean / MEAN_WEIGHT < least else decides


@kernel
def change_on_rows(columns: Floats, y: Floats, codes: Ints, levels: int) -> tuple[float, float, float, int]:
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
    """Why nothing can be tested: few contexts, y constant or a linear function of Z, or Z tells the contexts apart."""
    n, m = groups.rows.shape[0], groups.rows.shape[1] - 1
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

    Of the last of `places` on the others; the spread counts as unchanged. NaN where rows are needed to tell.
    """
    contexts, width = cells.start.size - 1, places.size
    scatter, mean = np.empty((contexts, width, width)), np.zeros((contexts + 1, width))
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

    Both span the same models, but the ridge is another one. At the maximum of one fit the gradient of the likelihood
    is that of its ridge; since the likelihood is concave, the slopes of the other fit lie in a ball around that
    gradient, in their own units, with the slopes of the first one on its surface.

    `slopes`, shape (classes - 1, width), begin with the intercept, and `at` counts with it; `weights`, shape (width,),
    are those of the others in the regression of the column, 0 for the intercept and for itself; `left` is the standard
    deviation of the residual, by which it is divided.
    """
    start, middle = slopes + np.outer(slopes[:, at], weights), slopes.copy()
    start[:, at], middle[:, at] = left * slopes[:, at], (slopes[:, at] - slopes @ weights) / left
    began, centre, apart = (float(np.sum(part[:, 1:] ** 2)) for part in (start, middle, middle - start))
    nearest = max(math.sqrt(centre) - math.sqrt(apart), 0.0)
    return 0.5 * ridge * (began - nearest * nearest)
