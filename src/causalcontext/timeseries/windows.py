"""A table whose rows follow each other in time, as windows: what a search with lags sees in place
of the rows.

In knowledge over time a plain name means a variable at all lags, `X(t-1)` at one; time order is
built in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.data import series as data_series
from causalcontext.data import windows as window_tables
from causalcontext.data.columns import Kind
from causalcontext.data.completion import FEWEST_OBSERVED, STACKED, complete, stacked
from causalcontext.data.dataset import Dataset, some_rows
from causalcontext.data.scan import Scan
from causalcontext.data.scanned_windows import ScannedWindows
from causalcontext.data.series import Series, as_series, beside, single_cells, unit_means
from causalcontext.data.series_options import SeriesOptions
from causalcontext.data.sufficient_statistics import SufficientStatistics, gather_statistics
from causalcontext.data.windows import (
    LaggedTable,
    WindowCounts,
    check_varies,
    lagged_table,
    levels_of,
    window_ends,
)
from causalcontext.errors import DataError, KnowledgeError, OptionError
from causalcontext.graphs.lag_names import at, check_plain, split, window_names
from causalcontext.kernels.arrays import Bools, Ints, Values
from causalcontext.knowledge import Knowledge, Links
from causalcontext.search.lagged.plan import Window
from causalcontext.views import Contexts

FEWEST_UNITS = 10
"""Errors by units need so many of them."""
MOST_DRAWN = 4_000_000
"""Products that a step of the model of missing cells takes: with more, cells are drawn once, which
takes seconds.
"""
MOST_STEPS_BACK = 2
"""A missing cell is modelled by its row, the next one, and at most so many before it."""


def allowed_links(knowledge: Knowledge, names: Sequence[str], lags: int) -> tuple[Bools, Bools]:
    """Links that may and that must be there, contexts included; shape (L + 1, d, d): lag, cause,
    effect.
    """
    # A forbidden link between plain names is forbidden at all lags, and so are those against tiers,
    # into roots and out of sinks, but for a variable's own past. A required link holds at the lag
    # that it names, between plain names at 0.
    index = {name: place for place, name in enumerate(names)}
    lagged = [pair for pair in knowledge.forbidden if split(pair[0])[1]]
    always = knowledge.to_dict() | {
        "forbidden": [pair for pair in knowledge.forbidden if pair not in lagged]
    }
    required = [pair for pair in knowledge.required if not split(pair[0])[1]]
    may = np.repeat(
        Knowledge.from_dict(always | {"required": []}).links(names).may[None], lags + 1, axis=0
    )
    now = Knowledge.from_dict(always | {"required": required}).links(names)
    must = np.zeros_like(may)
    may[0] = now.may
    must[0] = now.must
    for lag in range(1, lags + 1):
        np.fill_diagonal(may[lag], True)
    for pairs, table, value in ((lagged, may, False), (knowledge.required, must, True)):
        for cause, effect in pairs:
            (first, lag), (second, other) = split(cause), split(effect)
            if other:
                raise KnowledgeError(
                    f"knowledge names {effect!r} as an effect; say it of the present, which repeats"
                    f" itself: ({first}(t-k), {second})"
                )
            for name, shown in ((first, cause), (second, effect)):
                if name not in index:
                    raise KnowledgeError(f"knowledge names {shown!r}, which is not a column")
            if lag <= lags:
                table[lag, index[first], index[second]] = value
    contradicted = np.argwhere(must & ~may)
    if contradicted.size:
        lag, i, j = contradicted[0]
        raise KnowledgeError(
            f"the link {names[i]} --> {names[j]} at lag {lag} is both required and ruled out"
        )
    return may, must


LEAST_OF_A_CONTEXT = 0.25
"""Half of the windows has at least this share of those of every context."""
MOST_DRAWS = 100
LEAST_SHARE = 0.8
"""The past beyond the window is conditioned on if at least this share of the windows has it."""


@dataclass(frozen=True, eq=False)
class SeriesWindows:
    """A series as tables of windows; a sample has half of them."""

    data: Dataset  # the table, in any order of rows
    options: SeriesOptions
    test: IndependenceTest  # what tests of the windows are asked with
    # its rows in the order of time, gaps found, missing cells and unit means treated as asked
    series: Series
    all_windows: LaggedTable  # the windows, every column as a number
    # which half of the windows to take, drawn in blocks without replacement: drawing with
    # replacement repeats rows, which a score takes for information, and false links grow tenfold.
    # Every window carries its own past, so blocks may be cut anywhere.
    sample: tuple[int, int] | None = None
    # what one pass over a table that is larger than memory kept; the series are then windows one
    # after the other
    scanned: ScannedWindows | None = None
    drawn: tuple[Series, ...] = ()  # the series with other draws of cells that are missing

    @property
    def of_all(self) -> ScannedWindows | None:
        """What is known about all windows, where the tables have only some of them; None for half
        of the windows.
        """
        found = self.scanned
        return (
            None
            if found is None or found.whole or found.sample_only or self.sample is not None
            else found
        )

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
        contexts = self.data.contexts
        names = self.data.names
        sources = {names[position]: contexts.source_of(position) for position in contexts.positions}
        return {name: names[source] for name, source in sources.items() if source is not None}

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of a window graph, the earliest first, covariates last."""
        return (*window_names(self.names, self.options.lags), *self.series.covariate_names)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What every node holds."""
        kinds = {
            name: kind.value for name, kind in zip(self.data.names, self.data.kinds, strict=True)
        }
        kinds |= dict.fromkeys(self.contexts, Kind.CATEGORICAL.value)
        return tuple(str(kinds[split(node)[0]]) for node in self.nodes)

    @property
    def cells(self) -> Contexts:
        """The context variables by their positions among the nodes, at time t, and the cells of the
        table.
        """
        sources = self.data.contexts.sources
        places = tuple(
            None if source is None else self.nodes.index(self.data.names[source])
            for source in sources
        )
        return Contexts(
            tuple(map(self.nodes.index, self.contexts)), self.data.contexts.cells, places
        )

    @cached_property
    def table(self) -> LaggedTable:
        """The windows as numbers, for regressions."""
        whole = self.all_windows
        if self.sample is None:
            return whole
        half = self._half(whole.row)
        return replace(
            whole, values=whole.values[half], codes=whole.codes[half], row=whole.row[half]
        )

    def _half(self, ends: Ints) -> Bools:
        """The windows of a sample: half of the blocks, drawn until every context has a fair share
        of them.
        """
        assert self.sample is not None
        codes = self.series.codes[ends]
        contexts = len(self.data.values)
        wanted = LEAST_OF_A_CONTEXT * np.bincount(codes, minlength=contexts)
        for draw in range(MOST_DRAWS):
            chosen = half_of_blocks(len(ends), (*self.sample, draw) if draw else self.sample)
            if (np.bincount(codes[chosen], minlength=contexts) >= wanted).all():
                return chosen
        rare = self.data.values[int(np.argmin(wanted))]
        raise DataError(
            f"no half of the windows has {self.data.context_name!r} = {rare!r} often enough: it"
            " occurs at few times; merge it with another value"
        )

    @cached_property
    def _ends(self) -> tuple[Ints, WindowCounts, int]:
        """Where windows with as many lags again end, for the causes of causes; without, where that
        costs too many.
        """
        more = window_tables.beyond(self.options.lags)
        ends, counts = window_ends(self.series, self.options.lags + more)
        counts = counts if self.scanned is None else self.scanned.counts[self.options.lags + more]
        if counts.used < LEAST_SHARE * self.all_windows.counts.used:
            return self.all_windows.row, self.all_windows.counts, 0
        return ends, counts, more

    @property
    def counts(self) -> WindowCounts:
        """Of the windows that tests see."""
        return self._ends[1]

    @cached_property
    def window(self) -> Window:
        """What is where in a window."""
        contexts = tuple(sorted(map(self.names.index, self.contexts)))
        lags = self.options.lags
        covariates = len(self.series.covariate_names)
        return Window(len(self.names), lags, covariates, contexts, self._ends[2])

    @cached_property
    def values(self) -> tuple[tuple[int, ...], ...]:
        """The value of every context in every cell of the table, in the order of
        `window.contexts`.
        """
        order = [self.contexts.index(self.names[v]) for v in self.window.contexts]
        return tuple(tuple(cell[j] for j in order) for cell in self.data.contexts.cells)

    @cached_property
    def columns(self) -> Dataset:
        """The windows for tests: nodes as columns of their own kinds, then the past beyond the
        window.
        """
        # Its context variables are the copies of the contexts that are told apart.
        return self._tested[0]

    @cached_property
    def with_contexts_now(self) -> Dataset:
        """The same where only contexts at time t choose rows."""
        return self._dataset(self._ends[0], self.window.depth, (0,))

    @property
    def statistics(self) -> SufficientStatistics | None:
        """Of all windows that tests see, or of all draws of missing cells, where `columns` are some
        of them.
        """
        return self._tested[1]

    @cached_property
    def _tested(self) -> tuple[Dataset, SufficientStatistics | None]:
        asked = (
            self._ends[0],
            self.window.depth,
            window_tables.told_apart(self.options.context_lags),
        )
        found = self._dataset(*asked)
        if self.drawn:
            return found, gather_statistics(self._stacked(*asked), "listwise")
        return (
            (found, None) if self.of_all is None else self.of_all.of_all(self.window.depth, found)
        )

    @cached_property
    def scored(self) -> Dataset:
        """The windows for scores: nodes alone, as columns of their own kinds, on all whole
        windows.
        """
        # Its context variables are the contexts at time t and at the lags that mechanisms may
        # depend on; at other lags they are categories.
        return self._dataset(
            self.all_windows.row, self.options.lags, sorted({0, *self.options.context_lags})
        )

    @property
    def searched(self) -> Dataset:
        """The same, of all draws of missing cells."""
        if not self.drawn:
            return self.scored
        return self._stacked(
            self.all_windows.row, self.options.lags, sorted({0, *self.options.context_lags})
        )

    def back_to(self, lag: int) -> Dataset:
        """The windows of `scored` with the past beyond them up to a lag, those that are as long."""
        return self._dataset(
            window_ends(self.series, lag)[0], lag, sorted({0, *self.options.context_lags})
        )

    def _stacked(self, ends: Ints, depth: int, copies: Sequence[int]) -> Dataset:
        """The same windows of all draws as one table, in which every row counts for less."""
        found = [self._dataset(ends, depth, copies, own) for own in (self.series, *self.drawn)]
        return replace(stacked(found), share=found[-1].share / len(found))

    def _dataset(
        self, ends: Ints, depth: int, copies: Sequence[int], series: Series | None = None
    ) -> Dataset:
        """The nodes, then the past beyond the window up to a lag; of a sample half of the
        windows.
        """
        series = self.series if series is None else series
        columns = window_tables.window_columns(
            self.names, self.series.covariate_names, self.options.lags, depth
        )
        named = {at(*column): column for column in columns}
        ends = ends if self.sample is None else ends[self._half(ends)]
        found = window_tables.lagged_dataset(self.data, series, ends, named, copies)
        if self.options.time_effects != "means":
            return found
        # windows that means of times, and of units, take away
        spent = len(np.unique(self.series.steps[ends])) - 1
        spent += (
            len(np.unique(self.series.units[ends])) - 1
            if self.options.unit_effects == "means"
            else 0
        )
        return replace(found, share=found.share * max(1.0 - spent / max(len(ends), 1), 0.01))

    @cached_property
    def units_of_windows(self) -> Ints | None:
        """The unit of every window that scores see; None where there are few units."""
        units = (
            self.series.units[self.all_windows.row]
            if self.scanned is None
            else self.series.units[:0]
        )
        return (
            units
            if self.options.units is not None and len(np.unique(units)) >= FEWEST_UNITS
            else None
        )

    def without_other_context_lags(self, links: Links) -> Links:
        """Links of which no variable but contexts depend on a context at a lag that is not asked
        for.
        """
        may = links.may.copy()
        window = self.window
        system = [v for v in window.now if not window.is_context(v)]
        for lag in set(range(window.lags + 1)) - set(self.options.context_lags):
            for context in window.contexts:
                may[window.at(context, lag), system] = False
        return Links(may, links.must)

    def rows(self, tested: bool) -> tuple[int, ...]:
        """The number of windows of every context, of those that tests see or of those that
        regressions see.
        """
        if self.of_all is not None:
            return self.of_all.rows(self.window.depth if tested else self.options.lags)
        codes = self.table.codes[:, 0]
        if tested:
            ends = self._ends[0]
            codes = self.series.codes[ends if self.sample is None else ends[self._half(ends)]]
        return tuple(np.bincount(codes, minlength=len(self.data.values)).tolist())

    @property
    def of_contexts(self) -> Ints:
        """The windows that end in every context, shape (contexts,)."""
        return np.bincount(self.all_windows.codes[:, 0], minlength=self.all_windows.contexts)

    def check(self, tested: bool = True) -> None:
        """Return if there are enough windows for tests or for scores, and none of their columns is
        constant.
        """
        rows = self.of_contexts
        if tested and self.of_all is not None:
            rows = np.array(self.of_all.rows(self.options.lags))
        sampled = self.of_all is not None and not tested
        window_tables.check_windows(
            self.data,
            self.series,
            self.all_windows,
            self.options.units,
            rows,
            "pass a larger sample=, or method='pc-ac'" if sampled else window_tables.MERGE,
        )

    def links(self, knowledge: Knowledge) -> Links:
        """What is known about the nodes; an effect cannot precede its cause, nor a covariate."""
        window, order = self.window, range(self.window.variables)
        allowed, required = allowed_links(knowledge, self.names, window.lags)
        may, must = (np.zeros((window.nodes, window.nodes), dtype=bool) for _ in range(2))
        for lag in range(window.lags + 1):
            there = np.ix_([window.at(v, lag) for v in order], list(window.now))
            may[there] = allowed[lag]
            must[there] = required[lag]
        may[np.ix_(list(window.extra), list(window.now))] = True
        for v in window.contexts:
            if 0 not in self.options.context_lags:
                may[window.at(v, 0), list(window.now)] = False
            if self.names[v] in self.made_of:
                at_all_times = [window.at(v, lag) for lag in range(window.lags + 1)]
                (
                    may[at_all_times],
                    may[:, at_all_times],
                    must[at_all_times],
                    must[:, at_all_times],
                ) = (False,) * 4
        np.fill_diagonal(may, False)
        return Links(may, must)

    def unit_warnings(self) -> tuple[str, ...]:
        """What must be said about units in which a context never changes."""
        number, codes = (
            (self.series.units, self.series.codes) if self.scanned is None else self.scanned.units
        )
        if self.scanned is not None and self.scanned.sample_only:
            return ()
        units = int(number.max(initial=0)) + 1
        positions = self.data.contexts.positions if units > 1 else ()
        levels = (levels_of(self.data.contexts, position, codes) for position in positions)
        constant = [window_tables.constant_units(own, number) for own in levels]
        return tuple(
            f"{name} has one value only in {count} of {units} units, which say nothing about"
            " changes inside a unit"
            for name, count in zip(self.contexts, constant, strict=False)
            if count
        )


def read_windows(
    data: Dataset, taken: dict[str, Values], options: SeriesOptions, test: IndependenceTest
) -> SeriesWindows:
    """The windows of a table; `taken` are its columns of times and units."""
    check_plain(data.names)
    if len(data.system) - len(options.covariates) < 1:
        raise OptionError(
            "covariates names every column; at least one must be left to be an effect"
        )
    time = None if options.time is None else (options.time, taken[options.time])
    units = None if options.units is None else (options.units, taken[options.units])
    series = as_series(data, options.covariates, time, units, options.step)
    if options.missing == "raise":
        check_complete(int((~series.complete).sum()))
    means = np.array(
        [data.kinds[data.position(name)] is Kind.CONTINUOUS for name in series.names], dtype=bool
    )
    if options.missing == "interpolate":
        series = data_series.with_single_cells_filled(series, means)
    drawn = (
        _with_single_cells_drawn(data, series, options.lags)
        if options.missing == "model"
        else [series]
    )
    by_unit = options.units is not None and options.unit_effects == "means"
    by_time = options.time_effects == "means"
    if by_unit:
        check_varies(
            data, series.codes, series.units, f"in every unit of {options.units!r}", "unit_effects"
        )
    if by_time:
        check_varies(
            data, series.codes, series.steps, f"at every time of {options.time!r}", "time_effects"
        )
        drawn = [data_series.without_time_means(own, means, by_unit) for own in drawn]
    elif by_unit:
        drawn = [replace(own, values=own.values - unit_means(own, means)) for own in drawn]
    table = lagged_table(drawn[0], options.lags, max(len(data.values), 1))
    return SeriesWindows(data, options, test, drawn[0], table, drawn=tuple(drawn[1:]))


def windows_of_scan(
    scan: Scan, data: Dataset, options: SeriesOptions, test: IndependenceTest
) -> SeriesWindows:
    """The windows that a scan kept; `data` are the columns and contexts, or the rows of windows
    with other contexts.
    """
    found = scan.windows
    lags = options.lags
    assert found is not None
    check_plain(data.names)
    series = (
        replace(found.series, codes=data.codes.astype(np.int64))
        if found.sample_only
        else found.series
    )
    table = lagged_table(series, lags, max(len(data.values), 1))
    return SeriesWindows(
        data, options, test, series, replace(table, counts=found.counts[lags]), scanned=found
    )


def _with_single_cells_drawn(data: Dataset, series: Series, lags: int) -> list[Series]:
    """The series with single missing cells drawn from a model of their row, the rows before it and
    the next one.
    """
    # Longer holes stay: they are gaps. The context is never filled in.
    single = single_cells(series)
    if not single.any():
        return [series]
    places = [data.position(name) for name in series.names]
    steps = (0, 1, *range(-1, -min(lags, MOST_STEPS_BACK) - 1, -1))
    columns = [beside(series, series.values, step) if step else series.values for step in steps]
    names = [f"{name} {step}" for step in steps for name in series.names]
    count = len(places)
    categories = {
        i: data.categories[place] for i, place in enumerate(places) if place in data.categories
    }
    usable = np.flatnonzero(series.codes >= 0)
    wide = np.hstack(columns)[usable].T
    enough = [j for j in range(len(names)) if np.isfinite(wide[j]).sum() >= FEWEST_OBSERVED]
    contexts = Contexts((len(enough),), tuple((cell,) for cell in range(len(data.values))))
    rows = Dataset(
        (*(names[j] for j in enough), "context"),
        (*(data.kinds[places[j % count]] for j in enough), Kind.CATEGORICAL),
        (*(wide[j] for j in enough), series.codes[usable].astype(np.int32)),
        ("float64",) * (len(enough) + 1),
        contexts,
        (tuple(range(len(data.values))),),
        series.codes[usable].astype(np.int32),
        {place: categories[j % count] for place, j in enumerate(enough) if j % count in categories},
    )
    completed = complete(rows, 0)
    found = []
    known = (np.isfinite(series.values) | single).astype(np.float64)
    near = np.hstack([known, *(np.nan_to_num(beside(series, known, step)) for step in steps[1:])])[
        usable
    ]
    patterns, width = completed.columns.patterns.shape
    quick = patterns * width**3 * len(data.values) <= MOST_DRAWN
    counted = completed
    # the model of rows that lack single cells alone, if enough: what else is missing costs whole
    # windows
    if quick:
        some = some_rows(rows, np.asarray(near.all(axis=1)))
        seen = [np.isfinite(np.asarray(some.columns[place])).sum() for place in rows.system]
        counted = complete(some, 0) if min(seen) >= FEWEST_OBSERVED else completed
    for number, drawn in enumerate(completed.tables(STACKED if quick else 1)):
        values = series.values.copy()
        for place, j in enumerate(enough):
            if j < count:
                own = single[usable, j]
                values[usable[own], j] = np.asarray(drawn.columns[place])[own]
        found.append(
            replace(
                series,
                values=values,
                interpolated=int(single[usable].sum()),
                share=counted.worth(STACKED if number else 1),
            )
        )
    return found


def check_complete(lost: int) -> None:
    """Return if no rows have missing values."""
    if lost:
        raise DataError(
            f"{lost} rows have missing values; pass missing='model' to draw single cells from a"
            " model of their neighbours, 'windows' to leave out their windows, or 'interpolate' to"
            " fill in single numbers"
        )


def half_of_blocks(rows: int, sample: tuple[int, ...]) -> Bools:
    """True for the rows of half of all blocks, each of 1.5 times the third root of the rows.

    >>> chosen = half_of_blocks(1000, (0, 0))
    >>> int(chosen.sum()), bool((np.diff(np.flatnonzero(chosen)) == 1).mean() > 0.8)
    (505, True)
    """
    number, *seeds = sample
    length = ceil(1.5 * rows ** (1 / 3))
    block = np.arange(rows) // length
    count = int(block[-1]) + 1
    chosen = np.zeros(count, dtype=bool)
    chosen[np.random.default_rng([*seeds, number]).permutation(count)[: ceil(count / 2)]] = True
    return np.asarray(chosen[block])
