"""A category against a number: does the regression of the number on the conditions differ between the categories?

Three questions share the level, the mean most of it: shifts of the mean (F), slopes (F) and spread (the larger p of
Brown-Forsythe and Bartlett). A gate asks whether the number given the conditions is linear with an even spread at all.
If it is not, a difference between categories proves nothing, and another model has to agree: a logit of the category on
the conditions that needs the number. What was compared, and why this: docs/decisions/change-test.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from causalcontext.ci_tests.category_columns import as_arrays
from causalcontext.ci_tests.clear_changes import PreparedChange
from causalcontext.ci_tests.rows import Comparison, PreparedRows, RowTest, Variable, untestable
from causalcontext.data.dataset import thinned
from causalcontext.data.kinds import Kind
from causalcontext.kernels.rows.robust_change import GATE_LEVEL, Parts, robust_change
from causalcontext.views import Reason

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.sufficient_statistics import SufficientStatistics

LOOK_BELOW = 0.2
"""The gate can only raise a p-value, so above this one it is not looked at: no decision depends on it."""


@dataclass(frozen=True)
class RobustChange(RowTest):
    """Mean, slopes and spread of a number, compared between categories; right in size for heavy and skewed tails.

    Parameters
    ----------
    gate : float
        The level of the two checks that the number given the conditions is linear with an even spread; 0 trusts in
        both. A search asks many questions and each may open the gate in vain, which costs links where the conditions
        nearly determine the category.
    most_rows : int
        Of longer tables that many rows are asked, equally many of every context; so time ends to grow with rows.
    seed : int
        Draws them.
    """

    name: str = "robust-change"
    draws: ClassVar[bool] = False
    gate: float = GATE_LEVEL
    most_rows: int = 20_000
    seed: int = 0

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedRows:
        """The test for this table, or for some of the rows of a long one; clear cases are told from moments."""
        return PreparedChange(self, thinned(data, self.most_rows, self.seed), self.seed)

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """One number and one category, conditions of any kind."""
        return x.is_number != y.is_number

    def compare(self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator) -> Comparison:
        """F, degrees of freedom of the part that decides, and the p-value of all."""
        found = robust_change(*as_arrays(x, y, given), LOOK_BELOW, self.gate)
        return untestable(Reason(found.reason)) if found.reason else Comparison(found.statistic, found.df, found.p)


def change_parts(x: Variable, y: Variable, given: Sequence[Variable] = (), gate: float = GATE_LEVEL) -> Parts:
    """What has changed: every p-value behind `RobustChange`, the gate's included.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> group = Variable(np.repeat([0.0, 1.0], 100), Kind.CATEGORICAL, 2)
    >>> number = Variable(generator.normal(scale=1 + group.values), Kind.CONTINUOUS)
    >>> found = change_parts(group, number)
    >>> found.variance < 0.001 < found.mean
    True
    """
    found: Parts = robust_change(*as_arrays(x, y, given), 2.0, gate)
    return found
