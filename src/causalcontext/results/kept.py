"""The answers of a result to questions that cost more than reading it, kept as long as it lives.

Attributes and tables of a result (`graphs`, `edges()`, `changes()`, `save()`, `==`) read what the
search stored and what is kept here; they start no search and no model check. What costs more is a
question with a name: `diagnose()`, `stability()`, `second_opinion()`, `probabilities()`. It writes
its answer here, so that every table shows it from then on, and files have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from causalcontext.model_checks.violations import Violation
from causalcontext.results.evidence import HiddenSuspicion

if TYPE_CHECKING:
    from causalcontext.diagnostics.findings import Diagnosis
    from causalcontext.diagnostics.stability import Stability
    from causalcontext.results.changes import Change, Claim
    from causalcontext.results.contexts import ContextGraphs
    from causalcontext.results.effects.mixture import EffectDraws, OrderDraws


@dataclass(eq=False)
class KeptAnswers:
    """The answers that are known so far; None stands for a question that was not asked.

    Attributes
    ----------
    violations : tuple of Violation, optional
        The model checks that failed. A search by scores asks for them at its end; after a search by
        tests `diagnose()` and `second_opinion()` do.
    suspicion : HiddenSuspicion, optional
        The links that may stand for a hidden common cause; asked by `diagnose()`.
    diagnosis : Diagnosis, optional
        The findings of `diagnose()`.
    stability : Stability, optional
        The shares of `stability()`.
    opinion : ContextGraphs or str, optional
        The result of `second_opinion()`, or why there is none.
    orders : OrderDraws or str, optional
        Orders of the variables that were drawn by their score, or why there are none.
    draws : EffectDraws or str, optional
        Graphs and effects over these orders.
    compared : dict
        The differences between two contexts, by the places of the contexts, before doubts about the
        model and other methods are weighed.
    claims : tuple of Claim, str, optional
        Of a loaded result: the claims that stood when it was saved, or why there are none.
    """

    violations: tuple[Violation, ...] | None = None
    suspicion: HiddenSuspicion | None = None
    diagnosis: Diagnosis | None = None
    stability: Stability | None = None
    opinion: ContextGraphs | str | None = None
    orders: OrderDraws | str | None = None
    draws: EffectDraws | str | None = None
    compared: dict[tuple[int, int], tuple[Change, ...]] = field(default_factory=dict)
    claims: tuple[Claim, ...] | str | None = None

    def renamed(self, names: Mapping[str, str], contexts: Mapping[Any, Any]) -> KeptAnswers:
        """The answers in terms of other names of variables and of context values.

        Findings and shares stay as they are: they are written with the names that were asked with.
        """
        violations = self.violations
        if violations is not None:
            violations = tuple(
                replace(
                    violation, columns=tuple(names.get(name, name) for name in violation.columns)
                )
                for violation in violations
            )
        suspicion = self.suspicion
        if suspicion is not None:
            suspicion = replace(
                suspicion,
                suspected=_renamed_pairs(suspicion.suspected, names),
                asked=_renamed_pairs(suspicion.asked, names),
            )
        compared = {
            places: tuple(
                change._replace(
                    source=names.get(change.source, change.source),
                    target=names.get(change.target, change.target),
                    present=contexts.get(change.present, change.present),
                    absent=contexts.get(change.absent, change.absent),
                )
                for change in changes
            )
            for places, changes in self.compared.items()
        }
        return replace(self, violations=violations, suspicion=suspicion, compared=compared)


def _renamed_pairs(
    pairs: tuple[tuple[str, str], ...], names: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The pairs under other names, the ends of each sorted again."""
    renamed = []
    for ends in pairs:
        first, second = sorted(names.get(name, name) for name in ends)
        renamed.append((first, second))
    return tuple(renamed)


def answers_of(result: ContextGraphs) -> KeptAnswers:
    """The answers that a result keeps; the questions write to them, all else reads them."""
    return result._kept


def with_answers(result: ContextGraphs, answers: KeptAnswers) -> ContextGraphs:
    """The result, keeping these answers from now on: of a copy that differs in nothing they say."""
    object.__setattr__(result, "_kept", answers)
    return result


NOT_ASKED = {
    "diagnosis": "model checks, hidden common causes and support: result.diagnose()",
    "opinion": "differences are candidates until score-ac is asked: result.second_opinion()",
    "stability": "whether edges are found again in other samples: result.stability()",
}
"""The questions that a report names as long as they were not asked."""


def questions_left(result: ContextGraphs) -> list[str]:
    """The questions that were not asked, each with the call that asks it; none of a cut search."""
    if not result.final:
        return []
    kept = answers_of(result)
    left = [] if kept.diagnosis is not None else [NOT_ASKED["diagnosis"]]
    by_tests = result.evidence is None and len(result.searched.contexts) > 1
    if by_tests and kept.opinion is None and kept.claims is None:
        left.append(NOT_ASKED["opinion"])
    if kept.stability is None:
        left.append(NOT_ASKED["stability"])
    return left
