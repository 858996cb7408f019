"""Why two variables are adjacent or not by their scores, in words, context by context."""

from __future__ import annotations

from typing import Any

import numpy as np

from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import Decision


def explain_scores(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str) -> str:
    """The story of a pair: one sentence per context."""
    slot = evidence.slot(result.position(x), result.position(y))
    return "\n".join(_sentence(result, evidence, x, y, slot, r, value) for r, value in enumerate(result.contexts))


def _sentence(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str, slot: int, r: int, value: Any) -> str:
    mark = result.graphs[value].mark(x, y)
    lead = "" if result.context is None else f" in {value}"
    head = f"present{lead} ({x} {mark} {y})" if mark else f"absent{lead}"
    decision = Decision(int(evidence.decision[r, slot]))
    if decision is Decision.REQUIRED:
        return f"{head}: the link is required by your knowledge."
    if decision is Decision.FORBIDDEN:
        return f"{head}: your knowledge rules the link out."
    difference = float(evidence.difference[r, slot])
    if np.isnan(difference):
        return f"{head}: a link in the direction that the other links allow is ruled out by your knowledge."
    effect = int(evidence.effect[r, slot])
    verb = "raises" if mark else "would lower" if difference < 0 else "would change"
    words = f"{head}: the link {verb} the score by {abs(difference):.1f}; {_model(result, evidence, effect, r)}"
    return words + (_undirected(mark) + ".")


def _model(result: ContextGraphs, evidence: ScoreEvidence, effect: int, r: int) -> str:
    """The model of the effect."""
    name, n = result.names[effect], int(evidence.rows[r, effect])
    if evidence.model[effect] == "context":
        return f"{name} is the context, a multinomial logit on {n} rows"
    if result.context is None:
        return f"{name} has one regression on {n} rows"
    if evidence.model[effect] == "pooled":
        return f"{name} has one mechanism in all contexts ({n} rows)"
    if evidence.model[effect] == "shifted":
        return f"{name} has one mechanism in all contexts but for a shift of its level ({n} rows)"
    others = [str(value) for value in evidence.merged(effect, r, result.contexts)]
    shared = "of its own" if len(others) == 1 else f"shared by {', '.join(others)}"
    return f"{name} has a mechanism {shared} here ({n} rows)"


def _undirected(mark: str) -> str:
    return "; models with either direction score the same" if mark == "o-o" else ""
