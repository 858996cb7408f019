"""A search over orders at rest: what is given, where it stands, and the fits that belong to its orders.

A problem has one order (shared by all contexts) or one for every context, all with the same beginning up to the
context variable R, whose number is p. A node may take its parents in a block from the nodes that come before it in
every order the block uses. Given the orders, the score is a sum over nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.compiling import njit
from causalcontext.kernels.orders.context_parents import ContextTable, Memory, context_score
from causalcontext.kernels.orders.parent_sets import Blocks, ParentFits, Scratch, fit
from causalcontext.kernels.orders.partitions import Partitions, best_score, pooled_slot

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Problem(NamedTuple):
    """What is given: the data as blocks, the context's table, the slots of every node, and what is known.

    Attributes
    ----------
    blocks : Blocks
    context : ContextTable
    family : Partitions
    allowed, forced : arrays of bool, shape (p, p)
        `allowed[child, parent]` and `forced[child, parent]`.
    first : array of bool, shape (p + 1, p + 1)
        `first[a, b]`: a must come before b.
    """

    blocks: Blocks
    context: ContextTable
    family: Partitions
    allowed: Bools
    forced: Bools
    first: Bools


class State(NamedTuple):
    """Where a search stands: orders, the place of every node in them, fits, node scores, and room for alternatives."""

    orders: Ints
    place: Ints
    uses: Bools
    fits: ParentFits
    spare: ParentFits
    value: Floats
    other: Floats
    changed: Bools
    memory: Memory
    work: Scratch


@njit(cache=True, nogil=True)
def refit(problem: Problem, state: State) -> float:
    """Fit every node for the current orders; the total score."""
    p = problem.allowed.shape[0]
    total = context_score(problem.context, before_context(state, p), state.memory)
    for node in range(p):
        refit_node(problem, state, node)
        total += state.value[node]
    return total


@njit(cache=True, nogil=True)
def refit_node(problem: Problem, state: State, node: int) -> None:
    """Fit a node in all of its slots, for the current orders."""
    after = is_after(problem, state, node)
    for slot in range(problem.family.block.shape[1]):
        if needed(problem, slot, after):
            block = problem.family.block[node, slot]
            gather(problem, state, block, node)
            fit(problem.blocks, block, node, problem.forced[node], state.fits, slot, state.work)
    state.value[node] = best_score(problem.family, node, state.fits.score[node], after)


@njit(cache=True, nogil=True)
def fit_waiting_slots(problem: Problem, state: State, node: int) -> None:
    """Fit the slots that were not kept up to date because the node is before the context."""
    for slot in range(problem.family.block.shape[1]):
        if not needed(problem, slot, False):
            block = problem.family.block[node, slot]
            gather(problem, state, block, node)
            fit(problem.blocks, block, node, problem.forced[node], state.fits, slot, state.work)


@njit(cache=True, nogil=True)
def needed(problem: Problem, slot: int, after: bool) -> bool:
    """Nodes before the context are pooled: their other slots are not kept up to date."""
    return after or slot == pooled_slot(problem.family.contexts)


@njit(cache=True, nogil=True)
def is_after(problem: Problem, state: State, node: int) -> bool:
    return problem.context.contexts == 1 or state.place[0, node] > state.place[0, problem.allowed.shape[0]]


@njit(cache=True, nogil=True)
def decides(state: State, block: int, order: int, candidate: int, node: int) -> bool:
    """Whether this order decides if the candidate comes before the node, all other orders of the block having it so."""
    if not state.uses[block, order]:
        return False
    for o in range(state.orders.shape[0]):
        if o != order and state.uses[block, o] and state.place[o, candidate] > state.place[o, node]:
            return False
    return True


@njit(cache=True, nogil=True)
def gather(problem: Problem, state: State, block: int, node: int) -> None:
    """The candidates of a node in a block: allowed, and before it in every order that the block uses."""
    for u in range(problem.allowed.shape[0]):
        ok = problem.allowed[node, u]
        for o in range(state.orders.shape[0]):
            ok = ok and (not state.uses[block, o] or state.place[o, u] < state.place[o, node])
        state.work.candidates[u] = ok


@njit(cache=True, nogil=True)
def gather_first(problem: Problem, state: State, block: int, order: int, node: int, rest: Ints, t: int) -> None:
    """The candidates of a node that stands after the first t others in one order."""
    p = problem.allowed.shape[0]
    state.work.candidates[:] = False
    for s in range(t):
        u = rest[s]
        if u != p and problem.allowed[node, u] and decides(state, block, order, u, node):
            state.work.candidates[u] = True


@njit(cache=True, nogil=True)
def before_context(state: State, p: int) -> Bools:
    before = np.zeros(p, dtype=np.bool_)
    for t in range(state.place[0, p]):
        before[state.orders[0, t]] = True
    return before
