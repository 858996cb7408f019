"""A node's best model, given the scores of its slots: pooled, shifted, mixed, or a partition of the contexts.

A node has one score per slot. With few contexts the slots are all non-empty sets of contexts (slot = mask - 1); with
many they are the nodes of a tree in which contexts were merged pair by pair: slots 0 .. K - 1 are the single contexts,
every later one joins two earlier ones. The last of these slots is all contexts together; the slots after it are models
of all contexts that depend on the context: the shifted one and, where there is one, the mixed one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel

MOST_CONTEXTS_EXACT = 4
"""Up to so many contexts every partition is considered; beyond, a tree of merges."""
FREE, NEVER, ALWAYS = 0, 1, 2
"""Whether the context may, may not or must be a parent of a node."""


SAME = 1e-6
"""Scores that differ by less are equal: slopes that differ nowhere are the shifted model, whatever rounding says."""


class ContextPartitions(NamedTuple):
    """The slots of every node.

    Attributes
    ----------
    contexts : int
    block : array of int, shape (p, slots)
        The block of every slot.
    joins : array of int, shape (2, p, slots)
        The two slots that a slot of a merge tree joins; unused with few contexts.
    role : array of int, shape (p,)
        `FREE`, `NEVER` or `ALWAYS`.
    """

    contexts: int
    block: Ints
    joins: Ints
    role: Ints


@kernel
def pooled_slot(contexts: int) -> int:
    """The slot of all contexts together."""
    return (1 << contexts) - 2 if contexts <= MOST_CONTEXTS_EXACT else 2 * contexts - 2


@kernel
def best_score(family: ContextPartitions, node: int, scores: Floats, after: bool) -> float:
    """The best score of a node; `after`: the context comes before it and may be its parent."""
    contexts, role, joins = family.contexts, family.role[node], family.joins
    pooled = pooled_slot(contexts)
    if contexts == 1 or not after or role == NEVER:
        return float(scores[pooled])
    changing = best_partition(contexts, joins, node, scores)
    for slot in range(pooled + 1, joins.shape[2]):
        changing = max(changing, scores[slot])
    return float(changing if role == ALWAYS else max(scores[pooled], changing))


@kernel
def best_partition(contexts: int, joins: Ints, node: int, scores: Floats) -> float:
    """The best sum over the blocks of a partition into two or more blocks."""
    if contexts == 2:
        return float(scores[0] + scores[1])
    if contexts > MOST_CONTEXTS_EXACT:
        return _best_cut(contexts, joins, node, scores)
    full = (1 << contexts) - 1
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


@kernel
def _best_cut(contexts: int, joins: Ints, node: int, scores: Floats) -> float:
    """The best cut of a merge tree below its root."""
    best, split = np.empty(2 * contexts - 1), -math.inf
    for slot in range(2 * contexts - 1):
        best[slot] = scores[slot]
        if slot >= contexts:
            split = best[joins[0, node, slot]] + best[joins[1, node, slot]]
            best[slot] = max(best[slot], split)
    return split


def chosen_slots(family: ContextPartitions, node: int, scores: Floats, after: bool) -> list[int]:
    """The slots of a node's best model: the pooled one, one of all contexts, or the blocks of the best partition."""
    pooled = int(pooled_slot(family.contexts))
    if family.contexts == 1 or not after or family.role[node] == NEVER:
        return [pooled]
    split = best_partition(family.contexts, family.joins, node, scores)
    highest = scores[pooled + 1 :].max()
    whole = next(slot for slot in range(pooled + 1, family.joins.shape[2]) if scores[slot] >= highest - SAME)
    if family.role[node] != ALWAYS and scores[pooled] >= max(split, scores[whole]):
        return [pooled]
    return [whole] if scores[whole] >= split else _split_slots(family, node, scores)


def _split_slots(family: ContextPartitions, node: int, scores: Floats) -> list[int]:
    """The blocks of the best partition into two or more blocks."""
    k = family.contexts
    if k > MOST_CONTEXTS_EXACT:
        root = 2 * k - 2
        return [slot for side in family.joins for slot in _cut(family, node, scores, int(side[node, root]))[1]]
    full = (1 << k) - 1
    value: list[tuple[float, list[int]]] = [(0.0, [])]
    for mask in range(1, full + 1):
        lowest = mask & -mask
        options = [block for block in range(mask, 0, -1) if block & mask == block and block & lowest and block != full]
        ways = [(scores[block - 1] + value[mask ^ block][0], [block - 1, *value[mask ^ block][1]]) for block in options]
        value.append(max(ways, key=lambda way: way[0]) if ways else (-math.inf, []))
    return value[full][1]


def _cut(family: ContextPartitions, node: int, scores: Floats, slot: int) -> tuple[float, list[int]]:
    """The best cut of a merge tree below one slot: its score and its slots."""
    if slot < family.contexts:
        return float(scores[slot]), [int(slot)]
    left = _cut(family, node, scores, int(family.joins[0, node, slot]))
    right = _cut(family, node, scores, int(family.joins[1, node, slot]))
    if scores[slot] >= left[0] + right[0]:
        return float(scores[slot]), [int(slot)]
    return left[0] + right[0], left[1] + right[1]
