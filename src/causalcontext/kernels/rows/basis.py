"""Two numbers given others whose effects may be curved: chosen columns of a table of correlations,
three questions.

Every variable has columns: itself, then curves of it. Of the conditions, the variables themselves
are always taken, and of their curves those that pay their price for one of the two ends. What is
left of the ends is asked three questions: are the ends correlated, and does either follow a curve
of the other beyond that?
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW, PERFECT, SPARE_ROWS
from causalcontext.kernels.linear import project
from causalcontext.kernels.special import correlation_two_sided, f_upper

LINE_WEIGHT = 4.0
CURVE_WEIGHT = 1.0
"""How the three questions share the level: the line, the curves of x, the curves of y."""
END_CURVES = 3
"""So many curves of an end are asked about: the first ones."""
PRICE = 2.0
"""What a curve must gain in log-likelihood to be taken out. One too many costs a row; one too few
may be what both ends have in common, and looks like a link."""
ROWS_PER_COLUMN = 10
"""At most one curve is chosen for that many rows, for each end."""
SAME_CURVE = 1e-6
"""A curve of which less than this share is left says nothing new."""
TESTABLE = 0
FEW_ROWS = 1
CONSTANT = 2
COLLINEAR = 3


class Basis(NamedTuple):
    """Correlations of all columns on some rows; those of variable j are `first[j]` to `first[j + 1]
    - 1`.
    """

    table: Floats
    first: Ints
    rows: int


@kernel
def answer_basis(
    basis: Basis, pairs: Ints, start: Ints, given: Ints, numbers: Floats, reasons: Ints
) -> None:
    """Answer a group of trials on the same rows; the conditions of trial t are `given[start[t] :
    start[t + 1]]`.

    `numbers`, shape (trials, 3), are -n log(1 - share explained) of the question that decides, its
    degrees of freedom, and p.
    """
    for t in range(len(pairs)):
        x, y = pairs[t]
        reasons[t] = _answer(basis, x, y, given[start[t] : start[t + 1]], numbers[t])


@kernel
def _answer(basis: Basis, x: int, y: int, given: Ints, numbers: Floats) -> int:
    first = basis.first
    rows = basis.rows
    if first[x] == first[x + 1] or first[y] == first[y + 1]:
        return CONSTANT
    columns, straight, curves, at_y = _columns(first, x, y, given)
    left = np.empty((columns.size, columns.size))
    for a in range(columns.size):
        for b in range(columns.size):
            left[a, b] = basis.table[columns[a], columns[b]]
    rank = 0
    for j in range(straight):
        rank += project(left, j, COLLINEAR_BELOW)
    if rows - rank - 2 < SPARE_ROWS:
        return FEW_ROWS
    at_x = straight + curves
    if curves > 0:
        rank += _free_of_curves(left, straight, at_x, at_y, rows, rank)
    if left[at_x, at_x] <= COLLINEAR_BELOW or left[at_y, at_y] <= COLLINEAR_BELOW:
        return COLLINEAR
    _ask(left, at_x, at_y, rows - rank - 2.0, rows, numbers)
    return TESTABLE


@kernel
def _columns(first: Ints, x: int, y: int, given: Ints) -> tuple[Ints, int, int, int]:
    """The conditions themselves, their curves, x and a few curves of it, y likewise; how many, and
    where y is.
    """
    straight, curves = 0, 0
    for z in given:
        if first[z] < first[z + 1]:
            straight += 1
            curves += first[z + 1] - first[z] - 1
    on_x = min(first[x + 1] - first[x], END_CURVES + 1)
    on_y = min(first[y + 1] - first[y], END_CURVES + 1)
    columns = np.empty(straight + curves + on_x + on_y, np.int64)
    line, curve = 0, straight
    for z in given:
        for column in range(first[z], first[z + 1]):
            if column == first[z]:
                columns[line] = column
                line += 1
            else:
                columns[curve] = column
                curve += 1
    for k in range(on_x):
        columns[curve + k] = first[x] + k
    for k in range(on_y):
        columns[curve + on_x + k] = first[y] + k
    return columns, straight, curves, curve + on_x


@kernel
def _free_of_curves(left: Floats, begin: int, at_x: int, at_y: int, rows: int, rank: int) -> int:
    """Regress everything on the curves, from `begin` to `at_x - 1`, that either end chooses; how
    many they are.
    """
    most = min(rows // ROWS_PER_COLUMN, (rows - rank - 2 - SPARE_ROWS) // 2)
    alone = left.copy()
    for_x = _choose(left, begin, at_x, at_x, rows, most)
    for_y = _choose(alone, begin, at_x, at_y, rows, most)
    chosen = for_x.sum()
    for j in range(begin, at_x):
        if for_y[j - begin] and not for_x[j - begin]:
            chosen += project(left, j, SAME_CURVE)
    return int(chosen)


@kernel
def _choose(left: Floats, begin: int, end: int, response: int, rows: int, most: int) -> Ints:
    """Forward selection: the curve that gains most is taken, while it gains more than its price."""
    chosen = np.zeros(end - begin, np.int64)
    for _ in range(most):
        best, share = -1, -math.expm1(-2.0 * PRICE / rows)
        if left[response, response] <= COLLINEAR_BELOW:
            break
        for j in range(begin, end):
            if left[j, j] > SAME_CURVE:
                found = left[j, response] ** 2 / (left[j, j] * left[response, response])
                if found > share:
                    best, share = j, found
        if best < 0:
            break
        project(left, best, SAME_CURVE)
        chosen[best - begin] = 1
    return chosen


@kernel
def _ask(left: Floats, at_x: int, at_y: int, df: float, rows: int, numbers: Floats) -> None:
    """The three questions, each with its share of the level."""
    on_x = at_y - at_x
    on_y = len(left) - at_y
    share = min(left[at_x, at_y] ** 2 / (left[at_x, at_x] * left[at_y, at_y]), 1.0)
    of_x = left[at_x:, at_x:].copy()
    of_y = _swapped(left, at_x, at_y)
    parts = (
        (correlation_two_sided(share, df), share, 1.0),
        _curves_of(of_x, on_x, df),
        _curves_of(of_y, on_y, df),
    )
    least = math.inf
    for place in range(3):
        p, explained, count = parts[place]
        weight = LINE_WEIGHT if place == 0 else CURVE_WEIGHT
        if count > 0.0 and p / weight < least:
            least = p / weight
            share = explained
            numbers[1] = count
    numbers[0] = -rows * math.log1p(-min(share, PERFECT))
    unlikely = 0.0
    for place in range(3):
        weight = LINE_WEIGHT if place == 0 else CURVE_WEIGHT
        if parts[place][2] > 0.0:
            unlikely += math.log1p(-min(weight * least, PERFECT))
    numbers[2] = -math.expm1(unlikely)


@kernel
def _swapped(left: Floats, at_x: int, at_y: int) -> Floats:
    """The ends with y first."""
    on_x = at_y - at_x
    on_y = len(left) - at_y
    order = np.empty(on_x + on_y, np.int64)
    order[:on_y] = np.arange(at_y, len(left))
    order[on_y:] = np.arange(at_x, at_y)
    out = np.empty((order.size, order.size))
    for a in range(order.size):
        for b in range(order.size):
            out[a, b] = left[order[a], order[b]]
    return out


@kernel
def _curves_of(ends: Floats, other: int, df: float) -> tuple[float, float, float]:
    """Does column `other` follow columns 1 to `other - 1` beyond column 0? p, the share explained,
    and of how many.

    None of them where there is nothing to ask.
    """
    project(ends, 0, COLLINEAR_BELOW)
    before = ends[other, other]
    count = 0
    explained = 0.0
    for j in range(1, other):
        if ends[j, j] > SAME_CURVE and df - count - 1.0 >= SPARE_ROWS:
            explained += ends[j, other] ** 2 / ends[j, j]
            count += project(ends, j, SAME_CURVE)
    if count == 0 or before <= COLLINEAR_BELOW:
        return 1.0, 0.0, 0.0
    left_over = max(before - explained, 0.0)
    return (
        f_upper(explained, left_over, float(count), df - count),
        min(explained / before, 1.0),
        float(count),
    )
