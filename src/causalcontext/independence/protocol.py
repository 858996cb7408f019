"""The seam between a search and a test: a test is prepared once for a table, then answers batches of trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np

from causalcontext.questions import Outcomes, Reason, Trial

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.survey import Survey


Key = TypeVar("Key")


@runtime_checkable
class PreparedTest(Protocol):
    """A test that has seen the table: a pure function of the trial."""

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
        """The test for this table. `survey` holds the per-context moments of one pass over the rows."""
        ...


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
