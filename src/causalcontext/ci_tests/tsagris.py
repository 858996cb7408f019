"""Tsagris' symmetric test for columns of any kinds: both regressions, combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalcontext.ci_tests.association import association
from causalcontext.ci_tests.by_regression import regression
from causalcontext.ci_tests.designs import added_to, base_of, columns_of
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable, untestable
from causalcontext.data.kinds import Kind
from causalcontext.views import Reason


@dataclass(frozen=True)
class Tsagris(RowTest):
    """x on the conditions with and without y, and y with and without x, each by the regression of its kind.

    Notes
    -----
    Tsagris, Borboudakis, Lagani and Tsamardinos (2018): p = min(2 min(p1, p2), max(p1, p2)). Where one regression
    cannot be run, or has no information left beside the conditions, the other answers alone.
    """

    name: str = "tsagris"
    seed: int = 0

    def compare(self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator) -> Comparison:
        """The answer for one query."""
        base = base_of(given, len(x.values))
        from_x, from_y = (added_to(base, columns_of(variable)) for variable in (x, y))
        if min(from_x.shape[1], from_y.shape[1]) == 0:
            return untestable(Reason.COLLINEAR)
        if x.kind is Kind.CONTINUOUS and y.kind is Kind.CONTINUOUS:
            return association(from_x, from_y, base)
        return combined(regression(x, base, from_y, random), regression(y, base, from_x, random))


def combined(first: Comparison, second: Comparison) -> Comparison:
    """Both answers in one: the statistic and df of the one with the smaller p-value."""
    if first.reason or second.reason:
        return second if first.reason else first
    least, most = sorted((first, second), key=lambda answer: answer.p)
    return least._replace(p=min(2.0 * least.p, most.p))
