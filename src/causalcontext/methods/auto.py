"""auto: which method suits the data, and why. docs/score.md has the measurements behind the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from causalcontext.data.dataset import Dataset
from causalcontext.methods.pc import pc_ac, pc_p
from causalcontext.methods.score_ac import from_scores, scored
from causalcontext.methods.task import Outcome, Task
from causalcontext.score.engine import MOST_LEVELS
from causalcontext.score.residuals import Misfit

MOST_VARIABLES = 1000
"""Beyond so many variables a search over orders takes minutes, PC-AC still seconds."""
STRONG = 0.25
"""A correlation of this size between a residual and (squares of) earlier variables bends a mechanism visibly."""
MOST_BENT = 1.0 / 3.0
"""With so many of the mechanisms misfitted, the likelihood compares wrong models with each other."""


@dataclass(frozen=True)
class MethodChoice:
    """A method, and one sentence why."""

    method: str
    reason: str


def choose_by_table(data: Dataset) -> MethodChoice | None:
    """PC-AC where the score-based model does not apply or takes too long; None if it may be tried."""
    if len(data.contexts.positions) > 1:
        return MethodChoice("pc-ac", "method 'auto' chose pc-ac: score-ac takes one context variable")
    many = [data.names[i] for i in data.system if i in data.categories and len(data.categories[i]) > MOST_LEVELS]
    if many:
        found = f"column {many[0]!r} has more than {MOST_LEVELS} levels"
        return MethodChoice("pc-ac", f"method 'auto' chose pc-ac: {found}")
    if len(data.names) > MOST_VARIABLES:
        found = f"with {len(data.names)} variables score-ac takes minutes"
        return MethodChoice("pc-ac", f"method 'auto' chose pc-ac: {found}")
    return None


def choose_by_residuals(findings: Sequence[Misfit], variables: int) -> MethodChoice:
    """score-ac, unless many of its mechanisms visibly do not fit."""
    bent = [finding for finding in findings if finding.kind == "nonlinear" and finding.size > STRONG]
    if len(bent) >= max(2.0, MOST_BENT * variables):
        found = f"{len(bent)} of {variables} mechanisms are clearly not additive"
        reason = f"{found}, so the likelihood of score-ac compares wrong models; tests of straight lines suffer too"
        return MethodChoice("pc-ac", f"method 'auto' chose pc-ac: {reason}: compare with test='cmi-knn'")
    found = "it takes all columns, and the residuals of its model contradict it little"
    return MethodChoice("score-ac", f"method 'auto' chose score-ac: {found}")


def auto(task: Task) -> Outcome:
    """What suits the data: score-ac, unless it does not apply or its residuals say that its model is wrong."""
    choice = choose_by_table(task.data)
    if choice is None:
        found = scored(task)
        choice = choose_by_residuals(found.findings, len(task.data.system))
        if not found.complete:
            choice = MethodChoice("score-ac", "method 'auto' chose score-ac: no time was left for another search")
        if choice.method == "score-ac":
            return _chosen(choice, from_scores(task, found))
    return _chosen(choice, (pc_ac if task.data.contexts.positions else pc_p)(task))


def _chosen(choice: MethodChoice, outcome: Outcome) -> Outcome:
    return replace(outcome, method=choice.method, notes=(choice.reason, *outcome.notes))
