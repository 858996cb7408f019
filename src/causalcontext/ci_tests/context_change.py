"""A category against a number for Gaussian noise: LR*, as for the context, with conditions of any kind.

The formula is in docs/tests.md; heavy tails inflate its size, since the variance is part of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from causalcontext.ci_tests.category_columns import as_arrays
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable, untestable
from causalcontext.data.kinds import Kind
from causalcontext.kernels.rows.robust_change import change_on_rows
from causalcontext.views import Reason


@dataclass(frozen=True)
class ContextChange(RowTest):
    """LR* on rows: the same question for Gaussian noise, with conditions of any kind."""

    name: str = "context-change"
    draws: ClassVar[bool] = False

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """One number and one category, conditions of any kind."""
        return x.is_number != y.is_number

    def compare(self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator) -> Comparison:
        """LR*, its degrees of freedom and p-value."""
        statistic, df, p, reason = change_on_rows(*as_arrays(x, y, given))
        return untestable(Reason(reason)) if reason else Comparison(statistic, df, p)
