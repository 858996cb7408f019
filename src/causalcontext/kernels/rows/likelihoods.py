"""Log-likelihoods of generalised linear models with their derivatives: one pass over the rows each.

The families are the multinomial logit, proportional odds, the Poisson regression and the hurdle.
The first three are concave in their coefficients, and bounded: by 0 for classes, by that of a fit
to every row for counts. The hurdle is a logit and a normal regression, whose variance is the best
one; a Newton step ends at its maximum. The design has one line for every column and one entry a
row, so that all sums run along memory.

The pass of the logit works on a block of rows at a time. The probabilities of all classes are
computed first. The gradient is their distance from what was seen, times the design; the Hessian is,
for every pair of classes, a weighted sum of products of two columns, where products serve all pairs
and weights serve all products.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, PointerTo
from causalcontext.kernels.limits import SMALLEST_VARIANCE, SPARE_ROWS
from causalcontext.kernels.rows.row_blocks import (
    AT_ONCE,
    LEFT,
    RIGHT,
    add_dots,
    exponentials,
    padded,
)
from causalcontext.kernels.special import logistic, softplus

LOGIT = 0
ORDINAL = 1
POISSON = 2
TWO_PART = 3
"""The families: classes, ordered classes, counts, and hurdles: numbers in some rows, one value in
the others.
"""
NO_NUMBER = 0
NUMBERS_FROM = 1 << 40
UNIT = float(1 << 20)
"""A hurdle's codes: 0 where there is no number, else `NUMBERS_FROM` plus the number times `UNIT`,
rounded.
"""
ROWS_OF_A_LOG = 32
"""The logarithm of a product of so many sums of at most `MOST_LEVELS` exponentials is taken at
once.
"""
LARGEST_EXPONENT = 700.0


@kernel
def call_pass(
    one_pass: FunctionPointer,
    design: Floats,
    response: Ints,
    free: int,
    slopes: Floats,
    gradient: Floats,
    curvature: Floats,
) -> float:
    """A pass behind a pointer, for Python."""
    return float(one_pass(design, response, free, slopes, gradient, curvature))


@kernel(fastmath={"reassoc", "contract"})
def logit_pass(
    design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats, curvature: Floats
) -> float:
    """The log-likelihood of a logit, the last class having slopes 0; gradient, lower half of the
    negative Hessian.

    What there is no room for is not written. The design has shape (width, rows); `free` are the
    classes but one, and there are `free * width` slopes.
    """
    width, n = design.shape
    wanted = curvature.size > 0
    block = np.zeros((padded(width, LEFT), AT_ONCE))
    share = np.zeros((padded(free + 1, RIGHT), AT_ONCE))
    first = np.zeros((block.shape[0], share.shape[0]))
    one = free == 1
    weights = np.zeros((block.shape[0] if one else padded(free * (free + 1) // 2, LEFT), AT_ONCE))
    products = np.zeros(
        (block.shape[0] if one else padded(width * (width + 1) // 2, RIGHT), AT_ONCE)
    )
    second = np.zeros((weights.shape[0], products.shape[0]))
    total = 0.0
    for start in range(0, n, AT_ONCE):
        length = min(AT_ONCE, n - start)
        for a in range(width):
            for t in range(length):
                block[a, t] = design[a, start + t]
        total += _write_shares(block, width, codes[start : start + length], free, slopes, share)
        if gradient.size == 0:
            continue
        if not wanted:
            pass
        elif one:
            _write_scaled(block, share, length, weights)
            add_dots(weights, block, length, True, second)
        else:
            _write_weights(share, free, length, weights)
            _write_products(block, width, length, products)
            add_dots(weights, products, length, False, second)
        _write_surplus(codes[start : start + length], free, share)
        add_dots(block, share, length, False, first)
    _put(first, second, width, free, gradient, curvature)
    return total


@kernel(fastmath={"reassoc", "contract"})
def _write_shares(
    block: Floats, width: int, codes: Ints, free: int, slopes: Floats, share: Floats
) -> float:
    """Write the probabilities of all classes; the log-likelihood of these rows."""
    length = codes.size
    for c in range(free):
        line = share[c]
        for t in range(length):
            line[t] = 0.0
        for a in range(width):
            slope = slopes[c * width + a]
            for t in range(length):
                line[t] += slope * block[a, t]
    highest = np.zeros(AT_ONCE)
    norm = np.zeros(AT_ONCE)
    spare = np.empty(AT_ONCE)
    for c in range(free):
        for t in range(length):
            highest[t] = max(highest[t], share[c, t])
    total = 0.0
    for t in range(length):
        share[free, t] = 0.0
        total += share[codes[t], t] - highest[t]
    bits = spare.view(np.int64)
    for c in range(free + 1):
        for t in range(length):
            share[c, t] -= highest[t]
        exponentials(share[c], length, spare, bits)
        for t in range(length):
            norm[t] += share[c, t]
    for start in range(0, length, ROWS_OF_A_LOG):
        product = 1.0
        for t in range(start, min(start + ROWS_OF_A_LOG, length)):
            product *= norm[t]
        total -= math.log(product)
    for t in range(length):
        norm[t] = 1.0 / norm[t]
    for c in range(free):
        for t in range(length):
            share[c, t] *= norm[t]
    return total


@kernel(fastmath={"reassoc", "contract"})
def _write_surplus(codes: Ints, free: int, share: Floats) -> None:
    """Replace probabilities by what was seen minus these."""
    for c in range(free):
        for t in range(codes.size):
            share[c, t] = (1.0 if codes[t] == c else 0.0) - share[c, t]


@kernel(fastmath={"reassoc", "contract"})
def _write_scaled(block: Floats, share: Floats, length: int, weights: Floats) -> None:
    """The columns of two classes times the variance of the class."""
    for a in range(block.shape[0]):
        for t in range(length):
            weights[a, t] = block[a, t] * (share[0, t] * (1.0 - share[0, t]))


@kernel(fastmath={"reassoc", "contract"})
def _write_weights(share: Floats, free: int, length: int, weights: Floats) -> None:
    """The covariances of all pairs of classes."""
    k = 0
    for c in range(free):
        for e in range(c + 1):
            same = 1.0 if c == e else 0.0
            for t in range(length):
                weights[k, t] = share[c, t] * (same - share[e, t])
            k += 1


@kernel(fastmath={"reassoc", "contract"})
def _write_products(block: Floats, width: int, length: int, products: Floats) -> None:
    """The products of all pairs of columns."""
    k = 0
    for a in range(width):
        for b in range(a + 1):
            for t in range(length):
                products[k, t] = block[a, t] * block[b, t]
            k += 1


@kernel
def _put(
    first: Floats, second: Floats, width: int, free: int, gradient: Floats, curvature: Floats
) -> None:
    """Write the sums over all rows to their places."""
    k = 0
    for c in range(free if gradient.size > 0 else 0):
        for a in range(width):
            gradient[c * width + a] = first[a, c]
        for e in range(c + 1 if curvature.size > 0 else 0):
            m = 0
            for a in range(width):
                for b in range(a + 1):
                    value = second[a, b] if free == 1 else second[k, m]
                    curvature[c * width + a, e * width + b] = value
                    if e < c:
                        curvature[c * width + b, e * width + a] = value
                    m += 1
            k += 1


@kernel
def ordinal_pass(
    design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats, curvature: Floats
) -> float:
    """The same of proportional odds: P(class <= j) = F(cut_j - x b); -inf where the cuts are not in
    order.

    `slopes` has the cuts first, then b; the first row of `design`, 1, has none.
    """
    width, n = design.shape
    wanted = curvature.size > 0
    sloped = gradient.size > 0
    for a in range(slopes.size if sloped else 0):
        gradient[a] = 0.0
        for b in range(a + 1 if wanted else 0):
            curvature[a, b] = 0.0
    for j in range(1, free):
        if not slopes[j] > slopes[j - 1]:
            return -math.inf
    predictor = np.zeros(n)
    slope = np.empty(n)
    bend = np.empty(n)
    for a in range(1, width):
        for row in range(n):
            predictor[row] += slopes[free + a - 1] * design[a, row]
    total = 0.0
    for row in range(n):
        level = codes[row]
        above = slopes[level] - predictor[row] if level < free else math.inf
        below = slopes[level - 1] - predictor[row] if level > 0 else -math.inf
        left_above = logistic(-above)
        left_below = logistic(below)
        odds = 1.0 / math.expm1(above - below) if 0 < level < free else 0.0
        total += -softplus(-above) - softplus(below) - math.log1p(odds)
        if not sloped:
            continue
        up = left_above + odds
        down = -left_below - odds
        both = odds * (1.0 + odds)
        bend_up = left_above * (1.0 - left_above) + both if level < free else 0.0
        bend_down = left_below * (1.0 - left_below) + both if level > 0 else 0.0
        slope[row] = -(up + down)
        bend[row] = bend_up + bend_down - 2.0 * both
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
def poisson_pass(
    design: Floats, counts: Ints, free: int, slopes: Floats, gradient: Floats, curvature: Floats
) -> float:
    """The same of a Poisson regression with log link, without the term log(count!); `free` is
    ignored.
    """
    width, n = design.shape
    mean = np.zeros(n)
    total = 0.0
    for a in range(width):
        for row in range(n):
            mean[row] += slopes[a] * design[a, row]
    for row in range(n):
        if mean[row] > LARGEST_EXPONENT:
            return -math.inf
        total += counts[row] * mean[row]
        mean[row] = math.exp(mean[row])
        total -= mean[row]
    for a in range(width if gradient.size > 0 else 0):
        gradient[a] = 0.0
        for row in range(n):
            gradient[a] += (counts[row] - mean[row]) * design[a, row]
        for b in range(a + 1 if curvature.size > 0 else 0):
            curvature[a, b] = 0.0
            for row in range(n):
                curvature[a, b] += mean[row] * design[a, row] * design[b, row]
    return total


@kernel
def hurdle_pass(
    design: Floats, codes: Ints, free: int, slopes: Floats, gradient: Floats, curvature: Floats
) -> float:
    """The same of a hurdle: a logit of whether there is no number, and a normal regression of those
    that there are.

    `slopes` are those of the logit, then those of the numbers; `free` is ignored. With too few
    numbers for a variance of their own it is at least 1, that of all values in standard units.
    """
    width, n = design.shape
    odds = np.zeros(n)
    mean = np.zeros(n)
    total = 0.0
    square = 0.0
    count = 0
    for a in range(width):
        for row in range(n):
            odds[row] += slopes[a] * design[a, row]
            mean[row] += slopes[width + a] * design[a, row]
    for row in range(n):
        if codes[row] == NO_NUMBER:
            total -= softplus(-odds[row])
            mean[row] = 0.0
        else:
            total -= softplus(odds[row])
            mean[row] = (codes[row] - NUMBERS_FROM) / UNIT - mean[row]
            square += mean[row] * mean[row]
            count += 1
    variance = max(
        square / max(count, 1), SMALLEST_VARIANCE if count >= width + SPARE_ROWS else 1.0
    )
    total -= 0.5 * (count * math.log(2.0 * math.pi * variance) + square / variance)
    for row in range(n if gradient.size > 0 else 0):
        odds[row] = logistic(odds[row])
    for a in range(width if gradient.size > 0 else 0):
        first, second = 0.0, 0.0
        for row in range(n):
            first += ((1.0 if codes[row] == NO_NUMBER else 0.0) - odds[row]) * design[a, row]
            second += mean[row] * design[a, row]
        gradient[a] = first
        gradient[width + a] = second / variance
        for b in range(width if curvature.size > 0 else 0):
            curvature[width + a, b] = 0.0
        for b in range(a + 1 if curvature.size > 0 else 0):
            first, second = 0.0, 0.0
            for row in range(n):
                product = design[a, row] * design[b, row]
                first += odds[row] * (1.0 - odds[row]) * product
                second += product if codes[row] != NO_NUMBER else 0.0
            curvature[a, b] = first
            curvature[width + a, width + b] = second / variance
    return total


def _samples() -> tuple[Any, ...]:
    row = np.zeros(1)
    square = np.zeros((1, 1))
    return square, np.zeros(1, dtype=np.int64), 1, row, row, square


PASSES = tuple(
    PointerTo(one_pass, _samples)
    for one_pass in (logit_pass, ordinal_pass, poisson_pass, hurdle_pass)
)
"""The pass of every family, behind pointers of one kind."""
