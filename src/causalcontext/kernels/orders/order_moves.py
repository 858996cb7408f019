"""A search over orders: a node is tried at all places of an order at once, and put where it is
best.

A problem has one order (shared by all cells) or one for every cell, all with the same beginning up
to the last node that some reader needs. A node may take its parents in a block from the nodes that
come before it in every order the block uses, and from what is given; it may use a reader if what
that needs comes before it. Given the orders, the score is a sum over nodes.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numba
import numpy as np

from causalcontext.kernels.arrays import NOBODY, Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, Note, fetch, kind_of, note_of
from causalcontext.kernels.orders.fit_arrays import FIT_ARRAYS, BlockTables
from causalcontext.kernels.orders.fits import fit_pointer
from causalcontext.kernels.orders.selection import copy_pointer
from causalcontext.kernels.orders.slots import NO_BLOCK, NodeSlots, best_score, usable_readers

ORDER, PLACE = range(2)
"""First axis of `State.orders`: which node stands where, and where every node stands."""
NOW, OTHER = range(2)
"""First axis of `State.value`: the score of every node, and with the moved node on its other side.
"""
SMALLEST_GAIN = 1e-6
"""A move must gain more than this: below it two models count as equal."""


class OrderCalls(NamedTuple):
    """How to fit a node and to copy a fit: `fits.fit` and `selection.copy_fit`, behind pointers."""

    fit: FunctionPointer
    copy_fit: FunctionPointer


ORDER_CALLS = numba.types.Tuple([kind_of(OrderCalls(fit_pointer.kind, copy_pointer.kind))])
"""The type of what a note of `OrderCalls` holds."""


@cache
def order_calls() -> Note:
    """The note of `OrderCalls`."""
    return note_of((OrderCalls(fit_pointer(), copy_pointer()),), ORDER_CALLS)


class OrderProblem(NamedTuple):
    """What is given: how to fit a node, the slots of every node, and what is known."""

    # `order_calls`, `calls`: of `OrderCalls`, and of the `Calls` that these call
    order_calls: Note
    calls: Note
    slots: NodeSlots
    # shape (nodes, candidates): `allowed[child, parent]`; candidates are the nodes, then what is
    # given
    allowed: Bools
    first: Bools  # shape (nodes, nodes): `first[a, b]`: a must come before b


class State(NamedTuple):
    """Where a search stands."""

    # the note of `FitArrays` with twice as many slots as a node has: those of alternatives follow
    arrays: Note
    # shape (nodes, slots): the scores of its fits. Those of readers that a node may not use yet are
    # out of date
    scores: Floats
    matters: Bools  # shape (nodes, slots, candidates): whose candidacy its fits depend on
    candidates: Bools  # shape (candidates,): what its next fit may choose from
    orders: Ints  # shape (2, orders, nodes)
    uses: Bools  # shape (blocks, orders): which orders a block looks at
    value: Floats  # shape (2, nodes)
    changed: Bools  # shape (nodes, slots): slots in which the alternative differs
    touched: Bools  # shape (nodes,): nodes whose fits were ever written
    stop: Ints  # shape (1,): another thread writes 1 to end the search


@kernel
def climb(
    problem: OrderProblem, state: State, stale: Ints, visits: Ints, window: Ints, shared: bool
) -> tuple[float, float]:
    """Fit some nodes, then sweep until nothing moves, at most once for every row of `visits`; last
    gain, total score.

    A 1 in `state.stop` ends it after the next fit; a move that is not done yet is dropped, and
    nodes that were not fitted yet have required causes alone. Fits of the `stale` nodes do not
    belong to the orders yet. `visits`, shape (sweeps, visited), has the nodes to move, one after
    the other, `window` the lowest and the highest place that a node may move to; `shared` says
    whether there is one order for all cells.
    """
    for place in range(stale.size):
        _refit_node(problem, state, stale[place], False)
    gain = 0.0
    lowest = window[0]
    if not shared:
        for needed in problem.slots.needs.ravel():
            if needed >= 0:
                lowest = max(lowest, state.orders[PLACE, 0, needed] + 1)
    for turn in range(visits.shape[0]):
        gain = 0.0
        for order in range(1 if shared else state.orders.shape[1]):
            for i in range(visits.shape[1]):
                node = visits[turn, i]
                if state.stop[0] != 0:
                    break
                if state.orders[PLACE, order, node] >= lowest:
                    gain += _move_node(problem, state, order, node, lowest, window[1])
        if gain <= SMALLEST_GAIN or state.stop[0] != 0:
            break
    total = 0.0
    for node in range(state.value.shape[1]):
        total += state.value[NOW, node]
    return gain, total


@kernel
def _move_node(
    problem: OrderProblem, state: State, order: int, node: int, lowest: int, highest: int
) -> float:
    """Put a node where the total score is highest in one order, between two places; what was
    gained.

    The total with the node at place t is the sum of the others' scores, those before t without the
    node before them, the rest with it, and of the node's own score with everything before t as
    candidates.
    """
    rest = _without(state.orders[ORDER, order], node)
    here = state.orders[PLACE, order, node]
    low = lowest
    high = min(rest.size, highest)
    for t in range(rest.size):  # what must come before and after the node does
        if problem.first[rest[t], node]:
            low = max(low, t + 1)
        if problem.first[node, rest[t]]:
            high = min(high, t)
    if low >= high or not low <= here <= high:
        return 0.0
    for t in range(low, high):
        if state.stop[0] == 0:
            _try_other_side(problem, state, order, node, rest[t])
    own = _try_places(problem, state, order, node, rest, low, high)
    if state.stop[0] != 0:
        return 0.0  # some places may not have been tried
    totals = _totals(state.value, rest, here, own, low, high)
    best = _first_best(totals, low, high)
    gain = totals[best] - totals[here]
    if best == here or gain <= SMALLEST_GAIN:
        return 0.0
    for t in range(rest.size + 1):
        w = node if t == best else rest[t] if t < best else rest[t - 1]
        state.orders[ORDER, order, t] = w
        state.orders[PLACE, order, w] = t
    slots = state.changed.shape[1]
    for t in range(min(here, best), max(here, best)):
        w = rest[t]
        state.value[NOW, w] = state.value[OTHER, w]
        state.touched[w] = True
        for slot in range(slots):
            if state.changed[w, slot]:
                fetch(problem.order_calls, ORDER_CALLS, OrderCalls).copy_fit(
                    state.arrays, w, slots + slot, slot
                )
    _refit_node(problem, state, node, True)
    return float(gain)


@kernel
def _try_other_side(problem: OrderProblem, state: State, order: int, node: int, w: int) -> None:
    """Score another node, in the slots of alternatives, with the moved node and so its readers on
    its other side.
    """
    slots = problem.slots
    place = state.orders[PLACE]
    count = state.changed.shape[1]
    state.value[OTHER, w] = state.value[NOW, w]
    for slot in range(count):
        state.changed[w, slot] = False
    present = place[order, node] < place[order, w]
    now = usable_readers(slots.needs, place[0], w, NOBODY, False)
    then = usable_readers(slots.needs, place[0], w, node, not present)
    some = False
    for q in range(now.size):
        some = some or (now[q] != then[q] and slots.may[w, 1 + q])
    if not (some or problem.allowed[w, node]):
        return
    scores = state.scores[w].copy()
    fit = fetch(problem.order_calls, ORDER_CALLS, OrderCalls).fit
    for slot in range(count):
        q = slots.owner[slot]
        block = slots.block[w, slot]
        if block == NO_BLOCK or not slots.may[w, 1 + q] or (q >= 0 and not then[q]):
            continue
        if state.stop[0] != 0:
            break
        if q < 0 or now[q]:
            matters = problem.allowed[w, node] and state.matters[w, slot, node]
            if not (matters and _decides(state.uses[block], place, order, node, w)):
                continue
        _gather(problem.allowed[w], state.uses[block], place, w, state.candidates)
        state.candidates[node] = problem.allowed[w, node] and not present
        scores[slot] = fit(state.arrays, problem.calls, block, w, count + slot)
        state.changed[w, slot] = True
        some = True
    if some:
        state.value[OTHER, w] = best_score(slots, w, scores, then)


@kernel
def _try_places(
    problem: OrderProblem, state: State, order: int, node: int, rest: Ints, low: int, high: int
) -> Floats:
    """The node's own score at every place from low to high; uses the node's slots of
    alternatives.
    """
    slots = problem.slots
    place = state.orders[PLACE]
    count = state.changed.shape[1]
    own = np.empty(rest.size + 1)
    ready = np.zeros(count, dtype=np.bool_)
    scores = np.full(count, -math.inf)
    there = place[order].copy()
    fit = fetch(problem.order_calls, ORDER_CALLS, OrderCalls).fit
    for t in range(rest.size):
        there[rest[t]] = t
    for t in range(low, high + 1):
        if state.stop[0] != 0:
            break
        there[node] = t
        usable = usable_readers(slots.needs, there, node, NOBODY, False)
        for slot in range(count):
            q = slots.owner[slot]
            block = slots.block[node, slot]
            if block == NO_BLOCK or not slots.may[node, 1 + q] or (q >= 0 and not usable[q]):
                continue
            if state.stop[0] != 0:
                break
            if not state.uses[block, order]:
                scores[slot] = state.scores[node, slot]
                continue
            if ready[slot]:
                u = rest[t - 1]
                if not problem.allowed[node, u] or not _decides(
                    state.uses[block], place, order, u, node
                ):
                    continue
                if not state.matters[node, count + slot, u]:
                    continue
            _gather_first(
                problem.allowed[node], state.uses[block], place, order, node, t, state.candidates
            )
            scores[slot] = fit(state.arrays, problem.calls, block, node, count + slot)
            ready[slot] = True
        own[t] = best_score(slots, node, scores, usable)
    return own


@kernel
def _gather_first(
    allowed: Bools, uses: Bools, place: Ints, order: int, node: int, t: int, candidates: Bools
) -> None:
    """The candidates of a node that stands after the first t others in one order, which is in
    use.
    """
    for u in range(candidates.size):
        candidates[u] = allowed[u]
    for o in range(place.shape[0]):
        if o == order:
            _keep_before(place[o], t + (1 if place[o, node] < t else 0), candidates)
        elif uses[o]:
            _keep_before(place[o], place[o, node], candidates)
    candidates[node] = False


@kernel
def _totals(value: Floats, rest: Ints, here: int, own: Floats, low: int, high: int) -> Floats:
    """The part of the total score that depends on the place, for every place from low to high."""
    totals = np.full(rest.size + 1, -math.inf)
    late = 0.0
    early = 0.0
    for t in range(low, high):
        late += value[NOW if t >= here else OTHER, rest[t]]
    for t in range(low, high + 1):
        totals[t] = early + own[t] + late
        if t < high:
            late -= value[NOW if t >= here else OTHER, rest[t]]
            early += value[OTHER if t >= here else NOW, rest[t]]
    return totals


@kernel
def _without(order: Ints, node: int) -> Ints:
    rest = np.empty(order.size - 1, dtype=np.int64)
    t = 0
    for w in order:
        if w != node:
            rest[t] = w
            t += 1
    return rest


@kernel
def _first_best(totals: Floats, low: int, high: int) -> int:
    """The first place whose total is the highest but for rounding."""
    highest = totals[low]
    for t in range(low, high + 1):
        highest = max(highest, totals[t])
    for t in range(low, high + 1):
        if totals[t] >= highest - SMALLEST_GAIN:
            return t
    return low


@kernel
def _refit_node(problem: OrderProblem, state: State, node: int, whole: bool) -> None:
    """Fit a node in the slots that it may use, for the current orders.

    Unless that must be done as a `whole`, what is left when the climb is to stop has required
    causes alone, and no changes with contexts where it may do without.
    """
    slots = problem.slots
    fit = fetch(problem.order_calls, ORDER_CALLS, OrderCalls).fit
    usable = usable_readers(slots.needs, state.orders[PLACE, 0], node, NOBODY, False)
    state.touched[node] = True
    for slot in range(slots.block.shape[1]):
        q = slots.owner[slot]
        block = slots.block[node, slot]
        if block != NO_BLOCK and slots.may[node, 1 + q] and (q < 0 or usable[q]):
            late = not whole and state.stop[0] != 0
            if late and q >= 0 and slots.may[node, 0]:
                state.scores[node, slot] = -math.inf
                continue
            _gather(
                problem.allowed[node],
                state.uses[block],
                state.orders[PLACE],
                node,
                state.candidates,
            )
            if late:
                required = fetch(state.arrays, FIT_ARRAYS, BlockTables).required[node]
                for u in range(state.candidates.size):
                    state.candidates[u] &= required[u]
            fit(state.arrays, problem.calls, block, node, slot)
    state.value[NOW, node] = best_score(slots, node, state.scores[node], usable)


@kernel
def _decides(uses: Bools, place: Ints, order: int, candidate: int, node: int) -> bool:
    """Whether this order decides if the candidate comes before the node, all other orders in use
    having it so.
    """
    if not uses[order]:
        return False
    late = 0
    for o in range(place.shape[0]):
        if o != order and uses[o] and place[o, candidate] > place[o, node]:
            late += 1
    return late == 0


@kernel
def _gather(allowed: Bools, uses: Bools, place: Ints, node: int, candidates: Bools) -> None:
    """The candidates of a node in a block: allowed, and before it in every order that the block
    uses.
    """
    for u in range(candidates.size):
        candidates[u] = allowed[u]
    for o in range(place.shape[0]):
        if uses[o]:
            _keep_before(place[o], place[o, node], candidates)


@kernel
def _keep_before(place: Ints, end: int, candidates: Bools) -> None:
    """Keep those nodes among the candidates that stand before some place of an order; what is given
    stays.
    """
    for u in range(place.size):
        candidates[u] &= place[u] < end
