"""The log-likelihood of a multinomial logit and its derivatives, row by row."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

Floats = NDArray[np.float64]


def naive_logit(
    design: Floats, codes: NDArray[np.int64], classes: int, slopes: Floats
) -> tuple[float, Floats, Floats]:
    """Value, gradient and negative Hessian; `design` has a column for every row of the table."""
    by_class = np.vstack([slopes.reshape(classes - 1, -1), np.zeros(len(design))])
    value, gradient, curvature = 0.0, np.zeros(slopes.size), np.zeros((slopes.size, slopes.size))
    for x, code in zip(design.T, codes, strict=True):
        logs = log_softmax(by_class @ x)
        shares = np.exp(logs)[:-1]
        value += logs[code]
        gradient += np.kron((np.arange(classes - 1) == code) - shares, x)
        curvature += np.kron(np.diag(shares) - np.outer(shares, shares), np.outer(x, x))
    return value, gradient, curvature
