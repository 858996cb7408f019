"""The tests behind the paper's published figures, faults included; for replication only.

Two system variables: partial correlation after a Gaussian rank transform of every column on the
rows that are used. Pairs with the context: the drop in deviance of one linear regression when
one-hot columns of the context are added. No level is dropped there, so that k degrees of freedom
are charged where k - 1 are used, and only shifts of the mean are seen. Where the context is a
condition on all rows, it enters as shifts of the mean too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from causalcontext.ci_tests.protocol import Declared, Label, Strength, grouped
from causalcontext.ci_tests.rows import standardised
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows, gaussian_ranks
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.errors import NotYetError
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.views import CIQuery, Outcomes, Reason


@dataclass(frozen=True)
class RegressionLegacy:
    """The published tests: wrong degrees of freedom at the context, blind to changes of slope and
    variance.
    """

    name: str = "regression-legacy"

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedLegacy:
        """The test for this table; of its rows, those without missing values are used."""
        categorical = [data.names[i] for i in data.system if data.kinds[i] is not Kind.CONTINUOUS]
        if categorical:
            raise NotYetError(
                f"regression-legacy takes continuous system variables; {categorical[0]!r} is not"
            )
        if len(data.contexts.positions) > 1:
            raise NotYetError(
                "regression-legacy takes one context variable, as in the paper; pick another test"
            )
        complete = complete_rows(data)
        values = np.zeros((len(data.names), int(complete.sum())))
        for position in data.system:
            values[position] = standardised(
                np.asarray(data.columns[position], dtype=np.float64)[complete]
            )
        return PreparedLegacy(values, data.codes[complete], len(data.contexts.cells), data.context)


class PreparedLegacy(Declared):
    """Cross products of the rank-transformed columns of every view, and of the raw columns for
    regressions.

    `values` have shape (N, rows), and that of the context, if there is one, is ignored; `codes` has
    the context of every row.
    """

    labels = (Label("regression-legacy", Strength.RATIO),)

    def __init__(
        self, values: Floats, codes: NDArray[np.integer], levels: int, context: int | None
    ) -> None:
        self.context = context
        self.levels = levels
        inside = [values[:, codes == level] for level in range(levels)]
        rows_inside = [part.shape[1] for part in inside]
        self.rows = np.array([values.shape[1], *rows_inside], dtype=np.int64)
        self.ranked = [_scatter(_ranked(part)) for part in (values, *inside)]
        self.total = _scatter(values)
        self.within = np.sum([_scatter(part) for part in inside], axis=0)

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order; queries of the same form are answered together."""
        statistic = np.full(len(queries), np.nan)
        df = np.full(len(queries), np.nan)
        p = np.full(len(queries), np.nan)
        n = np.zeros(len(queries), dtype=np.int64)
        reason = np.zeros(len(queries), dtype=np.int8)
        for (form, view, size), places in grouped(queries, self._form).items():
            conditions = []
            for i in places:
                conditions.append([z for z in queries[i].given if z != self.context])
            given = np.array(conditions, dtype=np.int64).reshape(len(places), size)
            pairs = np.array([queries[i][:2] for i in places], dtype=np.int64)
            answers = form(self, view, pairs, given)
            statistic[places] = answers[0]
            df[places] = answers[1]
            p[places] = answers[2]
            reason[places] = answers[3]
            n[places] = self.rows[view]
        return Outcomes(statistic, df, p, n, reason)

    def _form(self, query: CIQuery) -> tuple[_Form, int, int]:
        """The formula that answers a query, on which rows, and the size of its set."""
        form: _Form = PreparedLegacy._correlation
        if self.context in (query.x, query.y):
            form = PreparedLegacy._constant if query.view else PreparedLegacy._regression
        elif self.context in query.given and not query.view:
            form = PreparedLegacy._given_context
        return form, query.view, len(query.given) - (self.context in query.given)

    def _correlation(self, view: int, pairs: Ints, given: Ints) -> _Answers:
        """Student's t of the partial correlation of the ranks."""
        correlation, reason = _partial_correlation(self.ranked[view], pairs, given)
        df = float(self.rows[view] - 2 - given.shape[1])
        if df < SPARE_ROWS:
            return _untestable(len(pairs), Reason.FEW_ROWS)
        unexplained = np.maximum(1.0 - correlation**2, 1e-30)
        t = np.abs(correlation) * np.sqrt(df / unexplained)
        p = 2.0 * scipy.special.stdtr(df, -t)
        return correlation, np.full(len(pairs), df), p, reason

    def _given_context(self, view: int, pairs: Ints, given: Ints) -> _Answers:
        """The drop in deviance when one variable joins the other's conditions and the context's
        one-hot columns.
        """
        correlation, reason = _partial_correlation(self.within, pairs, given)
        bounded = np.minimum(np.abs(correlation), 1.0 - 1e-15)
        drop = -self.rows[0] * np.log1p(-(bounded**2))
        p = scipy.special.chdtrc(1, drop)
        return drop, np.ones(len(pairs)), p, reason

    def _regression(self, view: int, pairs: Ints, given: Ints) -> _Answers:
        """The drop in deviance when the one-hot context joins; charged with a degree of freedom for
        every level.
        """
        other = pairs.sum(axis=1, keepdims=True) - self.context
        before, untestable = _residual_scatter(self.total, other, given)
        after, _ = _residual_scatter(self.within, other, given)
        rest = np.where(untestable, 1.0, before[:, 0, 0])
        drop = self.rows[0] * np.log(rest / np.maximum(after[:, 0, 0], 1e-30 * rest))
        df = np.full(len(pairs), float(self.levels))
        p = scipy.special.chdtrc(df, drop)
        drop = np.where(untestable, np.nan, drop)
        p = np.where(untestable, np.nan, p)
        return drop, df, p, _why(untestable)

    def _constant(self, view: int, pairs: Ints, given: Ints) -> _Answers:
        """Inside one context the context is constant: nothing to test."""
        return _untestable(len(pairs), Reason.CONSTANT)


_Answers = tuple[Floats, Floats, Floats, NDArray[np.int8]]
_Form = Callable[["PreparedLegacy", int, Ints, Ints], _Answers]


def _untestable(count: int, reason: Reason) -> _Answers:
    nothing = np.full(count, np.nan)
    return nothing, nothing, nothing, np.full(count, reason, dtype=np.int8)


def _why(untestable: Bools) -> NDArray[np.int8]:
    return np.where(untestable, Reason.COLLINEAR, Reason.TESTABLE).astype(np.int8)


def _ranked(values: Floats) -> Floats:
    """Every column as normal quantiles of its ranks, shape (columns, rows)."""
    return np.array([gaussian_ranks(column) for column in values])


def _scatter(values: Floats) -> Floats:
    """Centred cross products."""
    centred = values - values.mean(axis=1, keepdims=True) if values.shape[1] else values
    return np.asarray(centred @ centred.T)


def _partial_correlation(
    scatter: Floats, pairs: Ints, given: Ints
) -> tuple[Floats, NDArray[np.int8]]:
    """The partial correlation of every pair, NaN where the conditions explain a variable."""
    left, untestable = _residual_scatter(scatter, pairs, given)
    scale = np.sqrt(np.where(untestable, 1.0, left[:, 0, 0] * left[:, 1, 1]))
    return np.where(untestable, np.nan, left[:, 0, 1] / scale), _why(untestable)


def _residual_scatter(scatter: Floats, chosen: Ints, given: Ints) -> tuple[Floats, Bools]:
    """Cross products of the residuals of `chosen` on `given`, and where one of them has nothing
    left.

    From shapes (queries, c) and (queries, s) to (queries, c, c) and (queries,).
    """
    chosen_scatter = scatter[chosen[:, :, None], chosen[:, None, :]]
    left = chosen_scatter
    if given.shape[1]:
        across = scatter[given[:, :, None], chosen[:, None, :]]
        among = scatter[given[:, :, None], given[:, None, :]]
        inverse = np.linalg.pinv(among, rcond=COLLINEAR_BELOW, hermitian=True)
        left = chosen_scatter - across.swapaxes(1, 2) @ inverse @ across
    diagonal = np.diagonal(left, axis1=1, axis2=2)
    before = np.diagonal(chosen_scatter, axis1=1, axis2=2)
    empty: Bools = np.asarray((diagonal <= COLLINEAR_BELOW * before).any(axis=1))
    return left, empty
