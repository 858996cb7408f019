"""The seam between a search and a test: a test is prepared once for a table, then answers batches of trials.

A test *declares* what it can do; nothing is found out by its name. What a prepared test declares: the names of the
tests that may answer, with what their statistics mean (`labels`), and whether a kernel on moments answers whole levels
for it (`gaussian`, `compiled_roles`). `Declared` is a base class with the declarations of a plain test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np

from causalcontext.independence.labels import Label
from causalcontext.questions import Outcomes, Reason, Trial

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.survey import Survey
    from causalcontext.independence.gaussian import PreparedGaussian


Key = TypeVar("Key")


class Needs(StrEnum):
    """What a test looks at."""

    MOMENTS = "moments"
    ROWS = "rows"


@runtime_checkable
class PreparedTest(Protocol):
    """A test that has seen the table: a pure function of the trial."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The tests that may answer; an outcome says which did by its place here."""
        ...

    @property
    def gaussian(self) -> PreparedGaussian | None:
        """The linear-Gaussian test whose kernel answers whole levels, if there is one."""
        ...

    @property
    def compiled_roles(self) -> tuple[int, ...]:
        """With how many context variables in a pair that kernel answers: none of them, one."""
        ...

    def answer(self, trials: Sequence[Trial]) -> Outcomes:
        """One outcome for every trial, in order; never an exception for a trial that cannot be run."""
        ...


@runtime_checkable
class IndependenceTest(Protocol):
    """What `discover(..., test=...)` accepts: a name, and a way to look at the table once."""

    @property
    def name(self) -> str:
        """What the test is called in settings and logs."""
        ...

    def prepare(self, data: Dataset, survey: Survey) -> PreparedTest:
        """The test for this table. `survey` holds the moments of every cell, from one pass over the rows."""
        ...


class Declared:
    """What a prepared test declares if it answers batches of trials and nothing else."""

    labels: tuple[Label, ...] = ()
    gaussian: PreparedGaussian | None = None
    compiled_roles: tuple[int, ...] = ()


class Plain(Declared):
    """A prepared test of one's own that has no more than a method `answer`."""

    def __init__(self, name: str, prepared: PreparedTest) -> None:
        self.labels, self._prepared = (Label(name),), prepared

    def answer(self, trials: Sequence[Trial]) -> Outcomes:
        """One outcome for every trial, in order; the name of the test is all that is known about it."""
        return replace(self._prepared.answer(trials), label=None)


def prepared_test(test: IndependenceTest, data: Dataset, survey: Survey) -> PreparedTest:
    """The test for a table, with every declaration that a search relies on."""
    prepared = test.prepare(data, survey)
    return prepared if isinstance(prepared, (Declared, PreparedTest)) else Plain(test.name, prepared)


def answer_in_groups(
    trials: Sequence[Trial], groups: Mapping[Key, list[int]], answer: Callable[[Key, list[Trial]], Outcomes]
) -> Outcomes:
    """The outcomes of trials that are answered group by group, in the order of the trials.

    Parameters
    ----------
    trials : sequence of Trial
    groups : mapping from key to list of int
        The places of the trials of every group; what is in none has no test.
    answer : function
        `answer(key, trials)`: the outcomes of one group.
    """
    numbers = np.full((3, len(trials)), np.nan)
    n = np.zeros(len(trials), dtype=np.int64)
    reason = np.full(len(trials), Reason.NO_TEST, dtype=np.int8)
    label = np.zeros(len(trials), dtype=np.int8)
    for key, chosen in groups.items():
        found = answer(key, [trials[i] for i in chosen])
        numbers[:, chosen] = found.statistic, found.df, found.p
        n[chosen], reason[chosen] = found.n, found.reason
        label[chosen] = 0 if found.label is None else found.label
    return Outcomes(numbers[0], numbers[1], numbers[2], n, reason, label)
