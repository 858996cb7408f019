"""Which columns a node takes from its candidates: grow and shrink on covariances, with a memory.

Every variable offers columns: itself, and perhaps curves of itself. Growing is a pivoted Cholesky factorisation: the
column that raises the penalised likelihood most comes next, as long as the score rises, and with patience a little
longer: two causes may hide each other. Then columns that do not pay are dropped. The response is one column for a
number, and several (the indicators of all levels but one) for a category; the likelihood is the Gaussian one, Wilks'
lambda. Columns of variables that are no candidates go along, so that every fit knows whose candidacy matters: who was
taken anywhere along the path, or would have been. In a search over orders that spares most regressions.

Gains are compared without logarithms: a column that leaves the share 1 - q of the response's (generalised) variance
pays if (1 - q) exp(2 price / rows) < 1.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from causalcontext.kernels.arrays import NOTHING, Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.function_pointers import FunctionPointer, pointer_kind, pointer_to
from causalcontext.kernels.handles import Note, fetch
from causalcontext.kernels.limits import SAME_COLUMN_BELOW, SMALL_COLUMN_BELOW, SMALLEST_VARIANCE
from causalcontext.kernels.orders.node_data import (
    FIT_ARRAYS,
    NO_FIT_ARRAYS,
    BlockTables,
    FitRows,
    Required,
    regression_of,
    target_of,
)
from causalcontext.kernels.orders.regressions import (
    BASIC,
    CLOSED,
    CURVED,
    END,
    LEAST,
    LEFT,
    LENGTH,
    ONLY_IF_IT_PAYS,
    OWNER,
    PARTNER,
    PATH,
    TAKEN,
    VALUE,
    WEIGHT,
    WELCOME,
    BlockRegression,
    Fits,
    Scratch,
    Target,
    invert,
    weight_of,
)
from causalcontext.kernels.orders.shrinking import shrink, start_with_path

PATIENCE = 1
"""How many columns in a row may be taken that do not pay by themselves, in the hope of one that pays then."""


_SELECT, _COPY = (NO_FIT_ARRAYS, 0, 0, False, 0), (NO_FIT_ARRAYS, 0, 0, 0)


@cache
def select_pointer() -> FunctionPointer:
    """`select` behind a pointer."""
    return pointer_to(select, *_SELECT)


def select_kind() -> Any:
    """The type of `select_pointer`."""
    return pointer_kind(*_SELECT)


@cache
def copy_pointer() -> FunctionPointer:
    """`copy_fit` behind a pointer."""
    return pointer_to(copy_fit, *_COPY)


def copy_kind() -> Any:
    """The type of `copy_pointer`."""
    return pointer_kind(*_COPY)


@kernel
def select(arrays: Note, block: int, node: int, plain: bool, slot: int) -> float:
    """Choose columns of `work.candidates`, only plain ones if asked; what is left of the variance of a number.

    `arrays` is the note of `FitArrays`. Afterwards `fits.whole` has the chosen columns, `work.small[4]` their slopes
    and `work.small[0]` the residual covariance of the response. Required parents always stay.
    """
    table = regression_of(fetch(arrays, FIT_ARRAYS, BlockTables), block)
    target, forced = (
        target_of(fetch(arrays, FIT_ARRAYS, FitRows), node),
        fetch(arrays, FIT_ARRAYS, Required).links[node],
    )
    fits, work = fetch(arrays, FIT_ARRAYS, Fits), fetch(arrays, FIT_ARRAYS, Scratch)
    whole, matters = fits.whole[node, slot], fits.matters[node, slot]
    whole[LENGTH], whole[TAKEN] = 0, 0
    for j in range(matters.size):
        matters[j] = False
    if table.most < 0:
        whole[END] = CLOSED
        return math.inf
    inside, count = _list(table, target, forced, plain, matters.size > 0, work)
    _grow(table, target, inside, count, whole, matters, work)
    start_with_path(table, whole)
    shrink(table, target, forced, whole, work)
    return float(work.small[0, 0, 0])


@kernel
def copy_fit(arrays: Note, node: int, source: int, goal: int) -> float:
    """Copy the fit of one slot to another; its score."""
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    whole, matters = fits.whole[node], fits.matters[node]
    for t in range(whole.shape[1]):
        whole[goal, t] = whole[source, t]
    for j in range(matters.shape[1]):
        matters[goal, j] = matters[source, j]
    fits.scores[node, goal] = fits.scores[node, source]
    return float(fits.scores[node, goal])


@kernel
def _list(table: BlockRegression, target: Target, forced: Bools, plain: bool, asked: bool,
          work: Scratch) -> tuple[int, int]:  # fmt: skip
    """List the columns on offer, with covariances, variances and prices; if asked, then those of one more candidate.

    How many are on offer, and how many there are.
    """
    d, p, covariance, about, line = target.width, work.candidates.size, table.covariance, table.about, work.line
    inside, m = NOTHING, NOTHING
    for turn in range(2 if asked else 1):
        inside = m
        for part in range(p if plain else p + 1):
            if part < p and (part == target.node or work.candidates[part] == (turn == 1)):
                continue
            for column in range(table.first[part], table.first[part + 1]):
                if plain and about[CURVED, column] == 1:
                    break
                owner, variance, newcomer = about[OWNER, column], table.variance[column], part
                if part == p:
                    newcomer = _newcomer(work.candidates, owner, about[PARTNER, column], target.node)
                    if newcomer < 0 or (newcomer < p) != (turn == 1):
                        continue
                if variance < SMALL_COLUMN_BELOW:
                    continue
                required = turn == 0 and forced[owner] and about[BASIC, column] == 1
                work.listed[0, m], work.listed[1, m] = column, newcomer
                line[LEFT, m], line[LEAST, m] = variance, SAME_COLUMN_BELOW * variance
                line[WEIGHT, m] = 0.0 if required else weight_of(table, column, d)
                for a in range(d):
                    work.shared[a, m] = covariance[target.column + a, column]
                m += 1
    for a in range(d):
        for b in range(d):
            work.small[0, a, b] = covariance[target.column + a, target.column + b]
    work.small[0, 0, 0] += target.blur
    return (inside if asked else m), m


@kernel
def _newcomer(candidates: Bools, one: int, other: int, node: int) -> int:
    """Who would have to become a candidate for a product to be on offer: their number if nobody, -1 if two."""
    if node in (one, other) or not (one == other or candidates[one] or candidates[other]):
        return -1
    if candidates[one] and candidates[other]:
        return candidates.size
    return other if candidates[one] else one


@kernel
def _grow(table: BlockRegression, target: Target, inside: int, count: int, whole: Ints, matters: Bools,
          work: Scratch) -> None:  # fmt: skip
    """Grow the path, and note whose columns were taken, and whose would have been."""
    most, d, room = table.most, target.width, (whole.size - PATH) // 2
    size, in_vain, kept = NOTHING, 0, 0
    whole[END] = WELCOME
    while True:
        invert(work.small[0], work.small[1], d)
        best, value = _next(d, inside, count, work.line, work.shared, work.small)
        if best < 0:
            if in_vain == PATIENCE:
                whole[END] = ONLY_IF_IT_PAYS
            break
        if value > 0.0:
            if size - kept >= most or (value >= 1.0 and in_vain == PATIENCE) or size >= room:
                whole[END] = ONLY_IF_IT_PAYS if size - kept < most and size < room else CLOSED
                break
            in_vain = 0 if value < 1.0 else in_vain + 1
        else:
            kept += 1
        column = work.listed[0, best]
        whole[PATH + size] = column
        if matters.size > 0:
            _note(table, work, inside, count, column, value, matters)
        _take(table.covariance[column], d, best, count, size, work)
        size += 1
    whole[LENGTH] = size
    bar = math.inf if whole[END] == WELCOME else 1.0
    for place in range(inside, count if whole[END] != CLOSED else inside):
        if work.line[VALUE, place] < bar:
            matters[work.listed[1, place]] = True


@kernel
def _note(
    table: BlockRegression, work: Scratch, inside: int, count: int, taken: int, bar: float, matters: Bools
) -> None:
    """Note the owners of a column that is taken, and who would have offered a better one."""
    matters[table.about[OWNER, taken]] = True
    if table.about[PARTNER, taken] >= 0:
        matters[table.about[PARTNER, taken]] = True
    value, listed = work.line[VALUE], work.listed
    for place in range(inside, count):
        if value[place] < bar or (value[place] == bar and listed[0, place] < taken):
            matters[listed[1, place]] = True


@kernel
def _next(d: int, inside: int, count: int, line: Floats, by_response: Floats,
          small: Floats) -> tuple[int, float]:  # fmt: skip
    """What every column in the list would leave, times its price; the best of those on offer, -1 if there is none.

    All places at once, so that compilers use vector instructions.
    """
    left, least, weight, value = line[LEFT], line[LEAST], line[WEIGHT], line[VALUE]
    floor = SMALLEST_VARIANCE / max(small[0, 0, 0], SMALLEST_VARIANCE)
    for place in range(count):
        value[place] = 0.0
    for a in range(d):
        for b in range(d):
            one, other, factor = by_response[a], by_response[b], small[1, a, b]
            for place in range(count):
                value[place] += one[place] * factor * other[place]
    for place in range(count):
        explained = value[place]
        share = max(1.0 - explained / left[place], floor) * weight[place]
        value[place] = share if left[place] > least[place] and explained > 0.0 else math.inf
    best, lowest = -1, math.inf
    for place in range(inside):
        if value[place] < lowest:
            best, lowest = place, value[place]
    return best, lowest


@kernel
def _take(row: Floats, d: int, best: int, m: int, size: int, work: Scratch) -> None:
    """Regress the response and everything in the list on the next column, which nobody takes again.

    `row` has the column's covariances.
    """
    left, value, own, load = work.line[LEFT], work.rows[size], work.small[3, 0], work.small[2, 0]
    root = math.sqrt(left[best])
    for a in range(size):
        own[a] = work.rows[a, best]
    for a in range(d):
        load[a] = work.shared[a, best] / root
    for place in range(m):
        value[place] = row[work.listed[0, place]]
    for a in range(size):
        earlier, step = work.rows[a], own[a]
        for place in range(m):
            value[place] -= earlier[place] * step
    for place in range(m):
        value[place] /= root
        left[place] -= value[place] * value[place]
    for a in range(d):
        shared, step = work.shared[a], load[a]
        for place in range(m):
            shared[place] -= value[place] * step
    for a in range(d):
        for b in range(d):
            work.small[0, a, b] -= load[a] * load[b]
    left[best] = -1.0
