"""Ranks of numbers, and the normal quantiles of ranks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.kernels.arrays import Floats, Values


def mean_ranks(values: Values) -> Floats:
    """The rank of every value, from 1; equal values share the mean of their ranks.

    Examples
    --------
    >>> mean_ranks(np.array([2.0, 1.0, 2.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2.0)[place])


def gaussian_ranks(values: Values) -> Floats:
    """The normal quantiles of (rank - 1/2) / n."""
    return np.asarray(scipy.special.ndtri((mean_ranks(values) - 0.5) / values.size))


def with_normal_scores(data: Dataset) -> Dataset:
    """The table with every continuous system variable replaced by its normal scores; missing values stay missing."""
    columns = list(data.columns)
    for position in data.system:
        if data.kinds[position] is Kind.CONTINUOUS:
            values = np.asarray(data.columns[position], np.float64)
            known = np.isfinite(values) & (data.codes >= 0)
            scores = np.where(np.isfinite(values), np.nan, values)  # what is infinite is still found and named
            scores[known] = gaussian_ranks(values[known])
            columns[position] = scores
    return replace(data, columns=tuple(columns))
