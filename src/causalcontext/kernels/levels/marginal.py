"""Pairs given nothing: which correlations are too large for chance, row by row of the matrix.

A correlation is compared with a *limit* a little below the critical one; only what exceeds it is
tested, by the very formulas of the other levels, so that the decisions are the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.levels.gaussian import ONE_VIEW, TESTABLE, Views, tail
from causalcontext.kernels.levels.skeleton import (
    DF,
    LABEL,
    MASK,
    REASON,
    ROWS,
    SEPARATED,
    STATISTIC,
    Decisions,
    P,
)
from causalcontext.kernels.limits import SPARE_ROWS

_MARGIN = 1e-6


@kernel
def squared_limit(rows: int, kind: int, alpha: float) -> float:
    """Squared correlations below this one have a p-value above alpha on so many rows; -1 with too
    few of them.
    """
    df = float(rows - 2)
    if df < SPARE_ROWS:
        return -1.0
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        if tail(kind, ONE_VIEW, middle, df) > alpha:
            low = middle
        else:
            high = middle
    return low * low * (1.0 - _MARGIN)


class Bounds(NamedTuple):
    """What correlations are compared with."""

    # views, limits: shape (views,): whose rows answer, and their squared limits
    views: Ints
    limits: Floats
    squares: (
        Floats  # shape (views, N): the diagonals of their cross products, side by side in memory
    )
    alpha: float


def bounds(data: Views, views: Ints, alpha: float) -> Bounds:
    """The limits of some views."""
    limits = np.array([squared_limit(int(data.rows[view]), data.kind, alpha) for view in views])
    products = [
        data.cells[v] if v < len(data.cells) else data.merged[v - len(data.cells)]
        for v in views.tolist()
    ]
    return Bounds(views, limits, np.array([np.diagonal(scatter) for scatter in products]), alpha)


@kernel
def list_survivors(data: Views, known: Bounds, asked: Bools, begin: int, pairs: Ints) -> int:
    """Write down the pairs `i < j`, i from `begin` on, that some view does not separate; how many
    there are.

    `asked`, shape (rows, N), is about the variables from `begin` on; `pairs`, shape (2, room), has
    room for them all.
    """
    found = 0
    alive = np.zeros(asked.shape[1], dtype=np.bool_)
    for i in range(begin, begin + asked.shape[0]):
        for v in range(known.views.size):
            view = known.views[v]
            scatter = (
                data.cells[view] if view < len(data.cells) else data.merged[view - len(data.cells)]
            )
            row, squares, bound = (
                scatter[i],
                known.squares[v],
                known.limits[v] * known.squares[v, i],
            )
            for j in range(i + 1, alive.size):
                if not (
                    row[j] * row[j] < bound * squares[j] or not asked[i - begin, j] or alive[j]
                ):
                    alive[j] = not _answer(data, view, i, j)[0] > known.alpha
        for j in range(i + 1, alive.size):
            if alive[j]:
                pairs[0, found] = i
                pairs[1, found] = j
                found += 1
                alive[j] = False
    return found


@kernel
def _answer(data: Views, view: int, x: int, y: int) -> tuple[float, float, float]:
    """The p-value, -1 where it cannot be tested, the correlation and the degrees of freedom."""
    scatter = data.cells[view] if view < len(data.cells) else data.merged[view - len(data.cells)]
    df = float(data.rows[view] - 2)
    if df < SPARE_ROWS or scatter[x, x] <= 0.0 or scatter[y, y] <= 0.0:
        return -1.0, math.nan, df
    statistic = scatter[x, y] / math.sqrt(scatter[x, x] * scatter[y, y])
    return tail(data.kind, ONE_VIEW, statistic, df), statistic, df


@kernel
def answer_pairs(
    data: Views, views: Ints, first: Ints, second: Ints, asked: Bools, decisions: Decisions
) -> None:
    """Fill the decisions on pairs that the empty set separates, `views[g]` answering for graph g;
    others are left.
    """
    for k in range(first.size):
        if not asked[k]:
            continue
        for g in range(views.size):
            p, statistic, df = _answer(data, views[g], first[k], second[k])
            facts = decisions.facts[k, g]
            numbers = decisions.numbers[k, g]
            numbers[P] = p
            numbers[STATISTIC] = statistic
            numbers[DF] = df
            facts[ROWS] = data.rows[views[g]]
            facts[MASK] = 0
            facts[REASON] = TESTABLE
            facts[LABEL] = ONE_VIEW
            facts[SEPARATED] = 1
