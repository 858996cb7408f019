"""Kernels of a pass over a stream: columns are taken where they lie, and a batch is visited twice.

The first visit looks at every value (digests, missing and infinite ones), the second one takes the usable rows in
stretches that stay in the cache: sorted by level, around the mean of the first rows of the level, with ranges, sums and
cross products. Differences from that mean are exact for values that are far from 0, so that offsets cost no digits.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints, Values
from causalcontext.kernels.compiling import inner, njit
from causalcontext.kernels.rows.scan import GOLDEN, ONE, ZERO, look_at_column, mixed

Words = NDArray[np.uint64]

_EIGHT, _ROWS_TOGETHER = np.uint64(8), np.uint64(512)
_STRETCH = 512
"""Rows at a time: some columns of this length stay in the fastest cache."""
_FIRST_ROWS = 64
"""Rows that say around which mean the others are taken."""


def _pointed(typing_context: Any, address: Any) -> Any:
    """The numbers at an address, as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return numba.types.CPointer(numba.types.float64)(numba.types.uint64), generate


_pointer: Any = intrinsic(_pointed)
_array: Any = numba.carray  # type: ignore[attr-defined]


@inner
def column_at(address: np.uint64, rows: int) -> Floats:
    """So many numbers that begin at an address; whoever passes it keeps them alive."""
    found: Floats = _array(_pointer(address), (rows,))
    return found


@njit(cache=True, nogil=True)
def find_columns(batch: np.uint64, positions: Ints, addresses: Words) -> None:
    """Write down where the values of some columns begin, 0 where some of them are missing.

    `batch` is the address of an ArrowArray of Arrow's C data interface: length, missing values, offset, numbers of
    buffers and children, buffers (the second one holds the values), children.
    """
    above = column_at(batch, 7).view(np.uint64)
    children = column_at(above[6], above[4]).view(np.uint64)
    for j in range(positions.size):
        words = column_at(children[positions[j]], 6).view(np.uint64)
        buffers = column_at(words[5], 2).view(np.uint64)
        full = words[1] == ZERO or buffers[0] == ZERO
        addresses[j] = buffers[1] + (words[2] + above[2]) * _EIGHT if full else ZERO


@njit(cache=True, nogil=True)
def look(
    columns: Words, codes: Codes, first_row: int, digests: Words, missing: Ints, infinite: Ints, usable: Bools
) -> None:
    """Add a batch to the digests and to the counts of missing and infinite values; mark the usable rows.

    Parameters
    ----------
    columns : array of uint64, shape (variables,)
        Where the float64 values of each column begin.
    codes : array of int32, shape (rows,)
        Level of every row, -1 where it is missing.
    first_row : int
        Place of the batch in the table.
    digests : array of uint64, shape (variables,), changed
    missing, infinite : arrays of int64, shape (levels, variables), changed
    usable : array of bool, shape (rows,), overwritten
        True where the row has a level and only finite values.
    """
    rows = codes.size
    for i in range(rows):
        usable[i] = codes[i] >= 0
    for j in range(columns.size):
        bits = column_at(columns[j], rows).view(np.uint64)
        look_at_column(bits, codes, j, first_row, digests, missing, infinite, usable)


@njit(cache=True, nogil=True)
def into_blocks(codes: Codes, first_row: int, blocks: int, levels: Codes) -> None:
    """Write down the levels `code * blocks + block` of all rows, -1 where the code is; see `data/blocks.py`."""
    block = np.int64(0)
    for i in range(codes.size):
        row = np.uint64(first_row + i)
        if i == 0 or row % _ROWS_TOGETHER == ZERO:
            block = np.int64(mixed((row // _ROWS_TOGETHER + ONE) * GOLDEN) % np.uint64(blocks))
        levels[i] = codes[i] * blocks + block if codes[i] >= 0 else -1


@njit(cache=True, nogil=True)
def add_sorted(
    columns: Words, order: Ints, starts: Ints, n: Ints, centre: Floats, mean: Floats, low: Floats, high: Floats,
    scatter: Floats,
) -> None:  # fmt: skip
    """Add the usable rows of a batch to the moments of their levels.

    Parameters
    ----------
    columns : array of uint64, shape (variables,)
        Where the float64 values of each column begin.
    order, starts : arrays of int64
        The usable rows sorted by level, and where each level starts (`order_by_level`).
    n : array of int64, shape (levels,), changed
    centre : array of float64, shape (levels, variables), changed
        A number near the mean, written down once for every level.
    mean : array of float64, shape (levels, variables), changed
        The mean less that number.
    low, high : arrays of float64, shape (levels, variables), changed
    scatter : array of float64, shape (levels, variables, variables), changed
        Centred cross products, the lower triangles.
    """
    p, rows = columns.size, 0
    for i in range(order.size):
        rows = max(rows, order[i] + 1)
    padded = p + -p % 4  # rows of zeros: cross products are made four by four
    stretch, products = np.zeros((padded, _STRETCH)), np.empty((padded, padded))
    near, total = np.empty(p), np.empty(p)
    for k in range(starts.size - 1):
        begin, end = starts[k], starts[k + 1]
        if begin == end:
            continue
        products[:] = 0.0
        total[:] = 0.0
        for j in range(p):
            near[j] = _mean_of(column_at(columns[j], rows), order[begin : min(begin + _FIRST_ROWS, end)])
        for at in range(begin, end, _STRETCH):
            some = order[at : min(at + _STRETCH, end)]
            for j in range(p):
                less, more, added = _gather(column_at(columns[j], rows), some, near[j], stretch[j])
                low[k, j], high[k, j] = min(low[k, j], less), max(high[k, j], more)
                total[j] += added
            _multiply(stretch, some.size, products)
        if n[k] == 0:
            centre[k] = near
        _merge(n[k], end - begin, near, centre[k], total, mean[k], products, scatter[k])
        n[k] += end - begin


@inner
def _mean_of(column: Floats, rows: Ints) -> float:
    first, total = column[rows[0]], 0.0
    for i in range(rows.size):
        total += column[rows[i]] - first
    return float(first + total / rows.size)


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"nnan", "nsz", "reassoc"})
def _gather(column: Floats, rows: Ints, near: float, found: Floats) -> tuple[float, float, float]:
    """Some values of a column less a number; the smallest and the largest of them, and the sum of the differences."""
    low, high, total = np.inf, -np.inf, 0.0
    for i in range(rows.size):
        value = column[rows[i]]
        low, high = min(low, value), max(high, value)
        difference = value - near
        total += difference
        found[i] = difference
    return low, high, total


@inner
def _multiply(stretch: Floats, rows: int, products: Floats) -> None:
    """Add the cross products of a stretch to the lower triangle, four variables with four at a time."""
    for i in range(0, products.shape[0], 4):
        for j in range(0, i + 4, 4):
            _four_by_four(stretch, i, j, rows, products)


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"contract", "nsz", "reassoc"})
def _four_by_four(stretch: Floats, i: int, j: int, rows: int, products: Floats) -> None:
    """Every number that is loaded is used four times; that is faster than one thread of a BLAS."""
    a, b, c, d = stretch[i, :rows], stretch[i + 1, :rows], stretch[i + 2, :rows], stretch[i + 3, :rows]
    e, f, g, h = stretch[j, :rows], stretch[j + 1, :rows], stretch[j + 2, :rows], stretch[j + 3, :rows]
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
    _add_four(products[i], j, ae, af, ag, ah)
    _add_four(products[i + 1], j, be, bf, bg, bh)
    _add_four(products[i + 2], j, ce, cf, cg, ch)
    _add_four(products[i + 3], j, de, df, dg, dh)


@inner
def _add_four(row: Floats, j: int, a: float, b: float, c: float, d: float) -> None:
    row[j] += a
    row[j + 1] += b
    row[j + 2] += c
    row[j + 3] += d


@inner
def _merge(
    old: int, new: int, near: Floats, centre: Floats, total: Floats, mean: Floats, products: Floats, scatter: Floats
) -> None:
    """Add rows around `near` to those around `centre` (Chan, Golub and LeVeque 1983); `total` is overwritten."""
    share = old * new / (old + new)
    p = near.size
    away = np.empty(p)
    for j in range(p):
        total[j] /= new
        away[j] = (near[j] - centre[j]) + (total[j] - mean[j])
        mean[j] += away[j] * (new / (old + new))
    for i in range(p):
        for j in range(i + 1):
            scatter[i, j] += products[i, j] - new * total[i] * total[j] + share * away[i] * away[j]


@njit(cache=True, nogil=True)
def digest_codes(codes: Codes, words: Words, first_row: int) -> tuple[np.uint64, int]:
    """The sum over rows of a hash of (word of the row's level, row), and how many rows have no level.

    The last word is that of no level.
    """
    total, without = ZERO, 0
    for i in range(codes.size):
        without += codes[i] < 0
        row = np.uint64(first_row + i) + ONE
        total += mixed(words[codes[i]] + row * GOLDEN)
    return total, without


@njit(cache=True, nogil=True)
def look_up(numbers: Values, first: int, places: Codes, codes: Codes) -> int:
    """Write down what stands at the place `number - first` of a list, its last entry for -1; how many are below -1."""
    fresh = 0
    for i in range(numbers.size):
        code = places[np.int64(numbers[i]) - first]
        codes[i] = code
        fresh += code < -1
    return fresh


@njit(cache=True, nogil=True)
def draw(first_row: int, rows: int, bound: np.uint64, chosen: Ints, hashes: Words) -> int:
    """Write down the rows of a batch whose hashes are below a bound, and the hashes; how many there are."""
    found = 0
    for i in range(rows):
        word = mixed((np.uint64(first_row + i) + ONE) * GOLDEN)
        if word < bound:
            chosen[found], hashes[found] = i, word
            found += 1
    return found


@njit(cache=True, nogil=True)
def copy_rows(columns: Words, chosen: Ints, rows: int, kept: Floats) -> None:
    """Copy some rows of a batch to the columns of an array."""
    for j in range(columns.size):
        column = column_at(columns[j], rows)
        for i in range(chosen.size):
            kept[j, i] = column[chosen[i]]
