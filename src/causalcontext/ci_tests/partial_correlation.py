"""Partial correlation in four forms: by Student's t, the default for two numbers, by Fisher's z, of
normal scores, and with a variance that does not assume equal variances.

The first two see moments instead of rows: all columns are continuous, contexts as they come, and
LR* answers for the context, where the default is `robust-change`. Fisher's z is offered to compare
with other libraries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from causalcontext.ci_tests.designs import added_to, association, base_of, columns_of
from causalcontext.ci_tests.gaussian import (
    FISHER_LABEL,
    OTHER_LABELS,
    STUDENT_LABEL,
    PreparedGaussian,
)
from causalcontext.ci_tests.protocol import Label, Needs, Strength
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable, untestable
from causalcontext.ci_tests.settings import FEWEST_DF
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, gaussian_ranks
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.levels.gaussian import FISHER, STUDENT
from causalcontext.views import CIQuery, Reason


@dataclass(frozen=True)
class LinearGaussian:
    """Partial correlation for two system variables, LR* for a context against one of them, Wilks
    for two contexts.
    """

    name: str
    kind: int  # `STUDENT` or `FISHER`: how the p-value of a partial correlation is computed
    at_context: bool = True  # whether a context against another variable is answered too
    needs: ClassVar[Needs] = Needs.MOMENTS

    @property
    def labels(self) -> tuple[Label, ...]:
        """The names that the log gives to the tests that it is made of."""
        return (FISHER_LABEL if self.kind == FISHER else STUDENT_LABEL, *OTHER_LABELS)

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """True where all columns of a query are continuous, but for contexts; these may be ends if
        `at_context`.
        """
        contexts = data.contexts.positions
        if not self.at_context and (query.x in contexts or query.y in contexts):
            return False
        columns = (query.x, query.y, *query.given)
        return all(
            column in contexts or data.kinds[column] is Kind.CONTINUOUS for column in columns
        )

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedGaussian:
        """The test for this table."""
        return PreparedGaussian(statistics.of_columns(data), data.contexts, self.kind)


@dataclass(frozen=True)
class PartialCorrelation(LinearGaussian):
    """t-test of the partial correlation with n - rank - 2 degrees of freedom."""

    name: str = "partial-correlation"
    kind: int = STUDENT


@dataclass(frozen=True)
class FisherZ(LinearGaussian):
    """z-test of the partial correlation: atanh(r) sqrt(n - rank - 3) against the normal law."""

    name: str = "fisher-z"
    kind: int = FISHER


@dataclass(frozen=True)
class GaussianRanks(RowTest):
    """The t-test of the partial correlation after a rank transform of the numbers on the rows used.

    Harmless for outliers and monotone scales; it bends linear mechanisms, so that given variables
    may not be fully removed. Categories enter by their indicators; with one among the pair the test
    is Rao's F of Wilks' lambda.
    """

    name: str = "gaussian-ranks"
    draws: ClassVar[bool] = False
    transforms: ClassVar[bool] = True
    strength: ClassVar[Strength] = Strength.CORRELATION

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """True where both are numbers."""
        return x.is_number and y.is_number

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The answer for one query."""
        base = base_of([scores_of(variable) for variable in given], len(x.values))
        first = added_to(base, columns_of(scores_of(x)))
        second = added_to(base, columns_of(scores_of(y)))
        return association(first, second, base)


def scores_of(variable: Variable) -> Variable:
    """A number as normal quantiles of its ranks, (rank - 1/2) / n, ties sharing a rank; other kinds
    as they are.
    """
    if not variable.is_number:
        return variable
    return Variable(gaussian_ranks(variable.values), Kind.CONTINUOUS)


@dataclass(frozen=True)
class Sandwich(RowTest):
    """T = S / sqrt(V - S² / n) with S = Σ e_x e_y and V = Σ e_x² e_y² / (1 - h), by Student's t.

    e are residuals on the conditions and h the leverages there. Under independence e_y² is on
    average (1 - h) times the variance of its row, whence the division (HC2); S² / n centres the
    products. Both keep the size at few rows. Categories enter by their indicators: products of all
    pairs of residual columns, and Hotelling's T².
    """

    name: str = "sandwich"
    draws: ClassVar[bool] = False

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """True where both are numbers."""
        return x.is_number and y.is_number

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The answer for one query."""
        base = base_of(given, len(x.values))
        first = added_to(base, columns_of(x))
        second = added_to(base, columns_of(y))
        if min(first.shape[1], second.shape[1]) == 0:
            return untestable(Reason.COLLINEAR)
        df = len(base) - base.shape[1] - 1
        if df - first.shape[1] * second.shape[1] + 1 < FEWEST_DF:
            return untestable(Reason.FEW_ROWS)
        products = (first[:, :, None] * second[:, None, :]).reshape(len(base), -1)
        return hotelling(products, np.square(base).sum(axis=1) / len(base), df)


def hotelling(products: Floats, leverage: Floats, df: int) -> Comparison:
    """The test of "the columns of `products` have mean 0": T and its df for one column, else F and
    its first df.

    Parameters
    ----------
    products : ndarray of shape (rows, pairs)
        Products of residual columns of x and y.
    leverage : ndarray of shape (rows,)
        Leverages of the rows in the regression on the conditions.
    df : int
        Residual degrees of freedom of that regression.

    Returns
    -------
    Comparison
        T² = S' V⁻¹ S with S the column sums and V their covariance, and
        F = T² (df - m + 1) / (df m) for m columns that are no functions of each other.
    """
    rows = len(products)
    total = products.sum(axis=0)
    weight = np.where(leverage < 1.0 - 1e-9, 1.0 / np.maximum(1.0 - leverage, 1e-9), 0.0)
    variance = (products * weight[:, None]).T @ products - np.outer(total, total) / rows
    values, vectors = np.linalg.eigh(variance)
    usable = values > 1e-10 * values.max(initial=0.0)
    m = int(usable.sum())
    if m == 0:
        return untestable(Reason.COLLINEAR)
    squared = float(((vectors.T @ total)[usable] ** 2 / values[usable]).sum())
    spare = df - m + 1
    f = squared * spare / (df * m)
    p = float(scipy.special.fdtrc(m, spare, f))
    if products.shape[1] == 1:
        t = math.copysign(math.sqrt(squared), total[0])
        return Comparison(t, float(df), p)
    return Comparison(f, float(m), p)
