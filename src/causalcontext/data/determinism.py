"""Is a context a step function of one column? Then a search needs to know (`cc.threshold`, `cc.bins`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.cuts import number_text, short_cut
from causalcontext.data.dataset import Dataset
from causalcontext.kernels.arrays import Codes, Floats, Values

FEWEST_ROWS = 20
"""Rows that every context needs before a fit without error means anything."""
FEWEST_ROWS_OF_A_STEP = 10
ROWS_OF_A_GLANCE, ROWS_OF_A_LOOK = 40, 200
MOST_CUTS = 3
"""Cuts of a small tree (depth 2), unless more contexts need more."""


class StepFunction(NamedTuple):
    """The context variable is this function of a column: `levels[i]` between the cuts i - 1 and i."""

    context: str
    column: str
    cuts: tuple[float, ...]
    levels: tuple[int, ...]

    @property
    def is_threshold(self) -> bool:
        """Whether there is one cut."""
        return len(self.cuts) == 1

    def call(self) -> str:
        """How to declare it."""
        column = json.dumps(self.column, ensure_ascii=False)  # a quote in a name is no end of it
        if self.is_threshold:
            return f"context=cc.threshold({column}, {number_text(self.cuts[0])})"
        return f"context=cc.bins({column}, edges=[{', '.join(number_text(cut) for cut in self.cuts)}])"

    def advice(self) -> str:
        """What to do if the column made the context, which must not stay beside what is declared."""
        return f"{self.call()}, without the column {self.context}"


def step_functions(data: Dataset) -> list[StepFunction]:
    """The columns of which a context variable is a function with few cuts, without a single exception."""
    return [found for position in data.contexts.positions for found in _of_context(data, position)]


def _of_context(data: Dataset, position: int) -> Iterator[StepFunction]:
    codes = np.asarray(data.columns[position])
    counts = np.bincount(codes[codes >= 0])
    if counts.min() < FEWEST_ROWS:
        return
    most = max(MOST_CUTS, len(counts) - 1)
    few = _every(data, ROWS_OF_A_LOOK)
    for i in _at_a_glance(data, codes, most):
        column = np.asarray(data.columns[i])
        if _switches(column[few], codes[few])[2].size <= most:
            found = _steps(column, codes, most)
            if found is not None:
                yield StepFunction(data.names[position], data.names[i], *found)


def _at_a_glance(data: Dataset, codes: Codes, most: int) -> list[int]:
    """The numbers that may take few cuts: what takes too many on some of the rows takes no fewer on all of them."""
    numbers = [i for i in data.system if data.kinds[i].is_number]
    few = _every(data, ROWS_OF_A_GLANCE)
    rows = np.argsort(codes[few], kind="stable")
    rows = rows[codes[few][rows] >= 0]
    values = np.array([data.columns[i][few] for i in numbers], dtype=np.float64).reshape(len(numbers), codes[few].size)
    values = values[:, rows]
    order = np.argsort(values, axis=1, kind="stable")
    switches = np.count_nonzero(np.diff(codes[few][rows][order], axis=1), axis=1)
    possible = (switches <= most) | ~np.isfinite(values).all(axis=1)
    return [numbers[place] for place in np.flatnonzero(possible)]


def _every(data: Dataset, rows: int) -> slice:
    """About so many rows of a table, or up to twice as many."""
    return slice(None, None, max(1, data.n_rows // rows))


def _steps(values: Values, codes: Codes,
           most: int) -> tuple[tuple[float, ...], tuple[int, ...]] | None:  # fmt: skip
    """The cuts and levels of a step function of the values; None with an exception, too many steps or tiny ones."""
    column, codes, switch = _switches(values, codes)
    if switch.size > most or (column[switch] == column[switch + 1]).any():
        return None
    if np.diff([-1, *switch.tolist(), len(codes) - 1]).min() < FEWEST_ROWS_OF_A_STEP:
        return None
    cuts = tuple(short_cut(float(column[place]), float(column[place + 1])) for place in switch)
    return cuts, tuple(int(codes[place]) for place in (*switch.tolist(), len(codes) - 1))


def _switches(values: Values, codes: Codes) -> tuple[Floats, Codes, NDArray[np.intp]]:
    """The usable rows sorted by value, and the places after which the context changes."""
    column = values.astype(np.float64)
    usable = (codes >= 0) & np.isfinite(column)
    column, codes = column[usable], codes[usable]
    order = np.lexsort((codes, column))
    column, codes = column[order], codes[order]
    return column, codes, np.flatnonzero(np.diff(codes))
