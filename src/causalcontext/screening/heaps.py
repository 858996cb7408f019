"""Heaps of a number that its levels part: those of a cause, not those of a threshold."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Floats

NEIGHBOURS = 10
"""Gaps on either side of a border that a gap at it is compared with. Fewer vary more; more reach
into the middle of a heap, where rows are closer. Not tuned."""
HEAPS_APART = 12.0
"""Mean gaps of the neighbours that lie between two heaps: in one heap a gap as wide comes by chance
once in exp(12) borders. Of 150 tables with noise of a tenth 14 had a cause of two levels that was
called a threshold of its own effect, whose heaps were 30 such gaps apart."""
GROUPS = 12
"""A function of fewer different values is a group, of two a threshold; one of more is rounded."""


def are_heaps(level: Floats, number: Floats) -> bool:
    """True where levels border on each other only across wide gaps in a number: a cause parts its
    effect into heaps, while the limit of a threshold or a group lies among rows.
    """
    usable = np.isfinite(level) & np.isfinite(number)
    numbers, first = np.unique(number[usable], return_index=True)
    levels = level[usable][first]
    borders = np.flatnonzero(np.diff(levels) != 0.0)
    if not 0 < len(borders) < GROUPS:
        return False
    gaps = np.diff(numbers)
    for border in borders.tolist():
        around = np.r_[
            gaps[max(border - NEIGHBOURS, 0) : border], gaps[border + 1 : border + 1 + NEIGHBOURS]
        ]
        if len(around) <= NEIGHBOURS or gaps[border] <= HEAPS_APART * around.mean():
            return False
    return True
