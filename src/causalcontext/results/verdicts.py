"""What is said about a pair, decided once: `explain`, `changes`, `diagnose` and the report all ask here.

Two questions have several answers that sound alike. A pair may be dependent inside contexts and not on all rows, for
the context selects rows, or the dependences of the contexts cancel. And an edge that one context lacks may be a change,
or show there all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from causalcontext.graphs.endpoints import may_cause
from causalcontext.results.changes import Change, found_changes

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
    """What `changes` says about an edge of two contexts: whether it is claimed, what it doubts, and what changes."""

    claimed: bool
    doubt: str
    kind: str = "edge"


def verdict_on(x: str, y: str, changes: Sequence[Change]) -> ChangeVerdict | None:
    """What the changes between two contexts say about a pair; None where there is nothing to go by."""
    said = (change for change in changes if {change.source, change.target} == {x, y})
    return next((ChangeVerdict(change.claimed, change.reason, change.kind) for change in said), None)


class ChangeVerdicts:
    """What `changes` says about edges and slopes of two contexts; every two contexts are compared once."""

    def __init__(self, result: ContextGraphs) -> None:
        self._result = result
        self._known: dict[tuple[int, int], list[Change]] = {}

    def between(self, one: int, other: int) -> list[Change]:
        """The edges and slopes that differ between two contexts; none where there is nothing to go by."""
        result, places = self._result, (min(one, other), max(one, other))
        if result.moments is None or result.context is None:
            return []
        if places not in self._known:
            found = found_changes(result, *(result.contexts[place] for place in places))
            self._known[places] = [change for change in found if change.kind in ("edge", "slope")]
        return self._known[places]
