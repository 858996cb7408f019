"""Why two variables of a window are adjacent or not, in words, context by context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from causalcontext.errors import OptionError
from causalcontext.graphs.lag_names import at, split
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.explain import explain
from causalcontext.results.explain_scores import head_of, told_by_score
from causalcontext.results.series import SlopeRow, series_of

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

UNSCORED = "no link between them could be scored in the order of the present that was found"


def explain_lagged(result: ContextGraphs, x: str, y: str) -> str:
    """The story of a pair: one sentence per context."""
    first, second = result.position(x), result.position(y)
    if first == second:
        raise OptionError(f"explain needs two different variables, got {x!r} twice")
    lags = split(x)[1], split(y)[1]
    if min(lags):
        (early, a), (late, b) = sorted((split(x), split(y)), key=lambda pair: -pair[1])
        return (f"{x} and {y} are both in the past; links repeat, so this is the pair "
                f"{at(early, a - b)} and {late}: explain that")  # fmt: skip
    if lags[0] < lags[1]:
        x, y = y, x
    if result.evidence is None:
        return _unread(result, x) or explain(result, x, y)
    return "\n".join(_sentence(result, result.evidence, x, y, r) for r in range(len(result.contexts)))


def _unread(result: ContextGraphs, x: str) -> str:
    """Why a copy of the context is never asked about."""
    name, lag = split(x)
    if name != result.context or lag in series_of(result).copies or result.settings.method == "pc-m":
        return ""
    return (f"{x} takes no part in the search: the copies of {name} that are told apart are those at lags "
            f"{', '.join(map(str, series_of(result).copies))} (context_lags)")  # fmt: skip


def reading(result: ContextGraphs, name: str) -> str:
    """On the context at which lag the mechanism of a variable depends, in words."""
    copy = result.reads.get(name)
    if copy is None:
        return f"{name}'s mechanism does not depend on {result.context}" if result.context else ""
    lags = copy[1] if isinstance(copy[1], tuple) else (copy[1],)
    shown = " or ".join("(t)" if lag == 0 else f"(t-{lag})" for lag in lags)
    return f"{name}'s mechanism depends on {copy[0]}{shown}" + (
        ", the data do not decide which" if len(lags) > 1 else ""
    )


def _sentence(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str, r: int) -> str:
    value = result.contexts[r]
    slot = evidence.slot(result.position(x), result.position(y))
    mark, head = head_of(result, x, y, r)
    by_score, is_all = told_by_score(evidence, slot, r, mark, UNSCORED)
    if is_all:
        return f"{head}: {by_score}."
    effect = result.names[int(evidence.effect[r, slot])]
    told = [
        by_score,
        *_slope(result, x, y, value, effect),
        _model(result, evidence, effect),
    ]
    if mark == "o-o":
        told.append("models with either direction score nearly the same")
    return f"{head}: {'; '.join(text for text in told if text)}."


def _slope(result: ContextGraphs, x: str, y: str, value: object, effect: str) -> list[str]:
    source = x if effect == y else y
    found = [row for row in series_of(result).slopes if _is(row, source, effect, value)]
    return [f"slope {row.slope:.3g} (standard error {row.error:.2g})" for row in found if row.present]


def _is(row: SlopeRow, source: str, target: str, value: object) -> bool:
    return row.source == source and row.target == target and row.context == value and type(row.context) is type(value)


def _model(result: ContextGraphs, evidence: ScoreEvidence, effect: str) -> str:
    model = evidence.model[result.position(effect)]
    if model == "context":
        return f"{effect} is the context, a multinomial logit"
    if result.context is None:
        return ""
    words = {
        "pooled": "is the same in all contexts",
        "shifted": "changes its intercept with it",
        "partitioned": "changes as a whole with it",
        "mixed": "changes some slopes with it",
    }
    return reading(result, effect) + (f" and {words[model]}" if model in words else "")
