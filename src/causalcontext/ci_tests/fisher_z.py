"""Partial correlation by Fisher's z; LR* for the context. Offered to compare with other libraries."""

from __future__ import annotations

from dataclasses import dataclass

from causalcontext.ci_tests.linear_gaussian import LinearGaussian
from causalcontext.kernels.levels.gaussian import FISHER


@dataclass(frozen=True)
class FisherZ(LinearGaussian):
    """z-test of the partial correlation: atanh(r) sqrt(n - rank - 3) against the normal law."""

    name: str = "fisher-z"
    kind: int = FISHER
