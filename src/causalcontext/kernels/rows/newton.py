"""The largest likelihood of a regression, by Newton steps on the rows.

The likelihoods are bounded, so separated classes are harmless: the coefficients run away, while the likelihood
converges to its supremum, and so the gain of a step to nothing.
"""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.rows.likelihoods import logit_pass, ordinal_pass, poisson_pass

LOGIT, ORDINAL, POISSON = 0, 1, 2
RIDGE = 1e-2
"""Of `logit_likelihood`: keeps the slopes of a score finite where classes are separated; standardised columns."""
DAMPING = 1e-10
"""Added to the diagonal of a Hessian, not to the likelihood: coefficients without information stay where they are."""
MOST_STEPS = 60


@kernel
def logit_likelihood(design: Floats, codes: Ints, classes: int) -> float:
    """The log-likelihood at the slopes that maximise it with a light ridge; the first column of `design` is 1."""
    start = np.zeros((classes - 1) * design.shape[1])
    return maximise(LOGIT, design, codes, classes, start, RIDGE, 1e-7)[0]


@kernel
def maximise(family: int, design: Floats, response: Ints, classes: int, start: Floats, ridge: float,
             tolerance: float) -> tuple[float, Floats]:  # fmt: skip
    """The log-likelihood at its maximum (less a ridge on all but every intercept), and the coefficients there.

    Parameters
    ----------
    family : int
        `LOGIT`, `ORDINAL` or `POISSON`.
    design : array, shape (rows, width)
        Its first column is 1.
    response : array of int, shape (rows,)
        Classes 0, 1, ..., or counts; `classes` is ignored for counts.
    start : array, shape (coefficients,)
        Where the likelihood is finite: cuts of `ORDINAL` must be in order.
    ridge : float
        0 but for `LOGIT`.
    tolerance : float
        Ends the iteration when a step gains less.
    """
    slopes = start.copy()
    return maximum(family, design, response, classes, slopes, ridge, tolerance), slopes


@kernel
def maximum(family: int, design: Floats, response: Ints, classes: int, slopes: Floats, ridge: float,
            tolerance: float) -> float:  # fmt: skip
    """The same, where `slopes` hold the start before, and the coefficients at the maximum afterwards."""
    width, free, size = design.shape[1], classes - 1, slopes.size
    step, trial = np.empty(size), np.empty(size)
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    likelihood = one_pass(family, design, response, free, slopes, gradient, hessian)
    for _ in range(MOST_STEPS):
        objective = likelihood - _ridge(slopes, width, ridge)
        _add_ridge(slopes, width, ridge, gradient, hessian)
        solve(hessian, gradient, step)
        scale, gain = 1.0, 0.0
        for _half in range(20):
            for a in range(size):
                trial[a] = slopes[a] + scale * step[a]
            new = one_pass(family, design, response, free, trial, gradient, hessian)
            gain = new - _ridge(trial, width, ridge) - objective
            if gain >= 0.0:
                break
            scale *= 0.5
        if not gain >= 0.0:
            break
        likelihood = new
        for a in range(size):
            slopes[a] = trial[a]
        if gain < tolerance:
            break
    return likelihood


@kernel
def solve(matrix: Floats, right: Floats, solution: Floats) -> None:
    """Solve a linear system by elimination with the largest pivots; matrix and right side are overwritten.

    An unknown that no equation is left for is 0.
    """
    size = right.size
    for j in range(size):
        best = j
        for i in range(j + 1, size):
            if abs(matrix[i, j]) > abs(matrix[best, j]):
                best = i
        right[j], right[best] = right[best], right[j]
        for a in range(j, size):
            matrix[j, a], matrix[best, a] = matrix[best, a], matrix[j, a]
        for i in range(j + 1, size):
            factor = matrix[i, j] / matrix[j, j] if matrix[j, j] != 0.0 else 0.0
            right[i] -= factor * right[j]
            for a in range(j + 1, size):
                matrix[i, a] -= factor * matrix[j, a]
    for j in range(size - 1, -1, -1):
        value = right[j]
        for a in range(j + 1, size):
            value -= matrix[j, a] * solution[a]
        solution[j] = value / matrix[j, j] if matrix[j, j] != 0.0 else 0.0


@kernel
def one_pass(family: int, design: Floats, response: Ints, free: int, slopes: Floats, gradient: Floats,
             hessian: Floats) -> float:  # fmt: skip
    """The log-likelihood of this family at `slopes`; its gradient and negative Hessian are written."""
    if family == LOGIT:
        return logit_pass(design, response, free, slopes, gradient, hessian)
    if family == ORDINAL:
        return ordinal_pass(design, response, free, slopes, gradient, hessian)
    return poisson_pass(design, response, slopes, gradient, hessian)


@kernel
def _ridge(slopes: Floats, width: int, ridge: float) -> float:
    total = 0.0
    for a in range(slopes.size):
        if a % width:
            total += slopes[a] * slopes[a]
    return 0.5 * ridge * total


@kernel
def _add_ridge(slopes: Floats, width: int, ridge: float, gradient: Floats, hessian: Floats) -> None:
    for a in range(slopes.size):
        if a % width and ridge > 0.0:
            gradient[a] -= ridge * slopes[a]
            hessian[a, a] += ridge
        else:
            hessian[a, a] += DAMPING
