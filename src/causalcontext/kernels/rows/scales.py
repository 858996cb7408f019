"""Mechanisms whose noise has an uneven spread: y = mu(x) + sigma(x) u, log sigma linear in some
columns.

`fit_scale` fits given columns of the location and of the scale on the rows; `choose_scale` also
chooses the columns of the scale. Every candidate may act on the spread alone. A column is tried if
a score test promises most of its price, by the fitted noise density and by ranks as well: a few far
rows must not look like an uneven spread.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, PointerTo
from causalcontext.kernels.limits import SMALL_COLUMN_BELOW, SMALLEST_VARIANCE
from causalcontext.kernels.linear import factorise, solve_half, solve_rest, weighted_products
from causalcontext.kernels.rows.noise_densities import (
    FEW,
    KNOTS,
    MANY,
    REACH,
    DensityTable,
    density_pointer,
    density_table,
)

MOST_SCALES = 4
"""The most columns of a scale."""
SHAPES = 5
"""The columns that every candidate offers to a scale: a line, a V, a step in the middle, and a
hinge on either side.
"""
CHOICE = math.log(4.0)
"""What a column that is no line costs beside its parameter."""
PROMISE = 0.6
"""A column is tried if it promises this share of its price."""
STEPS = 6
STEEPEST = 1.5
LARGEST_STEP = 0.7
LARGEST_LOG = 3.0
"""Slopes of a scale at first, how far one step may move them, and the largest logarithm of a scale.
"""
BINS = 1024
SMALLEST_RESIDUAL = 0.02
MOST_REJECTED = 2


class ScaleRows(NamedTuple):
    """The rows of one regression."""

    response: Floats  # shape (m,)
    location: Floats  # shape (columns, m): intercepts, then the columns of the location
    offered: Floats  # shape (H, m): the columns that a scale may have, with mean 0 on these rows
    square: Floats  # shape (H,): their sums of squares
    price: Floats  # shape (H,): what each of them costs
    rows: float  # the rows of the table that these stand for


class ScaleFit(NamedTuple):
    """A fit in progress; arrays are written."""

    taken: Ints  # shape (1 + MOST_SCALES,): the number of columns of the scale, and the columns
    slopes: Floats  # shape (MOST_SCALES,): their slopes
    location: Floats  # shape (columns,): intercepts and slopes of the location
    log_scale: Floats  # shape (m,): the logarithm of the scale, up to a constant
    residual: Floats  # shape (m,): what is left of the response, divided by the scale
    density: Floats  # shape (MANY + 5,): the noise density, as `density_gain` writes it


class ScaleCalls(NamedTuple):
    """`fit_scale` and `density_gain` behind pointers, and what the latter needs."""

    fit_scale: FunctionPointer
    density_gain: FunctionPointer
    densities: DensityTable


def _samples() -> tuple[Any, ...]:
    number = [np.zeros((1,) * axes) for axes in range(3)]
    whole = np.zeros(1, dtype=np.int64)
    rows = ScaleRows(number[1], number[2], number[2], number[1], number[1], 1.0)
    return rows, density_table(), density_pointer.kind, ScaleFit(whole, *[number[1]] * 5)


@kernel
def no_scale(rows: int, columns: int) -> ScaleFit:
    """Room for a fit with so many columns of the location, which has none of the scale yet."""
    return ScaleFit(
        np.zeros(1 + MOST_SCALES, dtype=np.int64),
        np.zeros(MOST_SCALES),
        np.zeros(columns),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(MANY + 5),
    )


@kernel
def choose_scale(rows: ScaleRows, calls: ScaleCalls, fit: ScaleFit, tried: Bools) -> float:
    """Add columns to the scale of a fit while they pay; its score without the prices of the
    location.

    `tried` says afterwards which columns were ever tried; without room for it the columns stay
    those of the fit.
    """
    score = calls.fit_scale(rows, calls.densities, calls.density_gain, fit)
    rejected = np.zeros(tried.size, dtype=np.bool_)
    failed = 0
    while fit.taken[0] < MOST_SCALES and failed < MOST_REJECTED and tried.size > 0:
        column = _most_promising(rows, fit, rejected)
        if column < 0:
            break
        tried[column] = True
        other = _copied(fit)
        other.taken[0] += 1
        other.taken[other.taken[0]] = column
        better = calls.fit_scale(rows, calls.densities, calls.density_gain, other)
        if better > score + 1e-9:
            score, failed = better, 0
            for other_column in range(rejected.size):
                rejected[other_column] = False
            _write(other, fit)
        else:
            rejected[column] = True
            failed += 1
    return _dropped(rows, calls, fit, score) if tried.size > 0 else score


@kernel
def _dropped(rows: ScaleRows, calls: ScaleCalls, fit: ScaleFit, score: float) -> float:
    """Drop columns of the scale that do not pay any more; the score."""
    place = 1
    while fit.taken[0] > 1 and place < fit.taken[0]:  # the last one has just been found to pay
        other = _copied(fit)
        for a in range(place, other.taken[0]):
            other.taken[a] = other.taken[a + 1]
        other.taken[0] -= 1
        better = calls.fit_scale(rows, calls.densities, calls.density_gain, other)
        if better > score + 1e-9:
            score = better
            _write(other, fit)
        else:
            place += 1
    return score


@kernel
def _copied(fit: ScaleFit) -> ScaleFit:
    other = no_scale(fit.residual.size, fit.location.size)
    _write(fit, other)
    return other


@kernel
def _write(fit: ScaleFit, goal: ScaleFit) -> None:
    for a in range(fit.taken.size):
        goal.taken[a] = fit.taken[a]
    _copy(fit.slopes, goal.slopes)
    _copy(fit.location, goal.location)
    _copy(fit.log_scale, goal.log_scale)
    _copy(fit.residual, goal.residual)
    _copy(fit.density, goal.density)


@kernel
def _copy(values: Floats, goal: Floats) -> None:
    for t in range(values.size):
        goal[t] = values[t]


@kernel
def fit_scale(
    rows: ScaleRows, densities: DensityTable, density_gain: FunctionPointer, fit: ScaleFit
) -> float:
    """Fit the location and the columns `fit.taken` of the scale; the score without the prices of
    the location.

    A regression of the logarithm of the residuals' sizes starts the scale; scoring steps improve
    it, each with a weighted regression of the location. The best of them is kept. The score is `-
    sum(log s) - n / 2 log(mean(u^2))`, plus what the noise density of u gains, less the prices of
    the columns.
    """
    m = rows.response.size
    count = fit.taken[0]
    slopes = np.zeros(count)
    location = np.zeros(fit.location.size)
    log_scale = np.zeros(m)
    left = np.zeros(m)
    density = np.zeros(MANY + 5)
    price = 0.0
    scores = np.empty(m)
    move = np.empty(count)
    for a in range(count):
        price += rows.price[fit.taken[1 + a]]
    if count > 0:
        _weighted_residual(rows, log_scale, left, location)
        _first_slopes(rows, fit.taken, left, slopes)
    best = -math.inf
    for step in range(STEPS if count > 0 else 1):
        for t in range(m):
            value = 0.0
            for a in range(count):
                value += slopes[a] * rows.offered[fit.taken[1 + a], t]
            log_scale[t] = min(max(value, -LARGEST_LOG), LARGEST_LOG)
        _weighted_residual(rows, log_scale, left, location)
        if step % 2 == 0 or step == STEPS - 1:
            score = _likelihood(rows, densities, density_gain, log_scale, left, density) - price
            if score > best:
                best = score
                _copy(slopes, fit.slopes)
                _copy(location, fit.location)
                _copy(log_scale, fit.log_scale)
                _copy(left, fit.residual)
                _copy(density, fit.density)
        if count > 0 and step < STEPS - 1:
            spread = write_scores(left, density, scores)
            _regress(
                rows, fit.taken, scores, max(spread, 0.2), move
            )  # a step of Fisher's scoring, not too far
            for a in range(count):
                slopes[a] += min(max(move[a], -LARGEST_STEP), LARGEST_STEP)
    return best


scale_pointer = PointerTo(fit_scale, _samples)


@kernel(fastmath={"reassoc", "contract"})
def _likelihood(
    rows: ScaleRows,
    densities: DensityTable,
    density_gain: FunctionPointer,
    log_scale: Floats,
    left: Floats,
    density: Floats,
) -> float:
    """The log-likelihood with the best noise density, up to a constant; the density is written."""
    m = left.size
    square = 0.0
    total = 0.0
    for t in range(m):
        square += left[t] * left[t]
        total += log_scale[t]
    share = rows.rows / m
    gain = density_gain(left.copy(), m, rows.rows, densities, density)
    return float(
        -share * total - 0.5 * rows.rows * math.log(max(square / m, SMALLEST_VARIANCE)) + gain
    )


@kernel(fastmath={"reassoc", "contract"})
def _weighted_residual(rows: ScaleRows, log_scale: Floats, left: Floats, slopes: Floats) -> None:
    """What a regression with weights 1 / s^2 leaves of the response, divided by s; its slopes are
    written.
    """
    width, m = rows.location.shape
    weight = np.empty(m)
    gram = np.empty((width, width))
    for t in range(m):
        weight[t] = math.exp(-2.0 * log_scale[t])
    weighted_products(rows.location, weight, gram)
    for a in range(width):
        value = 0.0
        for t in range(m):
            value += weight[t] * rows.location[a, t] * rows.response[t]
        slopes[a] = value
    factorise(gram)
    solve_half(gram, slopes)
    solve_rest(gram, slopes)
    for t in range(m):
        left[t] = rows.response[t]
    for a in range(width):
        slope = slopes[a]
        for t in range(m):
            left[t] -= slope * rows.location[a, t]
    for t in range(m):
        left[t] *= math.sqrt(weight[t])


@kernel
def _first_slopes(rows: ScaleRows, taken: Ints, left: Floats, slopes: Floats) -> None:
    """The slopes of a regression of the logarithm of the residuals' sizes on the columns of the
    scale.
    """
    target = np.empty(left.size)
    square = 0.0
    for t in range(left.size):
        square += left[t] * left[t]
    scale = math.sqrt(max(square / left.size, 1e-300))
    for t in range(left.size):
        target[t] = math.log(max(abs(left[t]) / scale, SMALLEST_RESIDUAL))
    _regress(rows, taken, target, 1.0, slopes)
    for a in range(slopes.size):
        slopes[a] = min(max(slopes[a], -STEEPEST), STEEPEST)


@kernel(fastmath={"reassoc", "contract"})
def _regress(rows: ScaleRows, taken: Ints, target: Floats, spread: float, slopes: Floats) -> None:
    """Regress on the columns of the scale, which have mean 0; the slopes, divided by `spread`, are
    written.
    """
    count = slopes.size
    gram = np.empty((count, count))
    for a in range(count):
        own = rows.offered[taken[1 + a]]
        value = 0.0
        for t in range(target.size):
            value += own[t] * target[t]
        slopes[a] = value / spread
        for b in range(a + 1):
            other = rows.offered[taken[1 + b]]
            value = 0.0
            for t in range(target.size):
                value += own[t] * other[t]
            gram[a, b] = value
    factorise(gram)
    solve_half(gram, slopes)
    solve_rest(gram, slopes)


@kernel
def write_scores(left: Floats, density: Floats, score: Floats) -> float:
    """The derivatives of the log-likelihood by the log of the scale, u psi(u) - 1, with mean 0;
    their variance.
    """
    centre = density[1]
    scale = max(density[2], 1e-300)
    total = 0.0
    square = 0.0
    for t in range(left.size):
        u = (left[t] - centre) / scale
        score[t] = u * (u if density[0] == 0.0 else _psi(u, density))
        total += score[t]
    for t in range(left.size):
        score[t] -= total / left.size
        square += score[t] * score[t]
    return square / left.size


@kernel
def _psi(u: float, density: Floats) -> float:
    """Minus the derivative of the log density."""
    if abs(u) > REACH:
        return math.copysign(1.0, u)
    bell = math.exp(-0.5 * u * u)
    value = (
        density[5]
        + 2.0 * u * density[6]
        + math.tanh(u) * density[7]
        + (1.0 - u * u) * bell * density[8]
    )
    if density[0] > FEW:
        for j in range(len(KNOTS)):
            value += 2.0 * max(u - KNOTS[j], 0.0) * density[5 + FEW + j]
    return float(-value)


@kernel
def _most_promising(rows: ScaleRows, fit: ScaleFit, rejected: Bools) -> int:
    """The column that promises most for the scale beyond its price, -1 if none promises enough."""
    m = fit.residual.size
    score = np.empty(m)
    ranks = np.empty(m)
    spread = write_scores(fit.residual, fit.density, score)
    write_ranks(fit.residual, fit.density[2], ranks)
    best, most = -1, 0.0
    share = 0.5 * rows.rows / m
    for column in range(rejected.size):
        known = rejected[column] or rows.square[column] <= SMALL_COLUMN_BELOW * m
        for a in range(fit.taken[0]):
            known = known or fit.taken[1 + a] == column
        if known:
            continue
        own = rows.offered[column]
        by_score = 0.0
        by_rank = 0.0
        for t in range(m):
            by_score += own[t] * score[t]
            by_rank += own[t] * ranks[t]
        size = rows.square[column]
        gain = share * min(
            by_score * by_score / (max(spread, 0.2) * size), by_rank * by_rank / size
        )
        beyond = gain - PROMISE * rows.price[column]
        if beyond > most:
            best, most = column, beyond
    return best


@kernel
def write_ranks(left: Floats, scale: float, ranks: Floats) -> None:
    """Normal scores of the sizes of residuals of spread `scale` around their median, with variance
    1; ranks by bins.
    """
    size = np.zeros(left.size)
    total = 0.0
    _write_shares(left, scale, True, ranks)
    middle = 0.0
    closest = math.inf
    for t in range(left.size):
        if abs(ranks[t] - 0.5) < closest:
            middle = left[t]
            closest = abs(ranks[t] - 0.5)
    for t in range(left.size):
        size[t] = abs(left[t] - middle)
    _write_shares(size, scale, False, ranks)
    for t in range(left.size):
        # the quantile of the normal distribution, to three digits (Abramowitz and Stegun, 26.2.23)
        x = math.sqrt(-2.0 * math.log(min(ranks[t], 1.0 - ranks[t])))
        x -= (2.515517 + x * (0.802853 + x * 0.010328)) / (
            1.0 + x * (1.432788 + x * (0.189269 + x * 0.001308))
        )
        ranks[t] = x if ranks[t] > 0.5 else -x
        total += ranks[t] * ranks[t]
    root = math.sqrt(max(total / left.size, 1e-300))
    for t in range(left.size):
        ranks[t] /= root


@kernel
def _write_shares(values: Floats, scale: float, signed: bool, shares: Floats) -> None:
    """The share of all values below every value and half of those in its bin; bins are finer near
    0.
    """
    count = np.zeros(BINS)
    below = np.zeros(BINS)
    place = np.empty(values.size, dtype=np.int64)
    for t in range(values.size):
        away = values[t] / max(scale, 1e-300)
        part = away / (1.0 + abs(away))
        place[t] = min(int((0.5 * (1.0 + part) if signed else part) * BINS), BINS - 1)
        count[place[t]] += 1.0
    for b in range(1, BINS):
        below[b] = below[b - 1] + count[b - 1]
    for t in range(values.size):
        shares[t] = (below[place[t]] + 0.5 * count[place[t]]) / values.size
