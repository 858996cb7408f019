"""Partial correlation by Student's t; LR* for the context. The default for continuous columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalcontext.independence.gaussian import OTHER_LABELS, PreparedGaussian, answers_gaussian, prepare_gaussian
from causalcontext.kernels.gaussian import STUDENT

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.stock import Stock
    from causalcontext.rules import Trial


@dataclass(frozen=True)
class PartialCorrelation:
    """t-test of the partial correlation with n - rank - 2 degrees of freedom."""

    name: str = "partial-correlation"

    at_context: bool = True
    """Whether the context against a system variable is answered too."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the tests that it is made of."""
        return (self.name, *OTHER_LABELS)

    @property
    def answers_all_continuous(self) -> bool:
        """Whether a table of continuous columns needs no other test."""
        return self.at_context

    def answers(self, data: Dataset, trial: Trial) -> bool:
        """Whether all columns of a trial are continuous, but for the context."""
        return answers_gaussian(data, trial, self.at_context)

    def prepare(self, data: Dataset, stock: Stock) -> PreparedGaussian:
        """The test for this table."""
        return prepare_gaussian(data, stock, STUDENT)
