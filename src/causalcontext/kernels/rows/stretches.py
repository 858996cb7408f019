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

from causalcontext.kernels.arrays import Codes, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.draws import GOLDEN, ONE, mixed
from causalcontext.kernels.handles import lent
from causalcontext.kernels.rows.addresses import (
    Words,
    column_at,
    fetch,
    value_of,
    word_of,
    words_at,
)
from causalcontext.kernels.rows.scan import look_at_values

Places = NDArray[np.uint32]

_STRETCH = 512
"""Rows that are multiplied at a time."""
_WIDTH = _STRETCH + 16
"""Numbers from one variable to the next: at a distance of 4,096 bytes they would drive each other
out of the cache.
"""
_LANES = 8
"""Stretches are filled up with zeros to a multiple: what is left over would be multiplied one by
one.
"""
_ROWS_TOGETHER = np.uint64(512)
"""Rows that follow each other and are in the same block."""
_FEW_CELLS = 4
_VARIABLES_AT_A_TIME = 64
"""As many variables, with so many rows, stay in the second cache."""
_EIGHT = np.uint64(8)
_COLUMNS_AHEAD = 4
_LINE = 64
"""Bytes that come from memory together."""
_63 = np.int64(63)
_LARGEST = np.int64(2**63 - 1)
_NO_ROW = np.uint32(2**32 - 1)


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
    padded = p + -p % 4  # variables are multiplied four with four
    near, total, away = np.zeros((3, p))
    usable = np.empty(rows, dtype=np.int32)
    order = np.empty(rows + 1, dtype=np.uint32)
    starts = np.zeros(cells + 1, dtype=np.int64)
    room = np.zeros(padded * _WIDTH + _LANES)
    begin = -room.ctypes.data % _LINE // room.itemsize
    stretch = room[begin : begin + padded * _WIDTH].reshape(padded, _WIDTH)
    return ScanWorkspace(
        stretch, np.zeros((padded, padded)), near, total, away, usable, order, starts
    )


@kernel
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
    sums = lent(sums)
    workspace = lent(workspace)
    chosen = lent(chosen)
    kept = lent(kept)
    begin = copied = 0
    while begin < codes.size:
        row = np.uint64(first_row + begin)
        block = 0
        end = codes.size
        if blocks > 1:
            together = row // _ROWS_TOGETHER
            block = int(np.int64(mixed((together + ONE) * GOLDEN) % np.uint64(blocks)))
            end = min(end, begin + int(np.int64((together + ONE) * _ROWS_TOGETHER - row)))
        _look(columns, codes, begin, end, first_row, blocks, block, sums, workspace)
        copied = _copy(columns, end, chosen, copied, kept)
        _sort(workspace.usable[: end - begin], workspace.order, workspace.starts)
        for cell in range(workspace.starts.size - 1):
            for at in range(workspace.starts[cell], workspace.starts[cell + 1], _STRETCH):
                some = workspace.order[at : min(at + _STRETCH, workspace.starts[cell + 1])]
                _add_stretch(columns, begin, some, cell * blocks + block, sums, workspace)
        begin = end


@kernel
def _look(
    columns: Words,
    codes: Codes,
    begin: int,
    end: int,
    first_row: int,
    blocks: int,
    block: int,
    sums: ScanTotals,
    workspace: ScanWorkspace,
) -> None:
    """Add rows to digests and counts; write down the cells of those that are usable, -1 for the
    others.
    """
    usable = workspace.usable
    these = codes[begin:end]
    odd = False
    for i in range(these.size):
        usable[i] = these[i]
    for j in range(columns.size):
        _fetch_ahead(columns, j + _COLUMNS_AHEAD, begin, end, codes.size)
        words = words_at(columns[j] + np.uint64(begin) * _EIGHT, end - begin)
        digest, strange = look_at_values(words, first_row + begin)
        sums.digests[j] += digest
        if strange:
            odd = True
            _count(words.view(np.float64), codes[begin:end], j, blocks, block, sums, usable)
    if odd:
        for i in range(end - begin):
            if codes[begin + i] >= 0 > usable[i]:
                sums.lost[codes[begin + i] * blocks + block] += 1


@kernel
def _copy(columns: Words, end: int, chosen: Ints, copied: int, kept: Floats) -> int:
    """Copy the rows before `end` that were chosen and not yet copied; how many have been copied by
    then.
    """
    until = copied
    while until < chosen.size and chosen[until] < end:
        until += 1
    if until > copied:
        for j in range(columns.size):
            column = column_at(columns[j], end)
            for i in range(copied, until):
                kept[j, i] = column[chosen[i]]
    return until


@kernel
def _fetch_ahead(columns: Words, j: int, begin: int, end: int, rows: int) -> None:
    """Have variable j brought into the cache, after the last one the next rows of the first ones.

    Processors read ahead by themselves, but not beyond a page of memory, which is all that is read
    of a column here.
    """
    if j >= columns.size:
        begin, end = end, min(end + end - begin, rows)
    address = columns[j % columns.size] + np.uint64(begin) * _EIGHT
    for byte in range(0, min(end - begin, _STRETCH) * 8, _LINE):
        fetch(address + np.uint64(byte))


@kernel
def _count(
    values: Floats, codes: Codes, j: int, blocks: int, block: int, sums: ScanTotals, usable: Codes
) -> None:
    """Count values of variable j that are no finite numbers; their rows are not usable."""
    for i in range(values.size):
        if not np.isfinite(values[i]):
            usable[i] = -1
            if codes[i] >= 0 and np.isnan(values[i]):
                sums.missing[codes[i] * blocks + block, j] += 1
            elif codes[i] >= 0:
                sums.infinite[codes[i] * blocks + block, j] += 1


@kernel
def _sort(cells: Codes, order: Places, starts: Ints) -> None:
    """Write down the rows of every cell, one cell after the other, and where each cell starts."""
    if starts.size - 1 <= _FEW_CELLS:
        at = 0
        for cell in range(starts.size - 1):
            starts[cell] = at
            for i in range(cells.size):
                order[at] = i
                at += cells[i] == cell
        starts[starts.size - 1] = at
        return
    starts[:] = 0
    for i in range(cells.size):
        if cells[i] >= 0:
            starts[cells[i] + 1] += 1
    for cell in range(starts.size - 1):
        starts[cell + 1] += starts[cell]
    for i in range(cells.size):
        if cells[i] >= 0:
            order[starts[cells[i]]] = i
            starts[cells[i]] += 1
    for cell in range(starts.size - 1, 0, -1):  # a cell ends where the next one starts
        starts[cell] = starts[cell - 1]
    starts[0] = 0


@kernel
def _add_stretch(
    columns: Words, begin: int, rows: Places, level: int, sums: ScanTotals, workspace: ScanWorkspace
) -> None:
    """Add some rows of one level, which are counted from `begin`."""
    m = rows.size
    size = int(np.int64(rows[rows.size - 1])) + 1
    offset = np.uint64(begin) * _EIGHT
    if sums.n[level] == 0:
        for j in range(columns.size):
            column = column_at(columns[j] + offset, size)
            first = column[rows[0]]
            summed = 0.0
            for i in range(m):
                summed += column[rows[i]] - first
            sums.centre[level, j] = first + summed / m
    filled = m + -m % _LANES
    for j in range(columns.size):
        near = sums.centre[level, j] + sums.mean[level, j]
        _gather(column_at(columns[j] + offset, size), rows, workspace.stretch, j)
        low, high, total = _centre(workspace.stretch, j, m, near)
        sums.low[level, j], sums.high[level, j] = (
            min(sums.low[level, j], low),
            max(sums.high[level, j], high),
        )
        workspace.near[j] = near
        workspace.total[j] = total
        for i in range(m, filled):
            workspace.stretch[j, i] = 0.0
    # where variables are left over, zeros make up a four: so no sum depends on where a column
    # stands
    for block in range(0, columns.size, _VARIABLES_AT_A_TIME):
        for i in range(block, columns.size, 4):
            for j in range(block, min(i + 4, block + _VARIABLES_AT_A_TIME), 4):
                _four_by_four(workspace.stretch, i, j, filled, workspace.products)
    _merge(sums.n[level], m, level, sums, workspace)
    sums.n[level] += m


@kernel
def _gather(column: Floats, rows: Places, stretch: Floats, j: int) -> None:
    """Copy some values of a column."""
    first = rows[0]
    if column.size - np.int64(first) == rows.size:  # side by side
        for i in range(rows.size):
            stretch[j, i] = column[first + np.uint32(i)]
        return
    for i in range(rows.size):
        row = rows[i]
        if (
            row == _NO_ROW
        ):  # it never is; but a loop that may end early is not turned into slow vector gathers
            break
        stretch[j, i] = column[row]


@kernel(fastmath={"nnan", "nsz", "reassoc"})
def _centre(stretch: Floats, j: int, rows: int, near: float) -> tuple[float, float, float]:
    """Take a number from the values of variable j; the smallest and largest of them, and the sum of
    what is left.
    """
    low = _LARGEST
    high = -_LARGEST
    total = 0.0
    for i in range(rows):
        value = stretch[j, i]
        word = word_of(value)
        word ^= (
            word >> _63
        ) & _LARGEST  # whole numbers in the order of the values, which are compared faster
        low = min(low, word)
        high = max(high, word)
        value -= near
        total += value
        stretch[j, i] = value
    return (
        value_of(low ^ ((low >> _63) & _LARGEST)),
        value_of(high ^ ((high >> _63) & _LARGEST)),
        total,
    )


@kernel(fastmath={"contract", "nsz", "reassoc"})
def _four_by_four(stretch: Floats, i: int, j: int, rows: int, products: Floats) -> None:
    """Every number that is loaded is used four times; that is faster than one thread of a BLAS."""
    a = stretch[i, :rows]
    b = stretch[i + 1, :rows]
    c = stretch[i + 2, :rows]
    d = stretch[i + 3, :rows]
    e = stretch[j, :rows]
    f = stretch[j + 1, :rows]
    g = stretch[j + 2, :rows]
    h = stretch[j + 3, :rows]
    ae = af = ag = ah = be = bf = bg = bh = ce = cf = cg = ch = de = df = dg = dh = 0.0
    for k in range(rows):
        ae += a[k] * e[k]
        af += a[k] * f[k]
        ag += a[k] * g[k]
        ah += a[k] * h[k]
        be += b[k] * e[k]
        bf += b[k] * f[k]
        bg += b[k] * g[k]
        bh += b[k] * h[k]
        ce += c[k] * e[k]
        cf += c[k] * f[k]
        cg += c[k] * g[k]
        ch += c[k] * h[k]
        de += d[k] * e[k]
        df += d[k] * f[k]
        dg += d[k] * g[k]
        dh += d[k] * h[k]
    _set_four(products[i], j, ae, af, ag, ah)
    _set_four(products[i + 1], j, be, bf, bg, bh)
    _set_four(products[i + 2], j, ce, cf, cg, ch)
    _set_four(products[i + 3], j, de, df, dg, dh)


@kernel
def _set_four(row: Floats, j: int, a: float, b: float, c: float, d: float) -> None:
    row[j] = a
    row[j + 1] = b
    row[j + 2] = c
    row[j + 3] = d


@kernel
def _merge(old: int, new: int, level: int, sums: ScanTotals, workspace: ScanWorkspace) -> None:
    """Add the rows of the workspace to those of a level (Chan, Golub and LeVeque 1983)."""
    near = workspace.near
    total = workspace.total
    away = workspace.away
    products = workspace.products
    share = old * new / (old + new)
    for j in range(near.size):
        total[j] /= new
        away[j] = (near[j] - sums.centre[level, j]) + (total[j] - sums.mean[level, j])
        sums.mean[level, j] += away[j] * (new / (old + new))
    for i in range(near.size):
        for j in range(i + 1):
            within = total[i] * total[j]
            between = away[i] * away[j]
            sums.scatter[level, i, j] += products[i, j] - new * within + share * between
