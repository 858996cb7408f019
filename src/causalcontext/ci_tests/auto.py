"""What `auto` is made of: the first line whose kinds fit answers a query; docs/tests.md has the table and reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalcontext.ci_tests.composite import Member, seeded
from causalcontext.ci_tests.conditional_gaussian import ConditionalGaussian
from causalcontext.ci_tests.g_squared import GSquared
from causalcontext.ci_tests.labels import Label
from causalcontext.ci_tests.partial_correlation import PartialCorrelation
from causalcontext.ci_tests.protocol import Needs
from causalcontext.ci_tests.robust_change import RobustChange
from causalcontext.ci_tests.rows import RowTest
from causalcontext.ci_tests.tsagris import Tsagris
from causalcontext.data.kinds import Kind

if TYPE_CHECKING:
    from causalcontext.ci_tests.protocol import PreparedTest
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.sufficient_statistics import SufficientStatistics
    from causalcontext.views import CIQuery

KindRule = Callable[[Kind, Kind, Sequence[Kind]], bool]
"""`rule(kind of x, kind of y, kinds of the conditions)`."""


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
