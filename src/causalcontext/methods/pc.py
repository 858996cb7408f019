"""PC-AC, PC-M, PC-P and PC-B: one search, `algorithm_1`, with another rule for the rows that answer."""

from __future__ import annotations

import numpy as np

from causalcontext.graphs.endpoints import adjacent
from causalcontext.kernels.arrays import Bools
from causalcontext.methods.task import Outcome, Task
from causalcontext.results.entries import Decision
from causalcontext.results.log import CITestLog
from causalcontext.search.algorithm import FoundGraphs, unoriented
from causalcontext.search.indicator import with_indicator
from causalcontext.search.intersection import intersect
from causalcontext.views import adaptive, masked, pooled


def pc_ac(task: Task) -> Outcome:
    """PC-AC: with a context in its conditioning set a question is asked inside that context, else on all rows."""
    across = task.support.trusted if task.settings.orientation == "across" else None
    found, log = task.run(adaptive, task.cells, task.settings.masked_scope, across)
    contexts = task.data.contexts
    if contexts.source is not None:
        found = with_indicator(found, contexts.positions[0], contexts.source)
        log = log.not_searched(*contexts.positions)
    return Outcome(
        found.endpoints, log, found.sepsets.tests, found.complete, found.origins, found.doubts, notes=cut(found)
    )


def pc_m(task: Task) -> Outcome:
    """PC-M: every question is asked inside one context; context variables themselves stay isolated."""
    found, log = task.run(masked, task.cells)
    return Outcome(found.endpoints, log, found.sepsets.tests, found.complete, found.origins, notes=cut(found))


def pc_p(task: Task) -> Outcome:
    """PC-P: every question is asked on all rows; the same graph for every context."""
    found, log = task.run(pooled, [0])
    endpoints = np.repeat(found.endpoints, len(task.cells), axis=0)
    origins = {(cell, a, b): origin for (_, a, b), origin in found.origins.items() for cell in task.cells}
    return Outcome(endpoints, log, found.sepsets.tests, found.complete, origins, notes=cut(found))


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


def cut(found: FoundGraphs) -> tuple[str, ...]:
    """What a time limit left out."""
    return (f"the time limit ended the search {found.cut}",) if found.cut else ()


def _decided_by_pool(inside: CITestLog, everywhere: CITestLog) -> Bools:
    """Where PC-P has the say in PC-B: links at context variables, edges that only it removes, weaker evidence."""
    removed_inside = inside.decision == Decision.ABSENT
    weaker = ~(inside.p >= everywhere.p)
    removed_by_pool = everywhere.decision == Decision.ABSENT
    at_context = inside.decision == Decision.NOT_SEARCHED
    has_say: Bools = at_context | (~removed_inside & (removed_by_pool | (weaker & ~np.isnan(everywhere.p))))
    return has_say
