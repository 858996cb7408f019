"""Moments of every context against the definition, whatever the table, the batches and the
offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from causalcontext.data.checks import check_size
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import (
    SufficientStatistics,
    drop_empty_cells,
    gather_statistics,
)
from causalcontext.data.tables import read_table
from causalcontext.errors import DataError, OptionError
from causalcontext.views import Contexts

NAMES = ["X", "Y", "Z", "W"]


def correlated_frame(rows: int = 500, seed: int = 0, offset: float = 0.0) -> pd.DataFrame:
    """Four variables with strong correlations of both signs, and a context with three unequal
    levels.
    """
    rng = np.random.default_rng(seed)
    mixing = np.array([[1, -0.9, 0, 0.3], [0, 0.4, 2, -1], [0, 0, 0.1, 0.5], [0, 0, 0, 0.2]])
    values = rng.normal(size=(rows, 4)) @ mixing + offset * np.array([1.0, -1.0, 2.0, 0.0])
    frame = pd.DataFrame(values, columns=NAMES)
    return frame.assign(R=rng.choice(["dry", "wet", "ice"], size=rows, p=[0.6, 0.3, 0.1]))


def naive_moments(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and centred cross products, by the definition, in extended precision."""
    exact = rows.astype(np.longdouble)
    mean = exact.sum(axis=0) / len(exact)
    scatter = np.zeros((rows.shape[1],) * 2, dtype=np.longdouble)
    for row in exact:
        scatter += np.outer(row - mean, row - mean)
    return mean.astype(np.float64), scatter.astype(np.float64)


def assert_same_statistics(ours: SufficientStatistics, theirs: SufficientStatistics) -> None:
    for part in (lambda statistics: statistics, lambda statistics: statistics.moments):
        for field in fields(part(ours)):
            left, right = getattr(part(ours), field.name), getattr(part(theirs), field.name)
            if isinstance(left, np.ndarray):
                np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-10, err_msg=field.name)
            elif field.name != "moments":
                assert left == right, field.name


@pytest.mark.parametrize("batch", [1, 7, 64, 65536])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_moments_are_those_of_the_definition(batch: int, offset: float) -> None:
    frame = correlated_frame(offset=offset)
    statistics = gather_statistics(read_table(frame, "R"), batch=batch)
    assert statistics.values == ("dry", "ice", "wet")
    for place, level in enumerate(statistics.values):
        rows = frame.loc[frame["R"] == level, NAMES].to_numpy()
        mean, scatter = naive_moments(rows)
        assert statistics.moments.rows[place] == len(rows)
        np.testing.assert_allclose(statistics.moments.mean[place], mean, rtol=1e-14, atol=1e-13)
        np.testing.assert_allclose(
            statistics.moments.scatter[place], scatter, rtol=1e-8 if offset else 1e-12, atol=1e-7
        )
        np.testing.assert_array_equal(
            statistics.moments.scatter[place], statistics.moments.scatter[place].T
        )


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_pooled_moments_are_those_of_all_rows(offset: float) -> None:
    frame = correlated_frame(offset=offset)
    frame.loc[frame["R"] == "wet", "X"] += 5
    whole = gather_statistics(read_table(frame, "R")).moments.merged()
    n, mean, scatter = whole.rows[0], whole.mean[0], whole.scatter[0]
    expected_mean, expected_scatter = naive_moments(frame[NAMES].to_numpy())
    assert n == len(frame)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-14, atol=1e-13)
    np.testing.assert_allclose(scatter, expected_scatter, rtol=1e-8 if offset else 1e-12, atol=1e-7)


def test_without_a_context_there_is_one_set_of_moments() -> None:
    frame = correlated_frame()[NAMES]
    statistics = gather_statistics(read_table(frame, None))
    mean, scatter = naive_moments(frame.to_numpy())
    assert statistics.values == ("all",)
    np.testing.assert_allclose(statistics.moments.mean[0], mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(statistics.moments.scatter[0], scatter, rtol=1e-12, atol=1e-12)


def row_major(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table around one array, in which the values of a row lie side by side."""
    return pd.DataFrame(np.ascontiguousarray(frame[NAMES]), columns=NAMES, copy=False).assign(
        R=frame["R"]
    )


BACKENDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "mapping": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "row-major pandas": row_major,
}


@pytest.mark.parametrize("convert", BACKENDS.values(), ids=BACKENDS)
def test_every_kind_of_table_gives_the_same_stock(convert: Callable[[pd.DataFrame], Any]) -> None:
    frame = correlated_frame()
    assert_same_statistics(
        gather_statistics(read_table(convert(frame), "R")),
        gather_statistics(read_table(frame, "R")),
    )


def test_an_array_gives_the_same_stock() -> None:
    frame = correlated_frame()
    frame["R"] = frame["R"].map({"dry": 0, "wet": 1, "ice": 2})
    array = frame.to_numpy(dtype=float)
    ours = gather_statistics(read_table(array, "R", names=list(frame.columns)))
    assert_same_statistics(ours, gather_statistics(read_table(frame, "R")))


@pytest.mark.parametrize("batch", [1, 3, 100, 499])
def test_batches_do_not_matter(batch: int) -> None:
    frame = correlated_frame(offset=100.0)
    frame.loc[[3, 77, 400], ["X", "Z"]] = np.nan
    frame.loc[5, "Y"] = np.inf
    frame.loc[[11, 12], "R"] = None
    data = read_table(frame, "R")
    assert_same_statistics(
        gather_statistics(data, "listwise", batch=batch), gather_statistics(data, "listwise")
    )


def test_permuted_columns_give_permuted_moments_and_the_same_fingerprint() -> None:
    frame = correlated_frame()
    statistics = gather_statistics(read_table(frame, "R"))
    order = [2, 0, 3, 1]
    permuted = gather_statistics(read_table(frame[["R", *(NAMES[place] for place in order)]], "R"))
    np.testing.assert_allclose(
        permuted.moments.scatter,
        statistics.moments.scatter[:, order][:, :, order],
        rtol=1e-13,
        atol=1e-11,
    )
    assert permuted.fingerprint == statistics.fingerprint


def test_constant_columns_are_exactly_zero() -> None:
    frame = correlated_frame()
    frame.loc[frame["R"] == "wet", "Y"] = 0.1
    frame["Z"] = 1 / 3
    statistics = gather_statistics(read_table(frame, "R"), batch=17)
    np.testing.assert_array_equal(statistics.constant, [[0, 0, 1, 0], [0, 0, 1, 0], [0, 1, 1, 0]])
    wet = statistics.moments.scatter[2]
    assert not wet[[1, 2], :].any()
    assert not wet[:, [1, 2]].any()
    assert wet[0, 3] != 0
    assert statistics.moments.mean[2, 1] == 0.1
    assert (statistics.moments.mean[:, 2] == 1 / 3).all()
    assert statistics.moments.merged().scatter[0, 2, 2] == 0
    assert statistics.moments.merged().mean[0, 2] == 1 / 3


def test_a_single_row_is_constant() -> None:
    frame = correlated_frame(rows=20).assign(R=["dry"] * 19 + ["wet"])
    statistics = gather_statistics(read_table(frame, "R"))
    assert statistics.constant[1].all()
    assert not statistics.moments.scatter[1].any()
    np.testing.assert_array_equal(statistics.moments.mean[1], frame[NAMES].to_numpy()[19])


def test_values_too_small_to_be_squared_are_constant() -> None:
    frame = correlated_frame()
    frame["X"] *= 1e-200
    statistics = gather_statistics(read_table(frame, "R"))
    assert statistics.constant[:, 0].all()
    assert not statistics.moments.scatter[:, 0].any()


def test_incomplete_rows_are_counted_and_left_out() -> None:
    frame = correlated_frame()
    frame["R"] = np.resize(["dry", "wet"], len(frame))
    clean = frame.copy()
    frame.loc[[0, 1, 2], "X"] = np.nan  # dry, wet, dry
    frame.loc[[2, 3], "W"] = np.nan  # dry, wet
    frame.loc[5, "Z"] = -np.inf  # wet
    frame.loc[[6, 7], "R"] = None
    frame.loc[7, "X"] = np.nan
    statistics = gather_statistics(read_table(frame, "R"), "listwise")
    assert statistics.missing.tolist() == [[2, 0, 0, 1], [1, 0, 0, 1]]
    assert statistics.infinite.tolist() == [[0, 0, 0, 0], [0, 0, 1, 0]]
    assert statistics.missing_context == 2
    assert statistics.lost.tolist() == [2, 3]
    kept = clean.drop(index=[0, 1, 2, 3, 5, 6, 7])
    expected = gather_statistics(read_table(kept, "R"))
    np.testing.assert_array_equal(statistics.moments.rows, expected.moments.rows)
    np.testing.assert_allclose(
        statistics.moments.scatter, expected.moments.scatter, rtol=1e-12, atol=1e-12
    )


def test_many_levels_and_few_rows() -> None:
    frame = correlated_frame(rows=300).assign(R=np.arange(300) // 3)
    statistics = gather_statistics(read_table(frame, "R"), batch=50)
    assert len(statistics.values) == 100
    mean, scatter = naive_moments(frame[NAMES].to_numpy()[99 * 3 :])
    np.testing.assert_allclose(statistics.moments.mean[99], mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(statistics.moments.scatter[99], scatter, rtol=1e-11, atol=1e-13)


def test_column_dtypes_do_not_matter() -> None:
    frame = pd.DataFrame(
        {"X": np.arange(100) % 7, "Y": np.arange(100) % 5, "R": np.arange(100) % 2}
    )
    expected = gather_statistics(read_table(frame, "R"))
    for dtype in (
        "int8",
        "uint16",
        "float16",
        "float32",
        "float64",
        "Int64",
        "float64[pyarrow]",
        "object",
    ):
        assert_same_statistics(
            gather_statistics(read_table(frame.astype({"X": dtype}), "R")), expected
        )
    assert_same_statistics(
        gather_statistics(read_table(frame.astype({"R": np.int8}), "R")), expected
    )


def fingerprint(frame: pd.DataFrame, context: str | None = "R") -> str:
    return gather_statistics(read_table(frame, context)).fingerprint


def test_fingerprint_is_that_of_the_values() -> None:
    frame = correlated_frame()
    expected = fingerprint(frame)
    assert fingerprint(frame.copy()) == expected
    assert fingerprint(frame.astype({"R": "category"})) == expected
    assert (
        fingerprint(frame.assign(R=pd.Categorical(frame["R"], ["wet", "ice", "dry"]))) == expected
    )
    zeros = frame.assign(X=0.0)
    assert fingerprint(zeros) == fingerprint(zeros.assign(X=-0.0))


def test_fingerprint_changes_with_everything() -> None:
    frame = correlated_frame()
    value = frame.copy()
    value.loc[17, "Y"] = np.nextafter(frame["Y"].to_numpy()[17], 10)
    gap = frame.copy()
    gap.loc[17, "Y"] = np.nan
    level = frame.copy()
    level.loc[17, "R"] = "ice" if level.loc[17, "R"] != "ice" else "wet"
    variants = {
        "same": frame,
        "value": value,
        "gap": gap,
        "level": level,
        "no level": frame.assign(R=frame["R"].where(frame.index != 17)),
        "row order": frame.iloc[::-1],
        "swapped rows": frame.iloc[[1, 0, *range(2, len(frame))]],
        "fewer rows": frame.iloc[:-1],
        "name": frame.rename(columns={"X": "V"}),
        "swapped names": frame.rename(columns={"X": "Y", "Y": "X"}),
        "level names": frame.replace({"R": {"wet": "damp"}}),
        "swapped levels": frame.assign(
            R=frame["R"].map({"wet": "dry", "dry": "wet", "ice": "ice"})
        ),
        "fewer columns": frame.drop(columns="W"),
    }
    assert len({fingerprint(variant) for variant in variants.values()}) == len(variants)
    assert fingerprint(frame[NAMES], None) not in {
        fingerprint(variant) for variant in variants.values()
    }


def test_levels_of_other_types_have_another_fingerprint() -> None:
    frame = correlated_frame()
    numbers = frame["R"].map({"dry": 0, "wet": 1, "ice": 2})
    assert fingerprint(frame.assign(R=numbers)) != fingerprint(frame.assign(R=numbers.astype(str)))


def test_emptied_levels_disappear() -> None:
    frame = correlated_frame()
    ice = frame["R"] == "ice"
    frame.loc[ice, "X"] = np.nan
    data = read_table(frame, "R")
    statistics = gather_statistics(data, "listwise")
    new_data, new_statistics = drop_empty_cells(data, statistics)
    assert new_data.values == new_statistics.values == ("dry", "wet")
    assert new_statistics.emptied == (("ice", int(ice.sum())),)
    assert (new_data.codes[ice] == -1).all()
    np.testing.assert_array_equal(new_data.columns[4], new_data.codes)
    np.testing.assert_array_equal(new_data.codes[~ice], np.where(frame["R"][~ice] == "dry", 0, 1))
    expected = gather_statistics(read_table(frame[~ice], "R"))
    np.testing.assert_array_equal(new_statistics.moments.rows, expected.moments.rows)
    np.testing.assert_allclose(
        new_statistics.moments.scatter, expected.moments.scatter, rtol=1e-13, atol=1e-11
    )
    assert new_statistics.fingerprint == statistics.fingerprint


def test_nothing_is_dropped_from_full_levels() -> None:
    data = read_table(correlated_frame(), "R")
    statistics = gather_statistics(data)
    assert drop_empty_cells(data, statistics) == (data, statistics)


def test_options_are_checked_before_the_pass() -> None:
    data = read_table(correlated_frame(), "R")
    with pytest.raises(OptionError, match=r"missing is 'listwize', .* did you mean 'listwise'"):
        gather_statistics(data, "listwize")


def test_moments_that_do_not_fit_are_refused() -> None:
    names, levels = tuple(str(place) for place in range(1000)), tuple(range(5000))
    kinds, columns, dtypes = (Kind.CONTINUOUS,) * 1000, (np.zeros(1),) * 1000, ("float64",) * 1000
    contexts = Contexts((0,), tuple((level,) for level in levels))
    data = Dataset(names, kinds, columns, dtypes, contexts, (levels,), np.zeros(1, np.int32))
    with pytest.raises(DataError, match="999 variables in 5000 contexts need 40 GB"):
        check_size(data)


@pytest.mark.parametrize("columns", range(2, 12))
def test_no_sum_depends_on_where_a_column_stands(columns):
    generator = np.random.default_rng(columns)
    table = {
        f"X{j}": values for j, values in enumerate(generator.normal(5.0, 2.0, size=(columns, 700)))
    }
    table["R"] = generator.integers(0, 2, 700)
    order = generator.permutation(columns)
    turned = {f"X{j}": table[f"X{j}"] for j in order} | {"R": table["R"]}
    expected = gather_statistics(read_table(table, "R")).moments.scatter[:, order][:, :, order]
    assert np.array_equal(gather_statistics(read_table(turned, "R")).moments.scatter, expected)
