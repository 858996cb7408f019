"""pc-ac, pc-m, pc-p and pc-b with lags: window graphs by tests, for columns of any kind, and their log and slopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from causalcontext.ci_tests.preparation import Watched, prepare
from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.moments import CellRegression, Moments
from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed
from causalcontext.graphs.lag_names import at, split
from causalcontext.knowledge import Links
from causalcontext.progress import Watch
from causalcontext.results.entries import Decision, Entries
from causalcontext.results.log import CITestLog
from causalcontext.results.outcome import Outcome
from causalcontext.results.provenance import Settings
from causalcontext.results.series import Copy, SeriesFacts, SlopeRow, copies_in, read_of
from causalcontext.search.lagged.algorithm import LaggedFound, LaggedSearch
from causalcontext.search.lagged.indicators import with_made_contexts
from causalcontext.search.lagged.plan import LaggedPlan, Window
from causalcontext.search.sepsets import slot
from causalcontext.timeseries.alarm import lag_warnings
from causalcontext.timeseries.windows import SeriesWindows
from causalcontext.views import Contexts, ViewRule, masked

MOST_VIEWS = 100_000


def search_windows(windows: SeriesWindows, rule: ViewRule, cells: Sequence[int], links: Links, settings: Settings,
                   n_jobs: int, watch: Watch) -> Outcome:  # fmt: skip
    """The window graphs of some contexts that tests find, with a rule for the windows that answer."""
    windows.check()
    _check_views(windows.columns)
    data, statistics, prepared = prepare(windows.columns, windows.test, "raise", windows.statistics)
    plan = _plan(windows, data.contexts, rule, cells, links, settings)
    found = LaggedSearch(Watched(prepared, watch), plan, n_jobs, watch).run()
    if rule is not masked and found.complete:
        endpoints, origins, doubts = with_made_contexts(plan, found.endpoints, found.origins)
        found = replace(found, endpoints=endpoints, origins=origins, doubts=(*found.doubts, *doubts))
    contexts, lags, names = len(windows.data.values), windows.options.lags, data.names
    only_inside = "conditions lie in the window only: with more lags too few windows would be whole"
    notes = (
        str(windows.counts), *([only_inside] if plan.window.depth == lags else []),
        *([f"the time limit ended the search {found.cut}"] if found.cut else []),
    )  # fmt: skip
    outcome = Outcome(found.endpoints, CITestLog.empty(contexts, plan.window.nodes), found.tests, found.complete,
                      found.origins, found.doubts, notes=notes,
                      warnings=lag_warnings(found.lag_alarm, names, lags))  # fmt: skip
    outcome = outcome.for_all(contexts)
    series = facts_of(windows, data, statistics.of_columns(data), outcome.endpoints)
    log = log_of(found, plan, series.asked(windows.cells), contexts)
    p = None if found.lag_alarm is None else found.lag_alarm.p
    return replace(outcome, log=log, series=replace(series, beyond_lags=p))


def _check_views(data: Dataset) -> None:
    """Return if the context lags choose not too many sets of rows."""
    count = len(data.levels)
    views = min(prod(len(levels) + 1 for levels in data.levels), len(data.contexts.cells) * 2**count)
    if views > MOST_VIEWS:
        raise DataError(f"{count} context variables, lags counted, choose up to {views:,} sets of rows, more than "
                        f"{MOST_VIEWS:,}; name fewer contexts, or join values")  # fmt: skip


def _plan(windows: SeriesWindows, contexts: Contexts, rule: ViewRule, cells: Sequence[int], links: Links,
          settings: Settings) -> LaggedPlan:  # fmt: skip
    nodes = windows.window.nodes
    limit = nodes if settings.max_given is None else min(settings.max_given, nodes)
    values = tuple(windows.values[cell] for cell in cells)
    return LaggedPlan(windows.window, contexts, rule, values, windows.options.context_lags, links, settings.alpha,
                      limit, settings.collider_rule)  # fmt: skip


def facts_of(windows: SeriesWindows, data: Dataset, moments: Moments, endpoints: Endpoints) -> SeriesFacts:
    """Who reads which copy of the contexts, and the slopes of all links; `endpoints` are those of all contexts."""
    window = windows.window
    reads = copies_read(window, data.contexts, endpoints, windows.nodes)
    slopes = Slopes(window, data, moments, endpoints, windows.data.values, windows.values).rows(reads)
    copies = tuple(dict.fromkeys(window.lag(copy) for copy in data.contexts.positions))
    return SeriesFacts(windows.names, windows.options.lags, windows.series.covariate_names, reads, windows.counts,
                       slopes, None, copies, window.depth)  # fmt: skip


def log_of(found: LaggedFound, plan: LaggedPlan, asked: Contexts, contexts: int) -> CITestLog:
    """The log; `asked` numbers the views of the result, and one graph stands for all contexts if there is only one."""
    nodes = plan.window.nodes
    graphs, pairs = len(plan.values), nodes * (nodes - 1) // 2
    width = max((len(record.query.given) for record in found.records.values() if record.query), default=0)
    numbers = np.full((3, graphs, pairs), np.nan)
    facts = np.zeros((4, graphs, pairs), dtype=np.int64)
    view, given = np.full((graphs, pairs), -1), np.full((graphs, pairs, width), -1, dtype=np.int16)
    decision = np.repeat(_undecided(plan)[None], graphs, axis=0)
    for (g, z, y), record in found.records.items():
        place = slot(z, y, nodes)
        if decision[g, place] in (Decision.REQUIRED, Decision.FORBIDDEN):
            continue
        kept = Decision.UNTESTABLE if record.answer is None else Decision.PRESENT
        decision[g, place] = Decision.ABSENT if record.separated else kept
        facts[:, g, place] = record.rows, record.reason, record.untested, 0
        if record.query is not None and record.answer is not None:
            numbers[:, g, place] = record.answer.p, record.answer.statistic, record.answer.df
            facts[:, g, place] = record.answer.n, 0, record.untested, record.answer.label
            view[g, place] = asked.number(plan.contexts.views[record.query.view])
            given[g, place, : len(record.query.given)] = record.query.given
    whole = [0] * contexts if graphs < contexts else list(range(graphs))
    n, reason, untested, label = facts
    entries = Entries(decision[whole], numbers[0, whole], numbers[1, whole], numbers[2, whole], n[whole], view[whole],
                      given[whole], reason[whole].astype(np.int8), untested[whole], np.zeros_like(n[whole]),
                      label[whole].astype(np.int8))  # fmt: skip
    return CITestLog(entries, nodes, found.labels)


def _undecided(plan: LaggedPlan) -> np.ndarray:
    """What is known about every pair before any test: two earlier nodes are not searched, since links repeat."""
    first, second = np.triu_indices(plan.window.nodes, 1)
    searched, links = plan.searched(), plan.links
    now = np.zeros(plan.window.nodes, dtype=bool)
    now[list(plan.targets)] = True
    past_copy = np.array([plan.window.is_context(u) for u in range(plan.window.nodes)]) & ~now
    never = ~(now[first] | now[second])
    unread = (past_copy[first] | past_copy[second]) & ~searched[first, second]
    found = np.where(searched[first, second], Decision.UNTESTABLE, Decision.FORBIDDEN)
    found = np.where(never | unread, Decision.NOT_SEARCHED, found)
    tested = plan.context_columns
    unasked = np.array([plan.window.is_context(u) and u not in tested for u in range(plan.window.nodes)])
    found = np.where(unasked[first] | unasked[second], Decision.NOT_SEARCHED, found)
    return np.where(links.required[first, second], Decision.REQUIRED, found).astype(np.int8)


def copies_read(window: Window, contexts: Contexts, endpoints: Endpoints, names: Sequence[str]) -> dict[str, Copy]:
    """By variable, the copy of every context that points at it; several where tests do not tell which."""
    arrows = np.asarray(directed(endpoints).any(axis=0))
    found: dict[str, Copy] = {}
    for y in (y for y in window.now if not window.is_context(y)):
        lags: dict[str, list[int]] = {}
        for copy in sorted(contexts.positions, key=window.context_number):
            if arrows[copy, y]:
                lags.setdefault(split(names[copy])[0], []).append(window.lag(copy))
        found[names[y]] = read_of([(context, sorted(some)) for context, some in lags.items()])
    return found


@dataclass(frozen=True, eq=False)
class Slopes:
    """Least squares of every number on its parents, on the rows of the copy that it reads.

    `endpoints` are those of all contexts, shape (contexts, nodes, nodes); `cells` has the values of all
    context variables in each of them, in the order of the window.
    """

    window: Window
    data: Dataset
    moments: Moments
    endpoints: Endpoints
    values: tuple[Any, ...]
    cells: tuple[tuple[int, ...], ...]

    def rows(self, reads: dict[str, Copy]) -> tuple[SlopeRow, ...]:
        """A row for every link from a number to a number, in every context."""
        now = [y for y in self.window.now if self.data.kinds[y] is Kind.CONTINUOUS]
        return tuple(row for y in now for row in self._into(y, reads.get(self.data.names[y])))

    def _into(self, y: int, copy: Copy) -> list[SlopeRow]:
        parents = self._parents(y)
        members = np.flatnonzero(parents.any(axis=0)).tolist()
        if not members:
            return []
        found = []
        for r, value in enumerate(self.values):
            own = self._fit(y, members, self._cells(y, copy, r, parents))
            here = [u for u in members if parents[r, u]]
            model = self._fit(y, here, self._cells(y, copy, r, parents)) if here else None
            for place, u in enumerate(members):
                present = bool(parents[r, u])
                slope, error = _at(model, here.index(u)) if present else (0.0, np.nan)
                alone, alone_error = _at(own, place)
                found.append(SlopeRow(self.data.names[u], self.data.names[y], value, present, slope, error, alone,
                                      alone_error, 0 if own is None else own.df))  # fmt: skip
        return found

    def _parents(self, y: int) -> np.ndarray:
        """Numbers that point at y, or are next to it without a direction and come before it; by context."""
        nodes = np.arange(self.window.nodes)
        points, back = directed(self.endpoints)[:, :, y], directed(self.endpoints)[:, y, :]
        open_end = adjacent(self.endpoints)[:, :, y] & ~points & ~back & (nodes < y)
        numbers = np.array([self.data.kinds[u].is_number for u in nodes])
        return np.asarray((points | open_end) & numbers)

    def _cells(self, y: int, copy: Copy, r: int, parents: np.ndarray) -> tuple[int, ...]:
        """The cells of the copies that y reads, at their values in a context; all cells if its parents never differ."""
        contexts = self.data.contexts
        if not contexts.positions or (copy is None and (parents == parents[0]).all()):
            return contexts.members(0)
        read = {name: lags[0] for name, lags in copies_in(copy)}
        wanted = {at(name, lag) for name, lag in read.items()} if read else self.now
        here = [place for place, position in enumerate(contexts.positions) if self.data.names[position] in wanted]
        values = [self.cells[r][self.window.context_number(contexts.positions[place])] for place in here]
        found = enumerate(contexts.cells)
        return tuple(c for c, cell in found if [cell[place] for place in here] == values)

    @property
    def now(self) -> set[str]:
        """The contexts at time t."""
        return {self.data.names[self.window.at(v, 0)] for v in self.window.contexts}

    def _fit(self, y: int, columns: list[int], cells: tuple[int, ...]) -> CellRegression | None:
        found = self.moments.merged(cells).regression(y, columns)
        return None if found is None or found.df < 1 else found


def _at(fit: CellRegression | None, place: int) -> tuple[float, float]:
    return (np.nan, np.nan) if fit is None else (float(fit.slopes[place]), float(fit.errors[place]))
