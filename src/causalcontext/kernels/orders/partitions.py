"""A node's best model, given the scores of its blocks: pooled, shifted, or a partition of the contexts.

A node has one score per slot. With few contexts the slots are all non-empty sets of contexts (slot = mask - 1); with
many they are the nodes of a tree in which contexts were merged pair by pair: slots 0 .. K - 1 are the single contexts,
every later one joins two earlier ones, the last but one is all contexts. The very last slot is the shifted model.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.compiling import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CONTEXTS_EXACT = 4
"""Up to so many contexts every partition is considered; beyond, a tree of merges."""
FREE, NEVER, ALWAYS = 0, 1, 2
"""Whether the context may, may not or must be a parent of a node."""


class Partitions(NamedTuple):
    """The slots of every node.

    Attributes
    ----------
    contexts : int
    block : array of int, shape (p, slots)
        The block of every slot.
    left, right : arrays of int, shape (p, slots)
        What a slot of a merge tree joins; unused with few contexts.
    role : array of int, shape (p,)
        `FREE`, `NEVER` or `ALWAYS`.
    """

    contexts: int
    block: Ints
    left: Ints
    right: Ints
    role: Ints


@njit(cache=True, nogil=True)
def pooled_slot(contexts: int) -> int:
    """The slot of all contexts together."""
    return (1 << contexts) - 2 if contexts <= MOST_CONTEXTS_EXACT else 2 * contexts - 2


@njit(cache=True, nogil=True)
def best_score(family: Partitions, node: int, scores: Floats, after: bool) -> float:
    """The best score of a node; `after`: the context comes before it and may be its parent."""
    pooled = scores[pooled_slot(family.contexts)]
    role = family.role[node]
    if family.contexts == 1 or not after or role == NEVER:
        return float(pooled)
    changing = max(scores[scores.size - 1], best_partition(family, node, scores))
    return float(changing if role == ALWAYS else max(pooled, changing))


@njit(cache=True, nogil=True)
def best_partition(family: Partitions, node: int, scores: Floats) -> float:
    """The best sum over the blocks of a partition into two or more blocks."""
    k = family.contexts
    if k > MOST_CONTEXTS_EXACT:
        best = np.empty(2 * k - 1)
        for slot in range(2 * k - 1):
            best[slot] = scores[slot]
            if slot >= k:
                split = best[family.left[node, slot]] + best[family.right[node, slot]]
                if slot == 2 * k - 2:
                    return float(split)
                best[slot] = max(best[slot], split)
    if k == 2:
        return float(scores[0] + scores[1])
    full = (1 << k) - 1
    value = np.empty(full + 1)
    value[0] = 0.0
    for mask in range(1, full + 1):
        lowest = mask & -mask
        best_here = -math.inf
        block = mask
        while block > 0:
            if block & lowest and block != full:
                best_here = max(best_here, scores[block - 1] + value[mask ^ block])
            block = (block - 1) & mask
        value[mask] = best_here
    return float(value[full])


def chosen_slots(family: Partitions, node: int, scores: Floats, after: bool) -> list[int]:
    """The slots of a node's best model: the pooled one, the shifted one, or the blocks of the best partition."""
    pooled, shifted = int(pooled_slot(family.contexts)), scores.size - 1
    if family.contexts == 1 or not after or family.role[node] == NEVER:
        return [pooled]
    split = best_partition(family, node, scores)
    if family.role[node] != ALWAYS and scores[pooled] >= max(split, scores[shifted]):
        return [pooled]
    return [shifted] if scores[shifted] >= split else _split_slots(family, node, scores)


def _split_slots(family: Partitions, node: int, scores: Floats) -> list[int]:
    """The blocks of the best partition into two or more blocks."""
    k = family.contexts
    if k > MOST_CONTEXTS_EXACT:
        root = 2 * k - 2
        return [
            slot for side in (family.left, family.right) for slot in _cut(family, node, scores, side[node, root])[1]
        ]
    full = (1 << k) - 1
    value: list[tuple[float, list[int]]] = [(0.0, [])]
    for mask in range(1, full + 1):
        lowest = mask & -mask
        options = [block for block in range(mask, 0, -1) if block & mask == block and block & lowest and block != full]
        ways = [(scores[block - 1] + value[mask ^ block][0], [block - 1, *value[mask ^ block][1]]) for block in options]
        value.append(max(ways, key=lambda way: way[0]) if ways else (-math.inf, []))
    return value[full][1]


def _cut(family: Partitions, node: int, scores: Floats, slot: int) -> tuple[float, list[int]]:
    """The best cut of a merge tree below one slot: its score and its slots."""
    if slot < family.contexts:
        return float(scores[slot]), [int(slot)]
    left = _cut(family, node, scores, int(family.left[node, slot]))
    right = _cut(family, node, scores, int(family.right[node, slot]))
    if scores[slot] >= left[0] + right[0]:
        return float(scores[slot]), [int(slot)]
    return left[0] + right[0], left[1] + right[1]
