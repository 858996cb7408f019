"""Which method suits the data, and why. docs/score.md has the measurements behind the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from causalcontext.data.dataset import Dataset
from causalcontext.score.residuals import Misfit

MOST_VARIABLES = 1000
"""Beyond so many variables a search over orders takes minutes, PC-AC still seconds."""
STRONG = 0.25
"""A correlation of this size between a residual and (squares of) earlier variables bends a mechanism visibly."""
MOST_BENT = 1.0 / 3.0
"""With so many of the mechanisms bent, the likelihood of straight lines compares wrong models with each other."""


@dataclass(frozen=True)
class Choice:
    """A method, and one sentence why."""

    method: str
    reason: str


def choose_by_table(data: Dataset) -> Choice | None:
    """PC-AC where the score-based model does not apply or takes too long; None if it may be tried."""
    others = [data.names[i] for i in data.system if not data.kinds[i].is_number]
    if others:
        return Choice("pc-ac", f"method 'auto' chose pc-ac: column {others[0]!r} is not continuous")
    if len(data.names) > MOST_VARIABLES:
        return Choice("pc-ac", f"method 'auto' chose pc-ac: with {len(data.names)} variables score-ac takes minutes")
    return None


def choose_by_residuals(findings: Sequence[Misfit], variables: int) -> Choice:
    """score-ac, unless many of its mechanisms are visibly not straight lines."""
    bent = [finding for finding in findings if finding.kind == "nonlinear" and finding.size > STRONG]
    if len(bent) >= max(2.0, MOST_BENT * variables):
        found = f"{len(bent)} of {variables} mechanisms are clearly not linear"
        return Choice(
            "pc-ac", f"method 'auto' chose pc-ac: {found}, so the likelihood of score-ac compares wrong models"
        )
    found = "all columns are continuous, and the residuals of its linear model contradict it little"
    return Choice("score-ac", f"method 'auto' chose score-ac: {found}")
