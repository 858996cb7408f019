"""Rows that agree in all categorical conditions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalcontext.ci_tests.rows import Variable
from causalcontext.kernels.arrays import Ints


def strata_of(given: Sequence[Variable], rows: int) -> Ints:
    """A number 0, 1, ... for every row: the combination of values that the conditions have there."""
    strata = np.zeros(rows, dtype=np.int64)
    for variable in given:
        _, own = np.unique(variable.values, return_inverse=True)
        _, strata = np.unique(strata * (own.max() + 1) + own, return_inverse=True)
    return strata


def parts_of(strata: Ints) -> list[NDArray[np.intp]]:
    """The rows of every stratum, in order."""
    order = np.argsort(strata, kind="stable")
    return np.split(order, np.cumsum(np.bincount(strata))[:-1])
