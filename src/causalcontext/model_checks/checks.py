"""The checks: every statistic of every fit, the least of all fits, and which of them are both clear and significant.

If lines and Gaussian noise in independent rows are right, residuals have no correlation with squares and products of
other columns, their squares none with the columns, their skewness and excess kurtosis is 0, no row is far away, and
each is independent of the row before. A finding needs a clear effect besides significance: large tables reject every
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.dataset import Dataset
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.model_checks.order import lag_one
from causalcontext.model_checks.residuals import NumericRows, ResidualFit, fits, numeric_rows
from causalcontext.model_checks.violations import CURVES, INTERACTIONS, OUTLIERS, ROWS, SKEW, SPREAD, TAILS, Violation

LEVEL = 0.01
"""Of a check of a whole table."""
CLEAR_CORRELATION, CLEAR_PRODUCT, CLEAR_SKEWNESS, CLEAR_KURTOSIS, CLEAR_LAG = 0.1, 0.15, 0.5, 1.0, 0.05
CLEAR_QUANTILES = 0.08
"""Skewness by quantiles, (Q90 + Q10 - 2 Q50) / (Q90 - Q10): a few far rows do not move it."""
FAR, CLEAR_SHARE, LEAST_FAR = 8.0, 0.002, 2
"""Rows farther from the median than so many robust standard deviations: at least this share of rows, and so many."""
MANY_VARIABLES = 30
"""Beyond so many numbers residuals are held against their causes only."""
PRODUCTS_AT_A_TIME = 500


class Statistics(NamedTuple):
    """One number for every checked column.

    Attributes
    ----------
    curves : array
        The largest correlation of the residual with squares and cubes of its causes.
    hidden_curves : array
        The largest with squares of all columns: a cause that acts by its square alone is no neighbour.
    interactions : array
        The largest with products of two columns.
    spread : array
        The largest of its square with its causes and their squares.
    skewness, quantiles, kurtosis, far, lag : arrays
        Quantiles and far rows are looked at only where skewness and kurtosis are clear.
    """

    curves: Floats
    hidden_curves: Floats
    interactions: Floats
    spread: Floats
    skewness: Floats
    quantiles: Floats
    kurtosis: Floats
    far: Floats
    lag: Floats


def check_table(data: Dataset, endpoints: Endpoints) -> tuple[Violation, ...]:
    """Everything in which a table contradicts the linear-Gaussian model around some graphs, shape (contexts, N, N)."""
    numeric = numeric_rows(data)
    if numeric.checked.size == 0:
        return ()
    found = [statistics(numeric, fit) for fit in fits(numeric, endpoints)]
    if not found:
        return ()
    least = Statistics(*(_nearest_zero(np.array(column)) for column in zip(*found, strict=True)))
    names = [data.names[position] for position in numeric.owner[numeric.checked]]
    return tuple(_violations(least, len(numeric.values), names))


def statistics(numeric: NumericRows, fit: ResidualFit) -> Statistics:
    """All statistics of one fit."""
    left, beside, causes = fit.left, fit.beside, fit.causes
    all_others: Bools = causes if beside.shape[1] > MANY_VARIABLES else ~np.eye(beside.shape[1], dtype=bool)
    squares, spread = beside * beside, left * left
    against_squares = _correlations(squares, left)
    cubes = (squares - 3.0) * beside
    skewness, kurtosis = np.mean(spread * left, axis=0), np.mean(spread * spread, axis=0) - 3.0
    return Statistics(
        np.maximum(_largest(against_squares, causes), _largest(_correlations(cubes, left), causes)),
        _largest(against_squares, all_others),
        _products(left, beside, all_others),
        np.maximum(_largest(_correlations(squares, spread), causes), _largest(_correlations(beside, spread), causes)),
        skewness,
        _where(np.abs(skewness) > CLEAR_SKEWNESS, _quantile_skewness, left),
        kurtosis,
        _where(kurtosis > CLEAR_KURTOSIS, _far, left),
        lag_one(left, numeric.follows[fit.rows] & (np.diff(fit.rows, prepend=-2) == 1)),
    )


def _violations(found: Statistics, rows: int, names: list[str]) -> Iterator[Violation]:
    nodes = len(names)
    pairs = nodes * max(nodes - 1, 1)
    skewed = _beyond(found.skewness, CLEAR_SKEWNESS, nodes, rows / 6.0) & (abs(found.quantiles) > CLEAR_QUANTILES)
    far = (found.far >= np.maximum(CLEAR_SHARE * rows, LEAST_FAR)) & ~skewed
    heavy = _beyond(np.maximum(found.kurtosis, 0.0), CLEAR_KURTOSIS, nodes, rows / 24.0) & ~skewed & ~far
    odd = bool(np.any(skewed | far))  # then residuals are correlated with squares and products of their own effects
    curves = found.curves if odd else np.maximum(found.curves, found.hidden_curves)
    products = np.zeros(nodes) if odd else found.interactions
    checks = (
        (CURVES, curves, _beyond(curves, CLEAR_CORRELATION, 2 * pairs, rows)),
        (INTERACTIONS, products, _beyond(products, CLEAR_PRODUCT, pairs * nodes, rows)),
        (SPREAD, found.spread, _beyond(found.spread, CLEAR_CORRELATION, 2 * pairs, rows)),
        (SKEW, found.skewness, skewed),
        (TAILS, found.kurtosis, heavy),
        (OUTLIERS, found.far / rows, far),
        (ROWS, found.lag, _beyond(found.lag, CLEAR_LAG, nodes, rows)),
    )
    for kind, sizes, there in checks:
        chosen = sorted(np.flatnonzero(there), key=lambda node: (-abs(sizes[node]), names[node]))
        if chosen:
            yield Violation(kind, tuple(names[node] for node in chosen), float(sizes[chosen[0]]))


def _beyond(sizes: Floats, clear: float, comparisons: int, weight: float) -> Bools:
    """Where a size is clear, and significant among so many comparisons; its variance is 1 / weight."""
    bound = -float(scipy.special.ndtri(LEVEL / (2.0 * comparisons))) / np.sqrt(weight)
    return np.asarray(np.abs(sizes) > max(clear, bound))


def _nearest_zero(sizes: Floats) -> Floats:
    """Of several fits the one that contradicts least; a fit without a residual does not count, 0 if none has one."""
    filled = np.where(np.isnan(sizes), np.inf, sizes)
    best = np.take_along_axis(filled, np.argmin(np.abs(filled), axis=0)[None], axis=0)[0]
    return np.where(np.isinf(best), 0.0, best)


def _largest(correlations: Floats, against: Bools) -> Floats:
    return np.asarray(np.where(against, np.abs(correlations), 0.0).max(axis=0, initial=0.0))


def _products(left: Floats, beside: Floats, against: Bools) -> Floats:
    """The largest correlation of every residual with a product of two of its columns."""
    first, second = np.triu_indices(beside.shape[1], 1)
    both = against[first] & against[second]
    wanted = np.flatnonzero(both.any(axis=1))
    largest = np.zeros(left.shape[1])
    for begin in range(0, wanted.size, PRODUCTS_AT_A_TIME):
        some = wanted[begin : begin + PRODUCTS_AT_A_TIME]
        products = beside[:, first[some]] * beside[:, second[some]]
        largest = np.maximum(largest, _largest(_correlations(products, left), both[some]))
    return largest


def _correlations(many: Floats, others: Floats) -> Floats:
    """Of every column of the one with every column of the other."""
    first, second = many - many.mean(axis=0), others - others.mean(axis=0)
    scale = np.sqrt(np.outer(np.einsum("ij,ij->j", first, first), np.einsum("ij,ij->j", second, second)))
    return np.asarray(first.T @ second / np.where(scale > 0, scale, 1.0))


def _where(wanted: Bools, statistic: Callable[[Floats], Floats], left: Floats) -> Floats:
    """A statistic of some of the columns; 0 elsewhere, NaN where there are no residuals."""
    found = np.where(np.isnan(left[0]), np.nan, 0.0)
    if wanted.any():
        found[wanted] = statistic(left[:, wanted])
    return found


def _quantile_skewness(left: Floats) -> Floats:
    low, middle, high = np.quantile(left, (0.1, 0.5, 0.9), axis=0)
    return np.asarray((high + low - 2.0 * middle) / np.where(high > low, high - low, 1.0))


def _far(left: Floats) -> Floats:
    """How many rows are far from the median."""
    away = np.abs(left - np.median(left, axis=0))
    robust = 1.4826 * np.median(away, axis=0)
    return np.asarray((away > FAR * np.where(robust > 0, robust, np.inf)).sum(axis=0).astype(np.float64))
