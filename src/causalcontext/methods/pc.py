"""PC-AC, PC-M, PC-P and PC-B: one search, `algorithm_1`, with another rule for the rows that answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from causalcontext.graphs.endpoints import adjacent
from causalcontext.kernels.arrays import Bools
from causalcontext.methods.task import Task
from causalcontext.results.entries import Decision
from causalcontext.results.log import CITestLog
from causalcontext.results.outcome import Outcome
from causalcontext.search.algorithm import unoriented
from causalcontext.search.indicator import with_indicator
from causalcontext.search.intersection import intersect
from causalcontext.views import adaptive, masked, pooled


def pc_ac(task: Task) -> Outcome:
    """PC-AC: with a context in its conditioning set a question is asked inside that context, else on all rows."""
    across = task.support.trusted if task.settings.orientation == "across" else None
    found = task.run(adaptive, task.cells, task.settings.masked_scope, across)
    source, positions = task.data.contexts.source, task.data.contexts.positions
    if source is None:
        return found
    log = found.log.not_searched(*positions)
    if not found.complete:
        return replace(found, log=log)
    endpoints, origins, doubts = with_indicator(found.endpoints, found.origins, positions[0], source)
    return replace(found, endpoints=endpoints, log=log, origins=origins, doubts=(*found.doubts, *doubts))


def pc_m(task: Task) -> Outcome:
    """PC-M: every question is asked inside one context; context variables themselves stay isolated."""
    return task.run(masked, task.cells)


def pc_p(task: Task) -> Outcome:
    """PC-P: every question is asked on all rows; the same graph for every context."""
    return task.run(pooled, [0])


def pc_b(task: Task) -> Outcome:
    """PC-B: the edges that PC-M and PC-P share, and the links at context variables of PC-P."""
    everywhere = pc_p(task)
    if not everywhere.complete:
        return everywhere
    inside = pc_m(task)
    pooled_endpoints = everywhere.endpoints[0] if inside.complete else unoriented(adjacent(everywhere.endpoints[0]))
    endpoints = intersect(inside.endpoints, pooled_endpoints, task.data.contexts.positions)
    log = inside.log.combined(everywhere.log, _decided_by_pool(inside.log, everywhere.log))
    notes = tuple(dict.fromkeys((*everywhere.notes, *inside.notes)))
    return Outcome(endpoints, log, inside.tests + everywhere.tests, inside.complete, notes=notes)


def _decided_by_pool(inside: CITestLog, everywhere: CITestLog) -> Bools:
    """Where PC-P has the say in PC-B: links at context variables, edges that only it removes, weaker evidence."""
    removed_inside = inside.decision == Decision.ABSENT
    weaker = ~(inside.p >= everywhere.p)
    removed_by_pool = everywhere.decision == Decision.ABSENT
    at_context = inside.decision == Decision.NOT_SEARCHED
    has_say: Bools = at_context | (~removed_inside & (removed_by_pool | (weaker & ~np.isnan(everywhere.p))))
    return has_say
