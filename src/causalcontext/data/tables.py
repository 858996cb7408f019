"""The door of the library: any kind of table in, a checked `Dataset` out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from causalcontext.data.checks import MOST_CELLS
from causalcontext.data.columns import (
    Column,
    Kind,
    check_has_order,
    declared_kinds,
    infer_kind,
    read_levels,
    read_system,
)
from causalcontext.data.dataset import Dataset
from causalcontext.data.frames import brings_rows_by, frame_of, is_index, nw, pd
from causalcontext.errors import DataError, OptionError, check_are_columns, did_you_mean, shortly
from causalcontext.kernels.arrays import Codes, Values
from causalcontext.views import Contexts

MANY_COLUMNS = 50
FEW_ROWS = 8192
"""To make a pandas `Series` of a column takes as long as to copy so many rows of it."""
NAMES_OF_ARRAYS = "names is only for arrays; this table brings its own column names"

MOST_CONTEXTS = 8
"""Context variables at most: every one doubles the views that a row belongs to."""


def read_table(
    table: Any,
    context: str | int | Sequence[str] | None,
    kinds: Mapping[Any, str] | None = None,
    names: Sequence[Any] | None = None,
) -> Dataset:
    """A checked `Dataset`: the columns of `table` as numbers, and the context of every row.

    A table is one of pandas, polars or pyarrow, a 2-D array with `names`, a mapping of arrays, or
    what else narwhals reads; lazy ones are collected, and the index of a pandas table is not a
    column. `context` are the columns that name the context, None for a search without contexts;
    `kinds` override what the dtypes say. A `DataError` names the columns that cannot be used as
    they are, and says what to do.

    >>> table = {"X": [0.1, 0.7, 0.3, 0.4], "Y": [1, 2, 3, 4], "R": ["dry", "wet", "wet", "dry"]}
    >>> data = read_table(table, context="R")
    >>> data.values, data.codes.tolist(), data.system
    (('dry', 'wet'), [0, 1, 1, 0], (0, 1))
    """
    columns = columns_of_table(table, names)
    column_names = tuple(column.name for column in columns)
    places = context_places(context, column_names)
    declared = declared_kinds(kinds, column_names)
    check_two_variables(column_names, places)
    if len(columns[0].series) == 0:
        raise DataError("the table has no rows")
    whole = isinstance(table, np.ndarray)
    read = {
        place: context_levels(columns[place], declared.get(column_names[place]), whole)
        for place in places
    }
    # No declaration makes a date or a list usable, so every dtype is looked at.
    inferred = [
        Kind.CATEGORICAL if i in places else infer_kind(column) for i, column in enumerate(columns)
    ]
    found = tuple(
        declared.get(column.name, kind) for column, kind in zip(columns, inferred, strict=True)
    )
    system = {
        i: read_system(column, found[i]) for i, column in enumerate(columns) if i not in places
    }
    cells, codes = cells_of(
        {column_names[place]: read[place][1] for place in places}, len(columns[0].series)
    )
    return Dataset(
        column_names,
        found,
        tuple(read[i][1] if i in places else system[i][0] for i in range(len(columns))),
        tuple(column.dtype_name for column in columns),
        Contexts(places, cells),
        tuple(read[place][0] for place in places),
        codes,
        {i: values for i, (_, values) in system.items() if values},
        frozenset(declared),
    )


def take_columns(
    table: Any, names: Sequence[Any] | None, taken: Sequence[str]
) -> tuple[Any, dict[str, Values]]:
    """The table without some columns, and these as arrays of what they hold."""
    frame = eager_frame(table, names)
    check_are_columns(taken, frame.columns)
    return frame.drop(list(taken)).to_native(), {name: frame[name].to_numpy() for name in taken}


def columns_of_table(table: Any, names: Sequence[Any] | None) -> tuple[Column, ...]:
    """The columns of any kind of table, named by text, no name twice."""
    if nw.dependencies.is_pandas_dataframe(table) and names is None:
        column_names = _native_names(table)
        _check_unique(column_names)
        return _pandas_columns(table, column_names)
    if isinstance(table, np.ndarray) and table.dtype in PLAIN_NUMBERS:
        array, column_names = _named_array(table, names)
        _check_unique(column_names)
        return tuple(
            _plain_column(name, values) for name, values in zip(column_names, array.T, strict=True)
        )
    frame = eager_frame(table, names)
    column_names = [str(name) for name in frame.columns]
    _check_unique(column_names)
    named = zip(column_names, frame.iter_columns(), strict=True)
    return tuple(Column(name, series.dtype, series) for name, series in named)


def eager_frame(table: Any, names: Sequence[Any] | None) -> nw.DataFrame[Any]:
    """Any kind of table as a frame in memory, no name twice."""
    if isinstance(table, np.ndarray):
        table = frame_of(*_named_array(table, names))
    elif names is not None:
        raise OptionError(NAMES_OF_ARRAYS)
    elif hasattr(table, "to_dataframe") and hasattr(table, "dims"):
        raise DataError(
            f"the table is a {type(table).__name__} of xarray; pass"
            " table.to_dataframe().reset_index(), whose dimensions are columns: name them by time="
            " and units=, or drop them"
        )
    elif (call := brings_rows_by(table)) is not None:
        raise DataError(
            "the rows of the table are on a cluster, and this question needs them in memory; if"
            f" they fit, pass table.{call}"
        )
    elif isinstance(table, Mapping):
        try:
            table = pd.DataFrame(dict(table), copy=False)
        except ValueError as error:
            raise DataError(f"the mapping is not a table: {error}") from error
    _check_unique(_native_names(table))
    try:
        frame = nw.from_native(table)
    except nw.exceptions.DuplicateError as error:
        raise DataError(
            "the table has several columns of the same name; rename or drop some"
        ) from error
    except TypeError as error:
        raise DataError(
            f"the table is of type {type(table).__name__}, expected a pandas, polars or pyarrow "
            "table, or a 2-D array with names"
        ) from error
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return frame.drop([name for name in frame.columns if is_index(str(name))])


def _pandas_columns(table: pd.DataFrame, names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of a pandas table; plain numbers by whole blocks where a `Series` of each would
    take longer.
    """
    dtypes: list[Any] = table.dtypes.tolist()
    alike = (
        bool(dtypes) and all(dtype is dtypes[0] for dtype in dtypes) and dtypes[0] in PLAIN_NUMBERS
    )
    if len(table) <= FEW_ROWS and alike:
        return tuple(
            _plain_column(name, values)
            for name, values in zip(names, table.to_numpy().T, strict=True)
        )
    if len(names) < MANY_COLUMNS or len(table) > FEW_ROWS:
        return tuple(
            _pandas_column(name, series)
            for name, (_, series) in zip(names, table.items(), strict=True)
        )
    blocks: dict[Any, Iterator[Values]] = {}
    for dtype in {dtype for dtype in dtypes if isinstance(dtype, np.dtype)}.intersection(
        PLAIN_NUMBERS
    ):
        found: Values = table.select_dtypes(dtype.type).to_numpy().T
        if len(found) == dtypes.count(dtype):
            # else there are other dtypes that pandas takes for this one
            blocks[dtype] = iter(found)
    return tuple(
        (
            _plain_column(names[i], next(blocks[dtype]))
            if dtype in blocks
            else _pandas_column(names[i], table.iloc[:, i])
        )
        for i, dtype in enumerate(dtypes)
    )


def _pandas_column(name: str, series: pd.Series[Any]) -> Column:
    """A column of a pandas table; plain numbers, the usual case, without the way through
    narwhals.
    """
    if isinstance(series.dtype, np.dtype) and series.dtype in PLAIN_NUMBERS:
        return _plain_column(name, series.to_numpy())
    wrapped = nw.from_native(series, series_only=True)
    return Column(name, wrapped.dtype, wrapped)


def _plain_column(name: str, values: Values) -> Column:
    return Column(name, getattr(nw, PLAIN_NUMBERS[values.dtype])(), values)  # type: ignore[arg-type]


PLAIN_NUMBERS = {
    np.dtype(np.float64): "Float64",
    np.dtype(np.float32): "Float32",
    np.dtype(np.int64): "Int64",
    np.dtype(np.int32): "Int32",
}
"""Dtypes of numpy that are read as they are, with the names that narwhals has for them."""


def _named_array(array: Values, names: Sequence[Any] | None) -> tuple[Values, list[str]]:
    """A 2-D array whose missing values are NaN, and one name for each of its columns."""
    if array.ndim != 2:
        raise DataError(f"the array has {array.ndim} dimensions, expected 2 (rows and columns)")
    if names is None:
        raise DataError(
            f"the array has no column names; pass names=[...] with {array.shape[1]} of them"
        )
    listed = isinstance(names, Sequence | np.ndarray) or nw.dependencies.is_pandas_index(names)
    if isinstance(names, str) or not listed or len(names) != array.shape[1]:
        raise DataError(
            f"names is {shortly(names)}, expected one name for each of the {array.shape[1]} columns"
        )
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return np.asarray(array), [str(name) for name in names]


def _native_names(table: Any) -> list[str]:
    """The names before narwhals sees the table, since it refuses duplicates in its own words."""
    if nw.dependencies.is_pandas_dataframe(table):
        if isinstance(table.columns, pd.MultiIndex):
            raise DataError(
                "the table has column names of several levels (a MultiIndex); join them"
            )
        return [str(name) for name in table.columns.tolist()]
    return [str(name) for name in getattr(table, "column_names", ())]


def _check_unique(names: Sequence[str]) -> None:
    repeated = [repr(name) for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"the table has several columns called {' and '.join(repeated)}; rename or drop some"
        )


def context_places(context: object, names: tuple[str, ...]) -> tuple[int, ...]:
    """The positions of the context variables among the columns, in the order they were given."""
    if context is None:
        return ()
    asked = list(context) if isinstance(context, list | tuple) else [context]
    if not asked or any(not isinstance(name, str | int | np.integer) for name in asked):
        raise OptionError(
            f"context is {shortly(context)}, expected the name of a column, or several in a list"
        )
    chosen = [str(name) for name in asked]
    if len(set(chosen)) < len(chosen):
        twice = next(name for name in chosen if chosen.count(name) > 1)
        raise OptionError(f"context names {twice!r} twice, expected different column names")
    if len(chosen) > MOST_CONTEXTS:
        raise OptionError(
            f"context names {len(chosen)} columns, expected at most {MOST_CONTEXTS}; leave some"
            " out, or join them into one column"
        )
    for name in chosen:
        if name not in names:
            remedy = did_you_mean(name, names)
            if len(names) == 1:
                remedy = f"; its only column is {names[0]!r}: save it with commas between columns"
            raise DataError(f"the table has no context column {name!r}{remedy}")
    return tuple(names.index(name) for name in chosen)


def check_two_variables(names: Sequence[str], contexts: tuple[int, ...]) -> None:
    """Return if there are two variables besides the contexts, to look for a link between."""
    system = len(names) - len(contexts)
    if system < 2:
        besides = (
            f" besides the context {', '.join(repr(names[place]) for place in contexts)}"
            if contexts
            else ""
        )
        raise DataError(
            f"the table has {system} column{'' if system == 1 else 's'}{besides}; at least 2 are"
            " needed"
        )


def context_levels(
    column: Column, declared: Kind | None, whole_floats: bool = False
) -> tuple[tuple[Any, ...], Codes]:
    """The levels of a context variable, and the level of every row."""
    if declared is Kind.CONTINUOUS:
        raise DataError(f"context {column.name!r} is declared continuous; a context is categorical")
    if declared is Kind.ORDERED:
        check_has_order(column, "context")
    return read_levels(column, declared=declared is not None, whole_floats=whole_floats)


def cells_of(read: Mapping[str, Codes], rows: int) -> tuple[tuple[tuple[int, ...], ...], Codes]:
    """The combinations of levels that occur, sorted, and the combination of every row; -1 where a
    level is missing.
    """
    if not read:
        return ((),), np.zeros(rows, dtype=np.int32)
    if len(read) == 1:
        (codes,) = read.values()
        return tuple((level,) for level in range(int(codes.max()) + 1)), codes
    by_row = np.column_stack(list(read.values()))
    known = (by_row >= 0).all(axis=1)
    cells, place = np.unique(by_row[known], axis=0, return_inverse=True)
    if len(cells) > MOST_CELLS:
        raise DataError(
            f"{', '.join(read)} have {len(cells)} combinations of values, more than {MOST_CELLS}"
        )
    found = np.full(rows, -1, dtype=np.int32)
    found[known] = place.ravel()
    return tuple(tuple(int(level) for level in cell) for cell in cells), found
