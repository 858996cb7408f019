"""Which columns a regression takes in which contexts: slopes that change cost a second parameter, the others do not.

Every parent enters with a pattern: disjoint blocks of contexts with one slope each. The regression is one on columns
x * 1[R in block], centred inside the contexts, with one residual variance. Their cross products are sums of the scatter
of the contexts that two blocks share, so the rows are never needed. Blocks of one parent are disjoint, since x together
with x * 1[R = 0] would write "absent in 0" as two slopes that cancel.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.lagged.subsets import CLOSED, FORCED, MOST_PARENTS, SMALLEST_GAIN
from causalcontext.kernels.limits import SAME_COLUMN_BELOW, SMALLEST_VARIANCE

ABSENT = 0
"""The pattern without a block; pattern 1 is one block of all contexts."""


@kernel
def best_patterns(scatter: Floats, rows: float, target: int, status: Ints, price: Floats, patterns: Ints,
                  pattern: Ints) -> float:  # fmt: skip
    """The score of the best regression that was found; the pattern of every column is written.

    Parameters
    ----------
    scatter : array, shape (2**K, p, p)
        Within-context cross products, summed over the contexts of a bit mask and divided by all rows.
    rows : float
    target : int
    status : array of int, shape (p,)
        `CLOSED`, `OPEN` or `FORCED`.
    price : array, shape (2**K,)
        What a slope costs on the contexts of a mask.
    patterns : array of int, shape (patterns, K)
        Masks of the blocks of every pattern, 0 for none; the first is empty, the second one block of all contexts.
    pattern : array of int, shape (p,)
        The patterns to begin with; written: those of the best regression.

    Returns
    -------
    The score, -rows / 2 * log(residual variance) - prices, without constants.
    """
    most = MOST_PARENTS
    state = _State(2 * most * patterns.shape[1])
    score = _fit(scatter, rows, target, price, patterns, pattern, -1, state)
    while True:
        best, first, second, to_first, to_second = score + SMALLEST_GAIN, -1, -1, 0, 0
        count = 0
        for x in range(status.size):
            count += pattern[x] != ABSENT
        if count < most:
            for x in range(status.size):
                if status[x] == CLOSED or pattern[x] != ABSENT:
                    continue
                trial, found = _best_pattern(scatter, rows, target, price, patterns, x, state, score, True)
                if trial > best:
                    best, first, to_first, second = trial, x, found, -1
        for x in range(status.size):
            if pattern[x] == ABSENT:
                continue
            base = _fit(scatter, rows, target, price, patterns, pattern, x, state)
            if base > best and status[x] != FORCED:
                best, first, to_first, second = base, x, ABSENT, -1
            trial, found = _best_pattern(scatter, rows, target, price, patterns, x, state, base, False)
            if found != pattern[x] and trial > best:
                best, first, to_first, second = trial, x, found, -1
            if status[x] == FORCED:
                continue
            for z in range(status.size):
                if z == x or status[z] == CLOSED or pattern[z] != ABSENT:
                    continue
                trial, found = _best_pattern(scatter, rows, target, price, patterns, z, state, base, True)
                if trial > best:
                    best, first, to_first, second, to_second = trial, x, ABSENT, z, found
        if first < 0:
            return score
        pattern[first] = to_first
        if second >= 0:
            pattern[second] = to_second
        score = _fit(scatter, rows, target, price, patterns, pattern, -1, state)


@kernel
def _State(most: int) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    """Columns and masks that are chosen, the Cholesky factor, the solution, and (count, residual variance, prices)."""
    return (
        np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros((most, most)), np.zeros(most),
        np.zeros(3),
    )  # fmt: skip


@kernel
def _fit(scatter: Floats, rows: float, target: int, price: Floats, patterns: Ints, pattern: Ints, left_out: int,
         state: tuple[Ints, Ints, Floats, Floats, Floats]) -> float:  # fmt: skip
    """The score of the regression with these patterns but for one column; the state then holds its factor."""
    facts = state[4]
    facts[0], facts[1], facts[2] = 0.0, scatter[-1, target, target], 0.0
    for x in range(pattern.size):
        if x == left_out or pattern[x] == ABSENT:
            continue
        for block in patterns[pattern[x]]:
            if block:
                _append(scatter, target, price, x, block, state)
    return _score(rows, facts)


@kernel
def _append(scatter: Floats, target: int, price: Floats, x: int, block: int,
            state: tuple[Ints, Ints, Floats, Floats, Floats]) -> None:  # fmt: skip
    """Take one more column into the factor; one that is a function of the others changes nothing but the price."""
    columns, masks, factor, solution, facts = state
    m = int(facts[0])
    pivot, across = scatter[block, x, x], scatter[block, x, target]
    for a in range(m):
        value = scatter[masks[a] & block, columns[a], x]
        for b in range(a):
            value -= factor[a, b] * factor[m, b]
        value /= factor[a, a]
        factor[m, a] = value
        pivot -= value * value
        across -= value * solution[a]
    facts[2] += price[block]
    if pivot <= SAME_COLUMN_BELOW * scatter[block, x, x] or pivot <= 0.0:
        return
    factor[m, m] = math.sqrt(pivot)
    solution[m] = across / factor[m, m]
    columns[m], masks[m] = x, block
    facts[0] = m + 1
    facts[1] -= solution[m] * solution[m]


@kernel
def _best_pattern(scatter: Floats, rows: float, target: int, price: Floats, patterns: Ints, x: int,
                  state: tuple[Ints, Ints, Floats, Floats, Floats], least: float,
                  single: bool) -> tuple[float, int]:  # fmt: skip
    """The best pattern of one column that is not in the state, and the score with it; `single`: of one block only."""
    facts = state[4]
    m, variance, prices = facts[0], facts[1], facts[2]
    best, found = -math.inf, ABSENT
    for number in range(1, patterns.shape[0]):
        if single and patterns[number, 1] != 0:
            continue
        for block in patterns[number]:
            if block:
                _append(scatter, target, price, x, block, state)
        score = _score(rows, facts)
        facts[0], facts[1], facts[2] = m, variance, prices
        if score > best:
            best, found = score, number
    return best, found


@kernel
def _score(rows: float, facts: Floats) -> float:
    return float(-0.5 * rows * math.log(max(facts[1], SMALLEST_VARIANCE)) - facts[2])
