"""`method="auto"`: what the caller says decides first, then the table, then the residuals; one line
says why.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.methods import auto
from causalcontext.methods.auto import choose_by_table
from causalcontext.methods.by_tests import ByTests
from causalcontext.methods.forecast import forecast
from causalcontext.methods.method_object import method_object
from causalcontext.methods.registry import METHODS, Method
from causalcontext.methods.task import Task
from causalcontext.results.outcome import Outcome


def table(rows: int = 300, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, r = rng.normal(size=rows), rng.integers(2, size=rows)
    y = x + rng.normal(size=rows)
    return pd.DataFrame(
        {
            "X": x,
            "Y": y,
            "Z": r * y + rng.normal(size=rows),
            "S": rng.integers(2, size=rows),
            "R": r,
        }
    )


def uneven(seed: int = 1) -> pd.DataFrame:
    """Noise whose size depends on the causes: no curve of a mean fits it."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 500))
    c, d = a * rng.normal(size=500), b * np.abs(b) * rng.normal(size=500)
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d, "R": rng.integers(2, size=500)})


def chosen(found: cc.ContextGraphs) -> str:
    """The line that says what was chosen: the first note, and the only one of its kind."""
    (line,) = [note for note in found.notes if note.startswith("method 'auto' chose ")]
    assert line == f"method 'auto' chose {found.settings.method}: {line.split(': ', 1)[1]}"
    assert "\n" not in line
    return line.removeprefix("method 'auto' chose ")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"missing": "testwise"}, "pc-ac: missing='testwise' is for searches by tests"),
        ({"missing": "listwise", "seed": 3, "n_jobs": 2}, "score-ac: it accepts all columns"),
    ],
)
def test_what_the_caller_names_decides(options: dict, why: str) -> None:
    found = cc.discover(table(80)[["X", "Y", "R"]], "R", method="auto", **options)
    assert chosen(found) == why
    named = cc.discover(table(80)[["X", "Y", "R"]], "R", method=found.settings.method, **options)
    assert dict(found.graphs) == dict(named.graphs)
    assert found.settings == named.settings


def test_what_the_table_is_decides() -> None:
    several = cc.discover(table(), ["R", "S"], method="auto")
    assert chosen(several).startswith("score-ac: it accepts all columns")
    made = cc.discover(table().drop(columns="R"), cc.threshold("X", 0.0), method="auto")
    assert chosen(made).startswith("score-ac: it accepts all columns")
    levels = cc.discover(
        table().assign(K=[f"k{i % 60}" for i in range(300)]), "R", method="auto", keep=["K"]
    )
    assert chosen(levels) == "pc-ac: column 'K' has more than 50 levels"
    alone = cc.discover(table()[["X", "Y", "Z"]], method="auto")
    assert chosen(alone).startswith("score-ac: it accepts all columns")
    assert alone.contexts == ("all",)


def test_lags() -> None:
    rows = table(200)[["X", "Y", "R"]]
    assert (
        chosen(cc.discover(rows, "R", method="auto", lags=1)) == "score-ac: it accepts all columns"
    )


def test_a_table_that_is_read_in_batches_needs_rows_of_every_context() -> None:
    rows = table()
    few = cc.discover(
        cc.scan(rows.assign(R=(rows["R"] > 0) & (rows.index % 5 == 0)), "R", sample=50),
        method="auto",
    )
    assert re.fullmatch(
        r"pc-ac: context True has \d of the rows that the scan kept, score-ac needs 10", chosen(few)
    )
    whole = cc.discover(cc.scan(rows, "R"), method="auto")
    inside = cc.discover(rows, "R", method="auto")
    assert chosen(whole) == chosen(inside)
    assert dict(whole.graphs) == dict(inside.graphs)


def noise(rows: int, columns: int) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(rows, columns))).rename(
        columns="V{}".format
    )


def categories(rows: int, columns: int, levels: int) -> pd.DataFrame:
    return pd.DataFrame(
        {f"K{j}": [f"k{(i * (j + 1)) % levels}" for i in range(rows)] for j in range(columns)}
    )


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (noise(400, 3_000), "2 minutes"),
        (noise(1_000, 150).assign(R=np.arange(1_000) % 25), "4 minutes"),
        (categories(100_000, 12, 20), "7 minutes"),
    ],
)
def test_nobody_waits_for_scores_of_a_large_table(rows: pd.DataFrame, why: str) -> None:
    data = read_table(rows, "R" if "R" in rows else None)
    statistics = gather_statistics(data)
    found = choose_by_table(data, statistics)
    assert found is not None
    assert (
        found.reason
        == f"method 'auto' chose pc-ac: score-ac would take about {why} here (forecast); pass "
        "method='score-ac' to have it"
    )


@pytest.mark.parametrize(
    "rows",
    [
        noise(10_000, 30),
        noise(1_000, 107),
        noise(1_000, 400),
        noise(2_000, 700),
        noise(400, 500),
        noise(200_000, 30),
        noise(2_500, 10).assign(R=np.arange(2_500) % 25),
        categories(10_000, 27, 4),
    ],
)
def test_what_takes_a_minute_is_searched_by_scores(rows: pd.DataFrame) -> None:
    """Tables of 2 to 20 s; tests are far behind on them."""
    data = read_table(rows, "R" if "R" in rows else None)
    assert choose_by_table(data, gather_statistics(data)) is None


def test_a_forecast_counts_what_a_table_holds() -> None:
    """More of anything takes longer, and the order of rows, of columns and of runs is nothing to
    it.
    """
    least = noise(1_000, 20)
    begin = forecast(read_table(least, None))
    x = least["V0"].to_numpy()
    more = [
        noise(3_000, 20),
        noise(1_000, 40),
        least.assign(V1=x**2 + 0.1 * least["V1"]),
        least.assign(V1=np.where(x > 0.0, "a", "b")),
    ]
    assert min(forecast(read_table(rows, None)) for rows in more) > begin
    contexts = [forecast(read_table(least.assign(R=np.arange(1_000) % k), "R")) for k in (2, 4, 8)]
    assert begin < contexts[0] < contexts[1] < contexts[2]
    shuffled = least.sample(frac=1.0, random_state=1)[least.columns[::-1]]
    assert forecast(read_table(shuffled, None)) == begin


@pytest.mark.parametrize(
    ("change", "why", "remedy"),
    [
        (
            lambda t: t.assign(
                W=np.where(t["R"] == 1, t["X"], np.random.default_rng(0).normal(size=300))
            ),
            "columns 'X' and 'W' are linear functions of each other",
            "leave one of them out",
        ),
        (
            lambda t: t.iloc[:50],
            "50 rows are few for a model of 4 variables in 2 contexts",
            "add rows, or choose fewer columns or contexts",
        ),
        (
            lambda t: t.assign(R=np.arange(300) % 12),
            "300 rows are few for a model of 4 variables in 12 contexts",
            "add rows, or choose fewer columns or contexts",
        ),
    ],
)
def test_where_a_likelihood_says_little_tests_decide(change: Any, why: str, remedy: str) -> None:
    found = cc.discover(change(table()), "R", method="auto")
    assert chosen(found) == f"pc-ac: {why}"
    assert cc.check(change(table()), "R").advice[0] == found.notes[0]
    (warning,) = [words for words in found.warnings if words.startswith("searched by tests")]
    assert warning.endswith(f"{why}; {remedy}")


def test_a_level_of_few_rows_does_not_decide() -> None:
    rare = table().assign(R=lambda t: np.where(t.index < 5, 7, t["R"]))
    found = cc.discover(rare, "R", method="auto")
    assert chosen(found).startswith("score-ac")
    assert found.warnings[0] in cc.check(rare, "R").advice
    assert "R = 7 has 5 rows" in found.warnings[0]


@pytest.mark.parametrize(
    ("change", "left_out"),
    [
        (lambda t: t.assign(copy=3.0 - 2.0 * t["Y"]), ("copy",)),
        (lambda t: t.assign(sum=1e6 + t["X"] + t["Y"] + t["Z"]), ("sum",)),
    ],
)
def test_a_function_of_others_does_not_change_the_method(
    change: Any, left_out: tuple[str, ...]
) -> None:
    """It is left out, and the others are searched as without it."""
    found = cc.discover(change(table()), "R", method="auto")
    assert tuple(one.column for one in found.left_out) == left_out
    assert chosen(found) == chosen(cc.discover(table(), "R", method="auto"))
    assert cc.check(change(table()), "R").advice == cc.check(table(), "R").advice


@pytest.mark.parametrize("values", [(0, 1), ("no", "yes")])
def test_categories_may_be_constant_in_a_context(values: tuple[Any, Any]) -> None:
    """A logit has a maximum where a density has none; two columns that are tied are seen beside
    it.
    """
    rows = table()
    rows = rows.assign(K=np.where((rows["R"] == 1) & (rows["X"] > 0.0), values[1], values[0]))
    assert chosen(cc.discover(rows, "R", method="auto")).startswith("score-ac")
    tied = rows.assign(
        W=np.where(rows["R"] == 0, rows["X"], np.random.default_rng(0).normal(size=300))
    )
    assert (
        chosen(cc.discover(tied, "R", method="auto"))
        == "pc-ac: columns 'X' and 'W' are linear functions of each other"
    )


def test_a_table_of_minutes_never_meets_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "scored", lambda task: pytest.fail("the score was asked"))
    monkeypatch.setattr(auto, "LONGEST_FORECAST", 0.05)
    assert chosen(cc.discover(table(), "R", method="auto")).startswith(
        "pc-ac: score-ac would take about 0 minutes"
    )


def test_where_nothing_fits_scores_are_kept_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests err more often there; docs/decisions/default-method.md has the figures."""
    monkeypatch.setattr(
        "causalcontext.score.explore._uneven", lambda even, effort: even
    )  # as if no scale fitted
    found = cc.discover(uneven(), "R", method="auto")
    why = "2 of 4 variables have residuals of unequal variance, so links may be false"
    assert chosen(found) == f"score-ac: {why}: try method='pc-ac', test='sandwich' or 'cmi-knn'"
    named = cc.discover(uneven(), "R", method="score-ac")
    assert dict(found.graphs) == dict(named.graphs)
    assert found.notes[1:] == named.notes
    assert found.warnings[0] == chosen(found).removeprefix("score-ac: ")
    assert found.warnings[1:] == named.warnings
    assert any("have unequal variance" in warning for warning in named.warnings)
    assert not found.changes(0, 1)["claimed"].any()


@pytest.mark.parametrize("make", [table, uneven])
def test_ranks_are_kept(make: Any) -> None:
    found = cc.discover(make(), "R", method="auto", transform="ranks")
    assert found.settings.method == "score-ac"
    assert dict(found.graphs) == dict(
        cc.discover(make(), "R", method="score-ac", transform="ranks").graphs
    )


def test_an_interrupted_score_is_not_followed_by_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the search; what the score found so far is the result."""
    monkeypatch.setattr(auto, "pc_ac", lambda task: pytest.fail("tests were asked after Ctrl-C"))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("causalcontext.score.explore._improved", stop)
    with pytest.raises(cc.InterruptedSearch) as stopped:
        cc.discover(uneven(), "R", method="auto")
    assert stopped.value.result.settings.method == "score-ac"


def test_a_method_that_is_added_searches_windows_too(monkeypatch):
    def mine(task: Task) -> Outcome:
        return replace(METHODS["pc-ac"].run(task), notes=("found by a method of my own",))

    @method_object
    class Mine(ByTests):
        name = "mine"

    monkeypatch.setitem(METHODS, "mine", Method(Mine, mine))
    land = cc.examples.land_surface(400, seed=1)
    found = cc.discover(land, "regime", method="mine", lags=1)
    assert found.settings.method == "mine"
    assert found.notes == ("found by a method of my own",)
    assert dict(found.graphs) == dict(cc.discover(land, "regime", method="pc-ac", lags=1).graphs)
    static = cc.discover(table(), "R", method="pc-ac")
    assert list(found.changes(*found.contexts)) == list(static.changes(*static.contexts))
    assert found.stability(samples=2).samples == 2
