"""The linear-Gaussian tests as one compiled function of (x, y, given), on moments alone.

Three ways to answer (`mode`): partial correlation in one view; partial correlations of every context combined, which
is the pooled question given R; and LR*, whether the regression of y on a set differs between contexts, which is the
question R against y. The formulas are in docs/tests.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from causalcontext.kernels.levels.projection import COLLINEAR_BELOW, extend_projection, start_projection
from causalcontext.kernels.special import chi2_upper, correlation_two_sided, normal_two_sided

ONE_VIEW, EVERY_CONTEXT, CONTEXT_CHANGE = 0, 1, 2
STUDENT, FISHER = 0, 1
TESTABLE, FEW_ROWS, CONSTANT, COLLINEAR, FEW_CONTEXTS = 0, 1, 2, 3, 4
FEWEST_DF = 5
"""A view with fewer residual degrees of freedom (or a context with fewer spare rows) is not tested."""


class Statistics(NamedTuple):
    """Everything the tests need to know about the data, for conditioning sets of one size.

    Views are numbered 0 for all rows and 1 + r for the rows of context r; `covariance` has shape (views, N, N), with
    zeros at the context's own row and column. `change_*` serve LR*: view 0 there holds only the contexts with enough
    rows, marked in `usable`; `expected[v, rank]` is the view's term of the exact mean of LR under independence.
    """

    covariance: NDArray[np.float64]
    rows: NDArray[np.int64]
    usable: NDArray[np.bool_]
    change_covariance: NDArray[np.float64]
    change_rows: int
    expected: NDArray[np.float64]
    kind: int


class Workspace(NamedTuple):
    """Scratch arrays of one thread: a factored conditioning set for every view."""

    factor: NDArray[np.float64]
    loads: NDArray[np.float64]
    moments: NDArray[np.float64]
    rank: NDArray[np.int64]
    chosen: NDArray[np.int64]
    given: NDArray[np.int64]
    weakest: NDArray[np.float64]


def workspace(views: int, size: int, graphs: int = 1) -> Workspace:
    """Scratch arrays for sets of at most `size` variables."""
    width = size + 1
    return Workspace(
        np.zeros((views, width, width)), np.zeros((views, 2, width)), np.zeros((views, width + 1, 3)),
        np.zeros((views, width + 1), dtype=np.int64), np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64), np.zeros(graphs),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def start(data: Statistics, mode: int, view: int, x: int, y: int, work: Workspace) -> None:
    """Begin a run of sets for the pair (x, y); for LR* x is ignored."""
    if mode == ONE_VIEW:
        start_projection(data.covariance[view], x, y, work.moments[0], work.rank[0])
        return
    first = x if mode == EVERY_CONTEXT else y
    start_projection(data.change_covariance, first, y, work.moments[0], work.rank[0])
    for r in range(1, data.covariance.shape[0]):
        start_projection(data.covariance[r], first, y, work.moments[r], work.rank[r])


@njit(cache=True, nogil=True)
def extend(data: Statistics, mode: int, view: int, x: int, y: int, begin: int, size: int, work: Workspace) -> None:
    """Regress on `work.given[:size]`, of which the part before `begin` is unchanged since the last call."""
    if mode == ONE_VIEW:
        extend_projection(data.covariance[view], x, y, work.given, begin, size,
                          work.factor[0], work.loads[0], work.moments[0], work.rank[0])  # fmt: skip
        return
    first = x if mode == EVERY_CONTEXT else y
    if mode == CONTEXT_CHANGE:
        extend_projection(data.change_covariance, first, y, work.given, begin, size,
                          work.factor[0], work.loads[0], work.moments[0], work.rank[0])  # fmt: skip
    for r in range(1, data.covariance.shape[0]):
        extend_projection(data.covariance[r], first, y, work.given, begin, size,
                          work.factor[r], work.loads[r], work.moments[r], work.rank[r])  # fmt: skip


@njit(cache=True, nogil=True)
def evaluate(
    data: Statistics, mode: int, view: int, x: int, y: int, size: int, work: Workspace
) -> tuple[float, float, int, int]:
    """The test of the set that was last extended to: (statistic, df, rows, reason)."""
    if mode == ONE_VIEW:
        rows = data.rows[view]
        if rows - work.rank[0, size] - 2 < FEWEST_DF:
            return math.nan, math.nan, rows, FEW_ROWS
        correlation, reason = _correlation(data.covariance[view], x, y, work.moments[0, size])
        return correlation, float(rows - work.rank[0, size] - 2), rows, reason
    if mode == EVERY_CONTEXT:
        return _every_context(data, x, y, size, work)
    return _context_change(data, y, size, work)


@njit(cache=True, nogil=True)
def tail(data: Statistics, mode: int, statistic: float, df: float) -> float:
    """The p-value of a statistic from `evaluate`."""
    if mode != ONE_VIEW:
        return chi2_upper(statistic, df)
    if data.kind == FISHER:
        return normal_two_sided(math.atanh(_inside(statistic)) * math.sqrt(df - 1.0))
    return correlation_two_sided(statistic * statistic, df)


@njit(cache=True, nogil=True)
def _correlation(covariance: NDArray[np.float64], x: int, y: int, left: NDArray[np.float64]) -> tuple[float, int]:
    """The partial correlation from residual moments, or the reason why there is none."""
    if covariance[x, x] <= 0.0 or covariance[y, y] <= 0.0:
        return math.nan, CONSTANT
    if left[0] <= COLLINEAR_BELOW * covariance[x, x] or left[1] <= COLLINEAR_BELOW * covariance[y, y]:
        return math.nan, COLLINEAR
    return left[2] / math.sqrt(left[0] * left[1]), TESTABLE


@njit(cache=True, nogil=True)
def _every_context(data: Statistics, x: int, y: int, size: int, work: Workspace) -> tuple[float, float, int, int]:
    """Σ_r (n_r - rank_r - 3) atanh(ρ_r)² over the contexts that can be tested; one degree of freedom each."""
    total, contexts, rows, last_reason = 0.0, 0, 0, FEW_ROWS
    for r in range(1, data.covariance.shape[0]):
        if data.rows[r] <= work.rank[r, size] + 3:
            continue
        correlation, reason = _correlation(data.covariance[r], x, y, work.moments[r, size])
        if reason != TESTABLE:
            last_reason = reason
            continue
        z = math.atanh(_inside(correlation))
        total += (data.rows[r] - work.rank[r, size] - 3) * z * z
        contexts += 1
        rows += data.rows[r]
    if contexts == 0:
        return math.nan, math.nan, data.rows[0], last_reason
    return total, float(contexts), rows, TESTABLE


@njit(cache=True, nogil=True)
def _context_change(data: Statistics, y: int, size: int, work: Workspace) -> tuple[float, float, int, int]:
    """LR* of "one regression of y for all contexts", Bartlett-corrected by the exact mean of LR."""
    rows = data.change_rows
    if data.usable.sum() < 2:
        return math.nan, math.nan, rows, FEW_CONTEXTS
    spread, reason = _residual_variance(data.change_covariance, y, work.moments[0, size])
    if reason != TESTABLE:
        return math.nan, math.nan, rows, reason
    ratio = rows * math.log(spread)
    df = -(work.rank[0, size] + 2)
    mean = data.expected[0, work.rank[0, size]]
    for r in range(1, data.covariance.shape[0]):
        if not data.usable[r - 1]:
            continue
        spread, reason = _residual_variance(data.covariance[r], y, work.moments[r, size])
        if reason != TESTABLE:
            return math.nan, math.nan, rows, reason
        ratio -= data.rows[r] * math.log(spread)
        df += work.rank[r, size] + 2
        mean -= data.expected[r, work.rank[r, size]]
    if df <= 0 or mean <= 0.0:
        return math.nan, math.nan, rows, COLLINEAR
    return max(ratio, 0.0) * df / mean, float(df), rows, TESTABLE


@njit(cache=True, nogil=True)
def _residual_variance(covariance: NDArray[np.float64], y: int, left: NDArray[np.float64]) -> tuple[float, int]:
    if covariance[y, y] <= 0.0:
        return math.nan, CONSTANT
    if left[1] <= COLLINEAR_BELOW * covariance[y, y]:
        return math.nan, COLLINEAR
    return left[1], TESTABLE


@njit(cache=True, nogil=True)
def _inside(correlation: float) -> float:
    """A correlation that rounding has not pushed to ±1, where atanh is infinite."""
    return min(max(correlation, -1.0 + 1e-15), 1.0 - 1e-15)


@njit(cache=True, nogil=True)
def answer_batch(data: Statistics, mode: NDArray[np.int64], view: NDArray[np.int64], x: NDArray[np.int64],
                 y: NDArray[np.int64], given: NDArray[np.int64], size: int, work: Workspace,
                 numbers: NDArray[np.float64], facts: NDArray[np.int64]) -> None:  # fmt: skip
    """Run unrelated trials with sets of one size; fill `numbers` (statistic, df, p) and `facts` (rows, reason)."""
    for i in range(x.size):
        work.given[:size] = given[i, :size]
        start(data, mode[i], view[i], x[i], y[i], work)
        extend(data, mode[i], view[i], x[i], y[i], 0, size, work)
        statistic, df, rows, reason = evaluate(data, mode[i], view[i], x[i], y[i], size, work)
        facts[i, 0] = rows
        facts[i, 1] = reason
        numbers[i, 0] = statistic
        numbers[i, 1] = df if reason == TESTABLE else math.nan
        numbers[i, 2] = tail(data, mode[i], statistic, df) if reason == TESTABLE else math.nan
