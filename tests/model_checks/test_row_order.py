"""Dependence of rows: heard in households, series and trends, and never in a table that is only
sorted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.model_checks.linear_fits import check_table
from causalcontext.model_checks.row_order import (
    alike_neighbours,
    is_grouped,
    row_order,
    steps_one_way,
)
from causalcontext.model_checks.violations import ROWS
from questions import model_checks, violations_of

ROW_COUNT = 800
LINKS = (("A", "R"), ("B", "R"), ("A", "C"), ("R", "C"), ("B", "D"), ("C", "D"))
Noise = Callable[[], np.ndarray]


def table(noise: Noise, g: np.random.Generator) -> pd.DataFrame:
    """A and B cause R; A causes C where R is 1; B and C cause D, and E is by itself."""
    a, b = noise(), noise()
    r = g.random(len(a)) < 1.0 / (1.0 + np.exp(-2.0 * a - b))
    c = r * a + noise()
    d = 0.8 * b + 0.7 * c + noise()
    return pd.DataFrame(
        {"A": a, "B": b, "C": c, "D": d, "E": noise(), "R": np.where(r, "one", "two")}
    )


def independent(seed: int, rows: int = ROW_COUNT) -> pd.DataFrame:
    g = np.random.default_rng(seed)
    return table(lambda: g.normal(size=rows), g)


def households(seed: int) -> pd.DataFrame:
    g = np.random.default_rng(seed)
    return table(
        lambda: (
            (np.repeat(g.normal(size=ROW_COUNT // 4), 4) + g.normal(size=ROW_COUNT)) / np.sqrt(2.0)
        ),
        g,
    )


def series(seed: int) -> pd.DataFrame:
    g = np.random.default_rng(seed)

    def noise() -> np.ndarray:
        steps = g.normal(size=ROW_COUNT)
        for row in range(1, ROW_COUNT):
            steps[row] = 0.5 * steps[row - 1] + np.sqrt(0.75) * steps[row]
        return steps

    return table(noise, g)


def trend(seed: int) -> pd.DataFrame:
    """A and E drift over the rows."""
    found = independent(seed)
    drift = np.linspace(-1.7, 1.7, ROW_COUNT)
    return found.assign(A=found.A + drift, E=found.E + drift)


def coarse(column: pd.Series, steps: int) -> pd.Series:
    return (column * steps / column.std()).round()


def in_blocks(found: pd.DataFrame, column: str, seed: int) -> pd.DataFrame:
    """Files of 40 rows, each sorted by a column."""
    files = np.random.default_rng(seed).permutation(len(found)) % (len(found) // 40)
    return found.iloc[np.lexsort((found[column], files))]


SORTED: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "by a cause": lambda t: t.sort_values("A"),
    "by an effect": lambda t: t.sort_values("D"),
    "down": lambda t: t.sort_values("C", ascending=False),
    "by the context": lambda t: t.sort_values("R", kind="stable"),
    "by the context and a cause": lambda t: t.sort_values(["R", "A"]),
    "by a rounded column, with ties": lambda t: t.iloc[np.argsort(coarse(t.D, 3), kind="stable")],
    "by a rounded column, then another": lambda t: t.iloc[np.lexsort((t.B, coarse(t.D, 3)))],
    "two sorted files": lambda t: pd.concat([t[::2].sort_values("D"), t[1::2].sort_values("D")]),
    "one file up, one down": lambda t: pd.concat(
        [t[::2].sort_values("D"), t[1::2].sort_values("D")[::-1]]
    ),
    "twenty sorted files": lambda t: in_blocks(t, "D", 0),
    "by a sum that is no column": lambda t: t.iloc[np.argsort(t.A + t.D)],
    "nearly sorted": lambda t: t.iloc[
        np.argsort(t.D + 0.1 * np.random.default_rng(1).normal(size=len(t)))
    ],
    "shuffled": lambda t: t.sample(frac=1.0, random_state=3),
    "reversed": lambda t: t[::-1],
}


def dependent(found: pd.DataFrame) -> tuple[str, ...]:
    """The columns whose rows are said to depend on others, by residuals of the true mechanisms."""
    data = read_table(found.reset_index(drop=True), "R")
    endpoints = np.zeros((2, len(data.names), len(data.names)), dtype=np.int8)
    for cause, effect in LINKS:
        x, y = data.names.index(cause), data.names.index(effect)
        endpoints[:, x, y], endpoints[:, y, x] = Endpoint.ARROW, Endpoint.TAIL
    return next((one.columns for one in check_table(data, endpoints) if one.kind == ROWS), ())


@pytest.mark.parametrize("how", SORTED)
def test_sorted_rows_do_not_depend_on_each_other(how: str):
    for seed in range(2):
        assert dependent(SORTED[how](independent(seed))) == (), seed


@pytest.mark.parametrize("made", [households, series])
def test_rows_that_depend_are_told_with_all_their_columns(made: Callable[[int], pd.DataFrame]):
    for seed in range(3):
        assert set(dependent(made(seed))) == {*"ABCDE"}, seed


@pytest.mark.parametrize("method", ["pc-ac", "fci-ac"])
def test_a_search_by_tests_tells_of_dependent_rows_at_once(method: str) -> None:
    told = cc.discover(households(0), None, method=method).warnings
    assert any("depend on the rows before them" in words for words in told)
    result = cc.discover(households(0), None, method=method)
    result.diagnose()
    assert len(set(result.cautions)) == len(result.cautions)
    assert cc.discover(independent(0), None, method=method).warnings == ()


def test_shuffled_rows_that_depended_are_not_told():
    for seed in range(3):
        assert dependent(households(seed).sample(frac=1.0, random_state=seed)) == (), seed


def test_a_trend_is_told_where_it_is():
    for seed in range(3):
        said = set(dependent(trend(seed)))
        assert said, seed
        assert said <= {"A", "E"}, seed


def test_households_stay_dependent_in_a_table_that_is_sorted_by_one_of_their_columns():
    """Households in the order of their mean income: neighbours are alike in everything else as
    well.
    """
    for seed in range(3):
        found = households(seed)
        means = found.A.to_numpy().reshape(-1, 4).mean(axis=1).repeat(4)
        said = dependent(found.iloc[np.argsort(means, kind="stable")])
        assert {"B", "E"} <= set(said), seed


@pytest.mark.slow
def test_at_most_one_clean_table_in_a_hundred_is_accused():
    for rows in (200, ROW_COUNT):
        assert sum(bool(dependent(independent(1000 + seed, rows))) for seed in range(100)) <= 3, (
            rows
        )


@pytest.mark.slow
@pytest.mark.parametrize("how", SORTED)
def test_sorted_tables_are_hardly_ever_accused(how: str):
    assert sum(bool(dependent(SORTED[how](independent(2000 + seed)))) for seed in range(40)) <= 2


def test_neighbours_are_compared_with_rows_further_apart():
    g = np.random.default_rng(0)
    left = g.normal(size=(2_000, 3))
    left[:, 1] = np.convolve(g.normal(size=2_001), [1.0, 1.0], "valid") / np.sqrt(
        2.0
    )  # neighbours share a half
    left[:, 2] = np.arange(2_000)
    left = (left - left.mean(axis=0)) / left.std(axis=0)
    found = alike_neighbours(left, np.zeros(2_000, dtype=np.int64))
    far = [left[lag:, 1] @ left[:-lag, 1] / 2_000 for lag in range(8, 16)]
    assert found[1] == pytest.approx(
        (left[1:, 1] @ left[:-1, 1] / 2_000 - np.mean(far)) / np.sqrt(1.125), abs=0.01
    )
    assert abs(found[0]) < 0.08
    assert abs(found[2]) < 0.02


def test_steps_and_groups_are_seen():
    g = np.random.default_rng(1)
    plain, follows = g.normal(size=1_000), np.arange(1_000) > 0
    assert steps_one_way(np.sort(plain), follows) == 1.0
    assert steps_one_way(-np.sort(plain), follows) == 1.0
    assert steps_one_way(plain, follows) < 0.2
    assert steps_one_way(np.ones(1_000), follows) == 0.0
    labels = (plain > 0.3).astype(float)
    assert is_grouped(np.sort(labels), follows)
    assert not is_grouped(labels, follows)
    order = row_order(np.column_stack([np.sort(plain), g.normal(size=1_000)]), follows)
    assert order.sorted_by.tolist() == [True, False]
    assert not order.drifts


@pytest.mark.parametrize("written", ["text", "number"])
def test_shuffled_households_are_told_by_their_column(written: str, tmp_path) -> None:
    found = households(1)
    number = np.arange(ROW_COUNT) // 4
    found["household"] = number if written == "number" else [f"h{group}" for group in number]
    shuffled = found.sample(frac=1.0, random_state=3).reset_index(drop=True)
    result = cc.discover(shuffled, "R")
    (told,) = (words for words in result.warnings if "alike" in words)
    assert told.startswith("rows with the same household are alike in ")
    assert told.endswith("try one row for each household, or the means of its rows")
    result.save(tmp_path / "result.json")
    loaded = cc.load(tmp_path / "result.json")
    assert model_checks(loaded) == model_checks(result)
    assert {violation.key for violation in violations_of(loaded)} == {"household"}
    assert "dependent rows" in " ".join(result.changes("one", "two")["reason"])


def test_groups_of_independent_rows_are_none() -> None:
    """Ages, of which others are curves and steps, and cities are no households."""
    accused = []
    for seed in range(12):
        g = np.random.default_rng(seed)
        rows = int(g.choice([100, 400]))
        age = g.integers(18, 90, rows)
        z = (age - 54) / 20.0
        found = pd.DataFrame(
            {
                "age": age,
                "pressure": np.round(120 + 8 * z + 3 * z**2 + 10 * g.normal(size=rows)),
                "step": (age > 60) + 0.4 * g.normal(size=rows),
                "wave": np.sin(3.0 * z) + 0.3 * g.normal(size=rows),
                "room": g.integers(1, 60, rows),
                "city": [f"city {place}" for place in g.integers(0, rows // 4, rows)],
            }
        )
        result = cc.discover(found)
        accused += [violation for violation in violations_of(result) if violation.kind == ROWS]
    assert accused == []
