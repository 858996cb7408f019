"""Partial correlation of normal scores: every number becomes the normal quantile of its rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from causalcontext.ci_tests.designs import added_to, association, base_of, columns_of
from causalcontext.ci_tests.protocol import Strength
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable
from causalcontext.data.dataset import gaussian_ranks
from causalcontext.data.kinds import Kind


@dataclass(frozen=True)
class GaussianRanks(RowTest):
    """The t-test of the partial correlation after a rank transform of the numbers on the rows used.

    Notes
    -----
    Harmless for outliers and monotone scales; it bends linear mechanisms, so that given variables may not be fully
    removed. Categories enter by their indicators; with one among the pair the test is Rao's F of Wilks' lambda.
    """

    name: str = "gaussian-ranks"
    draws: ClassVar[bool] = False
    strength: ClassVar[Strength] = Strength.CORRELATION

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """Whether both are numbers."""
        return x.is_number and y.is_number

    def compare(self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator) -> Comparison:
        """The answer for one query."""
        base = base_of([scores_of(variable) for variable in given], len(x.values))
        first, second = (added_to(base, columns_of(scores_of(variable))) for variable in (x, y))
        return association(first, second, base)


def scores_of(variable: Variable) -> Variable:
    """A number as normal quantiles of its ranks, (rank - 1/2) / n, ties sharing a rank; other kinds as they are."""
    return Variable(gaussian_ranks(variable.values), Kind.CONTINUOUS) if variable.is_number else variable
