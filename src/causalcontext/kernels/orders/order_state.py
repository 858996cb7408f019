"""A search over orders at rest: what is given, where it stands, and the fits that belong to its orders.

A problem has one order (shared by all contexts) or one for every context, all with the same beginning up to the
context variable R, whose number is p. A node may take its parents in a block from the nodes that come before it in
every order the block uses. Given the orders, the score is a sum over nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.function_pointers import FunctionPointer
from causalcontext.kernels.handles import Note
from causalcontext.kernels.orders.node_data import Calls
from causalcontext.kernels.orders.partitions import ContextPartitions, best_score, pooled_slot

ORDER, PLACE = range(2)
"""First axis of `State.orders`: which node stands where, and where every node stands."""
NOW, OTHER = range(2)
"""First axis of `State.value`: the score of every node, and with the candidacy of the moved node reversed."""


class Moves(NamedTuple):
    """The functions that a search calls, behind pointers, and what they call."""

    fit: FunctionPointer
    copy_fit: FunctionPointer
    calls: Calls


class OrderProblem(NamedTuple):
    """What is given: how to fit a node, the slots of every node, and what is known.

    Attributes
    ----------
    moves : Moves
    family : Partitions
    allowed : array of bool, shape (p + 1, p)
        `allowed[child, parent]`; the last child is the context.
    first : array of bool, shape (p + 1, p + 1)
        `first[a, b]`: a must come before b.
    """

    moves: Moves
    family: ContextPartitions
    allowed: Bools
    first: Bools


class State(NamedTuple):
    """Where a search stands.

    Attributes
    ----------
    arrays of a fit : Note
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
def refit_node(problem: OrderProblem, state: State, node: int) -> None:
    """Fit a node in the slots that matter, for the current orders."""
    family, moves = problem.family, problem.moves
    after = is_after(state.orders, family.contexts, node)
    state.touched[node] = True
    for slot in range(family.block.shape[1]):
        if after or slot == pooled_slot(family.contexts):
            block = family.block[node, slot]
            gather(problem.allowed[node], state.uses[block], state.orders[PLACE], node, state.candidates)
            moves.fit(state.arrays, moves.calls, block, node, slot)
    state.value[NOW, node] = best_score(family, node, state.scores[node], after)


@kernel
def context_score(problem: OrderProblem, state: State, before: Bools) -> float:
    """The score of the context with the best parents among the nodes `before` it."""
    p, contexts, moves = before.size, problem.family.contexts, problem.moves
    if contexts < 2:
        return 0.0
    state.touched[p] = True
    for j in range(p):
        state.candidates[j] = before[j] and problem.allowed[p, j]
    block = problem.family.block[0, pooled_slot(contexts)]
    return float(moves.fit(state.arrays, moves.calls, block, p, np.int64(0)))


@kernel
def is_after(orders: Ints, contexts: int, node: int) -> bool:
    """Whether a node comes after the context, or there is none."""
    return contexts == 1 or orders[PLACE, 0, node] > orders[PLACE, 0, orders.shape[2] - 1]


@kernel
def decides(uses: Bools, place: Ints, order: int, candidate: int, node: int) -> bool:
    """Whether this order decides if the candidate comes before the node, all other orders in use having it so."""
    if not uses[order]:
        return False
    late = 0
    for o in range(place.shape[0]):
        if o != order and uses[o] and place[o, candidate] > place[o, node]:
            late += 1
    return late == 0


@kernel
def gather(allowed: Bools, uses: Bools, place: Ints, node: int, candidates: Bools) -> None:
    """The candidates of a node in a block: allowed, and before it in every order that the block uses."""
    for u in range(candidates.size):
        candidates[u] = allowed[u]
    for o in range(place.shape[0]):
        if uses[o]:
            keep_before(place[o], place[o, node], candidates)


@kernel
def keep_before(place: Ints, end: int, candidates: Bools) -> None:
    """Keep those candidates that stand before some place of an order."""
    for u in range(candidates.size):
        candidates[u] &= place[u] < end


@kernel
def before_context(orders: Ints) -> Bools:
    """The nodes before the context."""
    p = orders.shape[2] - 1
    before = np.zeros(p, dtype=np.bool_)
    for t in range(orders[PLACE, 0, p]):
        before[orders[ORDER, 0, t]] = True
    return before
