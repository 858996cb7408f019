"""A column as an array: its numbers, or its levels with their Python types and the level of every
row; and its kind.

The kind of a column is what its dtype says, unless the user says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.frames import is_missing, numbered, nw, pa
from causalcontext.errors import DataError, OptionError, check_choice, did_you_mean, shortly
from causalcontext.kernels.arrays import Codes, Values


class Kind(StrEnum):
    """The kinds of variable that a table can hold; numbers are counts, and categories ordered,
    where that is said.
    """

    CONTINUOUS = "continuous"
    CATEGORICAL = "categorical"
    ORDERED = "ordered"
    COUNT = "count"

    @property
    def is_number(self) -> bool:
        """True if values are numbers rather than levels."""
        return self in (Kind.CONTINUOUS, Kind.COUNT)


class Column(NamedTuple):
    """A column of any kind of table; its dtype is asked for once, since asking is slow. Plain
    numbers are an array.
    """

    name: str
    dtype: nw.dtypes.DType
    series: nw.Series[Any]

    @property
    def dtype_name(self) -> str:
        """The dtype as it is printed, the same word for every kind of table: `"float64"`,
        `"string"`.
        """
        return _dtype_name(self.dtype)


@cache
def _dtype_name(dtype: nw.dtypes.DType) -> str:
    return str(dtype).partition("(")[0].lower()


_FAMILIES: tuple[tuple[type, tuple[type, ...]], ...] = (
    (bool, (bool, np.bool_)),  # before int: a bool is an int
    (int, (int, np.integer)),
    (float, (float, np.floating, Decimal)),
    (str, (str,)),
)


def declared_kinds(kinds: Mapping[Any, str] | None, names: Sequence[str]) -> dict[str, Kind]:
    """The kinds that the user declared, by column name, once every name and every kind is known to
    exist.
    """
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise OptionError(
            f"kinds is {shortly(kinds)}, expected a mapping such as {{'R': 'categorical'}}"
        )
    for name, kind in kinds.items():
        if str(name) not in names:
            raise DataError(
                f"kinds has {str(name)!r}, which is not in the table{did_you_mean(name, names)}"
            )
        check_choice(f"the kind of column {str(name)!r}", kind, [choice.value for choice in Kind])
    return {str(name): Kind(kind) for name, kind in kinds.items()}


def infer_kind(column: Column) -> Kind:
    """The kind that the dtype of a column says; values are looked at only where the dtype says
    nothing.
    """
    # Numbers are continuous; text, categories and truth values are categorical, and categories that
    # pandas or pyarrow calls ordered are ordered. A column without any value is continuous: nothing
    # contradicts it, and its missing values are reported as such.
    if column.dtype.is_numeric():
        return Kind.CONTINUOUS
    if isinstance(column.dtype, nw.String) and column.series.null_count() == len(column.series):
        return Kind.CONTINUOUS
    if isinstance(column.dtype, nw.Categorical | nw.Enum | nw.String | nw.Boolean):
        return Kind.ORDERED if _is_ordered(column) else Kind.CATEGORICAL
    if not isinstance(column.dtype, nw.Object | nw.Unknown):
        raise _unusable(column, f"dtype {column.dtype_name}")
    values = plain_values(column)
    if values.dtype.kind in "fiu":
        return Kind.CONTINUOUS
    if values.dtype.kind != "O":
        raise _unusable(column, f"dtype {values.dtype}")
    families = value_families(values)
    if set(families) <= {int, float}:
        return Kind.CONTINUOUS
    if families in ((bool,), (str,)):
        return Kind.CATEGORICAL
    listed = " and ".join(family.__name__ for family in families)
    raise _unusable(column, f"dtype object with values of type {listed}")


def _is_ordered(column: Column) -> bool:
    """True if a categorical of pandas or a dictionary of pyarrow says that it is ordered; a polars
    `Enum` does not.
    """
    if isinstance(column.series, np.ndarray):
        return False
    dictionary = dictionary_of(column)
    dtype = (
        getattr(column.series.to_native(), "dtype", None) if dictionary is None else dictionary.type
    )
    return bool(getattr(dtype, "ordered", False))


def dictionary_of(column: Column) -> pa.ChunkedArray | None:
    """The categories of a column that pyarrow holds, in a table of its own or of pandas; None for
    any other column.
    """
    if not isinstance(column.dtype, nw.Categorical) or isinstance(column.series, np.ndarray):
        return None
    native = column.series.to_native()
    if column.series.implementation.is_pyarrow():
        return native
    if not hasattr(native.dtype, "pyarrow_dtype"):
        return None
    import pyarrow as pa

    values = pa.array(native)
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


def plain_values(column: Column) -> Values:
    """The values as an array of numbers in the byte order of this machine, or of Python objects."""
    # Integers with gaps become floats.
    if isinstance(column.series, np.ndarray):
        return column.series
    if isinstance(column.dtype, nw.Categorical | nw.Enum):
        # pyarrow's own way to numpy fills the gaps of a dictionary with a category
        return object_values(column)
    wide = isinstance(column.dtype, nw.Int128 | nw.UInt128)  # which numpy lacks
    values = (column.series.cast(nw.Float64) if wide else column.series).to_numpy()
    if values.dtype.kind == "U":
        return values.astype(object)
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def object_values(column: Column) -> Values:
    """The values as an array of Python objects."""
    values = np.empty(len(column.series), dtype=object)
    values[:] = column.series.to_list()
    return values


def value_families(values: Values) -> tuple[type, ...]:
    """The Python types among the values that are not missing, sorted by name."""
    # `bool`, `int`, `float` and `str` stand for their kin; any other type is listed as it is.
    types = {type(value) for value in values[~is_missing(values)]}
    families = {
        next((family for family, kin in _FAMILIES if issubclass(value_type, kin)), value_type)
        for value_type in types
    }
    return tuple(sorted(families, key=lambda family: family.__name__))


def for_dates(name: str) -> str:
    """Advice about a column of dates."""
    return (
        f"if rows follow each other in time pass time={name!r} with lags=..., such as lags=3, else"
        " drop it"
    )


def _unusable(column: Column, finding: str) -> DataError:
    if isinstance(column.dtype, nw.Datetime | nw.Date):
        return DataError(f"column {column.name!r} has {finding}; {for_dates(column.name)}")
    return DataError(
        f"column {column.name!r} has {finding}, which is neither continuous nor categorical; "
        "convert it to numbers or to text, or drop it"
    )


FEW = 20
"""Levels that are looked at to tell dates."""
_LEVEL_TYPES = (bool, int, float, str)
_FAMILY_OF_DTYPE = {"b": bool, "i": int, "u": int, "f": float}
WORDS = (
    *(
        "",
        ".",
        "-",
        "--",
        "?",
        "NA",
        "N/A",
        "n/a",
        "na",
        "n.a.",
        "N.A.",
        "<NA>",
        "NaN",
        "nan",
        "NaT",
    ),
    *("null", "NULL", "None", "missing", "Missing", "unknown", "Unknown", "n.d.", "N.D."),
    *("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
)
"""Words that often stand for a missing value, in columns that are numbers otherwise."""
MOST_WORDS = 3
"""Different words without a digit, among numbers, that may stand for missing values."""
MOSTLY = 0.5
"""Share of numbers from which on a column of text is taken for numbers with typing errors."""


def read_levels(
    column: Column, declared: bool = False, whole_floats: bool = False, role: str = "context"
) -> tuple[tuple[Any, ...], Codes]:
    """The values that occur in a categorical column, in order, and the position of every row's
    value among them.

    A categorical column gives its own order, anything else is sorted. Rows without a value have the
    code -1. A column that the user `declared` categorical may hold floats; `whole_floats` that are
    whole numbers are read as integers: in an array all columns share one dtype, and elsewhere two
    of them, such as 0.0 and 1.0, are labels. A system variable (`role` "column") with one level is
    reported with the other constant columns.

    Refused are continuous columns, values of several types (`1` and `"1"` could not be told apart
    in print) or of a type without plain text, a context of fewer than two levels, and more levels
    than half of the rows.
    """
    codes, values, family = _coded(column, role)
    if family is float:  # unless declared as labels, or two whole numbers, floats are measurements
        whole = all(float(value).is_integer() for value in values)
        labels = declared or isinstance(column.dtype, nw.Categorical | nw.Enum)
        if not labels and not (whole and (whole_floats or len(values) == 2)):
            raise DataError(
                f"context {column.name!r} is continuous ({column.dtype_name}); if its values are"
                f" labels, declare kinds={{{column.name!r}: 'categorical'}}"
            )
        family = int if whole and (whole_floats or not labels) else float
    occurring = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(values)))
    if role == "context" and occurring.size < 2:
        levels_found = [f"1 level ({family(values[index])!r}); at least 2" for index in occurring]
        had = levels_found[0] if levels_found else "no value in any row; at least 2 levels"
        raise DataError(f"context {column.name!r} has {had} are needed")
    check_levels_repeat(
        column.name, role, int(np.count_nonzero(codes >= 0)), values[occurring].tolist()
    )
    order = occurring if _is_pandas_categorical(column) else _level_order(column, values)
    # the last entry answers the code -1
    code_of_value = np.full(len(values) + 1, -1, dtype=np.int32)
    code_of_value[order] = np.arange(len(order), dtype=np.int32)
    return tuple(family(values[position]) for position in order), code_of_value[codes]


def _coded(column: Column, role: str) -> tuple[Values, Values, type]:
    """A code for every row (-1: missing), the values that the codes stand for, and their one Python
    type.
    """
    if _is_pandas_categorical(column):
        native = column.series.to_native()
        values = native.cat.categories.astype(object).to_numpy()
        return native.cat.codes.to_numpy(), values, _one_family(column, values, role)
    if column.dtype.is_nested():
        raise _not_a_level(column, column.dtype_name, role)
    rows = plain_values(column)
    if rows.dtype.kind == "f" and column.dtype.is_integer():
        # numpy turns whole numbers with gaps into floats
        rows = object_values(column)
    # of all rows, not of the distinct ones: 1 and True are equal
    family = _one_family(column, rows, role)
    return *numbered(rows), family


def _one_family(column: Column, values: Values, role: str) -> type:
    """The one Python type of all values."""
    if values.dtype.kind in _FAMILY_OF_DTYPE:
        return _FAMILY_OF_DTYPE[values.dtype.kind]
    families = value_families(values) if values.dtype.kind == "O" else (values.dtype.type,)
    listed = " and ".join(family.__name__ for family in families)
    if len(families) > 1:
        raise DataError(
            f"{role} {column.name!r} mixes values of type {listed}; convert them to one type"
        )
    if families and families[0] not in _LEVEL_TYPES:
        raise _not_a_level(column, listed, role)
    return families[0] if families else str


def _not_a_level(column: Column, listed: str, role: str) -> DataError:
    return DataError(
        f"{role} {column.name!r} has values of type {listed}, expected text, integers or "
        "booleans; convert them to text"
    )


def check_levels_repeat(name: str, role: str, rows: int, levels: Sequence[Any]) -> None:
    """Return if there are few enough levels to be called so, in the rows that have one."""
    if 2 * len(levels) <= rows:
        return
    if role == "column":
        check_no_dates(name, levels)
    raise DataError(
        f"{role} {name!r} has {len(levels)} levels in {rows} rows, which looks like "
        "an identifier or a continuous column; its values must repeat"
    )


def check_no_dates(name: str, levels: Sequence[Any]) -> None:
    """Return unless levels are dates; some are looked at."""
    try:  # with hyphens, as ISO 8601 writes dates, perhaps with a time
        dates = all(
            isinstance(value, str) and "-" in value and datetime.fromisoformat(value)
            for value in levels[:FEW]
        )
    except ValueError:
        return
    if dates:
        raise DataError(f"column {name!r} holds dates as text; {for_dates(name)}")


def _is_pandas_categorical(column: Column) -> bool:
    if isinstance(column.series, np.ndarray):
        return False
    pandas_like = column.series.implementation.is_pandas_like()
    return pandas_like and hasattr(column.series.to_native().dtype, "categories")


def _level_order(column: Column, values: Values) -> NDArray[np.intp]:
    """The positions of the values in the order that the maker of the column gave its categories, or
    sorted.
    """
    # A polars `Categorical` has no order of its own: its physical one depends on what else the
    # process read.
    dictionary = dictionary_of(column)
    categories = None
    if isinstance(column.dtype, nw.Enum):
        categories = list(column.series.to_native().dtype.categories)
    elif dictionary is not None:
        categories = dictionary.unify_dictionaries().chunk(0).dictionary.to_pylist()
    rank = {value: position for position, value in enumerate(categories or ())}
    keys = values.tolist() if categories is None else [rank[value] for value in values]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)


def read_system(column: Column, kind: Kind) -> tuple[Values, tuple[Any, ...]]:
    """The values of a column, and the categories that codes stand for; no categories for
    numbers.
    """
    if kind is Kind.CONTINUOUS:
        return _numbers(column), ()
    if kind is Kind.COUNT:  # what is missing or infinite is reported later
        values = _numbers(column)
        finite = values[np.isfinite(values)]
        wrong = finite[(finite < 0) | (finite != np.floor(finite))]
        if wrong.size:
            raise DataError(
                f"column {column.name!r} is declared count but holds"
                f" {number_text(float(wrong[0]))}, expected whole numbers from 0"
            )
        return values, ()
    if kind is Kind.ORDERED:
        check_has_order(column, "column")
    if isinstance(column.dtype, nw.String):
        check_no_typing_error(column.name, numbered(plain_values(column))[1].tolist())
    levels, codes = read_levels(column, declared=True, role="column")
    return (np.where(codes < 0, np.nan, codes) if (codes < 0).any() else codes), levels


def check_has_order(column: Column, role: str) -> None:
    """Return if the values of a column that was declared ordered have an order."""
    in_order = (
        column.dtype.is_numeric()
        or isinstance(column.dtype, nw.Enum | nw.Boolean)
        or _is_ordered(column)
    )
    if not in_order and not (
        isinstance(column.dtype, nw.Object) and infer_kind(column) is Kind.CONTINUOUS
    ):
        raise DataError(
            f"{role} {column.name!r} is declared ordered, but its values ({column.dtype_name}) have"
            " no order of their own; make it an ordered categorical, or numbers"
        )


def _numbers(column: Column) -> Values:
    """A column as a numeric array, in its own dtype where compiled code can read it, else as
    float64.
    """
    values = plain_values(column)
    if values.dtype.kind in "iuf" and values.dtype.itemsize <= 8:
        return values
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    numbers = np.full(len(values), np.nan)
    present = ~is_missing(values)
    try:
        numbers[present] = values[present].astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(
            f"column {column.name!r} is declared continuous but not numeric: {error}"
        ) from error
    return numbers


def check_no_typing_error(name: str, distinct: Sequence[str]) -> None:
    """Return unless different texts are mostly, but not always, numbers."""
    import pandas as pd

    texts = pd.Series(distinct, dtype=object)
    numbers = pd.Series(np.isfinite(pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)))
    if numbers.all() or numbers.mean() < MOSTLY:
        return
    others = texts[~numbers]
    way = "correct it, or drop the column"
    known = bool(others.str.strip().isin(WORDS).all())
    plain = len(others) <= MOST_WORDS and not others.str.contains(r"\d|^inf|^-inf").any()
    if known or plain:
        missing = f"if it means a missing value pass na_values={others.tolist()!r}"
        way = missing if known else f"{missing}, else {way}"
    raise DataError(
        f"column {name!r} is text, but {int(numbers.sum())} of its {len(texts)} different values "
        f"are numbers; {others.iloc[0]!r} is not: {way}"
    )


def number_text(value: float) -> str:
    """The shortest text that is read as the same number.

    >>> number_text(0.3), number_text(1700000003.0), number_text(2e-9)
    ('0.3', '1700000003', '2e-09')
    """
    short = f"{value:.6g}"
    if float(short) == value:
        return short
    return (
        str(int(value))
        if math.isfinite(value) and value == int(value) and abs(value) < 1e15
        else repr(value)
    )
