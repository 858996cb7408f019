"""What a regression on columns needs and leaves behind, and the small linear algebra of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel

NO_VARIANCE = 1e-12

OWNER, PARTNER, SOURCE, FAMILY, CONTEXTS, BASIC, CURVED = range(7)
"""Rows of `BlockRegression.about`."""
END, LENGTH, TAKEN, PATH = range(4)
"""Columns of `Fits.whole`: path and chosen columns follow."""
CLOSED, ONLY_IF_IT_PAYS, WELCOME, UNKNOWN = range(4)
"""Who could still join at the end of a path; `UNKNOWN`: anyone may matter, no path is kept."""
LEFT, LEAST, WEIGHT, VALUE = range(4)
"""Lines of `Scratch.line`."""


class BlockRegression(NamedTuple):
    """Columns on the rows of one block, and what they cost there; Q columns, p nodes.

    Attributes
    ----------
    covariance : array, shape (Q, Q)
        In units of the pooled standard deviations.
    about : array of int, shape (7, Q)
        The node a column belongs to, and the second one of a product, else -1; its number among the columns of the
        rows. Where a column lives in some contexts only: the first of its family, in which the contexts, as a bit mask,
        count up from 1; and that mask (0: the whole block). 1 if a required parent must have the column; 1 if it is a
        curve.
    first : array of int, shape (p + 2,)
        The columns of node i are `first[i]` to `first[i + 1] - 1`; `first[p]` to `first[p + 1] - 1` are products.
    cost : array, shape (Q,)
        The price of one parameter.
    extra : array, shape (Q,)
        What a column costs beside its parameters: the choice among many.
    weight : array, shape (Q,)
        exp(2 price / rows) of a column, for a response of one column.
    variance : array, shape (Q,)
        The diagonal of the covariance.
    rows : float
    most : int
        The most columns beside required ones, -1 for too few rows.
    """

    covariance: Floats
    about: Ints
    first: Ints
    cost: Floats
    extra: Floats
    weight: Floats
    variance: Floats
    rows: float
    most: int


class Fits(NamedTuple):
    """The regression of every node in every slot (a node's list of blocks), and the path that led to it.

    At most W columns.

    Attributes
    ----------
    scores : array, shape (nodes, slots)
    whole : array of int, shape (nodes, slots, 3 + 2 W)
        `END`, `LENGTH` of the path, number `TAKEN`; the path; the columns taken.
    matters : array of bool, shape (nodes, slots, p) or (nodes, slots, 0)
        Whether the fit would be another one if a candidate were none, or if another variable were one. Without room
        for it nobody asks.
    """

    scores: Floats
    whole: Ints
    matters: Bools


class Target(NamedTuple):
    """The node to be explained, and its `width` response columns from `column` on.

    `blur` is the variance inside the bins of a number that was counted or rounded.
    """

    node: int
    column: int
    width: int
    blur: float


class Scratch(NamedTuple):
    """Arrays of one thread for a regression in progress.

    Attributes
    ----------
    candidates : array of bool, shape (p,)
    listed : array of int, shape (2, Q)
        Columns, those of candidates first; who would have to become a candidate for the others.
    rows : array, shape (W, Q)
    shared : array, shape (D, Q)
    line : array, shape (4, Q)
        Of the listed columns: residual variances, those that count as none, weights, what would be left over.
    small : array, shape (5, S, S)
        The response's residual covariance, its inverse, a factor, its inverse, slopes.
    """

    candidates: Bools
    listed: Ints
    rows: Floats
    shared: Floats
    line: Floats
    small: Floats


def no_fits(nodes: int, slots: int, width: int, asked: int) -> Fits:
    """Room for fits with at most `width` columns, and for what matters among so many variables."""
    shape = (nodes, slots)
    return Fits(np.zeros(shape), np.zeros((*shape, 3 + 2 * width), dtype=np.int64),
                np.zeros((*shape, asked), dtype=np.bool_))  # fmt: skip


def scratch(nodes: int, columns: int, width: int, responses: int) -> Scratch:
    """Scratch arrays for one thread."""
    size = max(width, responses) + 1
    return Scratch(np.zeros(nodes, dtype=np.bool_), np.zeros((2, columns), dtype=np.int64), np.zeros((width, columns)),
                   np.zeros((responses, columns)), np.zeros((4, columns)), np.zeros((5, size, size)))  # fmt: skip


@kernel
def price_of(table: BlockRegression, column: int, width: int) -> float:
    """What a column costs, a parameter for every column of the response."""
    return float(table.cost[column] * width + table.extra[column])


@kernel
def weight_of(table: BlockRegression, column: int, width: int) -> float:
    """The price of a column as a factor on the variance that is left."""
    if width == 1:
        return float(table.weight[column])
    return math.exp(2.0 * price_of(table, column, width) / table.rows)


@kernel
def invert(matrix: Floats, inverse: Floats, size: int) -> None:
    """The inverse of a covariance; directions without variance are left out."""
    if size == 1:
        inverse[0, 0] = 1.0 / matrix[0, 0] if matrix[0, 0] > NO_VARIANCE else 0.0
        return
    for i in range(size):
        for j in range(size):
            inverse[i, j] = -matrix[i, j]
    for k in range(size):
        pivot = -inverse[k, k]
        if pivot <= NO_VARIANCE + 1e-10 * matrix[k, k]:
            for i in range(size):
                inverse[i, k], inverse[k, i] = 0.0, 0.0
            continue
        for i in range(size):
            for j in range(size):
                if i != k and j != k:
                    inverse[i, j] += inverse[i, k] * inverse[k, j] / pivot
        for i in range(size):
            if i != k:
                inverse[i, k] /= pivot
                inverse[k, i] /= pivot
        inverse[k, k] = 1.0 / pivot


@kernel
def solve(covariance: Floats, chosen: Ints, count: int, target: Target, work: Scratch) -> None:
    """Regress the response on some columns: slopes in `small[4]`, what remains in `small[0]`.

    `small[2]` is the factor of the columns' covariance, `small[3]` its inverse.
    """
    left, factor, inverse, slopes = work.small[0], work.small[2], work.small[3], work.small[4]
    d = target.width
    for j in range(count):
        for i in range(j + 1):
            value = covariance[chosen[j], chosen[i]]
            for a in range(i):
                value -= factor[j, a] * factor[i, a]
            factor[j, i] = value / factor[i, i] if i < j else math.sqrt(max(value, 1e-12))
    for i in range(count):
        inverse[i, i] = 1.0 / factor[i, i]
        for j in range(i + 1, count):
            value = 0.0
            for a in range(i, j):
                value -= factor[j, a] * inverse[a, i]
            inverse[j, i] = value / factor[j, j]
    for a in range(d):
        for b in range(d):
            left[a, b] = covariance[target.column + a, target.column + b]
    left[0, 0] += target.blur
    for i in range(count):
        for a in range(d):
            value = 0.0
            for j in range(i + 1):
                value += inverse[i, j] * covariance[chosen[j], target.column + a]
            slopes[i, a] = value
    for i in range(count):
        for a in range(d):
            for b in range(d):
                left[a, b] -= slopes[i, a] * slopes[i, b]
    for i in range(count):
        for a in range(d):
            value = 0.0
            for j in range(i, count):
                value += inverse[j, i] * slopes[j, a]
            slopes[i, a] = value
