"""Which columns the logit of a category keeps: sets of columns are thinned out on the rows, and the
best one wins.

Wilks' lambda over all columns also picks curves that the logit does not need: given the category
every function of a cause differs in mean. So the choice among all columns, that among plain ones
and the union of what is left of the two are each thinned out by the logit itself, and the best is
taken. Ordered categories have proportional odds instead.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from causalcontext.kernels.arrays import NOBODY, Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, PointerTo
from causalcontext.kernels.linear import factorise, invert, solve_half
from causalcontext.kernels.rows.glm import (
    RIDGE,
    is_out_of_reach,
    maximise,
    write_ridge,
    write_start,
)
from causalcontext.kernels.rows.likelihoods import LOGIT, ORDINAL, PASSES

SURE = 5.0
"""A column is not tried out if its Wald statistic promises to lose so much more than twice its
price.
"""
MOST_WORK = 4e7
"""Rows times coefficients squared: with more, columns are chosen on part of the rows, and scored on
all of them.
"""
FEWEST_ROWS = 8.0
"""For every coefficient so many rows are kept."""
TOLERANCE = 1e-4
"""In log-likelihood: a Newton step that promises less is the last one."""
MUCH_WORK = 1e6
"""Rows times slopes squared: with more, a good start saves more than it costs."""
FEW_ROWS = 8
"""Every so many rows are enough to come close to a maximum."""
ROWS_A_SLOPE = 8
ROWS_A_CLASS = 20
"""Fewer rows than these are not few, but too few."""


class ClassRows(NamedTuple):
    """A category on the rows of a block."""

    values: (
        Floats  # shape (columns, m): rows sorted by cell; `starts` has the first row of every cell
    )
    codes: Ints  # shape (m,)
    starts: Ints  # shape (cells + 1,)
    groups: (
        Ints  # shape (cells,): the intercept of every cell, -1 for cells that are not in the block
    )
    classes: int
    ordered: bool
    # `weight`, `price`: the rows that each of these stands for; what a parameter costs
    weight: float
    price: float


def _samples() -> tuple[Any, ...]:
    whole = np.zeros(1, dtype=np.int64)
    number = np.zeros(1)
    rows = ClassRows(number[:, None], whole, whole, whole, 2, False, 1.0, 1.0)
    return rows, class_pointer.kind, PASSES[LOGIT].kind, whole[:, None], number[:, None]


@kernel
def choose_columns(
    rows: ClassRows, fit: FunctionPointer, one_pass: FunctionPointer, sets: Ints, prices: Floats
) -> float:
    """The best score of two sets of columns and their union, each thinned out; the first set is
    replaced by the best.

    `fit` is `class_fit`, `one_pass` what that takes for its first argument. `sets`, shape (3, 1 +
    W), has the number of columns of each set, -1 for no set, then the columns; the third one is
    room for the union. `prices`, shape (3, W), are infinite for columns that must stay, whose price
    the caller subtracts.
    """
    best = -math.inf
    winner = 0
    step = 1
    count = 0
    start = np.empty(0)
    for turn in range(3):
        if turn == 0 and _includes(sets[0], sets[1]) and _includes(sets[1], sets[0]):
            sets[1, 0] = -1
        if turn == 2:
            _join(sets, prices)
        if turn > 0 and sets[turn, 0] < 0:
            continue
        value, step, slopes = _thin_out(
            rows, fit, one_pass, sets[turn], prices[turn], sets[winner], start
        )
        if value > best + 1e-9:
            best = value
            winner = turn
            start = slopes
        count = max(count, step)
    for t in range(sets[winner, 0] + 1):
        sets[0, t] = sets[winner, t]
    if count == 1:
        return best
    design, codes, before = _design(rows, sets[0], 1)
    nothing = np.empty((0, 0))
    likelihood = fit(
        one_pass, design, codes, rows.classes, rows.ordered, start, False, -math.inf, nothing
    )
    return rows.weight * float(likelihood) - _paid(rows, before, sets[0, 0], prices[winner])


choice_pointer = PointerTo(choose_columns, _samples)


@kernel
def _join(sets: Ints, prices: Floats) -> None:
    """Make the third set the union of the first two; no set if it is one of them."""
    union = sets[1, 0]
    few = sets[0, 0]
    for t in range(union):
        sets[2, 1 + t] = sets[1, 1 + t]
        prices[2, t] = prices[1, t]
    for t in range(few if union >= 0 else 0):
        if union < prices.shape[1] and not _has(sets[1], sets[0, 1 + t]):
            sets[2, 1 + union] = sets[0, 1 + t]
            prices[2, union] = prices[0, t]
            union += 1
    sets[2, 0] = -1 if union == sets[1, 0] or union == few else union


@kernel
def _includes(one: Ints, other: Ints) -> bool:
    """Whether all columns of another set are in one."""
    every = True
    for t in range(other[0]):
        every = every and _has(one, other[1 + t])
    return every


@kernel
def _has(columns: Ints, column: int) -> bool:
    found = False
    for t in range(columns[0]):
        found = found or columns[1 + t] == column
    return found


@kernel
def _paid(rows: ClassRows, before: int, count: int, price: Floats) -> float:
    """What the parameters of a fit cost; columns that must stay are paid for elsewhere."""
    paid = rows.price * (
        rows.classes - 1 + (before - 1) * (1 if rows.ordered else rows.classes - 1)
    )
    for t in range(count):
        paid += price[t] if price[t] < math.inf else 0.0
    return paid


@kernel
def _thin_out(
    rows: ClassRows,
    fit: FunctionPointer,
    one_pass: FunctionPointer,
    chosen: Ints,
    price: Floats,
    known: Ints,
    known_slopes: Floats,
) -> tuple[float, int, Floats]:
    """Drop columns as long as the score of the logit rises; the score, every how many rows were
    used, the slopes.

    Which ones do not pay is read off the quadratic approximation at the maximum, then tried out:
    all of them at once, or else the cheapest, which stays for good if it pays after all. A fit
    starts where the approximation has its maximum, and ends as soon as it is clear that it does not
    pay. With many classes and columns part of the rows have to do. A long first fit starts at the
    slopes of another set.
    """
    step = _step(rows, chosen[0])
    design, codes, before = _design(rows, chosen, step)
    weight = rows.weight * rows_of(rows) / codes.size
    width = design.shape[0]
    slopes = np.zeros(rows.classes - 1 + width - 1 if rows.ordered else (rows.classes - 1) * width)
    write_start(codes, rows.classes, rows.ordered, width, slopes)
    far = codes.size * slopes.size * slopes.size > MUCH_WORK
    if far and known_slopes.size > 0:
        _carry_over(rows, known, known_slopes, chosen, before, slopes)
    inverse = np.empty((slopes.size, slopes.size))
    paid = _paid(rows, before, chosen[0], price)
    score = (
        weight
        * fit(one_pass, design, codes, rows.classes, rows.ordered, slopes, far, -math.inf, inverse)
        - paid
    )
    kept = np.zeros(chosen[0], dtype=np.bool_)
    most = chosen[0]
    while True:
        start = slopes.copy()
        spread = inverse.copy()
        out = _worthless(rows, weight, start, spread, price, kept[: chosen[0]], before, most)
        count, saved = 0, 0.0
        for t in range(out.size):
            count += out[t]
            saved += price[t] if out[t] else 0.0
        if count == 0:
            return score, step, slopes
        smaller, start, spread = _without(rows, design, start, spread, out, before)
        other = np.empty((start.size, start.size))
        value = -math.inf
        needed = (score + paid - saved) / weight
        ridge = np.empty(start.size)
        write_ridge(
            ORDINAL if rows.ordered else LOGIT, rows.classes, smaller.shape[0], RIDGE, ridge
        )
        if not is_out_of_reach(
            one_pass, smaller, codes, rows.classes - 1, ridge, start, spread, needed
        ):
            value = fit(
                one_pass, smaller, codes, rows.classes, rows.ordered, start, False, needed, other
            )
        if weight * value - (paid - saved) > score:
            paid -= saved
            score = weight * value - paid
            design = smaller
            slopes = start
            inverse = other
            place = 0
            for t in range(chosen[0]):
                if not out[t]:
                    chosen[1 + place] = chosen[1 + t]
                    price[place] = price[t]
                    kept[place] = kept[t]
                    place += 1
            chosen[0] = most = place
        elif count > 1:
            most = 1
        else:
            for t in range(out.size):
                kept[t] = kept[t] or out[t]


@kernel
def _carry_over(
    rows: ClassRows, known: Ints, known_slopes: Floats, chosen: Ints, before: int, slopes: Floats
) -> None:
    """Write the slopes that one set of columns has in common with another."""
    width = before + chosen[0]
    old_width = before + known[0]
    for a in range(width):
        old = a if a < before else NOBODY
        for t in range(known[0]):
            if a >= before and known[1 + t] == chosen[1 + a - before]:
                old = before + t
        if old >= 0 and not (rows.ordered and a == 0):
            here = places_of(a, rows.classes, rows.ordered, width)
            there = places_of(old, rows.classes, rows.ordered, old_width)
            for c in range(here.size):
                slopes[here[c]] = known_slopes[there[c]]
    for c in range(rows.classes - 1 if rows.ordered else 0):
        slopes[c] = known_slopes[c]


@kernel
def _worthless(
    rows: ClassRows,
    weight: float,
    slopes: Floats,
    inverse: Floats,
    price: Floats,
    kept: Bools,
    before: int,
    most: int,
) -> Bools:
    """Columns that do not pay by the quadratic approximation, which moves along; or one that may
    turn out not to.
    """
    out = np.zeros(kept.size, dtype=np.bool_)
    width = before + kept.size
    for turn in range(most):
        best = NOBODY
        lowest = math.inf
        loss = math.inf
        for t in range(kept.size):
            if kept[t] or out[t] or price[t] == math.inf:
                continue
            factor, value = _own(
                slopes, inverse, places_of(before + t, rows.classes, rows.ordered, width)
            )
            own = weight * (
                0.5 * solve_half(factor, value)
            )  # half of Wald's statistic: about what is lost without it
            if own - price[t] < lowest:
                best = t
                lowest = own - price[t]
                loss = own
        if best < 0 or loss > (price[best] if turn > 0 else 2.0 * price[best] + SURE):
            break
        out[best] = True
        leave_out(slopes, inverse, places_of(before + best, rows.classes, rows.ordered, width))
        if loss > price[best]:
            break
    return out


@kernel
def _without(
    rows: ClassRows, design: Floats, slopes: Floats, inverse: Floats, out: Bools, before: int
) -> tuple[Floats, Floats, Floats]:
    """The design, the slopes and their inverse Hessian without some columns."""
    width = design.shape[0]
    left = 0
    places = 0
    goes = np.zeros(slopes.size, dtype=np.bool_)
    for a in range(before, width):
        if out[a - before]:
            left += 1
            place = places_of(a, rows.classes, rows.ordered, width)
            for c in range(place.size):
                goes[place[c]] = True
                places += 1
    smaller = np.empty((width - left, design.shape[1]))
    own = np.empty(slopes.size - places)
    left, places = 0, 0
    for a in range(width):
        if a < before or not out[a - before]:
            for t in range(design.shape[1]):
                smaller[left, t] = design[a, t]
            left += 1
    spread = np.empty((own.size, own.size))
    for a in range(slopes.size):
        if not goes[a]:
            own[places] = slopes[a]
            left = 0
            for b in range(slopes.size):
                if not goes[b]:
                    spread[places, left] = inverse[a, b]
                    left += 1
            places += 1
    return smaller, own, spread


@kernel
def rows_of(rows: ClassRows) -> int:
    """The rows of the block."""
    size = 0
    for r in range(rows.starts.size - 1):
        size += rows.starts[r + 1] - rows.starts[r] if rows.groups[r] >= 0 else 0
    return size


@kernel
def _step(rows: ClassRows, count: int) -> int:
    """Every how many rows are enough to choose among so many columns."""
    coefficients = (count + 1.0) * (1 if rows.ordered else rows.classes - 1)
    size = rows_of(rows)
    fewest = FEWEST_ROWS * (coefficients + rows.classes)
    most = max(MOST_WORK / (coefficients * coefficients), fewest)
    return max(1, int(size / most))


@kernel
def _design(rows: ClassRows, chosen: Ints, step: int) -> tuple[Floats, Ints, int]:
    """Every so many rows of the intercept, the shifts and the chosen columns; the classes; where
    the columns begin.
    """
    cells = rows.groups.size
    shifts = max(rows.groups.max(), 0)
    size = 0
    for r in range(cells):
        size += (
            (rows.starts[r + 1] - rows.starts[r] + step - 1) // step if rows.groups[r] >= 0 else 0
        )
    design = np.zeros((1 + shifts + chosen[0], size))
    codes = np.empty(size, dtype=np.int64)
    place = 0
    for r in range(cells):
        length = (
            (rows.starts[r + 1] - rows.starts[r] + step - 1) // step if rows.groups[r] >= 0 else 0
        )
        for t in range(length):
            codes[place + t] = rows.codes[rows.starts[r] + step * t]
            design[0, place + t] = 1.0
            if rows.groups[r] > 0:
                design[rows.groups[r], place + t] = 1.0
        for a in range(chosen[0]):
            for t in range(length):
                design[1 + shifts + a, place + t] = rows.values[
                    chosen[1 + a], rows.starts[r] + step * t
                ]
        place += length
    return design, codes, 1 + shifts


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
    """The largest log-likelihood of classes given a design, or -inf if `needed` is clearly out of
    reach.

    `one_pass` is that of `LOGIT` among `likelihoods.PASSES`, of `ORDINAL` for ordered classes. The
    first row of the design, shape (width, rows), is 1; codes are 0 to classes - 1. `slopes` is
    where to start, then the maximum; with `far`, few rows come close to it first. `inverse` is
    written, that of the negative Hessian, where there is room.
    """
    curvature = np.zeros((slopes.size, slopes.size))
    ties = np.empty(0, dtype=np.int64)
    ridge = np.empty(slopes.size)
    write_ridge(ORDINAL if ordered else LOGIT, classes, design.shape[0], RIDGE, ridge)
    if far:
        part, few = few_rows(design, codes, classes, slopes.size)
        if few.size > 0:
            maximise(
                one_pass, part, few, classes - 1, ties, ridge, slopes, curvature, -math.inf, 1.0
            )
    likelihood = maximise(
        one_pass, design, codes, classes - 1, ties, ridge, slopes, curvature, needed, TOLERANCE
    )
    if likelihood > -math.inf and inverse.size > 0:
        invert(curvature, inverse)
    return likelihood


class_pointer = PointerTo(
    class_fit,
    lambda: (
        PASSES[LOGIT].kind,
        np.zeros((1, 1)),
        np.zeros(1, dtype=np.int64),
        2,
        False,
        np.zeros(1),
        False,
        0.0,
        np.zeros((1, 1)),
    ),
)


@kernel
def few_rows(design: Floats, codes: Ints, classes: int, slopes: int) -> tuple[Floats, Ints]:
    """Part of the rows, to come close to the maximum; none if there are too few of some class."""
    size = codes.size // FEW_ROWS
    few = np.empty(size, dtype=np.int64)
    counts = np.zeros(classes, dtype=np.int64)
    for row in range(size):
        few[row] = codes[FEW_ROWS * row]
        counts[min(few[row], classes - 1)] += 1
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
    factor = np.zeros((place.size, place.size))
    value = np.empty(place.size)
    for c in range(place.size):
        value[c] = slopes[place[c]]
        for e in range(c + 1):
            factor[c, e] = inverse[place[c], place[e]]
    factorise(factor)
    return factor, value
