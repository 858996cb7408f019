"""Which test answers a query: the first of a list that takes columns of these kinds.

`auto` is such a list. A test that is asked for by name stands at the head of the list, and what it does not take is
answered as `auto` would: a test for two numbers need not know about categories. The log says which test it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from causalcontext.ci_tests.labels import Label
from causalcontext.ci_tests.protocol import Declared, Needs, PreparedTest, answer_in_groups
from causalcontext.views import CIQuery, Outcomes

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.sufficient_statistics import SufficientStatistics


@runtime_checkable
class Member(Protocol):
    """A test that says which queries it is made for."""

    @property
    def name(self) -> str:
        """What the test is called."""
        ...

    @property
    def labels(self) -> tuple[Label, ...]:
        """What the log calls the tests that it is made of."""
        ...

    @property
    def at_context(self) -> bool:
        """Whether it answers for a context against a system variable of its kinds too."""
        ...

    @property
    def needs(self) -> Needs:
        """Whether it looks at moments or at rows."""
        ...

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """Whether the test is made for the columns of a query."""
        ...

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedTest:
        """The test for this table."""
        ...


@dataclass(frozen=True)
class Composite:
    """A test made of others: the first of `members` that is made for the columns of a query answers it."""

    name: str
    members: tuple[Member, ...]
    seed: int = 0

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedTest:
        """The test for this table; of a table that the first member can answer alone, that one."""
        members: list[Member] = [seeded(member, self.seed) for member in self.members]
        if data.all_continuous and members[0].needs is Needs.MOMENTS and members[0].at_context:
            return members[0].prepare(data, statistics)
        return PreparedComposite(members, data, statistics)


class PreparedComposite(Declared):
    """The members of a composite, prepared for one table when they are first needed.

    Where the first member needs moments only and all columns are continuous, whole levels of pairs of system variables
    go to its kernel.
    """

    def __init__(self, members: Sequence[Member], data: Dataset, statistics: SufficientStatistics) -> None:
        self.members, self.data, self._statistics = tuple(members), data, statistics
        self.labels = tuple(label for member in members for label in member.labels)
        self._offset = [0, *accumulate(len(member.labels) for member in members)]
        self._prepared: dict[int, PreparedTest] = {}
        if data.all_continuous and members[0].needs is Needs.MOMENTS:
            self.gaussian, self.compiled_roles = self._prepare(0).gaussian, (0,)

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order, with the place of its test among `labels`."""
        return answer_in_groups(queries, self._by_member(queries), self._answer)

    def _answer(self, place: int, queries: list[CIQuery]) -> Outcomes:
        found = self._prepare(place).answer(queries)
        own = np.zeros(len(queries), dtype=np.int8) if found.label is None else found.label
        return replace(found, label=own + np.int8(self._offset[place]))

    def _by_member(self, queries: Sequence[CIQuery]) -> dict[int, list[int]]:
        """The places of the queries that each member answers."""
        found: dict[int, list[int]] = {}
        for i, query in enumerate(queries):
            place = next((k for k, member in enumerate(self.members) if member.answers(self.data, query)), None)
            if place is not None:
                found.setdefault(place, []).append(i)
        return found

    def _prepare(self, place: int) -> PreparedTest:
        if place not in self._prepared:
            self._prepared[place] = self.members[place].prepare(self.data, self._statistics)
        return self._prepared[place]


def seeded(test: Any, seed: int) -> Any:
    """The same test with another seed, if it has one."""
    if getattr(test, "seed", seed) == seed:
        return test
    if not is_dataclass(test) or isinstance(test, type) or "seed" not in {field.name for field in fields(test)}:
        return test
    return replace(test, seed=seed)
