"""The methods by name. A new method is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from causalcontext.ci_tests.registry import TESTS
from causalcontext.data.dataset import Dataset
from causalcontext.errors import OptionError, check_choice
from causalcontext.methods.auto import Auto, auto
from causalcontext.methods.by_tests import AbsentTest
from causalcontext.methods.fci_ac import FCIAC, fci_ac
from causalcontext.methods.method_object import MethodObject
from causalcontext.methods.pc_ac import PCAC, pc_ac
from causalcontext.methods.pc_b import PCB, pc_b
from causalcontext.methods.pc_m import PCM, pc_m
from causalcontext.methods.pc_p import PCP, pc_p
from causalcontext.methods.score_ac import ScoreAC, score_ac
from causalcontext.methods.task import Task
from causalcontext.results.outcome import Outcome, Settings


class Method(NamedTuple):
    """The object with a method's options, how a table is searched, and how one without a context.

    `static` are the options that a search with lags does not use.
    """

    kind: type[MethodObject]
    run: Callable[[Task], Outcome]
    static: tuple[str, ...] = ()
    without_context: Callable[[Task], Outcome] | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the method's options."""
        return tuple(self.kind.defaults())

    def on(self, data: Dataset) -> Callable[[Task], Outcome]:
        """The function that searches such a table: without a context, methods that differ in their
        use of it are plain PC.
        """
        return (
            self.run
            if data.contexts.positions or self.without_context is None
            else self.without_context
        )


AUTO = "auto"
"""The name of the method that chooses one."""
METHODS = {
    "pc-ac": Method(PCAC, pc_ac, ("masked_scope", "orientation"), pc_p),
    "pc-m": Method(PCM, pc_m, without_context=pc_p),
    "pc-p": Method(PCP, pc_p),
    "pc-b": Method(PCB, pc_b, without_context=pc_p),
    "fci-ac": Method(FCIAC, fci_ac),
    "score-ac": Method(ScoreAC, score_ac),
    AUTO: Method(Auto, auto),
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
    AUTO: (
        "Takes score-ac or pc-ac, whichever suits the options and the table; a note of the result"
        " says why."
    ),
}
"""The purpose of each method, in a sentence."""
METHOD_OPTIONS = {
    name: default for method in METHODS.values() for name, default in method.kind.defaults().items()
}
"""The options that belong to methods, with their defaults."""


def method_of(name: object) -> MethodObject:
    """The object of a method: itself, or the one of that name with its defaults.

    >>> method_of("pc-ac")
    cc.PCAC()
    """
    if isinstance(name, MethodObject):
        return name
    if isinstance(name, type) and issubclass(name, MethodObject):
        raise OptionError(
            f"method is the class {name.__name__}, expected an object of it: pass"
            f" method=cc.{name.__name__}()"
        )
    check_choice("method", name, METHODS)
    return METHODS[str(name)].kind()


def owners(option: str) -> tuple[str, ...]:
    """The names of the methods that have an option."""
    return tuple(name for name, method in METHODS.items() if option in method.options)


def method_of_settings(settings: Settings) -> MethodObject:
    """The method that made a result, with its options; a test of one's own is known by its name."""
    kind = METHODS[settings.method].kind
    values = {
        name: settings.score.get(name, getattr(settings, name, default))
        for name, default in kind.defaults().items()
    }
    if kind.tests and settings.test not in ("auto", *TESTS):
        values["test"] = AbsentTest(settings.test)
    return kind(**values)


def run_method(name: str, task: Task) -> Outcome:
    """The outcome of a method on a task, with or without contexts."""
    return METHODS[name].on(task.data)(task)
