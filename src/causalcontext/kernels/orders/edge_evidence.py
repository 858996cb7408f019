"""Score differences and partial correlations of single links, given the parents of every node."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.compiling import njit
from causalcontext.kernels.orders.parent_sets import SMALLEST_VARIANCE, Blocks, Scratch, residual_variance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def link_evidence(blocks: Blocks, block: Ints, place: Ints, parents: Bools, allowed: Bools, work: Scratch,
                  difference: Floats, strength: Floats) -> None:  # fmt: skip
    """Fill `difference[child, parent]` and `strength[child, parent]` in one context for all allowed earlier nodes.

    Parameters
    ----------
    block : array of int, shape (p,)
        The block of every node.
    place : array of int, shape (p + 1,)
        The order of the context.
    parents, allowed : arrays of bool, shape (p, p)
        `[child, parent]`.
    """
    p = parents.shape[0]
    listed = np.zeros(p + 1, dtype=np.int64)
    for child in range(p):
        table, rows = blocks.covariance[block[child]], blocks.rows[block[child]]
        count = 0
        for u in range(p):
            if parents[child, u]:
                count += 1
        if count + 1 >= work.vector.size:
            continue
        for u in range(p):
            if u == child or not allowed[child, u] or place[u] > place[child]:
                continue
            size = 0
            for other in range(p):
                if parents[child, other] and other != u:
                    listed[size] = other
                    size += 1
            without = max(residual_variance(table, child, listed, size, work), SMALLEST_VARIANCE)
            apart = _shared(table, child, u, listed, size, work)
            listed[size] = u
            with_link = max(residual_variance(table, child, listed, size + 1, work), SMALLEST_VARIANCE)
            difference[child, u] = 0.5 * rows * math.log(without / with_link) - blocks.price[block[child]]
            size_of_effect = math.sqrt(max(0.0, 1.0 - with_link / without))
            strength[child, u] = math.copysign(size_of_effect, apart)


@njit(cache=True, nogil=True)
def _shared(table: Floats, child: int, u: int, listed: Ints, size: int, work: Scratch) -> float:
    """The residual covariance of two variables; `residual_variance` has just factored the set for the first."""
    loads = np.empty(size)
    value = table[child, u]
    for j in range(size):
        on_u = table[listed[j], u]
        for k in range(j):
            on_u -= work.matrix[j, k] * loads[k]
        loads[j] = on_u / work.matrix[j, j] if work.matrix[j, j] > 0.0 else 0.0
        value -= loads[j] * work.vector[j]
    return float(value)
