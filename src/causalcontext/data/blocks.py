"""Moments by block: rows of a stream fall into some blocks, so that a bootstrap can draw blocks when rows are gone.

512 rows that follow each other are in the same block, whose number is a hash of theirs: it depends neither on batches
nor on partitions, and rows that resemble their neighbours stay together.
"""

from __future__ import annotations

import numpy as np

from causalcontext.data.moments import Moments
from causalcontext.data.totals import ScanTotals, no_totals

BLOCKS = 32
MOST_NUMBERS = 2**23
"""Cross products of all cells and blocks: more than 64 MB are not kept."""


def blocks_for(cells: int, variables: int) -> int:
    """How many blocks there are room for: all of them, or one."""
    return BLOCKS if max(cells, 1) * BLOCKS * variables**2 <= MOST_NUMBERS else 1


def without_blocks(totals: ScanTotals, blocks: int) -> ScanTotals:
    """The totals of cells out of that of their blocks: block b of cell k is number `k * blocks + b`."""
    cells = len(totals.n) // blocks
    own = np.arange(cells) * blocks
    first = own + np.argmax(totals.n.reshape(cells, blocks) > 0, axis=1)  # a block with rows, where there is one
    base = totals.centre[first]
    shift = (totals.centre - np.repeat(base, blocks, axis=0)) + totals.mean
    parts, found = Moments(totals.n, shift, totals.scatter), no_totals(cells, totals.mean.shape[1])
    for cell in range(cells):
        whole = parts.merged(range(own[cell], own[cell] + blocks))
        found.n[cell], found.mean[cell], found.scatter[cell] = whole.rows[0], whole.mean[0], whole.scatter[0]
    counts = {name: np.add.reduceat(getattr(totals, name), own, axis=0) for name in ("lost", "missing", "infinite")}
    low, high = np.minimum.reduceat(totals.low, own, axis=0), np.maximum.reduceat(totals.high, own, axis=0)
    return found._replace(centre=base, low=low, high=high, digests=totals.digests, **counts)


def block_moments(totals: ScanTotals, blocks: int) -> tuple[Moments, ...]:
    """The moments of every block, all cells in it; none where there is one block."""
    if blocks == 1:
        return ()
    mean = np.where(totals.n[:, None] > 0, totals.centre + totals.mean, 0.0)
    lower = np.tril(totals.scatter)
    scatter = lower + np.swapaxes(np.tril(totals.scatter, -1), 1, 2)
    return tuple(Moments(totals.n[b::blocks], mean[b::blocks], scatter[b::blocks]) for b in range(blocks))
