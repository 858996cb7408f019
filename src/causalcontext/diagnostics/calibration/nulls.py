"""Null tables: one column is drawn anew from its own conditions alone, and all others stay as they are.

A number is the fitted value of its regression on the conditions plus noise: its own residuals in another order
(Freedman and Lane 1983), or Gaussian numbers of the same variance. A category is drawn from a multinomial logit on the
conditions. Where the context is a condition, or only one context is looked at, all this is done in every context by
itself. Whatever the fit is worth, the new column depends on nothing but the conditions: the null holds exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.diagnostics.calibration.questions import DrawnQuery
from causalcontext.kernels.arrays import Floats, Ints

NULLS = ("permutation", "bootstrap")
MOST_STEPS = 200
CLOSE = 1e-4
"""Shares of categories that change less in a step are taken as they are."""


class NullColumn(NamedTuple):
    """A response without any dependence on the other end: `fitted` + `noise`, or codes in `fitted` and no noise."""

    fitted: Floats
    noise: Floats


def null_column(data: Dataset, draw: DrawnQuery, null: str, random: np.random.Generator) -> NullColumn:
    """The response of a query, drawn anew given the conditions."""
    values = np.asarray(data.columns[draw.response], dtype=np.float64)
    conditions = [column for column in draw.given if column != data.context]
    fitted, noise = np.empty((2, data.n_rows))
    for rows in _strata(data, draw):
        design = design_of(data, conditions, rows)
        if data.kinds[draw.response].is_number:
            fitted[rows], noise[rows] = _drawn_number(values[rows], design, null, random)
        else:
            fitted[rows], noise[rows] = _drawn_category(values[rows], design, null, random), 0.0
    return NullColumn(fitted, noise)


def finished(values: Floats, kind: Kind) -> Floats:
    """The values as a column of that kind can hold them: counts are whole numbers from 0."""
    return np.maximum(np.round(values), 0.0) if kind is Kind.COUNT else values


def design_of(data: Dataset, conditions: list[int], rows: Ints) -> Floats:
    """An intercept, standardised numbers, and one indicator for every category but the first; shape (rows, width)."""
    parts = [np.ones((len(rows), 1))]
    for column in conditions:
        values = np.asarray(data.columns[column], dtype=np.float64)[rows]
        parts.append(standardised(values)[:, None] if data.kinds[column].is_number else _indicators(values)[:, 1:])
    return np.hstack(parts)


def standardised(values: Floats) -> Floats:
    """The values with mean 0 and standard deviation 1; zeros if they are constant."""
    away = values - values.mean()
    spread = away.std()
    return np.asarray(away / spread if spread > 0.0 else np.zeros_like(away))


def category_shares(design: Floats, indicators: Floats) -> Floats:
    """The probability of every category in every row by a multinomial logit, shape (rows, categories).

    Notes
    -----
    Every step maximises a quadratic lower bound of the likelihood, whose curvature is the same everywhere (Boehning
    1992): no step overshoots, separated categories are approached slowly rather than without end, and the price does
    not grow with the square of the number of categories.
    """
    slopes = np.zeros((design.shape[1], indicators.shape[1]))
    towards = 2.0 * np.linalg.pinv(design)
    shares = np.full(indicators.shape, 1.0 / indicators.shape[1])
    for _ in range(MOST_STEPS):
        slopes += towards @ (indicators - shares)
        before, shares = shares, _softmax(design @ slopes)
        if np.abs(shares - before).max() < CLOSE:
            break
    return shares


def _strata(data: Dataset, draw: DrawnQuery) -> list[Ints]:
    """The rows of every context where contexts are kept apart, else all rows."""
    if draw.level is None and data.context not in draw.given:
        return [np.arange(data.n_rows)]
    return [np.flatnonzero(data.codes == level) for level in range(len(data.contexts.cells))]


def _drawn_number(values: Floats, design: Floats, null: str, random: np.random.Generator) -> tuple[Floats, Floats]:
    slopes, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    fitted = np.asarray(design @ slopes)
    residual = values - fitted
    if null == "permutation":
        return fitted, random.permutation(residual)
    spread = np.sqrt(residual @ residual / max(len(values) - int(rank), 1))
    return fitted, spread * random.standard_normal(len(values))


def _drawn_category(codes: Floats, design: Floats, null: str, random: np.random.Generator) -> Floats:
    if design.shape[1] == 1 and null == "permutation":
        return random.permutation(codes)
    shares = category_shares(design, _indicators(codes))
    drawn = (random.random((len(codes), 1)) > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
    return np.asarray(np.unique(codes)[drawn])


def _indicators(codes: Floats) -> Floats:
    """One column for every category that occurs, shape (rows, categories)."""
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64)


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
