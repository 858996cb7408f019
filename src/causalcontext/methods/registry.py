"""The methods by name. A new method is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from causalcontext.data.dataset import Dataset
from causalcontext.methods.auto import FOR_SCORES, auto
from causalcontext.methods.pc import fci_ac, pc_ac, pc_b, pc_m, pc_p
from causalcontext.methods.score_ac import score_ac
from causalcontext.methods.task import Task
from causalcontext.results.outcome import Outcome


class Method(NamedTuple):
    """How a table is searched, and how one without a context.

    `options` are those that not all methods use; `static` are the ones among them that a search
    with lags does not use.
    """

    run: Callable[[Task], Outcome]
    options: tuple[str, ...] = ()
    static: tuple[str, ...] = ()
    without_context: Callable[[Task], Outcome] | None = None

    def on(self, data: Dataset) -> Callable[[Task], Outcome]:
        """How a table is searched: without a context, methods that differ in their use of it are
        plain PC.
        """
        return (
            self.run
            if data.contexts.positions or self.without_context is None
            else self.without_context
        )


FOR_TESTS = ("test", "max_given", "collider_rule", "device")
"""The options of every search by tests."""
_ACROSS = ("masked_scope", "orientation")
_HIDDEN = ("orientation", "possible_dsep", "contested", "context_confounded")
METHODS = {
    "pc-ac": Method(pc_ac, (*FOR_TESTS, *_ACROSS), _ACROSS, pc_p),
    "pc-m": Method(pc_m, FOR_TESTS, without_context=pc_p),
    "pc-p": Method(pc_p, FOR_TESTS),
    "pc-b": Method(pc_b, FOR_TESTS, without_context=pc_p),
    "fci-ac": Method(fci_ac, (*FOR_TESTS, *_HIDDEN)),
    "score-ac": Method(score_ac, FOR_SCORES),
    "auto": Method(auto, (*FOR_TESTS, *_ACROSS, *FOR_SCORES), _ACROSS),
}
TEXTS = {
    "pc-ac": (
        "The paper's method: every test uses the rows that it needs, and has a p-value; contexts"
        " may be effects."
    ),
    "pc-m": "Each context by itself: for contexts that nothing in the table causes.",
    "pc-p": "All rows together: one graph that does not depend on the context.",
    "pc-b": "What pc-m and pc-p share: as few false links as possible.",
    "fci-ac": (
        "Like pc-ac, where common causes may be missing from the table: one partial ancestral graph"
        " per context."
    ),
    "score-ac": (
        "The best-scoring model of mechanisms that may differ by context; strong where lines or"
        " curves fit."
    ),
    "auto": (
        "Takes score-ac or pc-ac, whichever suits the options and the table; a note of the result"
        " says why."
    ),
}
"""What each of them is for, in a sentence."""
SPECIAL = tuple(dict.fromkeys(name for method in METHODS.values() for name in method.options))
"""The options that not all methods use."""


def run_method(name: str, task: Task) -> Outcome:
    """What a method finds."""
    return METHODS[name].on(task.data)(task)
