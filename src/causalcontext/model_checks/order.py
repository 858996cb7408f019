"""Do rows depend on the ones before them? The correlation of residuals of neighbouring rows."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats


def lag_one(left: Floats, follows: Bools) -> Floats:
    """The correlation of every residual with that of the row before, in units in which its variance is 1 / rows.

    Parameters
    ----------
    left : array, shape (rows, columns)
        Residuals with mean 0 and variance 1, in the order of the table.
    follows : array of bool, shape (rows,)
        True where the row before it in the table is the one before it here.

    Examples
    --------
    >>> steps = np.cumsum(np.random.default_rng(0).normal(size=(200, 1)), axis=0)
    >>> bool(lag_one((steps - steps.mean()) / steps.std(), np.arange(200) > 0)[0] > 0.9)
    True
    """
    later = np.flatnonzero(follows)
    if later.size == 0:
        return np.zeros(left.shape[1])
    products = np.einsum("ij,ij->j", left[later], left[later - 1])
    return np.asarray(products / np.sqrt(later.size * len(left)))
