"""Columns that are functions of each other are named, others never."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.functions import functions_of_columns, products_of_columns, words_about_functions
from causalcontext.data.tables import read_table


def naive(table: pd.DataFrame) -> set[tuple[str, str]]:
    """Pairs (value, column) by grouping all rows, for columns whose values repeat."""
    return {(y, x) for x in table for y in table
            if x != y and (table[[x, y]].dropna().groupby(x)[y].nunique() == 1).all()}  # fmt: skip


def found(table: pd.DataFrame) -> set[tuple[str, str]]:
    return set(functions_of_columns(read_table(table, None)))


@pytest.mark.parametrize("seed", range(5))
def test_values_that_repeat_are_those_of_a_naive_grouping(seed: int) -> None:
    random = np.random.default_rng(seed)
    level = random.integers(0, 12, 300)
    table = pd.DataFrame({"level": level, "other": random.integers(0, 4, 300), "group": level // 3, "odd": level % 2,
                          "name": np.array(list("abcdefghijkl"))[level], "tenth": -0.1 * level})  # fmt: skip
    table.loc[random.integers(0, 300, 5), "group"] = np.nan
    table = table[random.permutation(table.columns)]
    assert found(table) == naive(table)


@pytest.mark.parametrize(("function", "both"), [(np.exp, True), (lambda x: -(x**3), True), (np.round, False)])
def test_monotone_functions_of_distinct_numbers(function: object, both: bool) -> None:
    x = np.random.default_rng(1).normal(size=400)
    table = pd.DataFrame({"x": x + 7.0, "y": np.random.default_rng(2).normal(size=400), "f": function(x)})
    assert found(table) == {("f", "x")} | ({("x", "f")} if both else set())


@pytest.mark.parametrize("whole", [True, False])
def test_groups_of_a_number_that_have_names(whole: bool) -> None:
    """In the order of the alphabet, mid, old and young, the groups neither rise nor fall with the age."""
    random = np.random.default_rng(5)
    age = random.integers(20, 80, 400) + (0.0 if whole else random.random(400))
    group = pd.cut(age, [0, 40, 60, 90], labels=["young", "mid", "old"], right=False).astype(str)
    table = pd.DataFrame({"age": age, "group": group, "y": random.normal(size=400)})
    table.loc[7, "age"], table.loc[9, "group"] = np.nan, None
    assert found(table) == {("group", "age")}
    table.loc[3, "group"] = "old" if age[3] < 40 else "young"
    assert found(table) == set()
    names = [f"id{number}" for number in np.arange(400) // 2]  # of so many levels most stand together by chance
    assert found(pd.DataFrame({"x": np.arange(400.0) // 3 % 70, "name": names})[::-1]) == set()


def test_what_is_no_function() -> None:
    """Links of any strength, rare values that coincide, one value alone, one exception."""
    random = np.random.default_rng(3)
    x = random.normal(size=500)
    rare = (np.arange(500) < 3).astype(float)
    near = np.exp(x)
    near[[10, 400]] = near[[400, 10]]
    table = pd.DataFrame({"x": x, "y": x + 0.01 * random.normal(size=500), "rare": rare, "rarer": rare.copy(),
                          "side": (x + 0.05 * random.normal(size=500) > 0).astype(float), "near": near})  # fmt: skip
    assert found(table) == set()


def test_trends_are_no_functions_of_each_other() -> None:
    random = np.random.default_rng(5)
    table = pd.DataFrame({"rain so far": random.exponential(size=200).cumsum(), "year": 1900 + np.arange(200) // 12,
                          "y": random.normal(size=200)})  # fmt: skip
    assert found(table) == set()


def test_products_and_squares() -> None:
    random = np.random.default_rng(6)
    x, y = random.normal(size=300) + 3.0, random.normal(size=300)
    table = pd.DataFrame({"x": x, "y": y, "share": x * y, "y2": y**2, "near": x * y + 0.01 * random.normal(size=300),
                          "days": random.integers(0, 5, 300)})  # fmt: skip
    table.loc[3, "x"] = np.nan
    data = read_table(table[::-1], None)
    assert sorted(products_of_columns(data)) == [("share", "x", "y"), ("y2", "y", "y")]
    words = words_about_functions(data)
    assert words.startswith("share is the product of x and y and y2 is the square of y in every row: ")
    assert not list(products_of_columns(read_table(table[["x", "y", "near", "days"]], None)))


def test_categories_alone_have_no_products() -> None:
    table = pd.DataFrame({name: np.random.default_rng(seed).choice(list("abc"), 50) for seed, name in enumerate("XY")})
    assert words_about_functions(read_table(table, None)) == ""


def test_a_search_and_a_check_name_them() -> None:
    random = np.random.default_rng(4)
    size = np.exp(2.0 * random.normal(size=300))
    table = pd.DataFrame({"size": size, "log size": np.log(size), "y": np.log(size) + random.normal(size=300),
                          "R": random.choice(["a", "b"], 300)})  # fmt: skip
    sentence = ("log size and size are functions of each other in every row: no method can tell their links apart; "
                "leave one of them out")  # fmt: skip
    assert words_about_functions(read_table(table, "R")) == sentence
    for options in ({}, {"method": "pc-ac"}, {"lags": 1}):
        assert sentence in cc.discover(table, "R", **options).warnings
    assert sentence in cc.check(table, "R").notes
    assert words_about_functions(read_table(table.drop(columns="size"), "R")) == ""
