"""Numbers that are the same in every row of a context: the mechanism there is a constant.

A device that is off, a dose that nobody gets in one ward. The likelihood of a constant has no
maximum, and beside it nothing else would count. So such a value counts as known up to `TRACE` of
the spread that the column has in the other contexts: the column is searched with a trace of noise
there, the same for the same rows in any order, which depends on nothing. Then the context is seen
to change the mechanism, other columns explain nothing there, and the graph among the others is what
it is without the column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy

from causalcontext.data.coarse import few_valued
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows, some_rows
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.screening.settings import LEAST_NATS_OF_A_FUNCTION

CONSTANT_BELOW = 1e-6
"""A spread in one context, in units of that over all rows, that is rounding or a device that is
off. At 1e-9 links among other columns were lost; from 1e-5 on a spread is that of a mechanism, and
changes nothing elsewhere."""
TRACE = 0.1
"""The spread of a constant in units of that in the other contexts. With .001 and .1 every link and
claim among the other columns was that of the table without the column, in lines, curves and mixed
tables; with none, arrows were turned."""
ROWS_OF_A_GLANCE = 50
"""Rows of a context that are looked at before all (rows); nothing but time depends on it."""
SPREADS_KEYS = 1e4
"""Sums of squares of a row in standard units times this: their fractions put rows in an order that
says nothing.
"""


def constant_columns(table: Dataset) -> dict[int, tuple[int, ...]]:
    """The positions of the numbers that are constant in some contexts but not in all, with these
    contexts.

    A context needs two rows to be asked, and columns of few values elsewhere, which have their own
    treatments, and declared counts are not asked.
    """
    if len(table.contexts.cells) < 2:
        return {}
    complete = complete_rows(table)
    cells = [
        np.flatnonzero(complete & (table.codes == cell))
        for cell in range(len(table.contexts.cells))
    ]
    found: dict[int, tuple[int, ...]] = {}
    for place in table.system:
        if table.kinds[place] is not Kind.CONTINUOUS or place in [
            source for _, source in table.contexts.made
        ]:
            continue
        column = np.asarray(table.columns[place], dtype=np.float64)
        least = CONSTANT_BELOW * float(np.std(column[complete]))
        constant = tuple(
            cell
            for cell, rows in enumerate(cells)
            if len(rows) > 1 and np.ptp(column[rows]) <= least
        )
        if constant and least > 0.0 and len(constant) < sum(len(rows) > 1 for rows in cells):
            found[place] = constant
    return {
        place: constant
        for place, constant in found.items()
        if not _is_coarse_elsewhere(table, place, constant)
    }


def evident_constants(table: Dataset) -> dict[int, tuple[int, ...]]:
    """The positions of the columns of any kind that have one value in some contexts, and not by
    chance, with these contexts.

    Of n rows of a context all have a value that a share p of the rows of the other contexts has
    with probability p^n, whose logarithm must be below -`LEAST_NATS_OF_A_FUNCTION`.
    """
    complete = complete_rows(table)
    rows_of_cells = [
        np.flatnonzero(complete & (table.codes == cell))
        for cell in range(len(table.contexts.cells))
    ]
    constant: dict[int, tuple[int, ...]] = {}
    for place in table.system:
        column = np.asarray(table.columns[place], dtype=np.float64)
        cells = tuple(
            cell
            for cell, rows in enumerate(rows_of_cells)
            if _is_evident(column, rows, int(complete.sum()), complete)
        )
        if cells:
            constant[place] = cells
    return constant


def _is_evident(column: Floats, rows: Ints, count: int, complete: Bools) -> bool:
    """Whether a column has one value in the rows of a context, beyond chance by the other ones.

    `complete` is True in all rows that count, which are `count`. Most columns differ in a few rows.
    """
    if len(rows) < 2 or (column[rows[:ROWS_OF_A_GLANCE]] != column[rows[0]]).any():
        return False
    if len(rows) == count or (column[rows] != column[rows[0]]).any():
        return False
    others = np.count_nonzero(complete & (column == column[rows[0]])) - len(rows)
    share = (others + 1) / (count - len(rows) + 1)
    return bool(-len(rows) * np.log(share) > LEAST_NATS_OF_A_FUNCTION)


def with_traces(table: Dataset, found: Mapping[int, tuple[int, ...]]) -> Dataset:
    """The table in which columns have a trace of noise where they are constant."""
    columns = list(table.columns)
    for place, constant in found.items():
        column = np.array(table.columns[place], dtype=np.float64)
        away = complete_rows(table) & ~np.isin(table.codes, constant)
        spread = TRACE * float(np.std(column[away]))
        keys = _keys(table, column, place, away)
        for cell in constant:
            rows = np.flatnonzero(table.codes == cell)
            column[rows] = column[rows].mean() + spread * _normal_scores(keys[rows])
        columns[place] = column
    return replace(table, columns=tuple(columns))


def words_about_constants(table: Dataset, found: Mapping[int, tuple[int, ...]]) -> tuple[str, ...]:
    """A sentence for every such column."""
    return tuple(
        f"{table.names[place]} is the same in every row where {_where(table, constant)}: "
        "its mechanism there is a constant, and nothing there says what causes it or what it causes"
        for place, constant in sorted(found.items(), key=lambda item: table.names[item[0]])
    )


def _is_coarse_elsewhere(table: Dataset, place: int, constant: Sequence[int]) -> bool:
    """True if a number has few values in the contexts where it varies."""
    away = complete_rows(table) & ~np.isin(table.codes, constant)
    return any(place in few.columns for few in few_valued(some_rows(table, away)))


def _keys(table: Dataset, column: Floats, place: int, away: Bools) -> Floats:
    """A number between 0 and 1 for every row that has nothing to do with any column.

    It is made of squares of the other numbers in standard units, so that it belongs to the row
    whatever the order of the rows, the order of the columns and their units; two columns that are
    constant have different ones.
    """
    total = np.zeros(table.n_rows)
    for other in table.system:
        if other != place and table.kinds[other].is_number:
            total += _in_standard_units(np.asarray(table.columns[other], dtype=np.float64)) ** 2
    own = float(np.nanmean(np.abs(_in_standard_units(column[away]))))
    keys = np.modf(SPREADS_KEYS * own * total)[0]
    return np.asarray(np.where(np.isfinite(keys), keys, 0.0))


def _in_standard_units(column: Floats) -> Floats:
    """A column with mean 0 and variance 1, missing values left aside; zeros if it is constant."""
    known = column[np.isfinite(column)]
    spread = float(np.std(known)) if len(known) else 0.0
    return np.asarray((column - known.mean()) / spread) if spread > 0.0 else np.zeros(len(column))


def _normal_scores(keys: Floats) -> Floats:
    """Standard normal quantiles in the order of the keys."""
    places = np.empty(len(keys))
    places[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return np.asarray(scipy.special.ndtri((places + 0.5) / len(keys)))


def _where(table: Dataset, cells: Sequence[int]) -> str:
    """Contexts in words: "ward is icu"; of several contexts "ward is icu and season dry"."""
    names = [table.names[position] for position in table.contexts.positions]
    values = [
        [
            levels[code]
            for code, levels in zip(table.contexts.cells[cell], table.levels, strict=True)
        ]
        for cell in cells
    ]
    if len(names) == 1:
        return f"{names[0]} is {listed([value for (value,) in values])}"
    return listed(
        [
            " and ".join(f"{name} is {value}" for name, value in zip(names, cell, strict=True))
            for cell in values
        ]
    )
