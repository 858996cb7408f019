"""What dtypes say about columns, and what the user may say instead."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from causalcontext.data.columns import (
    Column,
    Kind,
    declared_kinds,
    infer_kind,
    plain_values,
    value_families,
)
from causalcontext.errors import DataError, OptionError


def column_of(native: Any) -> Column:
    series = nw.from_native(native, series_only=True)
    return Column("c", series.dtype, series)


CONTINUOUS = {
    "float64": pd.Series([1.0, 2.0]),
    "float32": pd.Series([1.0, 2.0], dtype=np.float32),
    "int8": pd.Series([1, 2], dtype=np.int8),
    "uint64": pd.Series([1, 2], dtype=np.uint64),
    "nullable Int64": pd.Series([1, None], dtype="Int64"),
    "nullable Float64": pd.Series([1, None], dtype="Float64"),
    "pyarrow int": pd.Series([1, None], dtype="int64[pyarrow]"),
    "pyarrow decimal": pd.Series([Decimal("1.5"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    "objects, numbers": pd.Series([1.5, None, 2], dtype=object),
    "objects, decimals": pd.Series([Decimal("1.5"), None], dtype=object),
    "nothing at all": pd.Series([None, None], dtype=object),
    "sparse": pd.Series(pd.arrays.SparseArray([1.0, 0.0])),
    "long double": pd.Series(np.array([1, 2], dtype=np.longdouble)),
    "big-endian": pd.Series(np.array([1, 2], dtype=">f8")),
    "polars decimal": pl.Series([Decimal("1.5"), None]),
    "polars null": pl.Series([None, None]),
    "polars int128": pl.Series([1, 2], dtype=pl.Int128),
    "pyarrow null": pa.chunked_array([pa.nulls(2)]),
}
CATEGORICAL = {
    "str": pd.Series(["a", "b"]),
    "str with gaps": pd.Series(["a", None], dtype=object),
    "bool": pd.Series([True, False]),
    "nullable boolean": pd.Series([True, None], dtype="boolean"),
    "objects, truth values": pd.Series([True, None], dtype=object),
    "category": pd.Series(["a", "b"], dtype="category"),
    "category of numbers": pd.Series([1, 2], dtype="category"),
    "polars string": pl.Series(["a", None]),
    "polars categorical": pl.Series(["a", "b"], dtype=pl.Categorical),
    "polars enum": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
    "pyarrow dictionary": pa.chunked_array([pa.array(["a", "b"]).dictionary_encode()]),
}
UNUSABLE = {
    "datetime": pd.Series(pd.date_range("2020", periods=2)),
    "duration": pd.Series(pd.to_timedelta([1, 2], unit="s")),
    "complex128": pd.Series([1j, 2j]),
    "object with values of type int and str": pd.Series([1, "1"], dtype=object),
    "object with values of type list": pd.Series([[1], [2]]),
    "object with values of type Period": pd.Series(pd.period_range("2020", periods=2)),
    "date": pl.Series([datetime.date(2020, 1, 1)]),
    "list": pl.Series([[1], [2]]),
    "struct": pl.Series([{"a": 1}]),
}


@pytest.mark.parametrize("native", CONTINUOUS.values(), ids=CONTINUOUS)
def test_numbers_are_continuous(native: Any) -> None:
    assert infer_kind(column_of(native)) is Kind.CONTINUOUS


@pytest.mark.parametrize("native", CATEGORICAL.values(), ids=CATEGORICAL)
def test_text_categories_and_truth_values_are_categorical(native: Any) -> None:
    assert infer_kind(column_of(native)) is Kind.CATEGORICAL


@pytest.mark.parametrize(("finding", "native"), UNUSABLE.items(), ids=UNUSABLE)
def test_anything_else_is_an_error_that_names_column_and_dtype(finding: str, native: Any) -> None:
    with pytest.raises(
        DataError,
        match=f"column 'c' has dtype {finding}(, .* convert it to numbers or|; .* pass time='c')",
    ):
        infer_kind(column_of(native))


def test_dtype_names_are_the_same_for_every_kind_of_table() -> None:
    natives = [pd.Series([1.0]), pl.Series([1.0]), pa.chunked_array([pa.array([1.0])])]
    assert {column_of(native).dtype_name for native in natives} == {"float64"}
    assert column_of(pl.Series(["a"], dtype=pl.Enum(["a"]))).dtype_name == "enum"


def test_plain_values_have_the_byte_order_of_this_machine() -> None:
    values = plain_values(column_of(pd.Series(np.array([1, 2], dtype=">f4"))))
    assert values.dtype.isnative
    assert values.tolist() == [1.0, 2.0]


def test_value_families_tell_truth_values_from_integers() -> None:
    assert value_families(np.array([np.int64(1), 2, None], dtype=object)) == (int,)
    assert value_families(np.array([1, True], dtype=object)) == (bool, int)
    assert value_families(np.array([None, np.nan, pd.NA], dtype=object)) == ()


def test_declared_kinds_become_kinds() -> None:
    assert declared_kinds({"a": "categorical", 1: Kind.CONTINUOUS}, ("a", "1")) == {
        "a": Kind.CATEGORICAL,
        "1": Kind.CONTINUOUS,
    }
    assert declared_kinds(None, ("a",)) == {}


def test_declared_kinds_of_unknown_columns_get_a_suggestion() -> None:
    with pytest.raises(DataError, match=r"kinds has 'presure', .* did you mean 'pressure'"):
        declared_kinds({"presure": "continuous"}, ("pressure", "R"))


def test_unknown_kinds_are_rejected() -> None:
    with pytest.raises(
        OptionError, match=r"kind of column 'a' is 'categoric', .* did you mean 'categorical'"
    ):
        declared_kinds({"a": "categoric"}, ("a",))
    with pytest.raises(OptionError, match="expected a mapping"):
        declared_kinds(["a"], ("a",))  # type: ignore[arg-type]
