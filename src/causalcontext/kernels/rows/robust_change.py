"""The robust test of a change between contexts, from rows to a p-value: parts, gate, and what the gate asks."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import inner, njit
from causalcontext.kernels.rows.change_parts import (
    MEAN_WEIGHT,
    SLOPE_WEIGHT,
    SPREAD_WEIGHT,
    bartlett,
    brown_forsythe,
    combine,
    likelihood_ratio,
    nested_f,
)
from causalcontext.kernels.rows.fits_by_context import (
    COLLINEAR_BELOW,
    ContextFits,
    Groups,
    fit_all,
    group_rows,
    residuals_of,
)
from causalcontext.kernels.rows.gate import context_needs, curvature, uneven_spread

TESTABLE, CONSTANT, COLLINEAR, FEW_CONTEXTS = 0, 2, 3, 4
GATE_LEVEL = 0.01
"""Each of the two checks of the gate opens it below this p-value, unless another level is asked for."""
CLEAR = 1e-6
"""Below this the p-value of the logit need not be known exactly: an upper bound is given."""


class Parts(NamedTuple):
    """p-values of what may have changed, of the two checks of the gate, and of the logit that it asks.

    Attributes
    ----------
    mean : float
        Shifts of the mean between contexts, slopes in common.
    slope : float
        Slopes that differ between contexts; NaN without conditions.
    mean_and_slope : float
        The two together: Chow's F.
    variance : float
        Brown-Forsythe on the residuals of the common fit.
    gaussian_variance : float
        Bartlett's test on the fits by context; enters as the larger p of the two.
    curvature, uneven_spread : float
        y given Z is not linear, or its spread depends on Z, alike in all contexts.
    logit : float
        The context needs y beside Z.
    statistic, df : float
        F and its degrees of freedom of the part that decides: mean, slope or variance.
    p : float
    reason : int
        Why there is no p-value; 0 if there is one.
    """

    mean: float
    slope: float
    mean_and_slope: float
    variance: float
    gaussian_variance: float
    curvature: float
    uneven_spread: float
    logit: float
    statistic: float
    df: float
    p: float
    reason: int


def robust_change(columns: Floats, y: Floats, codes: Ints, levels: int, look_below: float, gate: float) -> Parts:
    """All parts of the test, with checks of the gate at the level `gate`.

    The gate is looked at where p without it is below `look_below`; it can only raise p.
    """
    numbers = np.empty(len(Parts._fields) - 1)
    reason = fill_parts(columns, y, codes, levels, look_below, gate, numbers)
    return Parts._make([*numbers.tolist(), reason])


@njit(cache=True, nogil=True)
def fill_parts(columns: Floats, y: Floats, codes: Ints, levels: int, look_below: float, gate: float,
               numbers: Floats) -> int:  # fmt: skip
    """Write down all numbers of `Parts`; why there are none."""
    found = _parts(columns, y, codes, levels, look_below, gate)
    values = (found.mean, found.slope, found.mean_and_slope, found.variance, found.gaussian_variance, found.curvature,
              found.uneven_spread, found.logit, found.statistic, found.df, found.p)  # fmt: skip
    for place in range(numbers.size):
        numbers[place] = values[place]
    return found.reason


@njit(cache=True, nogil=True)
def _parts(columns: Floats, y: Floats, codes: Ints, levels: int, look_below: float, gate: float) -> Parts:
    groups = group_rows(columns, y, codes, levels)
    if groups.start.size < 3:
        return _no_parts(FEW_CONTEXTS)
    fits = fit_all(groups)
    reason = _reason(groups, fits)
    if reason != TESTABLE:
        return _no_parts(reason)
    mean_f, mean_df, mean = nested_f(groups, fits, 0, 1)
    slope_f, slope_df, slope = nested_f(groups, fits, 1, 2)
    _, _, both = nested_f(groups, fits, 0, 2)
    spread_f, variance = brown_forsythe(residuals_of(groups, fits, 0), groups.start)
    gaussian = bartlett(groups, fits)
    spread = max(variance, gaussian)
    statistic, df = spread_f, groups.start.size - 2.0
    if not math.isnan(slope) and slope / SLOPE_WEIGHT < spread / SPREAD_WEIGHT:
        statistic, df = slope_f, slope_df
    if mean / MEAN_WEIGHT < min(spread / SPREAD_WEIGHT, math.inf if math.isnan(slope) else slope / SLOPE_WEIGHT):
        statistic, df = mean_f, mean_df
    p = combine(mean, slope, spread)
    curved, uneven, logit = math.nan, math.nan, math.nan
    if columns.shape[1] > 0 and p < look_below:
        curved, uneven = curvature(groups, fits), uneven_spread(groups, fits)
        if min(curved, uneven) < gate:
            logit = context_needs(groups, fits, max(p, CLEAR) if look_below <= 1.0 else -1.0).p
            p = max(p, logit)
    return Parts(mean, slope, both, variance, gaussian, curved, uneven, logit, statistic, df, p, TESTABLE)


@njit(cache=True, nogil=True)
def change_on_rows(columns: Floats, y: Floats, codes: Ints, levels: int) -> tuple[float, float, float, int]:
    """LR* with its df and p-value, or the reason why there is none."""
    groups = group_rows(columns, y, codes, levels)
    if groups.start.size < 3:
        return math.nan, math.nan, math.nan, FEW_CONTEXTS
    fits = fit_all(groups)
    reason = _reason(groups, fits)
    if reason != TESTABLE:
        return math.nan, math.nan, math.nan, reason
    statistic, df, p = likelihood_ratio(groups, fits)
    return statistic, df, p, COLLINEAR if math.isnan(p) else TESTABLE


@njit(cache=True, nogil=True)
def _reason(groups: Groups, fits: ContextFits) -> int:
    """Why nothing can be tested: y is constant or a linear function of Z, or Z tells the contexts apart."""
    n, m = groups.rows.shape[0], groups.rows.shape[1] - 1
    if np.abs(groups.rows[:, m]).max() == 0.0:
        return CONSTANT
    if fits.left[0] <= COLLINEAR_BELOW * n or fits.rank[1] == fits.rank[0]:
        return COLLINEAR
    return TESTABLE


@inner
def _no_parts(reason: int) -> Parts:
    nan = math.nan
    return Parts(nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, reason)
