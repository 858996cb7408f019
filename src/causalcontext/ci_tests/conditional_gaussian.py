"""Tests of the conditional Gaussian model: numbers are Gaussian given categories, with their own
slopes for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from causalcontext.ci_tests.designs import (
    added_to,
    association,
    base_of,
    columns_of,
    parts_of,
    strata_of,
)
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable, as_variable, untestable
from causalcontext.ci_tests.settings import FEWEST_DF, USABLE_SHARE
from causalcontext.data.columns import Kind
from causalcontext.kernels.arrays import Floats
from causalcontext.views import Reason

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class ConditionalGaussian(RowTest):
    """Two numbers: partial correlations of every stratum. A number and a category: LR* between the
    categories.

    Two categories are compared by Wilks' lambda of their indicators, which is no part of the model.
    """

    name: str = "conditional-gaussian"
    pair: frozenset[Kind] | None = None
    draws: ClassVar[bool] = False

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """True where at least one of the two is a number."""
        return x.is_number or y.is_number

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The answer for one query."""
        if x.is_number != y.is_number:
            if x.is_number:
                return change_between(y, x, given)
            return change_between(x, y, given)
        categories = [variable for variable in given if not variable.is_number]
        if x.is_number and categories:
            parts = parts_of(strata_of(categories, len(x.values)))
            numbers = [variable for variable in given if variable.is_number]
            terms = stratum_terms(x, y, numbers, parts)
            if sum(rows for _, rows in terms) >= USABLE_SHARE * len(x.values):
                statistic = sum(term for term, _ in terms)
                df = float(len(terms))
                p = float(scipy.special.chdtrc(df, statistic))
                return Comparison(statistic, df, p)
        base = base_of(given, len(x.values))
        return association(added_to(base, columns_of(x)), added_to(base, columns_of(y)), base)


def stratum_terms(
    x: Variable, y: Variable, numbers: Sequence[Variable], parts: Sequence[Rows]
) -> list[tuple[float, int]]:
    """(n - q - 3) atanh(r)² and n of strata with rows to spare, where neither variable is a
    function of the numbers.

    r is the partial correlation of x and y given q numbers in a stratum of n rows. Under
    independence each term is about chi-squared with one degree of freedom, and so their sum is with
    as many as there are terms.
    """
    terms = []
    for rows in parts:
        base = _base(numbers, rows)
        ends = [
            added_to(base, columns_of(end))
            for end in (_part(x, rows), _part(y, rows))
            if end is not None
        ]
        spare = rows.size - base.shape[1] - 2
        if spare > 0 and sum(end.shape[1] for end in ends) == 2:
            correlation = float(ends[0][:, 0] @ ends[1][:, 0]) / rows.size
            bounded = np.clip(correlation, -1.0 + 1e-15, 1.0 - 1e-15)
            terms.append((spare * float(np.arctanh(bounded)) ** 2, rows.size))
    return terms


def change_between(category: Variable, number: Variable, given: Sequence[Variable]) -> Comparison:
    """LR*: whether the regression of the number on the conditions, variance included, differs
    between categories.

    The formula of `context-change` (docs/tests.md), with categorical conditions as indicators.
    Categories with fewer than 5 rows beyond the coefficients of their own fit leave.
    """
    if added_to(base_of(given, len(number.values)), columns_of(category)).shape[1] == 0:
        return untestable(Reason.COLLINEAR)
    parts = [
        rows
        for rows in parts_of(category.codes)
        if rows.size - _base(given, rows).shape[1] >= FEWEST_DF
    ]
    if len(parts) < 2:
        return untestable(Reason.FEW_CONTEXTS)
    whole = _gaussian_fit(number, given, np.concatenate(parts))
    fits = [_gaussian_fit(number, given, rows) for rows in parts]
    each = [fit for fit in fits if fit is not None]
    if whole is None or len(each) < len(parts):
        return untestable(Reason.COLLINEAR)
    together = np.array(whole)
    apart = np.sum(each, axis=0)
    ratio, expected, fewer = together - apart
    df = -float(fewer)
    statistic = max(float(ratio * df / expected), 0.0)
    return Comparison(statistic, df, float(scipy.special.chdtrc(df, statistic)))


def _part(variable: Variable, rows: Rows) -> Variable | None:
    return as_variable(variable.values[rows], variable.kind)


def _base(given: Sequence[Variable], rows: Rows) -> Floats:
    return base_of([z for z in (_part(z, rows) for z in given) if z is not None], rows.size)


def _gaussian_fit(
    number: Variable, given: Sequence[Variable], rows: Rows
) -> tuple[float, float, float] | None:
    """n log(RSS / n), its mean for Gaussian noise of variance 1, and the parameters; None where
    nothing is left.
    """
    here = _part(number, rows)
    base = _base(given, rows)
    n = rows.size
    if here is None:
        return None
    column = here.values - here.values.mean()
    left = column - base @ (base.T @ column / n)
    if left @ left <= 1e-10 * (column @ column):
        return None
    log_variance = float(np.log(left @ left / n))
    expected = n * (float(scipy.special.digamma((n - base.shape[1]) / 2)) + np.log(2 / n))
    parameters = base.shape[1] + 1.0
    return n * log_variance, expected, parameters
