"""Residual moments of two variables after regression on a set, from centred cross products.

The set is factored one variable at a time, so that the next set of a lexicographic enumeration only pays for the
positions that changed. A variable that is a linear function of the ones before it is skipped and lowers the rank.
"""

from __future__ import annotations

import math

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW


@kernel
def next_combination(index: Ints, size: int, candidates: int) -> int:
    """Advance `index[:size]` to the next subset of `range(candidates)`; the first changed position, -1 at the end."""
    for position in range(size - 1, -1, -1):
        if index[position] < candidates - size + position:
            index[position] += 1
            for later in range(position + 1, size):
                index[later] = index[later - 1] + 1
            return position
    return -1


@kernel
def start_projection(scatter: Floats, x: int, y: int, moments: Floats, rank: Ints) -> None:
    """Set the moments of x and y before any regression: their sums of squares and of products."""
    moments[0, 0] = scatter[x, x]
    moments[0, 1] = scatter[y, y]
    moments[0, 2] = scatter[x, y]
    rank[0] = 0


@kernel
def extend_projection(scatter: Floats, x: int, y: int, given: Ints, start: int,
                      factor: Floats, loads: Floats, moments: Floats, rank: Ints) -> None:  # fmt: skip
    """Regress x and y on `given`, a set of some size, where everything up to `start` is already done.

    Afterwards `moments[size]` holds the residual squares of x, those of y and their residual products, and
    `rank[size]` the rank of the set.
    """
    for j in range(start, given.size):
        z = given[j]
        pivot = scatter[z, z]
        for k in range(j):
            value = scatter[z, given[k]]
            for i in range(k):
                value -= factor[j, i] * factor[k, i]
            value = value / factor[k, k] if factor[k, k] > 0.0 else 0.0
            factor[j, k] = value
            pivot -= value * value
        if pivot <= COLLINEAR_BELOW * scatter[z, z]:
            factor[j, j] = 0.0
            loads[0, j] = 0.0
            loads[1, j] = 0.0
            for part in range(3):
                moments[j + 1, part] = moments[j, part]
            rank[j + 1] = rank[j]
            continue
        root = math.sqrt(pivot)
        factor[j, j] = root
        on_x = scatter[x, z]
        on_y = scatter[y, z]
        for i in range(j):
            on_x -= loads[0, i] * factor[j, i]
            on_y -= loads[1, i] * factor[j, i]
        on_x /= root
        on_y /= root
        loads[0, j] = on_x
        loads[1, j] = on_y
        moments[j + 1, 0] = moments[j, 0] - on_x * on_x
        moments[j + 1, 1] = moments[j, 1] - on_y * on_y
        moments[j + 1, 2] = moments[j, 2] - on_x * on_y
        rank[j + 1] = rank[j] + 1
