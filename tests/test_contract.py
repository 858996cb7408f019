"""The public contract, held by what the default returns: marks, tables, files, exit codes, on
tables of many kinds.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext_lab.simulate import random_model

MARKS = {"-->", "<--", "o-o", "x-x", ""}
TESTS = ["context", "x", "y", "given", "rows", "test", "statistic", "df", "p", "n", "decision"]
EDGES = ["source", "target", "mark", "contexts", "strength", "p-value", "n"]
MECHANISMS = ["cause", "effect", "context", "coefficient", "se", "low", "high", "rows", "n"]
DECISIONS = {"present", "absent", "untestable", "required", "forbidden", "not_searched"}


def wide() -> pd.DataFrame:
    values = np.random.default_rng(0).normal(size=(24, 30))
    return pd.DataFrame(values, columns=[f"V{place}" for place in range(30)]).assign(
        R=np.arange(24) % 2
    )


def curved() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    x, r = rng.normal(size=400), rng.integers(2, size=400)
    y = x**2 + 0.5 * rng.normal(size=400)
    return pd.DataFrame({"X": x, "Y": y, "Z": r * y + rng.normal(size=400), "R": r})


TABLES: dict[str, tuple[Callable[[], pd.DataFrame], Any, dict[str, Any]]] = {
    "continuous": (lambda: cc.examples.soil_moisture(400, seed=1), "soil", {}),
    "mixed kinds": (
        lambda: cc.examples.clinic(400, seed=1),
        "status",
        {"kinds": {"visits": "count"}},
    ),
    "curved": (curved, "R", {}),
    "3 contexts": (lambda: random_model(6, 0.4, seed=2, contexts=3).sample(450, 2), "R", {}),
    "two context variables": (lambda: curved().assign(S=np.arange(400) // 10 % 2), ["R", "S"], {}),
    "no context": (lambda: cc.examples.soil_moisture(400, seed=1).drop(columns="soil"), None, {}),
    "a made context": (lambda: curved().drop(columns="R"), cc.threshold("X", 0.0), {}),
    "a made context beside another": (curved, ["R", cc.threshold("X", 0.0)], {}),
    "tiny": (lambda: cc.examples.soil_moisture(30, seed=1), "soil", {}),
    "wide": (wide, "R", {}),
    "known": (
        lambda: cc.examples.soil_moisture(300, seed=2),
        "soil",
        {
            "knowledge": cc.Knowledge(
                required=[("soil", "runoff")], forbidden=[("runoff", "humidity")]
            )
        },
    ),
}
every_table = pytest.mark.parametrize("kind", TABLES)


@cache
def found(kind: str) -> cc.ContextGraphs:
    make, context, options = TABLES[kind]
    return cc.discover(make(), context, **options)


@every_table
def test_one_line_says_what_was_chosen(kind: str) -> None:
    result = found(kind)
    assert [note for note in result.notes if "method 'auto' chose" in note] == [result.notes[0]]
    assert result.settings.method in ("score-ac", "pc-ac")
    assert "chose" in str(result)


@every_table
def test_graphs_and_unions(kind: str) -> None:
    result = found(kind)
    assert tuple(result.graphs) == result.contexts
    for graph in (*result.graphs.values(), result.union):
        assert graph.names == result.names
        assert graph.adjacency.dtype == bool
        assert (graph.adjacency == graph.adjacency.T).all()
        for i, x in enumerate(graph.names):
            for j, y in enumerate(graph.names[:i]):
                assert graph.mark(x, y) in MARKS | {"<=>"}
                assert bool(graph.mark(x, y)) == graph.adjacency[i, j]
    for source, target, mark, contexts in result.labeled_union:
        assert mark == result.union.mark(source, target)
        assert contexts == tuple(
            value for value in result.contexts if result.graphs[value].mark(source, target)
        )
    assert result.knowledge_violations() == []


@every_table
def test_tables_have_their_columns(kind: str) -> None:
    result = found(kind)
    edges, tests = result.edges(), result.tests()
    assert list(edges.columns[: len(EDGES)]) == EDGES
    assert len(edges) == len(result.labeled_union)
    follows = edges["source"].isin(result.made_of) | edges["target"].isin(
        result.made_of
    )  # from missing edges
    assert (edges["n"] > 0)[~follows].all()
    assert list(tests.columns[: len(TESTS)]) == TESTS
    assert set(tests["decision"]) <= DECISIONS
    pairs = len(result.names) * (len(result.names) - 1) // 2
    assert len(tests) == pairs * len(result.contexts) or result.made_of
    for row in tests.itertuples():
        present = bool(result.graphs[row.context].mark(row.x, row.y))
        assert present == (row.decision in ("present", "untestable", "required"))
        assert not {row.x, row.y} & set(row.given)
        assert np.isnan(row.p) or 0.0 <= row.p <= 1.0


@every_table
def test_answers(kind: str) -> None:
    result = found(kind)
    x, y = result.names[:2]
    assert 1 <= len(result.explain(x, y).splitlines()) <= len(result.contexts)
    assert all(line.startswith(("present", "absent")) for line in result.explain(x, y).splitlines())
    assert set(MECHANISMS) <= set(result.mechanisms().columns)
    assert {"context", "effect", "low", "high", "identified"} <= set(result.effects(x, y).columns)
    assert result.diagnose() is not None
    if kind == "tiny":
        assert "rows are few" in result.notes[0]


@every_table
def test_results_come_back(kind: str, tmp_path: Path) -> None:
    result = found(kind)
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again == result
    pd.testing.assert_frame_equal(again.tests(), result.tests())
    pd.testing.assert_frame_equal(again.edges(), result.edges())
    assert dict(pickle.loads(pickle.dumps(result)).graphs) == dict(result.graphs)
    content = json.loads((tmp_path / "r.json").read_text())
    assert {"context", "graphs", "union"} <= set(content)
    assert list(content["graphs"]) == [str(value) for value in result.contexts]
    assert all(
        set(edge) == {"source", "target", "mark"}
        for edges in content["graphs"].values()
        for edge in edges
    )


@every_table
def test_column_order_workers_and_libraries_do_not_matter(kind: str) -> None:
    make, context, options = TABLES[kind]
    result, table = found(kind), make()
    assert dict(cc.discover(table, context, n_jobs=2, **options).graphs) == dict(result.graphs)
    turned = cc.discover(table[list(table)[::-1]], context, **options)
    other = cc.discover(pl.from_pandas(table), context, **options)
    for again in (turned, other):
        assert again.settings.method == result.settings.method
        assert again.notes[0] == result.notes[0] or kind == "wide"
        for value in result.contexts:
            assert all(
                again.graphs[value].mark(x, y) == result.graphs[value].mark(x, y)
                for x in result.names
                for y in result.names
                if x != y
            )


def test_values_of_contexts_keep_their_types() -> None:
    assert found("curved").contexts == (0, 1)
    assert all(isinstance(value, int) for value in found("curved").contexts)
    assert found("continuous").contexts == ("dry", "wet")
    assert found("no context").contexts == ("all",)
    assert found("two context variables").contexts == ((0, 0), (0, 1), (1, 0), (1, 1))
    listed = cc.discover(curved(), ["R"])
    assert listed == found("curved")


BAD = {
    "one level": (lambda t: t.assign(R=1), "'R' has 1 level"),
    "NaN": (lambda t: t.assign(X=t["X"].where(t.index > 3)), "X"),
    "infinite": (lambda t: t.assign(X=t["X"].where(t.index > 3, np.inf)), "X"),
    "twice": (lambda t: pd.concat([t, t[["X"]]], axis=1), "X"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_tables_are_errors_that_name_the_column(
    kind: str, tmp_path: Path, monkeypatch: Any
) -> None:
    make, named = BAD[kind]
    with pytest.raises(cc.CausalContextError, match=named):
        cc.discover(make(curved()), "R")
    if kind == "one level":
        monkeypatch.chdir(tmp_path)
        make(curved()).to_csv("t.csv", index=False)
        answer = CliRunner().invoke(
            app, ["discover", "t.csv", "--context", "R", "--json", "r.json"]
        )
        assert answer.exit_code == 2
        assert len(answer.stderr.strip().splitlines()) == 1
        assert not Path("r.json").exists()


def test_a_constant_column_is_left_out_with_a_warning_and_an_error_where_that_is_asked_for() -> (
    None
):
    result = cc.discover(curved().assign(one=1.0), "R")
    assert [left.column for left in result.left_out] == ["one"]
    assert result.warnings[0].startswith("left out of the search: one is constant")
    assert result.graphs == found("curved").graphs
    with pytest.raises(cc.DataError, match="'one'"):
        cc.discover(curved().assign(one=1.0), "R", keep=["one"])
    with pytest.raises(cc.DataError, match="one is constant"):
        cc.discover(curved().assign(one=1.0), "R", strict=True)


def test_the_command_line_takes_the_same_default(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    curved().to_csv("t.csv", index=False)
    answer = CliRunner().invoke(
        app, ["discover", "t.csv", "--context", "R", "--json", "r.json", "--report", "r.html"]
    )
    assert answer.exit_code == 0
    assert "method 'auto' chose score-ac" in answer.output
    assert dict(cc.load("r.json").graphs) == dict(found("curved").graphs)
    assert Path("r.html").stat().st_size > 0
    assert "auto" in CliRunner().invoke(app, ["discover", "--help"], env={"COLUMNS": "200"}).output
