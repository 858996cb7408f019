"""A table as the rest of the library sees it: named columns of numbers or codes, and the context of
every row.

And tables made of it: some of its rows or cells, with placeholders for missing values, with normal
scores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from causalcontext.data.columns import Kind
from causalcontext.errors import DataError, check_are_columns
from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints, Values
from causalcontext.views import Contexts


@dataclass(frozen=True, eq=False)
class Dataset:
    """Named columns, their kinds, and the context of every row."""

    names: tuple[str, ...]  # every column in table order, context variables included
    kinds: tuple[Kind, ...]  # one for every column
    # shape (rows,); numeric, in their own dtype, sharing memory with the table where that is
    # possible; codes of categorical and ordered columns; missing values are NaN. A context variable
    # holds codes of its levels, -1 where it is missing
    columns: tuple[Values, ...]
    dtypes: tuple[str, ...]  # what the table said about every column
    # which columns are context variables, and the combinations of their levels that occur
    contexts: Contexts
    # the values of every context variable with their own Python types, sorted, or in the order of a
    # categorical column
    levels: tuple[tuple[Any, ...], ...]
    # shape (rows,); the cell of every row among `contexts.cells`; -1 where a context variable is
    # missing
    codes: Codes
    # by position, what the codes of categorical and ordered system variables stand for
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    # the columns whose kind was said, by the user or by what made them; of others values may say it
    declared: frozenset[str] = frozenset()
    share: float = 1.0  # what a row counts for: less than 1 where several completed tables are one
    # columns that were left out and say which rows belong together (a household, a patient), by
    # name; shape (rows,); the number of the group of every row, -1 where it is missing
    keys: Mapping[str, Ints] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """The rows of the table, incomplete ones included."""
        return len(self.codes)

    @cached_property
    def system(self) -> tuple[int, ...]:
        """Positions of the system variables: every column but the context variables."""
        return tuple(
            position
            for position in range(len(self.names))
            if position not in self.contexts.positions
        )

    @property
    def context(self) -> int | None:
        """The position of the context variable where there is just one."""
        return self.contexts.positions[0] if len(self.contexts.positions) == 1 else None

    @property
    def context_name(self) -> str | None:
        """The names of the context variables, or None without any."""
        return ", ".join(self.names[position] for position in self.contexts.positions) or None

    @property
    def values(self) -> tuple[Any, ...]:
        """The names of the cells: the value of the context, of several a tuple of values,
        without any "all".
        """
        return cell_values(self.contexts, self.levels)

    @property
    def all_continuous(self) -> bool:
        """True if every system variable is continuous."""
        return all(self.kinds[position] is Kind.CONTINUOUS for position in self.system)

    def position(self, name: str) -> int:
        """The place of a column in `names`."""
        check_are_columns([name], self.names)
        return self.names.index(name)


def cell_values(contexts: Contexts, levels: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    """The names of cells.

    >>> cell_values(Contexts((2,), ((0,), (1,))), (("dry", "wet"),))
    ('dry', 'wet')
    >>> cell_values(Contexts(), ())
    ('all',)
    """
    if not contexts.positions:
        return ("all",)
    named = (tuple(levels[j][code] for j, code in enumerate(cell)) for cell in contexts.cells)
    return tuple(values[0] if len(values) == 1 else values for values in named)


def complete_rows(data: Dataset) -> Bools:
    """True for the rows with a context and a finite number in every system variable."""
    complete: Bools = data.codes >= 0
    for position in data.system:
        complete = complete & np.isfinite(np.asarray(data.columns[position]))
    return complete


def some_rows(data: Dataset, rows: Values) -> Dataset:
    """The table of some rows, given by number or by truth values."""
    columns = tuple(np.asarray(column)[rows] for column in data.columns)
    keys = {name: groups[rows] for name, groups in data.keys.items()}
    return replace(data, columns=columns, codes=data.codes[rows], keys=keys)


def only_cells(data: Dataset, cells: Sequence[int]) -> Dataset:
    """The table with these cells only; the rows of the others belong to no cell, and levels that
    they alone had go.
    """
    # the last entry answers the code -1
    new_code = np.full(len(data.contexts.cells) + 1, -1, dtype=np.int32)
    new_code[list(cells)] = np.arange(len(cells), dtype=np.int32)
    codes = new_code[data.codes]
    columns = list(data.columns)
    levels = []
    kept = [list(data.contexts.cells[cell]) for cell in cells]
    for j, position in enumerate(data.contexts.positions):
        used = sorted({cell[j] for cell in kept})
        for cell in kept:
            cell[j] = used.index(cell[j])
        levels.append(tuple(data.levels[j][level] for level in used))
        columns[position] = np.append([cell[j] for cell in kept], -1).astype(np.int32)[codes]
    contexts = replace(data.contexts, cells=tuple(tuple(cell) for cell in kept))
    return replace(
        data, columns=tuple(columns), contexts=contexts, levels=tuple(levels), codes=codes
    )


def without_columns(data: Dataset, names: Collection[str]) -> Dataset:
    """The table without some system variables.

    >>> from causalcontext.data.tables import read_table
    >>> table = {"X": [1.0, 2.0] * 2, "id": range(4), "Y": [2.0, 5.0] * 2, "R": [0, 1] * 2}
    >>> data = read_table(table, "R")
    >>> rest = without_columns(data, ["id"])
    >>> rest.names, rest.contexts.positions
    (('X', 'Y', 'R'), (2,))
    """
    kept = [old for old, name in enumerate(data.names) if name not in names]
    new = {old: position for position, old in enumerate(kept)}
    contexts: Contexts = replace(
        data.contexts,
        positions=tuple(new[old] for old in data.contexts.positions),
        sources=tuple(None if old is None else new[old] for old in data.contexts.sources),
    )
    return replace(
        data,
        names=tuple(data.names[old] for old in kept),
        kinds=tuple(data.kinds[old] for old in kept),
        columns=tuple(data.columns[old] for old in kept),
        dtypes=tuple(data.dtypes[old] for old in kept),
        contexts=contexts,
        categories={new[old]: levels for old, levels in data.categories.items() if old in new},
    )


def thinned(data: Dataset, most: int, seed: int) -> Dataset:
    """The table itself, or about `most` of its rows: as many of every cell, all of those that have
    fewer.

    Drawing by the context changes how often its values occur, and nothing about the others given
    the context.

    >>> from causalcontext.data.tables import read_table
    >>> table = {"X": np.arange(50.0), "Y": np.arange(50.0), "R": [0] * 46 + [1] * 4}
    >>> thinned(read_table(table, "R"), 10, seed=0).codes.tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 1]
    """
    if data.n_rows <= most:
        return data
    generator = np.random.default_rng(seed)
    cells = len(data.contexts.cells)
    share = max(most // cells, 1)
    chosen = []
    for cell in range(cells):
        rows = np.flatnonzero(data.codes == cell)
        chosen.append(rows if rows.size <= share else generator.choice(rows, share, replace=False))
    return some_rows(data, np.sort(np.concatenate(chosen)))


def missing_rows(data: Dataset) -> dict[int, Bools]:
    """For every system variable with missing values, the rows in which it is missing."""
    missing_by_column = {
        position: np.isnan(np.asarray(data.columns[position], dtype=np.float64))
        for position in data.system
    }
    return {position: missing for position, missing in missing_by_column.items() if missing.any()}


def with_placeholders(data: Dataset, missing: Mapping[int, Bools]) -> Dataset:
    """The table with a value wherever one is missing: a placeholder for rows that no test of the
    column will use.

    `missing` has the rows without a value, as `missing_rows` gives them.

    >>> from causalcontext.data.tables import read_table
    >>> data = read_table({"X": [1.0, float("nan"), 3.0, 5.0], "Y": [1.0, 2.0, 3.0, 4.0]}, None)
    >>> with_placeholders(data, missing_rows(data)).columns[0].tolist()
    [1.0, 3.0, 3.0, 5.0]
    """
    empty = [repr(data.names[position]) for position, rows in missing.items() if rows.all()]
    if empty:
        raise DataError(f"there is no value in any row of {', '.join(empty)}; drop these columns")
    columns = list(data.columns)
    for (
        position,
        rows,
    ) in missing.items():
        # a value from the middle of those that are there: a column stays what it is
        values = np.asarray(columns[position], dtype=np.float64)
        present = np.sort(values[~rows])
        columns[position] = np.where(rows, present[len(present) // 2], values)
    return replace(data, columns=tuple(columns))


def stable_order(values: Values) -> Ints:
    """The order that sorts values, equal ones in the order of the rows; where there are none, a
    quicker sort says the same.
    """
    order = np.argsort(values)
    rises = (values[order[1:]] > values[order[:-1]]).all()
    return order if rises else np.argsort(values, kind="stable")


def mean_ranks(values: Values) -> Floats:
    """The rank of every value, from 1; equal values share the mean of their ranks.

    >>> mean_ranks(np.array([2.0, 1.0, 2.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    order = np.argsort(values)
    ranks = np.empty(len(values))
    ordered = values[order]
    ranks[order] = np.arange(1.0, len(values) + 1.0)
    if not (ordered[1:] > ordered[:-1]).all():
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        count = np.diff(starts, append=len(values))
        ranks[order] = np.repeat(starts + (count + 1) / 2.0, count)
    return ranks


def gaussian_ranks(values: Values) -> Floats:
    """The normal quantiles of (rank - 1/2) / n, of every column by itself; equal values share
    one.
    """
    n = len(values)
    columns = values if values.ndim > 1 else values[:, None]
    order = np.argsort(columns, axis=0)
    scores = np.empty(columns.shape)
    np.put_along_axis(scores, order, scipy.special.ndtri((np.arange(n) + 0.5) / n)[:, None], axis=0)
    ordered = np.take_along_axis(columns, order, axis=0)
    for j in np.flatnonzero(~(ordered[1:] > ordered[:-1]).all(axis=0)).tolist():
        scores[:, j] = scipy.special.ndtri((mean_ranks(columns[:, j]) - 0.5) / n)
    return scores.reshape(values.shape)


def with_normal_scores(data: Dataset) -> Dataset:
    """The table with every continuous system variable replaced by its normal scores; missing values
    stay missing.
    """
    columns = list(data.columns)
    for position in data.system:
        if data.kinds[position] is Kind.CONTINUOUS:
            values = np.asarray(data.columns[position], np.float64)
            known = np.isfinite(values) & (data.codes >= 0)
            # what is infinite is still found and named
            scores = np.where(np.isfinite(values), np.nan, values)
            scores[known] = gaussian_ranks(values[known])
            columns[position] = scores
    return replace(data, columns=tuple(columns))
