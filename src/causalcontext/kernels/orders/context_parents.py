"""The context variable as a node: its parents by Wilks' lambda, its score by a multinomial logit.

Wilks' lambda compares the spread of the candidates inside the contexts with their spread overall, on moments alone. It
finds the right parents but cannot score them: x -> R would be equivalent to "R shifts the mean of x". So the chosen set
is scored once by the likelihood of a multinomial logit on the rows, and remembered.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.compiling import njit
from causalcontext.kernels.orders.parent_sets import COLLINEAR_BELOW, MOST_PARENTS
from causalcontext.kernels.rows.newton import logit_likelihood

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

REMEMBERED = 1 << 12


class ContextTable(NamedTuple):
    """What the context's score needs.

    Attributes
    ----------
    total, within : arrays, shape (p, p)
        Covariances of all rows, and inside the contexts.
    values : array, shape (rows, p)
        Standardised columns; for very long tables a part of the rows, each of which then counts `weight` times.
    codes : array of int, shape (rows,)
    contexts : int
        1 means that there is no context variable.
    n : float
        All rows.
    weight : float
    price : float
        The penalty of one parent (contexts - 1 parameters).
    allowed, forced : arrays of bool, shape (p,)
        What may and what must be a parent.
    keys : array of uint64, shape (p,)
        One random number for every node; the exclusive or of a set's numbers is its name in the memory.
    """

    total: Floats
    within: Floats
    values: Floats
    codes: Ints
    contexts: int
    n: float
    weight: float
    price: float
    allowed: Bools
    forced: Bools
    keys: NDArray[np.uint64]


class Memory(NamedTuple):
    """Scores of parent sets that were computed before, of one thread."""

    names: NDArray[np.uint64]
    scores: Floats
    used: Bools
    filled: Ints


def no_memory() -> Memory:
    """An empty memory."""
    return Memory(np.zeros(REMEMBERED, dtype=np.uint64), np.zeros(REMEMBERED), np.zeros(REMEMBERED, dtype=np.bool_),
                  np.zeros(1, dtype=np.int64))  # fmt: skip


@njit(cache=True, nogil=True)
def context_score(table: ContextTable, before: Bools, memory: Memory) -> float:
    """The score of the context with the best parents among the nodes `before` it."""
    if table.contexts < 2:
        return 0.0
    chosen = np.empty(before.size, dtype=np.int64)
    count = _choose(table, before, chosen)
    return remembered_score(table, chosen, count, memory)


def choose_context_parents(table: ContextTable, before: Bools) -> tuple[Ints, int]:
    """Parents of the context among the nodes `before` it, sorted, and their number."""
    chosen = np.empty(before.size, dtype=np.int64)
    return chosen, _choose(table, before, chosen)


@njit(cache=True, nogil=True)
def _choose(table: ContextTable, before: Bools, chosen: Ints) -> int:
    """Write down the parents of the context among the nodes `before` it, sorted; how many there are."""
    p = table.total.shape[0]
    outside, inside = np.diag(table.total).copy(), np.diag(table.within).copy()
    most = min(p, MOST_PARENTS + int(np.sum(table.forced)))
    rows_total, rows_within = np.empty((p, most)), np.empty((p, most))
    open_ = before & table.allowed
    count, kept = 0, 0
    while count < most:
        best, highest = -1, 0.0
        for j in range(p):
            if not open_[j]:
                continue
            if inside[j] <= COLLINEAR_BELOW * table.total[j, j]:
                if table.forced[j]:
                    open_[j] = False
                continue
            gain = 0.5 * table.n * math.log(max(outside[j] / inside[j], 1.0))
            if table.forced[j]:
                best, highest = j, math.inf
                break
            if gain > highest:
                best, highest = j, gain
        if best < 0 or highest <= table.price or (count >= MOST_PARENTS and highest < math.inf):
            break
        if highest == math.inf:
            kept += 1
        open_[best] = False
        chosen[count] = best
        _sweep_out(table.total, best, count, outside, rows_total)
        _sweep_out(table.within, best, count, inside, rows_within)
        count += 1
    count = _drop_weak(table, chosen, count, kept)
    chosen[:count] = np.sort(chosen[:count])
    return count


@njit(cache=True, nogil=True)
def _sweep_out(covariance: Floats, pivot: int, count: int, variance: Floats, rows: Floats) -> None:
    """Regress every variable on the pivot, after the ones chosen before."""
    root = math.sqrt(max(variance[pivot], 1e-300))
    for j in range(covariance.shape[0]):
        if j == pivot:
            continue
        value = covariance[pivot, j]
        for a in range(count):
            value -= rows[j, a] * rows[pivot, a]
        value /= root
        rows[j, count] = value
        variance[j] -= value * value
    rows[pivot, count] = root


@njit(cache=True, nogil=True)
def _drop_weak(table: ContextTable, chosen: Ints, count: int, kept: int) -> int:
    """Drop parents whose loss is below their price, the cheapest first; how many stay."""
    while count > max(kept, 1):
        whole = log_wilks(table, chosen, count)
        cheapest, lowest = -1, math.inf
        for place in range(kept, count):
            removed = chosen[place]
            chosen[place] = chosen[count - 1]
            loss = 0.5 * table.n * (log_wilks(table, chosen, count - 1) - whole)
            chosen[place] = removed
            if loss < lowest:
                cheapest, lowest = place, loss
        if lowest >= table.price:
            break
        for place in range(cheapest, count - 1):
            chosen[place] = chosen[place + 1]
        count -= 1
    return count


@njit(cache=True, nogil=True)
def log_wilks(table: ContextTable, chosen: Ints, count: int) -> float:
    """The logarithm of Wilks' lambda of a set: |within| / |total|."""
    return _log_determinant(table.within, chosen, count) - _log_determinant(table.total, chosen, count)


@njit(cache=True, nogil=True)
def _log_determinant(covariance: Floats, chosen: Ints, count: int) -> float:
    factor = np.zeros((count, count))
    result = 0.0
    for j in range(count):
        pivot = covariance[chosen[j], chosen[j]]
        for k in range(j):
            value = covariance[chosen[j], chosen[k]]
            for a in range(k):
                value -= factor[j, a] * factor[k, a]
            factor[j, k] = value / factor[k, k]
            pivot -= factor[j, k] * factor[j, k]
        pivot = max(pivot, 1e-12)
        factor[j, j] = math.sqrt(pivot)
        result += math.log(pivot)
    return result


@njit(cache=True, nogil=True)
def remembered_score(table: ContextTable, chosen: Ints, count: int, memory: Memory) -> float:
    """The logit score of a sorted parent set, computed at most once."""
    name = np.uint64(0)
    for place in range(count):
        name ^= table.keys[chosen[place]]
    slot = np.int64(name % np.uint64(REMEMBERED))
    while memory.used[slot]:
        if memory.names[slot] == name:
            return float(memory.scores[slot])
        slot = (slot + 1) % REMEMBERED
    score = logit_score(table, chosen, count)
    if memory.filled[0] < REMEMBERED // 2:
        memory.used[slot], memory.names[slot], memory.scores[slot] = True, name, score
        memory.filled[0] += 1
    return score


@njit(cache=True, nogil=True)
def logit_score(table: ContextTable, chosen: Ints, count: int) -> float:
    """The penalised log-likelihood of the context given a parent set."""
    design = np.ones((table.values.shape[0], count + 1))
    for place in range(count):
        design[:, place + 1] = table.values[:, chosen[place]]
    return table.weight * logit_likelihood(design, table.codes, table.contexts) - table.price * (count + 1)
