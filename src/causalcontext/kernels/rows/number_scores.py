"""What a noise density adds to the score of a number: residuals on the rows of a block, then the
best density.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, PointerTo
from causalcontext.kernels.orders.fit_arrays import PIECES, RESPONSE
from causalcontext.kernels.rows.noise_densities import (
    MANY,
    DensityTable,
    density_pointer,
    density_table,
)

FEWEST_ROWS = 10
IN_A_BIN = 5
"""So many places in the bin of a count stand for it."""
NO_DENSITY = -2
"""In place of the first row of a bin: noise is Gaussian."""


def _samples() -> tuple[Any, ...]:
    whole = np.zeros(1, dtype=np.int64)
    number = np.zeros(1)
    return (
        number[:, None],
        whole,
        whole,
        whole,
        whole[:, None],
        number,
        1.0,
        density_table(),
        density_pointer.kind,
    )


@kernel
def number_gain(
    values: Floats,
    starts: Ints,
    groups: Ints,
    node: Ints,
    chosen: Ints,
    slopes: Floats,
    rows: float,
    densities: DensityTable,
    density_gain: FunctionPointer,
) -> float:
    """What the best noise density gains over the Gaussian one; `rows` of the table are what these
    stand for.

    The rows of `values`, shape (columns, m), are sorted by cell, of which `starts` has the first
    ones and `groups` the intercepts, -1 for cells that are not in the block. `node` is the number's
    row of `FitRows.node`: its column, and for a count the first of `IN_A_BIN` rows of `values` in
    which it lies elsewhere in its bin; -1 for other numbers, `NO_DENSITY` where noise is Gaussian.
    `chosen` are columns, and the groups in which they live, as a bit mask (0: all).
    """
    response = node[RESPONSE]
    pieces = node[PIECES]
    if pieces == NO_DENSITY:
        return 0.0
    residual = np.empty(values.shape[1] * (IN_A_BIN if pieces >= 0 else 1))
    size = write_residual(values, starts, groups, response, chosen, slopes, slopes.size, residual)
    if size <= FEWEST_ROWS:
        return 0.0
    if pieces >= 0:
        _spread(values, starts, groups, response, pieces, size, residual)
        size *= IN_A_BIN
    return float(density_gain(residual, size, rows, densities, np.empty(MANY + 5)))


number_pointer = PointerTo(number_gain, _samples)


@kernel
def _spread(
    values: Floats,
    starts: Ints,
    groups: Ints,
    response: int,
    pieces: int,
    size: int,
    residual: Floats,
) -> None:
    """Residuals of all places in the bins, one after the other, from those at the beginning."""
    for piece in range(IN_A_BIN - 1, -1, -1):
        place = 0
        for r in range(starts.size - 1):
            if groups[r] >= 0:
                for t in range(starts[r], starts[r + 1]):
                    away = values[pieces + piece, t] - values[response, t]
                    residual[piece * size + place] = residual[place] + away
                    place += 1


@kernel(fastmath={"reassoc", "contract"})
def write_residual(
    values: Floats,
    starts: Ints,
    groups: Ints,
    response: int,
    chosen: Ints,
    slopes: Floats,
    count: int,
    residual: Floats,
) -> int:
    """The residuals on the rows of a block, up to a common intercept; how many there are.

    Loops run over slices from 0: compilers use vector instructions only where no index can be
    negative.
    """
    size, total, rows = 0, np.zeros(groups.size), np.zeros(groups.size)
    for r in range(groups.size):
        group = groups[r]
        length = starts[r + 1] - starts[r]
        if group < 0:
            continue
        own = residual[size : size + length]
        own[:] = values[response, starts[r] : starts[r + 1]]
        for place in range(count):
            if chosen[1, place] == 0 or chosen[1, place] & (1 << group):
                column = values[chosen[0, place], starts[r] : starts[r + 1]]
                slope = slopes[place]
                for t in range(length):
                    own[t] -= slope * column[t]
        summed = 0.0
        for t in range(length):
            summed += own[t]
        total[group] += summed
        rows[group] += length
        size += length
    place = 0
    for r in range(groups.size if groups.max() > 0 else 0):
        length = starts[r + 1] - starts[r] if groups[r] >= 0 else 0
        residual[place : place + length] -= total[groups[r]] / rows[groups[r]]
        place += length
    return size
