"""Which columns the logit of a category keeps: sets of columns are thinned out on the rows, and the best one wins.

Wilks' lambda over all columns also picks curves that the logit does not need: given the category every function of a
cause differs in mean. So the choice among all columns, that among plain ones and their union are each thinned out by
the logit itself, and the best is taken.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import NOBODY
from causalcontext.kernels.calls import Call, pointer_to
from causalcontext.kernels.compiling import njit
from causalcontext.kernels.rows.class_scores import class_fit, logit_call

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SURE = 5.0
"""A column is not tried out if its Wald statistic promises to lose so much more than twice its price."""


class ClassRows(NamedTuple):
    """A category on the rows of a block.

    Attributes
    ----------
    values : array, shape (columns, m)
        Rows sorted by context; `starts` has the first row of every context.
    codes : array of int, shape (m,)
    starts : array of int, shape (contexts + 1,)
    mask, by_context : int, bool
        The contexts of the block, and whether each has its own intercept.
    classes, ordered : int, bool
    weight, price : float
        The rows that each of these stands for; what a parameter costs.
    """

    values: Floats
    codes: Ints
    starts: Ints
    mask: int
    by_context: bool
    classes: int
    ordered: bool
    weight: float
    price: float


@cache
def choice_call() -> Call:
    """`choose_columns` behind a pointer."""
    whole, number = np.zeros(1, dtype=np.int64), np.zeros(1)
    rows = ClassRows(number[:, None], whole, whole, 1, False, 2, False, 1.0, 1.0)
    return pointer_to(choose_columns, rows, logit_call(), whole[:, None], number[:, None])


@njit(cache=True, nogil=True, error_model="numpy")
def choose_columns(rows: ClassRows, one_pass: Call, sets: Ints, prices: Floats) -> float:
    """The best score of three sets of columns, each thinned out; the first set is replaced by the best one.

    Parameters
    ----------
    sets : array of int, shape (3, 1 + W)
        The number of columns of each set, then the columns.
    prices : array, shape (3, W)
        What the columns cost; infinite for those that must stay, whose price the caller subtracts.
    """
    best, winner = -math.inf, 0
    for turn in range(3):
        if turn > 0 and (sets[turn, 0] < 0):
            continue
        value = _thin_out(rows, one_pass, sets[turn], prices[turn])
        if value > best + 1e-9:
            best, winner = value, turn
    for t in range(sets[winner, 0] + 1):
        sets[0, t] = sets[winner, t]
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _thin_out(rows: ClassRows, one_pass: Call, chosen: Ints, price: Floats) -> float:
    """Drop columns as long as the score of the logit rises."""
    loss, other, rest = np.zeros(chosen.size), np.zeros(chosen.size), chosen.copy()
    score = class_score(rows, one_pass, chosen, price, NOBODY, loss)
    tried = 0
    while tried < chosen[0]:
        place, lowest = NOBODY, math.inf
        for t in range(chosen[0]):
            if loss[t] - price[t] < lowest and price[t] < math.inf:
                place, lowest = t, loss[t] - price[t]
        if place < 0 or loss[place] > 2.0 * price[place] + SURE:
            break
        value = class_score(rows, one_pass, chosen, price, place, other)
        tried += 1
        loss[place] = math.inf
        if value > score:
            score, tried = value, 0
            chosen[0] -= 1
            for t in range(chosen[0]):
                loss[t] = other[t]
                if t >= place:
                    chosen[1 + t], price[t] = rest[2 + t], price[t + 1]
            for t in range(chosen[0]):
                rest[1 + t] = chosen[1 + t]
    return score


@njit(cache=True, nogil=True, error_model="numpy")
def class_score(rows: ClassRows, one_pass: Call, chosen: Ints, price: Floats, without: int, loss: Floats) -> float:
    """The penalised log-likelihood given some columns but one; half the Wald statistic of each in `loss`."""
    contexts, width = rows.starts.size - 1, 1 if rows.ordered else rows.classes - 1
    shifts = contexts - 1 if rows.by_context else 0
    size, count = 0, chosen[0] - (1 if without >= 0 else 0)
    for r in range(contexts):
        size += rows.starts[r + 1] - rows.starts[r] if rows.mask & (1 << r) else 0
    design, codes = np.zeros((1 + shifts + count, size)), np.empty(size, dtype=np.int64)
    place = 0
    for r in range(contexts):
        length = rows.starts[r + 1] - rows.starts[r] if rows.mask & (1 << r) else 0
        for t in range(length):
            codes[place + t] = rows.codes[rows.starts[r] + t]
            design[0, place + t] = 1.0
            if 0 < r <= shifts:
                design[r, place + t] = 1.0
        for a in range(count):
            column = chosen[1 + a] if without < 0 or a < without else chosen[2 + a]
            for t in range(length):
                design[1 + shifts + a, place + t] = rows.values[column, rows.starts[r] + t]
        place += length
    wald = np.zeros(1 + shifts + count)
    score = rows.weight * class_fit(one_pass, design, codes, rows.classes, rows.ordered, wald)
    score -= rows.price * (rows.classes - 1 + shifts * width)
    for a in range(count):
        cost = price[a] if without < 0 or a < without else price[a + 1]
        score -= cost if cost < math.inf else 0.0
        loss[a] = rows.weight * wald[1 + shifts + a]
    return score
