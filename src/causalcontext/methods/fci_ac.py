"""fci-ac: one partial ancestral graph per context, where variables may be missing from the table."""

from __future__ import annotations

from dataclasses import replace

from causalcontext.graphs.endpoints import GraphKind
from causalcontext.methods.task import Task
from causalcontext.results.log import CITestLog
from causalcontext.results.outcome import Outcome
from causalcontext.search.fci import Caution, fci
from causalcontext.views import adaptive


def fci_ac(task: Task) -> Outcome:
    """fci-ac: as pc-ac, with both views for every set, and ends that hidden common causes cannot make wrong."""
    contexts, settings = task.data.contexts, task.settings
    across = task.support.trusted if settings.orientation == "across" else None
    plan = replace(task.plan(adaptive, task.cells, "always", across), kind=GraphKind.PAG)
    caution = Caution(settings.possible_dsep, settings.contested, settings.context_confounded)
    found = fci(task.search(), plan, caution, task.n_jobs, task.advance)
    log = CITestLog.from_sepsets(plan, found.sepsets, len(contexts.cells), task.row_test.labels)
    if contexts.made:
        log = log.not_searched(*(position for position, _ in contexts.made))
    return Outcome(
        found.endpoints, log, found.sepsets.tests, found.complete, found.origins, found.doubts, kind=GraphKind.PAG
    )
