"""Sums over contingency tables in strata, and permutations inside strata."""

from __future__ import annotations

import math

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel


@kernel
def cell_sum(x: Ints, y: Ints, bounds: Ints, table: Ints, logs: Floats) -> float:
    """The sum of count log(count) over the cells of every stratum.

    Parameters
    ----------
    x, y : arrays of int, shape (rows,)
        Codes, rows of a stratum together.
    bounds : array of int, shape (strata + 1,)
        Where every stratum begins, and where the last one ends.
    table : array of int, shape (levels of x, levels of y)
        Zeros, and zeros afterwards.
    logs : array, shape (rows + 1,)
        c log(c) at c.
    """
    total = 0.0
    for stratum in range(bounds.size - 1):
        for row in range(bounds[stratum], bounds[stratum + 1]):
            table[x[row], y[row]] += 1
        for row in range(bounds[stratum], bounds[stratum + 1]):
            total += logs[table[x[row], y[row]]]
            table[x[row], y[row]] = 0
    return total


@kernel
def permuted_exceedances(x: Ints, y: Ints, bounds: Ints, table: Ints, logs: Floats, observed: float,
                         uniforms: Floats, most: int) -> tuple[int, int]:  # fmt: skip
    """How many permutations of x inside strata reach `observed`, and how many were made before `most` did.

    `uniforms`, shape (permutations, rows), holds the random numbers; x is left permuted.
    """
    reached = 0
    for draw in range(uniforms.shape[0]):
        for stratum in range(bounds.size - 1):
            begin = bounds[stratum]
            for row in range(bounds[stratum + 1] - 1, begin, -1):
                other = begin + math.floor(uniforms[draw, row] * (row - begin + 1))
                x[row], x[other] = x[other], x[row]
        if cell_sum(x, y, bounds, table, logs) >= observed:
            reached += 1
            if reached == most:
                return reached, draw + 1
    return reached, uniforms.shape[0]
