"""What is said about a pair, decided once: `explain`, `changes`, `diagnose` and the report all ask here.

Two questions have several answers that sound alike. A pair may be dependent inside contexts and not on all rows, for
the context selects rows, or the dependences of the contexts cancel. And an edge that one context lacks may be a change,
or show there all the same.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from causalcontext.graphs.endpoints import may_cause
from causalcontext.results.changes import found_changes

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


class WithinContexts(StrEnum):
    """Why a pair is dependent inside contexts and independent on all rows."""

    SELECTION = "selection bias"
    CANCELLATION = "cancellation"


INSIDE_WORDS = {
    WithinContexts.SELECTION: "conditioning on {context}, a common effect, can induce this",
    WithinContexts.CANCELLATION: "nothing causes {context}, so this is not selection: the dependence cancels when "
    "contexts are pooled (Simpson's paradox)",
}


def why_inside_only(result: ContextGraphs) -> WithinContexts:
    """Selection needs a context that something may cause; what is known about it counts."""
    may = may_cause(result.union.endpoints)[:, list(result.cells.positions)]
    return WithinContexts.SELECTION if may.any() else WithinContexts.CANCELLATION


def inside_words(result: ContextGraphs) -> str:
    """The same in a sentence."""
    return INSIDE_WORDS[why_inside_only(result)].format(context=result.context)


class ChangeVerdict(NamedTuple):
    """What `changes` says about an edge that one of two contexts lacks: whether it is claimed, and what it doubts."""

    claimed: bool
    doubt: str


class ChangeVerdicts:
    """What `changes` says about edges that one of two contexts lacks; every two contexts are compared once."""

    def __init__(self, result: ContextGraphs) -> None:
        self._result = result
        self._known: dict[tuple[int, int], dict[frozenset[str], ChangeVerdict]] = {}

    def about(self, x: int, y: int, present: int, absent: int) -> ChangeVerdict | None:
        """What is said about a pair; None where there is nothing to go by."""
        result = self._result
        if result.moments is None or result.context is None:
            return None
        places = min(present, absent), max(present, absent)
        if places not in self._known:
            found = found_changes(result, *(result.contexts[place] for place in places))
            self._known[places] = {
                frozenset((change.source, change.target)): ChangeVerdict(change.claimed, change.reason)
                for change in found
                if change.kind == "edge"
            }
        return self._known[places].get(frozenset((result.names[x], result.names[y])))
