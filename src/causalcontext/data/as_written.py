"""Cells of a table that mean something else: codes for missing values, and dates that
look like numbers.

Nothing is decided in silence: codes are named, and become missing values where the user says so; of
a clock a note says what was understood.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from causalcontext.data.columns import WORDS
from causalcontext.data.dataset import Dataset
from causalcontext.data.frames import pd
from causalcontext.errors import OptionError, check_are_columns, listed, shortly
from causalcontext.kernels.arrays import Floats, Values

CODES = (
    -99.0,
    -999.0,
    -9999.0,
    -99999.0,
    -6999.0,
    -7777.0,
    -8888.0,
    999.0,
    9999.0,
    99999.0,
    999999.0,
    1e20,
)
"""Numbers that often stand for a missing value."""
FEWEST = 3
"""Cells that must have the code."""
FAR = 1.0
"""The distance of a code from the other values, in units of their whole range."""
DATES = {14: "%Y%m%d%H%M%S", 12: "%Y%m%d%H%M", 10: "%Y%m%d%H", 8: "%Y%m%d"}
"""Dates that are written as whole numbers, by the number of digits."""
YEARS = 1500.0, 2500.0
FEWEST_DATES = 10
"""Different values of a column that is taken for a clock, if all of them are dates."""
MOST_STEPS_A_YEAR = 40_000
OFF = 0.25
"""Of decimal years: steps a year at most, and by which share of a step a stamp may be off, being
rounded.
"""


def codes_for_missing(data: Dataset) -> dict[str, dict[float, int]]:
    """Numbers far outside the other values of a column that look like a code for a missing value,
    with their counts.

    >>> from causalcontext.data.tables import read_table
    >>> x = [1.0, 2.0, -9999.0, 3.0, -9999.0, -9999.0]
    >>> codes_for_missing(read_table({"X": x, "Y": np.arange(6.0)}, None))
    {'X': {-9999.0: 3}}
    """
    codes_by_column: dict[str, dict[float, int]] = {}
    for position in data.system:
        values = np.asarray(data.columns[position])
        if position in data.categories or values.dtype.kind not in "iuf" or not values.size:
            continue
        low = float(np.fmin.reduce(values))  # quicker than nanmin
        high = float(np.fmax.reduce(values))
        possible = [code for code in CODES if low <= code <= high]
        rest = values[~np.isin(values, possible) & ~np.isnan(values)] if possible else values[:0]
        if not rest.size:
            continue
        reach = FAR * max(float(rest.max()) - float(rest.min()), 1e-300)
        counts = {
            code: int((values == code).sum())
            for code in possible
            if not float(rest.min()) - reach <= code <= float(rest.max()) + reach
        }
        counts = {code: count for code, count in counts.items() if count >= FEWEST}
        codes_by_column |= {data.names[position]: counts} if counts else {}
    return codes_by_column


def words_about_codes(codes_by_column: dict[str, dict[float, int]]) -> str:
    """A sentence on codes for missing values; empty without any.

    >>> words_about_codes({"X": {-9999.0: 3}}).split("; ")[1]
    'if they mean missing values, pass na_values=[-9999]'
    """
    if not codes_by_column:
        return ""
    parts = [
        f"{name} has {listed([f'{count:,} cells of {code:g}' for code, count in counts.items()])}"
        for name, counts in codes_by_column.items()
    ]
    codes = sorted({code for counts in codes_by_column.values() for code in counts})
    texts = [f"{code:g}" for code in codes]
    way = f"pass na_values=[{', '.join(texts)}]"
    whose = "its" if len(codes_by_column) == 1 else "their"
    return f"{listed(parts)}, far outside {whose} other values; if they mean missing values, {way}"


def parsed_codes(values: Any) -> tuple[str, ...]:
    """The codes of `na_values`, as texts: a number, a word, several of them, or text with commas.

    >>> parsed_codes("-9999, NA"), parsed_codes([-9999.0, "."]), parsed_codes(-1)
    (('-9999', 'NA'), ('-9999', '.'), ('-1',))
    """
    if values is None:
        return ()
    entries = (
        values.split(",")
        if isinstance(values, str)
        else [values]
        if np.isscalar(values)
        else values
    )
    if not isinstance(entries, Iterable) or any(
        not isinstance(entry, str | int | float | np.number) for entry in entries
    ):
        raise OptionError(
            f"na_values is {shortly(values)}, expected numbers or words such as [-9999, 'NA']"
        )
    return tuple(
        f"{entry:.15g}" if isinstance(entry, float | np.floating) else str(entry).strip()
        for entry in entries
    )


def without_codes(frame: pd.DataFrame, codes: Sequence[str]) -> pd.DataFrame:
    """The table in which some numbers and words are missing values; columns that are numbers then
    become some.
    """
    numbers = [float(code) for code in codes if _is_number(code)]
    changed: dict[str, Any] = {}
    for name, column in frame.items():
        if pd.api.types.is_bool_dtype(column.dtype):
            continue
        plain = pd.api.types.is_numeric_dtype(column.dtype)
        if plain:
            hit = column.isin(numbers)
        else:
            text = column.astype(object).map(
                lambda value: value.strip() if isinstance(value, str) else value
            )
            hit = text.isin(codes) | text.isin(numbers)
        if hit.any():
            changed[str(name)] = column.mask(hit)
            with suppress(ValueError, TypeError):
                changed[str(name)] = (
                    changed[str(name)] if plain else pd.to_numeric(changed[str(name)])
                )
    return frame.assign(**changed)


def numbers_with_words(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Words in columns that are numbers without them, by column."""
    words_by_column: dict[str, tuple[str, ...]] = {}
    for name, column in frame.items():
        if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
            seen = {value.strip() for value in column.dropna().unique() if isinstance(value, str)}
            words = tuple(sorted(seen.intersection(WORDS)))
            rest = seen.difference(WORDS)
            if words and rest and all(map(_is_number, rest)):
                words_by_column[str(name)] = words
    return words_by_column


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def joined_time(frame: pd.DataFrame, columns: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """The table with one column of dates in place of two or three: date and time, or year and month
    (and day).
    """
    check_are_columns(columns, [str(name) for name in frame.columns])
    parts = [frame[column] for column in columns]
    name = " ".join(columns)
    texts = [
        part.map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
        for part in parts
    ]
    years = (
        all(pd.api.types.is_numeric_dtype(part.dtype) for part in parts)
        and parts[0].between(*YEARS).all()
    )
    if years and parts[-1].max() > 31:  # the day of the year
        dates = pd.to_datetime(texts[0] + texts[1].str.zfill(3), format="%Y%j", errors="coerce")
    elif years:
        padded = [text.str.zfill(2) for text in texts[1:]] + [
            pd.Series("01", index=frame.index)
        ] * (3 - len(texts))
        dates = pd.to_datetime(texts[0] + "-" + padded[0] + "-" + padded[1], errors="coerce")
    else:
        clock = texts[1].where(
            ~texts[1].str.fullmatch(r"\d{1,4}"),
            texts[1].str.zfill(4).str.replace(r"(\d\d)(\d\d)", r"\1:\2", regex=True),
        )
        dates = pd.to_datetime(texts[0] + " " + clock, errors="coerce", format="mixed")
    if dates.isna().any():
        row = int(np.flatnonzero(dates.isna())[0])
        written = " ".join(str(part.iloc[row]) for part in parts)
        raise OptionError(
            f"time is {listed(columns)}, which hold {written!r}; expected a date and a time of the"
            " day, a year and a month, or a year and the day of the year"
        )
    return frame.drop(columns=list(columns)).assign(**{name: dates}), name


def written_dates(values: Values) -> tuple[Values, str] | None:
    """Dates that are written as whole numbers, such as 201401010030, and how; None if these are
    none.
    """
    if values.dtype.kind not in "iuf" or not values.size or not np.isfinite(values).all():
        return None
    digits = len(str(int(values[0]))) if values[0] > 0 else 0
    if digits not in DATES or (values != np.floor(values)).any():
        return None
    texts = pd.Series(values.astype(np.int64)).astype(str)
    dates = pd.to_datetime(texts, format=DATES[digits], errors="coerce")
    if dates.isna().any() or not dates.dt.year.between(*YEARS).all():
        return None
    pattern = "YYYYMMDDHHMMSS"[:digits]
    return dates.to_numpy(), f"dates written as {pattern}"


def decimal_years(values: Values) -> tuple[Floats, str] | None:
    """Steps counted from the first of years such as 1958.21, and how they were understood; None if
    these are none.
    """
    if (
        values.dtype.kind != "f"
        or values.size < 3
        or not ((values > YEARS[0]) & (values < YEARS[1])).all()
    ):
        return None
    ordered = np.unique(values)
    if (ordered == np.floor(ordered)).all() or ordered.size < 3:
        return None
    usual = 1.0 / float(np.median(np.diff(ordered)))
    mean = (ordered.size - 1) / float(ordered[-1] - ordered[0])
    for count in (12, 365, round(mean), round(usual)):
        # rounded years have differences of two or three lengths
        steps = (values - ordered[0]) * count
        regular = (np.abs(steps - np.round(steps)) <= OFF).all() and np.unique(
            np.round(steps)
        ).size == ordered.size
        if 2 <= count <= MOST_STEPS_A_YEAR and abs(count / usual - 1.0) < OFF and regular:
            return np.round(steps), f"decimal years of {count} steps each"
    return None
