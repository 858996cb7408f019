"""Insertion moves on orders of variables: a node is tried at all places of an order at once, and put where it is best.

A problem has one order (shared by all contexts) or one for every context, all with the same beginning up to the
context variable R, whose number is p. A node may take its parents in a block from the nodes that come before it in
every order the block uses. Given the orders, the score is a sum over nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from causalcontext.kernels.context_choice import ContextTable, Memory, context_score
from causalcontext.kernels.partitions import Family, best_score, pooled_slot
from causalcontext.kernels.regressions import Blocks, Fits, Scratch, copy_fit, fit, on_path, would_change

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SMALLEST_GAIN = 1e-6
"""A move must gain more than this: below it two models count as equal."""


class Problem(NamedTuple):
    """What is given: the data as blocks, the context's table, the slots of every node, and what is known.

    Attributes
    ----------
    blocks : Blocks
    context : ContextTable
    family : Family
    allowed, forced : arrays of bool, shape (p, p)
        `allowed[child, parent]` and `forced[child, parent]`.
    first : array of bool, shape (p + 1, p + 1)
        `first[a, b]`: a must come before b.
    """

    blocks: Blocks
    context: ContextTable
    family: Family
    allowed: Bools
    forced: Bools
    first: Bools


class State(NamedTuple):
    """Where a search stands: orders, the place of every node in them, fits, node scores, and room for alternatives."""

    orders: Ints
    place: Ints
    uses: Bools
    fits: Fits
    spare: Fits
    value: Floats
    other: Floats
    changed: Bools
    memory: Memory
    work: Scratch


@njit(cache=True, nogil=True)
def refit(problem: Problem, state: State) -> float:
    """Fit every node for the current orders; the total score."""
    p = problem.allowed.shape[0]
    total = context_score(problem.context, _before_context(state, p), state.memory)
    for node in range(p):
        refit_node(problem, state, node)
        total += state.value[node]
    return total


@njit(cache=True, nogil=True)
def refit_node(problem: Problem, state: State, node: int) -> None:
    """Fit a node in all of its slots, for the current orders."""
    after = _is_after(problem, state, node)
    for slot in range(problem.family.block.shape[1]):
        if _needed(problem, slot, after):
            block = problem.family.block[node, slot]
            _gather(problem, state, block, node)
            fit(problem.blocks, block, node, problem.forced[node], state.fits, slot, state.work)
    state.value[node] = best_score(problem.family, node, state.fits.score[node], after)


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
            _fit_all_slots(problem, state, node)
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
    total = context_score(problem.context, _before_context(state, p), state.memory)
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
            if not _needed(problem, slot, after):
                continue
            block = problem.family.block[w, slot]
            if not _decides(state, block, order, node, w):
                continue
            if present:
                if not on_path(state.fits, w, slot, node):
                    continue
            elif not would_change(problem.blocks, block, w, node, state.fits, slot, state.work):
                continue
            _gather(problem, state, block, w)
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
    before = _before_context(state, p)
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
            if not _needed(problem, slot, after):
                continue
            block = problem.family.block[node, slot]
            if not state.uses[block, order]:
                state.spare.score[node, slot] = state.fits.score[node, slot]
                continue
            if ready[slot]:
                u = rest[t - 1]
                if u == p or not problem.allowed[node, u] or not _decides(state, block, order, u, node):
                    continue
                if not would_change(problem.blocks, block, node, u, state.spare, slot, state.work):
                    continue
            _gather_first(problem, state, block, order, node, rest, t)
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


@njit(cache=True, nogil=True)
def _needed(problem: Problem, slot: int, after: bool) -> bool:
    """Nodes before the context are pooled: their other slots are not kept up to date."""
    return after or slot == pooled_slot(problem.family.contexts)


@njit(cache=True, nogil=True)
def _is_after(problem: Problem, state: State, node: int) -> bool:
    return problem.context.contexts == 1 or state.place[0, node] > state.place[0, problem.allowed.shape[0]]


@njit(cache=True, nogil=True)
def _decides(state: State, block: int, order: int, candidate: int, node: int) -> bool:
    """Whether this order decides if the candidate comes before the node, all other orders of the block having it so."""
    if not state.uses[block, order]:
        return False
    for o in range(state.orders.shape[0]):
        if o != order and state.uses[block, o] and state.place[o, candidate] > state.place[o, node]:
            return False
    return True


@njit(cache=True, nogil=True)
def _gather(problem: Problem, state: State, block: int, node: int) -> None:
    """The candidates of a node in a block: allowed, and before it in every order that the block uses."""
    for u in range(problem.allowed.shape[0]):
        ok = problem.allowed[node, u]
        for o in range(state.orders.shape[0]):
            ok = ok and (not state.uses[block, o] or state.place[o, u] < state.place[o, node])
        state.work.candidates[u] = ok


@njit(cache=True, nogil=True)
def _gather_first(problem: Problem, state: State, block: int, order: int, node: int, rest: Ints, t: int) -> None:
    """The candidates of a node that stands after the first t others in one order."""
    p = problem.allowed.shape[0]
    state.work.candidates[:] = False
    for s in range(t):
        u = rest[s]
        if u != p and problem.allowed[node, u] and _decides(state, block, order, u, node):
            state.work.candidates[u] = True


@njit(cache=True, nogil=True)
def _before_context(state: State, p: int) -> Bools:
    before = np.zeros(p, dtype=np.bool_)
    for t in range(state.place[0, p]):
        before[state.orders[0, t]] = True
    return before


@njit(cache=True, nogil=True)
def _fit_all_slots(problem: Problem, state: State, node: int) -> None:
    """Fit the slots that were not kept up to date because the node is before the context."""
    for slot in range(problem.family.block.shape[1]):
        if not _needed(problem, slot, False):
            block = problem.family.block[node, slot]
            _gather(problem, state, block, node)
            fit(problem.blocks, block, node, problem.forced[node], state.fits, slot, state.work)
