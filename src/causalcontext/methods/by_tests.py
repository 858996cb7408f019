"""The options that all methods with independence tests share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from causalcontext.ci_tests.protocol import IndependenceTest, PreparedTest
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.errors import OptionError, check_choice, check_level, check_whole
from causalcontext.methods.method_object import MethodObject, method_object, option
from causalcontext.search.colliders import COLLIDER_RULES
from causalcontext.search.masked_tests import SCOPES

ORIENTATIONS = ("across", "within")
"""True if the graphs of the contexts orient each other."""


@method_object
class ByTests(MethodObject):
    """A method that asks independence tests."""

    tests: ClassVar[bool] = True

    test: str | IndependenceTest = option(
        "auto", "NAME", "auto (by the kinds of columns), or a test by name: tsagris, cmi-knn, ..."
    )
    alpha: float = option(
        0.05,
        "NUMBER",
        "Larger p-values mean independence; with score-ac, the level of checks and claims.",
    )
    max_given: int | None = option(None, "N", "The largest conditioning set.")
    collider_rule: str = option("majority", "NAME", "majority, conservative or first.")

    def __post_init__(self) -> None:
        find_test(self.test)
        check_level("alpha", self.alpha)
        if self.max_given is not None:
            check_whole("max_given", self.max_given, 0, ", or None for no limit")
        check_choice("collider_rule", self.collider_rule, COLLIDER_RULES)


@dataclass(frozen=True)
class AbsentTest:
    """The name of a test of one's own, in the method object of a result that was made with it."""

    name: str

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedTest:
        """Refuse: what the test computes is not known."""
        raise OptionError(
            f"the test {self.name!r} is one's own, and a result keeps its name alone; pass the test"
            " itself: method=cc.PCAC(test=...)"
        )


def check_scope(masked_scope: object) -> None:
    """Return if pc-ac knows the scope of questions inside contexts."""
    check_choice("masked_scope", masked_scope, SCOPES)


def check_orientation(orientation: object) -> None:
    """Return if `orientation` says whether graphs orient each other."""
    check_choice("orientation", orientation, ORIENTATIONS)
