"""The log-likelihood of classes given columns: a multinomial logit, or proportional odds for ordered classes.

The design has one row for every column and one column for every observation, so that all sums run along memory. A light
ridge on all but the intercepts keeps the coefficients finite where classes are separated; the likelihood itself is
bounded, and reported without the ridge.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.calls import Call, pointer_to
from causalcontext.kernels.compiling import njit
from causalcontext.kernels.special import logistic, softplus

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RIDGE = 1e-2
TOLERANCE = 1e-4
"""In log-likelihood: a Newton step that promises less is the last one."""
MOST_STEPS = 40


@cache
def logit_call() -> Call:
    """`logit_pass` behind a pointer."""
    row, square = np.zeros(1), np.zeros((1, 1))
    return pointer_to(logit_pass, square, np.zeros(1, dtype=np.int64), 1, row, row, square)


@cache
def ordered_call() -> Call:
    """`ordered_pass` behind a pointer."""
    row, square = np.zeros(1), np.zeros((1, 1))
    return pointer_to(ordered_pass, square, np.zeros(1, dtype=np.int64), 1, row, row, square)


@njit(cache=True, nogil=True, error_model="numpy")
def class_fit(one_pass: Call, design: Floats, codes: Ints, classes: int, ordered: bool, loss: Floats) -> float:
    """The largest log-likelihood of classes given a design; half the Wald statistic of every row of the design.

    Parameters
    ----------
    one_pass : Call
        `logit_pass` or, for ordered classes, `ordered_pass`.
    design : array, shape (width, rows)
        Its first row is 1.
    codes : array of int, shape (rows,)
        0 .. classes - 1.
    """
    width = design.shape[0]
    slopes = start_slopes(codes, classes, ordered, width)
    curvature = np.zeros((slopes.size, slopes.size))
    likelihood = maximise(one_pass, design, codes, classes, ordered, slopes, curvature)
    _invert(curvature)
    for row in range(1, width):
        loss[row] = 0.5 * _wald(slopes, curvature, classes, ordered, width, row)
    return likelihood


@njit(cache=True, nogil=True, error_model="numpy")
def maximise(one_pass: Call, design: Floats, codes: Ints, classes: int, ordered: bool, slopes: Floats,
             curvature: Floats) -> float:  # fmt: skip
    """The largest log-likelihood; `slopes` is where to start and then the maximum.

    Parameters
    ----------
    slopes : array, shape (coefficients,)
        `(classes - 1) * width` for a logit, one class after the other; `classes - 1 + width - 1` if ordered, the cuts
        first.
    curvature : array, shape (coefficients, coefficients)
        Written: the lower triangle of the negative Hessian, ridge included.
    """
    size, width = slopes.size, design.shape[0]
    gradient, trial, step = np.zeros(size), np.zeros(size), np.zeros(size)
    factor = np.zeros((size, size))
    likelihood = one_pass(design, codes, classes - 1, slopes, gradient, curvature)
    for _ in range(MOST_STEPS):
        objective = likelihood - _ridge(slopes, classes, width, ordered)
        for a in range(size):
            slack = _penalty(a, classes, width, ordered)
            gradient[a] -= slack * slopes[a]
            curvature[a, a] += slack + 1e-8
        if _newton_step(curvature, gradient, factor, step) < TOLERANCE:
            break
        scale, gain = 1.0, -1.0
        for _half in range(25):
            for a in range(size):
                trial[a] = slopes[a] + scale * step[a]
            value = one_pass(design, codes, classes - 1, trial, gradient, curvature)
            gain = value - _ridge(trial, classes, width, ordered) - objective
            if gain >= 0.0:
                likelihood = value
                for a in range(size):
                    slopes[a] = trial[a]
                break
            scale *= 0.5
        if not gain >= 0.0:
            break
    return float(likelihood)


def first_slopes(codes: Ints, classes: int, ordered: bool, width: int) -> Floats:
    """The same for Python."""
    slopes = np.zeros(classes - 1 + width - 1 if ordered else (classes - 1) * width)
    _write_start(codes, classes, ordered, width, slopes)
    return slopes


@njit(cache=True, nogil=True, error_model="numpy")
def _write_start(codes: Ints, classes: int, ordered: bool, width: int, slopes: Floats) -> None:
    slopes[:] = start_slopes(codes, classes, ordered, width)


@njit(cache=True, nogil=True, error_model="numpy")
def start_slopes(codes: Ints, classes: int, ordered: bool, width: int) -> Floats:
    """Coefficients without any effect: the shares of the classes."""
    counts = np.full(classes, 0.5)
    for row in range(codes.size):
        counts[codes[row]] += 1.0
    slopes = np.zeros(classes - 1 + width - 1 if ordered else (classes - 1) * width)
    below = 0.0
    for c in range(classes - 1):
        below += counts[c]
        if ordered:
            slopes[c] = math.log(below / (codes.size + 0.5 * classes - below))
        else:
            slopes[c * width] = math.log(counts[c] / counts[classes - 1])
    return slopes


@njit(cache=True, nogil=True, error_model="numpy")
def _wald(slopes: Floats, curvature: Floats, classes: int, ordered: bool, width: int, row: int) -> float:
    """The Wald statistic of one row of the design, from the inverse of the curvature."""
    free = 1 if ordered else classes - 1
    factor = np.zeros((free, free))
    value = np.zeros(free)
    for c in range(free):
        i = classes - 1 + row - 1 if ordered else c * width + row
        value[c] = slopes[i]
        for e in range(c + 1):
            factor[c, e] = curvature[i, classes - 1 + row - 1 if ordered else e * width + row]
    total = 0.0
    for c in range(free):
        for e in range(c + 1):
            entry = factor[c, e]
            for a in range(e):
                entry -= factor[c, a] * factor[e, a]
            factor[c, e] = entry / factor[e, e] if e < c else math.sqrt(max(entry, 1e-300))
        for a in range(c):
            value[c] -= factor[c, a] * value[a]
        value[c] /= factor[c, c]
        total += value[c] * value[c]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _invert(matrix: Floats) -> None:
    """Replace a positive definite matrix by its inverse."""
    size = matrix.shape[0]
    _factor(matrix)
    for i in range(size):
        matrix[i, i] = 1.0 / matrix[i, i]
        for j in range(i + 1, size):
            value = 0.0
            for a in range(i, j):
                value -= matrix[j, a] * matrix[a, i]
            matrix[j, i] = value / matrix[j, j]
    for i in range(size):
        for j in range(i + 1):
            value = 0.0
            for a in range(i, size):
                value += matrix[a, i] * matrix[a, j]
            matrix[j, i] = value
    for i in range(size):
        for j in range(i):
            matrix[i, j] = matrix[j, i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def logit_pass(design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats,
               curvature: Floats) -> float:  # fmt: skip
    """The log-likelihood of a logit, the last class having slopes 0; gradient, lower half of the negative Hessian."""
    width, n = design.shape
    share, weight = np.zeros((free, n)), np.empty(n)
    for c in range(free):
        for a in range(width):
            slope = slopes[c * width + a]
            if slope != 0.0:
                for row in range(n):
                    share[c, row] += slope * design[a, row]
    total = 0.0
    for row in range(n):
        highest = 0.0
        for c in range(free):
            highest = max(highest, share[c, row])
        own = share[codes[row], row] if codes[row] < free else 0.0
        norm = math.exp(-highest)
        for c in range(free):
            share[c, row] = math.exp(share[c, row] - highest)
            norm += share[c, row]
        total += own - highest - math.log(norm)
        for c in range(free):
            share[c, row] /= norm
    for c in range(free):
        for row in range(n):
            weight[row] = (1.0 if codes[row] == c else 0.0) - share[c, row]
        for a in range(width):
            value = 0.0
            for row in range(n):
                value += weight[row] * design[a, row]
            gradient[c * width + a] = value
        for e in range(c + 1):
            for row in range(n):
                weight[row] = share[c, row] * ((1.0 if c == e else 0.0) - share[e, row])
            weighted_products(design, weight, c * width, e * width, e == c, curvature)
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def weighted_products(design: Floats, weight: Floats, row: int, column: int, triangle: bool, goal: Floats) -> None:
    """Cross products of all rows of the design, weighted, from `goal[row, column]` on."""
    width, n = design.shape
    scaled = np.empty(n)
    for a in range(width):
        for t in range(n):
            scaled[t] = weight[t] * design[a, t]
        for b in range(a + 1 if triangle else width):
            value = 0.0
            for t in range(n):
                value += scaled[t] * design[b, t]
            goal[row + a, column + b] = value


@njit(cache=True, nogil=True, error_model="numpy")
def ordered_pass(design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats,
                 curvature: Floats) -> float:  # fmt: skip
    """The same of proportional odds: P(class <= j) = F(cut_j - x b); -inf where the cuts are not in order."""
    width, n = design.shape
    for a in range(slopes.size):
        gradient[a] = 0.0
        for b in range(a + 1):
            curvature[a, b] = 0.0
    for j in range(1, free):
        if not slopes[j] > slopes[j - 1]:
            return -math.inf
    predictor, slope, bend = np.zeros(n), np.empty(n), np.empty(n)
    for a in range(1, width):
        for row in range(n):
            predictor[row] += slopes[free + a - 1] * design[a, row]
    total = 0.0
    for row in range(n):
        level = codes[row]
        above = slopes[level] - predictor[row] if level < free else math.inf
        below = slopes[level - 1] - predictor[row] if level > 0 else -math.inf
        left_above, left_below = logistic(-above), logistic(below)
        odds = 1.0 / math.expm1(above - below) if 0 < level < free else 0.0
        total += -softplus(-above) - softplus(below) - math.log1p(odds)
        up, down, both = left_above + odds, -left_below - odds, odds * (1.0 + odds)
        bend_up = left_above * (1.0 - left_above) + both if level < free else 0.0
        bend_down = left_below * (1.0 - left_below) + both if level > 0 else 0.0
        slope[row], bend[row] = -(up + down), bend_up + bend_down - 2.0 * both
        if level < free:
            gradient[level] += up
            curvature[level, level] += bend_up
        if level > 0:
            gradient[level - 1] += down
            curvature[level - 1, level - 1] += bend_down
        if 0 < level < free:
            curvature[level, level - 1] -= both
        for a in range(1, width):
            if level < free:
                curvature[free + a - 1, level] -= (bend_up - both) * design[a, row]
            if level > 0:
                curvature[free + a - 1, level - 1] -= (bend_down - both) * design[a, row]
    for a in range(1, width):
        for row in range(n):
            gradient[free + a - 1] += slope[row] * design[a, row]
        for b in range(1, a + 1):
            value = 0.0
            for row in range(n):
                value += bend[row] * design[a, row] * design[b, row]
            curvature[free + a - 1, free + b - 1] = value
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _penalty(a: int, classes: int, width: int, ordered: bool) -> float:
    """The ridge of a coefficient; intercepts have none."""
    free = a < classes - 1 if ordered else a % width == 0
    return 0.0 if free else RIDGE


@njit(cache=True, nogil=True, error_model="numpy")
def _ridge(slopes: Floats, classes: int, width: int, ordered: bool) -> float:
    total = 0.0
    for a in range(slopes.size):
        total += 0.5 * _penalty(a, classes, width, ordered) * slopes[a] * slopes[a]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _newton_step(curvature: Floats, gradient: Floats, factor: Floats, step: Floats) -> float:
    """Write the step to the maximum of the quadratic approximation; what it promises."""
    size = gradient.size
    for i in range(size):
        for j in range(i + 1):
            factor[i, j] = curvature[i, j]
    _factor(factor)
    promise = 0.0
    for i in range(size):
        value = gradient[i]
        for a in range(i):
            value -= factor[i, a] * step[a]
        step[i] = value / factor[i, i]
        promise += 0.5 * step[i] * step[i]
    for i in range(size - 1, -1, -1):
        value = step[i]
        for a in range(i + 1, size):
            value -= factor[a, i] * step[a]
        step[i] = value / factor[i, i]
    return promise


@njit(cache=True, nogil=True, error_model="numpy")
def _factor(matrix: Floats) -> None:
    """The Cholesky factor in the lower triangle, in place."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            value = matrix[i, j]
            for a in range(j):
                value -= matrix[i, a] * matrix[j, a]
            matrix[i, j] = value / matrix[j, j] if j < i else math.sqrt(max(value, 1e-12))
