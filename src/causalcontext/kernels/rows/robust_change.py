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

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.rows.fits_by_context import ContextFits, Groups

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


def robust_change(
    columns: Floats, y: Floats, codes: Ints, levels: int, look_below: float, gate: float
) -> Parts:
    """All parts of the test, with checks of the gate at the level `gate`.

    `columns` has shape (n, conditions), y and the codes of the contexts (n,). The gate is looked at
    where p without it is below `look_below`; it can only raise p.
    """
    numbers = np.empty(len(Parts._fields) - 1)
    reason: int = _kernels.robust_change(columns, y, codes, levels, look_below, gate, numbers)
    return Parts._make([*numbers.tolist(), reason])


def likelihood_ratio(groups: Groups, fits: ContextFits) -> tuple[float, float, float]:
    """LR* of one regression for all contexts, its df and p-value; NaN where a context leaves no
    residual.
    """
    ratio: tuple[float, float, float] = _kernels.likelihood_ratio(groups, fits)
    return ratio


def nested_f(
    groups: Groups, fits: ContextFits, small: int, large: int
) -> tuple[float, float, float]:
    """F of two nested fits (0 common, 1 shifts, 2 every context), its df and p-value; NaN where
    they are one.
    """
    answer: tuple[float, float, float] = _kernels.nested_f(groups, fits, small, large)
    return answer


def combine(mean: float, slope: float, spread: float) -> float:
    """P(a smallest weighted p-value this small) for independent parts; a part that is NaN takes no
    share.
    """
    return float(_kernels.combine(mean, slope, spread))


def brown_forsythe(groups: Groups, fits: ContextFits) -> tuple[float, float]:
    """F of absolute distances of residuals of the common fit from their medians by context, and its
    p-value.
    """
    statistic, _, p = _kernels.brown_forsythe(groups, fits)
    return statistic, p


def bartlett(groups: Groups, fits: ContextFits) -> float:
    """The p-value of Bartlett's test for the residual variances of the contexts; it trusts in
    Gaussian tails.
    """
    return float(_kernels.bartlett(groups, fits))


def curvature(groups: Groups, fits: ContextFits) -> float:
    """p-value of squares of the conditions and powers of the common fit, beside a line for every
    context.
    """
    return float(_kernels.curvature(groups, fits))


def uneven_spread(groups: Groups, fits: ContextFits) -> float:
    """p-value of the conditions and their squares for the size of residuals, in units of the
    context's spread.
    """
    return float(_kernels.uneven_spread(groups, fits))


def common_terms(table: Floats, start: Ints, own: int) -> float:
    """p-value of F for the middle columns: the first `own` have slopes by context, the last column
    is the target.

    Every context has an intercept. 1 where the columns add nothing.
    """
    return float(_kernels.common_terms(table, start, own))


def context_needs(groups: Groups, fits: ContextFits, enough: float) -> float:
    """p-value of y in telling the context beside Z: of its residual, of products with Z, of its
    square, in logits.

    Where Z alone tells the contexts apart, nothing can be gained: the p-values are about 1. As soon
    as p is known to be at most `enough`, what is left is not fitted: its p-values count as 1. A
    negative one asks for all of them.
    """
    return float(_kernels.context_needs(groups, fits, enough))


class CellMoments(NamedTuple):
    """Moments of all numbers, standardised over all rows, in every context."""

    # shape (contexts + 1,): rows before every context, fractions where cells are missing
    start: Floats
    mean: Floats  # shape (contexts + 1, numbers): of all rows (0), then of every context
    scatter: Floats  # shape (contexts, numbers, numbers): centred cross products


def bound_from_moments(cells: CellMoments, places: Ints) -> tuple[float, float, float]:
    """F and df of what decides, mean or slopes, and what p before the gate can be at most.

    Of the last of `places` on the others; the spread counts as unchanged. NaN where rows are needed
    to tell.
    """
    bound: tuple[float, float, float] = _kernels.bound_from_moments(cells, places)
    return bound


def bound_of_logit(gain: float, free: int) -> float:
    """What p of the logit can be at most if y gains so much likelihood, given some conditions."""
    return float(_kernels.bound_of_logit(gain, free))


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
