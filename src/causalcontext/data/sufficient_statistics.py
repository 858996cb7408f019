"""One pass over the rows: counts, means, cross products per cell, and a fingerprint of the table.

Everything that linear-Gaussian work needs is in the moments of every cell, so the rows are visited
once, a batch at a time. The table is never copied as a whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from causalcontext.data.checks import check_missing_option, check_size
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, only_cells
from causalcontext.data.moments import Moments, add_batch, no_totals, settle
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.rows.scan import digest_rows
from causalcontext.kernels.rows.stretches import ScanTotals

# 4 MB: a batch stays in the cache, so that columns of a row-major array are read once
_BATCH_VALUES = 2**19
_LARGEST_BATCH_VALUES = 2**22
_ROWS_PER_LEVEL = 256  # fewer rows are not worth an update of all cross products of their context
_MANY_VARIABLES = 500
_PER_CELL = ("constant", "missing", "infinite", "lost")


@dataclass(frozen=True, eq=False)
class SufficientStatistics:
    """The moments of every cell, and what stood in the way of computing them.

    K cells, p system variables. The moments are those of the *usable* rows: a value of every
    context variable, and a finite number in every system variable.
    """

    names: tuple[str, ...]  # the system variables, in table order
    values: tuple[Any, ...]  # what the cells are called
    moments: (
        Moments  # of the usable rows; cross products with what is constant in a cell are exactly 0
    )
    # shape (K, p); one value in all usable rows of the cell, or differences too small to be squared
    constant: Bools
    missing: Ints  # shape (K, p); values that are NaN
    infinite: Ints  # shape (K, p)
    missing_context: int  # rows without a context value
    lost: Ints  # shape (K,); rows of each cell that are not usable: what listwise deletion drops
    # same for the same table in any order of columns, in any batches and in any dtypes; another one
    # if a value, the order of the rows, a name or a context value changes
    fingerprint: str
    # cells that `drop_empty_cells` took out because all of their rows were lost
    emptied: tuple[tuple[Any, int], ...] = ()

    def of_columns(self, data: Dataset) -> Moments:
        """The moments of all columns of the table, each at its own position."""
        # Two categories are the numbers 0 and 1, ordered ones 0, 1, 2, ...; what has no numbers
        # (context variables, more than two categories) counts as constant. Made once for a table.
        known: tuple[Dataset, Moments] | None = self.__dict__.get("_columns")
        if known is not None and known[0] is data:
            return known[1]
        if not data.contexts.positions and not data.categories:
            return self.moments
        system = np.array(data.system)
        total = len(data.names)
        mean = np.zeros((len(self.values), total))
        scatter = np.zeros((len(self.values), total, total))
        mean[:, system] = self.moments.mean
        scatter[:, system[:, None], system] = self.moments.scatter
        named = [
            position for position in data.categories if data.kinds[position] is Kind.CATEGORICAL
        ]
        several = [position for position in named if len(data.categories[position]) > 2]
        mean[:, several] = 0.0
        scatter[:, several] = 0.0
        scatter[:, :, several] = 0.0
        return self.keep_columns(data, Moments(self.moments.rows, mean, scatter))

    def keep_columns(self, data: Dataset, moments: Moments) -> Moments:
        """The moments of all columns of a table, which are remembered."""
        object.__setattr__(self, "_columns", (data, moments))
        return moments


def gather_statistics(
    data: Dataset, missing: str = "raise", batch: int = 65536
) -> SufficientStatistics:
    """The `SufficientStatistics` of a table, after one pass over its rows, at most `batch` of them
    at a time.

    `missing` is checked here, before a long pass. Rows with a missing value never enter the
    moments; whether they are an error is up to `check_statistics`.

    >>> from causalcontext.data.tables import read_table
    >>> table = {"X": [1.0, 3.0, 2.0, 6.0], "Y": [0, 1, 2, 3], "R": ["dry", "dry", "wet", "wet"]}
    >>> statistics = gather_statistics(read_table(table, context="R"))
    >>> statistics.moments.rows.tolist(), statistics.moments.mean.tolist()
    ([2, 2], [[2.0, 0.5], [4.0, 2.5]])
    >>> statistics.moments.scatter[1].tolist()
    [[8.0, 2.0], [2.0, 0.5]]
    """
    check_missing_option(missing)
    check_size(data)
    # Of many variables a second array of cross products would take more memory than all the rest,
    # so the moments of system variables that stand side by side are a part of those of all columns.
    first = data.system[0]
    size = len(data.system)
    beside = data.system == tuple(range(first, first + size))
    shared = (
        slice(first, first + size)
        if size > _MANY_VARIABLES and beside and not data.categories
        else None
    )
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        totals = _pass_over_rows(
            data, data.system if shared is None else range(len(data.names)), batch
        )
    for position, levels in data.categories.items():
        # a level counts as what it is, wherever it stands in the order
        numbers = np.array([*map(level_number, levels), np.nan])
        codes = np.nan_to_num(data.columns[position], nan=-1.0).astype(np.int64)
        totals.digests[data.system.index(position)] = digest_rows(numbers[codes].view(np.uint64))
    words = np.array([*map(word_of, data.values), MISSING_WORD], dtype=np.uint64)
    context = int(digest_rows(words[data.codes])), int(np.count_nonzero(data.codes < 0))
    statistics = statistics_of(totals, data, data.n_rows, *context, shared or slice(None))
    if data.share != 1.0:
        return replace(statistics, moments=statistics.moments.counted_for(data.share))
    if shared is not None:
        statistics.keep_columns(data, Moments(totals.n, totals.mean, totals.scatter))
    return statistics


def statistics_of(
    totals: ScanTotals,
    data: Dataset,
    rows: int,
    context_digest: int,
    missing_context: int,
    in_totals: slice = slice(None),
) -> SufficientStatistics:
    """The statistics of a table of so many rows out of what they add up to; the totals are
    settled.
    """
    # `data` has the columns and contexts, and perhaps some of the rows; `context_digest` is a hash
    # of the context's values, `in_totals` says where the system
    # variables stand in the totals.
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        constant = settle(totals)
    names = tuple(data.names[position] for position in data.system)
    parts: list[Any] = sorted(zip(names, totals.digests[in_totals].tolist(), strict=True))
    parts += sorted(
        [data.names[position], [str(value) for value in data.categories[position]]]
        for position in data.categories
    )
    if data.contexts.positions:
        parts.append(["context", data.context_name, context_digest])
    return SufficientStatistics(
        names,
        data.values,
        Moments(totals.n, totals.mean[:, in_totals], totals.scatter[:, in_totals, in_totals]),
        constant[:, in_totals],
        totals.missing[:, in_totals],
        totals.infinite[:, in_totals],
        missing_context,
        totals.lost,
        fingerprint=hashlib.sha256(json.dumps([rows, parts]).encode()).hexdigest(),
    )


def drop_empty_cells(
    data: Dataset, statistics: SufficientStatistics
) -> tuple[Dataset, SufficientStatistics]:
    """The table and its statistics without the cells that have no usable row; `statistics.emptied`
    lists them.
    """
    # Their rows stay in the table, with the code -1: they belong to no context that is searched.
    kept = statistics.moments.rows > 0
    if kept.all():
        return data, statistics
    emptied = tuple(
        (statistics.values[cell], int(statistics.lost[cell])) for cell in np.flatnonzero(~kept)
    )
    data, statistics = with_some_cells(data, statistics, kept)
    return data, replace(statistics, emptied=statistics.emptied + emptied)


def with_some_cells(
    data: Dataset, statistics: SufficientStatistics, kept: Bools
) -> tuple[Dataset, SufficientStatistics]:
    """The table and its statistics with these cells only; the rows of the others stay, with the
    code -1.
    """
    per_cell = {name: getattr(statistics, name)[kept] for name in _PER_CELL}
    data = only_cells(data, np.flatnonzero(kept).tolist())
    moments = statistics.moments.some(np.flatnonzero(kept).tolist())
    return data, replace(statistics, values=data.values, moments=moments, **per_cell)


def of_some_columns(statistics: SufficientStatistics, kept: Sequence[int]) -> SufficientStatistics:
    """The statistics of the same rows, those that lost a value among them, of some system
    variables.
    """
    places = list(kept)
    return replace(
        statistics,
        names=tuple(statistics.names[position] for position in places),
        moments=statistics.moments.of(places),
        constant=statistics.constant[:, places],
        missing=statistics.missing[:, places],
        infinite=statistics.infinite[:, places],
    )


def _pass_over_rows(data: Dataset, positions: Sequence[int], batch: int) -> ScanTotals:
    """The totals of the rows of some columns; context variables count as constant."""
    nothing = np.zeros(data.n_rows)
    columns = [
        nothing if position in data.contexts.positions else data.columns[position]
        for position in positions
    ]
    totals = no_totals(len(data.contexts.cells), len(columns))
    # enough rows to make up for going through the cross products once, and no more than fit in
    # little memory
    worthwhile = max(_BATCH_VALUES // len(columns), _ROWS_PER_LEVEL * len(data.contexts.cells))
    rows = max(
        1, min(batch, worthwhile, max(_LARGEST_BATCH_VALUES // len(columns), 1), data.n_rows)
    )
    buffer = np.empty(len(columns) * rows)
    for first in range(0, data.n_rows, rows):
        codes = data.codes[first : first + rows]
        values = buffer[: len(columns) * len(codes)].reshape(len(columns), len(codes))
        for number, column in enumerate(columns):
            values[number] = column[first : first + rows]
        add_batch(totals, values, codes, first)
    return totals


def word_of(value: Any) -> int:
    """A hash of what a cell is called."""
    return _hashed(json.dumps([type(value).__name__, str(value)]))


def level_number(value: Any) -> float:
    """A hash of a level, as a whole number that a float64 can hold."""
    return float(word_of(value) >> 16)


def _hashed(text: str) -> int:
    return int(
        np.frombuffer(hashlib.blake2b(text.encode(), digest_size=8).digest(), dtype=np.uint64)[0]
    )


MISSING_WORD = _hashed("missing")
