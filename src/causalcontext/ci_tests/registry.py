"""The tests by name, what `auto` is made of, and which test answers a query. A new test is one file
and one line here.

A test is a list of members: the first one that takes columns of the kinds of a query answers it.
`auto` is such a list (docs/tests.md has the table and reasons). A test that is asked for by name
stands at the head of the list, and what it does not take is answered as `auto` would: a test for
two numbers need not know about categories. The log says which test it was. The widest work is done
on the processor, or on a CUDA card where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from itertools import accumulate, combinations
from operator import is_
from typing import Any, Protocol, runtime_checkable

from causalcontext.ci_tests import protocol
from causalcontext.ci_tests.basis import ChosenCurves
from causalcontext.ci_tests.change import CautiousChange, RobustChange
from causalcontext.ci_tests.cmi_knn import CmiKnn
from causalcontext.ci_tests.conditional_gaussian import ConditionalGaussian
from causalcontext.ci_tests.contingency import ChiSquared, GSquared, TableTest
from causalcontext.ci_tests.partial_correlation import (
    FisherZ,
    GaussianRanks,
    PartialCorrelation,
    Sandwich,
)
from causalcontext.ci_tests.protocol import Declared, IndependenceTest, Label, Needs, PreparedTest
from causalcontext.ci_tests.regression_legacy import RegressionLegacy
from causalcontext.ci_tests.tsagris import Tsagris
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.errors import OptionError, check_choice, shortly
from causalcontext.views import CIQuery, Outcomes

DEVICES = ("cpu", "cuda", "auto")
USES_CARD = "the neighbours of test='cmi-knn'"


@runtime_checkable
class Member(IndependenceTest, Protocol):
    """A test that says which queries it is made for."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names that the log gives to the tests that it is made of."""

    @property
    def at_context(self) -> bool:
        """True where it answers for a context against a system variable of its kinds too."""

    @property
    def needs(self) -> Needs:
        """The part of the table that it looks at: moments or rows."""

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """True where the test is made for the columns of a query."""


@dataclass(frozen=True)
class Composite:
    """A test made of others: the first of `members` that is made for the columns of a query answers
    it.
    """

    name: str
    members: tuple[Member, ...]
    seed: int = 0

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedTest:
        """The test for this table; that of a single member where it answers alone."""
        members: list[Member] = [seeded(member, self.seed) for member in self.members]
        if data.all_continuous and members[0].needs is Needs.MOMENTS and members[0].at_context:
            return members[0].prepare(data, statistics)
        member = _first_asked(members, data)
        if isinstance(member, TableTest) and member.answers_all(data):
            return member.prepare(data, statistics)
        return PreparedComposite(members, data, statistics)


def _first_asked(members: Sequence[Member], data: Dataset) -> Member | None:
    """The first member that is asked anything about a table without numbers; None with numbers.

    Columns of one kind are treated alike, so that a column of every kind, and two of it where there
    are two, stand for all.
    """
    if any(data.kinds[position].is_number for position in data.system):
        return None
    of_kinds: dict[tuple[Kind, bool], list[int]] = {}
    for column, kind in enumerate(data.kinds):
        of_kinds.setdefault((kind, column in data.contexts.positions), []).append(column)
    columns = [column for alike in of_kinds.values() for column in alike[:2]]
    queries = [CIQuery(x, y, ()) for x, y in combinations(columns, 2)]
    for member in members:
        if any(member.answers(data, query) for query in queries):
            return member
    return None


class PreparedComposite(Declared):
    """The members of a composite, prepared for one table when they are first needed.

    Where the first member needs moments only and all columns are continuous, whole levels of pairs
    of system variables go to its kernel.
    """

    def __init__(
        self, members: Sequence[Member], data: Dataset, statistics: SufficientStatistics
    ) -> None:
        self.members = tuple(members)
        self.data = data
        self._statistics = statistics
        self.labels = tuple(label for member in members for label in member.labels)
        self._offset = [0, *accumulate(len(member.labels) for member in members)]
        self._prepared: dict[int, PreparedTest] = {}
        if data.all_continuous and members[0].needs is Needs.MOMENTS:
            self.gaussian = self._prepare(0).gaussian
            self.compiled_roles = (0,)

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order, with the place of its test among `labels`."""
        outcomes = protocol.no_outcomes(len(queries))
        for number, chosen in protocol.grouped(queries, self._member_of).items():
            member_outcomes = self._prepare(number).answer([queries[i] for i in chosen])
            protocol.put(outcomes, chosen, member_outcomes, self._offset[number])
        return outcomes

    def member_of(self, query: CIQuery) -> tuple[Member, int] | None:
        """The member that answers a query, and the place of its first label; None if none does."""
        number = self._member_of(query)
        return None if number is None else (self.members[number], self._offset[number])

    def of(self, query: CIQuery) -> PreparedTest | None:
        """The prepared test that answers a query; None if none does."""
        number = self._member_of(query)
        return None if number is None else self._prepare(number)

    def _member_of(self, query: CIQuery) -> int | None:
        """The place of the member that answers a query."""
        contexts = self.data.contexts.positions
        if 0 in self.compiled_roles and query.x not in contexts and query.y not in contexts:
            return 0
        return next(
            (k for k, member in enumerate(self.members) if member.answers(self.data, query)), None
        )

    def _prepare(self, number: int) -> PreparedTest:
        if number not in self._prepared:
            self._prepared[number] = self.members[number].prepare(self.data, self._statistics)
        return self._prepared[number]


def seeded(test: Any, seed: int) -> Any:
    """The same test with another seed, if it has one."""
    return _with(test, "seed", seed)


def on_device(test: Any, device: str) -> Any:
    """The same test with its work on that device, if it has any to give."""
    if isinstance(test, Composite):
        members = tuple(on_device(member, device) for member in test.members)
        return test if all(map(is_, members, test.members)) else replace(test, members=members)
    return _with(test, "device", device)


def _with(test: Any, field: str, value: object) -> Any:
    """The same test with another value of a field, if it is a dataclass that has the field."""
    if (
        not is_dataclass(test)
        or isinstance(test, type)
        or field not in {member_field.name for member_field in fields(test)}
    ):
        return test
    return test if getattr(test, field) == value else replace(test, **{field: value})


def note_on_device(test: Any, device: str) -> str:
    """A note that a card has nothing to do with this test; empty if it has, or is not used."""
    members = getattr(test, "members", (test,))
    if device == "cpu" or any(getattr(member, "device", "cpu") == device for member in members):
        return ""
    return f"device has no effect here: a card is used for {USES_CARD} alone"


def usable_device(asked: str) -> tuple[str, str]:
    """The device that is used, and a note on why it is not the card that would have been taken.

    Raises `OptionError` if "cuda" is asked for and there is no card that can be used.

    >>> usable_device("cpu")
    ('cpu', '')
    """
    check_choice("device", asked, DEVICES)
    if asked == "cpu":
        return "cpu", ""
    from causalcontext.kernels.cuda.card import obstacle

    reason = obstacle()
    if not reason:
        return "cuda", ""
    if asked == "cuda":
        raise OptionError(f"device is 'cuda', but {reason}; device='cpu' gives the same result")
    return "cpu", f"device 'auto' uses the processor: {reason}"


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
        ConditionalGaussian(),
        Tsagris(),
        GSquared(),
        ChiSquared(),
        CmiKnn(),
        Composite("cmi-knn-mixed", (PartialCorrelation(at_context=False), CmiKnn())),
        RegressionLegacy(),
    )
}
"""The tests that can be asked for by name. `cmi-knn-mixed` is that of the paper's right-hand panel:
`cmi-knn` wherever there are categories, the context among them."""
AUTO: tuple[Member, ...] = (
    PartialCorrelation(at_context=False),
    # the context among the categories
    RobustChange(pair=frozenset({Kind.CATEGORICAL, Kind.CONTINUOUS})),
    GSquared(pair=frozenset({Kind.CATEGORICAL})),
    ConditionalGaussian(pair=frozenset({Kind.CONTINUOUS})),
    Tsagris(),  # whatever is left: ordered columns, counts, and categories given numbers
)


def find_test(test: str | IndependenceTest, seed: int = 0) -> IndependenceTest:
    """The test of that name, with `auto` for what it does not take; an object of one's own is
    treated alike.

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
        raise OptionError(
            f"test is {shortly(test)}, expected a name ({', '.join(TESTS)}) or an object with a"
            " name and a method prepare(data, statistics)"
        )
    ours = TESTS.get(test.name)
    if ours is not None and not isinstance(test, type(ours)):
        raise OptionError(
            f"test is an object named {test.name!r}, as a test of the library is; give a test of"
            " your own another name"
        )
    if isinstance(test, Member):
        return Composite(test.name, (test, *AUTO), seed)
    return seeded(test, seed)  # type: ignore[no-any-return]
