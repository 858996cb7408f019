"""The linear algebra of regressions in kernels: Cholesky factors of small matrices, and sweeps of
cross products.

One rule for columns that say the same: what is left of such a column is nothing, and its
coefficient stays 0.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW, CONSTANT_BELOW

NO_PIVOT = 1e-12
"""A pivot below this share of its diagonal counts as 0."""


@kernel(fastmath={"reassoc", "contract"})
def factorise(matrix: Floats) -> None:
    """The Cholesky factor in place of the lower triangle; a column without a pivot gets an infinite
    one.
    """
    for i in range(matrix.shape[0]):
        diagonal = matrix[i, i]
        for j in range(i + 1):
            value = 0.0
            for a in range(j):
                value += matrix[i, a] * matrix[j, a]
            value = matrix[i, j] - value
            if j < i:
                matrix[i, j] = value / matrix[j, j]
            else:
                matrix[i, i] = math.sqrt(value) if value > NO_PIVOT * diagonal else math.inf


@kernel
def solve_half(factor: Floats, vector: Floats) -> float:
    """Solve with the factor alone, in place; the sum of squares: the quadratic form with the
    inverse of the matrix.
    """
    total = 0.0
    for i in range(vector.size):
        value = vector[i]
        for a in range(i):
            value -= factor[i, a] * vector[a]
        vector[i] = value / factor[i, i]
        total += vector[i] * vector[i]
    return total


@kernel
def solve_rest(factor: Floats, vector: Floats) -> None:
    """The solution with the factored matrix from what `solve_half` left, in place."""
    for i in range(vector.size - 1, -1, -1):
        value = vector[i]
        for a in range(i + 1, vector.size):
            value -= factor[a, i] * vector[a]
        vector[i] = value / factor[i, i]


@kernel
def invert(matrix: Floats, inverse: Floats) -> None:
    """The inverse of a positive definite matrix, of which the lower triangle is given and lost."""
    size = matrix.shape[0]
    half = np.zeros((size, size))
    factorise(matrix)
    for j in range(size):
        half[j, j] = 1.0
        for a in range(j):
            slope = matrix[j, a]
            for i in range(a + 1):
                half[j, i] -= slope * half[a, i]
        for i in range(j + 1):
            half[j, i] /= matrix[j, j]
    for i in range(size):
        for j in range(size):
            inverse[i, j] = 0.0
    for a in range(size):
        for i in range(a + 1):
            slope = half[a, i]
            for j in range(i + 1):
                inverse[i, j] += slope * half[a, j]
    for i in range(size):
        for j in range(i):
            inverse[j, i] = inverse[i, j]


@kernel
def sweep(table: Floats, size: int, rows: int) -> int:
    """Regress everything on the first `size` variables, in place; their rank.

    Afterwards `table[:size, a]` holds the slopes of a variable a and the rest of the table what is
    left of the cross products. `rows` is the number of rows behind the table, whose columns have
    about unit variance.
    """
    rank = 0
    width = table.shape[0]
    used = np.zeros(size, dtype=np.bool_)
    own = np.empty(size)
    for j in range(size):
        own[j] = table[j, j]
    for j in range(size):
        pivot = table[j, j]
        if pivot <= COLLINEAR_BELOW * own[j] or own[j] <= CONSTANT_BELOW * rows:
            continue
        used[j] = True
        rank += 1
        for a in range(width):
            table[j, a] /= pivot
        for i in range(width):
            if i != j and table[i, j] != 0.0:
                factor = table[i, j]
                for a in range(width):
                    table[i, a] -= factor * table[j, a]
    for j in range(size):
        if not used[j]:
            for a in range(width):
                table[j, a] = 0.0
    return rank


@kernel
def project(table: Floats, j: int, nothing: float) -> int:
    """Regress every column on column j, in place, whose own entries become 0; 0 if nothing was left
    of it before.
    """
    pivot = table[j, j]
    if pivot <= nothing:
        table[j, :] = 0.0
        table[:, j] = 0.0
        return 0
    row = table[j] / pivot
    for a in range(len(table)):
        load = table[a, j]
        if load != 0.0 and a != j:
            for b in range(len(table)):
                table[a, b] -= load * row[b]
    table[j, :] = 0.0
    table[:, j] = 0.0
    return 1


@kernel(fastmath={"reassoc", "contract"})
def weighted_products(design: Floats, weight: Floats, goal: Floats) -> None:
    """Cross products of all lines of the design, weighted: the lower triangle."""
    width, n = design.shape
    scaled = np.empty(n)
    for a in range(width):
        for t in range(n):
            scaled[t] = weight[t] * design[a, t]
        for b in range(a + 1):
            value = 0.0
            for t in range(n):
                value += scaled[t] * design[b, t]
            goal[a, b] = value
