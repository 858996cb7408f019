"""How much of what causes do to the odds of a category shows in some rows? A logit with one coefficient for each.

The log odds of every level that a cause makes in one context are computed row by row, and the logit of the category in
the same or another context gets one coefficient for all of them, beside other causes, whose slopes are free: it is 1 if
all of the effect is there, and 0 if nothing is. Slopes of logits have no scale of their own: where anything else moves
the category more, all of them are smaller. So what one cause lost counts only beside what another one kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.results.slopes import Slope

FEWEST_OF_A_LEVEL = 5
"""Rows of rarer levels are left out: odds between the others do not depend on them."""
RIDGE = 1e-2
"""On the slopes of other causes, in standard units: separated levels have no finite ones."""
MOST_STEPS, SMALL_STEP = 50, 1e-8
MOST_ENTRIES = 50_000_000
"""Rows times coefficients times levels: beyond, rows are thinned."""
UNKNOWN = Slope(np.nan, np.nan, np.nan, 0)


class Shares(NamedTuple):
    """The coefficients of given log odds, their covariances from the information and from the sandwich, and df."""

    values: Floats
    usual: Floats
    robust: Floats
    df: int

    def along(self, weights: Sequence[float]) -> Slope:
        """A combination of them; its error is the larger of the two."""
        w = np.asarray(weights, dtype=np.float64)
        value, error = float(w @ self.values), float(np.sqrt(max(w @ self.usual @ w, w @ self.robust @ w)))
        t = value / error
        return Slope(value, error, float(t / np.sqrt(t * t + self.df)), self.df)


def class_share(odds: Floats, codes: Floats, others: Sequence[Floats]) -> Slope:
    """The coefficient of given log odds in the logit of a category; NaN where `class_shares` has nothing."""
    found = class_shares([odds], codes, others)
    return UNKNOWN if found is None else found.along([1.0])


def kept_more(odds: Floats, kept: Floats, codes: Floats, others: Sequence[Floats]) -> float:
    """The p-value of "no more is left of some log odds than of others", one-sided; NaN where it cannot be told."""
    found = class_shares([odds, kept], codes, others)
    if found is None:
        return np.nan
    more = found.along([-1.0, 1.0])
    return float(scipy.special.stdtr(more.df, -more.value / more.error))


def class_shares(given: Sequence[Floats], codes: Floats, others: Sequence[Floats]) -> Shares | None:
    """The coefficients of given log odds in the logit of a category beside other columns, whose slopes are free.

    Parameters
    ----------
    given : sequence of arrays, each of shape (rows, levels - 1)
        What causes add to the log odds of every level against the last one.
    codes : array, shape (rows,)
        The number of the level of every row.
    others : sequence of arrays, each of shape (rows,)

    Returns
    -------
    Shares, or None with fewer than two levels, with too few rows, and where no finite coefficients are best.
    """
    levels, counts = np.unique(codes.astype(np.int64), return_counts=True)
    levels = levels[counts >= FEWEST_OF_A_LEVEL]
    kept = np.isin(codes, levels)
    design = _standardised(np.column_stack([np.ones(int(kept.sum())), *(other[kept] for other in others)]))
    free = len(levels) - 1
    df = len(design) - free * design.shape[1] - len(given)
    if free < 1 or df < SPARE_ROWS:
        return None
    step = max(1, -(-design.size * free * free // MOST_ENTRIES))
    every = [np.column_stack([odds, np.zeros(len(odds))])[np.ix_(kept, levels)] for odds in given]
    relative = [(odds[:, :-1] - odds[:, -1:])[::step] for odds in every]
    is_level = (codes[kept][::step, None] == levels[:-1]).astype(np.float64)
    return _fitted(_rates(design[::step], relative), is_level, design.shape[1], df // step)


def _rates(design: Floats, given: Sequence[Floats]) -> Floats:
    """How every log odds changes with every coefficient, those of given odds last: (rows, levels - 1, number)."""
    (rows, free), wide = given[0].shape, design.shape[1]
    rates = np.zeros((rows, free, free * wide + len(given)))
    for level in range(free):
        rates[:, level, level * wide : (level + 1) * wide] = design
    rates[:, :, free * wide :] = np.stack(given, axis=2)
    return rates


def _fitted(rates: Floats, is_level: Floats, wide: int, df: int) -> Shares | None:
    """The coefficients of given odds in the logit with the largest likelihood, by Newton's method."""
    slopes = is_level.shape[1] * wide
    ridge = np.where(np.arange(rates.shape[2]) < slopes, RIDGE, 0.0)
    ridge[0:slopes:wide] = 0.0
    beta = np.zeros(rates.shape[2])
    for _ in range(MOST_STEPS):
        chances = _chances(rates @ beta)
        parts = np.einsum("rlk,rl->rk", rates, is_level - chances)
        information = _information(rates, chances) + np.diag(ridge)
        if np.linalg.cond(information) > 1e12:
            return None
        change = np.linalg.solve(information, parts.sum(axis=0) - ridge * beta)
        if np.abs(change).max() < SMALL_STEP * (1.0 + np.abs(beta).max()):
            inverse = np.linalg.inv(information)
            robust = inverse @ (parts.T @ parts) @ inverse
            return Shares(beta[slopes:], inverse[slopes:, slopes:], robust[slopes:, slopes:], df)
        beta = beta + change / max(1.0, float(np.abs(change).max()) / 2.0)
    return None


def _chances(odds: Floats) -> Floats:
    """Probabilities of all levels but the last."""
    largest = np.maximum(odds.max(axis=1, keepdims=True), 0.0)
    powers = np.exp(odds - largest)
    return np.asarray(powers / (powers.sum(axis=1, keepdims=True) + np.exp(-largest)))


def _information(rates: Floats, chances: Floats) -> Floats:
    mean = np.einsum("rlk,rl->rk", rates, chances)
    weighted = rates * chances[:, :, None]
    return np.asarray(np.einsum("rlk,rlm->km", weighted, rates, optimize=True) - mean.T @ mean)


def _standardised(design: Floats) -> Floats:
    """Columns with mean 0 and variance 1, but the first, which is 1; copies and constant ones are left out."""
    kept = [design[:, 0]]
    for column in design.T[1:]:
        rest = column - column.mean()
        size = float(rest @ rest)
        basis = np.linalg.qr(np.column_stack(kept))[0]
        left = rest - basis @ (basis.T @ rest)
        if float(left @ left) > 1e-8 * size > 0.0:
            kept.append(rest / np.sqrt(size / len(rest)))
    return np.column_stack(kept)
