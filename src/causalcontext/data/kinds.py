"""What kind of variable a column is: what its dtype says, unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from causalcontext.data.frames import is_missing, pa
from causalcontext.errors import DataError, OptionError, check_choice, did_you_mean, shortly
from causalcontext.kernels.arrays import Values


class Kind(StrEnum):
    """The kinds of variable that a table can hold; numbers are counts, and categories ordered, where that is said."""

    CONTINUOUS = "continuous"
    CATEGORICAL = "categorical"
    ORDERED = "ordered"
    COUNT = "count"

    @property
    def is_number(self) -> bool:
        """Whether values are numbers rather than levels."""
        return self in (Kind.CONTINUOUS, Kind.COUNT)


class Column(NamedTuple):
    """A column of any kind of table; its dtype is asked for once, since asking is slow. Plain numbers are an array."""

    name: str
    dtype: nw.dtypes.DType
    series: nw.Series[Any]

    @property
    def dtype_name(self) -> str:
        """The dtype as it is printed, the same word for every kind of table: `"float64"`, `"string"`."""
        return _dtype_name(self.dtype)


@cache
def _dtype_name(dtype: nw.dtypes.DType) -> str:
    return str(dtype).partition("(")[0].lower()


_CATEGORICAL_DTYPES = (nw.Categorical, nw.Enum, nw.String, nw.Boolean)
_DTYPES_TO_LOOK_INTO = (nw.Object, nw.Unknown)
_NO_NUMPY_DTYPE = (nw.Int128, nw.UInt128)
_FAMILIES: tuple[tuple[type, tuple[type, ...]], ...] = (
    (bool, (bool, np.bool_)),  # before int: a bool is an int
    (int, (int, np.integer)),
    (float, (float, np.floating, Decimal)),
    (str, (str,)),
)


def declared_kinds(kinds: Mapping[Any, str] | None, names: Sequence[str]) -> dict[str, Kind]:
    """What the user declared, by column name, once every name and every kind is known to exist."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise OptionError(f"kinds is {shortly(kinds)}, expected a mapping such as {{'R': 'categorical'}}")
    for name, kind in kinds.items():
        if str(name) not in names:
            raise DataError(f"kinds has {str(name)!r}, which is not in the table{did_you_mean(name, names)}")
        check_choice(f"the kind of column {str(name)!r}", kind, [choice.value for choice in Kind])
    return {str(name): Kind(kind) for name, kind in kinds.items()}


def infer_kind(column: Column) -> Kind:
    """The kind that the dtype of a column says; values are looked at only where the dtype says nothing.

    Numbers are continuous; text, categories and truth values are categorical, and categories that pandas or pyarrow
    calls ordered are ordered. A column without any value is continuous: nothing contradicts it, and its missing values
    are reported as such.
    """
    if column.dtype.is_numeric():
        return Kind.CONTINUOUS
    if isinstance(column.dtype, nw.String) and column.series.null_count() == len(column.series):
        return Kind.CONTINUOUS
    if isinstance(column.dtype, _CATEGORICAL_DTYPES):
        return Kind.ORDERED if _is_ordered(column) else Kind.CATEGORICAL
    if isinstance(column.dtype, _DTYPES_TO_LOOK_INTO):
        return _kind_of_values(column)
    raise _unusable(column, f"dtype {column.dtype_name}")


def has_own_order(column: Column) -> bool:
    """Whether the levels of a column come in an order that means something: numbers, or categories put in order."""
    return column.dtype.is_numeric() or isinstance(column.dtype, nw.Enum | nw.Boolean) or _is_ordered(column)


def _is_ordered(column: Column) -> bool:
    """Whether a categorical of pandas or a dictionary of pyarrow says that it is ordered; a polars `Enum` does not."""
    if isinstance(column.series, np.ndarray):
        return False
    dictionary = dictionary_of(column)
    dtype = getattr(column.series.to_native(), "dtype", None) if dictionary is None else dictionary.type
    return bool(getattr(dtype, "ordered", False))


def dictionary_of(column: Column) -> pa.ChunkedArray | None:
    """The categories of a column that pyarrow holds, in a table of its own or of pandas; None for any other column."""
    if not isinstance(column.dtype, nw.Categorical) or isinstance(column.series, np.ndarray):
        return None
    native = column.series.to_native()
    if column.series.implementation.is_pyarrow():
        return native
    if not hasattr(native.dtype, "pyarrow_dtype"):
        return None
    import pyarrow as pa

    found = pa.array(native)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def plain_values(column: Column) -> Values:
    """The values as an array of numbers in the byte order of this machine, or of Python objects.

    Integers with gaps become floats.
    """
    if isinstance(column.series, np.ndarray):
        return column.series
    if isinstance(column.dtype, nw.Categorical | nw.Enum):
        return object_values(column)  # pyarrow's own way to numpy fills the gaps of a dictionary with a category
    wide = isinstance(column.dtype, _NO_NUMPY_DTYPE)
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
    """The Python types among the values that are not missing, sorted by name.

    `bool`, `int`, `float` and `str` stand for their kin; any other type is listed as it is.
    """
    types = {type(value) for value in values[~is_missing(values)]}
    return tuple(sorted({_family(kind) for kind in types}, key=lambda family: family.__name__))


def _kind_of_values(column: Column) -> Kind:
    """The kind of a column of Python objects, or of a dtype that narwhals has no name for."""
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


def _family(kind: type) -> type:
    return next((family for family, members in _FAMILIES if issubclass(kind, members)), kind)


def for_dates(name: str) -> str:
    """What to do with a column of dates."""
    return f"if rows follow each other in time pass time={name!r} with lags=..., such as lags=3, else drop it"


def _unusable(column: Column, finding: str) -> DataError:
    if isinstance(column.dtype, nw.Datetime | nw.Date):
        return DataError(f"column {column.name!r} has {finding}; {for_dates(column.name)}")
    return DataError(f"column {column.name!r} has {finding}, which is neither continuous nor categorical; "
                     "convert it to numbers or to text, or drop it")  # fmt: skip
