"""Least squares of y on Z in every context and in all of them together, from rows.

Rows are put in the order of their contexts once; the fits then come from cross products per
context. A condition that is a linear function of the ones before it in some fit lowers the rank of
that fit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.kernels.linear import sweep


class Groups(NamedTuple):
    """Standardised rows of the contexts with enough of them, one context after another; y is the
    last column.
    """

    rows: Floats  # shape (n, conditions + 1)
    start: (
        Ints  # shape (contexts + 1,): context r has the rows from `start[r]` up to `start[r + 1]`
    )


class ContextFits(NamedTuple):
    """Least squares of y: one fit for all contexts, shifts by context, and a fit for every
    context.
    """

    # shape (contexts + 2, conditions): of the common fit, of the fit with shifts, then of every
    # context
    slopes: Floats
    left: Floats  # shape (contexts + 2,): residual sums of squares, in the same order
    rank: Ints  # shape (contexts + 2,): coefficients in each fit, intercepts included
    mean: Floats  # shape (contexts + 1, conditions + 1): of all rows, then of every context


@kernel
def group_rows(columns: Floats, y: Floats, codes: Ints, levels: int) -> Groups:
    """The rows of the contexts that are large enough, with pooled mean 0 and variance 1 in every
    column.
    """
    rows = np.empty((codes.size, columns.shape[1] + 1))
    start = np.empty(levels + 1, dtype=np.int64)
    return group_into(columns, y, codes, rows, start)


@kernel
def group_into(columns: Floats, y: Floats, codes: Ints, rows: Floats, start: Ints) -> Groups:
    """The same in arrays with room for all rows and all levels."""
    levels = start.size - 1
    counts = np.zeros(levels, dtype=np.int64)
    for i in range(codes.size):
        counts[codes[i]] += 1
    m = columns.shape[1]
    place = np.empty(levels, dtype=np.int64)
    contexts = 0
    start[0] = 0
    for level in range(levels):
        place[level] = -1
        if counts[level] >= m + 1 + SPARE_ROWS:
            place[level] = start[contexts]
            start[contexts + 1] = start[contexts] + counts[level]
            contexts += 1
    for i in range(codes.size):
        at = place[codes[i]]
        if at >= 0:
            for j in range(m):
                rows[at, j] = columns[i, j]
            rows[at, m] = y[i]
            place[codes[i]] += 1
    groups = Groups(rows[: start[contexts]], start[: contexts + 1])
    standardise(groups.rows)
    return groups


@kernel
def standardise(rows: Floats) -> None:
    """Centre and scale every column in place; a constant one becomes 0."""
    n, width = rows.shape
    for j in range(width):
        total, square = 0.0, 0.0
        for i in range(n):
            total += rows[i, j]
        centre = total / max(n, 1)
        for i in range(n):
            rows[i, j] -= centre
            square += rows[i, j] * rows[i, j]
        constant = square <= 1e-24 * n * centre * centre
        scale = 0.0 if constant else 1.0 / math.sqrt(square / n)
        for i in range(n):
            rows[i, j] *= scale


@kernel
def cross_products(rows: Floats, start: Ints, mean: Floats) -> Floats:
    """Centred cross products inside every context; the means are written to `mean`."""
    contexts = start.size - 1
    width = rows.shape[1]
    scatter = np.zeros((contexts, width, width))
    away = np.empty(width)
    for r in range(contexts):
        for j in range(width):
            mean[r, j] = 0.0
        for i in range(start[r], start[r + 1]):
            for j in range(width):
                mean[r, j] += rows[i, j]
        for j in range(width):
            mean[r, j] /= start[r + 1] - start[r]
        for i in range(start[r], start[r + 1]):
            for j in range(width):
                away[j] = rows[i, j] - mean[r, j]
                for a in range(j + 1):
                    scatter[r, j, a] += away[j] * away[a]
        for j in range(width):
            for a in range(j):
                scatter[r, a, j] = scatter[r, j, a]
    return scatter


@kernel
def fit_all(groups: Groups) -> ContextFits:
    """The common fit, the fit with shifts of the mean by context, and a fit for every context."""
    mean = np.zeros((groups.start.size, groups.rows.shape[1]))
    scatter = cross_products(groups.rows, groups.start, mean[1:])
    return fits_from(scatter, mean, groups.start)


@kernel
def fits_from(scatter: Floats, mean: Floats, start: Ints) -> ContextFits:
    """The same from centred cross products inside contexts, and means in units of all rows, whose
    own, 0, is first.
    """
    contexts = start.size - 1
    width = mean.shape[1]
    m = width - 1
    n = start[contexts]
    slopes = np.zeros((contexts + 2, m))
    left = np.zeros(contexts + 2)
    rank = np.zeros(contexts + 2, dtype=np.int64)
    tables = np.zeros((contexts + 2, width, width))
    for r in range(contexts):
        size = start[r + 1] - start[r]
        for j in range(width):
            for a in range(width):
                tables[0, j, a] += scatter[r, j, a] + size * mean[r + 1, j] * mean[r + 1, a]
                tables[1, j, a] += scatter[r, j, a]
                tables[r + 2, j, a] = scatter[r, j, a]
    for k in range(contexts + 2):
        own = tables[k, m, m]
        size = n if k < 2 else start[k - 1] - start[k - 2]
        rank[k] = (contexts if k == 1 else 1) + sweep(tables[k], m, size)
        left[k] = tables[k, m, m] if k < 2 or tables[k, m, m] > COLLINEAR_BELOW * own else 0.0
        for j in range(m):
            slopes[k, j] = tables[k, j, m]
    return ContextFits(slopes, left, rank, mean)


@kernel
def residuals_of(groups: Groups, fits: ContextFits, kind: int) -> Floats:
    """Residuals of the common fit (0), of the fit with shifts (1), or of the fits of every context
    (2).
    """
    m = groups.rows.shape[1] - 1
    out = np.empty(groups.rows.shape[0])
    for r in range(groups.start.size - 1):
        centre = fits.mean[0] if kind == 0 else fits.mean[r + 1]
        slopes = fits.slopes[kind if kind < 2 else r + 2]
        for i in range(groups.start[r], groups.start[r + 1]):
            value = groups.rows[i, m] - centre[m]
            for j in range(m):
                value -= slopes[j] * (groups.rows[i, j] - centre[j])
            out[i] = value
    return out
