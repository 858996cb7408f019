"""Normal scores of ranks, and whether the likelihood prefers them to the columns as they are.

A monotone warp of a column (a logarithm, a cube) bends straight lines. Normal scores undo any such warp, but bend
mechanisms that were straight. Both models are densities of the same data once the slope of the transform is counted,
so the larger likelihood decides. The density of a column is estimated by its spacings.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset, complete_rows, mean_ranks
from causalcontext.data.kinds import Kind
from causalcontext.kernels.arrays import Floats
from causalcontext.score.setup import Setup


def transformed(setup: Setup) -> list[int]:
    """The variables that normal scores replace: the continuous ones."""
    kinds = setup.data.kinds
    return [j for j in range(setup.variables) if kinds[setup.position[j]] is Kind.CONTINUOUS]


def with_normal_scores(data: Dataset) -> Dataset:
    """The table with the normal scores of every continuous variable, over all rows; missing values stay missing."""
    columns = list(data.columns)
    usable = complete_rows(data)
    for position in (place for place in data.system if data.kinds[place] is Kind.CONTINUOUS):
        column = np.full(data.n_rows, np.nan)
        column[usable] = normal_scores(data.columns[position][usable])
        columns[position] = column
    return replace(data, columns=tuple(columns))


def normal_scores(column: NDArray[np.generic]) -> Floats:
    """Normal quantiles of the ranks; equal values share one.

    Examples
    --------
    >>> normal_scores(np.array([10.0, 30.0, 20.0])).round(2).tolist()
    [-0.67, 0.67, 0.0]
    """
    return np.asarray(scipy.special.ndtri(mean_ranks(column) / (len(column) + 1.0)))


def log_slope(column: Floats) -> float:
    """The sum over rows of the log slope of the transform, from standardised values to standardised normal scores.

    A model of the scores with log-likelihood L is a model of the column with log-likelihood L plus this.
    """
    z = normal_scores(column)
    standard = (column - column.mean()) / column.std()
    return float(np.sum(log_density(standard) + 0.5 * z**2 + 0.5 * np.log(2.0 * np.pi)) - len(z) * np.log(z.std()))


def log_density(column: Floats) -> Floats:
    """The log density at every value by spacings over the 2 m nearest order statistics, m = sqrt(n) (Vasicek 1976).

    Digamma terms remove the bias of a logarithm of a spacing. Equal values are kept apart by the smallest distance that
    occurs.
    """
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    n = len(ordered)
    reach = max(1, int(np.sqrt(n)))
    low = np.maximum(np.arange(n) - reach, 0)
    high = np.minimum(np.arange(n) + reach, n - 1)
    gaps = np.diff(ordered)
    smallest = gaps[gaps > 0].min(initial=1.0) if n > 1 else 1.0
    width = np.maximum(ordered[high] - ordered[low], smallest)
    density = np.empty(n)
    density[order] = scipy.special.digamma(high - low) - scipy.special.digamma(n + 1) - np.log(width)
    return density
