"""Insertion moves on orders: a node is tried at all places of an order at once, and put where it is best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.compiling import njit
from causalcontext.kernels.orders.context_parents import context_score
from causalcontext.kernels.orders.order_state import (
    Problem,
    State,
    before_context,
    decides,
    fit_waiting_slots,
    gather,
    gather_first,
    needed,
    refit,
    refit_node,
)
from causalcontext.kernels.orders.parent_sets import copy_fit, fit, on_path, would_change
from causalcontext.kernels.orders.partitions import best_score

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALLEST_GAIN = 1e-6
"""A move must gain more than this: below it two models count as equal."""


@njit(cache=True, nogil=True)
def move_node(problem: Problem, state: State, order: int, node: int, lowest: int) -> float:
    """Put a node where the total score is highest in one order, not before place `lowest`; what was gained.

    The total with the node at place t is the sum of the others' scores, those before t without the node as a
    candidate, the rest with it, and of the node's own score with everything before t as candidates.
    """
    p = problem.allowed.shape[0]
    rest = _without(state.orders[order], node)
    here = state.place[order, node]
    low, high = _bounds(problem, rest, node, lowest)
    if low >= high:
        return 0.0
    _try_others(problem, state, order, node, rest, low, high)
    with_context, without_context = _try_context(problem, state, order, node, rest, low, high)
    own = _try_places(problem, state, order, node, rest, low, high)
    totals = _totals(state, rest, here, own, with_context, without_context, p, low, high)
    best = _first_best(totals, low, high)
    gain = totals[best] - totals[here]
    if best == here or gain <= SMALLEST_GAIN:
        return 0.0
    _apply(problem, state, order, node, rest, here, best)
    return float(gain)


@njit(cache=True, nogil=True)
def move_context(problem: Problem, state: State) -> float:
    """Put the context variable where the total score is highest in the shared order; what was gained."""
    p = problem.allowed.shape[0]
    rest = _without(state.orders[0], p)
    here = state.place[0, p]
    low, high = _bounds(problem, rest, p, 0)
    totals = np.zeros(p + 1)
    before = np.zeros(p, dtype=np.bool_)
    for t in range(low):
        before[rest[t]] = True
    for place in range(p):
        node = rest[place]
        if place >= low and place < high and place < here:
            fit_waiting_slots(problem, state, node)
        early = best_score(problem.family, node, state.fits.score[node], False)
        late = early if place < low else best_score(problem.family, node, state.fits.score[node], True)
        for t in range(low, high + 1):
            totals[t] += early if place < t else late
    for t in range(low, high + 1):
        totals[t] += context_score(problem.context, before, state.memory)
        if t < p:
            before[rest[t]] = True
    best = _first_best(totals, low, high)
    gain = totals[best] - totals[here]
    if best == here or gain <= SMALLEST_GAIN:
        return 0.0
    _insert(state, 0, rest, p, best)
    for place in range(p):
        state.value[rest[place]] = best_score(problem.family, rest[place], state.fits.score[rest[place]], place >= best)
    return float(gain)


@njit(cache=True, nogil=True)
def sweep(problem: Problem, state: State, nodes: Ints, shared: bool) -> float:
    """Move every listed node once, in the shared order or in the order of every context; what was gained."""
    p = problem.allowed.shape[0]
    gain = 0.0
    for order in range(1 if shared else state.orders.shape[0]):
        lowest = 0 if shared else state.place[0, p] + 1
        for i in range(nodes.size):
            if shared or state.place[order, nodes[i]] >= lowest:
                gain += move_node(problem, state, order, nodes[i], lowest)
    return float(gain)


@njit(cache=True, nogil=True)
def climb(problem: Problem, state: State, visits: Ints, shared: bool) -> tuple[float, float]:
    """Fit all nodes, then sweep until nothing moves, at most once for every row of `visits`; last gain, total score."""
    refit(problem, state)
    gain = 0.0
    for turn in range(visits.shape[0]):
        gain = sweep(problem, state, visits[turn], shared)
        if shared and problem.context.contexts > 1:
            gain += move_context(problem, state)
        if gain <= SMALLEST_GAIN:
            break
    p = problem.allowed.shape[0]
    total = context_score(problem.context, before_context(state, p), state.memory)
    for node in range(p):
        total += state.value[node]
    return gain, total


@njit(cache=True, nogil=True)
def _try_others(problem: Problem, state: State, order: int, node: int, rest: Ints, low: int, high: int) -> None:
    """Score every other node in reach with the node's candidacy reversed, in `state.other`; its fits in `spare`."""
    p = problem.allowed.shape[0]
    context_place = state.place[order, p]
    for t in range(low, high):
        w = rest[t]
        if w == p:
            continue
        state.other[w] = state.value[w]
        state.changed[w, :] = False
        if not problem.allowed[w, node]:
            continue
        after = state.place[order, w] > context_place
        present = state.place[order, node] < state.place[order, w]
        some = False
        for slot in range(problem.family.block.shape[1]):
            if not needed(problem, slot, after):
                continue
            block = problem.family.block[w, slot]
            if not decides(state, block, order, node, w):
                continue
            if present:
                if not on_path(state.fits, w, slot, node):
                    continue
            elif not would_change(problem.blocks, block, w, node, state.fits, slot, state.work):
                continue
            gather(problem, state, block, w)
            state.work.candidates[node] = not present
            fit(problem.blocks, block, w, problem.forced[w], state.spare, slot, state.work)
            state.changed[w, slot] = True
            some = True
        if some:
            state.other[w] = _mixed_score(problem, state, w, after)


@njit(cache=True, nogil=True)
def _mixed_score(problem: Problem, state: State, node: int, after: bool) -> float:
    """The score of a node with the alternative fit in the slots that changed."""
    scores = state.fits.score[node].copy()
    for slot in range(scores.size):
        if state.changed[node, slot]:
            scores[slot] = state.spare.score[node, slot]
    return best_score(problem.family, node, scores, after)


@njit(cache=True, nogil=True)
def _try_context(problem: Problem, state: State, order: int, node: int, rest: Ints, low: int,
                 high: int) -> tuple[float, float]:  # fmt: skip
    """The context's score with and without the node before it; zeros if it is out of reach."""
    p = problem.allowed.shape[0]
    inside = False
    for t in range(low, high):
        inside = inside or rest[t] == p
    if not inside or problem.context.contexts < 2:
        return 0.0, 0.0
    before = before_context(state, p)
    before[node] = True
    with_node = context_score(problem.context, before, state.memory)
    before[node] = False
    return with_node, context_score(problem.context, before, state.memory)


@njit(cache=True, nogil=True)
def _try_places(problem: Problem, state: State, order: int, node: int, rest: Ints, low: int, high: int) -> Floats:
    """The node's own score at every place from low to high; uses the node's `spare` fits."""
    p = problem.allowed.shape[0]
    slots = problem.family.block.shape[1]
    own = np.empty(rest.size + 1)
    ready = np.zeros(slots, dtype=np.bool_)
    after = problem.context.contexts == 1
    for t in range(low):
        after = after or rest[t] == p
    for t in range(low, high + 1):
        if t > low:
            after = after or rest[t - 1] == p
        for slot in range(slots):
            if not needed(problem, slot, after):
                continue
            block = problem.family.block[node, slot]
            if not state.uses[block, order]:
                state.spare.score[node, slot] = state.fits.score[node, slot]
                continue
            if ready[slot]:
                u = rest[t - 1]
                if u == p or not problem.allowed[node, u] or not decides(state, block, order, u, node):
                    continue
                if not would_change(problem.blocks, block, node, u, state.spare, slot, state.work):
                    continue
            gather_first(problem, state, block, order, node, rest, t)
            fit(problem.blocks, block, node, problem.forced[node], state.spare, slot, state.work)
            ready[slot] = True
        own[t] = best_score(problem.family, node, state.spare.score[node], after)
    return own


@njit(cache=True, nogil=True)
def _totals(state: State, rest: Ints, here: int, own: Floats, with_context: float, without_context: float, p: int,
            low: int, high: int) -> Floats:  # fmt: skip
    """The part of the total score that depends on the place, for every place from low to high."""
    totals = np.full(rest.size + 1, -np.inf)
    late = 0.0
    for t in range(low, high):
        late += _with_node(state, rest[t], t, here, with_context, p)
    early = 0.0
    for t in range(low, high + 1):
        totals[t] = early + own[t] + late
        if t < high:
            late -= _with_node(state, rest[t], t, here, with_context, p)
            w = rest[t]
            if w == p:
                early += without_context
            else:
                early += state.other[w] if t >= here else state.value[w]
    return totals


@njit(cache=True, nogil=True)
def _with_node(state: State, w: int, t: int, here: int, with_context: float, p: int) -> float:
    """The score of the node at place t if the moved node comes before it."""
    if w == p:
        return with_context
    return float(state.value[w] if t >= here else state.other[w])


@njit(cache=True, nogil=True)
def _apply(problem: Problem, state: State, order: int, node: int, rest: Ints, here: int, best: int) -> None:
    """Make the move: new order, the alternative fits of all nodes that were passed, the node's own fits."""
    p = problem.allowed.shape[0]
    _insert(state, order, rest, node, best)
    for t in range(min(here, best), max(here, best)):
        w = rest[t]
        if w == p:
            continue
        state.value[w] = state.other[w]
        for slot in range(state.changed.shape[1]):
            if state.changed[w, slot]:
                copy_fit(state.spare, state.fits, w, slot)
    refit_node(problem, state, node)


@njit(cache=True, nogil=True)
def _insert(state: State, order: int, rest: Ints, node: int, place: int) -> None:
    """Write the order with a node at a place."""
    row = state.orders[order]
    row[:place] = rest[:place]
    row[place] = node
    row[place + 1 :] = rest[place:]
    for t in range(row.size):
        state.place[order, row[t]] = t


@njit(cache=True, nogil=True)
def _without(order: Ints, node: int) -> Ints:
    rest = np.empty(order.size - 1, dtype=np.int64)
    t = 0
    for w in order:
        if w != node:
            rest[t] = w
            t += 1
    return rest


@njit(cache=True, nogil=True)
def _bounds(problem: Problem, rest: Ints, node: int, lowest: int) -> tuple[int, int]:
    """The first and last place that keep what must come before and after the node."""
    low, high = lowest, rest.size
    for t in range(rest.size):
        if problem.first[rest[t], node]:
            low = max(low, t + 1)
        if problem.first[node, rest[t]]:
            high = min(high, t)
    return low, high


@njit(cache=True, nogil=True)
def _first_best(totals: Floats, low: int, high: int) -> int:
    """The first place whose total is the highest but for rounding."""
    highest = totals[low]
    for t in range(low, high + 1):
        highest = max(highest, totals[t])
    for t in range(low, high + 1):
        if totals[t] >= highest - SMALLEST_GAIN:
            return t
    return low
