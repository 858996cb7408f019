"""The seam between a search and a test: a test is prepared once for a table, then answers batches of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from causalcontext.rules import Trial
from causalcontext.verdicts import Outcomes

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.stock import Stock


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

    def prepare(self, data: Dataset, stock: Stock) -> PreparedTest:
        """The test for this table. `stock` holds the per-context moments of one pass over the rows."""
        ...
