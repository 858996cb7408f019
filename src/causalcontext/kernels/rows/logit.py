"""A multinomial logit on columns that lie along memory: Newton steps that keep the information as long as it serves.

The information is what a step costs, so it is computed anew only where steps with the last one get slow. Rows are
visited class by class along memory, and the exponentials by `kernels.special.exponentials`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.rows.scan import two_by_four
from causalcontext.kernels.special import exponentials

MOST_STEPS = 30
ROWS_AT_A_TIME = 512
MOST_HALVES = 20
SLOW = 0.3
"""A step with an old information that leaves more than this share of the gain to be had asks for a new one."""
DAMPING = 1e-10
"""Added to the information of an intercept."""
NO_PIVOT = 1e-12
"""A pivot below this share of its diagonal: this coefficient stays where it is."""


class Work(NamedTuple):
    """Arrays that all steps of a fit share.

    Attributes
    ----------
    shares : array, shape (classes - 1, rows)
        The probabilities of all classes but the last.
    own : array, shape (classes - 1, width)
        Sums of the columns over the rows of every class.
    weights, squares : arrays, shapes (pairs of classes + classes, some rows) and (pairs of columns, some rows)
        Products of shares, then the shares themselves; products of columns. Their products make up the information.
    highest, norm, scratch : arrays, shape (rows,)
    """

    shares: Floats
    own: Floats
    weights: Floats
    squares: Floats
    highest: Floats
    norm: Floats
    scratch: Floats


@kernel
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
        A step that can gain less is the last.
    """
    work, likelihood = _begin(design, codes, slopes)
    for _ in range(MOST_STEPS):
        factor = _factor(design, work, ridge)
        likelihood, left = _steps(design, codes, slopes, work, factor, ridge, tolerance, likelihood)
        if left < tolerance:
            break
    return likelihood


@kernel
def _steps(design: Floats, codes: Ints, slopes: Floats, work: Work, factor: Floats, ridge: float, tolerance: float,
           likelihood: float) -> tuple[float, float]:  # fmt: skip
    """Steps with one information, until they get slow; the likelihood, and what another step could gain."""
    step, expected = _step(design, slopes, work, factor, ridge)
    halves, trial = MOST_HALVES, np.empty(slopes.shape)
    while True:
        before, scale, gain = likelihood - _penalty(slopes, ridge), 1.0, -1.0
        for _ in range(halves):
            _move(slopes, scale, step, trial)
            likelihood = _likelihood(design, codes, trial, work)
            gain = likelihood - _penalty(trial, ridge) - before
            if gain >= 0.0:
                break
            scale *= 0.5
        if not gain >= 0.0:  # back to where it began: with a new information no step helps, either
            likelihood = _likelihood(design, codes, slopes, work)
            return likelihood, 0.0 if halves == MOST_HALVES else expected
        for c in range(slopes.shape[0]):
            for a in range(slopes.shape[1]):
                slopes[c, a] = trial[c, a]
        if expected < tolerance:
            return likelihood, 0.0
        step, left = _step(design, slopes, work, factor, ridge)
        if left > SLOW * expected and left >= tolerance:
            return likelihood, left
        expected, halves = left, 1


@kernel
def _move(slopes: Floats, scale: float, step: Floats, goal: Floats) -> None:
    """Write the slopes after part of a step."""
    for c in range(slopes.shape[0]):
        for a in range(slopes.shape[1]):
            goal[c, a] = slopes[c, a] + scale * step[c, a]


@kernel
def _begin(design: Floats, codes: Ints, slopes: Floats) -> tuple[Work, float]:
    """Arrays to work with, and the likelihood of the slopes."""
    (width, n), free = design.shape, slopes.shape[0]
    own = np.zeros((free, width))
    for a in range(width):
        for i in range(n):
            if codes[i] < free:
                own[codes[i], a] += design[a, i]
    weights = np.empty((free * (free + 3) // 2, ROWS_AT_A_TIME))
    squares = np.empty((width * (width + 1) // 2, ROWS_AT_A_TIME))
    work = Work(np.empty((free, n)), own, weights, squares, np.empty(n), np.empty(n), np.empty(n))
    return work, _likelihood(design, codes, slopes, work)


@kernel
def _likelihood(design: Floats, codes: Ints, slopes: Floats, work: Work) -> float:
    """The likelihood; the probabilities are written to `work.shares`."""
    (free, n), highest, norm = work.shares.shape, work.highest, work.norm
    highest[:] = 0.0
    for c in range(free):
        share = work.shares[c]
        share[:] = slopes[c, 0]
        for a in range(1, design.shape[0]):
            slope, column = slopes[c, a], design[a]
            for i in range(n):
                share[i] += slope * column[i]
        for i in range(n):
            highest[i] = max(highest[i], share[i])
    total = 0.0
    for i in range(n):
        total += (work.shares[codes[i], i] if codes[i] < free else 0.0) - highest[i]
        norm[i] = -highest[i]
    exponentials(norm, work.scratch)
    for c in range(free):
        share = work.shares[c]
        for i in range(n):
            share[i] -= highest[i]
        exponentials(share, work.scratch)
        for i in range(n):
            norm[i] += share[i]
    for i in range(n):
        total -= math.log(norm[i])
        norm[i] = 1.0 / norm[i]
    for c in range(free):
        share = work.shares[c]
        for i in range(n):
            share[i] *= norm[i]
    return total


@kernel
def _step(design: Floats, slopes: Floats, work: Work, factor: Floats, ridge: float) -> tuple[Floats, float]:
    """The next step, and what it gains if the likelihood is quadratic."""
    gradient = _gradient(design, slopes, work, ridge)
    step, gain = _solved(factor, gradient), 0.0
    for c in range(step.shape[0]):
        for a in range(step.shape[1]):
            gain += gradient[c, a] * step[c, a]
    return step, 0.5 * gain


@kernel
def _gradient(design: Floats, slopes: Floats, work: Work, ridge: float) -> Floats:
    free, width = slopes.shape
    gradient = work.own.copy()
    for c in range(free):
        for a in range(width):
            gradient[c, a] -= _product(work.shares[c], design[a])
            if a:
                gradient[c, a] -= ridge * slopes[c, a]
    return gradient


@kernel(fastmath={"contract", "nsz", "reassoc"})
def _product(one: Floats, other: Floats) -> float:
    total = 0.0
    for i in range(one.size):
        total += one[i] * other[i]
    return total


@kernel
def _factor(design: Floats, work: Work, ridge: float) -> Floats:
    """The lower triangle whose square is the information at `work.shares`, with the ridge."""
    (free, n), width = work.shares.shape, design.shape[0]
    products = np.zeros((work.weights.shape[0], work.squares.shape[0]))
    for low in range(0, n, ROWS_AT_A_TIME):
        high = min(low + ROWS_AT_A_TIME, n)
        _pairs_of(work.shares, low, high, work.weights)
        for c in range(free):
            for i in range(low, high):
                work.weights[work.weights.shape[0] - free + c, i - low] = work.shares[c, i]
        _pairs_of(design, low, high, work.squares)
        _add_products(work.weights, work.squares, high - low, products)
    factor = np.empty((free * width, free * width))
    for row in range(free * width):
        c, a = row // width, row % width
        for column in range(row + 1):
            d, b = column // width, column % width
            pair = max(a, b) * (max(a, b) + 1) // 2 + min(a, b)
            factor[row, column] = -products[c * (c + 1) // 2 + d, pair]
            if c == d:
                factor[row, column] += products[products.shape[0] - free + c, pair]
        factor[row, row] += ridge if a else DAMPING
    _triangle(factor)
    return factor


@kernel
def _pairs_of(columns: Floats, low: int, high: int, pairs: Floats) -> None:
    """Write down the products of every two columns in some rows: (0, 0), (1, 0), (1, 1), (2, 0), ..."""
    place = 0
    for a in range(columns.shape[0]):
        for b in range(a + 1):
            one, other, target = columns[a, low:high], columns[b, low:high], pairs[place]
            for i in range(high - low):
                target[i] = one[i] * other[i]
            place += 1


@kernel
def _add_products(left: Floats, right: Floats, rows: int, products: Floats) -> None:
    """Add the products of every row of `left` with every row of `right`, over their first `rows` places."""
    for i in range(0, left.shape[0], 2):
        for j in range(0, right.shape[0], 4):
            found = two_by_four(left, right, i, j, 0, rows)
            for place in range(8):
                row, column = i + place // 4, j + place % 4
                if row < left.shape[0] and column < right.shape[0]:
                    products[row, column] += found[place]


@kernel
def _triangle(matrix: Floats) -> None:
    """The Cholesky factor in place of the lower triangle; a column without a pivot gets an infinite one."""
    for i in range(matrix.shape[0]):
        diagonal = matrix[i, i]
        for j in range(i):
            matrix[i, j] = (matrix[i, j] - _product(matrix[i, :j], matrix[j, :j])) / matrix[j, j]
        left = diagonal - _product(matrix[i, :i], matrix[i, :i])
        matrix[i, i] = math.sqrt(left) if left > NO_PIVOT * diagonal else math.inf


@kernel
def _solved(factor: Floats, gradient: Floats) -> Floats:
    """The step: the gradient over the information."""
    step = gradient.copy()
    flat = step.reshape(step.size)
    for i in range(flat.size):
        flat[i] = (flat[i] - _product(factor[i, :i], flat[:i])) / factor[i, i]
    for i in range(flat.size - 1, -1, -1):
        flat[i] /= factor[i, i]
        for j in range(i):
            flat[j] -= factor[i, j] * flat[i]
    return step


@kernel
def _penalty(slopes: Floats, ridge: float) -> float:
    total = 0.0
    for c in range(slopes.shape[0]):
        for a in range(1, slopes.shape[1]):
            total += slopes[c, a] * slopes[c, a]
    return 0.5 * ridge * total
