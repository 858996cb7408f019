"""Sub-models of given orders: which of the variables before it a variable depends on, and with
which coefficients.

Sets of variables are bit masks. A variable is pooled (one regression on all rows); after a context
it may also be shifted (one regression, around the means at every value) or apart (a regression of
its own at every value). Regressions come from moments: a *block* is a set of rows with its centred
cross products.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.linear import factorise, solve_half, solve_rest

ROWS, LEVELS, PRICE = range(3)
"""Columns of the facts about blocks: rows, intercepts, and what a parameter costs."""
NOTHING_LEFT = 1e-9
"""What is left of a variable is no less than this share of it."""


@kernel
def subset_weights(scatter: Floats, facts: Floats, weights: Floats) -> None:
    """`weights[b, v, S]` is filled: the log-likelihood of v given the set S in a block, less what
    parameters cost.

    `scatter` has shape (blocks, variables, variables), `facts` (blocks, 3).
    """
    blocks, size = scatter.shape[:2]
    chosen = np.empty(size, dtype=np.int64)
    for block in range(blocks):
        n = facts[block, ROWS]
        for members in range(1 << size):
            count = _members(members, size, chosen)
            factor = _factor(scatter[block], chosen[:count])
            parameters = count + facts[block, LEVELS] + 1.0
            for v in range(size):
                if members & (1 << v):
                    continue
                if n - parameters < SPARE_ROWS:
                    weights[block, v, members] = -math.inf
                    continue
                across = scatter[block][chosen[:count], v].copy()
                whole = scatter[block, v, v]
                left = max(whole - solve_half(factor, across), NOTHING_LEFT * whole)
                weights[block, v, members] = (
                    -0.5 * n * math.log(left / n) - facts[block, PRICE] * parameters
                )


@kernel
def draw_models(
    weights: Floats,
    readers: Ints,
    before: Ints,
    allowed: Ints,
    required: Ints,
    may: Bools,
    uniform: Floats,
    kinds: Ints,
    sets: Ints,
) -> None:
    """`kinds` and `sets` are filled: what every variable reads in every draw, and its causes in
    every cell.

    `weights`, shape (blocks, variables, sets), are those of the pooled block, then for every reader
    of the shifted one and those of its values. `readers`, shape (readers, 2 + cells), has the first
    block of a reader, how many values it has, and its value in every cell; `before`, shape (draws,
    1 + readers, variables), the variables before every variable as a bit mask, then, for every
    reader, 1 if it comes before the variable. Causes that are `allowed` and `required` are bit
    masks; `may`, shape (1 + readers, variables), says whether a variable may be pooled, and whether
    it may use a reader. `uniform` has shape (draws, variables, 1 + cells). `kinds`, shape (draws,
    variables), are -1 pooled, 2 q shifted by reader q, 2 q + 1 apart; `sets` has shape (draws,
    variables, cells).
    """
    cells = sets.shape[2]
    count = readers.shape[0]
    total = np.empty(1 + 2 * count)
    for draw in range(kinds.shape[0]):
        for v in range(kinds.shape[1]):
            free = before[draw, 0, v] & allowed[v] & ~required[v]
            must = required[v]
            total[0] = _log_sum(weights[0, v], free, must) if may[0, v] else -math.inf
            for q in range(count):
                usable = before[draw, 1 + q, v] == 1 and may[1 + q, v]
                first = readers[q, 0]
                total[1 + 2 * q] = _log_sum(weights[first, v], free, must) if usable else -math.inf
                total[2 + 2 * q] = 0.0 if usable else -math.inf
                for value in range(readers[q, 1] if usable else 0):
                    total[2 + 2 * q] += _log_sum(weights[first + 1 + value, v], free, must)
            kind = _choose(total, uniform[draw, v, 0]) - 1
            kinds[draw, v] = kind
            if kind < 0 or kind % 2 == 0:
                block = 0 if kind < 0 else readers[kind // 2, 0]
                sets[draw, v, :] = _subset(weights[block, v], free, must, uniform[draw, v, 1])
            else:
                q = kind // 2
                for cell in range(cells):
                    value = readers[q, 2 + cell]
                    sets[draw, v, cell] = _subset(
                        weights[readers[q, 0] + 1 + value, v],
                        free,
                        must,
                        uniform[draw, v, 1 + value],
                    )


@kernel
def draw_slopes(
    scatter: Floats,
    facts: Floats,
    readers: Ints,
    kinds: Ints,
    sets: Ints,
    normal: Floats,
    slopes: Floats,
) -> None:
    """`slopes[draw, cell, cause, effect]` are filled, drawn from the t distribution around least
    squares.

    `normal`, shape (draws, variables, cells, 1 + variables), has standard normal numbers: the first
    one makes the chi-squared number of the residual variance (Wilson and Hilferty 1931).
    """
    draws, size, cells = sets.shape
    chosen = np.empty(size, dtype=np.int64)
    for draw in range(draws):
        for v in range(size):
            kind = kinds[draw, v]
            for cell in range(cells):
                block, source = 0, 0
                if kind >= 0:
                    block = readers[kind // 2, 0]
                    if kind % 2 == 1:
                        source = readers[kind // 2, 2 + cell]
                        block += 1 + source
                count = _members(sets[draw, v, cell], size, chosen)
                if count == 0:
                    continue
                factor = _factor(scatter[block], chosen[:count])
                own = scatter[block][chosen[:count], v].copy()
                whole = scatter[block, v, v]
                left = max(whole - solve_half(factor, own), NOTHING_LEFT * whole)
                df = max(facts[block, ROWS] - facts[block, LEVELS] - count, 1.0)
                part = 2.0 / (9.0 * df)
                chi = df * max(1.0 - part + normal[draw, v, source, 0] * math.sqrt(part), 0.05) ** 3
                spread = math.sqrt(left / chi)
                for k in range(count):
                    own[k] += spread * normal[draw, v, source, 1 + chosen[k]]
                solve_rest(factor, own)
                for k in range(count):
                    slopes[draw, cell, chosen[k], v] = own[k]


@kernel
def _members(mask: int, size: int, chosen: Ints) -> int:
    count = 0
    for j in range(size):
        if mask & (1 << j):
            chosen[count] = j
            count += 1
    return count


@kernel
def _factor(scatter: Floats, chosen: Ints) -> Floats:
    """The Cholesky factor of the cross products of some variables."""
    factor = np.empty((chosen.size, chosen.size))
    for i in range(chosen.size):
        for j in range(chosen.size):
            factor[i, j] = scatter[chosen[i], chosen[j]]
    factorise(factor)
    return factor


@kernel
def _log_sum(weights: Floats, free: int, must: int) -> float:
    """The log of the sum over all sets that have what must be there, and any part of what is
    free.
    """
    highest, part = -math.inf, free
    while True:
        highest = max(highest, weights[must | part])
        if part == 0:
            break
        part = (part - 1) & free
    if highest == -math.inf:
        return -math.inf
    added, part = 0.0, free
    while True:
        added += math.exp(weights[must | part] - highest)
        if part == 0:
            break
        part = (part - 1) & free
    return float(highest + math.log(added))


@kernel
def _subset(weights: Floats, free: int, must: int, uniform: float) -> int:
    """One of these sets, with a probability proportional to the exponential of its weight."""
    total = _log_sum(weights, free, must)
    left = uniform
    part = free
    last = must
    while total > -math.inf:
        here = math.exp(weights[must | part] - total)
        if here > 0.0:
            last = must | part
            left -= here
        if left <= 0.0 or part == 0:
            break
        part = (part - 1) & free
    return last


@kernel
def _choose(total: Floats, uniform: float) -> int:
    """The place of one number, with a probability proportional to its exponential."""
    highest = total.max()
    added = 0.0
    if highest == -math.inf:
        return 0
    for value in total:
        added += math.exp(value - highest)
    left = uniform * added
    last = 0
    for place in range(total.size):
        here = math.exp(total[place] - highest)
        if here > 0.0:
            last = place
            left -= here
            if left <= 0.0:
                break
    return last
