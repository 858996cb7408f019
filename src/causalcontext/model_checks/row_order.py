"""Do rows depend on the rows before them? Not because a table is sorted: that is a choice of
whoever wrote the file.

Sorted by a column, or by several, rows drift: neighbours are alike in that column, and in
everything that goes along with it. But given the column they are as independent as before. So, of
what a mechanism leaves, the check looks at two things, once functions of those columns are taken
out by which the table looks sorted:

- at neighbours: are they more alike than rows a little further apart? Members of a household are,
  and successive values of a series. In a sorted table, by whatever, both distances are nearly the
  same, since it drifts slowly.
- at a drift over the whole table, which no column explains: then time, or whatever made the order,
  acts on the rows.

A table looks sorted by a column where its steps from row to row go the same way over long stretches
(those of a stationary series go up as often as down), or, of few values, where these come in
groups. Of a column that it is sorted by nothing is asked. Nor is a drift where the order of the
rows is a function of the columns together, such as a sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext.data.dataset import gaussian_ranks, mean_ranks
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.model_checks.settings import (
    DRIFT_COUNTS,
    FEWEST_DRIFT_PARTS,
    FEWEST_PAIRS,
    FIRST_FAR_ROW,
    FUNCTION_KNOTS,
    FUNCTION_OF_COLUMNS,
    GROUPED_SHARE,
    LAST_FAR_ROW,
    MOST_COLUMNS_CROSSED,
    MOST_DRIFT_PARTS,
    MOST_LABEL_VALUES,
    ONE_WAY,
    ROUNDING_SHARE,
    ROWS_OF_A_DRIFT_PART,
    ROWS_OF_A_TERM,
    STEPS_OF_A_STRETCH,
)


class RowOrder(NamedTuple):
    """The order of the rows of a table, and the columns by which they look sorted."""

    part: Ints  # shape (rows,): which rows come from one stretch of neighbouring rows of the table
    sorted_by: Bools  # shape (columns,): columns of the table in whose order the rows are
    # shape (rows, terms): orthonormal functions of these, and of labels that come in groups
    functions: Floats
    drifts: bool  # whether a drift over the rows would be more than the trace of sorting
    # shape (keys, rows): by every column that says which rows belong together, the number of the
    # group of every row, -1 where there is none
    keys: Ints = np.zeros((0, 0), dtype=np.int64)

    def at(self, rows: Ints) -> RowOrder:
        """The same for some of the rows, in their order."""
        if len(rows) == len(self.part):
            return self
        next_to_it = (np.diff(rows) == 1) & (np.diff(self.part[rows]) == 0)
        part = np.concatenate([[0], np.cumsum(~next_to_it)])[: len(rows)]
        functions = _orthonormal(self.functions[rows])
        return self._replace(part=part, functions=functions, keys=self.keys[:, rows])


def row_order(values: Floats, follows: Bools) -> RowOrder:
    """By what the rows look sorted; `follows` is True where a row comes directly after the one
    before it.

    `values`, shape (rows, columns), are numbers, and indicators of the levels of categories.
    """
    part = np.cumsum(~follows) - 1
    sorted_by = np.array(
        [steps_one_way(column, follows) >= ONE_WAY for column in values.T], dtype=bool
    )
    terms = [np.zeros((len(values), 0))]
    for position, column in enumerate(values.T):
        levels = np.unique(column)
        few = len(levels) <= MOST_LABEL_VALUES
        if sorted_by[position] or (few and is_grouped(column, follows)):
            terms.append(
                (column[:, None] == levels[1:]).astype(np.float64) if few else _functions(column)
            )
    functions = _orthonormal(np.hstack(terms))
    drifts = not (
        sorted_by & (_level_counts(values) > MOST_LABEL_VALUES)
    ).any() and not _is_function(values)
    return RowOrder(part, sorted_by, functions, drifts)


def row_dependence(left: Floats, order: RowOrder, column: Ints) -> Floats:
    """The dependence of rows on others near them, for every residual, in units in which its
    variance is 1 / rows.

    `left`, shape (rows, responses), has mean 0 and variance 1, or is NaN; `column` is the place of
    each response among the columns of the table. The larger of both kinds of dependence; 0 for a
    column that the table is sorted by.
    """
    usable = ~np.isnan(left[0]) & ~order.sorted_by[column]
    dependence = np.where(np.isnan(left[0]), np.nan, 0.0)
    if usable.any():
        dependence[usable] = _dependence(left[:, usable], order)
    return dependence


def group_dependence(left: Floats, order: RowOrder) -> Floats:
    """The likeness of rows of one group beyond that of near rows, for every key and residual.

    Shape (keys, responses), in units in which its variance is 1 / rows. Rows are brought into the
    order of the key. Where it is a number, as that of a household, and a residual drifts with it,
    as with an age, near groups are alike as well, and nothing is said.
    """
    dependence = np.where(np.isnan(left[0]), np.nan, np.zeros((len(order.keys), 1)))
    usable = ~np.isnan(left[0])
    for number, key in enumerate(order.keys):
        rows = np.argsort(key, kind="stable")
        rows = rows[key[rows] >= 0]
        if usable.any() and np.count_nonzero(np.diff(key[rows]) == 0) >= FEWEST_PAIRS:
            alike = _alike(_even_ranks(left[rows][:, usable]), key[rows], np.zeros_like(rows))
            dependence[number, usable] = np.maximum(alike, 0.0)
    return np.asarray(dependence)


def _dependence(left: Floats, order: RowOrder) -> Floats:
    """The same for residuals of columns that the table is not sorted by; beside a slow drift,
    neighbours are compared.

    Sorted by a second column within groups of a first, what goes along with the first is no
    function of the second alone: so functions of the place in the table are taken out together with
    those of columns.
    """
    near = left_beside(left, _orthonormal(np.hstack([order.functions, _places(len(left))])))
    # unlike neighbours are an accident
    dependence = np.maximum(alike_neighbours(_even_ranks(near), order.part), 0.0)
    if order.drifts:
        dependence = np.maximum(
            dependence, DRIFT_COUNTS * _drift(_even_ranks(left_beside(left, order.functions)))
        )
    return np.asarray(dependence)


def left_beside(left: Floats, functions: Floats) -> Floats:
    """The part of residuals that orthonormal functions leave; 0 where that is rounding."""
    rest = left - functions @ (functions.T @ left)
    return np.asarray(np.where(np.mean(rest * rest, axis=0) > ROUNDING_SHARE, rest, 0.0))


def _places(rows: int) -> Floats:
    """Slow functions of the place of a row: a line with a bend between any two parts of the
    table.
    """
    share_of_rows = np.linspace(0.0, 1.0, rows)
    bends = np.linspace(0.0, 1.0, _parts(rows) + 1)[:-1]
    return np.column_stack([np.maximum(share_of_rows - bend, 0.0) for bend in bends])


def alike_neighbours(left: Floats, part: Ints) -> Floats:
    """The likeness of neighbours beyond that of rows further apart: a difference of correlations.

    Its variance is 1 / rows. Residuals, shape (rows, columns), have mean 0 and variance 1; rows of
    different parts are not compared.
    """
    return _alike(left, part, part)


def _alike(left: Floats, near_part: Ints, far_part: Ints) -> Floats:
    """The same, where neighbours are compared in other parts than rows further apart."""
    rows = len(left)
    near = _correlation(left, near_part, 1)
    every = [
        _correlation(left, far_part, lag)
        for lag in range(FIRST_FAR_ROW, min(LAST_FAR_ROW, rows - 1) + 1)
    ]
    far = [correlation for correlation in every if correlation is not None]
    if near is None:
        return np.zeros(left.shape[1])
    if not far:
        return np.asarray(near)
    return np.asarray((near - np.mean(far, axis=0)) / np.sqrt(1.0 + 1.0 / len(far)))


def _even_ranks(left: Floats) -> Floats:
    """Ranks in place of residuals, with mean 0 and variance 1: where a column is sorted, its
    largest values are far apart, and rows there would seem to be near only their neighbours."""
    ranks = np.column_stack([mean_ranks(column) for column in left.T])
    centred = ranks - ranks.mean(axis=0)
    return np.asarray(centred / np.maximum(np.sqrt(np.mean(centred**2, axis=0)), 1e-300))


def _correlation(left: Floats, part: Ints, lag: int) -> Floats | None:
    """The correlation of rows so far apart, in units in which its variance is 1 / rows; None if
    there are none.
    """
    later = np.flatnonzero(part[lag:] == part[: len(part) - lag]) + lag
    if later.size == 0:
        return None
    products = np.einsum("ij,ij->j", left[later], left[later - lag])
    return np.asarray(products / np.sqrt(later.size * len(left)))


def steps_one_way(column: Floats, follows: Bools) -> float:
    """The share of steps by which a column goes one way rather than the other within stretches; 0
    to 1.

    The signs of the steps are added up in stretches of `STEPS_OF_A_STRETCH`; the sizes of these
    sums count.
    """
    steps = np.sign(np.diff(column)[follows[1:]])
    steps = steps[steps != 0.0]
    if steps.size == 0:
        return 0.0
    sums = np.add.reduceat(steps, np.arange(0, steps.size, STEPS_OF_A_STRETCH))
    return float(np.abs(sums).sum() / steps.size)


def is_grouped(column: Floats, follows: Bools) -> bool:
    """True if values of a column change from row to row much less often than if rows were
    shuffled.
    """
    _, counts = np.unique(column, return_counts=True)
    by_chance = (1.0 - np.sum((counts / counts.sum()) ** 2)) * np.count_nonzero(follows)
    return bool(np.count_nonzero(np.diff(column)[follows[1:]]) < GROUPED_SHARE * by_chance)


def _functions(column: Floats) -> Floats:
    """Smooth functions of a column, by the normal scores of its ranks; shape (rows, terms)."""
    z = gaussian_ranks(column)
    return np.column_stack([z, z**2, z**3, *(np.maximum(z - knot, 0.0) for knot in FUNCTION_KNOTS)])


def _orthonormal(terms: Floats) -> Floats:
    """A basis of what the terms are beside the constant; at most half as many columns as rows."""
    if terms.size == 0:
        return terms
    centred = terms - terms.mean(axis=0)
    scaled = centred / np.maximum(np.sqrt(np.mean(centred**2, axis=0)), ROUNDING_SHARE)
    basis, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    kept = min(int(np.count_nonzero(sizes > ROUNDING_SHARE * sizes[0])), len(terms) // 2)
    return np.asarray(basis[:, :kept])


def _level_counts(values: Floats) -> Ints:
    """The number of different values of every column, shape (columns,)."""
    return np.array([np.unique(column).size for column in values.T], dtype=np.int64)


def _is_function(values: Floats) -> bool:
    """True if the place of a row in the table is nearly a function of its columns: curves of each,
    and products.

    The largest set of terms is taken that the rows allow.
    """
    rows, columns = values.shape
    scores = gaussian_ranks(values)
    first, second = np.triu_indices(columns if columns <= MOST_COLUMNS_CROSSED else 0, 1)
    curves = [scores**2, *(np.maximum(scores - knot, 0.0) for knot in FUNCTION_KNOTS[::3])]
    row_scores = gaussian_ranks(np.arange(rows, dtype=np.float64))
    for terms in (
        [scores, *curves, scores[:, first] * scores[:, second]],
        [scores, *curves],
        [scores],
    ):
        whole = np.column_stack(terms)
        if rows >= ROWS_OF_A_TERM * whole.shape[1]:
            rest = left_beside(row_scores[:, None], _orthonormal(whole))
            return bool(np.mean(rest**2) < (1.0 - FUNCTION_OF_COLUMNS) * np.mean(row_scores**2))
    return False


def _parts(rows: int) -> int:
    """The number of parts of the table whose means are compared for a drift."""
    return max(min(MOST_DRIFT_PARTS, rows // ROWS_OF_A_DRIFT_PART), 1)


def _drift(left: Floats) -> Floats:
    """The share of the variance that lies between parts of the table, beyond chance; 0 in small
    tables.
    """
    rows = len(left)
    parts = _parts(len(left))
    if parts < FEWEST_DRIFT_PARTS:
        return np.zeros(left.shape[1])
    edges = np.linspace(0, rows, parts + 1).astype(np.int64)
    sums = np.add.reduceat(left, edges[:-1], axis=0)
    between = np.sum(sums**2 / np.diff(edges)[:, None], axis=0)
    return np.asarray((between - (parts - 1)) / rows)
