"""score-ac: the best-scoring model asks no questions; mechanisms and their parents may differ between contexts."""

from __future__ import annotations

import numpy as np

from causalcontext.errors import NotYetError
from causalcontext.methods.task import Outcome, Task
from causalcontext.results.log import TrialLog
from causalcontext.score.engine import ScoreOutcome, run_score


def score_ac(task: Task) -> Outcome:
    """score-ac: the best-scoring model."""
    return from_scores(task, scored(task))


def scored(task: Task) -> ScoreOutcome:
    """The best-scoring model of the table."""
    if len(task.data.contexts.positions) > 1:
        raise NotYetError("not yet: score-ac takes one context variable; join them into one column, or pass "
                          "method='pc-ac'")  # fmt: skip
    return run_score(task.data, task.survey, task.links, task.score, task.settings.seed, task.n_jobs, task.advance)


def from_scores(task: Task, found: ScoreOutcome) -> Outcome:
    """A model as the outcome of a search without tests."""
    log = TrialLog.empty(len(task.cells), len(task.data.names))
    tests = np.zeros(2, dtype=np.int64)
    return Outcome(found.ends, log, tests, not found.interrupted, evidence=found.evidence, notes=found.notes)
