"""The options that say how rows follow each other in time, checked at the door."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from causalcontext.data.series import Cycle, cycle
from causalcontext.errors import (
    OptionError,
    check_are_columns,
    check_choice,
    check_whole,
    is_whole,
    shortly,
)

MOST_LAGS = 100
UNIT_EFFECTS = TIME_EFFECTS = ("means", "none")
Covariates = Sequence[str | Cycle] | Cycle | str | None


@dataclass(frozen=True)
class SeriesOptions:
    """The choices of a search with lags."""

    lags: int  # the longest lag of a cause
    time: str | None = None  # the column that orders the rows
    units: str | None = None  # the column that names the series of a panel
    step: Any = None  # the time between two rows; by default the most frequent difference
    context_lags: tuple[int, ...] = (0, 1)  # which copies of the context a variable may read
    # columns that may be causes of all variables and are no effects; they are not lagged
    covariates: tuple[str, ...] = ()
    unit_effects: str = "means"  # {"means", "none"}; whether the mean of every unit is taken away
    missing: str = "raise"  # {"raise", "model", "windows", "interpolate"}
    cycles: tuple[Cycle, ...] = ()  # whose columns are among the covariates
    time_effects: str = (
        "none"  # {"means", "none"}; whether what all units share at a time is taken away
    )

    def __post_init__(self) -> None:
        check_whole("lags", self.lags, 1, ", or None for rows without an order")
        if self.lags > MOST_LAGS:
            raise OptionError(
                f"lags is {self.lags}, expected at most {MOST_LAGS}; take every m-th row for longer"
                " ones"
            )
        check_choice("unit_effects", self.unit_effects, UNIT_EFFECTS)
        check_choice("time_effects", self.time_effects, TIME_EFFECTS)
        if self.time_effects == "means" and (self.time is None or self.units is None):
            raise OptionError(
                "time_effects is 'means', which is for panels; pass units=..., the column that"
                " names the series, and time=..., the column that orders their rows, too"
            )
        if self.step is not None and self.time is None:
            raise OptionError(
                f"step is {shortly(self.step)}, the time between two rows; pass time=..., the"
                " column that orders them, too"
            )
        if self.missing in ("listwise", "testwise"):
            raise OptionError(
                f"missing is {self.missing!r}, which would paste rows together that do not follow"
                " each other; with lags pass missing='model', 'windows' or 'interpolate'"
            )
        check_choice("missing", self.missing, ("raise", "model", "windows", "interpolate"))
        if not self.context_lags or max(self.context_lags) > self.lags:
            raise OptionError(
                f"context_lags is {shortly(self.context_lags)}, expected some of 0 to lags, which"
                f" is {self.lags}"
            )

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns that order the rows and name series, which take no part in the search."""
        return tuple(name for name in (self.time, self.units) if name is not None)

    def check_columns(self, names: Sequence[str], contexts: Sequence[str]) -> None:
        """Return if covariates are columns and no contexts, and leave some column to be an
        effect.
        """
        check_are_columns(self.covariates, names)
        for name in self.covariates:
            if name in contexts:
                raise OptionError(
                    f"covariates names {name!r}, which is the context; a covariate is never an"
                    " effect"
                )
        if not set(names) - set(contexts) - set(self.covariates):
            raise OptionError(
                "covariates names every column; at least one must be left to be an effect"
            )


def time_columns(time: Any) -> tuple[str, ...]:
    """The columns that order the rows: one, or the parts of a date, named in a sequence or in text
    with commas.

    >>> spellings = ("year", "DATE, TIME", ["DATE", "TIME"], None)
    >>> tuple(time_columns(spelling) for spelling in spellings)
    (('year',), ('DATE', 'TIME'), ('DATE', 'TIME'), ())
    """
    if time is None:
        return ()
    parts = time.split(",") if isinstance(time, str) else time if isinstance(time, Iterable) else ()
    found = [part.strip() if isinstance(part, str) else part for part in parts]
    if not 1 <= len(found) <= 3 or any(not isinstance(one, str) or not one for one in found):
        raise OptionError(
            f"time is {shortly(time)}, expected a column, or two or three that make a date"
        )
    return tuple(found)


class SeriesKeywords(TypedDict, total=False):
    """The options of `discover` that go with `lags`."""

    time: str | None
    units: str | None
    step: Any
    context_lags: Sequence[int] | str | None
    covariates: Covariates
    unit_effects: str
    missing: str
    time_effects: str


def series_options(lags: int | None, **given: Unpack[SeriesKeywords]) -> SeriesOptions | None:
    """The choices of a search with lags, by their names in `discover`; None for one without."""
    chosen: dict[str, Any] = {"missing": "windows", **given}
    if lags is None:
        for name in ("time", "units", "step", "context_lags", "covariates"):
            if chosen.get(name) is not None:
                what = (
                    "covariates and cycles are"
                    if name == "covariates"
                    else f"{name} is {shortly(chosen[name])}, which is"
                )
                raise OptionError(
                    f"{what} for rows that follow each other in time; pass lags=... too, such as"
                    " lags=3"
                )
        return None
    names, cycles = listed(chosen.pop("covariates", None))
    copied = copies(chosen.pop("context_lags", None))
    return SeriesOptions(lags, context_lags=copied, covariates=names, cycles=cycles, **chosen)


def listed(value: Covariates) -> tuple[tuple[str, ...], tuple[Cycle, ...]]:
    """Names of covariates and cycles out of a sequence, or out of text with commas; cycles bring
    their names.

    >>> listed("hour_sin, hour_cos")
    (('hour_sin', 'hour_cos'), ())
    """
    if value is None:
        return (), ()
    if isinstance(value, Cycle):
        value = [value]
    try:
        found: list[Any] = (
            [part.strip() for part in value.split(",")] if isinstance(value, str) else list(value)
        )
    except TypeError:
        found = [None]
    if any(not isinstance(name, str | Cycle) or not name for name in found):
        raise OptionError(
            f"covariates is {shortly(value)}, expected names of columns, or cc.cycle(...)"
        )
    cycles = tuple(one for one in found if isinstance(one, Cycle))
    names = [one for one in found if isinstance(one, str)]
    return (*names, *(name for one in cycles for name in one.names)), cycles


def with_written_cycles(covariates: Covariates, text: str | None) -> Covariates:
    """Covariates with the cycles that a text names: `column:period` or `column:period:harmonics`,
    with commas.

    >>> with_written_cycles(None, "TIMESTAMP:1D:2, TIMESTAMP:365.25D")[0].names[2:]
    ('TIMESTAMP 1D sin2', 'TIMESTAMP 1D cos2')
    """
    if text is None:
        return covariates
    found: list[str | Cycle] = []
    for part in str(text).split(","):
        words = part.strip().rsplit(":", 2)
        words = words if len(words) == 3 and words[2].isdecimal() else part.strip().rsplit(":", 1)
        if len(words) < 2 or not all(words):
            raise OptionError(
                f"cycle is {shortly(text)}, expected COLUMN:PERIOD such as TIMESTAMP:1D"
            )
        found.append(cycle(words[0], words[1], int(words[2]) if len(words) == 3 else 1))
    named = covariates.split(",") if isinstance(covariates, str) else covariates
    named = [named] if isinstance(named, Cycle) else list(named or ())
    return [*(one.strip() if isinstance(one, str) else one for one in named), *found]


def copies(value: Sequence[int] | str | None) -> tuple[int, ...]:
    """The copies of the context that may be read, sorted.

    >>> copies(None), copies("0"), copies([1, 0])
    ((0, 1), (0,), (0, 1))
    """
    if value is None:
        return (0, 1)
    try:
        found = [int(part) for part in value.split(",")] if isinstance(value, str) else list(value)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"context_lags is {shortly(value)}, expected whole numbers from 0 such as (0, 1)"
        ) from error
    if (
        not found
        or any(not is_whole(lag) or lag < 0 for lag in found)
        or len(set(found)) < len(found)
    ):
        raise OptionError(
            f"context_lags is {shortly(value)}, expected different whole numbers from 0 such as"
            " (0, 1)"
        )
    return tuple(sorted(int(lag) for lag in found))
