"""Ranks of numbers, and the normal quantiles of ranks."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

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
    return np.asarray(ndtri((mean_ranks(values) - 0.5) / values.size))
