"""Every kind of table gives the same `Dataset`; every table that cannot be used gets one clear
sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalcontext as cc
from causalcontext.data.columns import Kind
from causalcontext.data.tables import read_table
from causalcontext.errors import DataError, OptionError

ROWS = 40


def small_frame(context: Any = None) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    x, y, z = rng.normal(size=ROWS), rng.integers(0, 100, ROWS), rng.normal(size=ROWS)
    levels = np.resize(["wet", "dry"], ROWS) if context is None else context
    return pd.DataFrame({"x": x, "R": levels, "y": y, "z": z})


def objects(*values: Any) -> pd.Series:
    return pd.Series(alternating(*values), dtype=object)


def alternating(*values: Any) -> list[Any]:
    return [values[row % len(values)] for row in range(ROWS)]


BACKENDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "pandas with pyarrow dtypes": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "mapping": lambda frame: {name: frame[name].to_numpy() for name in frame},
}


@pytest.mark.parametrize("convert", BACKENDS.values(), ids=BACKENDS)
def test_every_kind_of_table_gives_the_same_dataset(convert: Callable[[pd.DataFrame], Any]) -> None:
    frame = small_frame()
    data = read_table(convert(frame), "R")
    assert data.names == ("x", "R", "y", "z")
    assert data.kinds == (Kind.CONTINUOUS, Kind.CATEGORICAL, Kind.CONTINUOUS, Kind.CONTINUOUS)
    assert data.dtypes == ("float64", "string", "int64", "float64")
    assert (data.context, data.context_name, data.system, data.n_rows) == (1, "R", (0, 2, 3), ROWS)
    assert data.values == ("dry", "wet")
    assert data.codes.dtype == np.int32
    assert data.codes.tolist() == alternating(1, 0)
    assert data.columns[1] is data.codes
    for place in data.system:
        np.testing.assert_array_equal(data.columns[place], frame.iloc[:, place].to_numpy())


def test_an_array_with_names_gives_the_same_dataset() -> None:
    frame = small_frame(alternating(3, 1))
    expected = read_table(frame, "R")
    data = read_table(frame.to_numpy(dtype=float), "R", names=list(frame.columns))
    assert data.names == expected.names
    assert data.values == expected.values == (1, 3)
    assert all(type(level) is int for level in data.values)
    np.testing.assert_array_equal(data.codes, expected.codes)
    for ours, theirs in zip(data.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_numeric_columns_are_not_copied() -> None:
    frame = small_frame()
    data = read_table(frame, "R")
    assert np.shares_memory(data.columns[0], frame["x"].to_numpy())
    array = np.random.default_rng(0).normal(size=(10, 3))
    assert np.shares_memory(read_table(array, None, names=["a", "b", "c"]).columns[1], array)


def test_a_wide_table_is_read_by_blocks_as_column_by_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    dtypes = (
        "float64",
        "float32",
        "int64",
        "int32",
        ">f8",
        "Float64",
        "uint8",
        "boolean",
        "float64",
    )
    frame = pd.DataFrame(
        {f"x{j}": pd.Series(rng.integers(0, 2, ROWS)).astype(dtypes[j % 9]) for j in range(70)}
    )
    frame.insert(30, "R", np.resize(["wet", "dry"], ROWS))
    frame[frame.columns[::9]] += rng.normal(size=(ROWS, 1))
    tables = [
        frame,
        frame[[name for j, name in enumerate(frame) if j % 9 in (0, 1, 2, 3, 8) or name == "R"]],
    ]
    by_blocks = [read_table(table, "R") for table in tables]
    monkeypatch.setattr("causalcontext.data.tables.MANY_COLUMNS", 1000)
    for found, table in zip(by_blocks, tables, strict=True):
        expected = read_table(table, "R")
        assert (found.names, found.kinds, found.dtypes) == (
            expected.names,
            expected.kinds,
            expected.dtypes,
        )
        for ours, theirs in zip(found.columns, expected.columns, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
    assert np.shares_memory(by_blocks[1].columns[0], frame["x0"].to_numpy())


def test_a_masked_array_has_missing_values() -> None:
    array = np.ma.masked_array(
        np.arange(6.0).reshape(3, 2), mask=np.array([[0, 0], [1, 0], [0, 0]], dtype=bool)
    )
    np.testing.assert_array_equal(
        read_table(array, None, names=["a", "b"]).columns[0], [0.0, np.nan, 4.0]
    )


def test_without_a_context_all_rows_are_of_one_level() -> None:
    data = read_table(small_frame()[["x", "y"]], None)
    assert (data.context, data.context_name, data.values, data.system) == (
        None,
        None,
        ("all",),
        (0, 1),
    )
    assert not data.codes.any()


LEVELS = {
    "int": (alternating(2, 10), (2, 10)),
    "small int": (np.array(alternating(2, 10), dtype=np.int8), (2, 10)),
    "numpy integers": (objects(np.int64(2), np.int64(10)), (2, 10)),
    "bool": (alternating(True, False), (False, True)),
    "str": (alternating("b", "a", "c"), ("a", "b", "c")),
    "nullable Int64": (pd.array(alternating(2, None, 10), dtype="Int64"), (2, 10)),
    "nullable boolean": (pd.array(alternating(True, None, False), dtype="boolean"), (False, True)),
    "huge int with gaps": (
        pd.array(alternating(2**60, None, 2**60 + 1), dtype="Int64"),
        (2**60, 2**60 + 1),
    ),
    "pyarrow int": (pd.array(alternating(2, None, 10), dtype="int64[pyarrow]"), (2, 10)),
    "objects with None": (objects(2, None, 10), (2, 10)),
    "category": (
        pd.Categorical(alternating("b", "a"), categories=["b", "unused", "a"]),
        ("b", "a"),
    ),
    "ordered category": (
        pd.Categorical(alternating("lo", "hi"), ["lo", "hi"], ordered=True),
        ("lo", "hi"),
    ),
    "category of int": (pd.Categorical(alternating(1, None, 3), categories=[3, 2, 1]), (3, 1)),
    "category of float": (pd.Categorical(alternating(0.5, 0.1)), (0.1, 0.5)),
}


@pytest.mark.parametrize(("values", "levels"), LEVELS.values(), ids=LEVELS)
def test_levels_keep_their_types_and_their_order(values: Any, levels: tuple[Any, ...]) -> None:
    data = read_table(small_frame(values), "R")
    assert data.values == levels
    assert [type(level) for level in data.values] == [type(level) for level in levels]
    original = list(values)
    assert [data.values[code] if code >= 0 else None for code in data.codes] == [
        None if pd.isna(value) else value for value in original
    ]


def with_context(series: pl.Series) -> pl.DataFrame:
    return pl.from_pandas(small_frame().drop(columns="R")).with_columns(series.alias("R"))


def test_polars_levels() -> None:
    enum = pl.Series(alternating("b", None, "a"), dtype=pl.Enum(["b", "unused", "a"]))
    assert read_table(with_context(enum), "R").values == ("b", "a")
    categorical = pl.Series(alternating("b", None, "a"), dtype=pl.Categorical)
    assert read_table(with_context(categorical), "R").values == ("a", "b")
    integers = read_table(with_context(pl.Series(alternating(5, None, 3))), "R")
    assert integers.values == (3, 5)
    assert integers.codes[:3].tolist() == [1, -1, 0]
    wide = read_table(with_context(pl.Series(alternating(5, 3), dtype=pl.Int128)), "R")
    assert wide.values == (3, 5)


def test_pyarrow_dictionaries_keep_their_order_across_chunks() -> None:
    half = ROWS // 2
    chunks = [
        pa.array(values).dictionary_encode()
        for values in (["wet"] * half, [None, "dry"] * (half // 2))
    ]
    table = pa.Table.from_pandas(small_frame().drop(columns="R")).append_column(
        "R", pa.chunked_array(chunks)
    )
    data = read_table(table, "R")
    assert data.values == ("wet", "dry")
    assert data.codes[[0, half, half + 1]].tolist() == [0, -1, 1]


MISSING_NUMBERS = {
    "pandas Int64": pd.array(alternating(1, None), dtype="Int64"),
    "pandas Float64": pd.array(alternating(1.0, None), dtype="Float64"),
    "pyarrow": pd.array(alternating(1, None), dtype="int64[pyarrow]"),
    "objects": objects(1, None),
    "decimals": objects(Decimal(1), None),
}


@pytest.mark.parametrize("values", MISSING_NUMBERS.values(), ids=MISSING_NUMBERS)
def test_gaps_become_nan(values: Any) -> None:
    column = read_table(small_frame().assign(x=values), "R").columns[0]
    assert column.dtype == np.float64
    np.testing.assert_array_equal(column, alternating(1.0, np.nan))


def test_gaps_in_polars_and_pyarrow_become_nan() -> None:
    frame = pl.from_pandas(small_frame()).with_columns(x=pl.Series(alternating(1, None)))
    for table in (frame, frame.to_arrow()):
        np.testing.assert_array_equal(read_table(table, "R").columns[0], alternating(1.0, np.nan))


def test_columns_without_values_are_continuous_and_missing() -> None:
    data = read_table(small_frame().assign(x=objects(None)), "R")
    assert data.kinds[0] is Kind.CONTINUOUS
    assert np.isnan(data.columns[0]).all()


def test_kinds_override_what_the_dtypes_say() -> None:
    frame = small_frame(alternating(1.5, 0.5)).assign(
        x=alternating(True, False), y=alternating("1.5", None)
    )
    kinds = {"R": "categorical", "x": "continuous", "y": "continuous"}
    data = read_table(frame, "R", kinds=kinds)
    assert data.values == (0.5, 1.5)
    np.testing.assert_array_equal(data.columns[0], alternating(1.0, 0.0))
    np.testing.assert_array_equal(data.columns[2], alternating(1.5, np.nan))


def test_names_that_are_numbers_become_text() -> None:
    frame = small_frame().set_axis([0, 1, 2, 3], axis=1)
    assert read_table(frame, "1").names == ("0", "1", "2", "3")
    assert read_table(frame, 1).context == 1


def test_names_keep_their_white_space() -> None:
    names = ("x", "R", "x ", " x")
    assert read_table(small_frame().set_axis(names, axis=1), "R").names == names


def test_position_suggests_a_name() -> None:
    data = read_table(small_frame().rename(columns={"x": "pressure"}), "R")
    assert data.position("pressure") == 0
    with pytest.raises(DataError, match="no column 'presure'; did you mean 'pressure'"):
        data.position("presure")


FRAME = small_frame()
BAD_TABLES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no rows": (FRAME.iloc[:0], {}, "the table has no rows"),
    "one system variable": (
        FRAME[["x", "R"]],
        {},
        "1 column besides the context 'R'; at least 2 are needed",
    ),
    "one column, no context": (
        FRAME[["x"]],
        {"context": None},
        "the table has 1 column; at least 2",
    ),
    "unknown context": (
        FRAME.rename(columns={"R": "regime"}),
        {"context": "regimes"},
        "did you mean 'regime'",
    ),
    "duplicates": (
        FRAME.set_axis(["x", "R", "x", "z"], axis=1),
        {},
        "several columns called 'x'; rename",
    ),
    "duplicates as text": (
        FRAME.set_axis([1, "R", "1", "z"], axis=1),
        {},
        "several columns called '1'",
    ),
    "duplicates in pyarrow": (
        pa.table([[1], [2]], names=["x", "x"]),
        {},
        "several columns called 'x'",
    ),
    "several levels of names": (
        FRAME.set_axis(pd.MultiIndex.from_product([["a", "b"], [1, 2]]), axis=1),
        {},
        "MultiIndex",
    ),
    "one level": (
        small_frame("dry"),
        {},
        r"context 'R' has 1 level \('dry'\); at least 2 are needed",
    ),
    "one level, int": (small_frame(3), {}, r"context 'R' has 1 level \(3\)"),
    "no level": (small_frame(objects(None)), {}, "context 'R' has no value in any row"),
    "identifier": (
        small_frame(range(ROWS)),
        {},
        "has 40 levels in 40 rows, which looks like an identifier",
    ),
    "float context": (
        small_frame(alternating(0.5, 1.0)),
        {},
        r"context 'R' is continuous \(float64\); .* declare kinds={'R': 'categorical'}",
    ),
    "context declared continuous": (
        FRAME,
        {"kinds": {"R": "continuous"}},
        "context 'R' is declared continuous",
    ),
    "1 and '1'": (small_frame(objects(1, "1")), {}, "'R' mixes .* int and str"),
    "1 and True": (small_frame(objects(1, True)), {}, "'R' mixes .* bool and int"),
    "category of 1 and '1'": (
        small_frame(pd.Categorical(alternating(1, "1"))),
        {},
        "'R' mixes .* int and str",
    ),
    "dates as context": (
        small_frame(pd.date_range("2020", periods=ROWS)),
        {},
        "'R' has values of type datetime64",
    ),
    "intervals as context": (
        small_frame(pd.cut(FRAME["x"], 2)),
        {},
        "'R' has values of type Interval, .* convert them to text",
    ),
    "records as context": (
        pl.DataFrame({"x": [1, 2], "y": [1, 2], "R": [{"a": 1}, {"a": 2}]}),
        {},
        "'R' has values of type struct",
    ),
    "date column": (FRAME.assign(x=pd.Timestamp("2020")), {}, "column 'x' has dtype datetime"),
    "date column, declared": (
        FRAME.assign(x=pd.Timestamp("2020")),
        {"kinds": {"x": "continuous"}},
        "column 'x' has dtype datetime",
    ),
    "text declared continuous": (
        FRAME.assign(x=alternating("1", "low")),
        {"kinds": {"x": "continuous"}},
        "column 'x' is declared continuous but not numeric: .*'low'",
    ),
    "unknown name in kinds": (
        FRAME,
        {"kinds": {"q": "continuous"}},
        "kinds has 'q', which is not in the table",
    ),
    "1-D array": (np.zeros(3), {"names": ["x"]}, "the array has 1 dimensions, expected 2"),
    "3-D array": (np.zeros((3, 3, 3)), {"names": ["x"]}, "the array has 3 dimensions, expected 2"),
    "array without names": (np.zeros((3, 4)), {}, r"no column names; pass names=\[...\] with 4"),
    "wrong number of names": (
        np.zeros((3, 4)),
        {"names": ["x", "R"]},
        "expected one name for each of the 4",
    ),
    "names in one text": (
        np.zeros((3, 4)),
        {"names": "xRyz"},
        "expected one name for each of the 4",
    ),
    "continuous context in an array": (
        FRAME[["x", "y", "z"]].to_numpy(),
        {"names": ["R", "y", "z"]},
        "context 'R' is continuous",
    ),
    "no table": (
        [1, 2, 3],
        {},
        "the table is of type list, expected a pandas, polars or pyarrow table",
    ),
    "a series": (FRAME["x"], {}, "the table is of type Series"),
    "unequal lengths": ({"x": [1, 2], "R": [1]}, {}, "the mapping is not a table"),
}


@pytest.mark.parametrize(("table", "arguments", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables_get_one_clear_sentence(
    table: Any, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_table(table, **{"context": "R", **arguments})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("backend", [lambda frame: frame, pa.Table.from_pandas])
def test_categorical_system_variables_become_codes(backend: Callable[[pd.DataFrame], Any]) -> None:
    frame = small_frame().assign(smoker=alternating("yes", "no"), arm=alternating(True, False))
    frame["grade"] = pd.Categorical(
        alternating("low", "high"), categories=["low", "high"], ordered=True
    )
    data = read_table(backend(frame), "R")
    places = [data.position(name) for name in ("smoker", "arm", "grade")]
    assert [data.kinds[place].value for place in places] == [
        "categorical",
        "categorical",
        "ordered",
    ]
    assert [data.categories[place] for place in places] == [
        ("no", "yes"),
        (False, True),
        ("low", "high"),
    ]
    codes = [data.columns[place].tolist()[:2] for place in places]
    assert codes == [[1, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("chunks", [1, 2])
def test_dictionaries_of_pyarrow_keep_their_order(ordered: bool, chunks: int) -> None:
    grades = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, None, 1] * 10), pa.array(["low", "middle", "high", "none"]), ordered=ordered
    )
    table = pa.table({"x": np.arange(40.0), "R": ["a", "b"] * 20, "grade": grades})
    table = pa.concat_tables([table] * chunks)
    arrow = pd.DataFrame({name: pd.Series(table[name].to_pylist()) for name in ("x", "R")})
    arrow["grade"] = pd.arrays.ArrowExtensionArray(table["grade"])
    for given in (table, arrow):
        data = read_table(given, "R")
        assert data.kinds[2].value == ("ordered" if ordered else "categorical")
        assert data.categories[2] == ("low", "middle", "high")
        assert np.array_equal(data.columns[2], [2, 0, np.nan, 1] * 10 * chunks, equal_nan=True)


def test_missing_categories_are_missing_values() -> None:
    frame = small_frame().assign(smoker=alternating("yes", "no"))
    frame.loc[0, "smoker"] = None
    data = read_table(frame, "R")
    assert np.isnan(data.columns[data.position("smoker")][0])


def test_text_that_is_mostly_numbers_names_the_one_that_is_not() -> None:
    frame = small_frame().assign(width=[*map(str, range(len(small_frame()) - 1)), "7o"])
    with pytest.raises(DataError, match="'7o' is not: correct it"):
        read_table(frame, "R")


def test_several_contexts_are_read_like_one() -> None:
    frame = pd.DataFrame(
        {"x": np.arange(12.0), "y": np.arange(12.0) % 5, "R": list("aabb") * 3, "S": [1, 2, 2] * 4}
    )
    data = read_table(frame, ["S", "R"])
    assert data.levels == ((1, 2), ("a", "b"))
    assert data.values == ((1, "a"), (1, "b"), (2, "a"), (2, "b"))
    assert [data.values[code] for code in data.codes] == list(
        zip(frame["S"], frame["R"], strict=True)
    )
    frame.loc[3, "R"] = None
    assert read_table(frame, ["S", "R"]).codes[3] == -1
    one, two = read_table(frame, "R"), read_table(frame, ["R"])
    assert (one.contexts, one.levels, one.values) == (two.contexts, two.levels, two.values)


def test_names_are_only_for_arrays() -> None:
    with pytest.raises(OptionError, match="names is only for arrays"):
        read_table(small_frame(), "R", names=["a", "b", "c", "d"])


def test_dates_as_text_are_told_from_identifiers():
    days = pd.date_range("2020-06-01", periods=ROWS, freq="30min").astype(str)
    advice = (
        r"column 'day' holds dates as text; .* pass time='day' with lags=\.\.\., such as lags=3,"
        r" else drop it"
    )
    with pytest.raises(DataError, match=advice):
        read_table(FRAME.assign(day=days), "R")
    with pytest.raises(
        DataError, match="'day' has 40 levels in 40 rows, which looks like an identifier"
    ):
        read_table(FRAME.assign(day=[f"row-{i}" for i in range(ROWS)]), "R")


def test_missing_values_are_answered_with_what_the_method_takes():
    holes = FRAME.assign(x=np.where(np.arange(ROWS) == 3, np.nan, np.arange(ROWS) ** 2 % 17))
    for method in ("auto", "pc-ac", "score-ac"):
        with pytest.raises(
            DataError, match='missing="model" to use every observed cell of all 40 rows'
        ) as caught:
            cc.discover(holes, "R", method=method)
        assert ("testwise" in str(caught.value)) == (method != "score-ac")


class Grid(dict):
    """What xarray's Dataset is to us: a mapping with dimensions that can become a table."""

    dims = ("time", "station")

    def to_dataframe(self):
        raise AssertionError("nobody asked for it")


@pytest.mark.parametrize("ask", [cc.discover, cc.check])
def test_data_sets_of_xarray_are_told_how_to_become_a_table(ask):
    with pytest.raises(
        cc.DataError, match=r"pass table.to_dataframe\(\).reset_index\(\), whose dim"
    ):
        ask(Grid(x=1.0))
