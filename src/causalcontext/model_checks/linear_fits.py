"""The check of a table against the linear-Gaussian model around its graphs.

A graph is an estimate, and which rows share a mechanism is another one. So every number of a table
is regressed on those that point at it, on those that may, and on all of its neighbours, in all rows
together and in every context by itself: whatever the truth is, one of them is near it. A check
fails if it fails in each of these ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed, may_cause
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.model_checks.residuals import (
    Residuals,
    check_residuals,
    in_units,
    least,
    rows_are_alike,
    statistics,
)
from causalcontext.model_checks.row_order import RowOrder, row_order
from causalcontext.model_checks.settings import (
    FEWEST_CHECKED_ROWS,
    FEWEST_GROUPS,
    LARGEST_GROUP,
    MOST_CHECKED_CELLS,
    MOST_CHECKED_ROWS,
    MOST_NUMBERS_CROSSED,
    ROUNDING_SHARE,
    ROWS_OF_A_RUN,
    SLOPE_RIDGE,
    SMALLEST_GROUP,
    SPARE_ROWS_OF_A_FIT,
)
from causalcontext.model_checks.violations import ROWS, Violation


class NumericRows(NamedTuple):
    """Rows of all columns as numbers."""

    # standardised numbers, and indicators of the levels of categories; shape (rows, columns)
    values: Floats
    owner: Ints  # the variable behind every column
    checked: Ints  # the columns of continuous variables
    cells: Ints  # the context of every row
    order: RowOrder


def check_table(data: Dataset, endpoints: Endpoints) -> tuple[Violation, ...]:
    """The violations of the linear-Gaussian model that a table shows around its graphs, shape
    (contexts, N, N).
    """
    keys = groups_of_rows(data)
    numeric = numeric_rows(data, keys)
    if not numeric.checked.size:
        return ()
    measured = [statistics(fit) for fit in fits(numeric, endpoints)]
    if not measured:
        return ()
    names = [data.names[position] for position in numeric.owner[numeric.checked]]
    return check_residuals(least(measured), len(numeric.values), names, keys=tuple(keys))


def check_rows(data: Dataset, endpoints: Endpoints) -> tuple[Violation, ...]:
    """The violations of `check_table` that are about dependent rows.

    All fits have to show such a violation: the one on all neighbours is asked first, and where it
    has none, which takes a tenth of the time, the others are not made.
    """
    numeric = numeric_rows(data, groups_of_rows(data))
    if not numeric.checked.size:
        return ()
    neighbours = np.asarray(adjacent(endpoints).any(axis=0))
    design = neighbours[np.ix_(numeric.owner, numeric.owner[numeric.checked])]
    fit = _fit(numeric, design, np.zeros_like(numeric.cells), design[numeric.checked])
    if fit is None or not rows_are_alike(fit):
        return ()
    return tuple(violation for violation in check_table(data, endpoints) if violation.kind == ROWS)


def groups_of_rows(data: Dataset) -> dict[str, Ints]:
    """The group of every row, -1 where there is none, by every column that may say which rows
    belong together.

    These are columns of text that were left out, and whole numbers that a few rows share each, as
    the number of a household.
    """
    groups = {name: codes for name, codes in data.keys.items() if len(codes) == data.n_rows}
    for position in data.system:
        if data.kinds[position] is not Kind.CONTINUOUS:
            continue
        values = np.asarray(data.columns[position], dtype=np.float64)
        known = np.isfinite(values)
        different = np.unique(values[known])
        if different.size < FEWEST_GROUPS or np.any(different != np.round(different)):
            continue
        if SMALLEST_GROUP <= known.sum() / different.size <= LARGEST_GROUP:
            places = np.searchsorted(different, values)
            groups[data.names[position]] = np.where(known, places, -1).astype(np.int64)
    return groups


NO_GROUPS: Mapping[str, Ints] = MappingProxyType({})


def numeric_rows(data: Dataset, keys: Mapping[str, Ints] = NO_GROUPS) -> NumericRows:
    """The complete rows of a table, or runs of them; `keys` have the group of every row."""
    complete = np.flatnonzero(complete_rows(data))
    affordable = MOST_CHECKED_CELLS // max(len(data.names), 1)
    most = int(np.clip(affordable, FEWEST_CHECKED_ROWS, MOST_CHECKED_ROWS))
    chosen = np.arange(complete.size)
    if complete.size > most:  # runs of neighbouring ones, evenly spread
        starts = np.linspace(0, complete.size - ROWS_OF_A_RUN, most // ROWS_OF_A_RUN).astype(
            np.int64
        )
        chosen = np.asarray((starts[:, None] + np.arange(ROWS_OF_A_RUN)).ravel())
    rows = complete[chosen]
    owner = []
    checked = []
    columns: list[Floats] = []
    for position in data.system:
        values = np.asarray(data.columns[position])[rows].astype(np.float64)
        if data.kinds[position] is Kind.CONTINUOUS:
            checked.append(len(columns))
        if data.kinds[position] is Kind.CATEGORICAL:
            parts = [(values == level).astype(np.float64) for level in np.unique(values)[1:]]
        else:
            parts = [values]
        columns += [_standardised(part) for part in parts]
        owner += [position] * len(parts)
    follows = np.concatenate(([False], np.diff(chosen) == 1))[: rows.size]
    table = np.column_stack(columns) if columns else np.empty((rows.size, 0))
    groups = np.array([codes[rows] for codes in keys.values()], dtype=np.int64)
    order = row_order(table, follows)._replace(keys=groups.reshape(len(keys), rows.size))
    return NumericRows(
        table,
        np.array(owner, dtype=np.int64),
        np.array(checked, dtype=np.int64),
        data.codes[rows].astype(np.int64),
        order,
    )


def fits(numeric: NumericRows, endpoints: Endpoints) -> Iterator[Residuals]:
    """The fits of all ways, each once; `endpoints` has shape (contexts, N, N)."""
    causes = np.asarray(directed(endpoints).any(axis=0))
    possible_causes = np.asarray(may_cause(endpoints).any(axis=0))
    neighbours = np.asarray(adjacent(endpoints).any(axis=0))
    together = np.zeros_like(numeric.cells)
    groupings = (together, numeric.cells) if numeric.cells.any() else (together,)
    numbers = numeric.owner[numeric.checked]
    possible = possible_causes[np.ix_(numbers, numbers)]
    seen: list[Bools] = []
    for way in (causes, possible_causes, neighbours):
        design = way[np.ix_(numeric.owner, numbers)]
        if any(np.array_equal(design, other) for other in seen):
            continue
        seen.append(design)
        for cells in groupings:
            fit = _fit(numeric, design, cells, design[numeric.checked] | possible)
            if fit is not None:
                yield fit


def _fit(numeric: NumericRows, design: Bools, cells: Ints, causes: Bools) -> Residuals | None:
    """The residuals of the rows of every cell by itself; None if there are too few everywhere."""
    widest = int(design.sum(axis=0).max(initial=0))
    parts = []
    for cell in range(int(cells.max(initial=0)) + 1):
        rows = np.flatnonzero(cells == cell)
        if rows.size >= widest + SPARE_ROWS_OF_A_FIT:
            parts.append((rows, *_left(numeric.values[rows], design, numeric.checked)))
    if not parts:
        return None
    order = np.concatenate([part[0] for part in parts])
    back = np.argsort(order)
    left = np.concatenate([part[1] for part in parts])[back]
    beside = np.concatenate([part[2] for part in parts])[back]
    others = causes if left.shape[1] > MOST_NUMBERS_CROSSED else ~np.eye(left.shape[1], dtype=bool)
    return Residuals(left, beside, causes, others, numeric.order.at(order[back]), numeric.checked)


def _left(values: Floats, design: Bools, checked: Ints) -> tuple[Floats, Floats]:
    """Residuals and the columns themselves, standardised, from cross products."""
    centred = values - values.mean(axis=0)
    products = centred.T @ centred
    slopes = np.zeros(design.shape)
    for node, column in enumerate(checked):
        causes = np.flatnonzero(design[:, node])
        if causes.size:
            inner = products[causes[:, None], causes] + SLOPE_RIDGE * len(values) * np.eye(
                causes.size
            )
            slopes[causes, node] = np.linalg.solve(inner, products[causes, column])
    left = centred[:, checked] - centred @ slopes
    own_sums = np.diag(products)[checked]
    nothing = np.einsum("ij,ij->j", left, left) <= ROUNDING_SHARE * own_sums
    left[:, nothing | (own_sums <= 1e-9 * len(values))] = np.nan
    return in_units(left), in_units(centred[:, checked])


def _standardised(values: Floats) -> Floats:
    """A column with mean 0 and variance 1; of a constant one zeros."""
    if values.size == 0 or values.min() == values.max():
        return np.zeros_like(values)
    centred = values - values.mean()
    centred = centred / np.abs(centred).max()
    return np.asarray(centred / centred.std())
