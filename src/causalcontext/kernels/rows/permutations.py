"""Statistics of permuted rows: cells of contingency tables, and dispersions within levels."""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel


@kernel
def cell_sum(x: Ints, y: Ints, bounds: Ints, table: Ints, logs: Floats) -> float:
    """The sum of count log(count) over the cells of every stratum.

    x and y are codes, rows of a stratum together, from `bounds[s]` up to `bounds[s + 1]`; `table`,
    shape (levels of x, levels of y), holds zeros, and zeros afterwards; `logs` has c log(c) at c.
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
def permuted_exceedances(
    x: Ints,
    y: Ints,
    bounds: Ints,
    table: Ints,
    logs: Floats,
    observed: float,
    uniforms: Floats,
    most: int,
) -> tuple[int, int]:
    """How many permutations of x inside strata reach `observed`, and how many were made before
    `most` did.

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


def dispersion_within(codes: Ints, values: Floats, levels: int) -> Floats:
    """The sum over groups of the distances between all their pairs, each divided by the size of its
    group.

    `codes`, shape (copies, rows), has the group of every row, one assignment a copy. The values are
    in ascending order, so that one pass will do: a value is above all that came before it in its
    group.
    """
    found = np.zeros(codes.shape[0])
    _add_dispersion(codes, values, levels, found)
    return found


@kernel
def _add_dispersion(codes: Ints, values: Floats, levels: int, found: Floats) -> None:
    copies, rows = codes.shape
    for b in range(copies):
        counts = np.zeros(levels)
        sums = np.zeros(levels)
        distances = np.zeros(levels)
        for j in range(rows):
            group = codes[b, j]
            distances[group] += counts[group] * values[j] - sums[group]
            counts[group] += 1.0
            sums[group] += values[j]
        for group in range(levels):
            if counts[group] > 0.0:
                found[b] += distances[group] / counts[group]
