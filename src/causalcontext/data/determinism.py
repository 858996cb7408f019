"""Is the context a function of one column? Then a search needs to know (`cc.threshold`, `cc.bins`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset

FEWEST_ROWS = 20
"""Rows that every context needs before a fit without error means anything."""
FEWEST_ROWS_OF_A_STEP = 10
MOST_CUTS = 3
"""Cuts of a small tree (depth 2), unless more contexts need more."""


class Indicator(NamedTuple):
    """The context is this function of a column: `levels[i]` between the cuts i - 1 and i."""

    column: str
    cuts: tuple[float, ...]
    levels: tuple[int, ...]

    @property
    def is_threshold(self) -> bool:
        """Whether there is one cut."""
        return len(self.cuts) == 1

    def call(self) -> str:
        """How to declare it."""
        if self.is_threshold:
            return f'context=cc.threshold("{self.column}", {self.cuts[0]:.6g})'
        return f'context=cc.bins("{self.column}", edges=[{", ".join(f"{cut:.6g}" for cut in self.cuts)}])'


def indicators(data: Dataset) -> list[Indicator]:
    """The columns of which the context is a function with few cuts, without a single exception."""
    levels, counts = np.unique(data.codes[data.codes >= 0], return_counts=True)
    if data.context is None or len(levels) < 2 or counts.min() < FEWEST_ROWS:
        return []
    found = (_indicator(data.names[i], np.asarray(data.columns[i]), data.codes) for i in data.system)
    return [indicator for indicator in found if indicator is not None]


def _indicator(name: str, values: NDArray[np.generic], codes: NDArray[np.int32]) -> Indicator | None:
    """The context as a step function of the values, with as many steps as it takes; None with an exception."""
    usable = (codes >= 0) & np.isfinite(values.astype(np.float64))
    column, codes = values[usable].astype(np.float64), codes[usable]
    order = np.lexsort((codes, column))
    column, codes = column[order], codes[order]
    switch = np.flatnonzero(np.diff(codes))
    if switch.size > max(MOST_CUTS, len(np.unique(codes)) - 1) or (column[switch] == column[switch + 1]).any():
        return None
    if np.diff([-1, *switch.tolist(), len(codes) - 1]).min() < FEWEST_ROWS_OF_A_STEP:
        return None
    cuts = (column[switch] + column[switch + 1]) / 2
    levels = [int(codes[place]) for place in (*switch.tolist(), len(codes) - 1)]
    return Indicator(name, tuple(cuts.tolist()), tuple(levels))
