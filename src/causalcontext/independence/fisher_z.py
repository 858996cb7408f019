"""Partial correlation by Fisher's z; LR* for the context. Offered to compare with other libraries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalcontext.independence.gaussian import PreparedGaussian, prepare_gaussian
from causalcontext.kernels.gaussian import FISHER

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.stock import Stock


@dataclass(frozen=True)
class FisherZ:
    """z-test of the partial correlation: atanh(r) sqrt(n - rank - 3) against the normal law."""

    name: str = "fisher-z"

    def prepare(self, data: Dataset, stock: Stock) -> PreparedGaussian:
        """The test for this table."""
        return prepare_gaussian(data, stock, FISHER)
