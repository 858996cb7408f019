"""Windows of a table that is read in batches: the rows that come next see the last ones of the
batch before.

`WindowAccumulator` takes batches one after the other, in the order of time. It keeps moments of all
windows by the values of the contexts at the lags that are told apart, and a random sample of
windows, each with its past. What it keeps does not depend on how the rows are cut into batches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from causalcontext.data import windows as lagged
from causalcontext.data.accumulate import Accumulator, widened
from causalcontext.data.checks import MOST_CELLS, check_products
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.frames import pa
from causalcontext.data.moments import add_batch, no_totals, some_cells
from causalcontext.data.sample import DrawnRows, RowSample
from causalcontext.data.series import (
    Series,
    StepCounter,
    check_numbers,
    unit_means,
    with_single_cells_filled,
)
from causalcontext.data.series_options import SeriesOptions
from causalcontext.data.sufficient_statistics import SufficientStatistics, statistics_of
from causalcontext.data.windows import WindowCounts
from causalcontext.errors import DataError, OptionError, shortly
from causalcontext.kernels.arrays import Codes, Floats, Ints, Values
from causalcontext.kernels.rows.stretches import ScanTotals

VALUES_AT_A_TIME = 2**19
"""Numbers of windows that are added at a time: 4 MB."""
MOST_HELD = 2**25
"""Numbers of one unit, whose mean is known when it is over, at most: 256 MB."""


class HeldRows(NamedTuple):
    """Rows that later windows need: numbers of shape (columns, rows), the cell, unit and time of
    every row.
    """

    values: Floats
    codes: Codes
    units: Ints
    time: Values

    def some(self, rows: slice) -> HeldRows:
        """Some of the rows."""
        return HeldRows(self.values[:, rows], self.codes[rows], self.units[rows], self.time[rows])


@dataclass(frozen=True, eq=False)
class ScannedWindows:
    """The totals and the sample of the windows of a table."""

    data: Dataset  # the columns and contexts of the table
    options: SeriesOptions  # how rows follow each other
    # the windows of the sample, each a unit by itself that begins with its past beyond the lags
    series: Series
    # by depth, of windows of so many lags in all rows: those of the search, and as many again
    counts: dict[int, WindowCounts]
    # by depth, moments of all windows by cell, the columns as in `window_columns`
    totals: dict[int, tuple[tuple[tuple[int, ...], ...], ScanTotals]]
    units: tuple[Ints, Ints]  # the cells that occur in every unit
    measured: Floats  # shape as `series.values`; the same values with the means of units
    # whether nothing but the sample is used, for contexts and levels that moments know nothing of
    sample_only: bool = False

    @property
    def whole(self) -> bool:
        """True if the sample has all windows."""
        assert self.series.ends is not None
        return int(self.series.ends.sum()) == self.counts[self.options.lags].used

    def rows_of_sample(self) -> Dataset:
        """The rows of the windows of the sample as they were measured."""
        series, rows = replace(self.series, values=self.measured), np.arange(len(self.series.codes))
        columns = tuple(lagged.column_of(self.data, series, rows, name) for name in self.data.names)
        return replace(self.data, columns=columns, codes=series.codes.astype(np.int32))

    def of_all(self, depth: int, sample: Dataset) -> tuple[Dataset, SufficientStatistics]:
        """The sample of windows with all cells that occur, and the statistics of all windows."""
        cells, totals = self.totals[depth]
        place = {cell: number for number, cell in enumerate(cells)}
        code = np.array([place[cell] for cell in sample.contexts.cells], dtype=np.int32)
        data = replace(
            sample, contexts=replace(sample.contexts, cells=cells), codes=code[sample.codes]
        )
        return data, statistics_of(totals, data, self.counts[depth].used, 0, 0)

    def rows(self, depth: int) -> tuple[int, ...]:
        """The number of windows that every context of the table has."""
        data, (cells, totals) = self.data, self.totals[depth]
        order = np.argsort(data.contexts.positions)
        now = {
            tuple(cell[j] for j in order): number for number, cell in enumerate(data.contexts.cells)
        }
        found = [now[cell[: len(order)]] for cell in cells]
        return tuple(np.bincount(found, totals.n, minlength=len(now)).astype(int).tolist())

    def note(self, source: str, scored: bool) -> str:
        """A note on what rests on all windows, and what on the sample; empty where there is no
        difference.
        """
        if self.whole:
            return ""
        assert self.series.ends is not None
        sample = f"a random sample of {int(self.series.ends.sum()):,} windows"
        if self.sample_only:
            return (
                f"{source} was read once: everything rests on {sample} of"
                f" {self.counts[self.options.lags].used:,}"
            )
        if scored:
            return (
                f"{source} was read once: the model of score-ac, effects and warnings rest on"
                f" {sample}"
            )
        return (
            f"{source} was read once: partial-correlation and fisher-z, also at the context, and"
            f" slopes use all windows; other tests, effects and warnings use {sample}; the column n"
            " of tests() has the windows of every decision"
        )


class WindowAccumulator:
    """The totals of the windows of a table after some of its rows; `sample` windows are
    kept.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        kinds: tuple[Kind, ...],
        contexts: tuple[str, ...],
        options: SeriesOptions,
        sample: int,
    ) -> None:
        self.options = options
        self.contexts = contexts
        self.depth = options.lags + lagged.beyond(options.lags)
        plain = [name for name in names if name not in options.covariates]
        self.system = tuple(name for name in plain if name not in contexts)
        self.columns = (*self.system, *options.covariates)
        self._continuous = np.array(
            [dict(zip(names, kinds, strict=True))[name] is Kind.CONTINUOUS for name in self.system],
            dtype=bool,
        )
        told = lagged.told_apart(options.context_lags) if contexts else []
        self._told = told
        self._of = {
            depth: [
                column
                for column in lagged.window_columns(plain, options.covariates, options.lags, depth)
                if column[0] not in contexts or column[1] not in told
            ]
            for depth in (options.lags, self.depth)
        }
        self._cells: dict[int, dict[tuple[int, ...], int]] = {depth: {} for depth in self._of}
        self._totals = {depth: no_totals(0, len(columns)) for depth, columns in self._of.items()}
        self._counts = {depth: np.zeros(5, dtype=np.int64) for depth in self._of}
        width = (
            (self.depth + 1) * (len(self.system) + 1) + len(self.system) + len(options.covariates)
        )
        self._sample = RowSample(sample, width)
        self._waiting: list[HeldRows] = []
        self._done = self._read = 0
        if options.time_effects == "means":
            raise OptionError(
                "time_effects='means' needs the table in memory; read it there, or subtract what"
                " units share at a time first"
            )
        self._steps = None if options.time is None else StepCounter(options.time, options.step)
        self._units: dict[Any, int] = {}
        self._unit = -1
        self._in_units: set[int] = set()
        self._levels = np.empty((0, len(contexts)), dtype=np.int64)

    @property
    def _by_units(self) -> bool:
        """True if windows wait until their unit is over, since its mean is taken away."""
        return self.options.units is not None and self.options.unit_effects == "means"

    def add(self, batch: pa.RecordBatch, rows: Accumulator) -> None:
        """Add the next batch, whose rows another accumulator has seen."""
        if not batch.num_rows:
            return
        codes = rows.codes_of(batch)
        # levels are numbered as they were first met
        numbers: list[dict[Any, int]] = [{} for _ in self.contexts]
        self._levels = np.array(
            [
                [
                    seen.setdefault(value, len(seen))
                    for seen, value in zip(numbers, cell, strict=True)
                ]
                for cell in rows.cells
            ],
            dtype=np.int64,
        )
        values = np.array([rows.numbers_in(batch, name) for name in self.columns])
        check_numbers(self.columns, values)
        units = self._numbered(batch)
        if self.contexts and self.options.units is not None:
            known = codes >= 0
            self._in_units.update(
                np.unique(units[known] * (MOST_CELLS + 1) + codes[known]).tolist()
            )
        time = np.arange(self._read, self._read + batch.num_rows)
        if self.options.time is not None:
            time = (
                batch.column(batch.schema.get_field_index(self.options.time)).to_pandas().to_numpy()
            )
        self._read += batch.num_rows
        self._waiting.append(HeldRows(values, codes, units, time))
        self._advance(last=False)

    def finished(self, rows: Accumulator, data: Dataset) -> ScannedWindows:
        """The totals once all rows have been added; `data` are the columns and contexts of the
        table.
        """
        if self._waiting:
            self._advance(last=True)
        # the cells of rows among those of the table, sorted
        place = np.full(len(rows.cells) + 1, -1, dtype=np.int64)
        for cell, number in rows.cells.items():
            coded = (
                tuple(data.levels[j].index(value) for j, value in enumerate(cell))
                if self.contexts
                else ()
            )
            place[number] = data.contexts.cells.index(coded)
        held = np.array(sorted(self._in_units), dtype=np.int64)
        units = held // (MOST_CELLS + 1), place[held % (MOST_CELLS + 1)]
        if self._by_units:
            lagged.check_varies(
                data, units[1], units[0], f"in every unit of {self.options.units!r}", "unit_effects"
            )
        counts = {
            depth: WindowCounts(self._read, *map(int, found))
            for depth, found in self._counts.items()
        }
        totals = {depth: self._in_order(depth, data, place) for depth in self._of}
        series, measured = self._series_of_sample(place, rows, data)
        return ScannedWindows(
            data, self.options, series, counts, totals, units, measured, bool(rows.levels)
        )

    def _numbered(self, batch: pa.RecordBatch) -> Ints:
        """The unit of every row; the rows of a unit stand together."""
        name = self.options.units
        if name is None:
            return np.zeros(batch.num_rows, dtype=np.int64)
        column = batch.column(batch.schema.get_field_index(name))
        if column.null_count:
            raise DataError(f"units column {name!r} has missing values; every row needs a unit")
        coded = column.dictionary_encode()
        codes = np.asarray(coded.indices)
        values = coded.dictionary.to_pylist()
        edges = np.flatnonzero(np.diff(codes, prepend=-1, append=-1))
        found = np.empty(len(codes), dtype=np.int64)
        for begin, end in pairwise(edges.tolist()):
            value = values[codes[begin]]
            if self._units.get(value) != self._unit or self._unit < 0:
                if value in self._units:
                    raise DataError(
                        f"unit {shortly(value)} of {name!r} comes back after other units; a table"
                        " that is read in batches must be sorted by units, then by time"
                    )
                self._units[value] = self._unit = len(self._units)
            found[begin:end] = self._unit
        return found

    def _advance(self, last: bool) -> None:
        """Make the windows that are complete; the rows that later ones need wait."""
        first = self._waiting[0]
        latest = self._waiting[-1]
        if not last and self._by_units and first.units[0] == latest.units[-1]:
            if sum(held.values.size for held in self._waiting) > MOST_HELD:
                raise DataError(
                    f"a unit of {self.options.units!r} has too many rows to subtract its mean"
                    " before its windows are made; pass unit_effects='none', or subtract the means"
                    " first"
                )
            return
        if (
            not last
            and self._steps is not None
            and self._steps.waits(sum(len(held.codes) for held in self._waiting))
        ):
            return
        rows = HeldRows(
            *(np.concatenate(parts, axis=-1) for parts in zip(*self._waiting, strict=True))
        )
        size = len(rows.codes)
        if self._steps is not None:
            self._steps.settle(rows.time, rows.units)
        if self._by_units:
            end = size if last else int(np.flatnonzero(rows.units == rows.units[-1])[0])
            self._make(rows.some(slice(end)), 0, end)
            self._waiting = [rows.some(slice(end, None))]
            self._done = 0
            return
        # the next row may fill a cell in
        end = size if last or self.options.missing != "interpolate" else size - 1
        self._make(rows, self._done, end)
        begin = max(end - self.depth - 1, 0)
        self._waiting = [rows.some(slice(begin, None))]
        self._done = end - begin

    def _make(self, rows: HeldRows, begin: int, end: int) -> None:
        """Add the windows that end at some of the rows."""
        system = len(self.system)
        values = rows.values.T
        steps = rows.time if self._steps is None else self._steps.numbers(rows.time, rows.units)
        series = Series(
            self.system,
            values[:, :system],
            rows.codes.astype(np.int64),
            self.options.covariates,
            values[:, system:],
            rows.units,
            steps,
        )
        before = lagged.rows_before(series)
        if self.options.missing == "interpolate":
            filled = with_single_cells_filled(series, self._continuous)
            new = np.isfinite(filled.values[begin:end]) & ~np.isfinite(series.values[begin:end])
            series = filled
            before = lagged.rows_before(filled)
            for counts in self._counts.values():
                counts[4] += int(new.sum())
        measured = series
        means = np.zeros_like(series.values)
        if self._by_units:
            means = unit_means(series, self._continuous)
            series = replace(series, values=series.values - means)
        windows = int(self._counts[self.options.lags][0])
        ends = begin + np.flatnonzero(before[2, begin:end] >= self.options.lags)
        # and kept, with as much of their past as is whole
        chosen, hashes = self._sample.choose(windows, len(ends))
        ends = ends[chosen]
        parts = []
        for lag in range(self.depth + 1):
            there = before[2, ends] >= lag
            past = np.maximum(ends - lag, 0)
            parts += [
                np.where(there, measured.values[past].T, np.nan),
                np.where(there, measured.codes[past], -1)[None],
            ]
        kept = np.concatenate([*parts, means[ends].T, measured.covariates[ends].T])
        self._sample.keep(
            DrawnRows(hashes, windows + chosen, np.zeros(len(chosen), dtype=np.int32), kept)
        )
        for depth, counts in self._counts.items():
            ends = begin + np.flatnonzero(before[2, begin:end] >= depth)
            self._add(series, ends, depth, int(counts[0]))
            counts[:4] += lagged.counted(before[:, begin:end], depth)

    def _add(self, series: Series, ends: Ints, depth: int, first: int) -> None:
        """Add windows to the totals of their cells."""
        columns = self._of[depth]
        rows = max(VALUES_AT_A_TIME // len(columns), 1)
        for begin in range(0, len(ends), rows):
            some = ends[begin : begin + rows]
            values = np.array([self._column(series, some, *column) for column in columns])
            codes = self._codes(series, some, depth)
            add_batch(self._totals[depth], values, codes, first + begin)

    def _column(self, series: Series, ends: Ints, name: str, lag: int) -> Floats:
        if name in self.contexts:
            return np.asarray(
                self._levels[series.codes[ends - lag], self.contexts.index(name)], dtype=np.float64
            )
        if name in self.options.covariates:
            return np.asarray(series.covariates[ends, self.options.covariates.index(name)])
        return np.asarray(series.values[ends - lag, self.system.index(name)])

    def _codes(self, series: Series, ends: Ints, depth: int) -> Codes:
        """The cell of every window, by the cells of its rows at the lags that are told apart; new
        ones are noted.
        """
        known = self._cells[depth]
        number = np.zeros(len(ends), dtype=np.int64)
        keys: list[tuple[int, ...]] = [()]
        for lag in self._told:
            found, number = np.unique(
                number * (MOST_CELLS + 1) + series.codes[ends - lag], return_inverse=True
            )
            keys = [
                (*keys[key // (MOST_CELLS + 1)], key % (MOST_CELLS + 1)) for key in found.tolist()
            ]
        place = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int32)
        before = len(self._totals[depth].n)
        if len(known) > before:
            check_products(len(self._of[depth]), len(known))
            self._totals[depth] = widened(self._totals[depth], np.arange(before), len(known))
        return place[number]

    def _in_order(
        self, depth: int, data: Dataset, place: Ints
    ) -> tuple[tuple[tuple[int, ...], ...], ScanTotals]:
        """The cells of windows by levels, sorted, and their totals; two levels are 0 and 1 as in
        the table.
        """
        by_position = np.argsort(data.contexts.positions)

        def levels(key: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(data.contexts.cells[place[cell]][j] for cell in key for j in by_position)

        coded = {levels(key): number for key, number in self._cells[depth].items()}
        cells = tuple(sorted(coded))
        found = some_cells(self._totals[depth], [coded[cell] for cell in cells])
        totals = found._asdict()  # its arrays were made for these cells
        for j, name in enumerate(self.contexts):
            # a cell whose level was met first
            first = int(np.flatnonzero(self._levels[:, j] == 0)[0])
            columns = [k for k, column in enumerate(self._of[depth]) if column[0] == name]
            if len(data.levels[j]) == 2 and data.contexts.cells[place[first]][j] == 1 and columns:
                # those of 1 - x, in place of x
                low, high = (totals[end][:, columns] for end in ("low", "high"))
                totals["low"][:, columns] = 1.0 - high
                totals["high"][:, columns] = 1.0 - low
                totals["centre"][:, columns] = 1.0 - totals["centre"][:, columns]
                totals["mean"][:, columns] *= -1.0
                sign = np.ones(found.mean.shape[1])
                sign[columns] = -1.0
                totals["scatter"] *= np.outer(sign, sign)
        return cells, ScanTotals(**totals)

    def _series_of_sample(
        self, place: Ints, known: Accumulator, data: Dataset
    ) -> tuple[Series, Floats]:
        """The windows of the sample one after the other, each a unit of as many rows as it has
        lags, and one.
        """
        # And the values with the means of units. Levels are their places in order.
        values = self._sample.in_order()[0]
        windows = values.shape[1]
        long = self.depth + 1
        system = len(self.system)
        past = values[: long * (system + 1)]
        rest = np.repeat(values[long * (system + 1) :].T, long, axis=0)
        earliest_first = past.reshape(long, system + 1, windows)[::-1]
        rows = earliest_first.transpose(2, 0, 1).reshape(windows * long, system + 1)
        ends = np.tile(np.arange(long) == self.depth, windows)
        measured = np.ascontiguousarray(rows[:, :-1])
        for name, levels in known.levels.items():
            own = measured[:, self.system.index(name)]
            own[:] = levels.placed(own, data.categories[data.position(name)])
        series = Series(
            self.system,
            measured - rest[:, :system],
            place[rows[:, -1].astype(np.int64)],
            self.options.covariates,
            rest[:, system:],
            np.repeat(np.arange(windows), long),
            np.tile(np.arange(long), windows),
            ends=ends,
            clock="" if self._steps is None else self._steps.words,
        )
        return series, measured
