"""PC-AC, PC-M, PC-P and PC-B: one search, `algorithm_1`, with another rule for the rows that
answer; and fci-ac.

fci-ac finds one partial ancestral graph per context, where variables may be missing from the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from causalcontext.ci_tests.preparation import prepare
from causalcontext.graphs.endpoints import (
    Endpoint,
    Endpoints,
    GraphKind,
    adjacent,
    directed,
    endpoints_of_arcs,
)
from causalcontext.methods.task import Task
from causalcontext.results.log import CITestLog, Decision
from causalcontext.results.outcome import Outcome
from causalcontext.search.fci import Caution, fci
from causalcontext.search.indicator import with_indicators
from causalcontext.timeseries.tested import facts_of, pags_of_windows
from causalcontext.views import adaptive, masked, pooled


def pc_ac(task: Task) -> Outcome:
    """PC-AC: with a context in its conditioning set a question is asked inside that context, else
    on all rows.
    """
    across = task.support.trusted if task.settings.orientation == "across" else None
    found = task.run(adaptive, task.cells, task.settings.masked_scope, across)
    contexts = task.data.contexts
    if (
        found.complete and contexts.made and task.windows is None
    ):  # the links of contexts made out of a column
        endpoints, origins, more = with_indicators(found.endpoints, found.origins, contexts)
        found = replace(found, endpoints=endpoints, origins=origins, doubts=(*found.doubts, *more))
    return _not_searched(task, found)


def pc_m(task: Task) -> Outcome:
    """PC-M: every question is asked inside one context; context variables themselves stay
    isolated.
    """
    return _not_searched(task, task.run(masked, task.cells))


def pc_p(task: Task) -> Outcome:
    """PC-P: every question is asked on all rows; the same graph for every context."""
    return _not_searched(task, task.run(pooled, [0]))


def fci_ac(task: Task) -> Outcome:
    """fci-ac: as pc-ac, with both views for every set, and ends that hidden common causes cannot
    make wrong.
    """
    settings = task.settings
    if task.windows is not None:
        return pags_of_windows(task.windows, task.links, settings, task.n_jobs, task.advance)
    across = task.support.trusted if settings.orientation == "across" else None
    plan = replace(task.plan(adaptive, task.cells, "always", across), kind=GraphKind.PAG)
    caution = Caution(settings.possible_dsep, settings.contested, settings.context_confounded)
    found = fci(task.search(), plan, caution, task.n_jobs, task.advance)
    log = CITestLog.from_sepsets(plan, found.sepsets, len(task.cells), task.row_test.labels)
    return _not_searched(
        task,
        Outcome(
            found.endpoints,
            log,
            found.sepsets.tests,
            found.complete,
            found.origins,
            found.doubts,
            kind=GraphKind.PAG,
        ),
    )


def _not_searched(task: Task, found: Outcome) -> Outcome:
    """The log says that no link of context variables was searched that are made out of a column."""
    functions = (
        [position for position, _ in task.data.contexts.made] if task.windows is None else []
    )
    return replace(found, log=found.log.not_searched(*functions)) if functions else found


def pc_b(task: Task) -> Outcome:
    """PC-B: the edges that PC-M and PC-P share, and the links at context variables of PC-P."""
    everywhere = pc_p(task)
    if not everywhere.complete:
        return everywhere
    inside = pc_m(task)
    whole = everywhere.endpoints[0]
    mine = inside.log
    theirs = everywhere.log
    whole = whole if inside.complete else endpoints_of_arcs(adjacent(whole))
    contexts = task.data.contexts.positions
    window = None if task.windows is None else task.windows.window
    if window is not None:  # at all times
        contexts = tuple(node for node in range(window.nodes) if window.is_context(node))
    endpoints = intersect(inside.endpoints, whole, contexts)
    # PC-P decides about links at context variables, edges that only it removes, and where its
    # evidence is weaker.
    weaker = ~(mine.p >= theirs.p) & ~np.isnan(theirs.p)
    removed = (mine.decision != Decision.ABSENT) & ((theirs.decision == Decision.ABSENT) | weaker)
    log = mine.combined(theirs, (mine.decision == Decision.NOT_SEARCHED) | removed)
    notes = tuple(dict.fromkeys((*everywhere.notes, *inside.notes)))
    found = Outcome(endpoints, log, inside.tests + everywhere.tests, inside.complete, notes=notes)
    if task.windows is None or everywhere.series is None:
        return found
    data, statistics, _ = prepare(
        task.windows.columns, task.windows.test, "raise", task.windows.statistics
    )
    facts = facts_of(task.windows, data, statistics.of_columns(data), endpoints)
    facts = replace(facts, beyond_lags=everywhere.series.beyond_lags)
    return replace(found, warnings=everywhere.warnings, series=facts)


def intersect(masked: Endpoints, pooled: Endpoints, contexts: Sequence[int]) -> Endpoints:
    """The ends of PC-B (paper, App. "Baseline method / intersection graph")."""
    # They come from those of PC-M, shape (contexts, N, N), and of PC-P, shape (N, N). A mark on
    # which both agree is kept, the directed one is taken where only one is directed, and where they
    # contradict each other the edge is a conflict. Links at context variables are those of PC-P.
    both = adjacent(masked) & adjacent(pooled)
    masked_directed, pooled_directed = (
        directed(ends) | directed(ends).swapaxes(-1, -2) for ends in (masked, pooled)
    )
    same = masked == pooled
    endpoints = np.select(
        [
            ~both,
            same & same.swapaxes(1, 2),
            masked_directed & ~pooled_directed,
            pooled_directed & ~masked_directed,
        ],
        [np.int8(Endpoint.NONE), masked, masked, pooled],
        default=np.int8(Endpoint.CONFLICT),
    ).astype(np.int8)
    chosen = list(contexts)
    endpoints[:, chosen] = pooled[chosen]
    endpoints[:, :, chosen] = pooled[:, chosen]
    return endpoints
