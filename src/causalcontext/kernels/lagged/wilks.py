"""Which groups of columns tell the values of the context apart, by Wilks' lambda on moments."""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import njit
from causalcontext.kernels.lagged.subsets import CLOSED, COLLINEAR_BELOW, FORCED, MOST_PARENTS, SMALLEST_GAIN


@njit(cache=True, nogil=True)
def best_groups(total: Floats, within: Floats, rows: float, status: Ints, groups: Ints, price: Floats,
                chosen: Bools) -> None:  # fmt: skip
    """The groups that pay are written: added one after the other, and dropped again where they do not pay any more.

    Parameters
    ----------
    total, within : arrays, shape (p, p)
        Covariances of all rows, and inside the contexts.
    rows : float
    status : array of int, shape (groups,)
        `CLOSED`, `OPEN` or `FORCED`.
    groups : array of int, shape (groups, 2)
        The first column of every group, and the one after its last.
    price : array, shape (groups,)
    chosen : array of bool, shape (groups,)
        Written.
    """
    chosen[:] = status == FORCED
    columns = np.empty(total.shape[0], dtype=np.int64)
    factor = np.zeros((2, total.shape[0], total.shape[0]))
    score = _score(total, within, rows, groups, chosen, price, columns, factor)
    while chosen.sum() < MOST_PARENTS:
        best, found = score + SMALLEST_GAIN, -1
        for g in range(status.size):
            if chosen[g] or status[g] == CLOSED:
                continue
            chosen[g] = True
            trial = _score(total, within, rows, groups, chosen, price, columns, factor)
            chosen[g] = False
            if trial > best:
                best, found = trial, g
        for g in range(status.size):
            if not chosen[g] or status[g] == FORCED:
                continue
            chosen[g] = False
            trial = _score(total, within, rows, groups, chosen, price, columns, factor)
            chosen[g] = True
            if trial > best:
                best, found = trial, g
        if found < 0:
            break
        chosen[found] = not chosen[found]
        score = best


@njit(cache=True, nogil=True)
def wilks_score(total: Floats, within: Floats, rows: float, groups: Ints, chosen: Bools, price: Floats) -> float:
    """The score of a set of groups: half the rows times minus the log of Wilks' lambda, less the prices."""
    columns = np.empty(total.shape[0], dtype=np.int64)
    factor = np.zeros((2, total.shape[0], total.shape[0]))
    return _score(total, within, rows, groups, chosen, price, columns, factor)


@njit(cache=True, nogil=True)
def _score(total: Floats, within: Floats, rows: float, groups: Ints, chosen: Bools, price: Floats, columns: Ints,
           factor: Floats) -> float:  # fmt: skip
    count, prices = 0, 0.0
    for g in range(chosen.size):
        if chosen[g]:
            prices += price[g]
            for column in range(groups[g, 0], groups[g, 1]):
                columns[count] = column
                count += 1
    outside = _log_determinant(total, columns, count, factor[0])
    inside = _log_determinant(within, columns, count, factor[1])
    if outside == -math.inf or inside == -math.inf:
        return -math.inf
    return 0.5 * rows * (outside - inside) - prices


@njit(cache=True, nogil=True)
def _log_determinant(covariance: Floats, columns: Ints, count: int, factor: Floats) -> float:
    """Minus infinity where a column is a function of the others."""
    result = 0.0
    for j in range(count):
        pivot = covariance[columns[j], columns[j]]
        for k in range(j):
            value = covariance[columns[j], columns[k]]
            for a in range(k):
                value -= factor[j, a] * factor[k, a]
            factor[j, k] = value / factor[k, k]
            pivot -= factor[j, k] * factor[j, k]
        if pivot <= COLLINEAR_BELOW:
            return -math.inf
        factor[j, j] = math.sqrt(pivot)
        result += math.log(pivot)
    return result
