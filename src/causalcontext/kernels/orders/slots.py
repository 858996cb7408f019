"""A node's best model, given the scores of its slots: pooled, or by a reader shifted, mixed or
partitioned.

A reader is what a mechanism may change with: a coding of the rows into cells. Slot 0 of a node is
its pooled model. Every reader has a run of slots after it: blocks of its cells, then models of all
cells that change with them, the shifted one and, where there is one, the mixed one. With few cells
the blocks are all sets of them but the whole (the slot of a set is its bit mask minus 1); with many
they are the nodes of a tree in which cells were merged pair by pair: single cells first, every
later slot joins two earlier ones. The root of a tree is the pooled model again: no block. Where one
of several readers has many cells there is no tree: all of them apart is the only partition.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Floats, Ints

MOST_CELLS_EXACT = 4
"""Up to so many cells every partition is considered; beyond, a tree of merges."""
FIRST, CELLS, BLOCKS, END = range(4)
"""Columns of `NodeSlots.reader`."""
NO_BLOCK = -1
SAME = 1e-6
"""Scores that differ by less are equal: slopes that differ nowhere are the shifted model, whatever
rounding says.
"""


class NodeSlots(NamedTuple):
    """The slots of every node."""

    block: Ints  # shape (nodes, slots): the block of every slot, `NO_BLOCK` for the root of a tree
    # shape (2, nodes, slots): the two slots that a slot of a tree joins, counted from the reader's
    # first; unused with few cells
    joins: Ints
    # shape (readers, 4): the first slot of a reader, its cells, how many of its slots are blocks of
    # a partition, and where it ends
    reader: Ints
    owner: Ints  # shape (slots,): the reader of every slot; -1 for the pooled one
    # shape (readers, 2): the nodes that come before every node that uses a reader; -1 for nobody
    needs: Ints
    # shape (nodes, 1 + readers): whether a node may be pooled, and whether it may use a reader
    may: Bools


def best_score(slots: NodeSlots, node: int, scores: Floats, usable: Bools) -> float:
    """The best score of a node; `usable`: what a reader needs comes before the node."""
    return float(_kernels.best_score(slots, node, np.ascontiguousarray(scores), usable))


def best_partition(cells: int, blocks: int, joins: Ints, scores: Floats) -> float:
    """The best sum over the blocks of a partition into two or more blocks; `scores` are those of
    one reader, `joins`, shape (2, slots), the two slots that a slot of a tree joins.
    """
    one, other = np.ascontiguousarray(joins)
    own = np.ascontiguousarray(scores)
    return float(_kernels.best_partition(cells, blocks, one, other, own))


def readers_in_reach(needs: Ints, place: Ints, node: int) -> Bools:
    """Which readers have all they need before a node; `place` has the place of every node in the
    order.
    """
    return np.asarray(((needs < 0) | (place[needs] < place[node])).all(axis=1))


def chosen_slots(slots: NodeSlots, node: int, scores: Floats, usable: Bools) -> list[int]:
    """The slots of a node's best model: the pooled one, one of all cells of a reader, or the blocks
    of a partition.
    """
    best, chosen = (float(scores[0]), [0]) if slots.may[node, 0] else (-math.inf, [])
    for q, (first, cells, blocks, end) in enumerate(slots.reader.tolist()):
        if not (usable[q] and slots.may[node, 1 + q]):
            continue
        own = scores[first:end]
        joins = slots.joins[:, node, first:end]
        highest = own[blocks:].max()
        whole = next(slot for slot in range(blocks, end - first) if own[slot] >= highest - SAME)
        split = best_partition(cells, blocks, joins, own)
        found = (
            (own[whole], [whole])
            if own[whole] >= split
            else (split, _best_blocks(cells, blocks, joins, own))
        )
        if found[0] > best:
            best = float(found[0])
            chosen = [first + slot for slot in found[1]]
    return chosen


def _best_blocks(cells: int, blocks: int, joins: Ints, scores: Floats) -> list[int]:
    """The slots of the best partition into two or more blocks."""
    if blocks == cells:
        return list(range(cells))
    if cells > MOST_CELLS_EXACT:
        return [
            slot
            for side in joins
            for slot in _cut(cells, joins, scores, int(side[2 * cells - 2]))[1]
        ]
    full = (1 << cells) - 1
    value: list[tuple[float, list[int]]] = [(0.0, [])]
    for mask in range(1, full + 1):
        lowest = mask & -mask
        options = [
            block
            for block in range(mask, 0, -1)
            if block & mask == block and block & lowest and block != full
        ]
        ways = [
            (scores[block - 1] + value[mask ^ block][0], [block - 1, *value[mask ^ block][1]])
            for block in options
        ]
        value.append(max(ways, key=lambda way: way[0]) if ways else (-math.inf, []))
    return value[full][1]


def _cut(cells: int, joins: Ints, scores: Floats, slot: int) -> tuple[float, list[int]]:
    """The best cut of a tree of merges below one slot: its score and its slots."""
    if slot < cells:
        return float(scores[slot]), [slot]
    left, right = (_cut(cells, joins, scores, int(side[slot])) for side in joins)
    if scores[slot] >= left[0] + right[0]:
        return float(scores[slot]), [slot]
    return left[0] + right[0], left[1] + right[1]
