"""What a noise law adds to the score of a number: residuals on the rows of a block, then the best law."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.calls import Call, pointer_to
from causalcontext.kernels.compiling import njit
from causalcontext.kernels.rows.laws import MANY, LawTable, law_gain, law_table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_ROWS = 10
PIECES = 5
"""So many places in the bin of a count stand for it."""


@cache
def number_call() -> Call:
    """`number_gain` behind a pointer."""
    whole, number = np.zeros(1, dtype=np.int64), np.zeros(1)
    return pointer_to(number_gain, number[:, None], whole, 1, False, 0, whole[:, None], number, 1.0, 1.0, law_table())


@njit(cache=True, nogil=True, error_model="numpy")
def number_gain(values: Floats, starts: Ints, mask: int, by_context: bool, response: int, chosen: Ints,
                slopes: Floats, gap: float, rows: float, laws: LawTable) -> float:  # fmt: skip
    """What the best noise law gains over the Gaussian one.

    Parameters
    ----------
    values : array, shape (columns, m)
        Rows sorted by context; `starts` has the first row of every context.
    mask, by_context : int, bool
        The contexts of the block, and whether each has its own intercept.
    chosen : array of int, shape (2, columns)
        Columns, and the contexts in which they live (0: all).
    gap : float
        The distance of neighbouring values of a count, which is taken to be anywhere in its bin; 0 for other numbers.
    rows : float
        The rows of the table that these stand for.
    """
    residual = np.empty(values.shape[1] * (PIECES if gap > 0.0 else 1))
    size = write_residual(values, starts, mask, by_context, response, chosen, slopes, slopes.size, residual)
    if size <= FEWEST_ROWS:
        return 0.0
    if gap > 0.0:
        for piece in range(PIECES - 1, -1, -1):
            away = gap * ((piece + 0.5) / PIECES - 0.5)
            for t in range(size):
                residual[piece * size + t] = residual[t] + away
        size *= PIECES
    return law_gain(residual, size, rows, laws, np.empty(MANY + 5))


@njit(cache=True, nogil=True, error_model="numpy")
def write_residual(values: Floats, starts: Ints, mask: int, by_context: bool, response: int, chosen: Ints,
                   slopes: Floats, count: int, residual: Floats) -> int:  # fmt: skip
    """The residuals on the rows of a block, up to a common intercept; how many there are."""
    size = 0
    for r in range(starts.size - 1):
        if not mask & (1 << r):
            continue
        start, length = starts[r], starts[r + 1] - starts[r]
        for t in range(length):
            residual[size + t] = values[response, start + t]
        for place in range(count):
            if chosen[1, place] == 0 or chosen[1, place] & (1 << r):
                column, slope = chosen[0, place], slopes[place]
                for t in range(length):
                    residual[size + t] -= slope * values[column, start + t]
        if by_context:
            mean = 0.0
            for t in range(length):
                mean += residual[size + t]
            for t in range(length):
                residual[size + t] -= mean / length
        size += length
    return size
