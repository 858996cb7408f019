"""Kernels that add a batch of rows to sums: one visit, a few hundred rows at a time, which stay in
the cache.

Columns are taken where they lie. Every value is looked at (digests, missing and infinite ones);
then the usable rows of every level are put side by side, less their own mean, and ranges, sums and
cross products follow. Differences from a mean are exact for values that are far from 0, so that
offsets cost no digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext import _kernels
from causalcontext.kernels.arrays import Codes, Floats, Ints, Words

Places = NDArray[np.uint32]

_STRETCH = 512
"""Rows that are multiplied at a time, as in `src/kernels/stretches.hpp`."""
_WIDTH = _STRETCH + 16
"""Numbers from one variable to the next: at a distance of 4,096 bytes they would drive each other
out of the cache.
"""
_LINE = 64
"""Bytes that come from memory together."""


class ScanTotals(NamedTuple):
    """What is known about K cells and p variables after some rows; kernels change the arrays."""

    # `n`, `lost`: shape (K,): usable rows, and rows that have a context but a missing or infinite
    # value
    n: Ints
    lost: Ints
    # shape (K, p): numbers near the means, written down with the first rows of every cell
    centre: Floats
    # shape (K, p): of the usable rows, less those numbers: so means far from 0 cost no digits
    mean: Floats
    # `low`, `high`: shape (K, p): of the usable rows
    low: Floats
    high: Floats
    # shape (K, p, p): centred cross products of the usable rows; the lower triangles, until
    # `settle`
    scatter: Floats
    # `missing`, `infinite`: shape (K, p)
    missing: Ints
    infinite: Ints
    digests: Words  # shape (p,): a hash of every column


class ScanWorkspace(NamedTuple):
    """Room to work in, made once: a stretch of p variables, its cross products, its means and the
    rows in it.
    """

    stretch: Floats
    products: Floats
    near: Floats
    total: Floats
    away: Floats
    usable: Codes
    order: Places
    starts: Ints


def workspace_for(rows: int, cells: int, p: int) -> ScanWorkspace:
    """Room for batches of so many rows."""
    near, total, away = np.zeros((3, p))
    usable = np.empty(rows, dtype=np.int32)
    order = np.empty(rows + 1, dtype=np.uint32)
    starts = np.zeros(cells + 1, dtype=np.int64)
    room = np.zeros(p * _WIDTH + _LINE // 8)
    begin = -room.ctypes.data % _LINE // room.itemsize
    stretch = room[begin : begin + p * _WIDTH].reshape(p, _WIDTH)
    return ScanWorkspace(stretch, np.zeros((p, p)), near, total, away, usable, order, starts)


def add_rows(
    columns: Words,
    codes: Codes,
    first_row: int,
    blocks: int,
    sums: ScanTotals,
    workspace: ScanWorkspace,
    chosen: Ints,
    kept: Floats,
) -> None:
    """Add a batch to the sums of its levels, and copy some of its rows while they are in the cache.

    `columns` are the addresses of float64 values, `codes` the cell of every row, -1 where it is
    missing, `first_row` is the place of the batch in the table. Rows that stand together are in the
    same block, whose number is a hash (see `data/moments.py`): block b of cell k is the cell `k *
    blocks + b` of the sums. `chosen` are the rows to copy to `kept`, shape (variables, rows to
    copy), counted from the first one of the batch, in order.
    """
    _kernels.add_rows(columns, codes, first_row, blocks, sums, workspace, chosen, kept)
