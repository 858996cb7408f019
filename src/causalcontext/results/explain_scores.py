"""Why two variables are adjacent or not by their scores, in words, context by context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from causalcontext.results.entries import Decision
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.origins import origin_words
from causalcontext.results.series import copies_in, series_of

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

TIE = 0.05
CLEAR = 3.0
"""Directions with a smaller margin are not said by all models near the best one."""
FOLLOWED = 30.0
"""Margins of directions are not followed further than this."""


def explain_scores(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str) -> str:
    """The story of a pair: one sentence per context."""
    return "\n".join(_sentence(result, evidence, x, y, r) for r in range(len(result.contexts)))


def _sentence(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str, r: int) -> str:
    """What knowledge or the score says about a pair, the slope, the model of the effect, the shape, the direction."""
    slot, value = evidence.slot(result.position(x), result.position(y)), result.contexts[r]
    mark, lead = result.graphs[value].mark(x, y), "" if result.context is None else f" in {value}"
    head = f"present{lead} ({x} {mark} {y})" if mark else f"absent{lead}"
    decision, difference = Decision(int(evidence.decision[r, slot])), float(evidence.difference[r, slot])
    if decision is Decision.REQUIRED:
        return f"{head}: the link is required by your knowledge."
    if decision is Decision.FORBIDDEN:
        return f"{head}: your knowledge rules the link out."
    if np.isnan(difference):
        return f"{head}: {_unscored(result, x, y)}."
    verb = "raises" if mark else "would lower" if difference < 0 else "would change"
    told = [f"the link {verb} the score of the model by {abs(difference):.1f} nats"]
    effect, static = int(evidence.effect[r, slot]), result.series is None
    told += [_model(result, evidence, effect, r)] if static else _over_time(result, evidence, effect, x, y, r)
    told += [_shape(evidence, result, x, y, r, mark), _direction(result, evidence, slot, r, mark)]
    if words := origin_words(result, r, x, y):
        told.append(f"not all models near the best one say so; {words.rstrip('.')} in the best one")
    return f"{head}: {'; '.join(text for text in told if text)}."


def _unscored(result: ContextGraphs, x: str, y: str) -> str:
    """Why there is no score."""
    if result.series is not None:
        return "no link between them could be scored in the order of the present that was found"
    function = next((name for name in (x, y) if name in result.made_of), None)
    if function is not None:
        return f"{function} is a function of {result.made_of[function]}"
    return "a link in the direction that the other links allow is ruled out by your knowledge"


def _over_time(result: ContextGraphs, evidence: ScoreEvidence, effect: int, x: str, y: str, r: int) -> list[str]:
    """The slope of a link, and on the context at which lag the mechanism of its effect depends."""
    name, model, value = result.names[effect], evidence.model[effect], result.contexts[r]
    slopes = [f"slope {row.slope:.3g} (standard error {row.error:.2g})" for row in series_of(result).slopes
              if row.present and (row.source, row.target) == ((x, y) if name == y else (y, x)) and row.context == value
              and type(row.context) is type(value)]  # fmt: skip
    if model == "context":
        return [*slopes, f"{name} is the context, a multinomial logit"]
    if result.context is None:
        return slopes
    read = copies_in(result.reads.get(name))
    shown = [context + " or ".join("(t)" if lag == 0 else f"(t-{lag})" for lag in lags) for context, lags in read]
    undecided = ", the data do not decide which" if any(len(lags) > 1 for _, lags in read) else ""
    depends = f"depends on {' and '.join(shown)}{undecided}" if read else f"does not depend on {result.context}"
    return [*slopes, f"{name}'s mechanism {depends}{_OVER_TIME.get(model, '')}"]


_OVER_TIME = {
    "pooled": " and is the same in all contexts",
    "shifted": " and changes its intercept with it",
    "partitioned": " and changes as a whole with it",
    "mixed": " and changes some slopes with it",
}


def _model(result: ContextGraphs, evidence: ScoreEvidence, effect: int, r: int) -> str:
    """The model of the effect."""
    name, n = result.names[effect], int(evidence.rows[r, effect])
    if evidence.model[effect] == "context":
        return f"{name} is the context, a multinomial logit on {n} rows"
    if result.context is None:
        return f"{name} has one regression on {n} rows"
    if evidence.model[effect] in _SHARED:
        return f"{name}'s mechanism is shared by all contexts{_SHARED[evidence.model[effect]]} ({n} rows)"
    others = [str(value) for value in evidence.merged(effect, r, result.contexts)]
    shared = "of its own" if len(others) == 1 else f"shared by {', '.join(others)}"
    return f"{name} has a mechanism {shared} here ({n} rows)"


_SHARED = {"pooled": "", "shifted": " except its intercept", "mixed": " except its intercept and some slopes"}
_SHAPES = {"linear": "a straight line", "curved": "a curve", "step": "a step",
           "by category": "a level for every category", "product": "a product with another cause"}  # fmt: skip


def _shape(evidence: ScoreEvidence, result: ContextGraphs, x: str, y: str, r: int, mark: str) -> str:
    """What the link looks like."""
    if not mark:
        return ""
    pair = result.position(x), result.position(y), r
    shape = evidence.shape(*pair)
    if shape == "spread":
        return "the cause changes the spread of the noise and not the mean"
    spread = " and changes the spread of the noise" if evidence.is_spread(*pair) else ""
    return f"the link is {_SHAPES[shape]}{spread}" if shape else ""


def _direction(result: ContextGraphs, evidence: ScoreEvidence, slot: int, r: int, mark: str) -> str:
    """How sure the direction is."""
    margin = float(evidence.margin[r, slot]) if evidence.margin.size else float("nan")
    if mark == "o-o":
        tie = np.isnan(margin) or margin < TIE
        return f"models with either direction score {'the same' if tie else 'nearly the same'}"
    if not mark or np.isnan(margin):
        return ""
    least = "at least " if margin >= FOLLOWED else ""
    shown = f"{margin:.1f}" if margin < CLEAR else f"{margin:.0f}"
    return f"the best model without this direction scores {least}{shown} nats less"
