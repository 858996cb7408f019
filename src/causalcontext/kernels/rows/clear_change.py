"""A change between contexts that is clear from moments: an upper bound of the p-value, without the rows of the query.

Moments give the parts for mean and slopes; the part for the spread can only lower p. Whether the gate opens is not
asked: the logit is taken as if it did, and needs no more than two likelihoods, those of the context on Z and on Z with
y, which queries share.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.kernels.rows.change_parts import MEAN_WEIGHT, SLOPE_WEIGHT, combine, nested_f
from causalcontext.kernels.rows.fits_by_context import Groups, fits_from
from causalcontext.kernels.special import chi2_upper


class CellMoments(NamedTuple):
    """Moments of all numbers, standardised over all rows, in every context.

    Attributes
    ----------
    start : array of int, shape (contexts + 1,)
        Rows before every context.
    mean : array, shape (contexts + 1, numbers)
        Of all rows (0), then of every context.
    scatter : array, shape (contexts, numbers, numbers)
        Centred cross products.
    """

    start: Ints
    mean: Floats
    scatter: Floats


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
def bound_of_logit(gain: float, free: int, conditions: bool) -> float:
    """What p of the logit can be at most if y gains so much likelihood."""
    p = chi2_upper(2.0 * max(gain, 0.0), float(free))
    return combine(p, 1.0 if conditions else math.nan, 1.0)


def most_lost(slopes: Floats, at: int, weights: Floats, left: float, ridge: float) -> float:
    """How much less likelihood a fit can have with the residual of a column in place of the column.

    Both span the same models, but the ridge is another one. At the maximum of one fit the gradient of the likelihood
    is that of its ridge; since the likelihood is concave, the slopes of the other fit lie in a ball around that
    gradient, in their own units, with the slopes of the first one on its surface.

    Parameters
    ----------
    slopes : array, shape (classes - 1, width)
        Of the fit to the columns; the first is the intercept.
    at : int
        The column, counted with the intercept.
    weights : array, shape (width,)
        Of the others in the regression of the column; 0 for the intercept and for itself.
    left : float
        The standard deviation of the residual, by which it is divided.
    """
    start, middle = slopes + np.outer(slopes[:, at], weights), slopes.copy()
    start[:, at], middle[:, at] = left * slopes[:, at], (slopes[:, at] - slopes @ weights) / left
    began, centre, apart = (float(np.sum(part[:, 1:] ** 2)) for part in (start, middle, middle - start))
    nearest = max(math.sqrt(centre) - math.sqrt(apart), 0.0)
    return 0.5 * ridge * (began - nearest * nearest)
