"""Partial correlation whose variance does not assume equal variances: the sandwich form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from causalcontext.ci_tests.designs import FEWEST_DF, added_to, base_of, columns_of
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable, untestable
from causalcontext.data.kinds import Kind
from causalcontext.kernels.arrays import Floats
from causalcontext.views import Reason


@dataclass(frozen=True)
class Sandwich(RowTest):
    """T = S / sqrt(V - S² / n) with S = Σ e_x e_y and V = Σ e_x² e_y² / (1 - h), by Student's t.

    Notes
    -----
    e are residuals on the conditions and h the leverages there. Under independence e_y² is on average (1 - h) times
    the variance of its row, whence the division (HC2); S² / n centres the products. Both keep the size at few rows.
    Categories enter by their indicators: products of all pairs of residual columns, and Hotelling's T².
    """

    name: str = "sandwich"
    draws: ClassVar[bool] = False

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """Whether both are numbers."""
        return x.is_number and y.is_number

    def compare(self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator) -> Comparison:
        """The answer for one query."""
        base = base_of(given, len(x.values))
        first, second = (added_to(base, columns_of(variable)) for variable in (x, y))
        if min(first.shape[1], second.shape[1]) == 0:
            return untestable(Reason.COLLINEAR)
        df = len(base) - base.shape[1] - 1
        if df - first.shape[1] * second.shape[1] + 1 < FEWEST_DF:
            return untestable(Reason.FEW_ROWS)
        products = (first[:, :, None] * second[:, None, :]).reshape(len(base), -1)
        return hotelling(products, np.square(base).sum(axis=1) / len(base), df)


def hotelling(products: Floats, leverage: Floats, df: int) -> Comparison:
    """Whether the columns of `products` have mean 0; T and its df for one column, else F and its first df."""
    rows, total = len(products), products.sum(axis=0)
    weight = np.where(leverage < 1.0 - 1e-9, 1.0 / np.maximum(1.0 - leverage, 1e-9), 0.0)
    variance = (products * weight[:, None]).T @ products - np.outer(total, total) / rows
    values, vectors = np.linalg.eigh(variance)
    usable = values > 1e-10 * values.max(initial=0.0)
    m = int(usable.sum())
    if m == 0:
        return untestable(Reason.COLLINEAR)
    squared = float(((vectors.T @ total)[usable] ** 2 / values[usable]).sum())
    spare = df - m + 1
    p = float(scipy.special.fdtrc(m, spare, squared * spare / (df * m)))
    if products.shape[1] == 1:
        return Comparison(math.copysign(math.sqrt(squared), total[0]), float(df), p)
    return Comparison(squared * spare / (df * m), float(m), p)
