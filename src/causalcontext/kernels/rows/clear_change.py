"""A change between contexts that is clear from moments: an upper bound of the p-value, without the rows of the trial.

Moments give the parts for mean and slopes; the part for the spread can only lower p. Whether the gate opens is not
asked: the logit is taken as if it did, and needs no more than two likelihoods, those of the context on Z and on Z with
y, which trials share.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import inner, njit
from causalcontext.kernels.rows.change_parts import MEAN_WEIGHT, SLOPE_WEIGHT, combine, nested_f
from causalcontext.kernels.rows.fits_by_context import COLLINEAR_BELOW, SPARE_ROWS, Groups, fits_from
from causalcontext.kernels.rows.scan import add_cross_products
from causalcontext.kernels.special import chi2_upper

MOST_STEPS = 30


class Cells(NamedTuple):
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


@njit(cache=True, nogil=True)
def bound_from_moments(cells: Cells, places: Ints) -> tuple[float, float, float]:
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


@njit(cache=True, nogil=True)
def bound_of_logit(gain: float, free: int, conditions: bool) -> float:
    """What p of the logit can be at most if y gains so much likelihood."""
    p = chi2_upper(2.0 * max(gain, 0.0), float(free))
    return combine(p, 1.0 if conditions else math.nan, 1.0)


@njit(cache=True, nogil=True)
def fit_logit(design: Floats, codes: Ints, slopes: Floats, ridge: float, tolerance: float) -> float:
    """The likelihood of a multinomial logit where it is largest less a light ridge.

    Parameters
    ----------
    design : array, shape (width, rows)
        The first row is 1.
    codes : array of int, shape (rows,)
        Classes; the last has slopes 0.
    slopes : array, shape (classes - 1, width), changed
        Where to begin; afterwards those of the largest likelihood.
    tolerance : float
        A step that gains less is the last.
    """
    shares = np.empty((slopes.shape[0], design.shape[1]))
    likelihood = _shares(design, codes, slopes, shares)
    for _ in range(MOST_STEPS):
        before = likelihood - _penalty(slopes, ridge)
        step = _newton_step(design, codes, slopes, shares, ridge)
        scale, gain = 1.0, 0.0
        for _half in range(20):
            trial = slopes + scale * step
            likelihood = _shares(design, codes, trial, shares)
            gain = likelihood - _penalty(trial, ridge) - before
            if gain >= 0.0:
                break
            scale *= 0.5
        if not gain >= 0.0:
            return _shares(design, codes, slopes, shares)
        slopes[:] = trial
        if gain < tolerance:
            break
    return likelihood


@inner
def _shares(design: Floats, codes: Ints, slopes: Floats, shares: Floats) -> float:
    """The likelihood; the probabilities of all classes but the last are written to `shares`."""
    free, n = shares.shape
    total = 0.0
    for c in range(free):
        shares[c] = slopes[c, 0]
        for a in range(1, design.shape[0]):
            slope = slopes[c, a]
            for i in range(n):
                shares[c, i] += slope * design[a, i]
    for i in range(n):
        highest = 0.0
        for c in range(free):
            highest = max(highest, shares[c, i])
        norm = math.exp(-highest)
        total += (shares[codes[i], i] if codes[i] < free else 0.0) - highest
        for c in range(free):
            shares[c, i] = math.exp(shares[c, i] - highest)
            norm += shares[c, i]
        total -= math.log(norm)
        for c in range(free):
            shares[c, i] /= norm
    return total


@inner
def _newton_step(design: Floats, codes: Ints, slopes: Floats, shares: Floats, ridge: float) -> Floats:
    free, n = shares.shape
    width = design.shape[0]
    size = free * width
    scaled = np.empty((size + width, n))
    for c in range(free):
        for a in range(width):
            for i in range(n):
                scaled[c * width + a, i] = shares[c, i] * design[a, i]
    scaled[size:] = design
    products = np.zeros((size + width, size + width))
    add_cross_products(scaled, 0, n, products)
    hessian, gradient = np.empty((size, size)), np.empty(size)
    for row in range(size):
        for column in range(row + 1):
            value = -products[row, column]
            if row // width == column // width:
                value += products[size + row % width, column]
            hessian[row, column] = value
            hessian[column, row] = value
        own = 0.0
        for i in range(n):
            if codes[i] == row // width:
                own += design[row % width, i]
        gradient[row] = own - products[size, row] - (ridge * slopes[row // width, row % width] if row % width else 0.0)
        hessian[row, row] += ridge if row % width else 1e-10
    return np.linalg.solve(hessian, gradient).reshape(free, width)


@inner
def _penalty(slopes: Floats, ridge: float) -> float:
    total = 0.0
    for slope in slopes[:, 1:].ravel():
        total += slope * slope
    return 0.5 * ridge * total
