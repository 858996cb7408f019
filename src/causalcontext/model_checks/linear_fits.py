"""Residuals of every number on its causes, in several ways: whatever the truth is, one of them is near it.

A graph is an estimate, and which rows share a mechanism is another one. A variable whose mechanism the context changes
has clean residuals inside the contexts only; one that the context is made of, in all rows only. So every variable is
regressed on those that point at it, on those that may, and on all of its neighbours, in all rows together and in every
context by itself. A check fails if it fails in each of these ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.kinds import Kind
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed, may_cause
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.model_checks.residuals import (
    MANY_VARIABLES,
    MOST_ROWS,
    SPARE_ROWS,
    Residuals,
    check_residuals,
    in_units,
    least,
    statistics,
)
from causalcontext.model_checks.violations import Violation

LEAST_ROWS = 1_000
MOST_CELLS = 1_000_000
"""Rows times variables, so that wide tables do not take long."""
RUN = 50
"""Long tables are looked at in runs of so many rows, since the order of rows matters."""
NOTHING_LEFT = 1e-6
"""A residual variance below this share of the variable's own is rounding."""
RIDGE = 1e-8
"""In units of variances: columns that are functions of each other share a slope."""


class NumericRows(NamedTuple):
    """Rows of all columns as numbers."""

    values: Floats  # standardised numbers, and indicators of the levels of categories; shape (rows, columns)
    owner: Ints  # the variable behind every column
    checked: Ints  # the columns of continuous variables
    cells: Ints  # the context of every row
    follows: Bools  # True where a row of the table comes directly after the one before it


def check_table(data: Dataset, endpoints: Endpoints) -> tuple[Violation, ...]:
    """Everything in which a table contradicts the linear-Gaussian model around some graphs, shape (contexts, N, N)."""
    numeric = numeric_rows(data)
    found = [statistics(fit) for fit in fits(numeric, endpoints)] if numeric.checked.size else []
    names = [data.names[position] for position in numeric.owner[numeric.checked]]
    return check_residuals(least(found), len(numeric.values), names) if found else ()


def numeric_rows(data: Dataset) -> NumericRows:
    """The complete rows of a table, or runs of them."""
    complete = np.flatnonzero(complete_rows(data))
    most = int(np.clip(MOST_CELLS // max(len(data.names), 1), LEAST_ROWS, MOST_ROWS))
    places = _in_runs(complete.size, most)
    rows = complete[places]
    columns: list[Floats] = []
    owner, checked = [], []
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
    follows = np.concatenate(([False], np.diff(places) == 1))[: rows.size]
    table = np.column_stack(columns) if columns else np.empty((rows.size, 0))
    return NumericRows(table, np.array(owner, dtype=np.int64), np.array(checked, dtype=np.int64),
                 data.codes[rows].astype(np.int64), follows)  # fmt: skip


def fits(numeric: NumericRows, endpoints: Endpoints) -> Iterator[Residuals]:
    """The fits of all ways, each once; `endpoints` has shape (contexts, N, N)."""
    ways = [np.asarray(way.any(axis=0)) for way in (directed(endpoints), may_cause(endpoints), adjacent(endpoints))]
    together = np.zeros_like(numeric.cells)
    numbers = numeric.owner[numeric.checked]
    possible = ways[1][np.ix_(numbers, numbers)]
    seen: list[Bools] = []
    for way in ways:
        design = way[np.ix_(numeric.owner, numbers)]
        if any(np.array_equal(design, other) for other in seen):
            continue
        seen.append(design)
        for cells in (together, numeric.cells) if numeric.cells.any() else (together,):
            found = _fit(numeric, design, cells, design[numeric.checked] | possible)
            if found is not None:
                yield found


def _fit(numeric: NumericRows, design: Bools, cells: Ints, causes: Bools) -> Residuals | None:
    """The residuals of the rows of every cell by itself; None if there are too few everywhere."""
    widest = int(design.sum(axis=0).max(initial=0))
    parts = []
    for cell in range(int(cells.max(initial=0)) + 1):
        rows = np.flatnonzero(cells == cell)
        if rows.size >= widest + SPARE_ROWS:
            parts.append((rows, *_left(numeric.values[rows], design, numeric.checked)))
    if not parts:
        return None
    order = np.concatenate([part[0] for part in parts])
    back = np.argsort(order)
    left, beside = (np.concatenate([part[k] for part in parts])[back] for k in (1, 2))
    others = causes if left.shape[1] > MANY_VARIABLES else ~np.eye(left.shape[1], dtype=bool)
    follows = numeric.follows[order[back]] & (np.diff(order[back], prepend=-2) == 1)
    return Residuals(left, beside, causes, others, follows)


def _left(values: Floats, design: Bools, checked: Ints) -> tuple[Floats, Floats]:
    """Residuals and the columns themselves, standardised, from cross products."""
    centred = values - values.mean(axis=0)
    products = centred.T @ centred
    slopes = np.zeros(design.shape)
    for node, column in enumerate(checked):
        causes = np.flatnonzero(design[:, node])
        if causes.size:
            inner = products[causes[:, None], causes] + RIDGE * len(values) * np.eye(causes.size)
            slopes[causes, node] = np.linalg.solve(inner, products[causes, column])
    left = centred[:, checked] - centred @ slopes
    own = np.diag(products)[checked]
    nothing = np.einsum("ij,ij->j", left, left) <= NOTHING_LEFT * own
    left[:, nothing | (own <= 1e-9 * len(values))] = np.nan
    return in_units(left), in_units(centred[:, checked])


def _standardised(values: Floats) -> Floats:
    if values.size == 0 or values.min() == values.max():
        return np.zeros_like(values)
    centred = values - values.mean()
    centred = centred / np.abs(centred).max()
    return np.asarray(centred / centred.std())


def _in_runs(rows: int, most: int) -> Ints:
    """All places, or runs of neighbouring ones, evenly spread."""
    if rows <= most:
        return np.arange(rows)
    starts = np.linspace(0, rows - RUN, most // RUN).astype(np.int64)
    return np.asarray((starts[:, None] + np.arange(RUN)).ravel())
