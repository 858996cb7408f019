"""Null tables: one column is drawn anew from its own conditions alone; and named dependences on top of them.

A number is the fitted value of its regression on the conditions plus noise: its own residuals in another order
(Freedman and Lane 1983), or Gaussian numbers of the same variance. A category is drawn from a multinomial logit on the
conditions. Where the context is a condition, or only one context is looked at, all this is done in every context by
itself. Whatever the fit is worth, the new column depends on nothing but the conditions: the null holds exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.diagnostics.calibration.questions import DrawnQuery
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.rows.glm import RIDGE, first_slopes, fit_glm, probabilities
from causalcontext.kernels.rows.likelihoods import LOGIT

NULLS = ("permutation", "bootstrap")
MOST_WORK = 5e7
"""Rows times coefficients squared, up to which the logit of a category has all conditions."""
TOLERANCE = 1e-6
"""A gain of likelihood that ends a fit."""
Random = np.random.Generator
NONE = "none"
"""What the table calls an alternative that makes no sense for a query."""


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


def category_shares(design: Floats, codes: Floats) -> Floats:
    """The probability of every category in every row by a multinomial logit, shape (rows, categories).

    A light ridge keeps separated categories from being certain. Many categories are fitted on the first conditions
    alone, since the price grows with the square of both.
    """
    categories, own = np.unique(codes, return_inverse=True)
    if categories.size == 1:
        return np.ones((len(codes), 1))
    widest = max(1, int(np.sqrt(MOST_WORK / len(codes)) / (categories.size - 1)))
    columns = np.ascontiguousarray(design[:, :widest].T)
    slopes = first_slopes(LOGIT, own, categories.size, len(columns))
    fit_glm(LOGIT, columns, own, categories.size, slopes, RIDGE, TOLERANCE)
    return probabilities(LOGIT, columns, categories.size, slopes)


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
    shares = category_shares(design, codes)
    drawn = (random.random((len(codes), 1)) > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
    return np.asarray(np.unique(codes)[drawn])


def _indicators(codes: Floats) -> Floats:
    """One column for every category that occurs, shape (rows, categories)."""
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64)


def changed_column(name: str, data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float,
                   random: Random) -> tuple[str, Floats | None]:  # fmt: skip
    """The alternative that was used, and the response under it; None where the alternative makes no sense.

    Two categories have no mean: "mean" stands for "association" there.
    """
    is_number = data.kinds[draw.response].is_number
    if not is_number and name == "mean":
        name, effect = "association", min(effect, 1.0)
    if is_number == (name == "association"):
        return NONE, None
    changed = ALTERNATIVES[name](data, draw, null, effect, random)
    return (NONE, None) if changed is None else (name, changed)


def shifted_mean(data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random) -> Floats:
    """A shift in one category of the other end, or a slope on it, by `effect` standard deviations of the noise."""
    is_number = data.kinds[draw.other].is_number
    shift = _scaled(data, draw, draw.other) if is_number else _one_group(data, draw, random)
    return np.asarray(null.fitted + null.noise + effect * _spread(data, draw, null) * shift)


def other_slope(data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random) -> Floats | None:
    """Another slope on the first condition that is a number, in one group of the other end."""
    numbers = [column for column in draw.given if data.kinds[column].is_number]
    if not numbers:
        return None
    tilt = _scaled(data, draw, numbers[0]) * _one_group(data, draw, random)
    return np.asarray(null.fitted + null.noise + effect * _spread(data, draw, null) * tilt)


def other_variance(data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random) -> Floats:
    """Noise that is 1 + `effect` times as large in one group of the other end."""
    return np.asarray(null.fitted + null.noise * (1.0 + effect * _one_group(data, draw, random)))


def association(data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random) -> Floats:
    """Every category of the other end has a category of the response tied to it, taken with probability `effect`."""
    occurring = np.unique(null.fitted)
    _, other = np.unique(np.asarray(data.columns[draw.other]), return_inverse=True)
    tied = random.permutation(occurring)[other % occurring.size]
    return np.where(random.random(data.n_rows) < effect, tied, null.fitted)


ALTERNATIVES: dict[str, Callable[[Dataset, DrawnQuery, NullColumn, float, Random], Floats | None]] = {
    "mean": shifted_mean,
    "slope": other_slope,
    "variance": other_variance,
    "association": association,
}


def _one_group(data: Dataset, draw: DrawnQuery, random: Random) -> Floats:
    """1 in the rows of one category of the other end, drawn at random, or above its median; 0 elsewhere."""
    values = np.asarray(data.columns[draw.other], dtype=np.float64)
    if data.kinds[draw.other].is_number:
        return np.asarray(values > np.median(values[_answering(data, draw)]), dtype=np.float64)
    return np.asarray(values == random.choice(np.unique(values)), dtype=np.float64)


def _scaled(data: Dataset, draw: DrawnQuery, column: int) -> Floats:
    """A column in units of its standard deviation in the rows that answer, around its mean there."""
    values = np.asarray(data.columns[column], dtype=np.float64)
    inside = values[_answering(data, draw)]
    spread = inside.std()
    return np.asarray((values - inside.mean()) / (spread if spread > 0.0 else 1.0))


def _spread(data: Dataset, draw: DrawnQuery, null: NullColumn) -> float:
    """The standard deviation of the noise in the rows that answer."""
    return float(null.noise[_answering(data, draw)].std())


def _answering(data: Dataset, draw: DrawnQuery) -> Bools:
    """True for the rows that answer the query; for all, where its context happens to have none."""
    inside: Bools = np.full(data.n_rows, True) if draw.level is None else data.codes == draw.level
    return inside if inside.any() else ~inside
