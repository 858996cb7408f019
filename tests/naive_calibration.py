"""Slow, obvious twins of what a calibration is made of; nothing here imports the package."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax


def multinomial_shares(design, codes):
    """Fitted probabilities of a multinomial logit, by a general optimiser; the last category has
    slopes 0.
    """
    categories = int(codes.max()) + 1

    def scores(slopes):
        free = slopes.reshape(design.shape[1], categories - 1)
        return np.column_stack([design @ free, np.zeros(len(codes))])

    def loss(slopes):
        values = scores(slopes)
        return np.mean(logsumexp(values, axis=1) - values[np.arange(len(codes)), codes])

    best = minimize(
        loss, np.zeros(design.shape[1] * (categories - 1)), method="BFGS", options={"gtol": 1e-6}
    ).x
    return softmax(scores(best), axis=1)


def residuals(y, columns):
    """What a linear regression with an intercept leaves of y."""
    design = np.column_stack([np.ones(len(y)), *columns])
    return y - design @ np.linalg.solve(design.T @ design, design.T @ y)


def compatible_shares(rejected, tested, quantile):
    """All shares q on a fine grid with |rejected / tested - q| within `quantile` standard errors of
    q.
    """
    grid = np.arange(0.0, 1.0 + 5e-6, 1e-5)
    inside = np.abs(rejected / tested - grid) <= quantile * np.sqrt(grid * (1 - grid) / tested)
    return grid[inside].min(), grid[inside].max()
