"""Linear association of two sets of columns given a third, by Wilks' lambda and Rao's F.

One formula for several tests: Student's t of the partial correlation where both sets have one column, the F test of
adding columns to a linear regression where one has one. It is symmetric, and exact in both cases for Gaussian noise.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from causalcontext.ci_tests.rows import Comparison, untestable
from causalcontext.kernels.arrays import Floats
from causalcontext.views import Reason

FEWEST_DF = 5


def association(x: Floats, y: Floats, base: Floats) -> Comparison:
    """Whether x and y, bases of what two variables add to `base`, are uncorrelated.

    Parameters
    ----------
    x, y : arrays, shapes (rows, p) and (rows, q)
        As `designs.added_to` returns them.
    base : array, shape (rows, rank)

    Returns
    -------
    Answer
        Correlation and n - rank - 1 for p = q = 1, else Rao's F and its first degrees of freedom, pq.
    """
    (rows, p), q, rank = x.shape, y.shape[1], base.shape[1]
    if p == 0 or q == 0:
        return untestable(Reason.COLLINEAR)
    if rows - rank - max(p, q) < FEWEST_DF or rows - rank - p - q < 1:
        return untestable(Reason.FEW_ROWS)
    if p == q == 1:
        return correlation_answer(float(x[:, 0] @ y[:, 0]) / rows, rows - rank - 1)
    canonical = np.clip(np.linalg.svd(x.T @ y / rows, compute_uv=False), 0.0, 1.0)
    unexplained = float(np.prod((1.0 - canonical) * (1.0 + canonical)))
    return _rao(unexplained, p, q, rows - rank)


def correlation_answer(correlation: float, df: float) -> Comparison:
    """The t-test of a partial correlation."""
    bounded = float(np.clip(correlation, -1.0, 1.0))
    unexplained = (1.0 - bounded) * (1.0 + bounded)
    t = abs(bounded) * math.sqrt(df / unexplained) if unexplained > 0.0 else math.inf
    return Comparison(bounded, df, float(2.0 * scipy.special.stdtr(df, -t)))


def _rao(unexplained: float, p: int, q: int, spare: int) -> Comparison:
    """Rao's F of Wilks' lambda; `spare` is the number of rows less the rank of the conditions."""
    below = p * p + q * q - 5
    root = math.sqrt((p * p * q * q - 4) / below) if below > 0 else 1.0
    df = (spare - (p + q + 1) / 2) * root - (p * q - 2) / 2
    share = unexplained ** (1.0 / root)
    ratio = (1.0 - share) / share * df / (p * q) if share > 0.0 else math.inf
    return Comparison(ratio, float(p * q), float(scipy.special.fdtrc(p * q, df, ratio)))
