"""Error bars: the standard deviation of means over resampled runs (the paper: 200 resamples)."""

from __future__ import annotations

from functools import cache

import numpy as np

from causalcontext.kernels.arrays import Floats

RESAMPLES = 200


def bootstrap_std(values: Floats) -> Floats:
    """The bootstrap standard deviation of the mean of every column, runs without a value left out.

    Parameters
    ----------
    values : array of float, shape (runs, metrics)
        NaN where a run has no value.

    Returns
    -------
    array of float, shape (metrics,)
        NaN where fewer than two runs have a value.
    """
    if len(values) == 0:
        return np.full(values.shape[1], np.nan)
    known = ~np.isnan(values)
    weights = resampling_weights(len(values))
    counts = weights @ known
    means = np.divide(weights @ np.where(known, values, 0.0), counts, out=np.full(counts.shape, np.nan),
                      where=counts > 0)  # fmt: skip
    usable = known.sum(axis=0) >= 2
    spread = np.full(values.shape[1], np.nan)
    spread[usable] = np.nanstd(means[:, usable], axis=0, ddof=1)
    return spread


@cache
def resampling_weights(runs: int) -> Floats:
    """How often each run is in each resample, shape (resamples, runs); the same for every metric and method.

    So methods are compared on the same resampled models, and no result depends on the order of the table.
    """
    drawn = np.random.default_rng(runs).multinomial(runs, np.full(runs, 1.0 / runs), size=RESAMPLES)
    weights: Floats = drawn.astype(np.float64)
    weights.setflags(write=False)
    return weights
