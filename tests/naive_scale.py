"""Location and scale by a general optimiser: the twin of `kernels/rows/scales.py`."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_likelihood(
    response: Floats, location: Floats, scale: Floats
) -> tuple[float, Floats, Floats]:
    """The largest Gaussian log-likelihood of y = a'x + s exp(g'h) u, with its a and g; x and h have
    a row a column.
    """

    def loss(slopes: Floats) -> float:
        logarithm = slopes @ scale
        beta = weighted(response, location, logarithm)
        u = (response - beta @ location) * np.exp(-logarithm)
        return float(logarithm.sum() + 0.5 * len(u) * np.log(np.mean(u * u)))

    found = [
        scipy.optimize.minimize(
            loss, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-6}
        )
        for start in (np.zeros(len(scale)), np.full(len(scale), 0.4))
    ]
    best = min(found, key=lambda each: each.fun)
    beta = weighted(response, location, best.x @ scale)
    return -float(best.fun) - 0.5 * len(response) * (1.0 + np.log(2.0 * np.pi)), beta, best.x


def weighted(response: Floats, location: Floats, logarithm: Floats) -> Floats:
    """The slopes of a regression with weights 1 / s^2."""
    root = np.exp(-logarithm)
    return np.asarray(np.linalg.lstsq((location * root).T, response * root, rcond=None)[0])
