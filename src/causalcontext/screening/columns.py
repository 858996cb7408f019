"""Columns that cannot be variables, each looked at by itself: constants, row numbers and ids,
dates, free text.

A whole number that differs from row to row is an id only if chance cannot do that. Of n independent
draws from R whole numbers, however they are distributed, at most R (1 - exp(-n/R)) different ones
are to be expected, with the standard deviation of an occupancy count. Ids drawn from a much wider
range look like any measurement, and do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, sqrt
from typing import Any

import numpy as np

from causalcontext.data.as_written import FEWEST_DATES, written_dates
from causalcontext.data.columns import Column, number_text, plain_values, value_families
from causalcontext.data.frames import is_missing, numbered, nw
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints, Values
from causalcontext.screening.left_out import LeftOut, Why
from causalcontext.screening.settings import (
    EPOCH_SECONDS,
    FEWEST_ROWS_NUMBERED,
    FEWEST_ROWS_OF_A_CLOCK,
    FEWEST_WORDS_OF_FREE_TEXT,
    LARGEST_SPREAD_OF_CLOCK_STEPS,
    LARGEST_WHOLE_NUMBER,
    LEAST_DIFFERENT_SHARE_OF_AN_ID,
    LEAST_EXCESS_OF_AN_ID,
    LEVELS_IN_ANY_TABLE,
    MOST_COLUMNS_OF_THE_WARNING,
    MOST_LETTERS_SHOWN,
    MOST_LEVELS_OF_A_COLUMN,
    MOST_LEVELS_PER_ROW,
    ROUNDING_SHARE_OF_LARGEST,
    SERIAL_DAYS,
    VALUES_OF_A_GLANCE,
)

NAMES_OF_INDEX = re.compile(r"Unnamed: \d+|index|level_\d+|__index_level_\d+__")
NAMES_OF_IDS = re.compile(
    r"(?:.*[\s_.-])?(?:id|ids|ID|Id|guid|uuid|UUID|rowid|row_?number|row_?nr)|.*[a-z](?:Id|ID)"
)
NAMES_OF_CLOCKS = re.compile(
    r"(?:.*[\s_.-])?(?:date|day|time|datetime|timestamp|epoch|unix)(?:[\s_.-].*)?", re.IGNORECASE
)

_UUID = re.compile(r"\{?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?")
_MONTH = r"(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*\.?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?"
_DAYS = (
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?",
    r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}",
    rf"\d{{1,2}}[-. ]+{_MONTH}[-, ]+\d{{2,4}}",
    rf"{_MONTH}[- ]+(?:\d{{1,2}},? +)?\d{{4}}",
    r"\d{4}-?W\d{1,2}",
    r"\d{4}[- /]?Q[1-4]",
    r"Q[1-4][- /]*(?:\d{4}|\d{2})",
    rf"{_MONTH}[- ']+\d{{2}}",
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
_ZONE = r"(?:Z| ?UTC|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(
    rf"{_WEEKDAY}(?:{'|'.join(_DAYS)})(?:[T, ]+{_CLOCK})?{_ZONE}|{_CLOCK}", re.IGNORECASE
)
_NUMBER_FIRST = re.compile(r"\s*[<>~≈=(\[]{0,2}\s*[-+−]?\d")
_TIMES = ("date", "datetime", "time", "Timestamp", "Period")


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The cells of a column, in the order of the rows: numbers, or the levels of text and
    categories.

    Attributes
    ----------
    column : Column
    values : Values, shape (rows,), or None
        The numbers, with gaps; None for text and categories.
    codes : shape (rows,)
        The position of the level of every row, -1 where it is missing; empty for numbers.
    levels : sequence
        The different values of text and categories; of categories also those that no row has.
    families : tuple of types
        The types of the levels.
    """

    column: Column
    values: Values | None  # of numbers, with gaps
    codes: Ints | Codes  # the place of every row's level, -1 where it is missing; of numbers empty
    levels: Sequence[Any]
    families: tuple[type, ...] = ()  # the types of the levels

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    @cached_property
    def missing(self) -> Bools:
        """True in the rows that have no value, shape (rows,)."""
        return is_missing(self.values) if self.values is not None else np.asarray(self.codes < 0)

    def some(self, rows: Bools | None) -> ColumnCells:
        """The cells of some rows."""
        if rows is None:
            return self
        values = None if self.values is None else self.values[rows]
        return ColumnCells(
            self.column,
            values,
            self.codes if values is not None else self.codes[rows],
            self.levels,
            self.families,
        )


def cells_of_column(column: Column) -> ColumnCells:
    """The cells of a column of any kind of table.

    Numbers, durations (in seconds) and objects that are all numbers become `values`; text,
    categories, truth values and mixtures become levels. Dates and nested columns have one empty
    level, since they are left out or refused by their type, and lists and other objects likewise.
    """
    nothing = np.zeros(0, dtype=np.int64)
    if isinstance(column.series, np.ndarray) or column.dtype.is_numeric():
        values = plain_values(column)
        if values.dtype.kind == "O":
            values = values.astype(np.float64)
        return ColumnCells(column, values, nothing, ())
    native = column.series.to_native()
    if column.series.implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        levels = native.cat.categories.tolist()
        if has_intervals(column):
            levels = [str(level) for level in levels]
        return ColumnCells(column, None, native.cat.codes.to_numpy(), levels, _families(levels))
    if isinstance(column.dtype, nw.Duration):
        seconds = (
            np.asarray(column.series.dt.total_microseconds().to_numpy(), dtype=np.float64) / 1e6
        )
        return ColumnCells(
            column, np.where(column.series.is_null().to_numpy(), np.nan, seconds), nothing, ()
        )
    if column.dtype.is_nested() or column.dtype.is_temporal():
        return ColumnCells(
            column, None, np.asarray(np.where(column.series.is_null().to_numpy(), -1, 0)), ("",)
        )
    if isinstance(column.dtype, nw.String) and column.series.implementation.is_pandas_like():
        codes, texts = native.factorize()
        return ColumnCells(column, None, codes, texts.tolist(), (str,))
    return _cells_of_values(column)


def _cells_of_values(column: Column) -> ColumnCells:
    """The cells of a column by its values one by one: numbers if all of them are, else levels."""
    nothing = np.zeros(0, dtype=np.int64)
    values = plain_values(column)
    if values.dtype.kind in "fiu":
        return ColumnCells(column, values, nothing, ())
    try:
        families = value_families(values) if values.dtype.kind == "O" else (values.dtype.type,)
        if families and {family.__name__ for family in families} <= {"int", "float"}:
            return ColumnCells(column, _of_objects(values), nothing, ())
        codes, different = numbered(values)
    except (TypeError, ValueError):  # lists and other objects, of which reading says what it thinks
        return ColumnCells(column, None, np.zeros(len(values), dtype=np.int64), ("",), (object,))
    return ColumnCells(column, None, codes, different.tolist(), families)


def has_intervals(column: Column) -> bool:
    """True if the levels of a category are intervals, as `pandas.cut` makes them."""
    dtype = (
        None
        if isinstance(column.series, np.ndarray)
        else getattr(column.series.to_native(), "dtype", None)
    )
    return str(getattr(getattr(dtype, "categories", None), "dtype", "")).startswith("interval")


def _of_objects(values: Values) -> Values:
    """Numbers that are objects, Decimals and the like, as floats with gaps, shape (rows,)."""
    numbers = np.full(len(values), np.nan)
    present = ~is_missing(values)
    numbers[present] = values[present].astype(np.float64)
    return numbers


def _families(levels: Sequence[Any]) -> tuple[type, ...]:
    """The types of some levels."""
    values = np.empty(len(levels), dtype=object)
    values[:] = levels
    return value_families(values)


def why_no_variable(
    cells: ColumnCells, declared: bool = False, series: bool = False
) -> LeftOut | None:
    """The reason why a column cannot be a variable; None if it can be one, or if reading it must
    say why not.

    Of a column whose kind is declared only what no kind makes a variable is said: no value at all,
    one value, dates. In a `series` what rises with the rows may be a trend.
    """
    missing = cells.missing
    if missing.all():
        return LeftOut(cells.name, Why.EMPTY, "has no value in any row")
    dtype = cells.column.dtype
    if isinstance(dtype, nw.Datetime | nw.Date | nw.Time) or _are_times(cells.families):
        return LeftOut(cells.name, Why.DATE, f"holds dates or times ({_use_of(cells.name)})")
    if dtype.is_nested() or dtype.is_temporal() or object in cells.families:
        return None
    share = ""
    if missing.any():
        share = f" that has a value ({np.count_nonzero(~missing):,} of {missing.size:,})"
    only_value = _only_value(cells)
    if only_value:
        return LeftOut(cells.name, Why.CONSTANT, f"is constant, {only_value} in every row{share}")
    if declared:
        return None
    if cells.values is not None:
        values = cells.values[~missing] if share else cells.values
        return _why_no_number(cells.name, values, bool(share), series)
    if not set(cells.families) <= {str, int, float}:
        return None
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels))
    levels = [cells.levels[level] for level in np.flatnonzero(counts).tolist()]
    return _why_no_category(cells.name, levels, int(counts.sum()))


def _only_value(cells: ColumnCells) -> str:
    """The value that all rows with a value have, as text; empty where there are several."""
    if cells.values is not None:
        values = cells.values[~cells.missing] if cells.missing.any() else cells.values
        return number_text(float(values[0])) if _is_constant(values) else ""
    occurring = np.flatnonzero(np.bincount(cells.codes[cells.codes >= 0]))
    return repr(cells.levels[int(occurring[0])]) if len(occurring) == 1 else ""


def are_dates(texts: Sequence[Any]) -> bool:
    """True if different levels of text are all dates or times.

    >>> are_dates([f"{year}Q{quarter}" for year in (2019, 2020, 2021) for quarter in (1, 2, 3, 4)])
    True
    """
    written = [text for text in texts if isinstance(text, str)]
    return len(written) == len(texts) >= FEWEST_DATES and _all_match(_DATE, written)


def _use_of(name: str) -> str:
    """The clause on what makes use of a clock."""
    return f"time={name!r} with lags=... makes use of it"


def _are_times(families: Sequence[type]) -> bool:
    """True if levels of text or objects are dates or times by their types."""
    return bool(families) and all(family.__name__ in _TIMES for family in families)


def _is_constant(values: Values) -> bool:
    """True if all values are one number, but for rounding: their range is
    `ROUNDING_SHARE_OF_LARGEST` of the largest one. Whole numbers have no rounding.
    """
    if values.dtype.kind in "iu":
        return bool((values == values[0]).all())
    if values[0] != values[values.size // 2] and not np.isclose(
        values[0], values[values.size // 2], 1e-9, 0.0
    ):
        return False
    low = float(values.min())
    high = float(values.max())
    # False where one is infinite
    return high - low <= ROUNDING_SHARE_OF_LARGEST * max(abs(low), abs(high))


def _why_no_number(name: str, values: Values, gaps: bool, series: bool) -> LeftOut | None:
    """The reason why numbers, none of them missing, are no measurement; None if they may be one.

    `gaps` says whether some rows had no value. Dates written as whole numbers come first, then the
    index of a file, the numbers of the rows, clocks and ids.
    """
    if not _are_whole(values[:VALUES_OF_A_GLANCE]) or not _are_whole(values):
        return _why_clock_by_name(name, values)
    few = _different(values[:: max(1, values.size // VALUES_OF_A_GLANCE)])
    if (
        few.size >= FEWEST_DATES
        and _written_dates(few)
        and (how := _written_dates(_different(values)))
    ):
        return LeftOut(name, Why.DATE, f"holds {how} ({_use_of(name)})")
    if NAMES_OF_INDEX.fullmatch(name) and _different(values).size == values.size:
        return LeftOut(
            name,
            Why.IDENTIFIER,
            "is an identifier, the index of a table that was written to a file",
        )
    if series:
        return None
    if not gaps and _are_steady(values):
        return LeftOut(name, Why.IDENTIFIER, "is an identifier, the number of the row")
    return _why_clock_by_name(name, values) or _why_id(name, values, few)


def _why_id(name: str, values: Values, few: Values) -> LeftOut | None:
    """The reason why whole numbers in any order are an id; None if they may be a measurement.

    `few` are some of the different ones, sorted. They must be more different than chance makes
    them, or have the name of an id and differ in every row.
    """
    by_name = NAMES_OF_IDS.fullmatch(name) is not None
    span = float(values.max()) - float(values.min())
    if not by_name and not _in_excess(values.size, values.size, span / _step(few) + 1.0):
        return None
    different = _different(values)
    rows = "every row" if different.size == values.size else "nearly every row"
    ends = f"{number_text(float(different[0]))} to {number_text(float(different[-1]))}"
    places = span / _step(different) + 1.0
    if different.size >= LEAST_DIFFERENT_SHARE_OF_AN_ID * values.size and _in_excess(
        values.size, different.size, places
    ):
        return LeftOut(
            name, Why.IDENTIFIER, f"is an identifier, another whole number in {rows}, {ends}"
        )
    if by_name and different.size == values.size > LEVELS_IN_ANY_TABLE:
        return LeftOut(
            name, Why.IDENTIFIER, "is an identifier by its name, another whole number in every row"
        )
    return None


def _are_whole(values: Values) -> bool:
    """True if all numbers are whole, and small enough not to be rounded."""
    if values.dtype.kind in "iu":
        return True
    with np.errstate(invalid="ignore"):
        return bool((np.floor(values) == values).all()) and bool(
            (np.abs(values) < LARGEST_WHOLE_NUMBER).all()
        )


def _different(values: Values) -> Values:
    """The different values, sorted."""
    ordered = np.sort(values)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]]


def _step(different: Values) -> float:
    """The largest whole number of which all gaps between sorted whole numbers are multiples."""
    return float(np.gcd.reduce(np.diff(different).astype(np.int64))) if different.size > 1 else 1.0


def _written_dates(different: Values) -> str:
    """The words on dates that whole numbers write; empty if they are none. `different` are the
    different ones, sorted.
    """
    for values in (different[:: max(1, different.size // 50)], different):
        known = written_dates(values)
        if known is None and not _are_months(values):
            return ""
    return "dates written as YYYYMM" if _are_months(different) else str(known[1] if known else "")


def _are_months(values: Values) -> bool:
    """True if sorted whole numbers are months from 1900 to 2100, written as YYYYMM."""
    month = values % 100
    return bool(
        values[0] >= 190001 and values[-1] <= 210012 and (month >= 1).all() and (month <= 12).all()
    )


def _are_steady(values: Values) -> bool:
    """True if numbers rise or fall from row to row in equal steps, or nearly so, as clocks do."""
    if values.size < FEWEST_ROWS_NUMBERED or not _is_monotone(
        np.diff(values[:FEWEST_ROWS_NUMBERED].astype(np.float64))
    ):
        return False
    steps = np.diff(values.astype(np.float64))
    if not _is_monotone(steps):
        return False
    spread = float(steps.std()) / abs(float(steps.mean()))
    return spread == 0.0 or (
        values.size >= FEWEST_ROWS_OF_A_CLOCK and spread < LARGEST_SPREAD_OF_CLOCK_STEPS
    )


def _is_monotone(steps: Floats) -> bool:
    """True if all steps have the same sign, and none is 0."""
    return bool((steps > 0.0).all() or (steps < 0.0).all())


def _in_excess(rows: int, different: int, places: float) -> bool:
    """True if whole numbers have more different values than draws from so many places would have.

    Of n independent draws from R places, at most R (1 - exp(-n/R)) are different in the mean, with
    variance R e (1 - (1 + n/R) e) where e = exp(-n/R); equal probabilities give the most. `rows` is
    n, `places` R.
    """
    drawn = rows / places
    if drawn < 1e-6:
        return False
    empty = exp(-drawn)
    deviation = sqrt(max(places * empty * (1.0 - (1.0 + drawn) * empty), 1e-300))
    return bool(different - places * (1.0 - empty) > LEAST_EXCESS_OF_AN_ID * deviation)


def _why_clock_by_name(name: str, values: Values) -> LeftOut | None:
    """The reason why numbers are a clock, by their range and the name of their column; None if they
    are none.
    """
    if NAMES_OF_CLOCKS.fullmatch(name) is None:
        return None
    low = float(values.min())
    high = float(values.max())
    if np.unique(values[:VALUES_OF_A_GLANCE]).size < FEWEST_DATES:
        return None
    if SERIAL_DAYS[0] <= low and high <= SERIAL_DAYS[1]:
        return LeftOut(name, Why.DATE, "holds dates as the days that spreadsheets count")
    if EPOCH_SECONDS[0] <= low and high <= EPOCH_SECONDS[1] and _are_whole(values):
        return LeftOut(name, Why.DATE, "holds times as seconds or milliseconds since 1970")
    return None


def _why_no_category(name: str, levels: Sequence[Any], rows: int) -> LeftOut | None:
    """The reason why text or categories are no levels; None if they may be.

    `levels` are those that occur in `rows` rows with a value. Where most rows have a text of their
    own, it is an id or free text; else there may be too many levels for the rows.
    """
    texts = [level if isinstance(level, str) else str(level) for level in levels]
    count = len(texts)
    shown = _shown(min(texts))
    if are_dates(texts):
        return LeftOut(
            name, Why.DATE, f"holds dates or times as text, such as {shown!r} ({_use_of(name)})"
        )
    if 2 * count > rows:
        if _all_match(_UUID, texts):
            return LeftOut(name, Why.IDENTIFIER, f"is an identifier, UUIDs such as {shown!r}")
        if (
            float(np.median([len(text.split()) for text in texts[:VALUES_OF_A_GLANCE]]))
            >= FEWEST_WORDS_OF_FREE_TEXT
        ):
            return LeftOut(name, Why.TEXT, f"is free text in {rows:,} rows, such as {shown!r}")
        how = "every row" if count == rows else "most rows"
        return LeftOut(
            name, Why.IDENTIFIER, f"is an identifier, another text in {how}, such as {shown!r}"
        )
    if count > max(LEVELS_IN_ANY_TABLE, min(MOST_LEVELS_OF_A_COLUMN, MOST_LEVELS_PER_ROW * rows)):
        return LeftOut(
            name, Why.LEVELS, f"has {count:,} levels in {rows:,} rows, such as {shown!r}"
        )
    return None


def words_about_quantities(columns: Sequence[ColumnCells]) -> str:
    """One sentence on columns of text whose levels, more than `LEVELS_IN_ANY_TABLE`, all begin with
    a number, as ranges and fractions do; empty without any. Intervals of a category are none.
    """
    clauses = []
    for cells in columns:
        if cells.values is not None or set(cells.families) != {str} or has_intervals(cells.column):
            continue
        occurring = np.flatnonzero(np.bincount(cells.codes[cells.codes >= 0])).tolist()
        levels = [cells.levels[level] for level in occurring]
        if len(levels) > LEVELS_IN_ANY_TABLE and _all_begin(_NUMBER_FIRST, levels):
            first, second = (repr(_shown(level)) for level in sorted(levels)[:2])
            clauses.append(f"{cells.name} ({len(levels):,} levels such as {first} and {second})")
    if not clauses:
        return ""
    return (
        f"text that begins with numbers is searched as levels without an order:"
        f" {listed(clauses, MOST_COLUMNS_OF_THE_WARNING, 'column')}; if it holds quantities, write"
        " each as one number"
    )


def _all_begin(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    """True if all texts begin so; the first ones soon tell."""
    return all(pattern.match(text) is not None for text in texts)


def _all_match(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    """True if all texts are written so; the first ones soon tell."""
    return all(pattern.fullmatch(text.strip()) is not None for text in texts)


def _shown(text: str) -> str:
    """A text for a sentence, with spaces in place of line breaks, cut after `MOST_LETTERS_SHOWN`
    letters.
    """
    short = " ".join(text.split())
    if len(short) <= MOST_LETTERS_SHOWN:
        return short
    return f"{short[: MOST_LETTERS_SHOWN - 1]}…"
