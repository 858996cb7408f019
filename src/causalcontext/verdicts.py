"""What a trial answers: a statistic and a p-value, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Reason(IntEnum):
    """Why a trial has no p-value. An untestable pair keeps its edge: it is never called independent."""

    TESTABLE = 0
    FEW_ROWS = 1
    CONSTANT = 2
    COLLINEAR = 3
    FEW_CONTEXTS = 4
    NO_TEST = 5


REASON_TEXT = {
    Reason.FEW_ROWS: "too few rows",
    Reason.CONSTANT: "one of the two columns is constant in these rows",
    Reason.COLLINEAR: "one of the two columns is a linear function of the conditions in these rows",
    Reason.FEW_CONTEXTS: "fewer than two contexts have enough rows",
    Reason.NO_TEST: "no test takes columns of these kinds",
}


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The answers to a batch of trials, one entry each.

    Attributes
    ----------
    statistic, df, p : arrays of float, shape (trials,)
        NaN where a trial is untestable; `df` is NaN where the test has none.
    n : array of int, shape (trials,)
        Rows used.
    reason : array of int, shape (trials,)
        A `Reason` for every trial; 0 means that it was testable.
    label : array of int, shape (trials,), optional
        Which of the `labels` of the prepared test answered, where it has several that do not follow from the pair.
    """

    statistic: NDArray[np.float64]
    df: NDArray[np.float64]
    p: NDArray[np.float64]
    n: NDArray[np.int64]
    reason: NDArray[np.int8]
    label: NDArray[np.int8] | None = None
