"""Names that a result had before, which work for one more version and say what to use instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from causalcontext.results.kept import answers_of
from causalcontext.results.violations import (
    advice_facts,
    check_words,
    suits_score,
    violations_of,
)

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


class OldName(NamedTuple):
    """The name to use instead of an old one, and the value that the old one had."""

    instead: str
    value: Callable[[ContextGraphs], Any]


def _model_checks(result: ContextGraphs) -> tuple[str, ...]:
    """The model checks that fail, in sentences; made now if they were not made before."""
    violations_of(result.searched)
    return check_words(result.searched)


def _suspicion(result: ContextGraphs) -> Any:
    """The suspicion of hidden common causes, asked as a part of the diagnosis."""
    result.diagnose()
    return answers_of(result).suspicion


OLD_NAMES = {
    "violations": OldName("diagnose()", lambda result: violations_of(result.searched)),
    "model_checks": OldName("diagnose()", _model_checks),
    "suspicion": OldName("diagnose()", _suspicion),
    "order_draws": OldName("probabilities()", lambda result: result._order_draws()),
    "effect_draws": OldName("probabilities()", lambda result: result._effect_draws()),
    "known_violations": OldName("diagnose()", lambda result: answers_of(result).violations),
    "known_suspicion": OldName("diagnose()", lambda result: answers_of(result).suspicion),
    "known_claims": OldName("changes()", lambda result: answers_of(result).claims),
    "known_orders": OldName("probabilities()", lambda result: answers_of(result).orders),
    "already_asked": OldName("diagnose()", advice_facts),
    "suits_score": OldName("check()", suits_score),
}
"""The names of version 0.2 that are gone in 0.4."""


def value_of_old_name(result: ContextGraphs, name: str) -> Any:
    """The value of a name that is going away, with a warning that says what to use instead."""
    old = OLD_NAMES[name]
    warnings.warn(
        f"result.{name} will be gone in the next version: use {old.instead}",
        DeprecationWarning,
        stacklevel=3,
    )
    return old.value(result)
