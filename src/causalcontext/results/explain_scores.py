"""Why two variables are adjacent or not by their scores, in words, context by context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from causalcontext.results.entries import Decision
from causalcontext.results.evidence import ScoreEvidence

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

TIE = 0.05
UNSCORED = "a link in the direction that the other links allow is ruled out by your knowledge"
FOLLOWED = 30.0
"""Margins of directions are not followed further than this."""


def explain_scores(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str) -> str:
    """The story of a pair: one sentence per context."""
    slot = evidence.slot(result.position(x), result.position(y))
    return "\n".join(_sentence(result, evidence, x, y, slot, r) for r in range(len(result.contexts)))


def head_of(result: ContextGraphs, x: str, y: str, r: int) -> tuple[str, str]:
    """The mark of a pair in a context, and how its sentence begins."""
    mark = result.graphs[result.contexts[r]].mark(x, y)
    lead = "" if result.context is None else f" in {result.contexts[r]}"
    return mark, f"present{lead} ({x} {mark} {y})" if mark else f"absent{lead}"


def told_by_score(evidence: ScoreEvidence, slot: int, r: int, mark: str, unscored: str) -> tuple[str, bool]:
    """What knowledge or the score says about a pair, and whether that is all; `unscored` where there is no score."""
    decision = Decision(int(evidence.decision[r, slot]))
    if decision is Decision.REQUIRED:
        return "the link is required by your knowledge", True
    if decision is Decision.FORBIDDEN:
        return "your knowledge rules the link out", True
    difference = float(evidence.difference[r, slot])
    if np.isnan(difference):
        return unscored, True
    verb = "raises" if mark else "would lower" if difference < 0 else "would change"
    return f"the link {verb} the score of the model by {abs(difference):.1f} nats", False


def _sentence(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str, slot: int, r: int) -> str:
    mark, head = head_of(result, x, y, r)
    made_of = result.settings.indicator
    unscored = f"{result.context} is a function of {made_of}" if made_of and result.context in (x, y) else UNSCORED
    told, is_all = told_by_score(evidence, slot, r, mark, unscored)
    if is_all:
        return f"{head}: {told}."
    words = f"{head}: {told}; {_model(result, evidence, int(evidence.effect[r, slot]), r)}"
    return words + _shape(evidence, result, x, y, r, mark) + _direction(evidence, slot, r, mark) + "."


def _model(result: ContextGraphs, evidence: ScoreEvidence, effect: int, r: int) -> str:
    """The model of the effect."""
    name, n = result.names[effect], int(evidence.rows[r, effect])
    if evidence.model[effect] == "context":
        return f"{name} is the context, a multinomial logit on {n} rows"
    if result.context is None:
        return f"{name} has one regression on {n} rows"
    if evidence.model[effect] == "pooled":
        return f"{name}'s mechanism is shared by all contexts ({n} rows)"
    if evidence.model[effect] == "shifted":
        return f"{name}'s mechanism is shared by all contexts except its intercept ({n} rows)"
    if evidence.model[effect] == "mixed":
        return f"{name}'s mechanism is shared by all contexts except its intercept and some slopes ({n} rows)"
    others = [str(value) for value in evidence.merged(effect, r, result.contexts)]
    shared = "of its own" if len(others) == 1 else f"shared by {', '.join(others)}"
    return f"{name} has a mechanism {shared} here ({n} rows)"


_SHAPES = {"linear": "a straight line", "curved": "a curve", "step": "a step",
           "by category": "a level for every category", "product": "a product with another cause"}  # fmt: skip


def _shape(evidence: ScoreEvidence, result: ContextGraphs, x: str, y: str, r: int, mark: str) -> str:
    """What the link looks like."""
    if not mark:
        return ""
    shape = evidence.shape(result.position(x), result.position(y), r)
    return f"; the link is {_SHAPES[shape]}" if shape else ""


def _direction(evidence: ScoreEvidence, slot: int, r: int, mark: str) -> str:
    """How sure the direction is."""
    margin = float(evidence.margin[r, slot]) if evidence.margin.size else float("nan")
    if mark == "o-o":
        tie = np.isnan(margin) or margin < TIE
        return f"; models with either direction score {'the same' if tie else 'nearly the same'}"
    if not mark or np.isnan(margin):
        return ""
    least = "at least " if margin >= FOLLOWED else ""
    return f"; the best model without this direction scores {least}{margin:.0f} nats less"
