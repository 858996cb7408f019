"""Two context variables given numbers: Wilks' lambda of their indicators, on the moments of every cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from causalcontext.ci_tests.labels import Label
from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.views import CIQuery, Contexts, Outcomes, Reason

Answer = tuple[float, float, int, int]
"""Statistic, degrees of freedom, rows, reason."""
WILKS = Label("wilks")
WILKS_PLACE = 3
"""Its place among the labels of the linear-Gaussian tests."""


def wilks(moments: Moments, contexts: Contexts, queries: Sequence[CIQuery]) -> Outcomes:
    """Bartlett's chi-squared for every query; context variables among the conditions divide it into strata."""
    answers = [_answer(moments, contexts, query) for query in queries]
    statistic, df = np.array([answer[:2] for answer in answers], dtype=np.float64).reshape(-1, 2).T
    n, reason = np.array([answer[2:] for answer in answers], dtype=np.int64).reshape(-1, 2).T
    label = np.full(len(answers), WILKS_PLACE, dtype=np.int8)
    p = scipy.special.chdtrc(df, np.maximum(statistic, 0.0))
    return Outcomes(statistic, df, p, n, reason.astype(np.int8), label)


def _answer(moments: Moments, contexts: Contexts, query: CIQuery) -> Answer:
    named = [z for z in query.given if z in contexts.positions]
    if {query.x, query.y}.intersection(contexts.fixed(query.view)):
        return np.nan, np.nan, 0, Reason.CONSTANT
    columns = [z for z in query.given if z not in named]
    views = contexts.parts(query.view, named) if named else (query.view,)
    found = [_stratum(moments, contexts, contexts.members(view), (query.x, query.y), columns) for view in views]
    tested = [answer for answer in found if not answer[3]]
    if not tested:
        return np.nan, np.nan, sum(answer[2] for answer in found), found[-1][3]
    return sum(a[0] for a in tested), sum(a[1] for a in tested), sum(a[2] for a in tested), Reason.TESTABLE


def _stratum(moments: Moments, contexts: Contexts, cells: Sequence[int], pair: tuple[int, int],
             columns: list[int]) -> Answer:  # fmt: skip
    """The answer on the rows of some cells."""
    n = int(moments.rows[list(cells)].sum())
    first, second = (_indicators(contexts, cells, end) for end in pair)
    p, q = first.shape[1], second.shape[1]
    if min(p, q) == 0:
        return np.nan, np.nan, n, Reason.CONSTANT
    if n - len(columns) - 2 - p - q < SPARE_ROWS:
        return np.nan, np.nan, n, Reason.FEW_ROWS
    left = _left_over(moments.some(cells), np.hstack([first, second]), columns)
    volumes = [_log_volume(part) for part in (left, left[:p, :p], left[p:, p:])]
    if not np.isfinite(volumes[1]) or not np.isfinite(volumes[2]):
        return np.nan, np.nan, n, Reason.COLLINEAR
    factor = n - 1 - len(columns) - (p + q + 1) / 2
    return factor * (volumes[1] + volumes[2] - volumes[0]), float(p * q), n, Reason.TESTABLE


def _indicators(contexts: Contexts, cells: Sequence[int], end: int) -> Floats:
    """One column for every level but the first that occurs, shape (cells, levels - 1)."""
    place = contexts.positions.index(end)
    codes = np.array([contexts.cells[cell][place] for cell in cells])
    return np.asarray(codes[:, None] == np.unique(codes)[1:], dtype=np.float64)


def _left_over(moments: Moments, indicators: Floats, columns: list[int]) -> Floats:
    """Correlations of indicators, which are constant inside cells, after regression on some columns."""
    k = indicators.shape[1]
    scatter = np.zeros((len(indicators), k + len(columns), k + len(columns)))
    scatter[:, k:, k:] = moments.scatter[:, columns][:, :, columns]
    joined = Moments(moments.rows, np.hstack([indicators, moments.mean[:, columns]]), scatter)
    table = joined.merged().correlation()
    if not columns:
        return table
    inverse = np.linalg.pinv(table[k:, k:], rcond=COLLINEAR_BELOW, hermitian=True)
    return np.asarray(table[:k, :k] - table[:k, k:] @ inverse @ table[k:, :k])


def _log_volume(table: Floats) -> float:
    """log det of what is left of correlations, -inf where they are singular."""
    spread = np.sqrt(np.maximum(np.diagonal(table), 0.0))
    if (spread**2 <= COLLINEAR_BELOW).any():
        return -np.inf
    values = np.linalg.eigvalsh(table / spread[:, None] / spread)
    return float(np.log(np.maximum(values, COLLINEAR_BELOW)).sum() + 2.0 * np.log(spread).sum())
