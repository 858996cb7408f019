"""The best orders by dynamic programming: one order per context, all with the same beginning up to the context.

Sets of nodes are bit masks. `best[b, i, S]` is the best score of node i in block b with parents inside S. Before the
context all orders agree, so the state is one set; after it the state is one set per context, packed into one number,
and a node is placed in all contexts of a block at once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.compiling import njit
from causalcontext.kernels.orders.parent_sets import Blocks, Scratch, local_score, residual_variance
from causalcontext.kernels.orders.partitions import ALWAYS, NEVER

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def best_subsets(blocks: Blocks, allowed: Bools, forced: Bools, work: Scratch) -> tuple[Floats, Ints]:
    """The best score of every node in every block with parents inside every set, and those parents."""
    count, p = blocks.covariance.shape[:2]
    best = np.full((count, p, 1 << p), -math.inf)
    chosen = np.zeros((count, p, 1 << p), dtype=np.int64)
    _fill_subsets(blocks, allowed, forced, work, best, chosen)
    return best, chosen


@njit(cache=True, nogil=True)
def _fill_subsets(blocks: Blocks, allowed: Bools, forced: Bools, work: Scratch, best: Floats, chosen: Ints) -> None:
    count, p = blocks.covariance.shape[:2]
    parents = np.zeros(p, dtype=np.int64)
    for b in range(count):
        for i in range(p):
            may, must = _mask(allowed[i]), _mask(forced[i])
            for members in range(1 << p):
                if members & ~may or must & ~members or members & (1 << i):
                    continue
                size = _members(members, parents)
                if size > blocks.most[b] and size > 0 and members != must:
                    continue
                if blocks.most[b] < 0:
                    continue
                left = residual_variance(blocks.covariance[b], i, parents, size, work)
                best[b, i, members] = local_score(blocks, b, left, size)
                chosen[b, i, members] = members
            for bit in range(p):
                for members in range(1 << p):
                    if members & (1 << bit):
                        smaller = members ^ (1 << bit)
                        if best[b, i, smaller] > best[b, i, members]:
                            best[b, i, members] = best[b, i, smaller]
                            chosen[b, i, members] = chosen[b, i, smaller]


def best_prefixes(pooled: Floats) -> tuple[Floats, Ints]:
    """The best score of every set of nodes as the beginning of the order, and its last node."""
    score = np.full(pooled.shape[1], -math.inf)
    last = np.full(pooled.shape[1], -1, dtype=np.int64)
    _fill_prefixes(pooled, score, last)
    return score, last


@njit(cache=True, nogil=True)
def _fill_prefixes(pooled: Floats, score: Floats, last: Ints) -> None:
    p, sets = pooled.shape
    score[0] = 0.0
    for members in range(1, sets):
        for i in range(p):
            if members & (1 << i):
                rest = members ^ (1 << i)
                value = score[rest] + pooled[i, rest]
                if value > score[members]:
                    score[members], last[members] = value, i


def best_suffixes(best: Floats, contexts: int, role: Ints) -> tuple[Floats, Ints]:
    """The best score of what is still to be placed, for every tuple of sets placed so far; and the next step.

    Blocks are numbered by their contexts (mask - 1); the last one is the shifted model, placed in all contexts. A step
    is `node * (blocks) + block`.
    """
    states = 1 << (contexts * best.shape[1])
    score = np.full(states, -math.inf)
    step = np.full(states, -1, dtype=np.int64)
    _fill_suffixes(best, contexts, role, score, step)
    return score, step


@njit(cache=True, nogil=True)
def _fill_suffixes(best: Floats, contexts: int, role: Ints, score: Floats, step: Ints) -> None:
    blocks, p, sets = best.shape
    everything = contexts * p
    score[(1 << everything) - 1] = 0.0
    full = (1 << contexts) - 1
    for state in range((1 << everything) - 2, -1, -1):
        for i in range(p):
            missing = 0
            for r in range(contexts):
                if not state & (1 << (r * p + i)):
                    missing |= 1 << r
            if missing == 0:
                continue
            for b in range(blocks):
                block = b + 1 if b < full else full
                if block & missing != block:
                    continue
                if contexts > 1 and not _fits_role(b, full, role[i]):
                    continue
                inside, after = sets - 1, state
                for r in range(contexts):
                    if block & (1 << r):
                        inside &= (state >> (r * p)) & (sets - 1)
                        after |= 1 << (r * p + i)
                value = best[b, i, inside] + score[after]
                if value > score[state]:
                    score[state], step[state] = value, i * blocks + b


@njit(cache=True, nogil=True)
def _fits_role(block: int, full: int, role: int) -> bool:
    """Whether a node may use a block after the context: pooled only if the context is never its parent, and so on."""
    pooled = block == full - 1
    if role == NEVER:
        return pooled
    return not pooled if role == ALWAYS else True


@njit(cache=True, nogil=True)
def _mask(row: Bools) -> int:
    members = 0
    for j in range(row.size):
        if row[j]:
            members |= 1 << j
    return members


@njit(cache=True, nogil=True)
def _members(mask: int, listed: Ints) -> int:
    """Write the members of a set to `listed`; their number."""
    size = 0
    j = 0
    while mask >> j:
        if mask & (1 << j):
            listed[size] = j
            size += 1
        j += 1
    return size
