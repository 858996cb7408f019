"""The methods by name. A new method is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable

from causalcontext.methods.auto import auto
from causalcontext.methods.fci_ac import fci_ac
from causalcontext.methods.pc import pc_ac, pc_b, pc_m, pc_p
from causalcontext.methods.score_ac import score_ac
from causalcontext.methods.task import Outcome, Task

METHODS: dict[str, Callable[[Task], Outcome]] = {
    "pc-ac": pc_ac, "pc-m": pc_m, "pc-p": pc_p, "pc-b": pc_b, "fci-ac": fci_ac, "score-ac": score_ac,
    "auto": auto,
}  # fmt: skip


def run_method(name: str, task: Task) -> Outcome:
    """What a method finds; without a context all methods that test are plain PC."""
    if not task.data.contexts.positions and name.startswith("pc"):
        return pc_p(task)
    return METHODS[name](task)
