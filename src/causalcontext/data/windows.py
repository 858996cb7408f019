"""The lagged table: one row for every time whose whole past window is known, and what was lost on the way.

A window never crosses units, gaps or missing values. Column `lag * d + i` is variable i so many steps ago; covariates
come after, without lags.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from causalcontext.data.moments import Moments
from causalcontext.data.series import Series
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.limits import SPARE_ROWS


@dataclass(frozen=True)
class WindowCounts:
    """Rows of the table, and why some of them are not the end of a window.

    `starts` are the first rows of the table or of a unit, `gaps` the first ones after a gap in time, `missing` those
    with a missing value somewhere in their window; every lost row is counted once.
    """

    rows: int
    used: int
    starts: int
    gaps: int
    missing: int
    interpolated: int = 0

    def __str__(self) -> str:
        reasons = ((self.starts, "at starts"), (self.gaps, "after gaps"), (self.missing, "with missing values"))
        lost = [f"{count:,} {what}" for count, what in reasons if count]
        filled = f"; {self.interpolated:,} single cells interpolated" if self.interpolated else ""
        return (
            f"{self.used:,} of {self.rows:,} rows end a whole window"
            + (f" (lost: {', '.join(lost)})" if lost else "")
            + filled
        )


@dataclass(frozen=True, eq=False)
class LaggedTable:
    """Rows with their windows. n windows, d variables, q covariates, L lags.

    Attributes
    ----------
    variables : int
    lags : int
    values : array, shape (n, d * (L + 1) + q)
        Standardised.
    centre, scale : arrays, shape (d * (L + 1) + q,)
    codes : array of int, shape (n, L + 1)
        The context now, and at every lag.
    contexts : int
    counts : WindowCounts
    row : array of int, shape (n,)
        The row of the series that a window ends at.
    """

    variables: int
    lags: int
    values: Floats
    centre: Floats
    scale: Floats
    codes: Ints
    contexts: int
    counts: WindowCounts
    row: Ints

    @property
    def width(self) -> int:
        """The columns."""
        return int(self.values.shape[1])

    def moments(self, lag: int) -> Moments:
        """The moments of every value of the context so many steps ago, in standard units."""
        return Moments.of_rows(self.values, self.codes[:, lag], self.contexts)

    def some(self, rows: Ints | Bools) -> LaggedTable:
        """The same windows, some of them."""
        return LaggedTable(self.variables, self.lags, self.values[rows], self.centre, self.scale, self.codes[rows],
                           self.contexts, self.counts, self.row[rows])  # fmt: skip


def lagged_table(series: Series, lags: int, contexts: int) -> LaggedTable:
    """Every row of the series whose window of so many lags is whole."""
    ends, counts = window_ends(series, lags)
    wide = [series.values[ends - lag] for lag in range(lags + 1)]
    values = np.column_stack([*wide, series.covariates[ends]])
    codes = np.column_stack([series.codes[ends - lag] for lag in range(lags + 1)])
    centre = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
    scale = values.std(axis=0) if len(values) else np.ones(values.shape[1])
    safe = np.where(scale > 0.0, scale, 1.0)
    return LaggedTable(len(series.names), lags, np.ascontiguousarray((values - centre) / safe), centre, scale,
                       np.ascontiguousarray(codes), contexts, counts, ends)  # fmt: skip


def window_ends(series: Series, lags: int) -> tuple[Ints, WindowCounts]:
    """The rows that end a whole window, and what became of the others."""
    same_unit = np.diff(series.units) == 0
    no_gap = same_unit & (np.diff(series.steps) == 1)
    complete = series.complete
    usable = no_gap & complete[1:] & complete[:-1]
    in_unit, in_run, whole = (_before(follows) >= lags for follows in (same_unit, no_gap, usable))
    whole &= complete
    counts = WindowCounts(len(series.codes), int(whole.sum()), int((~in_unit).sum()), int((in_unit & ~in_run).sum()),
                          int((in_run & ~whole).sum()), series.interpolated)  # fmt: skip
    return np.flatnonzero(whole), counts


def check_windows(series: Series, table: LaggedTable, levels: tuple[object, ...], context: str | None,
                  unit_name: str | None) -> None:  # fmt: skip
    """Return if the lagged table can be searched."""
    if unit_name is not None:
        sizes = np.bincount(series.units)
        if (sizes <= table.lags).all():
            raise DataError(f"every unit of {unit_name!r} has at most {int(sizes.max())} rows, and {table.lags} lags "
                            f"need at least {table.lags + 1}; pass fewer lags")  # fmt: skip
    needed = table.width + 1 + SPARE_ROWS
    if len(table.row) < needed:
        raise DataError(f"{table.counts}; {table.lags} lags of {table.variables} variables need at least {needed} "
                        "windows: pass fewer lags, or more rows")  # fmt: skip
    names = [*series.names, *series.covariate_names]
    for place in [*range(table.variables), *range(table.variables * (table.lags + 1), table.width)]:
        if table.scale[place] <= 0.0:
            name = names[place if place < table.variables else place - table.variables * table.lags]
            raise DataError(f"column {name!r} is constant in the whole windows; drop it")
    if context is None:
        return
    found = np.bincount(table.codes[:, 0], minlength=table.contexts)
    for value, rows in zip(levels, found, strict=True):
        if rows < SPARE_ROWS + 2:
            raise DataError(f"context {context!r} is {value!r} in {int(rows)} whole windows, expected at least "
                            f"{SPARE_ROWS + 2}; merge it with another value, or drop its rows")  # fmt: skip


def constant_units(series: Series) -> int:
    """How many units have one value of the context only."""
    order = np.lexsort((series.codes, series.units))
    starts = np.flatnonzero(np.diff(series.units[order], prepend=-1))
    edges = [*starts.tolist(), len(order)]
    return sum(len(set(series.codes[order[a:b]].tolist()) - {-1}) < 2 for a, b in pairwise(edges))


def _before(follows: Bools) -> Ints:
    """How many rows precede every row without interruption."""
    place = np.arange(len(follows) + 1)
    breaks = np.where(np.concatenate([[True], ~follows]), place, 0)
    return np.asarray(place - np.maximum.accumulate(breaks))
