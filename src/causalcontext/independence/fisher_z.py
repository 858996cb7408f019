"""Partial correlation by Fisher's z; LR* for the context. Offered to compare with other libraries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalcontext.independence.gaussian import OTHER_LABELS, PreparedGaussian, answers_gaussian, prepare_gaussian
from causalcontext.kernels.gaussian import FISHER

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.stock import Stock
    from causalcontext.rules import Trial


@dataclass(frozen=True)
class FisherZ:
    """z-test of the partial correlation: atanh(r) sqrt(n - rank - 3) against the normal law."""

    name: str = "fisher-z"

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
        return prepare_gaussian(data, stock, FISHER)
