"""The best orders by dynamic programming: one order per context, all with the same beginning up to the context.

Sets of nodes are bit masks. `best[b, i, S]` is the best score of node i in block b with candidates S. Before the
context all orders agree, so the state is one set; after it the state is one set per context, packed into one number,
and a node is placed in all contexts of a block at once.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.function_pointers import FunctionPointer
from causalcontext.kernels.handles import Note, fetch
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
    Calls,
    Fits,
    Scratch,
)
from causalcontext.kernels.orders.partitions import ALWAYS, NEVER

SAME = 1e-7
"""Scores that differ by less are equal: the first one is taken, whatever rounding says."""


def all_scores(fit: FunctionPointer, calls: Calls, arrays: Note, blocks: Ints, allowed: Bools, pooled: int,
               width: int) -> tuple[Floats, Ints, Ints]:  # fmt: skip
    """The best scores of all nodes in all blocks with candidates inside every set, and the columns that they take.

    Parameters
    ----------
    blocks : array of int
    allowed : array of bool, shape (p + 1, p)
        The last row is the context's.
    pooled : int
        The block of the context; -1 without one.

    Returns
    -------
    best, found : arrays, shape (len(blocks) + 1, p, sets)
        Scores, and rows of `pool`. The context is node 0 of the last block.
    pool : array of int, shape (rows, 1 + W)
        A number of columns, and the columns.
    """
    p, last = allowed.shape[1], len(blocks)
    best, found = np.zeros((last + 1, p, 1 << p)), np.zeros((last + 1, p, 1 << p), dtype=np.int64)
    pool = np.zeros((1 + (2 << p), 1 + width), dtype=np.int64)
    for place, block in enumerate([*blocks.tolist(), pooled]):
        for node in range(p if place < last else min(p, int(pooled >= 0))):
            if len(pool) - pool[0, 0] <= 1 << p:
                pool = np.concatenate([pool, np.zeros_like(pool)])
            who = node if place < last else p
            subset_scores(fit, calls, arrays, block, who, allowed[who], pool, best[place, node], found[place, node])
    return best, found, pool


@kernel
def subset_scores(fit: FunctionPointer, calls: Calls, arrays: Note, block: int, node: int, allowed: Bools, pool: Ints,
                  best: Floats, found: Ints) -> None:  # fmt: skip
    """The best score of a node in a block with candidates inside every set, and where its columns are in `pool`.

    A fit that never looked at some of its candidates is the fit of every set without them. `pool[0, 0]` is the number
    of rows in use after the first one.
    """
    p, tables = allowed.size, fetch(arrays, FIT_ARRAYS, BlockTables)
    candidates, whole = fetch(arrays, FIT_ARRAYS, Scratch).candidates, fetch(arrays, FIT_ARRAYS, Fits).whole[node, 0]
    about = tables.about[tables.block[block, DESIGN]]
    for members in range(1 << p):
        best[members] = -math.inf
    may, must = _mask(allowed), _mask(tables.required[node])
    if node < p:
        may &= ~(1 << node)
    done = np.zeros(1 << p, dtype=np.bool_)
    for members in range((1 << p) - 1, -1, -1):
        if done[members] or members & ~may or must & ~members:
            continue
        for j in range(p):
            candidates[j] = members & (1 << j) != 0
        score = fit(arrays, calls, block, node, np.int64(0))
        place, needed = _put(whole, pool), must
        if whole[END] == UNKNOWN:
            needed = members
        for t in range(whole[LENGTH]):
            column = whole[PATH + t]
            needed |= 1 << about[OWNER, column]
            if about[PARTNER, column] >= 0:
                needed |= 1 << about[PARTNER, column]
        free = members & ~needed
        part = free
        while True:
            if not done[needed | part]:
                done[needed | part] = True
                best[needed | part], found[needed | part] = score, place
            if part == 0:
                break
            part = (part - 1) & free
    for members in range(1 << p):
        if members & ~may and (node >= p or not members & (1 << node)):
            best[members], found[members] = best[members & may], found[members & may]
    _take_best_subsets(best, found, p)


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
def _take_best_subsets(best: Floats, found: Ints, p: int) -> None:
    """Replace the score of every set by the best one of its subsets: greedy choices are not monotone."""
    for bit in range(p):
        for members in range(1 << p):
            if members & (1 << bit):
                smaller = members ^ (1 << bit)
                if best[smaller] > best[members] + 1e-9:
                    best[members], found[members] = best[smaller], found[smaller]


def best_prefixes(pooled: Floats, cause: int, effect: int) -> tuple[Floats, Ints]:
    """The best score of every set of nodes as the beginning of the order, and its last node; no cause -> effect."""
    score, last = np.full(pooled.shape[1], -math.inf), np.full(pooled.shape[1], -1, dtype=np.int64)
    fill_prefixes(pooled, cause, effect, score, last)
    return score, last


@kernel
def fill_prefixes(pooled: Floats, cause: int, effect: int, score: Floats, last: Ints) -> None:
    """`score` and `last` are filled, which are -inf and -1 before."""
    p, sets = pooled.shape
    score[0] = 0.0
    for members in range(1, sets):
        for i in range(p):
            if members & (1 << i):
                rest = members ^ (1 << i)
                inside = rest & ~(1 << cause) if i == effect else rest
                value = score[rest] + pooled[i, inside]
                if value > score[members] + SAME:
                    score[members], last[members] = value, i


def best_suffixes(best: Floats, contexts: int, role: Ints) -> Floats:
    """The best score of what is still to be placed, for every tuple of sets placed so far.

    Blocks are numbered by their contexts (mask - 1); the ones after these are placed in all contexts.
    """
    score = np.full(1 << (contexts * best.shape[1]), -math.inf)
    fill_suffixes(best, contexts, role, score)
    return score


@kernel
def fill_suffixes(best: Floats, contexts: int, role: Ints, score: Floats) -> None:
    """`score` is filled."""
    blocks, p, sets = best.shape
    score[(1 << (contexts * p)) - 1] = 0.0
    full = (1 << contexts) - 1
    for state in range((1 << (contexts * p)) - 2, -1, -1):
        highest = -math.inf
        for i in range(p):
            missing = _missing(state, i, contexts, p)
            for b in range(blocks if missing else 0):
                block = b + 1 if b < full else full
                if block & missing != block or not _fits_role(b, full, contexts, role[i]):
                    continue
                inside, after = sets - 1, state
                for r in range(contexts):
                    if block & (1 << r):
                        inside &= (state >> (r * p)) & (sets - 1)
                        after |= 1 << (r * p + i)
                highest = max(highest, best[b, i, inside] + score[after])
        score[state] = highest


def best_path(best: Floats, contexts: int, role: Ints, entry: Floats, ahead: Floats, bound: float, cause: int,
              effect: int) -> tuple[float, Ints, Ints]:  # fmt: skip
    """The best way to place all nodes without the link cause -> effect, if it scores more than `bound`.

    Parameters
    ----------
    entry : array, shape (sets,)
        The score of everything up to the context, for every set of nodes before it.
    ahead : array, shape (states,)
        `best_suffixes` without the ban: no state can end better, so states that fall short are passed over.

    Returns
    -------
    score : float
        -inf if it is below the bound.
    before, step : arrays of int, shape (states,)
        The state before every state, -1 for the first one, and the step from there: `node * blocks + block`.
    """
    states = 1 << (contexts * best.shape[1])
    steps = np.full((2, states), -1, dtype=np.int64)
    ban = np.array([cause, effect], dtype=np.int64)
    score = fill_path(best, contexts, role, entry, ahead, bound, ban, np.full(states, -math.inf), steps)
    return float(score), steps[0], steps[1]


@kernel
def fill_path(best: Floats, contexts: int, role: Ints, entry: Floats, ahead: Floats, bound: float, ban: Ints,
              score: Floats, steps: Ints) -> float:  # fmt: skip
    """`score` and `steps` are filled; the score of all nodes, which is -inf if it is below the bound."""
    blocks, p, sets = best.shape
    states, cause, effect = score.size, ban[0], ban[1]
    full = (1 << contexts) - 1
    for members in range(sets):
        state = 0
        for r in range(contexts):
            state |= members << (r * p)
        score[state] = entry[members]
    for state in range(states - 1):
        if score[state] + ahead[state] <= bound:
            continue
        for i in range(p):
            missing = _missing(state, i, contexts, p)
            for b in range(blocks if missing else 0):
                block = b + 1 if b < full else full
                if block & missing != block or not _fits_role(b, full, contexts, role[i]):
                    continue
                inside, after = sets - 1, state
                for r in range(contexts):
                    if block & (1 << r):
                        inside &= (state >> (r * p)) & (sets - 1)
                        after |= 1 << (r * p + i)
                if i == effect:
                    inside &= ~(1 << cause)
                value = score[state] + best[b, i, inside]
                if value > score[after] + SAME:
                    score[after], steps[0, after], steps[1, after] = value, state, i * blocks + b
    return float(score[states - 1])


@kernel
def _missing(state: int, node: int, contexts: int, p: int) -> int:
    """The contexts in which a node is still to be placed."""
    missing = 0
    for r in range(contexts):
        if not state & (1 << (r * p + node)):
            missing |= 1 << r
    return missing


@kernel
def _fits_role(block: int, full: int, contexts: int, role: int) -> bool:
    """Whether a node may use a block after the context: pooled only if the context is never its parent, and so on."""
    pooled = block == full - 1
    if contexts == 1:
        return True
    if role == NEVER:
        return pooled
    return not pooled if role == ALWAYS else True


@kernel
def _mask(row: Bools) -> int:
    members = 0
    for j in range(row.size):
        if row[j]:
            members |= 1 << j
    return members
