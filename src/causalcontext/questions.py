"""Which rows answer an independence question: the one idea of the paper.

Every constraint-based search asks questions. Context-specific discovery only changes which rows answer them, so
the methods of the paper differ in one small function each: `adaptive` (PC-AC, Algorithm 1, line 8), `masked`
(PC-M) and `pooled` (PC-P).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Query(NamedTuple):
    """What a search asks: are columns `x` and `y` independent given the columns `given`?"""

    x: int
    y: int
    given: tuple[int, ...]


class Trial(NamedTuple):
    """What is run: a query on the rows where every `(context column, level)` of `where` holds.

    The pooled view is the empty `where`.
    """

    x: int
    y: int
    given: tuple[int, ...]
    where: tuple[tuple[int, int], ...] = ()


Rule = Callable[[Query, int, int], Trial]
"""`rule(query, context column, level)`: the trial that answers the query in the graph of that level."""


def adaptive(query: Query, context: int, level: int) -> Trial:
    """The paper's line 8: rows of one context if the context is in the conditioning set, all rows otherwise."""
    if context not in query.given:
        return Trial(*query)
    rest = tuple(column for column in query.given if column != context)
    return Trial(query.x, query.y, rest, where=((context, level),))


def masked(query: Query, context: int, level: int) -> Trial:
    """Rows of one context, always. The context is constant there, so it leaves the conditioning set."""
    rest = tuple(column for column in query.given if column != context)
    return Trial(query.x, query.y, rest, where=((context, level),))


def pooled(query: Query, context: int, level: int) -> Trial:
    """All rows, always; the context is a column like any other."""
    return Trial(*query)


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
        Which of the `labels` of the prepared test answered, where it has several.
    """

    statistic: NDArray[np.float64]
    df: NDArray[np.float64]
    p: NDArray[np.float64]
    n: NDArray[np.int64]
    reason: NDArray[np.int8]
    label: NDArray[np.int8] | None = None
