"""The largest likelihood of a generalised linear model, by Newton steps: the one solver for classes
and counts.

A family (`kernels.rows.likelihoods`) is a function that gives the log-likelihood with its
derivatives; everything else is the same for all of them. A ridge on chosen coefficients keeps them
finite where classes are separated; the likelihood is reported without it. Without a ridge separated
classes do no harm either: the coefficients run away, while the likelihood converges to its
supremum, and so the gain of a step to nothing.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from causalcontext.kernels.arrays import NOBODY, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer
from causalcontext.kernels.linear import factorise, solve_half, solve_rest
from causalcontext.kernels.rows.likelihoods import LOGIT, ORDINAL, PASSES, POISSON

RIDGE = 1e-2
"""On slopes of standardised columns, where they have to be finite."""
DAMPING = 1e-10
"""Added to the diagonal of a Hessian, not to the likelihood: coefficients without information stay
where they are.
"""
CLOSE = 1e-2
CLOSE_TO_TOLERANCE = 100.0
FASTER = 20.0
"""A step that promises less than these, and so many times less than the one before, needs no look
at where it ends.
"""
MOST_STEPS = 60
MOST_HALVES = 25
HOPE = 3.0
"""The maximum is hardly ever further away than this, times what a Newton step promises."""
BOOTSTRAP_TOLERANCE = 1e-5
"""Of the fits to drawn classes, in units of the log-likelihood."""
NO_TIES: Ints = np.empty(0, dtype=np.int64)


def fit_glm(
    family: int,
    design: Floats,
    response: Ints,
    classes: int,
    slopes: Floats,
    ridge: float,
    tolerance: float,
) -> float:
    """The log-likelihood at its maximum, less a ridge on all but the intercepts.

    The family is `LOGIT`, `ORDINAL` or `POISSON`; the first row of the design, shape (width, rows),
    is 1. The response has classes 0, 1, ..., or counts, for which `classes` is 2. `slopes` is where
    to start, then the maximum: `(classes - 1) * width` for a logit, one class after the other, the
    last one having none; `classes - 1 + width - 1` for proportional odds, the cuts, in order,
    first; `width` for counts. A Newton step that promises less than the tolerance is the last one.
    """
    penalty = np.empty(slopes.size)
    curvature = np.empty((slopes.size, slopes.size))
    write_ridge(family, classes, len(design), ridge, penalty)
    found: float = maximise(
        PASSES[family](),
        design,
        response,
        classes - 1,
        NO_TIES,
        penalty,
        slopes,
        curvature,
        -math.inf,
        tolerance,
    )
    return found


def first_slopes(family: int, response: Ints, classes: int, width: int) -> Floats:
    """Coefficients without any effect: they give the shares of the classes, or the mean count."""
    if family == POISSON:
        return np.concatenate([[math.log(max(response.mean(), 1e-6))], np.zeros(width - 1)])
    slopes = np.zeros(classes - 1 + width - 1 if family == ORDINAL else (classes - 1) * width)
    write_start(response, classes, family == ORDINAL, width, slopes)
    return slopes


def probabilities(family: int, design: Floats, classes: int, slopes: Floats) -> Floats:
    """Of every class in every row, shape (rows, classes); `design` has shape (width, rows)."""
    if family == ORDINAL:
        below = scipy.special.expit(
            slopes[: classes - 1] - (slopes[classes - 1 :] @ design[1:])[:, None]
        )
        return np.asarray(np.maximum(np.diff(below, axis=1, prepend=0.0, append=1.0), 0.0))
    predictor = np.zeros((design.shape[1], classes))
    predictor[:, :-1] = (slopes.reshape(classes - 1, design.shape[0]) @ design).T
    return np.asarray(scipy.special.softmax(predictor, axis=1))


@kernel
def maximise(
    one_pass: FunctionPointer,
    design: Floats,
    response: Ints,
    free: int,
    ties: Ints,
    ridge: Floats,
    slopes: Floats,
    curvature: Floats,
    needed: float,
    tolerance: float,
) -> float:
    """The largest log-likelihood; `slopes` is where to start and then the maximum.

    `one_pass` is one of `likelihoods.PASSES`, `free` the number of classes but one. `ties` has the
    place of every coefficient of the family in `slopes`, -1 for those that are 0; some may share
    one; if it is empty, each has its own. `curvature` is written: the lower triangle of the
    negative Hessian, ridge included, at the maximum or one short step before. Where the maximum is
    clearly below what is `needed`, the search for it ends, with -inf. A Newton step that promises
    less than the tolerance is the last one.
    """
    size = slopes.size
    gradient = np.zeros(size)
    trial = np.zeros(size)
    step = np.zeros(size)
    factor = np.zeros((size, size))
    nothing = np.empty((0, 0))
    flat = np.empty(0)
    likelihood = _value(one_pass, design, response, free, ties, slopes, gradient, curvature)
    before, careful = 0.0, False
    for _ in range(MOST_STEPS):
        objective = likelihood - _penalty(slopes, ridge)
        for a in range(size):
            gradient[a] -= ridge[a] * slopes[a]
            curvature[a, a] += ridge[a] + DAMPING
            step[a] = gradient[a]
            for b in range(a + 1):
                factor[a, b] = curvature[a, b]
        factorise(factor)
        promise = 0.5 * solve_half(factor, step)
        solve_rest(factor, step)
        if likelihood + HOPE * promise + 1.0 < needed:
            return -math.inf
        if promise < tolerance:
            break
        scale = 1.0
        gain = -1.0
        value = likelihood
        last = promise < min(CLOSE, CLOSE_TO_TOLERANCE * tolerance) and FASTER * promise < before
        careful = careful or last
        for half in range(MOST_HALVES):
            for a in range(size):
                trial[a] = slopes[a] + scale * step[a]
            if half == 0 and not careful:
                value = _value(one_pass, design, response, free, ties, trial, gradient, curvature)
            else:
                value = _value(one_pass, design, response, free, ties, trial, flat, nothing)
            gain = value - _penalty(trial, ridge) - objective
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
            _value(one_pass, design, response, free, ties, slopes, gradient, curvature)
        before = promise
        careful = scale < 1.0
    return likelihood


@kernel
def _value(
    one_pass: FunctionPointer,
    design: Floats,
    response: Ints,
    free: int,
    ties: Ints,
    slopes: Floats,
    gradient: Floats,
    curvature: Floats,
) -> float:
    """The log-likelihood; gradient and curvature by the slopes are written where there is room for
    them.
    """
    if ties.size == 0:
        return float(one_pass(design, response, free, slopes, gradient, curvature))
    every = np.zeros(ties.size)
    first = np.zeros(ties.size if gradient.size > 0 else 0)
    second = np.zeros((ties.size, ties.size)) if curvature.size > 0 else np.zeros((0, 0))
    for i in range(ties.size):
        every[i] = slopes[ties[i]] if ties[i] != NOBODY else 0.0
    value = one_pass(design, response, free, every, first, second)
    gradient[:] = 0.0
    curvature[:] = 0.0
    for i in range(first.size):
        a = ties[i]
        gradient[a] += first[i] if a != NOBODY else 0.0
        for j in range(i + 1 if second.size > 0 and a != NOBODY else 0):
            b = ties[j]
            if b != NOBODY:
                curvature[max(a, b), min(a, b)] += second[i, j] * (2.0 if a == b and i > j else 1.0)
    return float(value)


@kernel
def _penalty(slopes: Floats, ridge: Floats) -> float:
    total = 0.0
    for a in range(slopes.size):
        total += 0.5 * ridge[a] * slopes[a] * slopes[a]
    return total


@kernel
def write_ridge(family: int, classes: int, width: int, ridge: float, out: Floats) -> None:
    """The ridge of every coefficient of a model; intercepts and cuts have none."""
    for a in range(out.size):
        intercept = a % width == 0 if family == LOGIT else a < classes - 1
        out[a] = 0.0 if intercept else ridge


@kernel
def write_start(codes: Ints, classes: int, ordered: bool, width: int, slopes: Floats) -> None:
    """The intercepts are those of the shares of the classes."""
    counts = np.empty(classes)
    below = 0.0
    for c in range(classes):
        counts[c] = 0.5
    for row in range(codes.size):
        counts[min(codes[row], classes - 1)] += 1.0  # all numbers of a hurdle are one class
    for c in range(classes - 1):
        below += counts[c]
        if ordered:
            slopes[c] = math.log(below / (codes.size + 0.5 * classes - below))
        else:
            slopes[c * width] = math.log(counts[c] / counts[classes - 1])


@kernel
def is_out_of_reach(
    one_pass: FunctionPointer,
    design: Floats,
    codes: Ints,
    free: int,
    ridge: Floats,
    slopes: Floats,
    inverse: Floats,
    needed: float,
) -> bool:
    """Whether the maximum is clearly below what is needed, by the gradient alone.

    `inverse` is the inverse of a negative Hessian from elsewhere, so twice as much hope is kept.
    """
    gradient = np.zeros(slopes.size)
    promise = 0.0
    likelihood = one_pass(design, codes, free, slopes, gradient, np.empty((0, 0)))
    for a in range(slopes.size):
        gradient[a] -= ridge[a] * slopes[a]
    for a in range(slopes.size):
        value = 0.0
        for b in range(slopes.size):
            value += inverse[a, b] * gradient[b]
        promise += 0.5 * value * gradient[a]
    return bool(likelihood + 2.0 * HOPE * promise + 1.0 < needed)


@kernel
def drawn_exceedances(
    one_pass: FunctionPointer,
    base: Floats,
    design: Floats,
    below: Floats,
    start_small: Floats,
    start_large: Floats,
    observed: float,
    uniforms: Floats,
    most: int,
) -> tuple[int, int]:
    """How often classes drawn from the smaller of two models give a likelihood ratio as large as
    the observed one.

    How many draws reach `observed`, and how many were made before `most` of them did. `base` and
    `design` have shape (width, rows), `below`, cumulative probabilities of the classes, (rows,
    classes), `uniforms` (draws, rows); `start_small` are the coefficients of the smaller model,
    `start_large` the same in the larger one.
    """
    rows, classes = below.shape
    codes = np.zeros(rows, dtype=np.int64)
    ties = np.empty(0, dtype=np.int64)
    reached = 0
    for draw in range(uniforms.shape[0]):
        for row in range(rows):
            code = 0
            while code < classes - 1 and uniforms[draw, row] > below[row, code]:
                code += 1
            codes[row] = code
        ratio = 0.0
        for columns, start, sign in ((base, start_small, -2.0), (design, start_large, 2.0)):
            slopes = start.copy()
            curvature = np.empty((start.size, start.size))
            ratio += sign * maximise(
                one_pass,
                columns,
                codes,
                classes - 1,
                ties,
                np.zeros(start.size),
                slopes,
                curvature,
                -math.inf,
                BOOTSTRAP_TOLERANCE,
            )
        if ratio >= observed - 20.0 * BOOTSTRAP_TOLERANCE:
            reached += 1
            if reached == most:
                return reached, draw + 1
    return reached, uniforms.shape[0]
