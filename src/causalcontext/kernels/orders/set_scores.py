"""Given sets of columns: their scores, and what one more column would gain."""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import ONE, Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import Note, fetch
from causalcontext.kernels.limits import SAME_COLUMN_BELOW, SMALL_COLUMN_BELOW, SMALLEST_VARIANCE
from causalcontext.kernels.orders.node_data import (
    BY_CONTEXT,
    DENSITIES,
    FIT_ARRAYS,
    KIND,
    MASK,
    NUMBER,
    ORDERED,
    START,
    WIDTH,
    BlockTables,
    Calls,
    FitRows,
    classes_of,
    regression_of,
    target_of,
)
from causalcontext.kernels.orders.regressions import CONTEXTS, OWNER, PARTNER, SOURCE, Scratch, invert, price_of, solve
from causalcontext.kernels.rows.noise_densities import DensityTable


@kernel
def score_sets(calls: Calls, arrays: Note, tasks: Ints, sets: Ints, out: Floats) -> None:
    """Score sets of columns as they are: task t is a block and a node, `sets[t]` a number of columns and the columns.

    Parameters
    ----------
    out : array, shape (tasks, 2 + W)
        Written: the score; for numbers the residual variance and the slopes.
    """
    tables, rows, densities = (
        fetch(arrays, FIT_ARRAYS, BlockTables),
        fetch(arrays, FIT_ARRAYS, FitRows),
        fetch(arrays, FIT_ARRAYS, DensityTable),
    )
    work = fetch(arrays, FIT_ARRAYS, Scratch)
    for t in range(tasks.shape[0]):
        block, node, count, chosen = tasks[t, 0], tasks[t, 1], sets[t, 0], sets[t, 1:]
        table, facts = regression_of(tables, block), tables.block[block]
        if rows.node[node, KIND] != NUMBER:
            own = classes_of(tables, rows, block, node)
            one_pass = calls.ordered_pass if rows.node[node, KIND] == ORDERED else calls.logit_pass
            three, prices = np.full((3, sets.shape[1]), -1), np.full((3, sets.shape[1] - 1), math.inf)
            for a in range(count + 1):
                three[0, a] = sets[t, a]
            out[t, 0] = calls.choose_columns(own, calls.class_fit, one_pass, three, prices)
            for a in range(count):
                out[t, 0] -= price_of(table, chosen[a], rows.node[node, WIDTH])
            continue
        solve(table.covariance, chosen, count, target_of(rows, node), work)
        left = max(work.small[0, 0, 0], SMALLEST_VARIANCE)
        score = tables.number[block, START] - 0.5 * table.rows * math.log(left)
        pair, slopes = np.zeros((2, count), dtype=np.int64), np.zeros(count)
        for a in range(count):
            score -= price_of(table, chosen[a], ONE)
            pair[0, a], pair[1, a] = table.about[SOURCE, chosen[a]], table.about[CONTEXTS, chosen[a]]
            slopes[a] = work.small[4, a, 0]
            out[t, 2 + a] = slopes[a]
        if rows.facts[DENSITIES] > 0.0:
            score += calls.number_gain(
                rows.values,
                rows.starts,
                facts[MASK],
                facts[BY_CONTEXT] == 1,
                rows.node[node],
                pair,
                slopes,
                table.rows,
                densities,
                calls.density_gain,
            )
        out[t, 0], out[t, 1] = score, left


@kernel
def best_extras(arrays: Note, tasks: Ints, sets: Ints, curves: Bools, out: Floats) -> None:
    """What the best further column of every variable gains by moments, its price paid, given a set of columns.

    Parameters
    ----------
    curves : array of bool, shape (2,)
        Whether plain columns and whether curves are tried.
    out : array, shape (tasks, p, 2)
        Written: the gain (-inf if there is no column), and the share of the residual variance it explains, with the
        sign of the covariance; of a product both factors count as its owner.
    """
    tables, rows, work = (
        fetch(arrays, FIT_ARRAYS, BlockTables),
        fetch(arrays, FIT_ARRAYS, FitRows),
        fetch(arrays, FIT_ARRAYS, Scratch),
    )
    for t in range(tasks.shape[0]):
        node, count, chosen = tasks[t, 1], sets[t, 0], sets[t, 1:]
        table, target = regression_of(tables, tasks[t, 0]), target_of(rows, node)
        solve(table.covariance, chosen, count, target, work)
        invert(work.small[0], work.small[1], target.width)
        for j in range(out.shape[1]):
            out[t, j, 0], out[t, j, 1] = -math.inf, 0.0
        for column in range(table.first[0], table.first[out.shape[1] + 1]):
            if not curves[table.about[6, column]] or table.covariance[column, column] < SMALL_COLUMN_BELOW:
                continue
            share, sign = _explained(table.covariance, chosen, count, column, target.column, target.width, work.small)
            left = max(1.0 - share, SMALLEST_VARIANCE)
            gain = -0.5 * table.rows * math.log(left) - price_of(table, column, target.width)
            for side in range(2):
                owner = table.about[OWNER if side == 0 else PARTNER, column]
                if owner >= 0 and owner != node and gain > out[t, owner, 0]:
                    out[t, owner, 0], out[t, owner, 1] = gain, math.copysign(share, sign)


@kernel
def _explained(covariance: Floats, chosen: Ints, count: int, column: int, response: int, d: int,
               small: Floats) -> tuple[float, float]:  # fmt: skip
    """The share of the residual response that a further column explains, and the sign of their covariance.

    `small` has what `solve` and `invert` left there.
    """
    shared, variance = np.zeros(d), covariance[column, column]
    for a in range(d):
        shared[a] = covariance[column, response + a]
    for i in range(count):
        load = 0.0
        for j in range(i + 1):
            load += small[3, i, j] * covariance[chosen[j], column]
        variance -= load * load
        for a in range(d):
            own = 0.0
            for j in range(i + 1):
                own += small[3, i, j] * covariance[chosen[j], response + a]
            shared[a] -= load * own
    if variance <= SAME_COLUMN_BELOW * covariance[column, column]:
        return 0.0, 1.0
    total = 0.0
    for a in range(d):
        for b in range(d):
            total += shared[a] * small[1, a, b] * shared[b]
    return min(total / variance, 1.0), shared[0]
