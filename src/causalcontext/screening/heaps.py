"""Heaps of a number that its levels part: those of a cause, not those of a threshold.

A cause of few levels may move its effect so far that no values of two levels overlap. The levels
are then a function of the number, as a threshold is, but they lie in heaps with nothing between.
The limit of a threshold lies anywhere, mostly among rows.
"""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.screening.settings import (
    GAPS_BESIDE_A_BORDER,
    LEAST_GAPS_BETWEEN_HEAPS,
    MOST_GROUPS_OF_A_NUMBER,
)


def are_heaps(level: Floats, number: Floats) -> bool:
    """True where levels border on each other only across wide gaps in a number.

    `level` and `number` have shape (rows,), NaN where a cell is missing. In the order of the
    number, every gap between two levels must be `LEAST_GAPS_BETWEEN_HEAPS` times as wide as the
    mean of the gaps on both of its sides. A border with few rows beside it says nothing, and
    neither do very many borders: both count as no heaps.
    """
    usable = np.isfinite(level) & np.isfinite(number)
    numbers, first = np.unique(number[usable], return_index=True)
    levels = level[usable][first]
    borders = np.flatnonzero(np.diff(levels) != 0.0)
    if not 0 < len(borders) < MOST_GROUPS_OF_A_NUMBER:
        return False
    gaps = np.diff(numbers)
    for border in borders.tolist():
        around = np.r_[
            gaps[max(border - GAPS_BESIDE_A_BORDER, 0) : border],
            gaps[border + 1 : border + 1 + GAPS_BESIDE_A_BORDER],
        ]
        if (
            len(around) <= GAPS_BESIDE_A_BORDER
            or gaps[border] <= LEAST_GAPS_BETWEEN_HEAPS * around.mean()
        ):
            return False
    return True
