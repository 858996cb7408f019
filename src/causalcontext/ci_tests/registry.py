"""The tests by name, and what `auto` is made of. A new test is one file and one line here.

The first line of `AUTO` whose kinds fit answers a query; docs/tests.md has the table and reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from causalcontext.ci_tests.basis import ChosenCurves
from causalcontext.ci_tests.change import CautiousChange, ContextChange, RobustChange
from causalcontext.ci_tests.cmi_knn import CmiKnn
from causalcontext.ci_tests.composite import Composite, Member, seeded
from causalcontext.ci_tests.conditional_gaussian import ConditionalGaussian
from causalcontext.ci_tests.energy import EnergyDistance
from causalcontext.ci_tests.g_squared import GSquared
from causalcontext.ci_tests.gaussian_ranks import GaussianRanks
from causalcontext.ci_tests.partial_correlation import FisherZ, PartialCorrelation
from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.ci_tests.rcot import Rcot
from causalcontext.ci_tests.regression_legacy import RegressionLegacy
from causalcontext.ci_tests.sandwich import Sandwich
from causalcontext.ci_tests.tsagris import Tsagris
from causalcontext.data.kinds import Kind
from causalcontext.errors import OptionError, check_choice, shortly

TESTS: dict[str, Any] = {
    test.name: test
    for test in (
        PartialCorrelation(),
        FisherZ(),
        Sandwich(),
        GaussianRanks(),
        ChosenCurves(),
        RobustChange(),
        CautiousChange(),
        ContextChange(),
        ConditionalGaussian(),
        Tsagris(),
        GSquared(),
        CmiKnn(),
        Rcot(),
        EnergyDistance(),
        Composite("cmi-knn-mixed", (PartialCorrelation(at_context=False), CmiKnn())),
        RegressionLegacy(),
    )
}
"""The tests that can be asked for by name.

`cmi-knn-mixed` is that of the paper's right-hand panel: `cmi-knn` wherever there are categories, the context among
them.
"""


class ChangeOfContinuous(RobustChange):
    """`robust-change` for a categorical column, the context among them, and a continuous one."""

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """A categorical and a continuous column, given what else there is."""
        return {x, y} == {Kind.CATEGORICAL, Kind.CONTINUOUS}


class GSquaredOfCategories(GSquared):
    """`g-squared` for two categorical columns."""

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """Two categorical columns, and no number among the conditions."""
        return {x, y} == {Kind.CATEGORICAL} and super().takes(x, y, given)


class GaussianOfContinuous(ConditionalGaussian):
    """`conditional-gaussian` for two continuous columns."""

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """Two continuous columns, given what else there is."""
        return {x, y} == {Kind.CONTINUOUS}


AUTO: tuple[Member, ...] = (
    PartialCorrelation(at_context=False),
    ChangeOfContinuous(),
    GSquaredOfCategories(),
    GaussianOfContinuous(),
    Tsagris(),  # whatever is left: ordered columns, counts, and categories given numbers
)


def find_test(test: str | IndependenceTest, seed: int = 0) -> IndependenceTest:
    """The test of that name, with `auto` for what it does not take; an object of one's own is treated alike.

    Examples
    --------
    >>> find_test("auto").name
    'auto'
    """
    if isinstance(test, str):
        check_choice("test", test, ("auto", *TESTS))
        return _named(test, seed)
    return _treated_alike(test, seed)


@lru_cache(maxsize=64)
def _named(name: str, seed: int) -> IndependenceTest:
    return Composite("auto", AUTO, seed) if name == "auto" else _treated_alike(TESTS[name], seed)


def _treated_alike(test: Any, seed: int) -> IndependenceTest:
    if isinstance(test, type) or not isinstance(test, IndependenceTest):
        raise OptionError(f"test is {shortly(test)}, expected a name ({', '.join(TESTS)}) or an object with a name and "
                          "a method prepare(data, statistics)")  # fmt: skip
    if isinstance(test, Member):
        return Composite(test.name, (test, *AUTO), seed)
    return seeded(test, seed)  # type: ignore[no-any-return]
