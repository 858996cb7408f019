"""The lagged table: one row for every time whose whole past window is known, and what was lost on
the way.

A window never crosses units, gaps or missing values. Column `lag * d + i` is variable i so many
steps ago; covariates come after, without lags. `lagged_dataset` is the same with every column of
its own kind and copies of all contexts, R(t), S(t), R(t-1), ..., as context variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.series import Series
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Codes, Floats, Ints, Values
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.views import Contexts

LaggedName = tuple[str, int]
"""A variable and a lag; covariates have lag 0."""
MERGE = "merge it with another value, or drop its rows"
MORE_LAGS = 2
"""So much of the past beyond the window is asked about."""


def beyond(lags: int) -> int:
    """The lags beyond a window in which causes of causes are looked for: as many lags
    again.
    """
    return max(lags, MORE_LAGS)


def window_columns(
    names: Sequence[str], covariates: Sequence[str], lags: int, depth: int
) -> list[LaggedName]:
    """The columns of windows: the earliest first, then covariates, then the past beyond the window
    up to a depth.
    """
    found = [(name, lag) for lag in range(lags, -1, -1) for name in names]
    found += [(name, 0) for name in covariates]
    return found + [(name, lag) for lag in range(lags + 1, depth + 1) for name in names]


def told_apart(context_lags: Sequence[int]) -> list[int]:
    """The lags at which tests tell the values of contexts apart."""
    return sorted({0, 1, *context_lags})


@dataclass(frozen=True)
class WindowCounts:
    """Rows of the table, and why some of them are not the end of a window.

    `starts` are the first rows of the table or of a unit, `gaps` the first ones after a gap in
    time, `missing` those with a missing value somewhere in their window; every lost row is counted
    once.
    """

    rows: int
    used: int
    starts: int
    gaps: int
    missing: int
    interpolated: int = 0

    def __str__(self) -> str:
        reasons = (
            (self.starts, "at starts"),
            (self.gaps, "after gaps"),
            (self.missing, "with missing values"),
        )
        lost = [f"{count:,} {what}" for count, what in reasons if count]
        filled = f"; {self.interpolated:,} single cells filled in" if self.interpolated else ""
        because = f" (lost: {', '.join(lost)})" if lost else ""
        return f"{self.used:,} of {self.rows:,} rows end a whole window{because}{filled}"


@dataclass(frozen=True, eq=False)
class LaggedTable:
    """Rows with their windows. n windows, d variables, q covariates, L lags."""

    variables: int
    lags: int
    values: Floats  # shape (n, d * (L + 1) + q); standardised
    centre: Floats  # shape (d * (L + 1) + q,)
    scale: Floats
    codes: (
        Ints  # shape (n, L + 1); the context, or the combination of several, now and at every lag
    )
    contexts: int
    counts: WindowCounts
    row: Ints  # shape (n,); the row of the series that a window ends at

    @property
    def width(self) -> int:
        """The columns."""
        return int(self.values.shape[1])


def lagged_table(series: Series, lags: int, contexts: int) -> LaggedTable:
    """Every row of the series whose window of so many lags is whole."""
    ends, counts = window_ends(series, lags)
    wide = [series.values[ends - lag] for lag in range(lags + 1)]
    values = np.column_stack([*wide, series.covariates[ends]])
    codes = np.column_stack([series.codes[ends - lag] for lag in range(lags + 1)])
    centre = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
    scale = values.std(axis=0) if len(values) else np.ones(values.shape[1])
    safe = np.where(scale > 0.0, scale, 1.0)
    return LaggedTable(
        len(series.names),
        lags,
        np.ascontiguousarray((values - centre) / safe),
        centre,
        scale,
        np.ascontiguousarray(codes),
        contexts,
        counts,
        ends,
    )


def window_ends(series: Series, lags: int) -> tuple[Ints, WindowCounts]:
    """The rows that end a whole window, and what became of the others."""
    before = rows_before(series)
    whole = before[2] >= lags
    counts = WindowCounts(len(series.codes), *counted(before, lags), series.interpolated)
    return np.flatnonzero(whole if series.ends is None else whole & series.ends), counts


def rows_before(series: Series) -> Ints:
    """The number of rows before every row in its unit, without a gap, and without a missing value;
    shape (3, T).
    """
    # The last is -1 where the row itself has a missing value.
    same_unit = np.diff(series.units) == 0
    no_gap = same_unit & (np.diff(series.steps) == 1)
    complete = series.complete
    follows = np.array([same_unit, no_gap, no_gap & complete[1:] & complete[:-1]])
    place = np.arange(len(complete))
    breaks = np.where(np.insert(~follows, 0, True, axis=1), place, 0)
    found = np.asarray(place - np.maximum.accumulate(breaks, axis=1))
    found[2, ~complete] = -1
    return found


def counted(before: Ints, lags: int) -> tuple[int, int, int, int]:
    """Rows that end a whole window, are at starts, after gaps, and have a missing value in their
    window.
    """
    in_unit, in_run, whole = before >= lags
    return (
        int(whole.sum()),
        int((~in_unit).sum()),
        int((in_unit & ~in_run).sum()),
        int((in_run & ~whole).sum()),
    )


def check_windows(
    data: Dataset,
    series: Series,
    table: LaggedTable,
    unit_name: str | None,
    rows: Ints,
    way_out: str,
) -> None:
    """Return if the lagged table can be searched; `rows` are the windows of every context at time
    t.
    """
    if unit_name is not None:
        sizes = np.bincount(series.units)
        if (sizes <= table.lags).all():
            raise DataError(
                f"every unit of {unit_name!r} has at most {int(sizes.max())} rows, and {table.lags}"
                f" lags need at least {table.lags + 1}; pass fewer lags"
            )
    needed = table.width + 1 + SPARE_ROWS
    if len(table.row) < needed:
        raise DataError(
            f"{table.counts}; lags={table.lags} with {table.variables} variables needs at least"
            f" {needed} windows: pass fewer lags, or more rows"
        )
    names = [*series.names, *series.covariate_names]
    for place in [*range(table.variables), *range(table.variables * (table.lags + 1), table.width)]:
        if table.scale[place] <= 0.0:
            name = names[place if place < table.variables else place - table.variables * table.lags]
            raise DataError(f"column {name!r} is constant in the whole windows; drop it")
    for j, position in enumerate(data.contexts.positions):
        level = levels_of(data.contexts, position, np.arange(table.contexts))
        for code, value in enumerate(data.levels[j]):
            found = int(rows[level == code].sum())
            _check_enough(
                f"context {data.names[position]!r} is {value!r}", found, SPARE_ROWS + 2, way_out
            )
    if len(data.contexts.positions) > 1:
        for value, found in zip(data.values, rows.tolist(), strict=True):
            _check_enough(f"contexts {data.context_name} are {value!r}", found, 1, way_out)


def _check_enough(what: str, rows: int, needed: int, way_out: str) -> None:
    if rows < needed:
        raise DataError(f"{what} in {rows} whole windows, expected at least {needed}; {way_out}")


def levels_of(contexts: Contexts, position: int, codes: Ints) -> Codes:
    """The level of one context variable in every row, by the cell of the row; -1 where that is
    missing.
    """
    levels = [cell[contexts.positions.index(position)] for cell in contexts.cells]
    return np.array([*levels, -1], dtype=np.int32)[codes]


def constant_units(codes: Ints | Codes, units: Ints) -> int:
    """The number of units with one value of a context only."""
    order = np.lexsort((codes, units))
    starts = np.flatnonzero(np.diff(units[order], prepend=-1))
    edges = [*starts.tolist(), len(order)]
    return sum(len(set(codes[order[a:b]].tolist()) - {-1}) < 2 for a, b in pairwise(edges))


def check_varies(data: Dataset, codes: Ints, groups: Ints, where: str, option: str) -> None:
    """Return if every context has several values in some group: a unit or a time, whose means are
    taken away.
    """
    # `where` says in words what the groups are, `option` what takes the means away.
    for position in data.contexts.positions:
        if constant_units(levels_of(data.contexts, position, codes), groups) == len(
            np.unique(groups)
        ):
            raise DataError(
                f"context {data.names[position]!r} has one value {where}, so that its effects"
                f" cannot be estimated; pass {option}='none', or another context"
            )


def lagged_dataset(
    data: Dataset,
    series: Series,
    ends: Ints,
    columns: Mapping[str, LaggedName],
    copies: Sequence[int],
) -> Dataset:
    """The table of some columns, by name the variable and the lag, one row for every window that
    ends at `ends`.
    """
    # Copies of all contexts at the lags `copies` are context variables, in this order, and at each
    # lag in the order of the table; others are categories, and so are copies of a context that is
    # made out of a covariate.
    found = tuple(columns.values())
    known = [column_of(data, series, ends, *column) for column in found]
    places = {column: place for place, column in enumerate(found)}
    own = {data.names[place]: j for j, place in enumerate(data.contexts.positions)}
    made = [name for name in own if data.contexts.source_of(data.position(name)) is not None]
    told = [
        (name, lag)
        for lag in copies
        for name in sorted(own, key=data.position)
        if name not in made or _source(data, places, name, lag) is not None
    ]
    positions = tuple(places[column] for column in told)
    contexts = Contexts()
    codes = np.zeros(len(ends), dtype=np.int32)
    if positions:  # the combinations of the copies that occur, and the one of every row
        rows, place = np.unique(
            np.column_stack([known[at] for at in positions]), axis=0, return_inverse=True
        )
        contexts = Contexts(positions, tuple(tuple(int(level) for level in row) for row in rows))
        codes = place.reshape(-1).astype(np.int32)
    if data.contexts.sources:
        contexts = replace(
            contexts, sources=tuple(_source(data, places, *column) for column in told)
        )
    categories = {
        place: data.levels[own[name]] if name in own else data.categories[data.position(name)]
        for place, (name, _) in enumerate(found)
        if place not in positions and (name in own or data.position(name) in data.categories)
    }
    kinds = tuple(
        Kind.CATEGORICAL if name in own else data.kinds[data.position(name)] for name, _ in found
    )
    dtypes = tuple(data.dtypes[data.position(name)] for name, _ in found)
    levels = tuple(data.levels[own[name]] for name, _ in told)
    declared = frozenset(
        name for name, (variable, _) in columns.items() if variable in data.declared
    )
    return Dataset(
        tuple(columns),
        kinds,
        tuple(known),
        dtypes,
        contexts,
        levels,
        codes,
        categories,
        declared,
        series.share,
    )


def _source(data: Dataset, places: Mapping[LaggedName, int], name: str, lag: int) -> int | None:
    """The column of which a context is made at the same time; a covariate has none but that of
    now.
    """
    source = data.contexts.source_of(data.position(name))
    return None if source is None else places.get((data.names[source], lag))


def column_of(data: Dataset, series: Series, ends: Ints, name: str, lag: int = 0) -> Values:
    """The values of a variable so many steps before some rows, levels of a context variable as
    numbers.
    """
    if data.position(name) in data.contexts.positions:
        return levels_of(data.contexts, data.position(name), series.codes[ends - lag])
    if name in series.covariate_names:
        return np.ascontiguousarray(series.covariates[ends, series.covariate_names.index(name)])
    return np.ascontiguousarray(series.values[ends - lag, series.names.index(name)])
