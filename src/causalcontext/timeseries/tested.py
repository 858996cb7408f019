"""pc-ac, pc-m, pc-p, pc-b and fci-ac with lags: window graphs by tests, for columns of any kind;
log and slopes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from math import prod

import numpy as np

from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.protocol import Label
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.moments import CellRegression, Moments
from causalcontext.diagnostics.support import Support
from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind, adjacent, directed
from causalcontext.graphs.lag_names import at, split
from causalcontext.knowledge import Links
from causalcontext.progress import Watch
from causalcontext.results.log import CITestLog, Decision, Entries
from causalcontext.results.notes import About, ResultNote
from causalcontext.results.outcome import Outcome, Settings
from causalcontext.results.series import Copy, SeriesFacts, SlopeRow, copies_in, read_of
from causalcontext.search.algorithm import FoundGraphs
from causalcontext.search.family import EdgeEnd, Origin
from causalcontext.search.fci import Caution, fci
from causalcontext.search.indicator import with_made_contexts
from causalcontext.search.lagged.algorithm import TIME, LaggedFound, LaggedSearch
from causalcontext.search.lagged.own_past import OwnPastSearch
from causalcontext.search.lagged.plan import LaggedPlan, WindowPlan, pairs_now, repeated_links
from causalcontext.search.sepsets import slot
from causalcontext.timeseries.alarm import lag_warnings
from causalcontext.timeseries.windows import SeriesWindows
from causalcontext.views import Contexts, ViewRule, adaptive, masked

MOST_VIEWS = 100_000


def search_windows(
    windows: SeriesWindows,
    rule: ViewRule,
    cells: Sequence[int],
    links: Links,
    settings: Settings,
    n_jobs: int,
    watch: Watch,
) -> Outcome:
    """The window graphs of some contexts that tests find, with a rule for the windows that
    answer.
    """
    windows.check()
    check_views(windows.columns)
    data, statistics, prepared = prepare(windows.columns, windows.test, "raise", windows.statistics)
    limit = (
        windows.window.nodes
        if settings.max_given is None
        else min(settings.max_given, windows.window.nodes)
    )
    plan = LaggedPlan(
        windows.window,
        data.contexts,
        rule,
        tuple(windows.values[cell] for cell in cells),
        windows.options.context_lags,
        links,
        settings.alpha,
        limit,
        settings.collider_rule,
    )
    found = LaggedSearch(prepared, plan, n_jobs, watch).run()
    if rule is not masked and found.complete:
        endpoints, origins, doubts = with_made_contexts(plan, found.endpoints, found.origins)
        found = replace(
            found, endpoints=endpoints, origins=origins, doubts=(*found.doubts, *doubts)
        )
    contexts = len(windows.data.values)
    lags = windows.options.lags
    names = data.names
    only_inside = "conditions lie in the window only: with more lags too few windows would be whole"
    notes = (
        str(windows.counts),
        *([only_inside] if plan.window.depth == lags else []),
        *(
            [ResultNote(f"the time limit ended the search {found.cut}", About.CUT)]
            if found.cut
            else []
        ),
    )
    outcome = Outcome(
        found.endpoints,
        CITestLog.empty(contexts, plan.window.nodes),
        found.tests,
        found.complete,
        found.origins,
        found.doubts,
        notes=notes,
        warnings=lag_warnings(found.lag_alarm, names, lags),
    )
    outcome = outcome.for_all(contexts)
    series = facts_of(windows, data, statistics.of_columns(data), outcome.endpoints)
    log = log_of(found, plan, series.asked(windows.cells), contexts)
    p = None if found.lag_alarm is None else found.lag_alarm.p
    return replace(outcome, log=log, series=replace(series, beyond_lags=p))


def check_views(data: Dataset) -> None:
    """Return if the context lags choose not too many sets of rows."""
    count = len(data.levels)
    views = min(
        prod(len(levels) + 1 for levels in data.levels), len(data.contexts.cells) * 2**count
    )
    if views > MOST_VIEWS:
        raise DataError(
            f"{count} context variables, lags counted, choose up to {views:,} sets of rows, more"
            f" than {MOST_VIEWS:,}; name fewer contexts, or join values"
        )


def facts_of(
    windows: SeriesWindows, data: Dataset, moments: Moments, endpoints: Endpoints
) -> SeriesFacts:
    """Who reads which copy of the contexts, and the slopes of all links; `endpoints` are those of
    all contexts.
    """
    window = windows.window
    arrows = np.asarray(directed(endpoints).any(axis=0))
    # the copies that point at a variable; several where tests do not tell which
    reads: dict[str, Copy] = {}
    for y in (y for y in window.now if not window.is_context(y)):
        lags: dict[str, list[int]] = {}
        for copy in sorted(data.contexts.positions, key=window.context_number):
            if arrows[copy, y]:
                lags.setdefault(split(windows.nodes[copy])[0], []).append(window.lag(copy))
        reads[windows.nodes[y]] = read_of(
            [(context, sorted(some)) for context, some in lags.items()]
        )
    slopes = slope_rows(windows, data, moments, endpoints, reads)
    copies = tuple(dict.fromkeys(window.lag(copy) for copy in data.contexts.positions))
    return SeriesFacts(
        windows.names,
        windows.options.lags,
        windows.series.covariate_names,
        reads,
        windows.counts,
        slopes,
        None,
        copies,
        window.depth,
    )


def log_of(found: LaggedFound, plan: LaggedPlan, asked: Contexts, contexts: int) -> CITestLog:
    """The log; `asked` numbers the views of the result, and one graph stands for all contexts if
    there is only one.
    """
    nodes = plan.window.nodes
    graphs = len(plan.values)
    pairs = nodes * (nodes - 1) // 2
    width = max(
        (len(record.query.given) for record in found.records.values() if record.query), default=0
    )
    numbers = np.full((3, graphs, pairs), np.nan)
    facts = np.zeros((4, graphs, pairs), dtype=np.int64)
    view = np.full((graphs, pairs), -1)
    given = np.full((graphs, pairs, width), -1, dtype=np.int16)
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
    entries = Entries(
        decision[whole],
        numbers[0, whole],
        numbers[1, whole],
        numbers[2, whole],
        n[whole],
        view[whole],
        given[whole],
        reason[whole].astype(np.int8),
        untested[whole],
        np.zeros_like(n[whole]),
        label[whole].astype(np.int8),
    )
    return CITestLog(entries, nodes, found.labels)


def _undecided(plan: LaggedPlan) -> np.ndarray:
    """What is known about every pair before any test: two earlier nodes are not searched, since
    links repeat.
    """
    first, second = np.triu_indices(plan.window.nodes, 1)
    searched = plan.searched()
    links = plan.links
    now = np.zeros(plan.window.nodes, dtype=bool)
    now[list(plan.targets)] = True
    past_copy = np.array([plan.window.is_context(u) for u in range(plan.window.nodes)]) & ~now
    never = ~(now[first] | now[second])
    unread = (past_copy[first] | past_copy[second]) & ~searched[first, second]
    found = np.where(searched[first, second], Decision.UNTESTABLE, Decision.FORBIDDEN)
    found = np.where(never | unread, Decision.NOT_SEARCHED, found)
    tested = plan.context_columns
    unasked = np.array(
        [plan.window.is_context(u) and u not in tested for u in range(plan.window.nodes)]
    )
    found = np.where(unasked[first] | unasked[second], Decision.NOT_SEARCHED, found)
    return np.where(links.required[first, second], Decision.REQUIRED, found).astype(np.int8)


def slope_rows(
    windows: SeriesWindows,
    data: Dataset,
    moments: Moments,
    endpoints: Endpoints,
    reads: dict[str, Copy],
) -> tuple[SlopeRow, ...]:
    """A row for every link from a number to a number, in every context; `endpoints` are those of
    all contexts.
    """
    # Every number is regressed on its parents by least squares, on the rows of the copy that it
    # reads. Parents are numbers that point at it, or are next to it without a direction and come
    # before it.
    nodes = range(windows.window.nodes)
    arrows = directed(endpoints)
    near = adjacent(endpoints)
    found = []
    numbers = np.array([data.kinds[u].is_number for u in nodes])
    for y in (y for y in windows.window.now if data.kinds[y] is Kind.CONTINUOUS):
        open_end = near[:, :, y] & ~arrows[:, :, y] & ~arrows[:, y, :] & (np.array(nodes) < y)
        parents = (arrows[:, :, y] | open_end) & numbers
        copy = reads.get(data.names[y])
        members = np.flatnonzero(parents.any(axis=0)).tolist()
        never_differ = bool((parents == parents[0]).all())
        for r, value in enumerate(windows.data.values) if members else ():
            rows = moments.merged(cells_read(windows, data, copy, r, never_differ))
            here = [u for u in members if parents[r, u]]
            own, model = (_fitted(rows, y, some) for some in (members, here))
            for place, u in enumerate(members):
                slope, error = _at(model, here.index(u)) if u in here else (0.0, np.nan)
                found.append(
                    SlopeRow(
                        data.names[u],
                        data.names[y],
                        value,
                        u in here,
                        slope,
                        error,
                        *_at(own, place),
                        0 if own is None else own.df,
                    )
                )
    return tuple(found)


def cells_read(
    windows: SeriesWindows, data: Dataset, copy: Copy, r: int, never_differ: bool
) -> tuple[int, ...]:
    """The cells of the copies that are read, at their values in a context; all cells if parents
    never differ.
    """
    contexts = data.contexts
    window = windows.window
    if not contexts.positions or (copy is None and never_differ):
        return contexts.members(0)
    wanted = {at(name, lags[0]) for name, lags in copies_in(copy)} or {
        data.names[window.at(v, 0)] for v in window.contexts
    }
    here = [
        place for place, position in enumerate(contexts.positions) if data.names[position] in wanted
    ]
    values = [windows.values[r][window.context_number(contexts.positions[place])] for place in here]
    return tuple(
        c for c, cell in enumerate(contexts.cells) if [cell[place] for place in here] == values
    )


def _fitted(rows: Moments, y: int, columns: list[int]) -> CellRegression | None:
    found = rows.regression(y, columns) if columns else None
    return None if found is None or found.df < 1 else found


def _at(fit: CellRegression | None, place: int) -> tuple[float, float]:
    return (np.nan, np.nan) if fit is None else (float(fit.slopes[place]), float(fit.errors[place]))


ONLY_NOW = "the context at time t alone chooses rows: no window has one of its values at all lags"


def pags_of_windows(
    windows: SeriesWindows, links: Links, settings: Settings, n_jobs: int, watch: Watch
) -> Outcome:
    """One PAG over the window per context, where variables may be missing from the table."""
    windows.check()
    told = windows.columns
    statistics = windows.statistics
    notes = [str(windows.counts)]
    shown = _constant(windows, told)
    if shown is None and windows.of_all is None:
        told = windows.with_contexts_now
        statistics = None
        notes = [*notes, ONLY_NOW]
        shown = _constant(windows, told)
    if shown is None:
        raise DataError(
            "no window of the sample has every value of the context at all of its lags; pass a"
            " larger sample=, or method='pc-ac'"
        )
    check_views(told)
    data, statistics, prepared = prepare(told, windows.test, "raise", statistics)
    window = windows.window
    across = settings.orientation == "across"
    limit = window.nodes if settings.max_given is None else min(settings.max_given, window.nodes)
    # Neighbours in time are separated by mistake so often that a majority of sets says little
    # (docs/hidden-causes.md).
    collider_rule = "first" if settings.collider_rule == "first" else "conservative"
    plan = WindowPlan(
        window.nodes,
        data.contexts,
        adaptive,
        tuple(range(len(data.contexts.cells))),
        repeated_links(links, window, data.contexts),
        settings.alpha,
        limit,
        collider_rule,
        "always",
        Support(data, settings.alpha).trusted if across else None,
        GraphKind.PAG,
        pairs_now(window),
        window,
    )
    caution = Caution(settings.possible_dsep, settings.contested, settings.context_confounded)
    found = fci(OwnPastSearch(prepared, n_jobs, watch), plan, caution, n_jobs, watch)
    endpoints = np.where(pairs_now(window), found.endpoints[list(shown)], np.int8(Endpoint.NONE))
    series = facts_of(windows, data, statistics.of_columns(data), endpoints)
    log = _log(found, plan, shown, series.asked(windows.cells), prepared.labels)
    now = pairs_now(window)
    place = {cell: c for c, cell in enumerate(shown)}
    doubts = tuple(
        doubt._replace(graph=place[doubt.graph])
        for doubt in found.doubts
        if doubt.graph in place and now[doubt.a, doubt.b]
    )
    return Outcome(
        endpoints,
        log,
        found.sepsets.tests,
        found.complete,
        dict(_origins(windows, plan, found, shown)),
        doubts,
        notes=tuple(notes),
        kind=GraphKind.PAG,
        series=series,
    )


def _constant(windows: SeriesWindows, data: Dataset) -> tuple[int, ...] | None:
    """For every context the cell in which it has its value at all context lags; None where some
    never has.
    """
    window = windows.window
    contexts = data.contexts
    wanted = [
        tuple(values[window.context_number(position)] for position in contexts.positions)
        for values in windows.values
    ]
    found = {cell: number for number, cell in enumerate(contexts.cells)}
    return tuple(found[cell] for cell in wanted) if all(cell in found for cell in wanted) else None


def _log(
    found: FoundGraphs,
    plan: WindowPlan,
    shown: tuple[int, ...],
    asked: Contexts,
    labels: tuple[Label, ...],
) -> CITestLog:
    """The deciding tests of the contexts; pairs that repeat others are not searched. `asked`
    numbers their views.
    """
    log = CITestLog.from_sepsets(plan, found.sepsets, len(plan.cells), labels)
    whole = log.everything
    entries = Entries(*(getattr(whole, column.name)[list(shown)] for column in fields(Entries)))
    first, second = np.triu_indices(plan.variables, 1)
    isolated = np.array(
        [plan.window.is_context(v) and v not in plan.searched for v in range(plan.variables)]
    )
    unasked = ~pairs_now(plan.window)[first, second] | isolated[first] | isolated[second]
    decision = np.where(unasked, Decision.NOT_SEARCHED, entries.decision).astype(np.int8)
    numbers = np.array([*(asked.number(view) for view in plan.contexts.views), -1])
    return CITestLog(
        replace(entries, decision=decision, view=numbers[entries.view]), plan.variables, labels
    )


def _origins(
    windows: SeriesWindows, plan: WindowPlan, found: FoundGraphs, shown: tuple[int, ...]
) -> Iterator[tuple[EdgeEnd, Origin]]:
    """Why the ends of the contexts are what they are; a combination of context lags stands for its
    context at t.
    """
    window, now = plan.window, pairs_now(plan.window)
    lag = [window.lag(v) for v in range(window.nodes)]
    place = {cell: c for c, cell in enumerate(shown)}
    at_t = [
        tuple(dict(plan.contexts.cell(cell))[window.at(v, 0)] for v in window.contexts)
        for cell in plan.cells
    ]
    context = [windows.values.index(values) for values in at_t]
    for (g, a, b), origin in found.origins.items():
        if g in place and now[a, b]:
            by_time = origin.rule == "knowledge" and lag[b] < lag[a]
            rule = TIME if by_time else origin.rule
            yield (place[g], a, b), Origin(rule, context[origin.graph], origin.via)
