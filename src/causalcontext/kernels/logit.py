"""The likelihood of a multinomial logit, by Newton steps on the rows."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RIDGE = 1e-2
"""Keeps the slopes finite where the classes are perfectly separated; standardised columns."""
MOST_STEPS = 60


@njit(cache=True, nogil=True)
def logit_likelihood(design: Floats, codes: Ints, classes: int) -> float:
    """The log-likelihood at the slopes that maximise it with a light ridge; the first column of `design` is 1.

    The likelihood is bounded by 0, so separated classes are harmless: the ridge only ends the iteration.
    """
    width, free = design.shape[1], classes - 1
    slopes = np.zeros(free * width)
    gradient, hessian = np.zeros(free * width), np.zeros((free * width, free * width))
    likelihood = _logit_pass(design, codes, free, slopes, gradient, hessian)
    for _ in range(MOST_STEPS):
        objective = likelihood - _ridge(slopes, width)
        _add_ridge(slopes, width, gradient, hessian)
        step = np.linalg.solve(hessian, gradient)
        scale, gain = 1.0, 0.0
        for _half in range(20):
            trial = slopes + scale * step
            new = _logit_pass(design, codes, free, trial, gradient, hessian)
            gain = new - _ridge(trial, width) - objective
            if gain >= 0.0:
                break
            scale *= 0.5
        if gain < 0.0:
            break
        slopes, likelihood = trial, new
        if gain < 1e-7:
            break
    return float(likelihood)


@njit(cache=True, nogil=True)
def _logit_pass(design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats,
                hessian: Floats) -> float:  # fmt: skip
    """The log-likelihood, and its gradient and negative Hessian; the last context has slopes 0."""
    n, width = design.shape
    gradient[:] = 0.0
    hessian[:] = 0.0
    share = np.empty(free)
    total = 0.0
    for row in range(n):
        highest = 0.0
        for c in range(free):
            value = 0.0
            for a in range(width):
                value += slopes[c * width + a] * design[row, a]
            share[c] = value
            highest = max(highest, value)
        norm = math.exp(-highest)
        own = share[codes[row]] if codes[row] < free else 0.0
        for c in range(free):
            share[c] = math.exp(share[c] - highest)
            norm += share[c]
        total += own - highest - math.log(norm)
        for c in range(free):
            share[c] /= norm
        for c in range(free):
            surplus = (1.0 if codes[row] == c else 0.0) - share[c]
            for a in range(width):
                gradient[c * width + a] += surplus * design[row, a]
            for d in range(c + 1):
                curvature = share[c] * ((1.0 if c == d else 0.0) - share[d])
                for a in range(width):
                    scaled = curvature * design[row, a]
                    for b in range(width if d < c else a + 1):
                        hessian[c * width + a, d * width + b] += scaled * design[row, b]
    for a in range(free * width):
        for b in range(a):
            hessian[b, a] = hessian[a, b]
    return total


@njit(cache=True, nogil=True)
def _ridge(slopes: Floats, width: int) -> float:
    total = 0.0
    for a in range(slopes.size):
        if a % width:
            total += slopes[a] * slopes[a]
    return 0.5 * RIDGE * total


@njit(cache=True, nogil=True)
def _add_ridge(slopes: Floats, width: int, gradient: Floats, hessian: Floats) -> None:
    for a in range(slopes.size):
        if a % width:
            gradient[a] -= RIDGE * slopes[a]
            hessian[a, a] += RIDGE
        else:
            hessian[a, a] += 1e-10
