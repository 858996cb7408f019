"""Several contexts and contexts made out of a column, with lags: what tests find, and what a result
says about it.
"""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.results.explain import explained

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
systems = importlib.import_module("contexts_over_time")
two_contexts, a_threshold, labels = systems.two_contexts, systems.a_threshold, systems.labels
METHODS = ["pc-ac", "pc-m", "pc-p", "pc-b"]


def search(table, context, method="pc-ac", **options):
    return cc.discover(table, context=context, method=method, lags=1, **options)


@pytest.fixture(scope="module")
def two():
    return search(two_contexts(), ["R", "S"], alpha=0.01)


@pytest.fixture(scope="module")
def step():
    return search(
        a_threshold(1).drop(columns="S"), cc.threshold("X", 0.2), method="pc-ac", alpha=0.01
    )


@pytest.fixture(scope="module")
def mixed():
    return search(a_threshold(), ["S", cc.threshold("X", 0.2)], alpha=0.01)


def test_links_change_with_the_context_that_acts_on_them(two):
    found, everywhere = labels(two), set(two.contexts)
    assert two.contexts == ((0, "high"), (0, "low"), (1, "high"), (1, "low"))
    assert found["X", "Y"] == found["Y(t-1)", "Z"] == {(1, "high"), (1, "low")}
    assert found["X", "Z"] == {(0, "high"), (1, "high")}
    always = ["Z W", "X(t-1) R", "S(t-1) W", "S(t-1) S", "R(t-1) R", "R(t-1) Z", "R Y", "S Z"]
    for link in (tuple(pair.split()) for pair in always):
        assert found[link] == everywhere
    assert two.reads == {"X": None, "Y": ("R", 0), "Z": (("R", 1), ("S", 0)), "W": ("S", 1)}
    assert "rows with S = low, R(t-1) = 1, p < 1e-16" in two.explain("Y(t-1)", "Z")
    assert "X --> Y (lag 0)  [(1, high), (1, low)]" in str(two.summary)


def test_the_order_of_contexts_does_not_matter(two):
    table = two_contexts()
    other = search(table[["W", "S", "X", "R", "Z", "Y"]], ["S", "R"], alpha=0.01)
    assert {
        (b, a): str(graph.edges)
        for (a, b), graph in search(table, ["S", "R"], alpha=0.01).graphs.items()
    } == {value: str(graph.edges) for value, graph in two.graphs.items()}
    assert {
        tuple(reversed(value)): set(map(str, graph.edges)) for value, graph in other.graphs.items()
    } == {value: set(map(str, graph.edges)) for value, graph in two.graphs.items()}


def test_a_threshold_acts_at_the_lag_at_which_its_column_does(step):
    found = labels(step)
    assert step.contexts == ("<= 0.2", "> 0.2")
    assert found["Y(t-1)", "Z"] == found["Z", "W"] == {"> 0.2"}
    assert found["X", "Y"] == found["X", "W"] == found["X(t-1)", "Z"] == {"<= 0.2", "> 0.2"}
    assert ("X", "X > 0.2") in found
    assert step.reads == {"X": None, "Y": None, "Z": ("X > 0.2", 1), "W": ("X > 0.2", 0)}
    assert "rows with X(t-1) <= 0.2" in step.explain("Y(t-1)", "Z")
    assert "X > 0.2(t-1) is a function of X(t-1)" in step.explain("X > 0.2(t-1)", "Z")
    assert "X --> X > 0.2 by deterministic" in step.explain("X > 0.2", "X")


def test_a_threshold_beside_a_column(mixed):
    found = labels(mixed)
    assert found["Y(t-1)", "Z"] == found["Z", "W"] == {(0, "> 0.2"), (1, "> 0.2")}
    assert found["S", "W"] == set(mixed.contexts)
    assert mixed.reads["W"] == (("S", 0), ("X > 0.2", 0))
    told = mixed.explain("X > 0.2(t-1)", "Z")
    assert "only Z can be an effect of X > 0.2(t-1)" in told
    assert "constant" not in told


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("which", ["two", "step", "mixed", "bins"])
def test_results_say_all_they_can(method, which, tmp_path):
    table, context = {
        "two": (two_contexts(1, 500), ["S", "R"]),
        "step": (a_threshold(1, 500).drop(columns="S"), cc.threshold("X", 0.2)),
        "mixed": (a_threshold(1, 500), [cc.threshold("X", 0.2), "S"]),
        "bins": (a_threshold(1, 500), ["S", cc.bins("X", quantiles=3)]),
    }[which]
    result = search(table, context, method)
    first, last = result.contexts[0], result.contexts[-1]
    assert len(result.changes(first, last).columns) > 5
    assert len(result.mechanisms()) > 5
    assert len(result.effects("X", "W")) > 3
    assert len(result.slopes()) > 5
    assert str(result.summary)
    assert len(explained(result, "X", "W", apart=True)) == len(result.contexts)
    assert all(result.explain(name, "W") for name in result.names if name != "W")
    assert "W" in str(result)
    result.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 1000
    result.save(tmp_path / "result.json")
    loaded = cc.load(tmp_path / "result.json")
    assert loaded.graphs == result.graphs
    assert loaded.reads == result.reads
    assert loaded.cells == result.cells
    assert loaded.explain("Y(t-1)", "Z") == result.explain("Y(t-1)", "Z")
    wanted = result.mechanisms()[["cause", "effect", "context", "coefficient", "rows", "n"]]
    pd.testing.assert_frame_equal(loaded.mechanisms()[list(wanted.columns)], wanted)


def test_slopes_and_mechanisms_are_those_of_the_rows_of_the_contexts_that_are_read(two):
    """Z reads R(t-1) and S(t): its slopes are regressions on these rows alone."""
    table = two_contexts()
    now, before = table.iloc[1:].reset_index(drop=True), table.iloc[:-1].reset_index(drop=True)
    rows = (before["R"] == 1) & (now["S"] == "high")
    design = np.column_stack(
        [np.ones(rows.sum()), before["Y"][rows], before["Z"][rows], now["X"][rows]]
    )
    wanted = np.linalg.lstsq(design, now["Z"][rows], rcond=None)[0][1:]
    found = two.mechanisms().query("effect == 'Z'")
    found = found[[context == (1, "high") for context in found["context"]]].set_index("cause")[
        "coefficient"
    ]
    assert found[["Y(t-1)", "Z(t-1)", "X"]].to_numpy() == pytest.approx(wanted)


def test_stability_of_several_contexts():
    found = search(two_contexts(2, 400), ["R", "S"]).stability(samples=4)
    assert ("Z", "W") in set(found.edges()[["x", "y"]].itertuples(index=False, name=None))


def test_panels_and_gaps_with_several_contexts():
    table = two_contexts(3, 900)
    table["site"] = np.repeat(["a", "b", "c"], 300)
    table["day"] = np.tile(np.arange(300), 3)
    table = table.drop(index=[100, 101, 450])
    result = search(table, ["R", "S"], units="site", time="day")
    assert result.windows.gaps > 0
    table["S"] = np.where(table["site"] == "a", "low", "high")
    with pytest.raises(
        cc.CausalContextError, match="context 'S' has one value in every unit of 'site'"
    ):
        search(table, ["R", "S"], units="site", time="day")
    table.loc[table.index[:50], "S"] = "high"
    assert any(
        "S has one value only in 2 of 3 units" in said
        for said in search(table, ["R", "S"], units="site", time="day").warnings
    )


def test_a_threshold_of_a_covariate_acts_at_time_t_alone():
    table = a_threshold(4, 800)
    result = search(table.drop(columns="S"), cc.threshold("X", 0.2), covariates=["X"])
    assert {"X > 0.2(t-1)", "X > 0.2"} <= set(result.names)
    assert set(result.reads.values()) == {None, ("X > 0.2", 0)}
    assert "X > 0.2(t-1) takes no part in the search" in result.explain("X > 0.2(t-1)", "Z")


@pytest.mark.parametrize(
    ("context", "options", "match"),
    [
        (cc.threshold("X", 1e9), {}, "all values of 'X' lie on one side"),
        (cc.threshold("nowhere", 0.0), {}, "no column 'nowhere'"),
        (["R", cc.threshold("X", 0.0, name="W")], {}, "has a column 'W' already"),
        (["R", "R"], {}, "expected different column names"),
        (["R", cc.threshold("t", 0.0)], {"time": "t"}, "'t' cannot be time or units and take part"),
        (["R", "t"], {"time": "t"}, "'t' cannot be time or units and take part"),
        (["R", 3.5], {}, "expected the name of a column, or several in a list"),
        (["R", "S"], {"covariates": ["S"]}, "covariates names 'S', which is the context"),
        ([f"R{i}" for i in range(8)], {}, "context variables, lags counted, choose up to"),
    ],
)
def test_bad_contexts_are_one_sentence(context, options, match):
    table = two_contexts(0, 300).assign(t=np.arange(300))
    for i in range(8):
        table[f"R{i}"] = np.random.default_rng(i).integers(2, size=300)
    wanted = {"method": "pc-ac"} | options
    with pytest.raises(cc.CausalContextError, match=match):
        search(table if "time" in options else table.drop(columns="t"), context, **wanted)


def test_missing_values_of_any_context_cost_their_windows():
    table = two_contexts(5, 400)
    table["R"] = table["R"].astype(object)
    table.loc[20, "R"], table.loc[40, "S"], table.loc[60, "X"] = None, None, np.nan
    with pytest.raises(cc.CausalContextError, match="3 rows have missing values"):
        search(table, ["R", "S", cc.threshold("X", 0.0)])
    assert search(table, ["R", "S", cc.threshold("X", 0.0)], missing="windows").windows.missing > 3
