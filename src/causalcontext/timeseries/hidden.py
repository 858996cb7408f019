"""fci-ac with lags: PAGs over the window by tests, for columns of any kind, and their log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.protocol import Label
from causalcontext.data.dataset import Dataset
from causalcontext.diagnostics.support import Support
from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import Endpoint, GraphKind
from causalcontext.knowledge import Links
from causalcontext.progress import Watch
from causalcontext.results.entries import Decision, Entries
from causalcontext.results.log import CITestLog
from causalcontext.results.outcome import Outcome
from causalcontext.results.provenance import Settings
from causalcontext.search.algorithm import FoundGraphs
from causalcontext.search.family import Doubt, Origin, Place
from causalcontext.search.fci import Caution, fci
from causalcontext.search.lagged.algorithm import TIME
from causalcontext.search.lagged.hidden import WindowPlan, pairs_now, repeated_links
from causalcontext.search.level_search import SplitSearch
from causalcontext.timeseries.tested import check_views, facts_of
from causalcontext.timeseries.windows import SeriesWindows
from causalcontext.views import Contexts, adaptive

ONLY_NOW = "the context at time t alone chooses rows: no window has one of its values at all lags"


def pags_of_windows(windows: SeriesWindows, links: Links, settings: Settings, n_jobs: int, watch: Watch,
                    device: str) -> Outcome:  # fmt: skip
    """One PAG over the window per context, where variables may be missing from the table."""
    windows.check()
    told, statistics, notes = windows.columns, windows.statistics, [str(windows.counts)]
    shown = _constant(windows, told)
    if shown is None and statistics is None:
        told, notes = windows.with_contexts_now, [*notes, ONLY_NOW]
        shown = _constant(windows, told)
    if shown is None:
        raise DataError("no window of the sample has every value of the context at all of its lags; pass a larger "
                        "sample=, or method='pc-ac'")  # fmt: skip
    check_views(told)
    data, statistics, prepared = prepare(told, windows.test, "raise", statistics)
    window, across = windows.window, settings.orientation == "across"
    limit = window.nodes if settings.max_given is None else min(settings.max_given, window.nodes)
    # Neighbours in time are separated by mistake so often that a majority of sets says little (docs/hidden-causes.md).
    collider_rule = "first" if settings.collider_rule == "first" else "conservative"
    plan = WindowPlan(window.nodes, data.contexts, adaptive, tuple(range(len(data.contexts.cells))),
                      repeated_links(links, window, data.contexts), settings.alpha, limit, collider_rule,
                      "always", Support(data, settings.alpha).trusted if across else None, GraphKind.PAG,
                      pairs_now(window), window)  # fmt: skip
    caution = Caution(settings.possible_dsep, settings.contested, settings.context_confounded)
    found = fci(SplitSearch(prepared, n_jobs, device, watch), plan, caution, n_jobs, watch)
    endpoints = np.where(pairs_now(window), found.endpoints[list(shown)], np.int8(Endpoint.NONE))
    series = facts_of(windows, data, statistics.of_columns(data), endpoints)
    log = _log(found, plan, shown, series.asked(windows.cells), prepared.labels)
    return Outcome(endpoints, log, found.sepsets.tests, found.complete, dict(_origins(windows, plan, found, shown)),
                   tuple(_doubts(plan, found, shown)), notes=tuple(notes), kind=GraphKind.PAG,
                   series=series)  # fmt: skip


def _constant(windows: SeriesWindows, data: Dataset) -> tuple[int, ...] | None:
    """For every context the cell in which it has its value at all context lags; None where some never has."""
    window, contexts = windows.window, data.contexts
    wanted = [tuple(values[window.context_number(position)] for position in contexts.positions)
              for values in windows.values]  # fmt: skip
    found = {cell: number for number, cell in enumerate(contexts.cells)}
    return tuple(found[cell] for cell in wanted) if all(cell in found for cell in wanted) else None


def _log(found: FoundGraphs, plan: WindowPlan, shown: tuple[int, ...], asked: Contexts, labels: tuple[Label, ...]
         ) -> CITestLog:  # fmt: skip
    """The deciding tests of the contexts; pairs that repeat others are not searched. `asked` numbers their views."""
    log = CITestLog.from_sepsets(plan, found.sepsets, len(plan.cells), labels)
    whole = log.everything
    entries = Entries(*(getattr(whole, column.name)[list(shown)] for column in fields(Entries)))
    first, second = np.triu_indices(plan.variables, 1)
    isolated = np.array([plan.window.is_context(v) and v not in plan.searched for v in range(plan.variables)])
    unasked = ~pairs_now(plan.window)[first, second] | isolated[first] | isolated[second]
    decision = np.where(unasked, Decision.NOT_SEARCHED, entries.decision).astype(np.int8)
    numbers = np.array([*(asked.number(view) for view in plan.contexts.views), -1])
    return CITestLog(replace(entries, decision=decision, view=numbers[entries.view]), plan.variables, labels)


def _origins(windows: SeriesWindows, plan: WindowPlan, found: FoundGraphs, shown: tuple[int, ...]
             ) -> Iterator[tuple[Place, Origin]]:  # fmt: skip
    """Why the ends of the contexts are what they are; a combination of context lags stands for its context at t."""
    window, now = plan.window, pairs_now(plan.window)
    lag, place = [window.lag(v) for v in range(window.nodes)], {cell: c for c, cell in enumerate(shown)}
    at_t = [tuple(dict(plan.contexts.cell(cell))[window.at(v, 0)] for v in window.contexts) for cell in plan.cells]
    context = [windows.values.index(values) for values in at_t]
    for (g, a, b), origin in found.origins.items():
        if g in place and now[a, b]:
            by_time = origin.rule == "knowledge" and lag[b] < lag[a]
            rule = TIME if by_time else origin.rule
            yield (place[g], a, b), Origin(rule, context[origin.graph], origin.via)


def _doubts(plan: WindowPlan, found: FoundGraphs, shown: tuple[int, ...]) -> Iterator[Doubt]:
    """The doubts about the contexts."""
    now, place = pairs_now(plan.window), {cell: c for c, cell in enumerate(shown)}
    for doubt in found.doubts:
        if doubt.graph in place and now[doubt.a, doubt.b]:
            yield doubt._replace(graph=place[doubt.graph])
