"""A search over orders: a node is tried at all places of an order at once, and put where it is
best.

A problem has one order (shared by all cells) or one for every cell, all with the same beginning up
to the last node that some reader needs. A node may take its parents in a block from the nodes that
come before it in every order the block uses, and from what is given; it may use a reader if what
that needs comes before it. Given the orders, the score is a sum over nodes.
"""

from __future__ import annotations

from typing import NamedTuple

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.fits import CompiledWorkspace
from causalcontext.kernels.orders.slots import NodeSlots

ORDER, PLACE = range(2)
"""First axis of `State.orders`: which node stands where, and where every node stands."""
NOW, OTHER = range(2)
"""First axis of `State.value`: the score of every node, and with the moved node on its other side.
"""
SMALLEST_GAIN = 1e-6
"""A move must gain more than this: below it two models count as equal."""


class OrderProblem(NamedTuple):
    """What is given: the slots of every node, and what is known."""

    slots: NodeSlots
    # shape (nodes, candidates): `allowed[child, parent]`; candidates are the nodes, then what is
    # given
    allowed: Bools
    first: Bools  # shape (nodes, nodes): `first[a, b]`: a must come before b


class State(NamedTuple):
    """Where a search stands."""

    # shape (nodes, twice the slots of a node): the scores of its fits, then of alternatives. Those
    # of readers that a node may not use yet are out of date
    scores: Floats
    matters: Bools  # shape (nodes, slots, candidates): whose candidacy its fits depend on
    candidates: Bools  # shape (candidates,): what its next fit may choose from
    orders: Ints  # shape (2, orders, nodes)
    uses: Bools  # shape (blocks, orders): which orders a block looks at
    value: Floats  # shape (2, nodes)
    changed: Bools  # shape (nodes, slots): slots in which the alternative differs
    touched: Bools  # shape (nodes,): nodes whose fits were ever written
    stop: Ints  # shape (1,): another thread writes 1 to end the search


def climb(
    workspace: CompiledWorkspace,
    problem: OrderProblem,
    state: State,
    stale: Ints,
    visits: Ints,
    window: Ints,
    shared: bool,
) -> tuple[float, float]:
    """Fit some nodes, then sweep until nothing moves, at most once for every row of `visits`; last
    gain, total score.

    `workspace` has room for twice as many slots as a node has: for alternatives. A 1 in
    `state.stop` ends the climb after the next fit; a move that is not done yet is dropped, and
    nodes that were not fitted yet have required causes alone. Fits of the `stale` nodes do not
    belong to the orders yet. `visits`, shape (sweeps, visited), has the nodes to move, one after
    the other, `window` the lowest and the highest place that a node may move to; `shared` says
    whether there is one order for all cells.
    """
    result: tuple[float, float] = _kernels.climb(
        workspace, problem, state, stale, visits, window, shared
    )
    return result
