"""Partial correlation by Student's t; LR* for the context. The default for two numbers.

At the context the default is `robust-change`.
"""

from __future__ import annotations

from dataclasses import dataclass

from causalcontext.ci_tests.linear_gaussian import LinearGaussian
from causalcontext.kernels.levels.gaussian import STUDENT


@dataclass(frozen=True)
class PartialCorrelation(LinearGaussian):
    """t-test of the partial correlation with n - rank - 2 degrees of freedom."""

    name: str = "partial-correlation"
    kind: int = STUDENT
