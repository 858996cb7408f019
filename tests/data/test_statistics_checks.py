"""What is said about a table whose values cannot be used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causalcontext.data.checks import check_missing_option, check_statistics
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.errors import DataError, OptionError


def noise(columns: str = "XYZ", rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.normal(size=rows) for name in columns})
    return frame.assign(R=np.resize(["dry", "wet"], rows))


def check(frame: pd.DataFrame, missing: str = "raise", context: str | None = "R") -> None:
    data = read_table(frame, context)
    check_statistics(gather_statistics(data, missing), data, missing)


def message(frame: pd.DataFrame, missing: str = "raise", context: str | None = "R") -> str:
    with pytest.raises(DataError) as caught:
        check(frame, missing, context)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_clean_table_passes() -> None:
    check(noise())
    check(noise(), "listwise")
    check(noise()[["X", "Y"]], context=None)


def test_missing_values_are_counted_by_column_and_context() -> None:
    frame = noise()
    frame.loc[[0, 1, 2], "X"] = np.nan
    frame.loc[1, "Z"] = np.nan
    frame.loc[9, "R"] = None
    text = message(frame)
    assert (
        "'R' (1), 'X' (3: 2 with R = 'dry' and 1 with R = 'wet') and 'Z' (1: 1 with R = 'wet')"
        in text
    )
    assert '"listwise" to drop the rows that have one, which keeps 56 of 60' in text
    check(frame, "listwise")


def test_missing_values_without_a_context() -> None:
    frame = noise()[["X", "Y"]]
    frame.loc[[0, 1], "X"] = np.nan
    assert "missing values in 'X' (2);" in message(frame, context=None)


def test_long_lists_are_shortened() -> None:
    frame = noise("ABCDEFGH")
    frame.loc[0, list("ABCDEFGH")] = np.nan
    text = message(frame)
    assert "'E' (1: 1 with R = 'dry') and 3 more columns;" in text
    assert "'F'" not in text


@pytest.mark.parametrize("missing", ["raise", "listwise"])
def test_infinite_values_are_named(missing: str) -> None:
    frame = noise()
    frame.loc[[0, 1], "Y"] = [np.inf, -np.inf]
    assert "infinite values in 'Y' (2: 1 with R = 'dry' and 1 with R = 'wet')" in message(
        frame, missing
    )


def test_columns_constant_everywhere_are_named() -> None:
    frame = noise().assign(X=0.1, Z=7)
    assert "the same value in all rows of 'X' and 'Z'" in message(frame)
    assert "in all rows of 'X'" in message(noise()[["X", "Y"]].assign(X=3), context=None)


def test_columns_constant_in_every_context_but_not_everywhere_pass() -> None:
    check(noise().assign(X=np.resize([1.0, 2.0], 60)))


def test_columns_that_become_constant_by_dropping_rows_are_named() -> None:
    frame = noise().assign(X=1.0)
    frame.loc[0, ["X", "Y"]] = [2.0, np.nan]
    assert "'X'" in message(frame, "listwise")


@pytest.mark.parametrize("scale", [1e80, 1e160, 1e307])
def test_values_too_large_to_be_squared_are_named(scale: float) -> None:
    frame = noise()
    frame["Y"] *= scale
    assert message(frame).startswith("values too large to be squared in 'Y'")


def test_values_too_small_to_be_squared_count_as_constant() -> None:
    frame = noise()
    frame["Y"] *= 1e-160
    assert (
        "in all rows of 'Y'; drop constant columns (and rescale those with tiny values)"
        in message(frame)
    )


def test_unusual_but_sane_scales_pass() -> None:
    frame = noise()
    frame["X"] *= 1e40
    frame["Y"] *= 1e-40
    check(frame)


def test_one_context_left_after_dropping_rows() -> None:
    frame = noise()
    frame.loc[frame["R"] == "wet", "Y"] = np.nan
    expected = (
        "context 'R' has 1 level after dropping rows with missing values; at least 2 are needed"
    )
    assert message(frame, "listwise") == expected


def test_no_rows_left_names_the_empty_column() -> None:
    frame = noise().assign(Y=np.nan)
    text = message(frame, "listwise")
    assert text == "no rows are left after dropping rows with missing values; 'Y' without any value"


def test_no_rows_left_though_no_column_is_empty() -> None:
    frame = noise()
    frame.loc[:29, "X"] = np.nan
    frame.loc[30:, "Y"] = np.nan
    assert message(frame, "listwise") == "no rows are left after dropping rows with missing values"


def test_unknown_ways_to_treat_missing_values() -> None:
    check_missing_option("testwise")
    with pytest.raises(
        OptionError,
        match="missing is 'drop', expected one of 'raise', 'model', 'listwise', 'testwise'",
    ):
        check_missing_option("drop")


def test_a_context_whose_name_has_two_lines_stays_on_one() -> None:
    frame = noise().rename(columns={"R": "two\nlines"})
    frame.loc[1, "X"] = np.nan
    assert "1 with two lines = " in message(frame, context="two\nlines")
