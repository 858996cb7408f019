"""Which columns a node takes from its candidates: grow and shrink on covariances, with a memory.

Every variable offers columns: itself, and perhaps curves of itself. Growing is a pivoted Cholesky factorisation: the
column that raises the penalised likelihood most comes next, as long as the score rises, and with patience a little
longer: two causes may hide each other. Then columns that do not pay are dropped. The response is one column for a
number, and several (the indicators of all levels but one) for a category; the likelihood is the Gaussian one, Wilks'
lambda. The path is kept, so that two cheap questions replace most regressions of a search over orders: would a further
candidate have been taken anywhere along the path, and was a candidate that leaves ever taken?

Gains are compared without logarithms: a column that leaves the share 1 - q of the response's (generalised) variance
pays if (1 - q) exp(2 price / rows) < 1.
"""

from __future__ import annotations

import math
from functools import cache

from causalcontext.kernels.arrays import NOTHING
from causalcontext.kernels.calls import Call, pointer_to
from causalcontext.kernels.compiling import njit
from causalcontext.kernels.handles import Note, fetch
from causalcontext.kernels.orders.node_data import BENCH, DESIGN, NO_BENCH, regression_of, target_of
from causalcontext.kernels.orders.regressions import (
    BASIC,
    CLOSED,
    COLLINEAR_BELOW,
    CONSTANT_BELOW,
    CURVED,
    END,
    LEAST,
    LEFT,
    LENGTH,
    NO_VARIANCE,
    ONLY_IF_IT_PAYS,
    OWNER,
    PARTNER,
    PATH,
    SMALLEST_VARIANCE,
    TAKEN,
    UNKNOWN,
    VALUE,
    WEIGHT,
    WELCOME,
    Bools,
    Fits,
    Floats,
    Regression,
    Scratch,
    Target,
    invert,
    weight_of,
)
from causalcontext.kernels.orders.shrinking import shrink, start_with_path

PATIENCE = 1
"""How many columns in a row may be taken that do not pay by themselves, in the hope of one that pays then."""


@cache
def select_call() -> Call:
    """`select` behind a pointer."""
    return pointer_to(select, NO_BENCH, 0, 0, False, 0)


@cache
def change_call() -> Call:
    """`would_change` behind a pointer."""
    return pointer_to(would_change, NO_BENCH, 0, 0, 0, False, 0)


@cache
def path_call() -> Call:
    """`on_path` behind a pointer."""
    return pointer_to(on_path, NO_BENCH, 0, 0, 0, 0)


@cache
def copy_call() -> Call:
    """`copy_fit` behind a pointer."""
    return pointer_to(copy_fit, NO_BENCH, 0, 0, 0)


@njit(cache=True, nogil=True, error_model="numpy")
def select(bench: Note, block: int, node: int, plain: bool, slot: int) -> float:
    """Choose columns of `work.candidates`, only plain ones if asked; what is left of the variance of a number.

    `bench` is the note of a `Bench`. Afterwards `fits.whole` has the chosen columns, `work.small[4]` their slopes and
    `work.small[0]` the residual covariance of the response. Required parents always stay.
    """
    here = fetch(bench, BENCH)
    table, target = regression_of(here.tables, block), target_of(here.rows, node)
    fits, work, forced = here.fits, here.work, here.forced[node]
    whole = fits.whole[node, slot]
    whole[LENGTH], whole[TAKEN] = 0, 0
    if table.most < 0:
        whole[END] = CLOSED
        return math.inf
    count = _list(table, target, forced, plain, work)
    _grow(table, target, count, fits, slot, work)
    start_with_path(table, whole)
    shrink(table, target, forced, whole, work)
    return float(work.small[0, 0, 0])


@njit(cache=True, nogil=True, error_model="numpy")
def would_change(bench: Note, block: int, node: int, newcomer: int, plain: bool, slot: int) -> float:
    """1 if a further candidate beside `work.candidates` would have been taken somewhere along the path, else 0."""
    here = fetch(bench, BENCH)
    table, target = regression_of(here.tables, block), target_of(here.rows, node)
    fits, candidates = here.fits, here.work.candidates
    if fits.whole[node, slot, END] == UNKNOWN:
        return 1.0
    if table.most < 0:
        return 0.0
    p, about = candidates.size, table.about
    for side in range(1 if plain else 2):
        part = newcomer if side == 0 else p
        for column in range(table.first[part], table.first[part + 1]):
            if plain and about[CURVED, column] == 1:
                break
            one, other = about[OWNER, column], about[PARTNER, column]
            mine = side == 0 or (one == newcomer and (other == newcomer or candidates[other]))
            if not (mine or (other == newcomer and candidates[one])) or table.variance[column] < CONSTANT_BELOW:
                continue
            if target.width == 1:
                joins = _would_join_number(table, target, column, fits, slot, here.work)
            else:
                joins = _would_join_classes(table, target, column, fits, slot, here.work)
            if joins:
                return 1.0
    return 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def on_path(bench: Note, block: int, node: int, candidate: int, slot: int) -> float:
    """1 if a column of a candidate was taken while growing, else 0."""
    here = fetch(bench, BENCH)
    whole, about = here.fits.whole[node, slot], here.tables.about[here.tables.block[block, DESIGN]]
    found = whole[END] == UNKNOWN
    for t in range(whole[LENGTH]):
        column = whole[PATH + t]
        found = found or about[OWNER, column] == candidate or about[PARTNER, column] == candidate
    return 1.0 if found else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def copy_fit(bench: Note, node: int, source: int, goal: int) -> float:
    """Copy the fit of one slot to another; its score."""
    fits = fetch(bench, BENCH).fits
    whole = fits.whole[node]
    for t in range(whole.shape[1]):
        whole[goal, t] = whole[source, t]
    fits.scores[node, goal] = fits.scores[node, source]
    for t in range(whole[source, LENGTH]):
        fits.bars[node, goal, t] = fits.bars[node, source, t]
        for a in range(t + 1):
            fits.factor[node, goal, t, a] = fits.factor[node, source, t, a]
        for a in range(fits.load.shape[3]):
            fits.load[node, goal, t, a] = fits.load[node, source, t, a]
    return float(fits.scores[node, goal])


@njit(cache=True, nogil=True, error_model="numpy")
def _list(table: Regression, target: Target, forced: Bools, plain: bool, work: Scratch) -> int:
    """List the columns on offer, with covariances, variances and prices; how many there are."""
    d, p, m = target.width, work.candidates.size, NOTHING
    covariance, about, first, candidates, line = table.covariance, table.about, table.first, work.candidates, work.line
    for part in range(p if plain else p + 1):
        if part < p and not candidates[part]:
            continue
        for column in range(first[part], first[part + 1]):
            if plain and about[CURVED, column] == 1:
                break
            owner, variance = about[OWNER, column], table.variance[column]
            both = part < p or (candidates[owner] and candidates[about[PARTNER, column]])
            if not both or variance < CONSTANT_BELOW:
                continue
            required = forced[owner] and about[BASIC, column] == 1
            work.listed[m] = column
            line[LEFT, m], line[LEAST, m] = variance, COLLINEAR_BELOW * variance
            line[WEIGHT, m] = 0.0 if required else weight_of(table, column, d)
            for a in range(d):
                work.shared[a, m] = covariance[target.column + a, column]
            m += 1
    for a in range(d):
        for b in range(d):
            work.small[0, a, b] = covariance[target.column + a, target.column + b]
    work.small[0, 0, 0] += target.blur
    return int(m)


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(table: Regression, target: Target, m: int, fits: Fits, slot: int, work: Scratch) -> None:
    """Grow the path."""
    whole, bars = fits.whole[target.node, slot], fits.bars[target.node, slot]
    most, d = table.most, target.width
    size, in_vain, kept = NOTHING, 0, 0
    whole[END] = WELCOME
    while True:
        invert(work.small[0], work.small[1], d)
        best, value = _next(d, m, work.line, work.shared, work.small)
        if best < 0:
            if in_vain == PATIENCE:
                whole[END] = ONLY_IF_IT_PAYS
            break
        if value > 0.0:
            if size - kept >= most or (value >= 1.0 and in_vain == PATIENCE) or size >= fits.factor.shape[2]:
                whole[END] = ONLY_IF_IT_PAYS if size - kept < most and size < fits.factor.shape[2] else CLOSED
                break
            in_vain = 0 if value < 1.0 else in_vain + 1
        else:
            kept += 1
        bars[size] = value
        whole[PATH + size] = work.listed[best]
        factor, load = fits.factor[target.node, slot, size], fits.load[target.node, slot, size]
        _take(table.covariance[work.listed[best]], d, best, m, size, factor, load, work)
        size += 1
    whole[LENGTH] = size


@njit(cache=True, nogil=True, error_model="numpy")
def _next(d: int, m: int, line: Floats, by_response: Floats, small: Floats) -> tuple[int, float]:
    """The place of the next column in the list and what it leaves, times its price; -1 if there is none.

    All places at once, so that compilers use vector instructions.
    """
    left, least, weight, value = line[LEFT], line[LEAST], line[WEIGHT], line[VALUE]
    floor = SMALLEST_VARIANCE / max(small[0, 0, 0], SMALLEST_VARIANCE)
    for place in range(m):
        value[place] = 0.0
    for a in range(d):
        for b in range(d):
            one, other, factor = by_response[a], by_response[b], small[1, a, b]
            for place in range(m):
                value[place] += one[place] * factor * other[place]
    for place in range(m):
        explained = value[place]
        share = max(1.0 - explained / left[place], floor) * weight[place]
        value[place] = share if left[place] > least[place] and explained > 0.0 else math.inf
    best, lowest = -1, math.inf
    for place in range(m):
        if value[place] < lowest:
            best, lowest = place, value[place]
    return best, lowest


@njit(cache=True, nogil=True, error_model="numpy")
def _take(row: Floats, d: int, best: int, m: int, size: int, own: Floats, load: Floats, work: Scratch) -> None:
    """Regress the response and everything in the list on the next column, which nobody takes again.

    `row` has the column's covariances; `own` and `load` are written, its lines of the factor.
    """
    left, value = work.line[LEFT], work.rows[size]
    root = math.sqrt(left[best])
    for a in range(size):
        own[a] = work.rows[a, best]
    own[size] = root
    for a in range(d):
        load[a] = work.shared[a, best] / root
    for place in range(m):
        value[place] = row[work.listed[place]]
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


@njit(cache=True, nogil=True, error_model="numpy")
def _would_join_number(table: Regression, target: Target, column: int, fits: Fits, slot: int, work: Scratch) -> bool:
    """Whether a further column would have been taken somewhere along the path; the response is one column."""
    row = table.covariance[column]
    whole, bars = fits.whole[target.node, slot], fits.bars[target.node, slot]
    factor, loads = fits.factor[target.node, slot], fits.load[target.node, slot]
    steps, least, length = work.small[3, 0], COLLINEAR_BELOW * row[column], whole[LENGTH]
    price, variance = table.weight[column], row[column]
    shared, left = row[target.column], table.covariance[target.column, target.column]
    for t in range(length + 1):
        if variance <= least:
            return False
        explained = shared * (1.0 / left if left > NO_VARIANCE else 0.0) * shared
        value = max(1.0 - explained / variance, SMALLEST_VARIANCE / max(left, SMALLEST_VARIANCE)) * price
        if t == length:
            return bool(explained > 0.0 and (whole[END] == WELCOME or (whole[END] == ONLY_IF_IT_PAYS and value < 1.0)))
        rival = whole[PATH + t]
        if explained > 0.0 and (value < bars[t] or (value == bars[t] and column < rival)):
            return True
        step = row[rival]
        for a in range(t):
            step -= steps[a] * factor[t, a]
        step /= factor[t, t]
        steps[t] = step
        variance -= step * step
        shared -= step * loads[t, 0]
        left -= loads[t, 0] * loads[t, 0]
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _would_join_classes(table: Regression, target: Target, column: int, fits: Fits, slot: int, work: Scratch) -> bool:
    """The same for a response of several columns."""
    covariance, d, row = table.covariance, target.width, table.covariance[column]
    own = row[column]
    whole, bars = fits.whole[target.node, slot], fits.bars[target.node, slot]
    factor, loads = fits.factor[target.node, slot], fits.load[target.node, slot]
    left, inverse, shared, steps = work.small[0], work.small[1], work.small[2, 0], work.small[3, 0]
    price, variance, length = weight_of(table, column, d), own, whole[LENGTH]
    for a in range(d):
        shared[a] = row[target.column + a]
        for b in range(d):
            left[a, b] = covariance[target.column + a, target.column + b]
    for t in range(length + 1):
        if variance <= COLLINEAR_BELOW * own:
            return False
        invert(left, inverse, d)
        explained = 0.0
        for a in range(d):
            for b in range(d):
                explained += shared[a] * inverse[a, b] * shared[b]
        value = max(1.0 - explained / variance, SMALLEST_VARIANCE / max(left[0, 0], SMALLEST_VARIANCE)) * price
        if t == length:
            return explained > 0.0 and (whole[END] == WELCOME or (whole[END] == ONLY_IF_IT_PAYS and value < 1.0))
        rival = whole[PATH + t]
        if explained > 0.0 and (value < bars[t] or (value == bars[t] and column < rival)):
            return True
        step = row[rival]
        for a in range(t):
            step -= steps[a] * factor[t, a]
        step /= factor[t, t]
        steps[t] = step
        variance -= step * step
        for a in range(d):
            shared[a] -= step * loads[t, a]
            for b in range(d):
                left[a, b] -= loads[t, a] * loads[t, b]
    return False
