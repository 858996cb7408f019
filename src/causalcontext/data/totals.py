"""What a pass over the rows adds up, cell by cell: batches go in one after the other, without losing digits.

Rows of a stream also fall into blocks, so that a bootstrap can draw blocks when the rows are gone: 512 rows that follow
each other are in the same block, whose number is a hash of theirs. It depends neither on batches nor on partitions, and
rows that resemble their neighbours stay together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Bools, Codes, Floats
from causalcontext.kernels.limits import SMALLEST_SCATTER
from causalcontext.kernels.rows.scan import mirror
from causalcontext.kernels.rows.stretches import ScanTotals, add_rows, workspace_for

BLOCKS = 32
MOST_NUMBERS = 2**23
"""Cross products of all cells and blocks: more than 64 MB are not kept."""


def no_totals(levels: int, variables: int) -> ScanTotals:
    """The totals of no rows."""
    shape = (levels, variables)
    return ScanTotals(
        n=np.zeros(levels, dtype=np.int64),
        lost=np.zeros(levels, dtype=np.int64),
        centre=np.zeros(shape),
        mean=np.zeros(shape),
        low=np.full(shape, np.inf),
        high=np.full(shape, -np.inf),
        scatter=np.zeros((*shape, variables)),
        missing=np.zeros(shape, dtype=np.int64),
        infinite=np.zeros(shape, dtype=np.int64),
        digests=np.zeros(variables, dtype=np.uint64),
    )


def add_batch(totals: ScanTotals, values: Floats, codes: Codes, first_row: int) -> None:
    """Add a batch of rows to the totals: values of shape (p, rows), contiguous, and the context of every row, or -1.

    `first_row` is the place of the batch in the table, for the digests.
    """
    variables, rows = values.shape
    addresses = values.ctypes.data + values.strides[0] * np.arange(variables, dtype=np.uint64)
    nobody, nothing = np.empty(0, dtype=np.int64), np.empty((variables, 0))  # no rows are copied
    room = workspace_for(rows, len(totals.n), variables)
    add_rows(addresses, codes, first_row, 1, totals, room, nobody, nothing)


def settle(totals: ScanTotals) -> Bools:
    """Which variables are constant in which context, once all batches are in; the moments are exact for them.

    Rounding leaves traces of a constant: its mean is replaced by the value itself, its cross products by 0. Means are
    whole afterwards, and centres 0.
    """
    mirror(totals.scatter)
    totals.mean[...] += totals.centre
    totals.centre[...] = 0.0
    single = (totals.low == totals.high) | (totals.n <= 1)[:, None]
    totals.mean[...] = np.where(single & (totals.n > 0)[:, None], totals.low, totals.mean)
    constant: Bools = single | (np.diagonal(totals.scatter, axis1=1, axis2=2) < SMALLEST_SCATTER)
    for level in np.flatnonzero(constant.any(axis=1)):
        totals.scatter[level, constant[level], :] = 0.0
        totals.scatter[level, :, constant[level]] = 0.0
    return constant


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
    scatter = both_triangles(totals.scatter)
    return tuple(Moments(totals.n[b::blocks], mean[b::blocks], scatter[b::blocks]) for b in range(blocks))


def both_triangles(scatter: Floats) -> Floats:
    """Symmetric matrices by their lower triangles."""
    return np.asarray(np.tril(scatter) + np.swapaxes(np.tril(scatter, -1), 1, 2))


def some_cells(totals: ScanTotals, cells: Sequence[int]) -> ScanTotals:
    """The totals of some cells, in their order."""
    return ScanTotals(
        **{name: array if name == "digests" else array[cells] for name, array in totals._asdict().items()}
    )
