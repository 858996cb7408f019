"""A table as series: rows in the order of time, by unit, with their gaps; every bad input is one
sentence.

`time` numbers the rows by steps, so that a gap is a jump in the numbers; it is respected, never
bridged. A cycle of the day or the year that drives several variables is a hidden common cause of
them, unless it is in the table: `cycle` makes sines and cosines of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from causalcontext.data.as_written import decimal_years, written_dates
from causalcontext.data.columns import Kind, number_text
from causalcontext.data.dataset import Dataset
from causalcontext.data.frames import is_missing, numbered, pd
from causalcontext.errors import DataError, OptionError, check_whole
from causalcontext.kernels.arrays import Bools, Floats, Ints, Values
from causalcontext.kernels.limits import LARGEST_SCATTER

TOLERANCE = 0.01
"""A stamp may be off by this share of a step."""
LARGEST_VALUE = LARGEST_SCATTER**0.5
MOST_TURNS = 200
SETTLED = 1e-10
"""Means of units and of times are taken away in turns, so often at most, until they are so small.
"""
ONE_ROW = "time column {!r} has one row in every unit; lags need rows that follow each other"
FIRST_ROWS = 10_000
"""The length of a step is taken from so many rows of a table that is read in batches."""


@dataclass(frozen=True, eq=False)
class Series:
    """Rows sorted by unit and time. T rows, d system variables, q covariates."""

    names: tuple[str, ...]  # the system variables, in table order
    values: Floats  # shape (T, d); NaN where missing
    # shape (T,); the cell of every row among those of the table; -1 where a context is missing
    codes: Ints
    covariate_names: tuple[str, ...]
    covariates: Floats  # shape (T, q)
    units: Ints  # shape (T,)
    steps: Ints  # shape (T,); the time of every row in steps
    interpolated: int = 0  # cells that were filled in
    share: float = 1.0  # what a row counts for: less than 1 where cells were drawn
    ends: Bools | None = (
        None  # shape (T,), or None; the rows that may end a window; None: all of them
    )
    # shape (T,), or None; the rows of the table that these are; None of a table that was read in
    # batches
    rows: Ints | None = None
    clock: str = ""  # what was understood of the time column

    @property
    def complete(self) -> Bools:
        """True for the rows without a missing value."""
        return np.asarray(
            np.isfinite(self.values).all(axis=1)
            & np.isfinite(self.covariates).all(axis=1)
            & (self.codes >= 0)
        )


def as_series(
    data: Dataset,
    covariates: tuple[str, ...],
    time: tuple[str, Values] | None,
    units: tuple[str, Values] | None,
    step: Any = None,
) -> Series:
    """The series of a table; `time` and `units` come with their names."""
    for name in covariates:
        if data.position(name) in data.contexts.positions:
            raise OptionError(
                f"covariates names {name!r}, which is the context; a covariate is never an effect"
            )
    wide = np.column_stack(
        [np.asarray(data.columns[place], dtype=np.float64) for place in data.system]
    )
    names = np.array([data.names[place] for place in data.system], dtype=object)
    check_numbers(names.tolist(), wide.T)
    unit = np.zeros(data.n_rows, dtype=np.int64)
    if units is not None:  # as numbers, in the order in which they first occur
        if missing := int(is_missing(units[1]).sum()):
            raise DataError(
                f"units column {units[0]!r} has {missing} missing values; every row needs a unit"
            )
        unit = np.asarray(numbered(units[1].astype(object))[0], dtype=np.int64)
    steps = np.zeros(data.n_rows, dtype=np.int64) if time is None else _steps(*time, unit, step)
    for own in np.unique(unit) if time is None else ():  # rows of every unit numbered as they come
        steps[unit == own] = np.arange(np.count_nonzero(unit == own))
    order = np.lexsort((steps, unit))
    extra = np.array([name in covariates for name in names], dtype=bool)
    clock = "" if time is None else clock_words(*time, steps, unit)
    return Series(
        tuple(names[~extra]),
        wide[order][:, ~extra],
        data.codes[order].astype(np.int64),
        tuple(names[extra]),
        wide[order][:, extra],
        unit[order],
        steps[order],
        rows=order,
        clock=clock,
    )


def check_numbers(names: Sequence[str], columns: Iterable[Floats]) -> None:
    """Return if no value is infinite, or too large to be squared."""
    for name, column in zip(names, columns, strict=True):
        if np.isinf(column).any():
            raise DataError(f"column {name!r} has infinite values; replace or drop them")
        if (np.abs(column) > LARGEST_VALUE).any():
            raise DataError(f"values too large to be squared in {name!r}; rescale them")


def without_time_means(series: Series, which: Bools, unit_means_too: bool) -> Series:
    """The series without what all units share at a time, of `which` system variables; means of
    units as well.
    """
    # Where units have holes at different times, both kinds of means are taken away in turns until
    # nothing moves.
    values = series.values.copy()
    _, time = np.unique(series.steps, return_inverse=True)
    keys = [time.ravel(), series.units] if unit_means_too else [time.ravel()]
    for j in np.flatnonzero(which).tolist():
        known = np.isfinite(values[:, j])
        own = values[known, j]
        scale = max(float(np.nanstd(values[:, j])), 1e-300)
        for _ in range(MOST_TURNS):
            moved = 0.0
            for key in (each[known] for each in keys):
                means = np.bincount(key, own) / np.maximum(np.bincount(key), 1)
                own = own - means[key]
                moved = max(moved, float(np.abs(means).max()))
            if moved < SETTLED * scale or len(keys) == 1:
                break
        values[known, j] = own
    return replace(series, values=values)


def unit_means(series: Series, which: Bools | None = None) -> Floats:
    """The mean of its unit in every row, for every system variable; 0 for others than `which`."""
    # Levels that differ between units are a hidden common cause of everything.
    found = np.empty_like(series.values)
    edges = np.flatnonzero(np.diff(series.units, prepend=-1, append=-1))
    for rows in (slice(begin, end) for begin, end in pairwise(edges.tolist())):
        known = np.isfinite(series.values[rows])
        sums = np.where(known, series.values[rows], 0.0).sum(axis=0)
        means = sums / np.maximum(known.sum(axis=0), 1)
        found[rows] = means if which is None else np.where(which, means, 0.0)
    return found


def with_single_cells_filled(series: Series, which: Bools | None = None) -> Series:
    """The series with every single missing number, of `which` columns, replaced by the mean of its
    two neighbours.
    """
    # Longer holes stay: they are gaps. The context is never filled in.
    row, column = np.nonzero(single_cells(series) & (True if which is None else which))
    values = series.values.copy()
    values[row, column] = 0.5 * (series.values[row - 1, column] + series.values[row + 1, column])
    return replace(series, values=values, interpolated=len(row))


def single_cells(series: Series) -> Bools:
    """The missing cells between two rows, one step away, that have a value there; shape (T, d)."""
    known = np.isfinite(series.values)
    single = np.zeros(series.values.shape, dtype=bool)
    follows = (np.diff(series.units) == 0) & (np.diff(series.steps) == 1)
    single[1:-1] = ~known[1:-1] & known[:-2] & known[2:] & (follows[:-1] & follows[1:])[:, None]
    return single


def beside(series: Series, values: Floats, step: int) -> Floats:
    """The values so many steps later in the same unit, earlier ones for negative steps; NaN where
    there are none.
    """
    moved = np.full(values.shape, np.nan)
    rows = np.arange(max(0, -step), len(values) - max(0, step))
    rows = rows[
        (series.units[rows + step] == series.units[rows])
        & (series.steps[rows + step] - series.steps[rows] == step)
    ]
    moved[rows] = values[rows + step]
    return moved


def _steps(name: str, values: Values, units: Ints, step: Any) -> Ints:
    """Stamps as numbers of steps, once they are whole multiples of one step and none occurs
    twice.
    """
    missing = int(is_missing(values).sum())
    if missing:
        raise DataError(
            f"time column {name!r} has {missing} missing values; every row needs a time"
        )
    stamps, dated = stamps_of(name, values)
    order = np.lexsort((stamps, units))
    same = np.diff(units[order]) == 0
    differences = np.diff(stamps[order])[same]
    if (differences == 0).any():
        first = order[np.flatnonzero((np.diff(stamps[order]) == 0) & same)[0]]
        where = "" if units.max() == 0 else " in one unit"
        hint = "" if units.max() else ", or name the series of a panel with units=..."
        raise DataError(
            f"time column {name!r} has {values[first]} twice{where}; drop one of the rows{hint}"
        )
    if not differences.size:
        raise DataError(ONE_ROW.format(name))
    length = _mode(differences) if step is None else step_length("step", step, dated)
    if not _whole(differences / length) and step is None and dated:
        months = _months(values)
        if months is not None and (np.diff(months[order])[same] >= 1).all():
            return months // int(_mode(np.diff(months[order])[same]))
    check_regular(name, differences, length, dated)
    return np.asarray(np.round((stamps - stamps.min()) / length), dtype=np.int64)


def check_regular(name: str, differences: Floats, length: float, dated: bool) -> None:
    """Return if all differences between stamps are whole multiples of a length."""
    if not _whole(differences / length):
        odd = differences[
            np.abs(differences / length - np.round(differences / length)) > TOLERANCE
        ][0]
        raise DataError(
            f"time column {name!r} has irregular steps: most are {_shown(length, dated)}, one is "
            f"{_shown(odd, dated)}; put the rows on a regular grid, or pass step=..."
        )


class StepCounter:
    """Numbers the rows of a table that comes in parts, in the order of time, by steps.

    The length of a step is the most frequent difference in the first rows, as many whatever the
    parts are.

    >>> counter, units = StepCounter("day", None), np.zeros(3, dtype=np.int64)
    >>> counter.settle(np.array([4.0, 6.0, 8.0]), units)
    >>> counter.numbers(np.array([8.0, 10.0, 16.0]), units).tolist()
    [2, 3, 6]
    """

    def __init__(self, name: str, step: Any) -> None:
        self._name = name
        self._step = step
        self._length = 0.0
        self._monthly = False
        self._origin = 0.0
        self._first = np.inf
        self._first_part = np.zeros(0)

    @property
    def words(self) -> str:
        """The reading of the times, in a sentence."""
        first = int(np.argmin(stamps_of(self._name, self._first_part)[0]))
        return _clock(self._name, self._first_part, first, self._length, self._monthly)

    def waits(self, rows: int) -> bool:
        """True if more rows than these are needed to know the length of a step."""
        return not self._length and rows < FIRST_ROWS

    def settle(self, values: Values, units: Ints) -> None:
        """Take the length of a step from the first rows, the first time that this is called."""
        if self._length:
            return
        values = values[:FIRST_ROWS]
        units = units[:FIRST_ROWS]
        stamps, dated, differences = self._differences(values, units)
        if not differences.size:
            raise DataError(ONE_ROW.format(self._name))
        self._origin = float(stamps[0])
        self._length = (
            _mode(differences) if self._step is None else step_length("step", self._step, dated)
        )
        if not _whole(differences / self._length) and self._step is None and dated:
            months = _months(values)
            if months is not None and (np.diff(months)[np.diff(units) == 0] >= 1).all():
                self._monthly = True
                self._length = _mode(np.diff(months)[np.diff(units) == 0])

    def numbers(self, values: Values, units: Ints) -> Ints:
        """The step of every row; rows of a unit stand together, in the order of time."""
        stamps, dated, differences = self._differences(values, units)
        if stamps.min(initial=np.inf) < self._first:
            self._first = float(stamps.min())
            self._first_part = values
        months = _months(values) if self._monthly else None
        if months is not None:
            return np.asarray(months // int(self._length), dtype=np.int64)
        check_regular(self._name, differences, self._length, dated)
        return np.asarray(np.round((stamps - self._origin) / self._length), dtype=np.int64)

    def _differences(self, values: Values, units: Ints) -> tuple[Floats, bool, Floats]:
        """Stamps, whether they are dates, and by how much they grow inside units."""
        if is_missing(values).any():
            raise DataError(
                f"time column {self._name!r} has missing values; every row needs a time"
            )
        stamps, dated = stamps_of(self._name, values)
        same = np.flatnonzero(np.diff(units) == 0)
        differences = np.diff(stamps)[same]
        for place in same[differences <= 0.0][:1].tolist():
            if stamps[place] == stamps[place + 1]:
                raise DataError(
                    f"time column {self._name!r} has {values[place]} twice; drop one of the rows,"
                    " or name the series of a panel with units=..."
                )
            raise DataError(
                f"time column {self._name!r} goes back from {values[place]} to {values[place + 1]};"
                " a table that is read in batches must be sorted by units, then by time"
            )
        return stamps, dated, differences


def stamps_of(name: str, values: Values) -> tuple[Floats, bool]:
    """Stamps as numbers (dates: seconds), and whether they are dates."""
    if values.dtype.kind in "iuf":
        if (written := written_dates(values)) is not None:
            return stamps_of(name, written[0])
        years = decimal_years(values)
        return (np.asarray(values, dtype=np.float64) if years is None else years[0]), False
    try:
        dates = _dates(values)
    except (ValueError, TypeError) as error:
        raise DataError(
            f"time column {name!r} holds {values[0]!r}, expected dates such as 2020-01-31, or "
            "numbers"
        ) from error
    seconds = dates.dt.tz_localize(None).to_numpy("datetime64[ns]").astype(np.int64) / 1e9
    return np.asarray(seconds, dtype=np.float64), True


def clock_words(name: str, values: Values, steps: Ints, units: Ints) -> str:
    """The reading of a time column, in a sentence."""
    stamps, dated = stamps_of(name, values)
    order = np.lexsort((steps, units))
    count = np.diff(steps[order])
    later = np.flatnonzero(np.diff(units[order]) == 0)
    length = (np.diff(stamps[order]) / np.maximum(count, 1))[later]
    months = None
    if dated and not _whole(length / _mode(length)):
        months = _months(values[order])
    grown = None if months is None else (np.diff(months) / np.maximum(count, 1))[later]
    grown = grown if grown is not None and (grown >= 1.0).all() else None
    return _clock(
        name,
        values,
        int(np.argmin(stamps)),
        _mode(length if grown is None else grown),
        grown is not None,
    )


def _clock(name: str, values: Values, first: int, length: float, monthly: bool) -> str:
    """The sentence about times, whose first one is at a place; a step is so many seconds or
    numbers, or months.
    """
    stamps, dated = stamps_of(name, values)
    begin = (
        str(pd.Timestamp(float(stamps[first]), unit="s"))
        if dated
        else number_text(float(values[first]))
    )
    written, years = (
        (written_dates(values), decimal_years(values))
        if values.dtype.kind in "iuf"
        else (None, None)
    )
    kind = written[1] if written else years[1] if years else "dates" if dated else "numbers"
    step = "" if years else f", a step is {_shown(length, dated)}"
    if monthly:
        step = ", a step is a month" if length == 1.0 else f", a step is {length:g} months"
    return f"time column {name!r} was read as {kind}: it begins at {begin}{step}"


def _dates(values: Values) -> pd.Series[Any]:
    series = pd.Series(values)
    return pd.to_datetime(series, utc=True, format=None if series.dtype.kind == "M" else "ISO8601")


def _months(values: Values) -> Ints | None:
    """Months counted from year 0, where all dates are the same day of a month, or all the last."""
    dates = _dates(values)
    if dates.dt.day.nunique() > 1 and not bool(dates.dt.is_month_end.all()):
        return None
    return np.asarray(12 * dates.dt.year + dates.dt.month, dtype=np.int64)


def step_length(what: str, step: Any, dated: bool) -> float:
    """A duration as a number of the units of the stamps."""
    try:
        length = pd.Timedelta(step).total_seconds() if dated else float(step)
    except (ValueError, TypeError) as error:
        wanted = "a duration such as '30min'" if dated else "a positive number"
        raise OptionError(f"{what} is {step!r}, expected {wanted}") from error
    if not length > 0:
        raise OptionError(f"{what} is {step!r}, expected a positive number or duration")
    return length


def _mode(differences: Values) -> float:
    found, counts = np.unique(differences, return_counts=True)
    return float(found[np.argmax(counts)])


def _whole(ratio: Floats) -> bool:
    return bool(
        (np.abs(ratio - np.round(ratio)) <= TOLERANCE).all() and (np.round(ratio) >= 1).all()
    )


def _shown(seconds: float, dated: bool) -> str:
    return (
        str(pd.Timedelta(seconds=float(seconds))).replace("0 days ", "")
        if dated
        else f"{seconds:g}"
    )


@dataclass(frozen=True)
class Cycle:
    """Sines and cosines of a time column; made by `cycle`."""

    column: str
    period: str | float
    harmonics: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it makes."""
        numbers = ["" if h == 1 else str(h) for h in range(1, self.harmonics + 1)]
        return tuple(
            f"{self.column} {self.period} {wave}{h}" for h in numbers for wave in ("sin", "cos")
        )

    def columns(self, stamps: Values, origin: float | None = None) -> list[Floats]:
        """The columns, in the order of `names`; the phase is 0 at the earliest time, or at
        `origin`.
        """
        time, dated = stamps_of(self.column, stamps)
        time = time - (time.min() if origin is None else origin)
        turns = 2.0 * np.pi * time / step_length("period", self.period, dated)
        return [wave(h * turns) for h in range(1, self.harmonics + 1) for wave in (np.sin, np.cos)]


def cycle(column: str, period: str | float, harmonics: int = 1) -> Cycle:
    """Covariates for a cycle: `discover(..., lags=3, time="hour", covariates=[cc.cycle("hour",
    "1D")])`.

    Parameters
    ----------
    column : str
        The time column.
    period : str or float
        A duration such as "1D" or "365.25D"; a number where the time is one.
    harmonics : int
        A cycle that is no sine needs 2 or 3.

    Examples
    --------
    >>> cycle("hour", "1D", harmonics=2).names
    ('hour 1D sin', 'hour 1D cos', 'hour 1D sin2', 'hour 1D cos2')
    """
    if not isinstance(column, str):
        raise OptionError(
            f"the column of a cycle is {column!r}, expected the name of the time column"
        )
    check_whole("harmonics", harmonics, 1)
    return Cycle(column, period, harmonics)


def check_cycle(cycle: Cycle, taken: Sequence[str], names: Sequence[str]) -> None:
    """Return if a cycle is of the time column, and its columns are new."""
    if cycle.column not in taken:
        raise OptionError(
            f"the cycle is of column {cycle.column!r}, expected the time column: pass "
            f"time={cycle.column!r}"
        )
    clash = [name for name in cycle.names if name in names]
    if clash:
        raise DataError(f"the table has a column {clash[0]!r} already; rename it")


def with_cycles(data: Dataset, cycles: tuple[Cycle, ...], taken: Mapping[str, Values]) -> Dataset:
    """The table with the columns of cycles at its end."""
    for found in cycles:
        check_cycle(found, tuple(taken), data.names)
        columns = found.columns(taken[found.column])
        data = replace(
            data,
            names=data.names + found.names,
            kinds=data.kinds + (Kind.CONTINUOUS,) * len(columns),
            columns=(*data.columns, *columns),
            dtypes=data.dtypes + ("float64",) * len(columns),
            declared=data.declared.union(found.names),
        )
    return data
