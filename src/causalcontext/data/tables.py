"""The door of the library: any kind of table in, a checked `Dataset` out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Column, Kind, declared_kinds, infer_kind
from causalcontext.data.levels import read_levels
from causalcontext.data.values import read_system
from causalcontext.errors import DataError, NotYetError, OptionError, did_you_mean


def read_table(
    table: Any,
    context: str | int | None,
    kinds: Mapping[Any, str] | None = None,
    names: Sequence[Any] | None = None,
) -> Dataset:
    """A checked `Dataset`: the columns of `table` as numbers, and the context of every row.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, 2-D array, mapping of arrays, or what else narwhals reads
        Lazy tables are collected. The index of a pandas table is not a column.
    context : str or None
        The column that names the context; None for a search without contexts.
    kinds : mapping from column name to `"continuous"`, `"categorical"`, `"ordered"` or `"count"`, optional
        Overrides what the dtypes say.
    names : sequence of str, optional
        The column names of an array, and only of an array.

    Raises
    ------
    DataError
        The table cannot be used as it is; the message names the columns and says what to do.
    Examples
    --------
    >>> table = {"X": [0.1, 0.7, 0.3, 0.4], "Y": [1, 2, 3, 4], "R": ["dry", "wet", "wet", "dry"]}
    >>> data = read_table(table, context="R")
    >>> data.levels, data.codes.tolist(), data.system
    (('dry', 'wet'), [0, 1, 1, 0], (0, 1))
    """
    columns = _columns(table, names)
    column_names = tuple(column.name for column in columns)
    place = _context_place(context, column_names)
    declared = declared_kinds(kinds, column_names)
    _check_shape(columns, place)
    levels, codes = _context(columns, place, declared, whole_floats=isinstance(table, np.ndarray))
    found = _kinds(columns, place, declared)
    read = [(codes, ()) if i == place else read_system(c, found[i]) for i, c in enumerate(columns)]
    return Dataset(
        names=column_names,
        kinds=found,
        columns=tuple(values for values, _ in read),
        dtypes=tuple(column.dtype_name for column in columns),
        context=place,
        levels=levels,
        codes=codes,
        categories={i: values for i, (_, values) in enumerate(read) if values},
    )


def eager_frame(table: Any, names: Sequence[Any] | None) -> nw.DataFrame[Any]:
    """Any kind of table as a frame in memory, no name twice."""
    if isinstance(table, np.ndarray):
        table = _frame_of_array(table, names)
    elif names is not None:
        raise OptionError("names is only for arrays; this table brings its own column names")
    elif isinstance(table, Mapping):
        table = _frame_of_mapping(table)
    _check_unique(_native_names(table))
    return _eager(table)


def _columns(table: Any, names: Sequence[Any] | None) -> tuple[Column, ...]:
    """The columns of any kind of table, named by text, no name twice."""
    if isinstance(table, pd.DataFrame) and names is None:
        _check_unique(_native_names(table))
        return tuple(_pandas_column(str(name), series) for name, series in table.items())
    frame = eager_frame(table, names)
    column_names = [str(name) for name in frame.columns]
    _check_unique(column_names)
    named = zip(column_names, frame.iter_columns(), strict=True)
    return tuple(Column(name, series.dtype, series) for name, series in named)


def _pandas_column(name: str, series: pd.Series[Any]) -> Column:
    """A column of a pandas table; plain numbers, the usual case, without the way through narwhals."""
    if isinstance(series.dtype, np.dtype) and series.dtype in PLAIN_NUMBERS:
        return Column(name, PLAIN_NUMBERS[series.dtype], series)  # type: ignore[arg-type]
    wrapped = nw.from_native(series, series_only=True)
    return Column(name, wrapped.dtype, wrapped)


PLAIN_NUMBERS = {np.dtype(np.float64): nw.Float64(), np.dtype(np.float32): nw.Float32(), np.dtype(np.int64): nw.Int64(),
                 np.dtype(np.int32): nw.Int32()}  # fmt: skip


def _frame_of_array(array: NDArray[Any], names: Sequence[Any] | None) -> pd.DataFrame:
    if array.ndim != 2:
        raise DataError(f"the array has {array.ndim} dimensions, expected 2 (rows and columns)")
    if names is None:
        raise DataError(f"the array has no column names; pass names=[...] with {array.shape[1]} of them")
    if isinstance(names, str) or len(names) != array.shape[1]:
        raise DataError(f"names is {names!r}, expected one name for each of the {array.shape[1]} columns")
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    return pd.DataFrame(np.asarray(array), columns=[str(name) for name in names], copy=False)


def _frame_of_mapping(columns: Mapping[Any, Any]) -> pd.DataFrame:
    try:
        return pd.DataFrame(dict(columns), copy=False)
    except ValueError as error:
        raise DataError(f"the mapping is not a table: {error}") from error


def _native_names(table: Any) -> list[str]:
    """The names before narwhals sees the table, since it refuses duplicates in its own words."""
    if isinstance(table, pd.DataFrame):
        if isinstance(table.columns, pd.MultiIndex):
            raise DataError("the table has column names of several levels (a MultiIndex); join them")
        return [str(name) for name in table.columns]
    return [str(name) for name in getattr(table, "column_names", ())]


def _eager(table: Any) -> nw.DataFrame[Any]:
    try:
        frame = nw.from_native(table)
    except nw.exceptions.DuplicateError as error:
        raise DataError("the table has several columns of the same name; rename or drop some") from error
    except TypeError as error:
        raise DataError(f"the table is of type {type(table).__name__}, expected a pandas, polars or pyarrow "
                        "table, or a 2-D array with names") from error  # fmt: skip
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _check_unique(names: Sequence[str]) -> None:
    repeated = [repr(name) for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"the table has several columns called {' and '.join(repeated)}; rename or drop some")


def _context_place(context: object, names: tuple[str, ...]) -> int | None:
    if context is None:
        return None
    if not isinstance(context, str | int | np.integer):
        raise NotYetError(f"not yet: context is {context!r}, expected the name of one column")
    if str(context) not in names:
        raise DataError(f"the table has no context column {str(context)!r}{did_you_mean(context, names)}")
    return names.index(str(context))


def _check_shape(columns: Sequence[Column], context: int | None) -> None:
    """Return if there are rows, and two variables to look for a link between."""
    n_system = len(columns) - (context is not None)
    if n_system < 2:
        besides = "" if context is None else f" besides the context {columns[context].name!r}"
        columns_found = "1 column" if n_system == 1 else f"{n_system} columns"
        raise DataError(f"the table has {columns_found}{besides}; at least 2 are needed")
    if len(columns[0].series) == 0:
        raise DataError("the table has no rows")


def _context(
    columns: Sequence[Column], context: int | None, declared: Mapping[str, Kind], whole_floats: bool
) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    """The levels, and the level of every row; without a context all rows are of the level "all"."""
    if context is None:
        return ("all",), np.zeros(len(columns[0].series), dtype=np.int32)
    name = columns[context].name
    if declared.get(name) is Kind.CONTINUOUS:
        raise DataError(f"context {name!r} is declared continuous; a context is categorical")
    return read_levels(columns[context], declared=name in declared, whole_floats=whole_floats)


def _kinds(columns: Sequence[Column], context: int | None, declared: Mapping[str, Kind]) -> tuple[Kind, ...]:
    """The kind of every column. No declaration makes a date or a list usable, so every dtype is looked at."""
    inferred = [Kind.CATEGORICAL if i == context else infer_kind(column) for i, column in enumerate(columns)]
    return tuple(declared.get(column.name, kind) for column, kind in zip(columns, inferred, strict=True))
