"""Log-likelihoods of regressions with their derivatives, one pass over the rows each.

All three are concave in their coefficients, and bounded: by 0 for classes, by that of a fit to every row for counts.
The negative Hessian that a pass leaves behind is the observed information.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.special import logistic, softplus


@kernel
def logit_pass(design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats,
               hessian: Floats) -> float:  # fmt: skip
    """The log-likelihood of a multinomial logit, its gradient and negative Hessian; the last class has slopes 0."""
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
    _mirror(hessian)
    return total


@kernel
def ordinal_pass(design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats,
                 hessian: Floats) -> float:  # fmt: skip
    """The same of proportional odds: P(class <= j) = F(cut_j - x b); -inf where the cuts are not in order.

    `slopes` has the cuts first, then b; the first column of `design`, 1, has none.
    """
    n, width = design.shape
    gradient[:] = 0.0
    hessian[:] = 0.0
    for j in range(1, free):
        if not slopes[j] > slopes[j - 1]:
            return -math.inf
    total = 0.0
    for row in range(n):
        level, predictor = codes[row], 0.0
        for a in range(1, width):
            predictor += slopes[free + a - 1] * design[row, a]
        above = slopes[level] - predictor if level < free else math.inf
        below = slopes[level - 1] - predictor if level > 0 else -math.inf
        left_above, left_below = logistic(-above), logistic(below)
        odds = 1.0 / math.expm1(above - below) if level > 0 and level < free else 0.0
        total += -softplus(-above) - softplus(below) - math.log1p(odds)
        up, down, both = left_above + odds, -left_below - odds, odds * (1.0 + odds)
        bend_up = left_above * (1.0 - left_above) + both
        bend_down = left_below * (1.0 - left_below) + both
        if level < free:
            gradient[level] += up
            hessian[level, level] += bend_up
        if level > 0:
            gradient[level - 1] += down
            hessian[level - 1, level - 1] += bend_down
        if level > 0 and level < free:
            hessian[level, level - 1] -= both
        bend = bend_up + bend_down - 2.0 * both
        for a in range(1, width):
            value, place = design[row, a], free + a - 1
            gradient[place] -= (up + down) * value
            if level < free:
                hessian[place, level] -= (bend_up - both) * value
            if level > 0:
                hessian[place, level - 1] -= (bend_down - both) * value
            for b in range(1, a + 1):
                hessian[place, free + b - 1] += bend * value * design[row, b]
    _mirror(hessian)
    return total


@kernel
def poisson_pass(design: Floats, counts: Ints, slopes: Floats, gradient: Floats, hessian: Floats) -> float:
    """The same of a Poisson regression with log link, without the term log(count!)."""
    n, width = design.shape
    gradient[:] = 0.0
    hessian[:] = 0.0
    total = 0.0
    for row in range(n):
        predictor = 0.0
        for a in range(width):
            predictor += slopes[a] * design[row, a]
        if predictor > 700.0:
            return -math.inf
        mean = math.exp(predictor)
        total += counts[row] * predictor - mean
        for a in range(width):
            gradient[a] += (counts[row] - mean) * design[row, a]
            for b in range(a + 1):
                hessian[a, b] += mean * design[row, a] * design[row, b]
    _mirror(hessian)
    return total


@kernel
def _mirror(hessian: Floats) -> None:
    for a in range(hessian.shape[0]):
        for b in range(a):
            hessian[b, a] = hessian[a, b]
