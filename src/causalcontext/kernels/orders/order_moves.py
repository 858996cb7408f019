"""A search over orders: a node is tried at all places of an order at once, and put where it is best.

A problem has one order (shared by all contexts) or one for every context, all with the same beginning up to the
context variable R, whose number is p. A node may take its parents in a block from the nodes that come before it in
every order the block uses. Given the orders, the score is a sum over nodes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import NOTHING, Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.function_pointers import FunctionPointer
from causalcontext.kernels.handles import Note
from causalcontext.kernels.orders.fit_arrays import Calls
from causalcontext.kernels.orders.partitions import ContextPartitions, best_score, pooled_slot

ORDER, PLACE = range(2)
"""First axis of `State.orders`: which node stands where, and where every node stands."""
NOW, OTHER = range(2)
"""First axis of `State.value`: the score of every node, and with the candidacy of the moved node reversed."""
SMALLEST_GAIN = 1e-6
"""A move must gain more than this: below it two models count as equal."""


class OrderProblem(NamedTuple):
    """What is given: how to fit a node, the slots of every node, and what is known.

    Attributes
    ----------
    fit, copy_fit : pointers
        `fits.fit` and `selection.copy_fit`.
    calls : Calls
        What they call.
    family : ContextPartitions
    allowed : array of bool, shape (p + 1, p)
        `allowed[child, parent]`; the last child is the context.
    first : array of bool, shape (p + 1, p + 1)
        `first[a, b]`: a must come before b.
    """

    fit: FunctionPointer
    copy_fit: FunctionPointer
    calls: Calls
    family: ContextPartitions
    allowed: Bools
    first: Bools


class State(NamedTuple):
    """Where a search stands.

    Attributes
    ----------
    arrays : Note
        The note of `FitArrays` with twice as many slots as the family has: those of alternatives follow.
    scores : array, shape (nodes, slots)
        The scores of its fits.
    matters : array of bool, shape (nodes, slots, p)
        Whose candidacy its fits depend on.
    candidates : array of bool, shape (p,)
        What its next fit may choose from.
    orders : array of int, shape (2, K, p + 1)
    uses : array of bool, shape (blocks, K)
        Which orders a block looks at.
    value : array, shape (2, p)
    changed : array of bool, shape (p, slots)
        Slots in which the alternative differs.
    touched : array of bool, shape (p + 1,)
        Nodes whose fits were ever written.
    stop : array of int, shape (1,)
        Somebody else writes 1 where the search is to end.
    """

    arrays: Note
    scores: Floats
    matters: Bools
    candidates: Bools
    orders: Ints
    uses: Bools
    value: Floats
    changed: Bools
    touched: Bools
    stop: Ints


@kernel
def climb(problem: OrderProblem, state: State, stale: Ints, visits: Ints, window: Ints,
          shared: bool) -> tuple[float, float]:  # fmt: skip
    """Fit some nodes, then sweep until nothing moves, at most once for every row of `visits`; last gain, total score.

    Whoever writes 1 to `state.stop` ends it after the next move.

    Parameters
    ----------
    stale : array of int
        Nodes whose fits do not belong to the orders yet.
    visits : array of int, shape (sweeps, visited)
        The nodes to move, one after the other; p is the context.
    window : array of int, shape (2,)
        The lowest and the highest place that a node may move to.
    shared : bool
        Whether there is one order for all contexts.
    """
    p, contexts = state.value.shape[1], problem.family.contexts
    for place in range(stale.size):
        _refit_node(problem, state, stale[place])
    gain = 0.0
    for turn in range(visits.shape[0]):
        gain = 0.0
        for order in range(1 if shared else contexts):
            lowest = window[0] if shared else max(window[0], state.orders[PLACE, 0, p] + 1)
            for i in range(visits.shape[1]):
                node = visits[turn, i]
                if state.stop[0] != 0:
                    break
                if node == p:
                    if shared and contexts > 1:
                        gain += _move_context(problem, state)
                elif shared or state.orders[PLACE, order, node] >= lowest:
                    gain += _move_node(problem, state, order, node, lowest, window[1])
        if gain <= SMALLEST_GAIN or state.stop[0] != 0:
            break
    total = _context_score(problem, state, _before_context(state.orders))
    for node in range(p):
        total += state.value[NOW, node]
    return gain, total


@kernel
def _move_node(problem: OrderProblem, state: State, order: int, node: int, lowest: int, highest: int) -> float:
    """Put a node where the total score is highest in one order, between two places; what was gained.

    The total with the node at place t is the sum of the others' scores, those before t without the node as a
    candidate, the rest with it, and of the node's own score with everything before t as candidates.
    """
    rest = _without(state.orders[ORDER, order], node)
    here = state.orders[PLACE, order, node]
    low, high = _bounds(problem.first, rest, node, lowest)
    high = min(high, highest)
    if low >= high or not low <= here <= high:
        return 0.0
    for t in range(low, high):
        _try_without(problem, state, order, node, rest[t])
    with_context, without_context = _try_context(problem, state, node, rest, low, high)
    own = _try_places(problem, state, order, node, rest, low, high)
    totals = _totals(state.value, rest, here, own, with_context, without_context, low, high)
    best = _first_best(totals, low, high)
    gain = totals[best] - totals[here]
    if best == here or gain <= SMALLEST_GAIN:
        return 0.0
    _insert(state.orders, order, rest, node, best)
    slots = state.changed.shape[1]
    for t in range(min(here, best), max(here, best)):
        w = rest[t]
        if w == state.value.shape[1]:
            continue
        state.value[NOW, w] = state.value[OTHER, w]
        state.touched[w] = True
        for slot in range(slots):
            if state.changed[w, slot]:
                problem.copy_fit(state.arrays, w, slots + slot, slot)
    _refit_node(problem, state, node)
    return float(gain)


@kernel
def _move_context(problem: OrderProblem, state: State) -> float:
    """Put the context variable where the total score is highest in the shared order; what was gained."""
    p, family = state.value.shape[1], problem.family
    rest = _without(state.orders[ORDER, 0], p)
    here = state.orders[PLACE, 0, p]
    low, high = _bounds(problem.first, rest, p, NOTHING)
    totals, before, scores = np.zeros(p + 1), np.zeros(p, dtype=np.bool_), np.zeros((2, p))
    for t in range(low):
        before[rest[t]] = True
    for place in range(p):
        node = rest[place]
        if low <= place < min(high, here):
            _fit_waiting(problem, state, node)
        own = state.scores[node]
        for late in range(2):
            after = late == 1 and place >= low
            scores[late, place] = best_score(family, node, own, after)
        for t in range(low, high + 1):
            totals[t] += scores[0 if place < t else 1, place]
    for t in range(low, high + 1):
        totals[t] += _context_score(problem, state, before)
        if t < p:
            before[rest[t]] = True
    best = _first_best(totals, low, high)
    gain = totals[best] - totals[here]
    if best == here or gain <= SMALLEST_GAIN:
        return 0.0
    _insert(state.orders, NOTHING, rest, p, best)
    for place in range(p):
        state.value[NOW, rest[place]] = scores[1 if place >= best else 0, place]
    return float(gain)


@kernel
def _fit_waiting(problem: OrderProblem, state: State, node: int) -> None:
    """Fit the slots that were not kept up to date because the node is before the context."""
    state.touched[node] = True
    pooled = pooled_slot(problem.family.contexts)
    for slot in range(state.changed.shape[1]):
        if slot != pooled:
            block = problem.family.block[node, slot]
            _gather(problem.allowed[node], state.uses[block], state.orders[PLACE], node, state.candidates)
            problem.fit(state.arrays, problem.calls, block, node, slot)


@kernel
def _try_without(problem: OrderProblem, state: State, order: int, node: int, w: int) -> None:
    """Score another node with the moved node's candidacy reversed; its fits go to the slots of alternatives."""
    p, slots = state.value.shape[1], state.changed.shape[1]
    if w == p:
        return
    state.value[OTHER, w] = state.value[NOW, w]
    for slot in range(slots):
        state.changed[w, slot] = False
    if not problem.allowed[w, node]:
        return
    family, place = problem.family, state.orders[PLACE]
    after, present = place[order, w] > place[order, p] or family.contexts == 1, place[order, node] < place[order, w]
    some, scores = False, state.scores[w].copy()
    for slot in range(slots):
        block = family.block[w, slot]
        in_use = after or slot == pooled_slot(family.contexts)
        if not (in_use and _decides(state.uses[block], place, order, node, w) and state.matters[w, slot, node]):
            continue
        _gather(problem.allowed[w], state.uses[block], place, w, state.candidates)
        state.candidates[node] = not present
        scores[slot] = problem.fit(state.arrays, problem.calls, block, w, slots + slot)
        state.changed[w, slot] = True
        some = True
    if some:
        state.value[OTHER, w] = best_score(family, w, scores, after)


@kernel
def _try_context(
    problem: OrderProblem, state: State, node: int, rest: Ints, low: int, high: int
) -> tuple[float, float]:
    """The context's score with and without the node before it; zeros if it is out of reach."""
    p, inside = state.value.shape[1], False
    for t in range(low, high):
        inside = inside or rest[t] == p
    if not inside or problem.family.contexts < 2:
        return 0.0, 0.0
    before = _before_context(state.orders)
    before[node] = True
    with_node = _context_score(problem, state, before)
    before[node] = False
    return with_node, _context_score(problem, state, before)


@kernel
def _try_places(problem: OrderProblem, state: State, order: int, node: int, rest: Ints, low: int, high: int) -> Floats:
    """The node's own score at every place from low to high; uses the node's slots of alternatives."""
    p, slots, family = state.value.shape[1], state.changed.shape[1], problem.family
    own, ready = np.empty(rest.size + 1), np.zeros(slots, dtype=np.bool_)
    place, scores = state.orders[PLACE], np.full(slots, -math.inf)
    after = family.contexts == 1
    for t in range(low):
        after = after or rest[t] == p
    for t in range(low, high + 1):
        if t > low:
            after = after or rest[t - 1] == p
        for slot in range(slots):
            if not (after or slot == pooled_slot(family.contexts)):
                continue
            block = family.block[node, slot]
            if not state.uses[block, order]:
                scores[slot] = state.scores[node, slot]
                continue
            if ready[slot]:
                u = rest[t - 1]
                if u == p or not problem.allowed[node, u] or not _decides(state.uses[block], place, order, u, node):
                    continue
                if not state.matters[node, slots + slot, u]:
                    continue
            _gather_first(problem.allowed[node], state.uses[block], place, order, node, t, state.candidates)
            scores[slot] = problem.fit(state.arrays, problem.calls, block, node, slots + slot)
            ready[slot] = True
        own[t] = best_score(family, node, scores, after)
    return own


@kernel
def _gather_first(allowed: Bools, uses: Bools, place: Ints, order: int, node: int, t: int, candidates: Bools) -> None:
    """The candidates of a node that stands after the first t others in one order, which is in use."""
    for u in range(candidates.size):
        candidates[u] = allowed[u]
    for o in range(place.shape[0]):
        if o == order:
            _keep_before(place[o], t + (1 if place[o, node] < t else 0), candidates)
        elif uses[o]:
            _keep_before(place[o], place[o, node], candidates)
    candidates[node] = False


@kernel
def _totals(value: Floats, rest: Ints, here: int, own: Floats, with_context: float, without_context: float, low: int,
            high: int) -> Floats:  # fmt: skip
    """The part of the total score that depends on the place, for every place from low to high."""
    p = value.shape[1]
    totals, late, early = np.full(rest.size + 1, -math.inf), 0.0, 0.0
    for t in range(low, high):
        late += with_context if rest[t] == p else value[NOW if t >= here else OTHER, rest[t]]
    for t in range(low, high + 1):
        totals[t] = early + own[t] + late
        if t < high:
            late -= with_context if rest[t] == p else value[NOW if t >= here else OTHER, rest[t]]
            early += without_context if rest[t] == p else value[OTHER if t >= here else NOW, rest[t]]
    return totals


@kernel
def _insert(orders: Ints, order: int, rest: Ints, node: int, place: int) -> None:
    """Write the order with a node at a place."""
    for t in range(rest.size + 1):
        w = node if t == place else rest[t] if t < place else rest[t - 1]
        orders[ORDER, order, t] = w
        orders[PLACE, order, w] = t


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
def _bounds(first: Bools, rest: Ints, node: int, lowest: int) -> tuple[int, int]:
    """The first and last place that keep what must come before and after the node."""
    low, high = lowest, rest.size
    for t in range(rest.size):
        if first[rest[t], node]:
            low = max(low, t + 1)
        if first[node, rest[t]]:
            high = min(high, t)
    return low, high


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
def _refit_node(problem: OrderProblem, state: State, node: int) -> None:
    """Fit a node in the slots that matter, for the current orders."""
    family = problem.family
    after = _is_after(state.orders, family.contexts, node)
    state.touched[node] = True
    for slot in range(family.block.shape[1]):
        if after or slot == pooled_slot(family.contexts):
            block = family.block[node, slot]
            _gather(problem.allowed[node], state.uses[block], state.orders[PLACE], node, state.candidates)
            problem.fit(state.arrays, problem.calls, block, node, slot)
    state.value[NOW, node] = best_score(family, node, state.scores[node], after)


@kernel
def _context_score(problem: OrderProblem, state: State, before: Bools) -> float:
    """The score of the context with the best parents among the nodes `before` it."""
    p, contexts = before.size, problem.family.contexts
    if contexts < 2:
        return 0.0
    state.touched[p] = True
    for j in range(p):
        state.candidates[j] = before[j] and problem.allowed[p, j]
    block = problem.family.block[0, pooled_slot(contexts)]
    return float(problem.fit(state.arrays, problem.calls, block, p, np.int64(0)))


@kernel
def _is_after(orders: Ints, contexts: int, node: int) -> bool:
    """Whether a node comes after the context, or there is none."""
    return contexts == 1 or orders[PLACE, 0, node] > orders[PLACE, 0, orders.shape[2] - 1]


@kernel
def _decides(uses: Bools, place: Ints, order: int, candidate: int, node: int) -> bool:
    """Whether this order decides if the candidate comes before the node, all other orders in use having it so."""
    if not uses[order]:
        return False
    late = 0
    for o in range(place.shape[0]):
        if o != order and uses[o] and place[o, candidate] > place[o, node]:
            late += 1
    return late == 0


@kernel
def _gather(allowed: Bools, uses: Bools, place: Ints, node: int, candidates: Bools) -> None:
    """The candidates of a node in a block: allowed, and before it in every order that the block uses."""
    for u in range(candidates.size):
        candidates[u] = allowed[u]
    for o in range(place.shape[0]):
        if uses[o]:
            _keep_before(place[o], place[o, node], candidates)


@kernel
def _keep_before(place: Ints, end: int, candidates: Bools) -> None:
    """Keep those candidates that stand before some place of an order."""
    for u in range(candidates.size):
        candidates[u] &= place[u] < end


@kernel
def _before_context(orders: Ints) -> Bools:
    """The nodes before the context."""
    p = orders.shape[2] - 1
    before = np.zeros(p, dtype=np.bool_)
    for t in range(orders[PLACE, 0, p]):
        before[orders[ORDER, 0, t]] = True
    return before
