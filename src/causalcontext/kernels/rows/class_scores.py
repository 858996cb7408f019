"""The log-likelihood of classes given columns: a multinomial logit, or proportional odds for ordered classes.

The design has one row for every column and one column for every observation, so that all sums run along memory. A light
ridge on all but the intercepts keeps the coefficients finite where classes are separated; the likelihood itself is
bounded, and reported without the ridge.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.function_pointers import FunctionPointer, pointer_kind, pointer_to
from causalcontext.kernels.rows.logit_rows import logit_kind
from causalcontext.kernels.special import logistic, softplus

RIDGE = 1e-2
TOLERANCE = 1e-4
"""In log-likelihood: a Newton step that promises less is the last one."""
CLOSE, FASTER = 1e-2, 20.0
"""A Newton step that promises less, and so many times less than the one before, needs no look at where it ends."""
MOST_STEPS = 40
MUCH_WORK = 1e6
"""Rows times slopes squared: with more, a good start saves more than it costs."""
FEW_ROWS = 8
"""Every so many rows are enough to come close to a maximum."""
ROWS_A_SLOPE, ROWS_A_CLASS = 8, 20
"""Fewer rows than these are not few, but too few."""
HOPE = 3.0
"""The maximum is hardly ever further away than this, times what a Newton step promises."""


@cache
def ordered_pointer() -> FunctionPointer:
    """`ordered_pass` behind a pointer."""
    row, square = np.zeros(1), np.zeros((1, 1))
    return pointer_to(ordered_pass, square, np.zeros(1, dtype=np.int64), 1, row, row, square)


@cache
def class_pointer() -> FunctionPointer:
    """`class_fit` behind a pointer."""
    return pointer_to(class_fit, *_samples())


def class_kind() -> Any:
    """The type of `class_pointer`."""
    return pointer_kind(*_samples())


def _samples() -> tuple[Any, ...]:
    row, square = np.zeros(1), np.zeros((1, 1))
    return logit_kind(), square, np.zeros(1, dtype=np.int64), 2, False, row, False, 0.0, square


@kernel
def class_fit(
    one_pass: FunctionPointer,
    design: Floats,
    codes: Ints,
    classes: int,
    ordered: bool,
    slopes: Floats,
    far: bool,
    needed: float,
    inverse: Floats,
) -> float:
    """The largest log-likelihood of classes given a design, or -inf if `needed` is clearly out of reach.

    Parameters
    ----------
    one_pass : Call
        `logit_pass` or, for ordered classes, `ordered_pass`.
    design : array, shape (width, rows)
        Its first row is 1.
    codes : array of int, shape (rows,)
        0 .. classes - 1.
    slopes : array, shape (coefficients,)
        Where to start; then the maximum.
    far : bool
        Whether to come close to the maximum on few rows first.
    inverse : array, shape (coefficients, coefficients)
        Written: the inverse of the negative Hessian. Without room for it, it is not computed.
    """
    curvature = np.zeros((slopes.size, slopes.size))
    if far:
        part, few = few_rows(design, codes, classes, slopes.size)
        if few.size > 0:
            maximise(one_pass, part, few, classes, ordered, slopes, curvature, -math.inf, 1.0)
    likelihood = maximise(one_pass, design, codes, classes, ordered, slopes, curvature, needed, TOLERANCE)
    if likelihood > -math.inf and inverse.size > 0:
        _invert(curvature, inverse)
    return likelihood


@kernel
def maximise(one_pass: FunctionPointer, design: Floats, codes: Ints, classes: int, ordered: bool, slopes: Floats,
             curvature: Floats, needed: float, tolerance: float) -> float:  # fmt: skip
    """The largest log-likelihood; `slopes` is where to start and then the maximum.

    Parameters
    ----------
    slopes : array, shape (coefficients,)
        `(classes - 1) * width` for a logit, one class after the other; `classes - 1 + width - 1` if ordered, the cuts
        first.
    curvature : array, shape (coefficients, coefficients)
        Written: the lower triangle of the negative Hessian, ridge included, at the maximum or one short step before.
    needed : float
        Where the maximum is clearly below this, the search for it ends, with -inf.
    tolerance : float
        A Newton step that promises less is the last one.
    """
    size, width = slopes.size, design.shape[0]
    gradient, trial, step = np.zeros(size), np.zeros(size), np.zeros(size)
    factor, nothing, flat = np.zeros((size, size)), np.empty((0, 0)), np.empty(0)
    likelihood = one_pass(design, codes, classes - 1, slopes, gradient, curvature)
    before, careful = 0.0, False
    for _ in range(MOST_STEPS):
        objective = likelihood - _ridge(slopes, classes, width, ordered)
        for a in range(size):
            slack = _penalty(a, classes, width, ordered)
            gradient[a] -= slack * slopes[a]
            curvature[a, a] += slack + 1e-8
        promise = _newton_step(curvature, gradient, factor, step)
        if likelihood + HOPE * promise + 1.0 < needed:
            return -math.inf
        if promise < tolerance:
            break
        scale, gain, last = 1.0, -1.0, promise < CLOSE and FASTER * promise < before
        careful = careful or last
        for half in range(25):
            for a in range(size):
                trial[a] = slopes[a] + scale * step[a]
            if half == 0 and not careful:
                value = one_pass(design, codes, classes - 1, trial, gradient, curvature)
            else:
                value = one_pass(design, codes, classes - 1, trial, flat, nothing)
            gain = value - _ridge(trial, classes, width, ordered) - objective
            if gain >= 0.0:
                break
            scale *= 0.5
        if not gain >= 0.0:
            break
        for a in range(size):
            slopes[a] = trial[a]
        likelihood = value
        if last:
            break
        if scale < 1.0 or careful:
            one_pass(design, codes, classes - 1, slopes, gradient, curvature)
        before, careful = promise, scale < 1.0
    return float(likelihood)


@kernel
def is_much_work(rows: int, slopes: int) -> bool:
    """Whether a fit takes long enough to look for a good start."""
    return rows * slopes * slopes > MUCH_WORK


@kernel
def few_rows(design: Floats, codes: Ints, classes: int, slopes: int) -> tuple[Floats, Ints]:
    """Part of the rows, to come close to the maximum; none if there are too few of some class."""
    size = codes.size // FEW_ROWS
    few, counts = np.empty(size, dtype=np.int64), np.zeros(classes, dtype=np.int64)
    for row in range(size):
        few[row] = codes[FEW_ROWS * row]
        counts[few[row]] += 1
    enough = size >= ROWS_A_SLOPE * (slopes + classes)
    for c in range(classes):
        enough = enough and counts[c] >= ROWS_A_CLASS
    if not enough:
        return np.empty((0, 0)), np.empty(0, dtype=np.int64)
    part = np.empty((design.shape[0], size))
    for a in range(design.shape[0]):
        for row in range(size):
            part[a, row] = design[a, FEW_ROWS * row]
    return part, few


def first_slopes(codes: Ints, classes: int, ordered: bool, width: int) -> Floats:
    """`start_slopes` for Python."""
    slopes = np.zeros(classes - 1 + width - 1 if ordered else (classes - 1) * width)
    write_start(codes, classes, ordered, width, slopes)
    return slopes


@kernel
def write_start(codes: Ints, classes: int, ordered: bool, width: int, slopes: Floats) -> None:
    """The intercepts are those of the shares of the classes."""
    counts, below = np.empty(classes), 0.0
    for c in range(classes):
        counts[c] = 0.5
    for row in range(codes.size):
        counts[codes[row]] += 1.0
    for c in range(classes - 1):
        below += counts[c]
        if ordered:
            slopes[c] = math.log(below / (codes.size + 0.5 * classes - below))
        else:
            slopes[c * width] = math.log(counts[c] / counts[classes - 1])


@kernel
def start_slopes(codes: Ints, classes: int, ordered: bool, width: int) -> Floats:
    """Coefficients without any effect: the shares of the classes."""
    slopes = np.zeros(classes - 1 + width - 1 if ordered else (classes - 1) * width)
    write_start(codes, classes, ordered, width, slopes)
    return slopes


@kernel
def is_out_of_reach(one_pass: FunctionPointer, design: Floats, codes: Ints, classes: int, ordered: bool, slopes: Floats,
                    inverse: Floats, needed: float) -> bool:  # fmt: skip
    """Whether the maximum is clearly below what is needed, by the gradient alone.

    `inverse` is the inverse of a negative Hessian from elsewhere, so twice as much hope is kept.
    """
    gradient, promise = np.zeros(slopes.size), 0.0
    likelihood = one_pass(design, codes, classes - 1, slopes, gradient, np.empty((0, 0)))
    for a in range(slopes.size):
        gradient[a] -= _penalty(a, classes, design.shape[0], ordered) * slopes[a]
    for a in range(slopes.size):
        value = 0.0
        for b in range(slopes.size):
            value += inverse[a, b] * gradient[b]
        promise += 0.5 * value * gradient[a]
    return bool(likelihood + 2.0 * HOPE * promise + 1.0 < needed)


@kernel
def half_wald(slopes: Floats, inverse: Floats, place: Ints) -> float:
    """Half the Wald statistic of the slopes at some places: about what the log-likelihood loses without them."""
    factor, value = _own(slopes, inverse, place)
    total = 0.0
    for c in range(place.size):
        for a in range(c):
            value[c] -= factor[c, a] * value[a]
        value[c] /= factor[c, c]
        total += value[c] * value[c]
    return 0.5 * total


@kernel
def leave_out(slopes: Floats, inverse: Floats, place: Ints) -> None:
    """Move to where the quadratic approximation is highest if the slopes at some places are 0."""
    factor, _ = _own(slopes, inverse, place)
    size, free = slopes.size, place.size
    steps = np.empty((free, size))
    for c in range(free):
        for i in range(size):
            steps[c, i] = inverse[place[c], i]
    moves = np.empty(free)
    for c in range(free):
        moves[c] = slopes[place[c]]
        for a in range(c):
            moves[c] -= factor[c, a] * moves[a]
            for i in range(size):
                steps[c, i] -= factor[c, a] * steps[a, i]
        moves[c] /= factor[c, c]
        for i in range(size):
            steps[c, i] /= factor[c, c]
    for c in range(free):
        for i in range(size):
            slopes[i] -= moves[c] * steps[c, i]
            for j in range(size):
                inverse[i, j] -= steps[c, i] * steps[c, j]


@kernel
def places_of(row: int, classes: int, ordered: bool, width: int) -> Ints:
    """Where the slopes of one row of the design are."""
    place = np.empty(1 if ordered else classes - 1, dtype=np.int64)
    for c in range(place.size):
        place[c] = classes - 1 + row - 1 if ordered else c * width + row
    return place


@kernel
def _own(slopes: Floats, inverse: Floats, place: Ints) -> tuple[Floats, Floats]:
    """The factor of the covariance of some slopes, and the slopes."""
    factor, value = np.zeros((place.size, place.size)), np.empty(place.size)
    for c in range(place.size):
        value[c] = slopes[place[c]]
        for e in range(c + 1):
            factor[c, e] = inverse[place[c], place[e]]
    _factor(factor)
    return factor, value


@kernel
def _invert(matrix: Floats, inverse: Floats) -> None:
    """The inverse of a positive definite matrix, of which the lower triangle is given and lost."""
    size = matrix.shape[0]
    half = np.zeros((size, size))
    _factor(matrix)
    for j in range(size):
        half[j, j] = 1.0
        for a in range(j):
            slope = matrix[j, a]
            for i in range(a + 1):
                half[j, i] -= slope * half[a, i]
        for i in range(j + 1):
            half[j, i] /= matrix[j, j]
    for i in range(size):
        for j in range(size):
            inverse[i, j] = 0.0
    for a in range(size):
        for i in range(a + 1):
            slope = half[a, i]
            for j in range(i + 1):
                inverse[i, j] += slope * half[a, j]
    for i in range(size):
        for j in range(i):
            inverse[j, i] = inverse[i, j]


@kernel(fastmath={"reassoc", "contract"})
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


@kernel
def ordered_pass(design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats,
                 curvature: Floats) -> float:  # fmt: skip
    """The same of proportional odds: P(class <= j) = F(cut_j - x b); -inf where the cuts are not in order."""
    width, n = design.shape
    wanted, sloped = curvature.size > 0, gradient.size > 0
    for a in range(slopes.size if sloped else 0):
        gradient[a] = 0.0
        for b in range(a + 1 if wanted else 0):
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
        if not sloped:
            continue
        up, down, both = left_above + odds, -left_below - odds, odds * (1.0 + odds)
        bend_up = left_above * (1.0 - left_above) + both if level < free else 0.0
        bend_down = left_below * (1.0 - left_below) + both if level > 0 else 0.0
        slope[row], bend[row] = -(up + down), bend_up + bend_down - 2.0 * both
        if level < free:
            gradient[level] += up
        if level > 0:
            gradient[level - 1] += down
        if not wanted:
            continue
        if level < free:
            curvature[level, level] += bend_up
        if level > 0:
            curvature[level - 1, level - 1] += bend_down
        if 0 < level < free:
            curvature[level, level - 1] -= both
        for a in range(1, width):
            if level < free:
                curvature[free + a - 1, level] -= (bend_up - both) * design[a, row]
            if level > 0:
                curvature[free + a - 1, level - 1] -= (bend_down - both) * design[a, row]
    for a in range(1, width if sloped else 1):
        for row in range(n):
            gradient[free + a - 1] += slope[row] * design[a, row]
        for b in range(1, a + 1 if wanted else 1):
            value = 0.0
            for row in range(n):
                value += bend[row] * design[a, row] * design[b, row]
            curvature[free + a - 1, free + b - 1] = value
    return total


@kernel
def _penalty(a: int, classes: int, width: int, ordered: bool) -> float:
    """The ridge of a coefficient; intercepts have none."""
    free = a < classes - 1 if ordered else a % width == 0
    return 0.0 if free else RIDGE


@kernel
def _ridge(slopes: Floats, classes: int, width: int, ordered: bool) -> float:
    total = 0.0
    for a in range(slopes.size):
        total += 0.5 * _penalty(a, classes, width, ordered) * slopes[a] * slopes[a]
    return total


@kernel
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


@kernel(fastmath={"reassoc", "contract"})
def _factor(matrix: Floats) -> None:
    """The Cholesky factor in the lower triangle, in place."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            value = 0.0
            for a in range(j):
                value += matrix[i, a] * matrix[j, a]
            value = matrix[i, j] - value
            matrix[i, j] = value / matrix[j, j] if j < i else math.sqrt(max(value, 1e-12))
