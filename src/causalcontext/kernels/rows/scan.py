"""Kernels of the one pass over the rows: look at every value, sort a batch by context, centre and multiply it.

Arrays in, arrays out. A batch is an array of shape (variables, rows), so that every loop runs along memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.draws import GOLDEN, ONE, ZERO, mixed

_EXPONENT = np.uint64(0x7FF0000000000000)
_MAGNITUDE = np.uint64(0x7FFFFFFFFFFFFFFF)
_NAN = np.uint64(0x7FF8000000000000)
_ROWS_AT_A_TIME = 512  # six stretches of this length stay in the fastest cache
_COLUMNS_AT_A_TIME = 64  # as many variables, with so many rows, stay in the second cache


@kernel
def digest_rows(words: NDArray[np.uint64], first_row: int) -> np.uint64:
    """A sum over rows of a hash of (word, row): it changes with every word and with the order of the rows.

    Being a sum, it does not depend on how the rows are cut into batches.
    """
    total = ZERO
    for i in range(words.size):
        row = np.uint64(first_row + i) + ONE
        total += mixed(words[i] + row * GOLDEN)
    return total


@kernel
def scan(
    bits: NDArray[np.uint64],
    codes: Codes,
    first_row: int,
    digests: NDArray[np.uint64],
    missing: Ints,
    infinite: Ints,
    usable: Bools,
) -> None:
    """Add a batch to the digests and to the counts of missing and infinite values; mark the usable rows.

    Parameters
    ----------
    bits : array of uint64, shape (variables, rows)
        The float64 values of the batch, seen as words.
    codes : array of int32, shape (rows,)
        Level of every row, -1 where it is missing.
    first_row : int
        Place of the batch in the table.
    digests : array of uint64, shape (variables,), changed
    missing, infinite : arrays of int64, shape (levels, variables), changed
    usable : array of bool, shape (rows,), overwritten
        True where the row has a level and only finite values.
    """
    p, m = bits.shape
    for i in range(m):
        usable[i] = codes[i] >= 0
    for j in range(p):
        look_at_column(bits[j], codes, j, first_row, digests, missing, infinite, usable)


@kernel
def look_at_column(bits: NDArray[np.uint64], codes: Codes, j: int, first_row: int, digests: NDArray[np.uint64],
                   missing: Ints, infinite: Ints, usable: Bools) -> None:  # fmt: skip
    """Add variable j of a batch to its digest and to the counts; rows without a finite value are not usable."""
    digest, odd = look_at_values(bits, first_row)
    digests[j] += digest
    if odd:
        _count(bits, codes, j, missing, infinite, usable)


@kernel
def look_at_values(bits: NDArray[np.uint64], first_row: int) -> tuple[np.uint64, bool]:
    """The digest of some values of a variable, and whether some are no finite numbers."""
    total, largest, row = ZERO, ZERO, (np.uint64(first_row) + ONE) * GOLDEN
    for i in range(bits.size):
        word = bits[i]
        magnitude = word & _MAGNITUDE
        largest = max(largest, magnitude)
        word = ZERO if magnitude == ZERO else word  # -0.0 equals 0.0
        total += mixed(word + row)
        row += GOLDEN
    if largest > _EXPONENT:
        total += _as_one_nan(bits, first_row)
    return total, bool(largest >= _EXPONENT)


@kernel
def _as_one_nan(bits: NDArray[np.uint64], first_row: int) -> np.uint64:
    """What a digest lacks as long as NaNs of other bits are not taken for the usual one."""
    total = ZERO
    for i in range(bits.size):
        if bits[i] & _MAGNITUDE > _EXPONENT:
            row = (np.uint64(first_row + i) + ONE) * GOLDEN
            total += mixed(_NAN + row) - mixed(bits[i] + row)
    return total


@kernel
def _count(bits: NDArray[np.uint64], codes: Codes, j: int, missing: Ints, infinite: Ints, usable: Bools) -> None:
    for i in range(bits.size):
        magnitude = bits[i] & _MAGNITUDE
        if magnitude >= _EXPONENT:
            usable[i] = False
            if codes[i] >= 0 and magnitude > _EXPONENT:
                missing[codes[i], j] += 1
            elif codes[i] >= 0:
                infinite[codes[i], j] += 1


def order_by_level(codes: Codes, usable: Bools, levels: int) -> tuple[Ints, Ints]:
    """The usable rows sorted by level, rows of a level in table order, and where each level starts.

    Returns
    -------
    order : array of int64, shape (usable rows,)
    starts : array of int64, shape (levels + 1,)
        Rows of level `k` are `order[starts[k]:starts[k + 1]]`.
    """
    starts = np.zeros(levels + 1, dtype=np.int64)
    order = np.empty(count_by_level(codes, usable, starts), dtype=np.int64)
    fill_order(codes, usable, starts, order)
    return order, starts


@kernel
def count_by_level(codes: Codes, usable: Bools, starts: Ints) -> int:
    """Write down where each level starts; how many usable rows there are."""
    for i in range(codes.size):
        if usable[i]:
            starts[codes[i] + 1] += 1
    for k in range(starts.size - 1):
        starts[k + 1] += starts[k]
    return int(starts[starts.size - 1])


@kernel
def fill_order(codes: Codes, usable: Bools, starts: Ints, order: Ints) -> None:
    """`order` is filled with the usable rows, level by level."""
    following = starts[:-1].copy()
    for i in range(codes.size):
        if usable[i]:
            order[following[codes[i]]] = i
            following[codes[i]] += 1


@kernel
def centre_by_level(
    values: Floats,
    order: Ints,
    starts: Ints,
    centred: Floats,
    mean: Floats,
    rest: Floats,
    low: Floats,
    high: Floats,
) -> None:
    """Copy the rows of every level side by side, centred by their own mean, and widen the ranges.

    Parameters
    ----------
    values : array of float64, shape (variables, rows)
    order, starts : arrays of int64
        From `order_by_level`.
    centred : array of float64, shape (variables, >= usable rows + levels), overwritten
        Rows of level `k` are columns `starts[k] + k` and following; one column behind each level stays free.
    mean : array of float64, shape (levels, variables), overwritten
        Means in this batch, as they are rounded; left alone where a level has no rows in it.
    rest : array of float64, shape (levels, variables), overwritten
        What the rounded mean lacks.
    low, high : arrays of float64, shape (levels, variables), changed
    """
    for j in range(values.shape[0]):
        for k in range(starts.size - 1):
            if starts[k] == starts[k + 1]:
                continue
            # Sums of differences from the first value: a large common offset costs no digits.
            first = values[j, order[starts[k]]]
            total, smallest, largest = 0.0, low[k, j], high[k, j]
            for i in range(starts[k], starts[k + 1]):
                value = values[j, order[i]]
                centred[j, i + k] = value
                total += value - first
                smallest, largest = min(smallest, value), max(largest, value)
            average = first + total / (starts[k + 1] - starts[k])
            total = _take_away(centred[j, starts[k] + k : starts[k + 1] + k], average)
            mean[k, j], rest[k, j] = average, total / (starts[k + 1] - starts[k])
            low[k, j], high[k, j] = smallest, largest


@kernel(fastmath={"nsz", "reassoc"})
def _take_away(values: Floats, number: float) -> float:
    """Take a number from all values; the sum of what is left."""
    total = 0.0
    for i in range(values.size):
        values[i] -= number
        total += values[i]
    return total


def blocks(variables: int) -> int:
    """Into how many blocks so many variables fall."""
    return -(-variables // _COLUMNS_AT_A_TIME)


@kernel
def add_cross_products(centred: Floats, start: int, stop: int, scatter: Floats) -> None:
    """Add the cross products of columns `start` to `stop` of a batch to the lower triangle of `scatter`."""
    add_blocks(centred, start, stop, scatter, 0, 1 + scatter.shape[0] // _COLUMNS_AT_A_TIME)


@kernel
def add_blocks(centred: Floats, start: int, stop: int, scatter: Floats, first: int, last: int) -> None:
    """The same for the variables of the blocks from `first` up to `last`, with all; so threads can share the work.

    Two variables meet four at a time, so that every number that is loaded is used several times, and a block of
    variables stays in the cache until all others have met it. That is about as fast as one thread of a BLAS; the
    threads of a BLAS would wait for each other in thousands of short calls, for seconds in all when other programs are
    running, and its sums depend on where a column stands.

    Parameters
    ----------
    centred : array of float64, shape (variables, >= stop)
    scatter : array of float64, shape (variables, variables), changed
    """
    end = scatter.shape[0] - 1
    for low in range(start, stop, _ROWS_AT_A_TIME):
        high = min(low + _ROWS_AT_A_TIME, stop)
        for block in range(first * _COLUMNS_AT_A_TIME, min(end + 1, last * _COLUMNS_AT_A_TIME), _COLUMNS_AT_A_TIME):
            for i in range(block, end + 1, 2):
                for j in range(block, min(i + 1, end, block + _COLUMNS_AT_A_TIME - 1) + 1, 4):
                    products = two_by_four(centred, centred, i, j, low, high)
                    for place in range(8):
                        row, column = i + place // 4, j + place % 4
                        if column <= row <= end:
                            scatter[row, column] += products[place]


@kernel
def mirror(scatter: Floats) -> None:
    """Copy the lower triangle of every matrix, shape (levels, variables, variables), to the upper one."""
    for k in range(scatter.shape[0]):
        for i in range(scatter.shape[1]):
            for j in range(i):
                scatter[k, j, i] = scatter[k, i, j]


@kernel(fastmath={"contract", "nsz", "reassoc"})
def two_by_four(left: Floats, right: Floats, i: int, j: int, low: int, high: int) -> tuple[float, ...]:
    """The products of rows i, i + 1 of one array with rows j to j + 3 of another; beyond a last row meaningless."""
    a, b = left[i, low:high], left[min(i + 1, left.shape[0] - 1), low:high]
    last = right.shape[0] - 1
    c, d = right[j, low:high], right[min(j + 1, last), low:high]
    e, f = right[min(j + 2, last), low:high], right[min(j + 3, last), low:high]
    ac = ad = ae = af = bc = bd = be = bf = 0.0
    for k in range(high - low):
        ac += a[k] * c[k]
        ad += a[k] * d[k]
        ae += a[k] * e[k]
        af += a[k] * f[k]
        bc += b[k] * c[k]
        bd += b[k] * d[k]
        be += b[k] * e[k]
        bf += b[k] * f[k]
    return ac, ad, ae, af, bc, bd, be, bf
