"""Which method suits the data, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from causalcontext.score.engine import ScoreOutcome

NONLINEAR_SHARE = 0.25
"""With this share of mechanisms visibly nonlinear, the score's model is not trusted."""


@dataclass(frozen=True)
class Choice:
    """A method, and one sentence why."""

    method: str
    reason: str


def choose_method(scored: ScoreOutcome, names: Sequence[str]) -> Choice:
    """The method for a table whose score-based fit is known; docs/score.md has the measurements behind the rule."""
    nonlinear = {finding.variable for finding in scored.findings if finding.kind == "nonlinear"}
    if len(nonlinear) >= NONLINEAR_SHARE * len(names):
        reason = (f"method 'auto' chose pc-ac: {len(nonlinear)} of {len(names)} variables have mechanisms that are not "
                  "linear, where score-ac adds more false links")  # fmt: skip
        return Choice("pc-ac", reason)
    return Choice("score-ac", "method 'auto' chose score-ac: all variables are continuous and the residuals of its "
                              "linear model show little that contradicts it")  # fmt: skip
