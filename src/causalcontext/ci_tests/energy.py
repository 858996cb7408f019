"""`energy`: does the distribution of a number differ between the levels of a column? Nothing is
given.

Rizzo and Székely (2010), "DISCO analysis: a nonparametric extension of analysis of variance".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import scipy

from causalcontext.ci_tests.designs import columns_of
from causalcontext.ci_tests.protocol import Strength
from causalcontext.ci_tests.rows import (
    Comparison,
    RowTest,
    Variable,
    check_permutations,
    permutation_p,
    untestable,
)
from causalcontext.data.columns import Kind
from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.rows.permutations import dispersion_within
from causalcontext.views import Reason


@dataclass(frozen=True)
class EnergyDistance(RowTest):
    """Energy distance between the levels of a categorical (or ordered) column, tested by
    permutations.

    With d the mean distance |y - y'| over all ordered pairs of a group, the total dispersion T = n
    d / 2 of all rows is that within the levels, W = sum of n_r d_r / 2, plus that between them, T -
    W: a weighted sum of energy distances, which is 0 in the population only if all levels share one
    distribution. The statistic is F = [(T - W) / (k - 1)] / [W / (n - k)], for k levels;
    permutations keep T, so each costs one pass over sorted rows. Columns for which there are fewer
    arrangements than permutations are untestable.
    """

    seed: int = 0
    permutations: int = 999
    enough: int | None = (
        50  # permutations that reach the observed statistic before drawing stops; None: draw all
    )
    strength: ClassVar[Strength] = Strength.NONE
    name: str = field(default="energy", init=False, repr=False)

    def __post_init__(self) -> None:
        check_permutations(self.permutations, self.enough)

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """Only a categorical or ordered column against a number, with nothing given."""
        return x.is_number != y.is_number and not given

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The statistic F and its p-value."""
        if not self.takes(x.kind, y.kind, [z.kind for z in given]):
            raise OptionError(
                "test='energy' compares a categorical column with a number, and nothing given; "
                "test='cmi-knn' takes any columns"
            )
        number, group = (x, y) if x.is_number else (y, x)
        sizes = np.bincount(group.codes)
        log_arrangements = (
            scipy.special.gammaln(sizes.sum() + 1) - scipy.special.gammaln(sizes + 1).sum()
        )
        if log_arrangements < np.log(self.permutations):
            return untestable(Reason.FEW_ROWS)
        order = np.argsort(number.values, kind="stable")
        values = columns_of(number)[order, 0]
        codes = group.codes[order]
        total = dispersion_within(np.zeros((1, values.size), np.int64), values, 1)[0]

        def statistics(assignments: Ints) -> Floats:
            within = dispersion_within(assignments, values, group.levels)
            between = np.maximum(total - within, 0.0) / (group.levels - 1)
            with np.errstate(
                divide="ignore"
            ):  # infinite where there is no dispersion within levels
                left = np.where(within > 1e-12 * total, within, 0.0) / max(
                    values.size - group.levels, 1
                )
                return np.asarray(between / left)

        def draw(first: int, count: int) -> Floats:
            return statistics(np.array([random.permutation(codes) for _ in range(count)]))

        observed = float(statistics(codes[np.newaxis])[0])
        return Comparison(
            observed, np.nan, permutation_p(observed, draw, self.permutations, self.enough)
        )
