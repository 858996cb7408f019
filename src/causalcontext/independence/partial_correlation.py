"""Partial correlation by Student's t; LR* for the context. The default for continuous columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalcontext.independence.gaussian import PreparedGaussian, prepare_gaussian
from causalcontext.kernels.gaussian import STUDENT

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.stock import Stock


@dataclass(frozen=True)
class PartialCorrelation:
    """t-test of the partial correlation with n - rank - 2 degrees of freedom."""

    name: str = "partial-correlation"

    def prepare(self, data: Dataset, stock: Stock) -> PreparedGaussian:
        """The test for this table."""
        return prepare_gaussian(data, stock, STUDENT)
