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

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, Note, fetch
from causalcontext.kernels.orders.fit_arrays import (
    DESIGN,
    END,
    FIT_ARRAYS,
    LENGTH,
    OWNER,
    PARTNER,
    PATH,
    TAKEN,
    UNKNOWN,
    BlockTables,
    Fits,
    Scratch,
)
from causalcontext.kernels.orders.slots import NodeSlots, best_score
from causalcontext.kernels.rows.scales import SHAPES

SAME = 1e-7
"""Scores that differ by less are equal: the first one is taken, whatever rounding says."""


@kernel
def fill_scores(
    fit: FunctionPointer,
    calls: Note,
    arrays: Note,
    block: Ints,
    tasks: Ints,
    allowed: Bools,
    pool: Ints,
    best: Floats,
    found: Ints,
) -> int:
    """`best` and `found` are filled slot by slot and node by node until `pool` is; how many of
    these tasks are done.
    """
    for done in range(tasks.shape[0]):
        if pool.shape[0] - pool[0, 0] <= best.shape[2]:
            return done
        slot = tasks[done, 0]
        node = tasks[done, 1]
        _subset_scores(
            fit,
            calls,
            arrays,
            block[node, slot],
            node,
            allowed[node],
            pool,
            best[slot, node],
            found[slot, node],
        )
    return int(tasks.shape[0])


@kernel
def _subset_scores(
    fit: FunctionPointer,
    calls: Note,
    arrays: Note,
    block: int,
    node: int,
    allowed: Bools,
    pool: Ints,
    best: Floats,
    found: Ints,
) -> None:
    """The best score of a node in a block with candidates inside every set, and where its columns
    are in `pool`.

    What is given is always a candidate. A fit that never looked at some of its candidates is the
    fit of every set without them. `pool[0, 0]` is the number of rows in use after the first one.
    """
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    candidates, whole, nodes = (
        fetch(arrays, FIT_ARRAYS, Scratch).candidates,
        fits.whole[node, 0],
        fits.whole.shape[0],
    )
    about = tables.about[tables.block[block, DESIGN]]
    may = _mask(allowed, nodes) & ~(1 << node)
    must = _mask(tables.required[node], nodes)
    done = np.zeros(best.size, dtype=np.bool_)
    for j in range(candidates.size):
        candidates[j] = allowed[j]
    for members in range(best.size - 1, -1, -1):
        if done[members] or members & ~may or must & ~members:
            continue
        for j in range(nodes):
            candidates[j] = members & (1 << j) != 0
        score = fit(arrays, calls, block, node, np.int64(0))
        place = _put(whole, pool)
        needed = must
        if whole[END] == UNKNOWN:
            needed = members
        for t in range(whole[LENGTH]):
            column = whole[PATH + t]
            for side in (OWNER, PARTNER):
                owner = about[side, column] if column >= 0 else (-1 - column) // SHAPES
                if 0 <= owner < nodes:
                    needed |= 1 << owner
        free = members & ~needed
        part = free
        while True:
            if not done[needed | part]:
                done[needed | part] = True
                best[needed | part] = score
                found[needed | part] = place
            if part == 0:
                break
            part = (part - 1) & free
    for members in range(best.size):
        if members & ~may and not members & (1 << node):
            best[members] = best[members & may]
            found[members] = found[members & may]
    _take_best_subsets(best, found, nodes)


@kernel
def _put(whole: Ints, pool: Ints) -> int:
    """Write the columns of a fit to the pool; where."""
    pool[0, 0] += 1
    place = pool[0, 0]
    pool[place, 0] = whole[TAKEN]
    for t in range(whole[TAKEN]):
        pool[place, 1 + t] = whole[PATH + (whole.size - PATH) // 2 + t]
    return int(place)


@kernel
def _take_best_subsets(best: Floats, found: Ints, nodes: int) -> None:
    """Replace the score of every set by the best one of its subsets: greedy choices are not
    monotone.
    """
    for bit in range(nodes):
        for members in range(best.size):
            if members & (1 << bit):
                smaller = members ^ (1 << bit)
                if best[smaller] > best[members] + 1e-9:
                    best[members] = best[smaller]
                    found[members] = found[smaller]


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
    fill_prefixes(best, slots, needed, stops, ban, score, last)
    return score, last


@kernel
def fill_prefixes(
    best: Floats, slots: NodeSlots, needed: int, stops: bool, ban: Ints, score: Floats, last: Ints
) -> None:
    """`score` and `last` are filled, which are -inf and -1 before."""
    count, nodes, sets = best.shape
    own = np.empty(count)
    usable = np.zeros(slots.needs.shape[0], dtype=np.bool_)
    score[0] = 0.0
    for members in range(1, sets):
        for turn in range(nodes):
            i = turn if stops else nodes - 1 - turn
            rest = members ^ (1 << i)
            if (
                not members & (1 << i)
                or score[rest] == -math.inf
                or (stops and rest & needed == needed)
            ):
                continue
            inside = rest & ~(1 << ban[0]) if i == ban[1] else rest
            for slot in range(count):
                own[slot] = best[slot, i, inside]
            for q in range(usable.size):
                usable[q] = _are_inside(slots.needs[q], rest)
            value = score[rest] + best_score(slots, i, own, usable)
            if value > score[members] + SAME:
                score[members] = value
                last[members] = i


@kernel
def _are_inside(needs: Ints, members: int) -> bool:
    """Whether a set has all nodes that a reader needs."""
    inside = True
    for needed in needs:
        inside = inside and (needed < 0 or members & (1 << needed) != 0)
    return inside


def best_suffixes(best: Floats, slots: NodeSlots, cells: Ints, orders: int, system: int) -> Floats:
    """The best score of what is still to be placed, for every tuple of sets placed so far.

    `cells`, shape (slots,), has those of a slot as a bit mask; the first `system` nodes are placed
    in each order.
    """
    score = np.full(1 << (orders * system), -math.inf)
    fill_suffixes(best, slots, cells, np.array([orders, system]), score)
    return score


@kernel
def fill_suffixes(best: Floats, slots: NodeSlots, cells: Ints, sizes: Ints, score: Floats) -> None:
    """`score` is filled; `sizes` are the numbers of orders and of nodes that are placed in each."""
    places = _places(cells, sizes)
    may = _may_use(slots, sizes[1])
    system = sizes[1]
    score[score.size - 1] = 0.0
    for state in range(score.size - 2, -1, -1):
        highest = -math.inf
        for slot in range(cells.size):
            inside = _inside(state, cells[slot], sizes, best.shape[2] - 1)
            for i in range(system):
                if may[slot, i] and state & (places[slot] << i) == 0:
                    highest = max(
                        highest, best[slot, i, inside] + score[state | (places[slot] << i)]
                    )
        score[state] = highest


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
    total = fill_path(best, slots, cells, sizes, entry, ahead, bound, ban, score, steps)
    return float(total), steps[0], steps[1]


@kernel
def fill_path(
    best: Floats,
    slots: NodeSlots,
    cells: Ints,
    sizes: Ints,
    entry: Floats,
    ahead: Floats,
    bound: float,
    ban: Ints,
    score: Floats,
    steps: Ints,
) -> float:
    """`score` and `steps` are filled; the score of all nodes, which is -inf if it is below the
    bound.
    """
    orders = sizes[0]
    system = sizes[1]
    may = _may_use(slots, sizes[1])
    places = _places(cells, sizes)
    for members in range(entry.size):
        state = 0
        for r in range(orders):
            state |= members << (r * system)
        score[state] = entry[members]
    for state in range(score.size - 1):
        if score[state] + ahead[state] <= bound:
            continue
        for slot in range(cells.size):
            inside = _inside(state, cells[slot], sizes, best.shape[2] - 1)
            for i in range(system):
                if not may[slot, i] or state & (places[slot] << i) != 0:
                    continue
                after = state | (places[slot] << i)
                value = (
                    score[state] + best[slot, i, inside & ~(1 << ban[0]) if i == ban[1] else inside]
                )
                if value > score[after] + SAME:
                    score[after] = value
                    steps[0, after] = state
                    steps[1, after] = i * cells.size + slot
    return float(score[score.size - 1])


@kernel
def _may_use(slots: NodeSlots, system: int) -> Bools:
    """Whether a node may use a slot, shape (slots, nodes)."""
    may = np.empty((slots.owner.size, system), dtype=np.bool_)
    for slot in range(slots.owner.size):
        for i in range(system):
            may[slot, i] = slots.may[i, 1 + slots.owner[slot]]
    return may


@kernel
def _places(cells: Ints, sizes: Ints) -> Ints:
    """The places of node 0 in the state, one for every cell of a slot; those of node i are i bits
    further.
    """
    places = np.zeros(cells.size, dtype=np.int64)
    for slot in range(cells.size):
        for r in range(sizes[0]):
            places[slot] |= (cells[slot] >> r & 1) << (r * sizes[1])
    return places


@kernel
def _inside(state: int, cells: int, sizes: Ints, everything: int) -> int:
    """What a node may take its parents from in some cells; all nodes after the first `system` ones
    are placed.
    """
    inside = everything
    own = (1 << sizes[1]) - 1
    for r in range(sizes[0]):
        if cells & (1 << r):
            inside &= (state >> (r * sizes[1])) | ~own
    return inside


@kernel
def _mask(row: Bools, size: int) -> int:
    members = 0
    for j in range(size):
        if row[j]:
            members |= 1 << j
    return members


def draw_orders(best: Floats, slots: NodeSlots, uniform: Floats) -> Ints:
    """Orders of all nodes, each with a probability proportional to the exponential of its score.

    One order serves all cells, so that its score is the sum over nodes of the best score with the
    nodes before it. `best` has shape (slots, nodes, sets), `uniform`, numbers between 0 and 1, that
    of the orders: (draws, nodes).
    """
    orders = np.zeros(uniform.shape, dtype=np.int64)
    fill_orders(best, slots, uniform, orders)
    return orders


@kernel
def fill_orders(best: Floats, slots: NodeSlots, uniform: Floats, orders: Ints) -> None:
    """`orders` are filled: the sum over all orders of every set, then one node after the other, the
    last one first.
    """
    count, nodes, sets = best.shape
    own = np.empty(count)
    usable = np.zeros(slots.needs.shape[0], dtype=np.bool_)
    values = np.full((nodes, sets), -math.inf)
    total = np.full(sets, -math.inf)
    total[0] = 0.0
    for members in range(1, sets):
        highest = -math.inf
        for i in range(nodes):
            rest = members ^ (1 << i)
            if not members & (1 << i) or total[rest] == -math.inf:
                continue
            for slot in range(count):
                own[slot] = best[slot, i, rest]
            for q in range(usable.size):
                usable[q] = _are_inside(slots.needs[q], rest)
            values[i, rest] = total[rest] + best_score(slots, i, own, usable)
            highest = max(highest, values[i, rest])
        if highest > -math.inf:
            added = 0.0
            for i in range(nodes):
                if members & (1 << i):
                    added += math.exp(values[i, members ^ (1 << i)] - highest)
            total[members] = highest + math.log(added)
    for draw in range(orders.shape[0]):
        members = sets - 1
        for place in range(nodes - 1, -1, -1):
            left = uniform[draw, place]
            chosen = -1
            for i in range(nodes):
                if members & (1 << i) and values[i, members ^ (1 << i)] > -math.inf:
                    chosen = i
                    left -= math.exp(values[i, members ^ (1 << i)] - total[members])
                    if left <= 0.0:
                        break
            orders[draw, place] = chosen
            members ^= 1 << chosen
