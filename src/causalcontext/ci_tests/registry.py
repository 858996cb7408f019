"""The tests by name, and what `auto` is made of. A new test is one file and one line here.

The first line of `AUTO` whose kinds fit answers a query; docs/tests.md has the table and reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from causalcontext.ci_tests.basis import ChosenCurves
from causalcontext.ci_tests.change import CautiousChange, ContextChange, RobustChange
from causalcontext.ci_tests.cmi_knn import CmiKnn
from causalcontext.ci_tests.composite import Composite, Member, seeded
from causalcontext.ci_tests.conditional_gaussian import ConditionalGaussian
from causalcontext.ci_tests.energy import EnergyDistance
from causalcontext.ci_tests.g_squared import GSquared
from causalcontext.ci_tests.gaussian_ranks import GaussianRanks
from causalcontext.ci_tests.partial_correlation import FisherZ, PartialCorrelation
from causalcontext.ci_tests.protocol import IndependenceTest, Label, Needs
from causalcontext.ci_tests.rcot import Rcot
from causalcontext.ci_tests.regression_legacy import RegressionLegacy
from causalcontext.ci_tests.rows import RowTest
from causalcontext.ci_tests.sandwich import Sandwich
from causalcontext.ci_tests.tsagris import Tsagris
from causalcontext.data.kinds import Kind
from causalcontext.errors import OptionError, check_choice, shortly

if TYPE_CHECKING:
    from causalcontext.ci_tests.protocol import PreparedTest
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.sufficient_statistics import SufficientStatistics
    from causalcontext.views import CIQuery

KindRule = Callable[[Kind, Kind, Sequence[Kind]], bool]
"""`rule(kind of x, kind of y, kinds of the conditions)`."""
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


@dataclass(frozen=True)
class ForKinds:
    """A test for the kinds of columns that a rule names."""

    rule: KindRule
    test: RowTest
    seed: int = 0

    @property
    def name(self) -> str:
        """What the test is called."""
        return self.test.name

    @property
    def labels(self) -> tuple[Label, ...]:
        """What the log calls the test."""
        return self.test.labels

    @property
    def needs(self) -> Needs:
        """What the test looks at."""
        return self.test.needs

    @property
    def at_context(self) -> bool:
        """Whether it answers for a context too."""
        return self.test.at_context

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """Whether the rule names the kinds of the columns of a query."""
        return self.rule(data.kinds[query.x], data.kinds[query.y], [data.kinds[z] for z in query.given])

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedTest:
        """The test for this table."""
        prepared: PreparedTest = seeded(self.test, self.seed).prepare(data, statistics)
        return prepared


def two_categories(x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
    """Two categorical columns, and no number among the conditions."""
    return {x, y} == {Kind.CATEGORICAL} and not any(kind.is_number for kind in given)


def category_and_continuous(x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
    """A categorical column, the context among them, and a continuous one."""
    return {x, y} == {Kind.CATEGORICAL, Kind.CONTINUOUS}


def two_continuous(x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
    """Two continuous columns, given what else there is."""
    return {x, y} == {Kind.CONTINUOUS}


def anything(x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
    """Whatever is left: ordered columns, counts, and categories given numbers."""
    return True


AUTO: tuple[Member, ...] = (
    PartialCorrelation(at_context=False),
    ForKinds(category_and_continuous, RobustChange()),
    ForKinds(two_categories, GSquared()),
    ForKinds(two_continuous, ConditionalGaussian()),
    ForKinds(anything, Tsagris()),
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
