"""Which parents a node takes from a set of candidates: grow and shrink on a covariance matrix, with a memory.

Growing is a pivoted Cholesky factorisation: the candidate that lowers the residual variance most comes next, as long as
the score rises, and with patience a little longer: two causes may hide each other. Then parents that do not pay are
dropped. The path is kept, so that two cheap questions replace most regressions of a search over orders: would
a further candidate have been taken anywhere along the path, and was a candidate that leaves ever taken?
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.compiling import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_PARENTS = 12
COLLINEAR_BELOW = 1e-9
"""A residual variance below this share of the variable's own variance counts as zero."""
SMALLEST_VARIANCE = 1e-9
"""In units of the pooled variance; keeps the likelihood of a node without noise finite."""

CLOSED, ONLY_IF_IT_PAYS, WELCOME = 0, 1, 2


class Blocks(NamedTuple):
    """Sets of contexts whose rows share one regression.

    Attributes
    ----------
    covariance : array, shape (blocks, p, p)
        In units of the pooled standard deviations.
    rows : array of float, shape (blocks,)
    base : array, shape (blocks,)
        The score of a node of unit variance without parents.
    price : array, shape (blocks,)
        The penalty of one parent.
    most : array of int, shape (blocks,)
        The most parents; -1 where a block has too few rows for a regression of its own.
    patience : int
        How many candidates in a row may be taken that do not pay by themselves, in the hope of one that pays then.
    """

    covariance: Floats
    rows: Floats
    base: Floats
    price: Floats
    most: Ints
    patience: int


class ParentFits(NamedTuple):
    """The fitted regression of every node in every slot (a node's list of blocks), and the path that led to it.

    `end` says who could still join at the end of the path: `CLOSED`, `ONLY_IF_IT_PAYS` or `WELCOME`.
    """

    end: Ints
    length: Ints
    path: Ints
    factor: Floats
    load: Floats
    ratio: Floats
    score: Floats
    taken: Ints
    parents: Ints


class Scratch(NamedTuple):
    """Arrays of one thread for a regression in progress."""

    candidates: Bools
    listed: Ints
    covariance: Floats
    variance: Floats
    rows: Floats
    vector: Floats
    matrix: Floats


def no_fits(nodes: int, slots: int, width: int) -> ParentFits:
    """Room for fits with at most `width` parents."""
    shape = (nodes, slots)
    whole = [np.zeros(shape, dtype=np.int64) for _ in range(3)]
    lists = [np.zeros((*shape, width), dtype=np.int64) for _ in range(2)]
    numbers = [np.zeros((*shape, width)) for _ in range(2)]
    factor = np.zeros((*shape, width, width))
    return ParentFits(whole[0], whole[1], lists[0], factor, numbers[0], numbers[1], np.zeros(shape), whole[2], lists[1])


def scratch(nodes: int, width: int) -> Scratch:
    """Scratch arrays for one thread."""
    return Scratch(
        np.zeros(nodes, dtype=np.bool_), np.zeros(nodes, dtype=np.int64), np.zeros(nodes), np.zeros(nodes),
        np.zeros((nodes, width)), np.zeros(width + 1), np.zeros((width + 1, width + 1)),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def fit(blocks: Blocks, block: int, node: int, forced: Bools, fits: ParentFits, slot: int, work: Scratch) -> None:
    """Fit a node on `work.candidates`: grow, shrink, store parents and score; forced candidates always stay."""
    if blocks.most[block] < 0:
        fits.end[node, slot] = CLOSED
        fits.length[node, slot] = 0
        fits.taken[node, slot] = 0
        fits.score[node, slot] = -math.inf
        return
    kept = _grow(blocks, block, node, forced, fits, slot, work)
    count = fits.length[node, slot]
    fits.taken[node, slot] = count
    fits.parents[node, slot, :count] = fits.path[node, slot, :count]
    left = _residual(blocks.covariance[block, node, node], fits.load[node, slot], count)
    left = _shrink(blocks, block, node, kept, left, fits, slot, work)
    count = fits.taken[node, slot]
    fits.score[node, slot] = local_score(blocks, block, left, count)


@njit(cache=True, nogil=True)
def local_score(blocks: Blocks, block: int, residual: float, parents: int) -> float:
    """The penalised log-likelihood of a node with this residual variance."""
    likelihood = -0.5 * blocks.rows[block] * math.log(max(residual, SMALLEST_VARIANCE))
    return float(blocks.base[block] + likelihood - blocks.price[block] * parents)


@njit(cache=True, nogil=True)
def would_change(
    blocks: Blocks, block: int, node: int, newcomer: int, fits: ParentFits, slot: int, work: Scratch
) -> bool:
    """Whether a further candidate would have been taken somewhere along the path."""
    if blocks.most[block] < 0:
        return False
    table = blocks.covariance[block]
    own = table[newcomer, newcomer]
    variance, shared, left = own, table[newcomer, node], table[node, node]
    for t in range(fits.length[node, slot]):
        if variance <= COLLINEAR_BELOW * own:
            return False
        ratio, rival = shared * shared / variance, fits.path[node, slot, t]
        if ratio > fits.ratio[node, slot, t] or (ratio == fits.ratio[node, slot, t] and newcomer < rival):
            return True
        value = table[newcomer, rival]
        for a in range(t):
            value -= work.vector[a] * fits.factor[node, slot, t, a]
        value /= fits.factor[node, slot, t, t]
        work.vector[t] = value
        load = fits.load[node, slot, t]
        shared -= value * load
        variance -= value * value
        left -= load * load
    end = fits.end[node, slot]
    if end == CLOSED or variance <= COLLINEAR_BELOW * own or shared == 0.0:
        return False
    pays = _gain(blocks.rows[block], shared * shared / variance, left) > blocks.price[block]
    return bool(end == WELCOME or pays)


@njit(cache=True, nogil=True)
def on_path(fits: ParentFits, node: int, slot: int, candidate: int) -> bool:
    """Whether a candidate was taken while growing."""
    found = False
    for t in range(fits.length[node, slot]):
        found = found or fits.path[node, slot, t] == candidate
    return found


@njit(cache=True, nogil=True)
def copy_fit(source: ParentFits, target: ParentFits, node: int, slot: int) -> None:
    """Copy one fit."""
    k = source.length[node, slot]
    target.end[node, slot] = source.end[node, slot]
    target.length[node, slot] = k
    target.path[node, slot, :k] = source.path[node, slot, :k]
    target.factor[node, slot, :k, :k] = source.factor[node, slot, :k, :k]
    target.load[node, slot, :k] = source.load[node, slot, :k]
    target.ratio[node, slot, :k] = source.ratio[node, slot, :k]
    target.score[node, slot] = source.score[node, slot]
    m = source.taken[node, slot]
    target.taken[node, slot] = m
    target.parents[node, slot, :m] = source.parents[node, slot, :m]


@njit(cache=True, nogil=True)
def residual_variance(table: Floats, node: int, parents: Ints, count: int, work: Scratch) -> float:
    """The variance that `parents[:count]` leave of a node; a collinear parent explains nothing more."""
    left = table[node, node]
    factor = work.matrix
    for j in range(count):
        z = parents[j]
        pivot, load = table[z, z], table[z, node]
        for k in range(j):
            value = table[z, parents[k]]
            for a in range(k):
                value -= factor[j, a] * factor[k, a]
            value = value / factor[k, k] if factor[k, k] > 0.0 else 0.0
            factor[j, k] = value
            pivot -= value * value
            load -= value * work.vector[k]
        usable = pivot > COLLINEAR_BELOW * table[z, z]
        factor[j, j] = math.sqrt(pivot) if usable else 0.0
        work.vector[j] = load / factor[j, j] if usable else 0.0
        left -= work.vector[j] * work.vector[j]
    return float(left)


@njit(cache=True, nogil=True)
def _grow(blocks: Blocks, block: int, node: int, forced: Bools, fits: ParentFits, slot: int, work: Scratch) -> int:
    """Grow the path; the number of forced parents at its beginning."""
    table = blocks.covariance[block]
    m = 0
    for j in range(table.shape[0]):
        if work.candidates[j]:
            work.listed[m], work.covariance[m], work.variance[m] = j, table[node, j], table[j, j]
            m += 1
    size, kept, left, in_vain = 0, 0, table[node, node], 0
    while True:
        best, ratio = _next(table, forced, m, work)
        if best < 0:
            fits.end[node, slot] = ONLY_IF_IT_PAYS if in_vain == blocks.patience else WELCOME
            break
        if ratio < math.inf:
            pays = _gain(blocks.rows[block], ratio, left) > blocks.price[block]
            if size >= blocks.most[block] or (not pays and in_vain == blocks.patience):
                fits.end[node, slot] = ONLY_IF_IT_PAYS if size < blocks.most[block] else CLOSED
                break
            in_vain = 0 if pays else in_vain + 1
        else:
            kept += 1
        left -= _take(table, node, best, ratio, m, size, fits, slot, work)
        size += 1
        m = _strike(best, m, size, work)
    fits.length[node, slot] = size
    return kept


@njit(cache=True, nogil=True)
def _next(table: Floats, forced: Bools, m: int, work: Scratch) -> tuple[int, float]:
    """The place of the next parent in the list and its ratio; infinite for a forced one, -1 if there is none."""
    best, highest = -1, 0.0
    for place in range(m):
        j = work.listed[place]
        if work.variance[place] <= COLLINEAR_BELOW * table[j, j]:
            continue
        if forced[j]:
            return place, math.inf
        ratio = work.covariance[place] * work.covariance[place] / work.variance[place]
        if ratio > highest:
            best, highest = place, ratio
    return best, highest


@njit(cache=True, nogil=True)
def _take(table: Floats, node: int, best: int, ratio: float, m: int, size: int, fits: ParentFits, slot: int,
          work: Scratch) -> float:  # fmt: skip
    """Regress everything in the list on the next parent; the variance it explains of the node."""
    parent = work.listed[best]
    root = math.sqrt(work.variance[best])
    load = work.covariance[best] / root
    fits.path[node, slot, size] = parent
    fits.factor[node, slot, size, :size] = work.rows[best, :size]
    fits.factor[node, slot, size, size] = root
    fits.load[node, slot, size] = load
    fits.ratio[node, slot, size] = ratio
    own = fits.factor[node, slot, size]
    row = table[parent]
    for place in range(m):
        value = row[work.listed[place]]
        for a in range(size):
            value -= work.rows[place, a] * own[a]
        value /= root
        work.rows[place, size] = value
        work.covariance[place] -= value * load
        work.variance[place] -= value * value
    return float(load * load)


@njit(cache=True, nogil=True)
def _strike(best: int, m: int, size: int, work: Scratch) -> int:
    """Take one candidate from the list, which stays in order; its new length."""
    for place in range(best, m - 1):
        work.listed[place] = work.listed[place + 1]
        work.covariance[place] = work.covariance[place + 1]
        work.variance[place] = work.variance[place + 1]
        for a in range(size):
            work.rows[place, a] = work.rows[place + 1, a]
    return m - 1


@njit(cache=True, nogil=True)
def _shrink(blocks: Blocks, block: int, node: int, kept: int, left: float, fits: ParentFits, slot: int,
            work: Scratch) -> float:  # fmt: skip
    """Drop parents whose loss is below their price, the cheapest first; the residual variance that remains."""
    table, parents = blocks.covariance[block], fits.parents[node, slot]
    while fits.taken[node, slot] > kept:
        count = fits.taken[node, slot]
        cheapest, lowest = -1, math.inf
        for place in range(kept, count):
            removed = parents[place]
            parents[place] = parents[count - 1]
            without = residual_variance(table, node, parents, count - 1, work)
            parents[place] = removed
            if without < lowest:
                cheapest, lowest = place, without
        if _gain(blocks.rows[block], lowest - left, lowest) >= blocks.price[block]:
            break
        for place in range(cheapest, count - 1):
            parents[place] = parents[place + 1]
        fits.taken[node, slot] = count - 1
        left = lowest
    return left


@njit(cache=True, nogil=True)
def _gain(rows: float, explained: float, left: float) -> float:
    """The log-likelihood gained when `explained` of the variance `left` goes away."""
    if left <= SMALLEST_VARIANCE:
        return 0.0
    return 0.5 * rows * math.log(left / max(left - explained, SMALLEST_VARIANCE))


@njit(cache=True, nogil=True)
def _residual(variance: float, load: Floats, count: int) -> float:
    for t in range(count):
        variance -= load[t] * load[t]
    return variance
