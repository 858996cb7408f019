"""Kernels that look at every value of a column, and multiply columns with each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.draws import GOLDEN, ONE, ZERO, mixed

_EXPONENT = np.uint64(0x7FF0000000000000)
_MAGNITUDE = np.uint64(0x7FFFFFFFFFFFFFFF)
_NAN = np.uint64(0x7FF8000000000000)
_ROWS_AT_A_TIME = 512  # six stretches of this length stay in the fastest cache
_COLUMNS_AT_A_TIME = 64  # as many variables, with so many rows, stay in the second cache


@kernel
def digest_rows(words: NDArray[np.uint64]) -> np.uint64:
    """A sum over rows of a hash of (word, row): it changes with every word and with the order of
    the rows.
    """
    total = ZERO
    for i in range(words.size):
        total += mixed(words[i] + (np.uint64(i) + ONE) * GOLDEN)
    return total


@kernel
def look_at_values(bits: NDArray[np.uint64], first_row: int) -> tuple[np.uint64, bool]:
    """The digest of some values, a sum over rows, so that batches do not matter; whether some are
    not finite.
    """
    total = ZERO
    largest = ZERO
    row = (np.uint64(first_row) + ONE) * GOLDEN
    for i in range(bits.size):
        word = bits[i]
        magnitude = word & _MAGNITUDE
        largest = max(largest, magnitude)
        word = ZERO if magnitude == ZERO else word  # -0.0 equals 0.0
        total += mixed(word + row)
        row += GOLDEN
    for i in range(bits.size if largest > _EXPONENT else 0):
        if bits[i] & _MAGNITUDE > _EXPONENT:  # a NaN of other bits is taken for the usual one
            row = (np.uint64(first_row + i) + ONE) * GOLDEN
            total += mixed(_NAN + row) - mixed(bits[i] + row)
    return total, bool(largest >= _EXPONENT)


@kernel
def add_cross_products(centred: Floats, scatter: Floats) -> None:
    """Add the cross products of a batch, shape (variables, rows), to the lower triangle of
    `scatter`.

    Two variables meet four at a time, so that every number that is loaded is used several times,
    and a block of variables stays in the cache until all others have met it. That is about as fast
    as one thread of a BLAS; the threads of a BLAS would wait for each other in thousands of short
    calls, for seconds in all when other programs are running, and its sums depend on where a column
    stands.
    """
    end = scatter.shape[0] - 1
    rows = centred.shape[1]
    for low in range(0, rows, _ROWS_AT_A_TIME):
        high = min(low + _ROWS_AT_A_TIME, rows)
        for block in range(0, end + 1, _COLUMNS_AT_A_TIME):
            for i in range(block, end + 1, 2):
                for j in range(block, min(i + 1, end, block + _COLUMNS_AT_A_TIME - 1) + 1, 4):
                    products = _two_by_four(centred, i, j, low, high)
                    for place in range(8):
                        row = i + place // 4
                        column = j + place % 4
                        if column <= row <= end:
                            scatter[row, column] += products[place]


@kernel
def mirror(scatter: Floats) -> None:
    """Copy the lower triangle of every matrix, shape (levels, variables, variables), to the upper
    one.
    """
    for k in range(scatter.shape[0]):
        for i in range(scatter.shape[1]):
            for j in range(i):
                scatter[k, j, i] = scatter[k, i, j]


@kernel(fastmath={"contract", "nsz", "reassoc"})
def _two_by_four(values: Floats, i: int, j: int, low: int, high: int) -> tuple[float, ...]:
    """The products of rows i, i + 1 with rows j to j + 3; beyond the last row meaningless."""
    last = values.shape[0] - 1
    a = values[i, low:high]
    b = values[min(i + 1, last), low:high]
    c = values[j, low:high]
    d = values[min(j + 1, last), low:high]
    e = values[min(j + 2, last), low:high]
    f = values[min(j + 3, last), low:high]
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
