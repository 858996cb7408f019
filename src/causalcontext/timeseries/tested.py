"""pc-ac, pc-m and pc-p with lags: window graphs by tests, for columns of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.ci_tests.watched import Watched
from causalcontext.data.dataset import Dataset, some_rows
from causalcontext.data.series import Series
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.windows import (
    LaggedTable,
    WindowCounts,
    check_windows,
    lagged_dataset,
    lagged_table,
    window_ends,
)
from causalcontext.errors import NotYetError, OptionError
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import at, check_plain, window_names
from causalcontext.kernels.arrays import Ints, Values
from causalcontext.knowledge import Knowledge, Links
from causalcontext.progress import Watch, nobody
from causalcontext.results.lagged import LaggedGraphs
from causalcontext.results.provenance import DataSummary, Settings
from causalcontext.results.series_facts import SeriesFacts
from causalcontext.results.words import p_words
from causalcontext.search.family import Origin, Place
from causalcontext.search.lagged.algorithm import LaggedFound, search_lagged
from causalcontext.search.lagged.lag_alarm import MORE_LAGS
from causalcontext.search.lagged.plan import LaggedPlan, Window
from causalcontext.timeseries.known import allowed_links
from causalcontext.timeseries.options import SeriesOptions
from causalcontext.timeseries.run import read_series, unit_warnings
from causalcontext.timeseries.stability import half_of_blocks
from causalcontext.timeseries.tested_log import log_of
from causalcontext.timeseries.tested_slopes import Slopes, copies_read
from causalcontext.views import Contexts, ViewRule, adaptive, masked, pooled

RULES: dict[str, ViewRule] = {"pc-ac": adaptive, "pc-m": masked, "pc-p": pooled}
LEAST_SHARE = 0.8
"""The past beyond the window is conditioned on if at least this share of the windows has it."""


@dataclass(frozen=True, eq=False)
class Windows:
    """A series as a table of windows, and what its columns are."""

    window: Window
    names: tuple[str, ...]
    covariates: tuple[str, ...]
    data: Dataset
    counts: WindowCounts

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes of a window graph."""
        return (*window_names(self.names, self.window.lags), *self.covariates)


def tested_series(data: Dataset, taken: dict[str, Values], options: SeriesOptions, settings: Settings,
                  test: IndependenceTest, work: tuple[int, Watch]) -> LaggedGraphs:  # fmt: skip
    """The window graphs that tests find; `work` is the number of threads, and who hears how it gets on."""
    check_tested(data, options)
    series = read_series(data, taken, options)
    table = lagged_table(series, options.lags, max(len(data.values), 1))
    check_windows(series, table, data.values, data.context_name, options.units)
    windows = make_windows(data, series, table, options)
    search = Tested(windows, options, settings, test, len(data.values), work[0])
    found = search.result(data, work[1], unit_warnings(data, series))
    return replace(found, table=table if data.all_continuous else None)


def check_tested(data: Dataset, options: SeriesOptions) -> None:
    """Return if the columns can be searched."""
    check_plain(data.names)
    if len(data.contexts.positions) > 1:
        raise NotYetError("not yet: lags take one context variable; join them into one column")
    if len(data.system) - len(options.covariates) < 1:
        raise OptionError("covariates names every column; at least one must be left to be an effect")


def make_windows(data: Dataset, series: Series, table: LaggedTable, options: SeriesOptions) -> Windows:
    """The windows with as many lags again, for the causes of causes, unless that costs too many of them."""
    beyond = max(options.lags, MORE_LAGS)
    ends, counts = window_ends(series, options.lags + beyond)
    if counts.used < LEAST_SHARE * table.counts.used:
        ends, counts, beyond = table.row, table.counts, 0
    names = tuple(name for name in data.names if name not in series.covariate_names)
    context = None if data.context is None else names.index(data.names[data.context])
    window = Window(len(names), options.lags, len(series.covariate_names), context, beyond)
    columns = [(name, lag) for lag in range(options.lags, -1, -1) for name in names]
    columns += [(name, 0) for name in series.covariate_names]
    columns += [(name, lag) for lag in range(options.lags + 1, window.depth + 1) for name in names]
    copies = () if context is None else tuple(sorted({0, 1, *options.context_lags}))
    found = lagged_dataset(data, series, ends, {at(*column): column for column in columns}, copies)
    return Windows(window, names, series.covariate_names, found, counts)


@dataclass(frozen=True, eq=False)
class Tested:
    """A search by tests, which may be repeated on some of the windows."""

    windows: Windows
    options: SeriesOptions
    settings: Settings
    test: IndependenceTest
    contexts: int
    n_jobs: int

    @property
    def rule(self) -> ViewRule:
        """Which rows answer; without a context all of them."""
        return RULES[self.settings.method] if self.windows.data.contexts.positions else pooled

    def plan(self, contexts: Contexts) -> LaggedPlan:
        """What to search for, by the settings."""
        limit = self.windows.window.nodes if self.settings.max_given is None else self.settings.max_given
        values = (0,) if self.rule is pooled else tuple(range(self.contexts))
        return LaggedPlan(self.windows.window, contexts, self.rule, values, self.options.context_lags,
                          known_links(self.windows, self.settings.knowledge, self.options.context_lags),
                          self.settings.alpha, limit,
                          self.settings.collider_rule)  # fmt: skip

    def search(self, data: Dataset, watch: Watch) -> tuple[LaggedFound, LaggedPlan]:
        """The graphs of a table of windows."""
        data, _, prepared = prepare(data, self.test, "raise")
        plan = self.plan(data.contexts)
        return search_lagged(Watched(prepared, watch), plan, self.n_jobs, watch), plan

    def endpoints(self, number: int, seed: int) -> Endpoints:
        """The ends of all contexts in half of the windows, drawn in blocks without replacement."""
        chosen = half_of_blocks(self.windows.data.n_rows, np.random.default_rng([seed, number]))
        found, _ = self.search(some_rows(self.windows.data, chosen), Watch(nobody))
        return self._for_all(found.endpoints)

    def result(self, table: Dataset, watch: Watch, warnings: Sequence[str]) -> LaggedGraphs:
        """The result for the whole table."""
        found, plan = self.search(self.windows.data, watch)
        endpoints, names = self._for_all(found.endpoints), self.windows.nodes
        data, context = self.windows.data, None if table.context is None else table.names[table.context]
        reads = copies_read(plan, endpoints, names, context)
        slopes = Slopes(plan, data, gather_statistics(data).of_columns(data), endpoints, table.values).rows(reads)
        copies = tuple(plan.window.lag(copy) for copy in data.contexts.positions)
        series = SeriesFacts(self.windows.names, self.options.lags, self.windows.covariates, reads,
                             self.windows.counts, slopes, None, copies, plan.window.depth)  # fmt: skip
        cells = Contexts() if context is None else Contexts((names.index(context),), table.contexts.cells)
        asked = series.asked(cells)
        return LaggedGraphs(
            names=names, cells=cells, levels=table.levels, contexts=table.values,
            graphs={value: Graph(names, own) for value, own in zip(table.values, endpoints, strict=True)},
            settings=self.settings, data=_summary(table, data, names),
            log=log_of(found, plan, asked, self.contexts),
            tests_run={"pooled": int(found.tests[0]), "within contexts": int(found.tests[1])},
            complete=found.complete, origins=self._origins(found), doubts=found.doubts,
            warnings=(*_alarm(found, data.names, self.options.lags), *warnings),
            notes=_notes(self.windows, found), series=series, resample=self,
        )  # fmt: skip

    def _for_all(self, endpoints: Endpoints) -> Endpoints:
        """One graph of a pooled search stands for all contexts."""
        return endpoints if len(endpoints) == self.contexts else np.repeat(endpoints, self.contexts, axis=0)

    def _origins(self, found: LaggedFound) -> dict[Place, Origin]:
        if len(found.endpoints) == self.contexts:
            return dict(found.origins)
        return {(r, a, b): origin for (_, a, b), origin in found.origins.items() for r in range(self.contexts)}


def known_links(windows: Windows, knowledge: Knowledge, reading: Sequence[int]) -> Links:
    """What is known about the nodes of a window graph; nothing causes what was before, nor a covariate.

    `reading` has the lags of the copies of the context that may be causes.
    """
    window = windows.window
    system = [v for v in range(window.variables) if v != window.context]
    order = system if window.context is None else [*system, window.context]
    names = [windows.names[v] for v in order]
    allowed = allowed_links(knowledge, names if window.context is not None else [*names, "_"], window.lags)
    may, must = (np.zeros((window.nodes, window.nodes), dtype=bool) for _ in range(2))
    now = [window.at(v, 0) for v in order]
    for lag in range(window.lags + 1):
        there = np.ix_([window.at(v, lag) for v in order], now)
        may[there], must[there] = (table[lag, : len(order), : len(order)] for table in (allowed.may, allowed.must))
    may[np.ix_(list(window.extra), now)] = True
    if window.context is not None and 0 not in reading:
        may[window.at(window.context, 0), now] = False
    np.fill_diagonal(may, False)
    return Links(may, must)


def _summary(table: Dataset, data: Dataset, names: Sequence[str]) -> DataSummary:
    codes = np.asarray(data.columns[data.contexts.positions[0]]) if data.contexts.positions else data.codes
    used: Ints = np.bincount(codes, minlength=len(table.values))
    # What was lost is in `WindowCounts`: most of it is not for missing values.
    return DataSummary(tuple(used.tolist()), (0,) * len(used), int((table.codes < 0).sum()), (),
                       tuple(str(kind.value) for kind in data.kinds[: len(names)]),
                       gather_statistics(table, "listwise").fingerprint)  # fmt: skip


def _alarm(found: LaggedFound, names: Sequence[str], lags: int) -> tuple[str, ...]:
    """What must be said about the lags."""
    if found.late is None:
        return ()
    what = f"{names[found.late.column]} still tells something about {names[found.late.y]} ({p_words(found.late.p)})"
    return (f"lag alarm: given all that was found, {what}, so {lags} lags are too few, or a driver that persists is "
            "not in the table, or columns that persist are measured with noise; links may be false: pass more lags, "
            "and if the alarm stays, do not trust weak links",)  # fmt: skip


def _notes(windows: Windows, found: LaggedFound) -> tuple[str, ...]:
    notes = [str(windows.counts)]
    if windows.window.depth == windows.window.lags:
        notes.append("conditions lie in the window only: with more lags too few windows would be whole")
    return (*notes, *((f"the time limit ended the search {found.cut}",) if found.cut else ()))
