"""What a noise density gains over the Gaussian one: maximum-entropy densities of standardised
residuals.

A density is an exponential family on a grid. Level 1 has the features u, u^2, log cosh u and u
exp(-u^2 / 2), the Gaussian density being the case without the last two; level 2 adds the squares of
hinges at five places. Its support is the line (beyond +-8 every density falls like exp(-|u|), or it
could pile up its mass there) or reaches from the smallest residual to the largest. Only means of
the features enter, so one pass over the residuals is enough for all densities. Each density pays
for its extra parameters at the plain BIC; the best one that pays is taken.

Skewness and kurtosis, then the features' means say beforehand whether a density can pay, by score
tests against the Gaussian density. Laws without a chance are not fitted.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, PointerTo
from causalcontext.kernels.linear import factorise, solve_half, solve_rest
from causalcontext.kernels.rows.row_blocks import AT_ONCE, exponentials

REACH = 8.0
POINTS = 129
CROWDING = 2.5
"""The points of the line are denser in the middle, by the hyperbolic sine."""
LOOKED_UP = 161
STEP = 2.0 * REACH / (LOOKED_UP - 1)
KNOTS = (-1.5, -0.75, 0.0, 0.75, 1.5)
FEW = 4
MANY = 4 + len(KNOTS)
"""The features of level 1 and of level 2, the Gaussian ones included."""
GAUSSIAN = 0.5 * math.log(2.0 * math.pi) + 0.5
CHANCE = 0.5
"""A density is fitted if its score test promises at least this share of its price."""
RIDGE = 1e-6
"""Keeps the edge of a density from becoming steeper than the grid can see; only the coefficients
feel it.
"""
NO_NOISE = 1e-6
"""Residuals with a smaller standard deviation are rounding errors, which have no density."""
MOST_STEPS = 40
WORST_MISFIT = 0.02
"""A fit counts only if the density has the features' means, in standard deviations of the features,
up to this.
"""


class DensityTable(NamedTuple):
    """What all fits share: features at the points of the grid, their Gaussian means, and two score
    tests.
    """

    line: Floats  # shape (MANY + 2, POINTS): features, places and weights of the line
    lookup: (
        Floats  # shape (2, LOOKED_UP): the features that need an exponential, at equal distances
    )
    expected: Floats  # shape (MANY,): the means under the Gaussian density
    # `few`, `many`: shape (2, 2) and (7, 7): inverse covariances of the features beyond u and u^2,
    # given these, under the Gaussian density
    few: Floats
    many: Floats


def features_at(u: Floats) -> Floats:
    """The features of level 2 at some places, shape (MANY, places)."""
    hinges = [np.maximum(u - knot, 0.0) ** 2 for knot in KNOTS]
    return np.stack(
        [u, u * u, np.logaddexp(u, -u) - math.log(2.0), u * np.exp(-0.5 * u * u), *hinges]
    )


@cache
def density_table() -> DensityTable:
    """The table of all fits."""
    even = np.linspace(-CROWDING, CROWDING, POINTS)
    points = REACH * np.sinh(even) / math.sinh(CROWDING)
    width = REACH * np.cosh(even) / math.sinh(CROWDING) * (even[1] - even[0])
    width[[0, -1]] = 0.5 * width[[0, -1]] + 1.0
    features = features_at(points)
    weight = np.exp(-0.5 * points * points) * width
    weight /= weight.sum()
    expected = features @ weight
    centred = features - expected[:, None]
    spread = (centred * weight) @ centred.T
    left = spread[2:, 2:] - spread[2:, :2] @ np.linalg.solve(spread[:2, :2], spread[:2, 2:])
    line = np.vstack([features, points, width])
    lookup = np.ascontiguousarray(features_at(np.linspace(-REACH, REACH, LOOKED_UP))[2:4])
    return DensityTable(line, lookup, expected, np.linalg.inv(left[:2, :2]), np.linalg.inv(left))


def best_density(residual: Floats, rows: float, density: Floats) -> float:
    """What `density_gain` says of residuals, which stay as they are: called through its pointer,
    compiled once.
    """
    return float(
        _gain_by(
            density_pointer(), residual.copy(), residual.size, float(rows), density_table(), density
        )
    )


@kernel
def _gain_by(
    call: FunctionPointer,
    residual: Floats,
    count: int,
    rows: float,
    table: DensityTable,
    density: Floats,
) -> float:
    return call(residual, count, rows, table, density)  # type: ignore[no-any-return]


@kernel
def density_gain(
    residual: Floats, count: int, rows: float, table: DensityTable, density: Floats
) -> float:
    """What the best noise density of `residual[:count]` gains over the Gaussian one, its price
    paid; 0 if none pays.

    The residuals, which stand for so many rows, are standardised. `density` is written: the number
    of features (0 for the Gaussian density), the mean and the standard deviation of the residuals,
    lowest and highest place of the support, then coefficients.
    """
    density[:] = 0.0
    price = 0.5 * math.log(rows)
    odd = _standardise(residual, count, density)
    if density[2] < NO_NOISE or 0.5 * rows * odd < CHANCE * 2.0 * price:
        return 0.0
    mean = np.empty(MANY)
    low, high, beyond = _means(residual, count, table.lookup, mean)
    first, second = _score_tests(mean, rows, table)
    if first < CHANCE * 2.0 * price and second < CHANCE * (MANY - 2.0) * price:
        return 0.0
    grid = np.empty((MANY + 2, POINTS))
    spare = np.empty((3, MANY))
    matrix = np.empty((MANY, MANY))
    slopes = np.zeros(MANY)
    start = np.zeros(MANY)
    slopes[1] = -0.5
    margin = (high - low) / count
    best = 0.0
    for level in range(2 if second >= CHANCE * (MANY - 2.0) * price else 1):
        features = FEW if level == 0 else MANY
        low_end = -REACH
        high_end = REACH
        ends = 0.0
        grid[:] = table.line
        for cut in range(2):
            if cut == 1:
                outside = _outside(grid, slopes, low - margin, high + margin)
                if rows * outside[0] > CHANCE * price:
                    low_end = low - margin
                    ends = ends + 1.0
                if rows * outside[1] > CHANCE * price:
                    high_end = high + margin
                    ends = ends + 1.0
                if ends == 0.0:
                    break
                _fill_interval(grid, low_end, high_end)
            for j in range(MANY):
                start[j] = slopes[j]
            height = _maximise(grid, mean, features, start, spare, matrix)
            gain = rows * (height - beyond + GAUSSIAN) - (features - 2.0 + ends) * price
            if gain > best:
                best = gain
                density[0] = features
                density[3] = low_end
                density[4] = high_end
                for j in range(MANY):
                    density[5 + j] = start[j] if j < features else 0.0
            if cut == 0 and height > -math.inf:
                for j in range(MANY):
                    slopes[j] = start[j]
    return best


density_pointer = PointerTo(
    density_gain, lambda: (np.zeros(1), 1, 1.0, density_table(), np.zeros(1))
)


@kernel(fastmath={"reassoc", "contract"})
def _standardise(residual: Floats, count: int, density: Floats) -> float:
    """Standardise the residuals; how odd they look: skewness^2 / 6 + (kurtosis - 3)^2 / 24, as
    Jarque and Bera have it.

    Half of that, times the rows, is about what a density could gain that is close to the Gaussian
    one.
    """
    total = 0.0
    for t in range(count):
        total += residual[t]
    centre = total / count
    second = 0.0
    for t in range(count):
        residual[t] -= centre
        second += residual[t] * residual[t]
    scale = math.sqrt(max(second / count, 1e-300))
    third, fourth = 0.0, 0.0
    for t in range(count):
        u = residual[t] / scale
        residual[t] = u
        third += u * u * u
        fourth += u * u * u * u
    density[1] = centre
    density[2] = scale
    skew = third / count
    tails = fourth / count - 3.0
    return skew * skew / 6.0 + tails * tails / 24.0


@kernel(fastmath={"reassoc", "contract", "nnan", "nsz"})
def _means(
    residual: Floats, count: int, lookup: Floats, mean: Floats
) -> tuple[float, float, float]:
    """The means of the features, the smallest and the largest residual, what lies beyond the
    line.
    """
    mean[:] = 0.0
    low = math.inf
    high = -math.inf
    beyond = 0.0
    inside = np.empty(AT_ONCE)
    for start in range(0, count, AT_ONCE):
        length = min(AT_ONCE, count - start)
        for t in range(length):
            u = residual[start + t]
            low = min(low, u)
            high = max(high, u)
            beyond += max(abs(u) - REACH, 0.0)
            inside[t] = min(max(u, -REACH), REACH)
        _add_features(inside, length, lookup, mean)
    for j in range(MANY):
        mean[j] /= count
    return low, high, beyond / count


@kernel(fastmath={"reassoc", "contract", "nnan", "nsz"})
def _add_features(inside: Floats, length: int, lookup: Floats, sums: Floats) -> None:
    """Add the features of a few residuals; those that need an exponential are interpolated by
    cubics.
    """
    one = 0.0
    two = 0.0
    bent = 0.0
    waved = 0.0
    for t in range(length):
        u = inside[t]
        one += u
        two += u * u
        place = (u + REACH) / STEP
        g = min(max(int(place), 1), LOOKED_UP - 3)
        x = place - g
        a = -x * (x - 1.0) * (x - 2.0) / 6.0
        b = (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0
        c = -(x + 1.0) * x * (x - 2.0) / 2.0
        d = (x + 1.0) * x * (x - 1.0) / 6.0
        bent += (
            a * lookup[0, g - 1] + b * lookup[0, g] + c * lookup[0, g + 1] + d * lookup[0, g + 2]
        )
        waved += (
            a * lookup[1, g - 1] + b * lookup[1, g] + c * lookup[1, g + 1] + d * lookup[1, g + 2]
        )
    sums[0] += one
    sums[1] += two
    sums[2] += bent
    sums[3] += waved
    for j in range(len(KNOTS)):
        hinge = 0.0
        knot = KNOTS[j]
        for t in range(length):
            above = max(inside[t] - knot, 0.0)
            hinge += above * above
        sums[FEW + j] += hinge


@kernel
def _score_tests(mean: Floats, rows: float, table: DensityTable) -> tuple[float, float]:
    """What the densities of level 1 and 2 would gain if they were close to the Gaussian one."""
    first, second = 0.0, 0.0
    for i in range(MANY - 2):
        for j in range(MANY - 2):
            product = (mean[i + 2] - table.expected[i + 2]) * (mean[j + 2] - table.expected[j + 2])
            second += product * table.many[i, j]
            if i < 2 and j < 2:
                first += product * table.few[i, j]
    return 0.5 * rows * first, 0.5 * rows * second


@kernel
def _fill_interval(grid: Floats, low: float, high: float) -> None:
    """The features on an interval, by Simpson's rule; the end points are in, or the means may lie
    outside the hull.
    """
    step = (high - low) / (POINTS - 1)
    for g in range(POINTS):
        u = low + g * step
        grid[0, g] = u
        grid[1, g] = u * u
        grid[2, g] = abs(u) + math.log1p(math.exp(-2.0 * abs(u))) - math.log(2.0)
        grid[3, g] = u * math.exp(-0.5 * u * u)
        for j in range(len(KNOTS)):
            above = max(u - KNOTS[j], 0.0)
            grid[FEW + j, g] = above * above
        grid[MANY, g] = u
        inside = 4.0 if g % 2 == 1 else 2.0
        grid[MANY + 1, g] = step / 3.0 * (inside if 0 < g < POINTS - 1 else 1.0)
    if low <= -REACH:
        grid[MANY + 1, 0] += 1.0
    if high >= REACH:
        grid[MANY + 1, POINTS - 1] += 1.0


@kernel
def _outside(grid: Floats, slopes: Floats, low: float, high: float) -> tuple[float, float]:
    """How much log density one on the line gains by cutting it off below, and above."""
    highest = -math.inf
    for g in range(POINTS):
        value = 0.0
        for j in range(MANY):
            value += slopes[j] * grid[j, g]
        highest = max(highest, value)
    below = 0.0
    above = 0.0
    total = 0.0
    for g in range(POINTS):
        value = 0.0
        for j in range(MANY):
            value += slopes[j] * grid[j, g]
        mass = math.exp(value - highest) * grid[MANY + 1, g]
        total += mass
        below += mass if grid[MANY, g] < low else 0.0
        above += mass if grid[MANY, g] > high else 0.0
    return -math.log1p(-min(below / total, 0.99)), -math.log1p(-min(above / total, 0.99))


@kernel
def _maximise(
    grid: Floats, mean: Floats, count: int, slopes: Floats, spare: Floats, matrix: Floats
) -> float:
    """The largest mean log density with the first `count` features, by Newton steps from `slopes`;
    -inf if none.
    """
    model = spare[0]
    step = spare[1, :count]
    trial = spare[2]
    factor = np.empty((count, count))
    value = _pass(grid, mean, count, slopes, model, matrix) - _ridge(slopes, count)
    for _ in range(MOST_STEPS):
        for j in range(count):
            step[j] = mean[j] - model[j] - RIDGE * slopes[j]
            matrix[j, j] += RIDGE
            for k in range(j + 1):
                factor[j, k] = matrix[j, k]
        factorise(factor)
        promise = solve_half(factor, step)
        solve_rest(factor, step)
        if promise < 1e-8:
            break
        scale, better = 1.0, -math.inf
        for _half in range(30):
            for j in range(count):
                trial[j] = slopes[j] + scale * step[j]
            better = _pass(grid, mean, count, trial, model, matrix) - _ridge(trial, count)
            if better >= value + 0.1 * scale * promise:
                break
            scale *= 0.5
        if not better > value:
            break
        value = better
        for j in range(count):
            slopes[j] = trial[j]
    worst = 0.0
    for j in range(count):
        worst = max(worst, abs(mean[j] - model[j]) / math.sqrt(max(matrix[j, j], 1e-12)))
    return value + _ridge(slopes, count) if worst < WORST_MISFIT else -math.inf


@kernel
def _ridge(slopes: Floats, count: int) -> float:
    total = 0.0
    for j in range(count):
        total += slopes[j] * slopes[j]
    return 0.5 * RIDGE * total


@kernel(fastmath={"reassoc", "contract", "nnan", "nsz"})
def _pass(
    grid: Floats, mean: Floats, count: int, slopes: Floats, model: Floats, matrix: Floats
) -> float:
    """The mean log density at these coefficients; the features' means and covariances under the
    density are written.
    """
    height = np.zeros(POINTS)
    spare = np.empty(POINTS)
    for j in range(count):
        slope = slopes[j]
        for g in range(POINTS):
            height[g] += slope * grid[j, g]
    highest = height[0]
    for g in range(POINTS):
        highest = max(highest, height[g])
    for g in range(POINTS):
        height[g] -= highest
    exponentials(height, POINTS, spare, spare.view(np.int64))
    total = 0.0
    for g in range(POINTS):
        height[g] *= grid[MANY + 1, g]
        total += height[g]
    value = -highest - math.log(total)
    for g in range(POINTS):
        height[g] /= total
    for i in range(count):
        value += slopes[i] * mean[i]
        first = 0.0
        for g in range(POINTS):
            spare[g] = height[g] * grid[i, g]
            first += spare[g]
        model[i] = first
        for j in range(i + 1):
            both = 0.0
            for g in range(POINTS):
                both += spare[g] * grid[j, g]
            matrix[i, j] = both - model[i] * model[j]
    return float(value)
