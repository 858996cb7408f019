"""The best orders by dynamic programming: one order for all cells, or one per cell after all that
readers need.

Sets of nodes are bit masks. `best[s, i, A]` is the best score of node i in slot s with candidates
A. Up to the last node that a reader needs all orders agree, so the state is one set; after it,
where every cell has an order of its own, the state is one set per cell, packed into one number, and
a node is placed in all cells of a block at once.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.fits import CompiledWorkspace
from causalcontext.kernels.orders.slots import NodeSlots


def fill_scores(
    workspace: CompiledWorkspace,
    block: Ints,
    tasks: Ints,
    allowed: Bools,
    pool: Ints,
    best: Floats,
    found: Ints,
) -> int:
    """`best` and `found` are filled slot by slot and node by node until `pool` is; how many of
    these tasks, shape (tasks, 2) of slot and node, are done.

    The best score of a node in a block with candidates inside every set, and where its columns are
    in `pool`, of which `pool[0, 0]` is the number of rows in use after the first one.
    """
    return int(_kernels.fill_scores(workspace, block, tasks, allowed, pool, best, found))


def best_prefixes(
    best: Floats, slots: NodeSlots, needed: int, stops: bool, cause: int, effect: int
) -> tuple[Floats, Ints]:
    """The best score of every set of nodes as the beginning of all orders, and its last node; no
    cause -> effect.

    `needed` are the nodes that readers need, as a bit mask; if it `stops`, the beginning ends with
    the last of these.
    """
    score = np.full(best.shape[2], -math.inf)
    last = np.full(best.shape[2], -1, dtype=np.int64)
    ban = np.array([cause, effect], dtype=np.int64)
    _kernels.fill_prefixes(best, slots, needed, stops, ban, score, last)
    return score, last


def best_suffixes(best: Floats, slots: NodeSlots, cells: Ints, orders: int, system: int) -> Floats:
    """The best score of what is still to be placed, for every tuple of sets placed so far.

    `cells`, shape (slots,), has those of a slot as a bit mask; the first `system` nodes are placed
    in each order.
    """
    score = np.full(1 << (orders * system), -math.inf)
    _kernels.fill_suffixes(best, slots, cells, np.array([orders, system]), score)
    return score


def best_path(
    best: Floats,
    slots: NodeSlots,
    cells: Ints,
    orders: int,
    system: int,
    entry: Floats,
    ahead: Floats,
    bound: float,
    cause: int,
    effect: int,
) -> tuple[float, Ints, Ints]:
    """The best way to place all nodes without the link cause -> effect, if it scores more than
    `bound`.

    `entry`, shape (sets,), is the score of the common beginning, for every set of the first
    `system` nodes in it; `ahead`, shape (states,), is `best_suffixes` without the ban: no state can
    end better, so states that fall short are passed over. Returned are the score, -inf if it is
    below the bound, and for every state the one before it, -1 for the first one, and the step from
    there: `node * slots + slot`.
    """
    steps = np.full((2, len(ahead)), -1, dtype=np.int64)
    ban = np.array([cause, effect], dtype=np.int64)
    sizes = np.array([orders, system])
    score = np.full(len(ahead), -math.inf)
    total = _kernels.fill_path(best, slots, cells, sizes, entry, ahead, bound, ban, score, steps)
    return float(total), steps[0], steps[1]


def draw_orders(best: Floats, slots: NodeSlots, uniform: Floats) -> Ints:
    """Orders of all nodes, each with a probability proportional to the exponential of its score.

    One order serves all cells, so that its score is the sum over nodes of the best score with the
    nodes before it. `best` has shape (slots, nodes, sets), `uniform`, numbers between 0 and 1, that
    of the orders: (draws, nodes).
    """
    orders = np.zeros(uniform.shape, dtype=np.int64)
    _kernels.fill_orders(best, slots, uniform, orders)
    return orders
