"""Heaps of a number that its levels part: those of a cause, not those of a threshold."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.screening.settings import (
    GAPS_BESIDE_A_BORDER,
    LEAST_GAPS_BETWEEN_HEAPS,
    MOST_GROUPS_OF_A_NUMBER,
)


def are_heaps(level: Floats, number: Floats) -> bool:
    """True where levels border on each other only across wide gaps in a number: a cause parts its
    effect into heaps, while the limit of a threshold or a group lies among rows.
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
