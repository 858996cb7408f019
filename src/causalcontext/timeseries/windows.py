"""A table whose rows follow each other in time, as windows: what a search with lags sees in place of the rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.data.dataset import Dataset, some_rows
from causalcontext.data.kinds import Kind
from causalcontext.data.series import Series, as_series, with_single_cells_filled, without_unit_means
from causalcontext.data.windows import (
    LaggedTable,
    WindowCounts,
    check_windows,
    constant_units,
    lagged_dataset,
    lagged_table,
    levels_of,
    window_ends,
)
from causalcontext.errors import DataError, OptionError
from causalcontext.graphs.lag_names import at, check_plain, split, window_names
from causalcontext.kernels.arrays import Bools, Ints, Values
from causalcontext.knowledge import Knowledge, Links
from causalcontext.search.lagged.lag_alarm import MORE_LAGS
from causalcontext.search.lagged.plan import Window
from causalcontext.timeseries.known import allowed_links
from causalcontext.timeseries.options import SeriesOptions
from causalcontext.views import Contexts

LEAST_SHARE = 0.8
"""The past beyond the window is conditioned on if at least this share of the windows has it."""


@dataclass(frozen=True, eq=False)
class SeriesWindows:
    """A series as tables of windows; a sample has half of them.

    Attributes
    ----------
    data : Dataset
        The table, in any order of rows.
    options : SeriesOptions
    test : IndependenceTest
        What tests of the windows are asked with.
    series : Series
        Its rows in the order of time, gaps found, missing cells and unit means treated as asked.
    all_windows : LaggedTable
        The windows, every column as a number.
    sample : (number, seed) or None
        Which half of the windows to take, drawn in blocks without replacement: drawing with replacement repeats rows,
        which a score takes for information, and false links grow tenfold. Every window carries its own past, so blocks
        may be cut anywhere.
    """

    data: Dataset
    options: SeriesOptions
    test: IndependenceTest
    series: Series
    all_windows: LaggedTable
    sample: tuple[int, int] | None = None

    def half(self, number: int, seed: int) -> SeriesWindows:
        """Half of the windows, by the number of a sample."""
        return replace(self, sample=(number, seed))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables in the order of the table, the context included, without covariates."""
        return tuple(name for name in self.data.names if name not in self.series.covariate_names)

    @cached_property
    def contexts(self) -> tuple[str, ...]:
        """The names of the context variables."""
        return tuple(self.data.names[position] for position in self.data.contexts.positions)

    @cached_property
    def made_of(self) -> dict[str, str]:
        """Of context variables that are made out of a column, its name."""
        contexts, names = self.data.contexts, self.data.names
        sources = {names[position]: contexts.source_of(position) for position in contexts.positions}
        return {name: names[source] for name, source in sources.items() if source is not None}

    @property
    def context(self) -> str | None:
        """The name of the context variable where there is just one."""
        return self.contexts[0] if len(self.contexts) == 1 else None

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of a window graph, the earliest first, covariates last."""
        return (*window_names(self.names, self.options.lags), *self.series.covariate_names)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What every node holds."""
        kinds = {name: kind.value for name, kind in zip(self.data.names, self.data.kinds, strict=True)}
        kinds |= dict.fromkeys(self.contexts, Kind.CATEGORICAL.value)
        return tuple(str(kinds[split(node)[0]]) for node in self.nodes)

    @property
    def cells(self) -> Contexts:
        """The context variables by their positions among the nodes, at time t, and the cells of the table."""
        sources = self.data.contexts.sources
        places = tuple(None if source is None else self.nodes.index(self.data.names[source]) for source in sources)
        return Contexts(tuple(map(self.nodes.index, self.contexts)), self.data.contexts.cells, places)

    @cached_property
    def table(self) -> LaggedTable:
        """The windows as numbers, for regressions."""
        whole = self.all_windows
        return whole if self.sample is None else whole.some(half_of_blocks(len(whole.row), self.sample))

    @cached_property
    def _ends(self) -> tuple[Ints, WindowCounts, int]:
        """Where windows with as many lags again end, for the causes of causes; without, where that costs too many."""
        beyond = max(self.options.lags, MORE_LAGS)
        ends, counts = window_ends(self.series, self.options.lags + beyond)
        if counts.used < LEAST_SHARE * self.all_windows.counts.used:
            return self.all_windows.row, self.all_windows.counts, 0
        return ends, counts, beyond

    @property
    def counts(self) -> WindowCounts:
        """Of the windows that tests see."""
        return self._ends[1]

    @cached_property
    def window(self) -> Window:
        """What is where in a window."""
        contexts = tuple(sorted(map(self.names.index, self.contexts)))
        lags, covariates = self.options.lags, len(self.series.covariate_names)
        return Window(len(self.names), lags, covariates, contexts, self._ends[2])

    @cached_property
    def values(self) -> tuple[tuple[int, ...], ...]:
        """The value of every context in every cell of the table, in the order of `window.contexts`."""
        order = [self.contexts.index(self.names[v]) for v in self.window.contexts]
        return tuple(tuple(cell[j] for j in order) for cell in self.data.contexts.cells)

    @cached_property
    def columns(self) -> Dataset:
        """The windows for tests: nodes as columns of their own kinds, then the past beyond the window.

        Its context variables are the copies of the contexts that are told apart.
        """
        return self._dataset(self._ends[0], self.window.depth, {0, 1, *self.options.context_lags})

    @cached_property
    def scored(self) -> Dataset:
        """The windows for scores: nodes alone, as columns of their own kinds, on all whole windows.

        Its context variables are the contexts at time t and at the lags that mechanisms may depend on; at other lags
        they are categories.
        """
        return self._dataset(self.all_windows.row, self.options.lags, {0, *self.options.context_lags})

    def back_to(self, lag: int) -> Dataset:
        """The same with the past beyond the window up to a lag, on the windows that are as long."""
        return self._dataset(window_ends(self.series, lag)[0], lag, {0, *self.options.context_lags})

    def _dataset(self, ends: Ints, depth: int, copies: set[int]) -> Dataset:
        """The nodes, then the past beyond the window up to a lag; of a sample half of the windows."""
        lags = self.options.lags
        columns = [(name, lag) for lag in range(lags, -1, -1) for name in self.names]
        columns += [(name, 0) for name in self.series.covariate_names]
        columns += [(name, lag) for lag in range(lags + 1, depth + 1) for name in self.names]
        named = {at(*column): column for column in columns}
        found = lagged_dataset(self.data, self.series, ends, named, sorted(copies))
        return found if self.sample is None else some_rows(found, half_of_blocks(found.n_rows, self.sample))

    def without_other_context_lags(self, links: Links) -> Links:
        """Links of which no variable but contexts depend on a context at a lag that is not asked for."""
        may, window = links.may.copy(), self.window
        system = [v for v in window.now if not window.is_context(v)]
        for lag in set(range(window.lags + 1)) - set(self.options.context_lags):
            for context in window.contexts:
                may[window.at(context, lag), system] = False
        return Links(may, links.must)

    def rows(self, tested: bool) -> tuple[int, ...]:
        """How many windows every context has, of those that tests see or of those that regressions see."""
        codes = self.table.codes[:, 0]
        if tested:
            codes = self.series.codes[self._ends[0]]
            codes = codes if self.sample is None else codes[half_of_blocks(len(codes), self.sample)]
        return tuple(np.bincount(codes, minlength=len(self.data.values)).tolist())

    def check(self) -> None:
        """Return if there are enough windows, and none of their columns is constant."""
        check_windows(self.data, self.series, self.all_windows, self.options.units)

    def links(self, knowledge: Knowledge) -> Links:
        """What is known about the nodes; an effect cannot precede its cause, nor a covariate."""
        window, order = self.window, range(self.window.variables)
        allowed = allowed_links(knowledge, self.names, window.lags)
        may, must = (np.zeros((window.nodes, window.nodes), dtype=bool) for _ in range(2))
        for lag in range(window.lags + 1):
            there = np.ix_([window.at(v, lag) for v in order], list(window.now))
            may[there], must[there] = allowed.may[lag], allowed.must[lag]
        may[np.ix_(list(window.extra), list(window.now))] = True
        for v in window.contexts:
            if 0 not in self.options.context_lags:
                may[window.at(v, 0), list(window.now)] = False
            if self.names[v] in self.made_of:
                at_all_times = [window.at(v, lag) for lag in range(window.lags + 1)]
                may[at_all_times], may[:, at_all_times], must[at_all_times], must[:, at_all_times] = (False,) * 4
        np.fill_diagonal(may, False)
        return Links(may, must)

    def unit_warnings(self) -> tuple[str, ...]:
        """What must be said about units in which a context never changes."""
        units = int(self.series.units.max()) + 1
        positions = self.data.contexts.positions if units > 1 else ()
        constant = [
            constant_units(levels_of(self.data.contexts, position, self.series.codes), self.series.units)
            for position in positions
        ]
        return tuple(f"{name} has one value only in {count} of {units} units, which say nothing about changes inside a "
                     "unit" for name, count in zip(self.contexts, constant, strict=False) if count)  # fmt: skip


def read_windows(data: Dataset, taken: dict[str, Values], options: SeriesOptions, test: IndependenceTest
                 ) -> SeriesWindows:  # fmt: skip
    """The windows of a table; `taken` are its columns of times and units."""
    check_plain(data.names)
    if len(data.system) - len(options.covariates) < 1:
        raise OptionError("covariates names every column; at least one must be left to be an effect")
    series = _read_series(data, taken, options)
    return SeriesWindows(data, options, test, series, lagged_table(series, options.lags, max(len(data.values), 1)))


def _read_series(data: Dataset, taken: dict[str, Values], options: SeriesOptions) -> Series:
    """The rows in the order of time, gaps found, missing cells and unit means treated as asked."""
    time = None if options.time is None else (options.time, taken[options.time])
    units = None if options.units is None else (options.units, taken[options.units])
    series = as_series(data, options.covariates, time, units, options.step)
    if options.missing == "raise" and not series.complete.all():
        lost = int((~series.complete).sum())
        raise DataError(f"{lost} rows have missing values; pass missing='windows' to leave out their windows, "
                        "or missing='interpolate' to fill in single cells")  # fmt: skip
    means = np.array([data.kinds[data.position(name)] is Kind.CONTINUOUS for name in series.names], dtype=bool)
    if options.missing == "interpolate":
        series = with_single_cells_filled(series, means)
    if options.units is None or options.unit_effects != "means":
        return series
    for position in data.contexts.positions:
        codes = levels_of(data.contexts, position, series.codes)
        if constant_units(codes, series.units) == int(series.units.max()) + 1:
            raise DataError(f"context {data.names[position]!r} has one value in every unit of {options.units!r}, so "
                            "its effects are those of the units; pass unit_effects='none', or another "
                            "context")  # fmt: skip
    return without_unit_means(series, means)


def series_settings(options: SeriesOptions) -> dict[str, Any]:
    """The options as plain values, for the settings of a result."""
    content = asdict(options)
    return content | {"context_lags": list(options.context_lags), "covariates": list(options.covariates),
                      "cycles": [asdict(one) for one in options.cycles],
                      "step": None if options.step is None else str(options.step)}  # fmt: skip


def half_of_blocks(rows: int, sample: tuple[int, int]) -> Bools:
    """True for the rows of half of all blocks, each of 1.5 times the third root of the rows.

    Examples
    --------
    >>> chosen = half_of_blocks(1000, (0, 0))
    >>> int(chosen.sum()), bool((np.diff(np.flatnonzero(chosen)) == 1).mean() > 0.8)
    (505, True)
    """
    number, seed = sample
    length = ceil(1.5 * rows ** (1 / 3))
    block = np.arange(rows) // length
    count = int(block[-1]) + 1
    chosen = np.zeros(count, dtype=bool)
    chosen[np.random.default_rng([seed, number]).permutation(count)[: ceil(count / 2)]] = True
    return np.asarray(chosen[block])
