"""Least squares of y on Z in every context and in all of them together, from rows.

Rows are put in the order of their contexts once; the fits then come from cross products per
context. A condition that is a linear function of the ones before it in some fit lowers the rank of
that fit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Ints


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


def group_rows(columns: Floats, y: Floats, codes: Ints, levels: int) -> Groups:
    """The rows of the contexts that are large enough, with pooled mean 0 and variance 1 in every
    column.

    `columns` has shape (n, conditions), y and the codes of the contexts (n,).
    """
    rows = np.empty((codes.size, columns.shape[1] + 1))
    start = np.empty(levels + 1, dtype=np.int64)
    contexts = _kernels.group_into(columns, y, codes, rows, start)
    return Groups(rows[: start[contexts]], start[: contexts + 1])


def cross_products(rows: Floats, start: Ints) -> Floats:
    """Centred cross products inside every context, shape (contexts, width, width)."""
    contexts = start.size - 1
    width = rows.shape[1]
    scatter = np.zeros((contexts, width, width))
    _kernels.cross_products(rows, start, np.empty((contexts, width)), scatter)
    return scatter


def fit_all(groups: Groups) -> ContextFits:
    """The common fit, the fit with shifts of the mean by context, and a fit for every context."""
    contexts = groups.start.size - 1
    width = groups.rows.shape[1]
    fits = ContextFits(
        slopes=np.empty((contexts + 2, width - 1)),
        left=np.empty(contexts + 2),
        rank=np.empty(contexts + 2, dtype=np.int64),
        mean=np.empty((contexts + 1, width)),
    )
    _kernels.fit_all(groups, fits)
    return fits


def residuals_of(groups: Groups, fits: ContextFits, kind: int) -> Floats:
    """Residuals of the common fit (0), of the fit with shifts (1), or of the fits of every context
    (2).
    """
    residuals = np.empty(len(groups.rows))
    _kernels.residuals_of(groups, fits, kind, residuals)
    return residuals
