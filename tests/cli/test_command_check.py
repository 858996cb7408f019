"""`causalcontext check`: everything that stands in the way, in one go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

import causalcontext as cc
from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.registry import find_test
from causalcontext.cli.app import app
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.diagnostics.check import (
    Dependence,
    inspect,
    largest_context_set,
    largest_set,
    linear_dependences,
)
from causalcontext.results.violations import suits_score
from questions import model_checks


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def good_table(n: int = 60) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    x, y, z = generator.standard_normal((3, n))
    return pd.DataFrame({"X": x, "Y": y, "Z": z, "R": ["dry", "wet", "wet"] * (n // 3)})


def run(table: pd.DataFrame, *words: str) -> Result:
    table.to_csv("data.csv", index=False)
    return CliRunner().invoke(app, ["check", "data.csv", *words])


def findings(table: pd.DataFrame, *words: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(run(table, *words, "--json", "-").stdout)
    return content


def test_a_good_table() -> None:
    answer = run(good_table(), "--context", "R")
    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[-1] == "usable"
    assert "problems" not in answer.stdout
    assert "notes" not in answer.stdout


def test_two_values_have_no_skewed_noise() -> None:
    generator = np.random.default_rng(2)
    rare = (generator.random(600) < 0.1).astype(int)
    table = good_table(600).assign(rare=rare, skewed=generator.exponential(size=600))
    notes = findings(table, "--context", "R")["notes"]
    told = " ".join(note for note in notes if note.startswith("the noise of"))
    assert "skewed" in told
    assert "rare" not in told


def test_rows_by_context() -> None:
    lines = [line.split() for line in run(good_table(), "--context", "R").stdout.splitlines()]
    assert ["dry", "20", "20", "13"] in lines
    assert ["wet", "40", "40", "33"] in lines


def test_all_problems_are_found_at_once() -> None:
    table = good_table().assign(name=[f"row {i}" for i in range(60)], when=pd.NaT, fixed=3)
    table.loc[:3, "X"] = np.nan
    table.loc[5:6, "Y"] = np.inf
    found = findings(table, "--context", "R")
    assert not found["usable"]
    text = "\n".join(found["problems"])
    assert len(found["problems"]) == 2
    assert [left["column"] for left in found["left_out"]] == ["name", "when", "fixed"]
    assert (
        "4 missing values in X; pass missing='model', which uses every observed cell, or"
        " missing='listwise'" in text
    )
    assert "2 infinite values in Y" in text
    kept = findings(table, "--context", "R", "--keep", "name,when,fixed")
    assert kept["left_out"] == []
    assert len(kept["problems"]) == 5


def test_counts_by_context() -> None:
    table = good_table()
    table.loc[:3, "X"] = np.nan  # rows dry, wet, wet, dry
    table.loc[5, "Y"] = np.inf
    columns = {column["name"]: column for column in findings(table, "--context", "R")["columns"]}
    assert columns["X"]["missing"] == [
        {"context": "dry", "count": 2},
        {"context": "wet", "count": 2},
    ]
    assert columns["Y"]["infinite"] == [{"context": "wet", "count": 1}]
    assert columns["R"] == {
        "name": "R",
        "dtype": "string",
        "kind": "categorical",
        "role": "context",
        "missing": [],
    }
    assert "4 (dry 2 and wet 2)" in run(table, "--context", "R").stdout


def test_rows_without_a_context() -> None:
    table = good_table()
    table.loc[:4, "R"] = None
    found = findings(table, "--context", "R", "--missing", "listwise")
    assert found["usable"]
    assert found["columns"][0]["missing"] == [{"context": None, "count": 5}]
    lines = [line.split() for line in run(table, "--context", "R").stdout.splitlines()]
    assert ["R", "string", "categorical", "context", "5"] in lines


def test_missing_values_are_no_problem_if_their_rows_are_dropped() -> None:
    table = good_table()
    table.loc[:3, "X"] = np.nan
    assert run(table, "--context", "R").exit_code == 1
    assert run(table, "--context", "R", "--missing", "listwise").exit_code == 0


def test_a_problem_of_the_context_does_not_hide_others() -> None:
    found = findings(
        good_table().assign(R="dry", Z=[f"row {i}" for i in range(60)]), "--context", "R"
    )
    assert [problem.partition(";")[0] for problem in found["problems"]] == [
        "context 'R' has 1 level ('dry')"
    ]
    assert [left["column"] for left in found["left_out"]] == ["Z"]
    assert found["contexts"] == [{"value": "all", "rows": 60, "complete": 60, "largest_set": 53}]


def test_without_a_context() -> None:
    answer = run(good_table()[["X", "Y", "Z"]])
    assert answer.exit_code == 0
    assert "constant in" not in answer.stdout


def test_a_declared_kind_is_believed() -> None:
    table = good_table().assign(R=np.repeat([0.5, 1.5], 30))
    assert run(table, "--context", "R").exit_code == 1
    assert run(table, "--context", "R", "--kind", "R=categorical").exit_code == 0


def test_names_are_never_markup() -> None:
    table = good_table().assign(Z=1.0).rename(columns={"Z": "[bold]Z", "R": "[/]"})
    answer = run(table, "--context", "[/]")
    assert answer.exit_code == 0
    assert "rows by value of [/]" in answer.stdout
    assert "is constant, 1 in every row" in answer.stdout
    assert answer.stdout.count("--keep '[bold]Z'") == 2  # in the table, and in the note


def test_long_tables_are_cut() -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        generator.standard_normal((90, 60)), columns=[f"V{place}" for place in range(60)]
    )
    assert "... and 20 more columns" in run(table).stdout


@pytest.mark.parametrize("n", range(5, 10))
def test_limits_are_those_of_the_tests(n: int) -> None:
    """A test with the largest set can be run, one with a larger set cannot."""
    generator = np.random.default_rng(n)
    names = [f"V{place}" for place in range(12)]
    table = pd.DataFrame(generator.standard_normal((n + 50, 12)), columns=names).assign(
        R=[0] * n + [1] * 50
    )
    data = read_table(table, "R")
    prepared = prepare(data, find_test("auto", 0), "raise")[
        2
    ]  # a search would leave so few rows out

    def testable(x: int, y: int, size: int, level: int | None) -> bool:
        from causalcontext.views import CIQuery

        where = 0 if level is None else 1 + level
        outcome = prepared.answer([CIQuery(x, y, tuple(range(2, 2 + size)), where)])
        return bool(np.isfinite(outcome.p[0])) and (
            level is not None or int(outcome.n[0]) == data.n_rows
        )

    inside, across = largest_set(n), largest_context_set(n)
    assert inside < 0 or testable(0, 1, inside, 0)
    assert not testable(0, 1, max(inside + 1, 0), 0)
    # Two contexts are needed, so that leaving one out makes the context itself untestable.
    assert across < 0 or testable(0, 12, across, None)
    assert not testable(0, 12, max(across + 1, 0), None)


def dependences(table: pd.DataFrame, context: str | None = "R") -> tuple[Dependence, ...]:
    return linear_dependences(gather_statistics(read_table(table, context)))


def test_independent_columns_depend_on_nothing() -> None:
    assert dependences(good_table()) == ()


def test_a_sum_in_all_rows() -> None:
    table = good_table()
    (found,) = dependences(table.assign(S=2 * table.X - table.Y + 5))
    assert {found.column, *found.of} == {"X", "Y", "S"}
    assert found.everywhere


def test_a_copy_in_one_context() -> None:
    table = good_table()
    (found,) = dependences(table.assign(Y=np.where(table.R == "dry", 3 * table.X, table.Y)))
    assert found == Dependence("Y", ("X",), False, "dry")


def test_constant_columns_are_not_collinear() -> None:
    assert dependences(good_table().assign(C=np.where(good_table().R == "dry", 1.0, 2.0))) == ()


def test_fewer_rows_than_columns_are_not_collinear() -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        generator.standard_normal((10, 20)), columns=[f"V{place}" for place in range(20)]
    )
    assert dependences(table, None) == ()
    assert inspect(table, None).notes == (
        "the table has 10 complete rows: tests inside it can condition on 3 variables at most",
    )


def test_two_numbers_may_be_labels() -> None:
    table = good_table().assign(arm=[0, 1] * 30)
    assert [
        note
        for note in findings(table, "--context", "R")["notes"]
        if "arm (two values) as a category" in note
    ]
    declared = findings(table, "--context", "R", "--kind", "arm=categorical")
    assert not [note for note in declared["notes"] if "arm (two values)" in note]


def test_check_in_the_library_says_what_would_mislead_a_search():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal(600))
    table = pd.DataFrame(
        {"walk": walk, "tails": rng.standard_t(2, 600), "x": rng.standard_normal(600)}
    )
    table["R"] = (table["x"] > 0.3).map({True: "high", False: "low"})
    found = cc.check(table, context="R")
    text = str(found)
    assert found.usable
    assert 'cc.threshold("x", 0.3' in text or "cc.threshold" in text
    assert "rows of walk depend on the rows before them" in text
    assert any("tails" in note for note in found.notes)
    assert (
        found.advice[0]
        == "all columns are numbers: method='auto', the default, tries score-ac first"
    )


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow"])
def test_check_takes_any_library(form):
    table = cc.examples.soil_moisture(300, seed=1)
    given = {
        "pandas": table,
        "polars": pl.from_pandas(table),
        "pyarrow": pa.Table.from_pandas(table),
    }[form]
    assert cc.check(given, "soil").notes == cc.check(table, "soil").notes


def test_check_of_what_discover_refuses():
    table = cc.examples.soil_moisture(50, seed=1).assign(runoff=1.0)
    assert cc.check(table, "soil").usable
    assert [str(left) for left in cc.check(table, "soil").left_out] == [
        "runoff is constant, 1 in every row"
    ]
    assert "strict is True" in cc.check(table, "soil", strict=True).problems[0]
    found = cc.check(table, "soil", keep=["runoff"])
    assert not found.usable
    assert str(found).endswith("not usable: discover refuses this table")
    with pytest.raises(cc.OptionError, match="expected different column names"):
        cc.check(table, ["soil", "soil"])
    with pytest.raises(cc.DataError, match="no context column 'soul'"):
        cc.check(table, ["soil", "soul"])
    with pytest.raises(cc.DataError, match="no column 'rain'"):
        cc.check(table, cc.threshold("rain", 1))
    with pytest.raises(cc.DataError, match="of type int"):
        cc.check(5)


def two_contexts() -> pd.DataFrame:
    table = good_table(240)
    return table.assign(S=np.where(np.arange(240) % 7 < 3, "north", "south"))


CHOICES = [
    (["R", "S"], ("--context", "R", "--context", "S")),
    (cc.threshold("X", 0.25), ("--context", "X > 0.25")),
    (cc.bins("X", [-0.5, 0.5]), ("--context", "X bins -0.5, 0.5")),
    (cc.bins("X", quantiles=3), ("--context", "X bins 3")),
]


@pytest.mark.parametrize(("context", "words"), CHOICES)
def test_contexts_are_read_as_discover_reads_them(context: Any, words: tuple[str, ...]) -> None:
    table = two_contexts() if isinstance(context, list) else two_contexts().drop(columns=["R", "S"])
    result, found = (
        cc.discover(table, context, method="pc-ac", test="partial-correlation"),
        cc.check(table, context),
    )
    assert found.usable, found.problems
    assert found.context.name == result.context
    assert found.context.levels == result.contexts
    assert found.rows == result.data.rows
    assert [reading.name for reading in found.system] == [
        n for n in result.names if n in ("X", "Y", "Z")
    ]
    told = findings(table, *words)
    assert [json.loads(json.dumps(value)) for value in result.contexts] == [
        row["value"] for row in told["contexts"]
    ]
    assert [row["rows"] for row in told["contexts"]] == list(result.data.rows)
    assert run(table, *words).exit_code == 0


def test_every_context_column_is_listed() -> None:
    told = findings(two_contexts(), "--context", "R", "--context", "S")
    assert [column["name"] for column in told["columns"] if column["role"] == "context"] == [
        "R",
        "S",
    ]
    text = run(two_contexts(), "--context", "R", "--context", "S").stdout
    assert "rows by value of R, S" in text
    assert "(dry, north)" in text


def test_notes_name_combinations_of_contexts() -> None:
    table = two_contexts()
    alone = (table["R"] == "dry") & (table["S"] == "north")
    table.loc[alone, "X"] = 1.0
    assert (
        "X is constant where R, S = (dry, north): it cannot be tested there"
        in cc.check(table, ["R", "S"]).notes
    )


def test_one_of_several_contexts_is_refused() -> None:
    table = two_contexts().assign(S="north")
    found = cc.check(table, ["R", "S"])
    assert [problem for problem in found.problems if "'S' has 1 level" in problem]
    assert run(table, "--context", "R", "--context", "S").exit_code == 1


def test_a_made_context_is_no_surprise() -> None:
    """That it is a function of its column is known, and no note."""
    found = cc.check(good_table(240).drop(columns="R"), cc.threshold("X", 0.0))
    assert not [note for note in found.notes if "X" in note]
    assert found.advice == (
        "all columns are numbers: method='auto', the default, tries score-ac first",
    )
    beyond = cc.check(good_table().drop(columns="R"), cc.threshold("X", 99.0))
    assert beyond.problems == (
        (
            "context 'X > 99' has 1 level; at least 2 are needed: all values of 'X' lie on one side"
            " of the cuts"
        ),
    )
    holes = good_table().drop(columns="R")
    holes.loc[:2, "X"] = np.nan
    assert (
        cc.check(holes, cc.threshold("X", 0.0))
        .problems[0]
        .startswith("3 missing values in X > 0; pass missing='model'")
    )
    assert cc.check(holes, cc.threshold("X", 0.0), missing="listwise").usable
    levels = good_table().assign(W="a")
    assert "a threshold needs numbers" in cc.check(levels, cc.threshold("R", 0.0)).problems[0]


def test_columns_are_chosen_as_for_discover() -> None:
    told = findings(two_contexts(), "--context", "R", "--columns", "X,Y")
    assert [column["name"] for column in told["columns"]] == ["R", "X", "Y"]
    assert "Z" not in run(two_contexts(), "--context", "R", "--drop", "Z,S").stdout


@pytest.mark.parametrize("context", ["status", ["smoker", "status"], cc.threshold("age", 50)])
def test_no_advice_is_a_method_that_refuses_the_context(context: Any) -> None:
    table = cc.examples.clinic(600, seed=0).assign(
        wait=np.random.default_rng(0).exponential(size=600) ** 2
    )
    found = cc.check(table, context)
    told = [note for note in found.notes if "wait" in note]
    assert told
    result = cc.discover(table, context, method="pc-ac", max_given=1)
    advised = [
        *told,
        *model_checks(result),
        *(finding.advice for finding in result.diagnose() if finding.topic == "model"),
    ]
    assert suits_score(result)
    if any("score-ac" in text for text in advised):  # it takes all of these contexts
        assert (
            cc.discover(table, context, method="score-ac", curves="never").settings.method
            == "score-ac"
        )
