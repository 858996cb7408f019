"""Values of the context with too few rows to say anything, taken out of the table before the
search.

A level of three rows (a typo, a site that was closed, a code for missing) answers no question of
its own, but it is a context like any other to a search: nothing inside it can be tested, no
mechanism can be fitted there, and what is left untested spoils the other contexts. So its rows are
left out, and the search is that of the table without them. With several context variables it is
combinations of their values that are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from causalcontext.data.dataset import Dataset, complete_rows, some_rows
from causalcontext.data.frames import nw
from causalcontext.data.scan import Scan
from causalcontext.data.sufficient_statistics import with_some_cells
from causalcontext.data.tables import eager_frame
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.results.few_rows import ThinLevels
from causalcontext.screening.settings import FEW_ROWS_OF_A_LEVEL, FEWEST_ROWS_OF_A_LEVEL


def thin_levels(data: Dataset, missing: str = "raise") -> ThinLevels | None:
    """The levels with too few rows; None if all have enough, or none has.

    Where rows with missing values are dropped (`missing="listwise"`), complete rows are counted. A
    level without a complete row is none of them: it has no graph, and the result says so.
    """
    if not data.contexts.positions:
        return None
    rows = _rows_of_cells(data, missing)
    return _found(data, rows, is_thin(rows))


def thin_among_windows(data: Dataset, windows: Ints) -> ThinLevels | None:
    """The values of the one context that end fewer windows, shape (contexts,), than a regression
    needs; None if all end enough, or none does, or there are several contexts.
    """
    if len(data.contexts.positions) != 1:
        return None
    return _found(data, windows, windows < SPARE_ROWS + 2)


def scan_without_thin_levels(scanned: Scan) -> tuple[Scan, ThinLevels | None]:
    """A table that was read in batches without the levels that have too few rows, and these levels.

    The statistics of the other levels stand as they were gathered, and the sample loses the rows of
    the levels that go. Where a context variable would have a single value left, the scan stays as
    it is: its columns cannot be read again.
    """
    data = scanned.data
    rows = scanned.statistics.moments.rows
    thin = _found(data, rows, is_thin(rows)) if data.contexts.positions else None
    if thin is None or thin.untested:
        return scanned, None
    kept = np.array([value not in thin.values for value in data.values])
    sample, statistics = with_some_cells(
        some_rows(data, rows_kept(data, thin)), scanned.statistics, kept
    )
    places = np.flatnonzero(kept).tolist()
    blocks = tuple(block.some(places) for block in scanned.blocks)
    lost = int(rows[~kept].sum() + scanned.statistics.lost[~kept].sum())
    left = sample.n_rows if scanned.of_rows or scanned.whole else scanned.rows - lost
    return replace(scanned, data=sample, statistics=statistics, rows=left, blocks=blocks), thin


def _found(data: Dataset, rows: Ints, thin: Bools) -> ThinLevels | None:
    """The levels with too few rows; None if there are none, or no others.

    `thin`, shape (contexts,), is true for these, and `rows` has the number of rows of every
    combination of the values of the contexts. A context variable that has a single value among
    those that stay is no context any more; such variables are named, with their position.
    """
    if not thin.any() or thin.all():
        return None
    kept = [cell for cell, out in zip(data.contexts.cells, thin, strict=True) if not out]
    alone = tuple(
        (data.names[position], position)
        for j, position in enumerate(data.contexts.positions)
        if len({cell[j] for cell in kept}) == 1
    )
    counted = tuple(
        (value, int(count))
        for value, count, out in zip(data.values, rows, thin, strict=True)
        if out
    )
    return ThinLevels(str(data.context_name), data.values, counted, alone)


def is_thin(rows: Ints) -> Bools:
    """True for the levels that have too few of the rows, shape (levels,).

    With n rows in k levels an equal share is n / k. A level is thin with fewer than
    `FEWEST_ROWS_OF_A_LEVEL` rows if it has less than half of that, and with fewer than
    `FEW_ROWS_OF_A_LEVEL` if it has less than a quarter. A level without a row is none of them.

    >>> is_thin(np.array([500, 497, 3])).tolist(), is_thin(np.array([22, 8])).tolist()
    ([False, False, True], [False, False])
    """
    share = rows.sum() / len(rows)
    few = (rows < FEWEST_ROWS_OF_A_LEVEL) & (rows < share / 2)
    return np.asarray((rows > 0) & (few | ((rows < FEW_ROWS_OF_A_LEVEL) & (rows < share / 4))))


def rows_kept(data: Dataset, thin: ThinLevels) -> Bools:
    """The rows of the table that are not of these levels; shape (rows,)."""
    out = [cell for cell, value in enumerate(data.values) if value in thin.values]
    return np.asarray(~np.isin(data.codes, out))


def rows_searched(read: Dataset, thin: ThinLevels, places: Ints | None, rows: int) -> Bools:
    """The rows of a table of so many rows that were read, `places` or None for all, and are not of
    these levels.
    """
    kept = np.zeros(rows, dtype=bool)
    kept[(np.arange(rows) if places is None else places)[rows_kept(read, thin)]] = True
    return kept


def some_rows_of(table: Any, names: Sequence[str] | None, kept: Bools, gone: Sequence[str]) -> Any:
    """A table of the same kind with some rows and without some columns.

    `kept` has shape (rows,), `gone` the names of the columns that go. What is read of the result is
    what would have been read if the other rows had never been there. An array stays one unless
    columns go; `names` are those of its columns.
    """
    if isinstance(table, np.ndarray) and not gone:
        return table[kept]
    if nw.dependencies.is_pandas_dataframe(table):  # whose columns may be called by numbers
        positions = [
            position for position, name in enumerate(table.columns) if str(name) not in gone
        ]
        return table.iloc[np.flatnonzero(kept), positions]
    frame = eager_frame(table, names)
    columns = [name for name in frame.columns if str(name) not in gone]
    return frame.select(columns).filter(kept.tolist()).to_native()


def context_without(context: Any, thin: ThinLevels) -> Any:
    """The contexts of a search without those that have a single value left; None without any."""
    if not thin.untested:
        return context
    gone = [name for name, _ in thin.untested]
    asked = list(context) if isinstance(context, list | tuple) else [context]
    return [
        variable for variable in asked if getattr(variable, "name", str(variable)) not in gone
    ] or None


def kinds_without(
    kinds: Mapping[Any, str] | None, names: Sequence[str]
) -> Mapping[Any, str] | None:
    """The kinds that were declared of the other columns, those that are not among `names`."""
    return (
        None
        if kinds is None
        else {name: kind for name, kind in kinds.items() if str(name) not in names}
    )


def _rows_of_cells(data: Dataset, missing: str) -> Ints:
    """The rows of every combination of the values of the contexts, shape (contexts,).

    Where incomplete rows are dropped, complete ones are counted.
    """
    known = complete_rows(data) if missing == "listwise" else data.codes >= 0
    return np.bincount(data.codes[known], minlength=len(data.contexts.cells))
