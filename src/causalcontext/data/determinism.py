"""Is the context a function of one column? Then a search needs to know (`cc.threshold`, `cc.bins`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset

FEWEST_ROWS = 20
"""Rows that every context needs before a fit without error means anything."""
FEWEST_ROWS_OF_A_STEP = 10
ROWS_OF_A_LOOK = 200
MOST_CUTS = 3
"""Cuts of a small tree (depth 2), unless more contexts need more."""


class StepFunction(NamedTuple):
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


def indicators(data: Dataset) -> list[StepFunction]:
    """The columns of which the context is a function with few cuts, without a single exception."""
    counts = np.bincount(data.codes[data.codes >= 0], minlength=len(data.levels))
    if data.context is None or counts.min() < FEWEST_ROWS:
        return []
    most = max(MOST_CUTS, len(counts) - 1)
    few = slice(None, None, max(1, data.n_rows // ROWS_OF_A_LOOK))
    columns = [(data.names[i], np.asarray(data.columns[i])) for i in data.system if data.kinds[i].is_number]
    # What takes too many cuts on some of the rows takes no fewer on all of them.
    promising = [(name, column) for name, column in columns if _switches(column[few], data.codes[few])[2].size <= most]
    found = (_indicator(name, column, data.codes, most) for name, column in promising)
    return [indicator for indicator in found if indicator is not None]


def _indicator(name: str, values: NDArray[Any], codes: NDArray[np.int32], most: int) -> StepFunction | None:
    """The context as a step function of the values; None with an exception, too many steps or tiny ones."""
    column, codes, switch = _switches(values, codes)
    if switch.size > most or (column[switch] == column[switch + 1]).any():
        return None
    if np.diff([-1, *switch.tolist(), len(codes) - 1]).min() < FEWEST_ROWS_OF_A_STEP:
        return None
    cuts = (column[switch] + column[switch + 1]) / 2
    levels = [int(codes[place]) for place in (*switch.tolist(), len(codes) - 1)]
    return StepFunction(name, tuple(cuts.tolist()), tuple(levels))


def _switches(
    values: NDArray[Any], codes: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.intp]]:
    """The usable rows sorted by value, and the places after which the context changes."""
    column = values.astype(np.float64)
    usable = (codes >= 0) & np.isfinite(column)
    column, codes = column[usable], codes[usable]
    order = np.lexsort((codes, column))
    column, codes = column[order], codes[order]
    return column, codes, np.flatnonzero(np.diff(codes))
