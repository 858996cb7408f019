"""Pairs given nothing: which correlations are too large for chance, row by row of the matrix.

A correlation is compared with a *limit* a little below the critical one; only what exceeds it is
tested, by the very formulas of the other levels, so that the decisions are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.levels.gaussian import Views
from causalcontext.kernels.levels.skeleton import (
    Decisions,
)


def squared_limit(rows: int, kind: int, alpha: float) -> float:
    """Squared correlations below this one have a p-value above alpha on so many rows; -1 with too
    few of them.
    """
    return float(_kernels.squared_limit(rows, kind, alpha))


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


def list_survivors(data: Views, known: Bounds, asked: Bools, begin: int, pairs: Ints) -> int:
    """Write down the pairs `i < j`, i from `begin` on, that some view does not separate; how many
    there are.

    `asked`, shape (rows, N), is about the variables from `begin` on; `pairs`, shape (2, room), has
    room for them all.
    """
    return int(_kernels.list_survivors(data, known, asked, begin, pairs))


def answer_pairs(
    data: Views, views: Ints, first: Ints, second: Ints, asked: Bools, decisions: Decisions
) -> None:
    """Fill the decisions on pairs that the empty set separates, `views[g]` answering for graph g;
    others are left.
    """
    _kernels.answer_pairs(data, views, first, second, asked, decisions)
