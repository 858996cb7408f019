"""Which columns one regression takes: add, drop and swap on a covariance matrix, by the sweep operator.

A matrix that is swept on the chosen columns shows at once what any further column would gain and what any chosen one is
worth, so a step costs one sweep, whatever is chosen. Sweeping a column twice puts it back.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import SAME_COLUMN_BELOW, SMALLEST_VARIANCE

SMALLEST_GAIN = 1e-7
"""Scores that differ by less are equal."""
MOST_PARENTS = 24
CLOSED, OPEN, FORCED = 0, 1, 2


@kernel
def best_subset(covariance: Floats, rows: float, target: int, status: Ints, price: float,
                most: int, columns: Bools) -> float:  # fmt: skip
    """The score of the best regression that was found; its columns are written.

    Parameters
    ----------
    covariance : array, shape (p, p)
        Of standardised columns.
    rows : float
    target : int
    status : array of int, shape (p,)
        `CLOSED`, `OPEN` or `FORCED` for every column.
    price : float
        What a column costs.
    most : int
        Columns at most; with fewer than the forced ones the score is minus infinity.
    columns : array of bool, shape (p,)
        Written: the columns that are taken.

    Returns
    -------
    The score, -rows / 2 * log(residual variance) - price * columns, without constants.
    """
    used = np.flatnonzero(status != CLOSED)
    width = used.size
    table = np.empty((width + 1, width + 1))
    for a in range(width):
        for b in range(width):
            table[a, b] = covariance[used[a], used[b]]
        table[a, width] = table[width, a] = covariance[used[a], target]
    table[width, width] = covariance[target, target]
    own = np.diag(table).copy()
    chosen = np.zeros(width, dtype=np.bool_)
    count = 0
    for a in range(width):
        if status[used[a]] == FORCED:
            chosen[a] = True
            count += 1
            if table[a, a] > SAME_COLUMN_BELOW * own[a]:
                _sweep(table, a)
    columns[:] = False
    if count > most:
        return -math.inf
    forced = chosen.copy()
    half = 0.5 * rows
    _grow(table, own, chosen, half, price, min(most, MOST_PARENTS + count))
    while True:
        if _improve(table, own, chosen, forced, half, price, most):
            continue
        break
    for a in range(width):
        columns[used[a]] = chosen[a]
    return float(-half * math.log(max(table[width, width], SMALLEST_VARIANCE)) - price * chosen.sum())


@kernel
def _grow(table: Floats, own: Floats, chosen: Bools, half: float, price: float, most: int) -> None:
    """Add the column that gains most while that pays; one that does not is kept if the next one makes up for it."""
    while chosen.sum() < most:
        first, gain = _best_column(table, own, chosen, half)
        if first < 0:
            return
        _sweep(table, first)
        chosen[first] = True
        if gain > price + SMALLEST_GAIN:
            continue
        second, more = _best_column(table, own, chosen, half)
        if second >= 0 and gain + more > 2.0 * price + SMALLEST_GAIN and chosen.sum() < most:
            _sweep(table, second)
            chosen[second] = True
            continue
        _sweep(table, first)
        chosen[first] = False
        return


@kernel
def _improve(table: Floats, own: Floats, chosen: Bools, forced: Bools, half: float, price: float, most: int) -> bool:
    """Make the best of all additions, removals and swaps, if it raises the score."""
    width = chosen.size
    best, out, into = SMALLEST_GAIN, -1, -1
    if chosen.sum() < most:
        column, gain = _best_column(table, own, chosen, half)
        if column >= 0 and gain - price > best:
            best, into = gain - price, column
    left = max(table[width, width], SMALLEST_VARIANCE)
    for a in range(width):
        if not chosen[a] or forced[a]:
            continue
        without = left - table[a, width] * table[a, width] / table[a, a]
        loss = half * math.log(without / left)
        if price - loss > best:
            best, out, into = price - loss, a, -1
        _sweep(table, a)
        chosen[a] = False
        column, gain = _best_column(table, own, chosen, half)
        if column >= 0 and column != a and gain - loss > best:
            best, out, into = gain - loss, a, column
        _sweep(table, a)
        chosen[a] = True
    if out >= 0:
        _sweep(table, out)
        chosen[out] = False
    if into >= 0:
        _sweep(table, into)
        chosen[into] = True
    return out >= 0 or into >= 0


@kernel
def _best_column(table: Floats, own: Floats, chosen: Bools, half: float) -> tuple[int, float]:
    """The column whose addition lowers the residual variance most, and what the log-likelihood gains."""
    width = chosen.size
    left = max(table[width, width], SMALLEST_VARIANCE)
    best, lowest = -1, left
    for a in range(width):
        if chosen[a] or table[a, a] <= SAME_COLUMN_BELOW * own[a]:
            continue
        after = left - table[a, width] * table[a, width] / table[a, a]
        if after < lowest:
            best, lowest = a, after
    return best, half * math.log(left / max(lowest, SMALLEST_VARIANCE))


@kernel
def _sweep(table: Floats, k: int) -> None:
    """Sweep on one column, or take it back if it was swept: its diagonal entry is then negative."""
    pivot = table[k, k]
    size = table.shape[0]
    for i in range(size):
        if i == k or table[i, k] == 0.0:
            continue
        factor = table[i, k] / pivot
        for j in range(size):
            if j != k:
                table[i, j] -= factor * table[k, j]
    scale = abs(pivot)
    for j in range(size):
        if j != k:
            table[k, j] /= scale
            table[j, k] /= scale
    table[k, k] = -1.0 / pivot
