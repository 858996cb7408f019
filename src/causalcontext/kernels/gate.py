"""Is y given Z linear with one variance inside the contexts? If not, does the context need y beside Z?

The first two checks are made inside the contexts, so that a change between contexts does not disturb them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from causalcontext.kernels.change import Fits, Groups, cross_products, residuals_of, sweep
from causalcontext.kernels.logit import logit_likelihood
from causalcontext.kernels.special import chi2_upper, f_upper

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def curvature(groups: Groups, fits: Fits, squares: bool) -> float:
    """p-value of terms that are not linear in Z but common to all contexts: squares, and powers of the common fit."""
    m, n = groups.rows.shape[1] - 1, groups.rows.shape[0]
    fitted = groups.rows[:, m] - residuals_of(groups, fits, 0)
    extra = (m if squares else 0) + 2
    table = np.empty((n, m + extra + 1))
    scale = math.sqrt(max(np.mean(fitted * fitted), 1e-300))
    for i in range(n):
        for j in range(m):
            table[i, j] = groups.rows[i, j]
            if squares:
                table[i, m + j] = groups.rows[i, j] ** 2
        value = fitted[i] / scale
        table[i, m + extra - 2] = value * value
        table[i, m + extra - 1] = value * value * value
        table[i, m + extra] = groups.rows[i, m]
    return _common_terms(table, groups.start, m, extra)


@njit(cache=True, nogil=True)
def _common_terms(table: Floats, start: Ints, m: int, extra: int) -> float:
    contexts = start.size - 1
    mean = np.empty((contexts, table.shape[1]))
    scatter = cross_products(table, start, mean)
    own = np.zeros(extra)
    left = np.zeros((extra + 1, extra + 1))
    df_left = table.shape[0] - contexts
    for r in range(contexts):
        for j in range(extra):
            own[j] += scatter[r, m + j, m + j]
        df_left -= sweep(scatter[r], m, start[r + 1] - start[r])
        left += scatter[r, m:, m:]
    for j in range(extra):
        if left[j, j] <= 1e-9 * own[j]:
            left[j, :] = 0.0
            left[:, j] = 0.0
    before = left[extra, extra]
    rank = sweep(left, extra, table.shape[0])
    if rank == 0 or df_left - rank < 1:
        return 1.0
    after = left[extra, extra]
    return f_upper(before - after, max(after, 0.0), rank, df_left - rank)


@njit(cache=True, nogil=True)
def uneven_spread(groups: Groups, fits: Fits, absolute: bool) -> float:
    """p-value of residual size against Z and its squares, shifts by context apart."""
    m, n = groups.rows.shape[1] - 1, groups.rows.shape[0]
    residuals = residuals_of(groups, fits, 2)
    table = np.empty((n, 2 * m + 1))
    for r in range(groups.start.size - 1):
        df = groups.start[r + 1] - groups.start[r] - fits.rank[r + 2]
        scale = 1.0 / math.sqrt(max(fits.left[r + 2] / df, 1e-300))
        for i in range(groups.start[r], groups.start[r + 1]):
            for j in range(m):
                table[i, j] = groups.rows[i, j]
                table[i, m + j] = groups.rows[i, j] ** 2
            value = residuals[i] * scale
            table[i, 2 * m] = abs(value) if absolute else value * value
    return _common_terms(table, groups.start, 0, 2 * m)


@njit(cache=True, nogil=True)
def reset_by_context(groups: Groups, fits: Fits) -> float:
    m = groups.rows.shape[1] - 1
    residuals = residuals_of(groups, fits, 2)
    total, terms = 0.0, 0
    for r in range(groups.start.size - 1):
        a, b = groups.start[r], groups.start[r + 1]
        table = np.empty((b - a, m + 3))
        fitted = groups.rows[a:b, m] - residuals[a:b]
        fitted = fitted - fitted.mean()
        fitted = fitted / math.sqrt(max(np.mean(fitted * fitted), 1e-300))
        table[:, :m] = groups.rows[a:b, :m]
        table[:, m] = fitted**2
        table[:, m + 1] = fitted**3
        table[:, m + 2] = groups.rows[a:b, m]
        start = np.array([0, b - a])
        total -= 2 * math.log(max(_common_terms(table, start, m, 2), 1e-300))
        terms += 1
    return chi2_upper(total, 2.0 * terms)


@njit(cache=True, nogil=True)
def breusch_pagan_by_context(groups: Groups, fits: Fits) -> float:
    m = groups.rows.shape[1] - 1
    residuals = residuals_of(groups, fits, 2)
    total, terms = 0.0, 0
    for r in range(groups.start.size - 1):
        a, b = groups.start[r], groups.start[r + 1]
        n = b - a
        table = np.empty((n, 2 * m + 1))
        table[:, :m] = groups.rows[a:b, :m]
        table[:, m : 2 * m] = groups.rows[a:b, :m] ** 2
        table[:, 2 * m] = residuals[a:b] ** 2
        mean = np.empty((1, 2 * m + 1))
        scatter = cross_products(table, np.array([0, n]), mean)[0]
        before = scatter[2 * m, 2 * m]
        rank = sweep(scatter, 2 * m, n)
        if rank == 0 or before <= 0:
            continue
        p = chi2_upper(n * (1 - scatter[2 * m, 2 * m] / before), float(rank))
        total -= 2 * math.log(max(p, 1e-300))
        terms += 1
    return chi2_upper(total, 2.0 * terms) if terms else 1.0


@njit(cache=True, nogil=True)
def logit_needs(groups: Groups) -> tuple[float, float]:
    """Twice the gain in log-likelihood of a logit of the context on Z when y, y² and y z_j join, and its df."""
    m, n, contexts = groups.rows.shape[1] - 1, groups.rows.shape[0], groups.start.size - 1
    codes = np.empty(n, dtype=np.int64)
    for r in range(contexts):
        codes[groups.start[r] : groups.start[r + 1]] = r
    design = np.empty((n, 2 * m + 3))
    design[:, 0] = 1.0
    design[:, 1 : m + 1] = groups.rows[:, :m]
    y = groups.rows[:, m]
    design[:, m + 1] = y
    design[:, m + 2] = y * y
    for j in range(m):
        design[:, m + 3 + j] = y * groups.rows[:, j]
    for j in range(m + 2, 2 * m + 3):
        design[:, j] -= design[:, j].mean()
        design[:, j] /= max(math.sqrt(np.mean(design[:, j] ** 2)), 1e-150)
    before = logit_likelihood(design[:, : m + 1].copy(), codes, contexts)
    after = logit_likelihood(design, codes, contexts)
    return 2.0 * max(after - before, 0.0), (contexts - 1.0) * (m + 2)
