"""The methods by name. A new method is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from causalcontext.methods.auto import auto
from causalcontext.methods.fci_ac import fci_ac
from causalcontext.methods.pc import pc_ac, pc_b, pc_m, pc_p
from causalcontext.methods.score_ac import score_ac
from causalcontext.methods.task import Task
from causalcontext.results.outcome import Outcome


class Method(NamedTuple):
    """How a table is searched, and how one without a context; whether tasks may have windows in place of rows."""

    run: Callable[[Task], Outcome]
    lags: bool
    without_context: Callable[[Task], Outcome] | None = None


METHODS = {
    "pc-ac": Method(pc_ac, lags=True, without_context=pc_p),
    "pc-m": Method(pc_m, lags=True, without_context=pc_p),
    "pc-p": Method(pc_p, lags=True),
    "pc-b": Method(pc_b, lags=True, without_context=pc_p),
    "fci-ac": Method(fci_ac, lags=False),
    "score-ac": Method(score_ac, lags=True),
    "auto": Method(auto, lags=True),
}


def takes_lags(name: str) -> bool:
    """Whether a method searches tables whose rows follow each other in time."""
    return name in METHODS and METHODS[name].lags


def run_method(name: str, task: Task) -> Outcome:
    """What a method finds; without a context methods that differ in their use of it are plain PC."""
    method = METHODS[name]
    alone = not task.data.contexts.positions and method.without_context
    return (alone or method.run)(task)
