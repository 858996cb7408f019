"""Which test answers a trial: the first of a list that takes columns of these kinds.

`auto` is such a list. A test that is asked for by name stands at the head of the list, and what it does not take is
answered as `auto` would: a test for two numbers need not know about categories. The log says which test it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from causalcontext.independence.gaussian import PreparedGaussian, moments_of
from causalcontext.independence.protocol import PreparedTest
from causalcontext.rules import Trial
from causalcontext.verdicts import Outcomes, Reason

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.stock import Stock


@runtime_checkable
class Member(Protocol):
    """A test that says which trials it is made for."""

    @property
    def name(self) -> str:
        """What the test is called."""
        ...

    def answers(self, data: Dataset, trial: Trial) -> bool:
        """Whether the test is made for the columns of a trial."""
        ...

    def prepare(self, data: Dataset, stock: Stock) -> PreparedTest:
        """The test for this table."""
        ...


@dataclass(frozen=True)
class Choice:
    """A test made of others: the first of `members` that is made for the columns of a trial answers it."""

    name: str
    members: tuple[Member, ...]
    seed: int = 0

    def prepare(self, data: Dataset, stock: Stock) -> PreparedTest:
        """The test for this table; of a table that the first member can answer alone, that one."""
        members: list[Member] = [seeded(member, self.seed) for member in self.members]
        if data.all_continuous and getattr(members[0], "answers_all_continuous", False):
            return members[0].prepare(data, stock)
        return PreparedChoice(members, data, stock)


class PreparedChoice:
    """The members of a choice, prepared for one table when they are first needed.

    Attributes
    ----------
    labels : tuple of str
        The names of all tests that may answer.
    moments : PreparedGaussian or None
        The linear-Gaussian member, which keeps per-context moments.
    compiled : PreparedGaussian or None
        The same, if it answers every trial of two system variables, so that whole levels can go to its kernel.
    """

    def __init__(self, members: Sequence[Member], data: Dataset, stock: Stock) -> None:
        self.members, self.data, self._stock = tuple(members), data, stock
        names = [getattr(member, "labels", (member.name,)) for member in members]
        self.labels: tuple[str, ...] = tuple(name for own in names for name in own)
        self._offset = [0, *accumulate(len(own) for own in names)]
        self._prepared: dict[int, PreparedTest] = {}
        gaussian = next((place for place, own in enumerate(names) if len(own) > 1), None)
        self.moments = None if gaussian is None else moments_of(self._prepare(gaussian))
        self.compiled = self.moments if gaussian == 0 and data.all_continuous else None

    def answer(self, trials: Sequence[Trial]) -> Outcomes:
        """One outcome for every trial, in order, with the place of its test among `labels`."""
        numbers = np.full((3, len(trials)), np.nan)
        n = np.zeros(len(trials), dtype=np.int64)
        reason = np.full(len(trials), Reason.NO_TEST, dtype=np.int8)
        label = np.zeros(len(trials), dtype=np.int8)
        for place, chosen in self._by_member(trials).items():
            found = self._prepare(place).answer([trials[i] for i in chosen])
            numbers[:, chosen] = found.statistic, found.df, found.p
            n[chosen], reason[chosen] = found.n, found.reason
            label[chosen] = self._offset[place] + self._labels_within(place, [trials[i] for i in chosen])
        return Outcomes(numbers[0], numbers[1], numbers[2], n, reason, label)

    def _by_member(self, trials: Sequence[Trial]) -> dict[int, list[int]]:
        """The places of the trials that each member answers."""
        found: dict[int, list[int]] = {}
        for i, trial in enumerate(trials):
            place = next((k for k, member in enumerate(self.members) if member.answers(self.data, trial)), None)
            if place is not None:
                found.setdefault(place, []).append(i)
        return found

    def _prepare(self, place: int) -> PreparedTest:
        if place not in self._prepared:
            self._prepared[place] = self.members[place].prepare(self.data, self._stock)
        return self._prepared[place]

    def _labels_within(self, place: int, trials: Sequence[Trial]) -> Any:
        """Which of a member's own labels; a linear-Gaussian test has three."""
        if not isinstance(self._prepared[place], PreparedGaussian):
            return 0
        at_context = [self.data.context in (trial.x, trial.y) for trial in trials]
        by_context = [self.data.context in trial.given for trial in trials]
        return np.where(at_context, 2, np.where(by_context, 1, 0))


def seeded(test: Any, seed: int) -> Any:
    """The same test with another seed, if it has one."""
    if not is_dataclass(test) or isinstance(test, type) or "seed" not in {field.name for field in fields(test)}:
        return test
    return replace(test, seed=seed)
