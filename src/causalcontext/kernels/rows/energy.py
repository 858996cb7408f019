"""Sums of distances within groups of numbers, for many assignments to the groups at once."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel


def dispersion_within(codes: Ints, values: Floats, levels: int) -> Floats:
    """The sum over groups of the distances between all their pairs, each divided by the size of its group.

    Parameters
    ----------
    codes : array, shape (copies, rows)
        The group of every row, one assignment a copy.
    values : array, shape (rows,)
        In ascending order, so that one pass will do: a value is above all that came before it in its group.
    levels : int
        The number of groups.
    """
    found = np.zeros(codes.shape[0])
    _add_dispersion(codes, values, levels, found)
    return found


@kernel
def _add_dispersion(codes: Ints, values: Floats, levels: int, found: Floats) -> None:
    copies, rows = codes.shape
    for b in range(copies):
        counts, sums, distances = np.zeros(levels), np.zeros(levels), np.zeros(levels)
        for j in range(rows):
            group = codes[b, j]
            distances[group] += counts[group] * values[j] - sums[group]
            counts[group] += 1.0
            sums[group] += values[j]
        for group in range(levels):
            if counts[group] > 0.0:
                found[b] += distances[group] / counts[group]
