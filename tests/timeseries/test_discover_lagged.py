"""`discover` with lags: the land surface as it is, however columns are called, scaled or ordered;
bad input.
"""

import json

import numpy as np
import pandas as pd
import pytest
from series_tables import daily_table

import causalcontext as cc
from causalcontext.examples import land_surface_model
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import at
from causalcontext_lab.simulate import SeriesDesign, random_series_model


def lagged(table, context="regime", **options):
    return cc.discover(table, context=context, **({"lags": 2, "method": "score-ac"} | options))


@pytest.fixture(scope="module")
def land():
    return cc.examples.land_surface(1500, seed=1)


@pytest.fixture(scope="module")
def result(land):
    return lagged(land, lags=1)


def test_the_land_surface_is_found(result):
    truth = land_surface_model().truth
    for value in result.contexts:
        assert set(result.graphs[value].edges) == set(truth[value].edges)
    assert result.reads == {
        "rain": None,
        "radiation": None,
        "moisture": None,
        "temperature": None,
        "latent": ("regime", 0),
        "sensible": ("regime", 0),
    }
    assert result.warnings == ()
    assert result.windows.used == 1499


def test_the_summary_has_lags_and_contexts(result):
    assert result.summary.lags("latent", "moisture") == (1,)
    assert "moisture --> latent (lag 0)  [water-limited]" in str(result.summary)
    assert "radiation --> temperature (lag 0)" in str(result.summary).splitlines()


def test_slopes_changes_and_stories(result):
    slopes = result.slopes("radiation", "latent").set_index("context")
    assert slopes.loc["energy-limited", "slope"] == pytest.approx(0.6, abs=0.08)
    assert not slopes.loc["water-limited", "present"]
    changes = result.changes("water-limited", "energy-limited")
    assert changes["claimed"].all()
    assert set(zip(changes["source"], changes["target"], strict=True)) == {
        ("moisture", "latent"),
        ("radiation", "latent"),
        ("radiation", "sensible"),
    }
    story = result.explain("moisture", "latent")
    assert story.splitlines()[0].startswith("absent in energy-limited")
    assert "latent's mechanism depends on regime(t)" in story
    assert "links repeat" in result.explain("moisture(t-1)", "rain(t-1)")


def test_files_keep_everything(result, tmp_path):
    result.save(tmp_path / "lagged.json")
    again = cc.load(tmp_path / "lagged.json")
    assert again == result
    assert isinstance(again, cc.LaggedGraphs)
    assert str(again.summary) == str(result.summary)
    nodes = json.loads((tmp_path / "lagged.json").read_text())["nodes"]
    assert [at(node["name"], node["lag"]) for node in nodes] == list(result.names)


def same_links(first, second, rename=None, values=None):
    rename, values = rename or {}, values or {}
    for value in first.contexts:
        other = second.graphs[values.get(value, value)]
        mine = {
            (rename.get(e.source, e.source), rename.get(e.target, e.target), e.mark)
            for e in first.graphs[value].edges
        }
        assert mine == set(other.edges)


def test_units_order_and_names_do_not_matter(land):
    short = land.iloc[:500]
    first = lagged(short)
    moved = short[
        ["sensible", "regime", "moisture", "rain", "latent", "temperature", "radiation"]
    ].copy()
    moved[["rain", "latent"]] = moved[["rain", "latent"]] * 1e-3 + 50.0
    same_links(first, lagged(moved))
    relabeled = short.assign(
        regime=short["regime"].map({"water-limited": "z", "energy-limited": "a"})
    )
    same_links(first, lagged(relabeled), values={"water-limited": "z", "energy-limited": "a"})


def test_time_sorts_rows_and_gaps_are_respected(land):
    stamps = pd.date_range("2001-01-01", periods=700, freq="D")
    table = land.iloc[:700].assign(day=stamps)
    holes = table.drop(index=table.index[[100, 101, 300, 511]])
    shuffled = holes.sample(frac=1.0, random_state=3)
    result = lagged(shuffled, time="day")
    assert (result.windows.used, result.windows.starts, result.windows.gaps) == (
        700 - 4 - 2 - 6,
        2,
        6,
    )
    same_links(result, lagged(holes, time="day"))


def test_panels_lose_their_unit_means():
    model = random_series_model(SeriesDesign(variables=4, lags=1), 5)
    random = np.random.default_rng(0)
    parts = [model.sample(150, seed).assign(site=f"s{seed}") for seed in range(6)]
    levels = random.normal(scale=8.0, size=(6, 4))
    for part, level in zip(parts, levels, strict=True):
        part[list(model.names)] += level
    table = pd.concat(parts)
    found = lagged(table, "R", lags=1, units="site")
    for value in found.contexts:
        assert set(found.graphs[value].edges) == set(model.truth[value].edges)
    assert found.windows.starts == 6
    pooled = lagged(table, "R", lags=1, units="site", unit_effects="none")
    assert any(
        set(pooled.graphs[value].edges) != set(model.truth[value].edges)
        for value in pooled.contexts
    )


def test_missing_values_cost_windows_or_single_cells(land):
    table = land.iloc[:600].copy()
    table.iloc[np.arange(20, 600, 25), 2] = np.nan
    with pytest.raises(cc.DataError, match="24 rows have missing values; pass missing='model'"):
        lagged(table)
    windows, filled = lagged(table, missing="windows"), lagged(table, missing="interpolate")
    assert windows.windows.missing == 24 * 3
    assert (filled.windows.missing, filled.windows.interpolated) == (0, 24)


def test_covariates_are_causes_and_no_effects(land):
    hours = np.arange(800)
    daily = np.sin(2 * np.pi * hours / 24)
    table = land.iloc[:800].assign(daily=daily)
    table["rain"] += 2.0 * daily
    table["temperature"] += 2.0 * daily
    result = lagged(table, covariates=["daily"], lags=1)
    graph = result.graphs["water-limited"]
    assert graph.mark("daily", "rain") == "-->"
    assert graph.parents("daily") == ()
    assert "daily(t-1)" not in graph.names


def test_knowledge_holds_at_all_lags_or_at_one(land):
    short = land.iloc[:600]
    never = lagged(short, knowledge=cc.Knowledge(forbidden=[("latent", "moisture")]))
    assert never.summary.lags("latent", "moisture") == ()
    assert "rules the link out" in never.explain("latent(t-1)", "moisture")
    once = lagged(
        short,
        knowledge=cc.Knowledge(
            forbidden=[("latent(t-1)", "moisture")], required=[("rain(t-2)", "latent")]
        ),
    )
    assert 1 not in once.summary.lags("latent", "moisture")
    assert 2 in once.summary.lags("rain", "latent")
    with pytest.raises(cc.KnowledgeError, match="say it of the present"):
        lagged(short, knowledge=cc.Knowledge(forbidden=[("rain(t-2)", "latent(t-1)")]))


def test_the_alarm_goes_off_with_too_few_lags():
    model = random_series_model(SeriesDesign(variables=4, lags=3, autocorrelation=0.5), 3)
    assert (model.slopes[:, :, 2:] != 0).any()
    table = model.sample(1000, 0)
    few, enough = lagged(table, "R", lags=1), lagged(table, "R", lags=3)
    assert any("lag alarm" in sentence for sentence in few.warnings)
    assert enough.warnings == ()


def test_without_a_context_there_is_one_graph(land):
    result = lagged(land.iloc[:500].drop(columns="regime"), None)
    assert result.contexts == ("all",)
    assert result.graphs["all"].mark("rain", "moisture") == "-->"


def test_a_system_with_many_variables_is_searched_by_moves():
    model = random_series_model(
        SeriesDesign(variables=12, lags=1, autocorrelation=0.5, coefficients=(0.3, 0.4)), 1
    )
    table = model.sample(600, 1)
    result = lagged(table, "R", lags=1, search="order")
    hits = [
        len(set(result.graphs[v].edges) & set(model.truth[v].edges)) / len(model.truth[v].edges)
        for v in (0, 1)
    ]
    assert min(hits) > 0.8
    assert (result.evidence.search, result.graphs) == (
        "order",
        lagged(table, "R", lags=1, search="exact").graphs,
    )


BAD = [
    (
        {"time": "day", "lags": None},
        "time is 'day', which is for rows that follow each other in time; pass lags",
    ),
    ({"covariates": ["rain"], "lags": None}, "pass lags=... too"),
    ({"missing": "windows", "lags": None}, "pass lags=... too"),
    ({"lags": 0}, "lags is 0, expected a whole number from 1"),
    ({"lags": 101}, "expected at most 100"),
    ({"context_lags": (0, 5)}, "context_lags is"),
    ({"context_lags": "a"}, "expected whole numbers from 0"),
    ({"missing": "listwise"}, "pass missing='model', 'windows' or 'interpolate'"),
    ({"unit_effects": "mean"}, "did you mean 'means'"),
    ({"units": "site"}, "no column 'site'"),
    ({"covariates": ["regime"]}, "which is the context"),
    ({"covariates": ["rian"]}, "did you mean 'rain'"),
    (
        {"covariates": "rain,radiation,moisture,temperature,latent,sensible"},
        "at least one must be left",
    ),
    ({"method": "fci-ac", "masked_scope": "cycle"}, "masked_scope belongs to method 'pc-ac'"),
    ({"lags": 40}, "windows: pass fewer lags, or more rows"),
]


@pytest.mark.parametrize(("options", "match"), BAD)
def test_bad_options_are_one_sentence(land, options, match):
    with pytest.raises(cc.CausalContextError, match=match) as caught:
        lagged(land.iloc[:200], **options)
    assert "\n" not in str(caught.value)


def test_bad_tables_are_one_sentence(land):
    table = land.iloc[:200]
    for bad, options, match in [
        (
            table.assign(**{"rain(t-1)": table["rain"].to_numpy()[::-1]}),
            {},
            "named like an earlier value",
        ),
        (
            table.assign(rain=1.0),
            {"keep": ["rain"]},
            "column 'rain' is constant in the whole windows",
        ),
        (
            table.assign(rain="a"),
            {"keep": ["rain"]},
            "column 'rain' is constant in the whole windows",
        ),
        (table.assign(rain=np.inf), {}, "infinite"),
        (table.assign(rain=table["rain"] * 1e300), {}, "values too large to be squared in 'rain'"),
        (
            table.assign(site=np.repeat(np.arange(100), 2)),
            {"units": "site"},
            "every unit of 'site' has at most 2 rows",
        ),
        (table.assign(regime=["a"] * 198 + ["b", "c"]), {}, "whole windows, expected at least"),
        (table.assign(site=table["regime"]), {"units": "site"}, "has one value in every unit"),
    ]:
        with pytest.raises(cc.CausalContextError, match=match):
            lagged(bad, **options)


def test_cycles_are_covariates():
    table = daily_table()
    ignored = lagged(table, "R", time="hour")
    known = lagged(table, "R", time="hour", covariates=[cc.cycle("hour", "1D")])
    cross = {(e.source, e.target) for e in known.summary if e.source in "XYZ"}
    assert cross == set()
    assert any(e.source in "XYZ" and e.source != e.target for e in ignored.summary)
    assert {e.source for e in known.summary} == {"hour 1D sin", "hour 1D cos"}
    with pytest.raises(cc.OptionError, match="pass time='hour'"):
        lagged(table.drop(columns="hour"), "R", covariates=cc.cycle("hour", "1D"))
    with pytest.raises(cc.OptionError, match="period is 'x'"):
        lagged(table, "R", time="hour", covariates=cc.cycle("hour", "x"))


@pytest.mark.slow
def test_stability_counts_links_over_halves(land):
    result = lagged(land.iloc[:800], lags=1)
    stable = result.stability(samples=6, seed=1)
    edges = stable.edges(0.5).set_index(["x", "y", "context"])
    assert edges.loc[("moisture(t-1)", "moisture", "water-limited"), "-->"] == 1.0
    assert stable.frequency.shape == (2, 14, 14, 4)
    again = result.stability(samples=6, seed=1)
    assert (again.frequency == stable.frequency).all()


def test_tigramite_arrays_go_both_ways(result):
    graph = result.graphs["water-limited"]
    array = cc.export.to_tigramite(graph)
    names = result.series.variables
    assert array.shape == (7, 7, 2)
    assert array[names.index("latent"), names.index("moisture"), 1] == "-->"
    assert array[names.index("moisture"), names.index("rain"), 0] == "<--"
    assert cc.export.from_tigramite(array, names) == graph


def test_pictures_are_drawn(result, tmp_path):
    for kind, panels in [
        ("time-series", 2),
        ("contexts", 2),
        ("union", 1),
        ("difference", 1),
        ("summary", 1),
    ]:
        axes = result.plot(kind, path=tmp_path / f"{kind}.svg")
        assert len(axes) == panels
    with pytest.raises(cc.OptionError, match="did you mean 'summary'"):
        result.plot("sumary")
    with pytest.raises(cc.OptionError, match="expected one of"):
        cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil").plot("summary")


def test_time_runs_from_left_to_right(result):
    from causalcontext.drawing.time_layout import result_layout

    places = result_layout(result)
    index = {name: place for place, name in enumerate(result.names)}
    assert places.centre[index["rain(t-1)"], 0] < places.centre[index["rain"], 0]
    assert places.centre[index["rain(t-1)"], 1] == places.centre[index["rain"], 1]
    assert set(places.routes) == {
        (i, j) for i, j in zip(*np.nonzero(np.triu(result.union.endpoints)), strict=True)
    }


def test_the_command_line_takes_lags(land, tmp_path):
    from typer.testing import CliRunner

    from causalcontext.cli.app import app

    table, file = tmp_path / "land.csv", str(tmp_path / "land.json")
    land.iloc[:300].assign(day=pd.date_range("2020-01-01", periods=300)).to_csv(table, index=False)
    options = [
        "--context",
        "regime",
        "--lags",
        "1",
        "--time",
        "day",
        "--method",
        "score-ac",
        "--json",
        file,
    ]
    run = CliRunner().invoke(app, ["discover", str(table), *options, "--context-lags", "0,1"])
    assert run.exit_code == 0, run.output
    assert "rain --> moisture" in run.output
    told = CliRunner().invoke(app, ["changes", file, "water-limited", "energy-limited"])
    assert told.exit_code == 0, told.output
    assert "radiation -->" in told.output
    assert "yes" in told.output


def test_skewed_noise_is_modelled():
    model = random_series_model(SeriesDesign(variables=3, lags=1, noise="exponential"), 1)
    found = lagged(model.sample(800, 1), "R", lags=1)
    assert not any("skewed" in note for note in found.warnings)
    assert all(
        set(found.graphs[value].edges) == set(model.truth[value].edges) for value in found.contexts
    )


def test_nodes_are_names_or_variables_with_times(result):
    graph = result.graphs["water-limited"]
    assert (
        graph.mark(("latent", -1), "moisture")
        == graph.mark("latent(t-1)", ("moisture", 0))
        == "-->"
    )
    assert graph.parents(("rain", 0)) == ("rain(t-1)",)
    assert graph.lags("latent", "moisture") == (1,)
    assert graph.lags("moisture", "latent") == (0,)
    for node in [("latent", 1), ("latent",), ("latent", "1")]:
        with pytest.raises(cc.DataError, match="expected one such as"):
            graph.mark(node, "moisture")
    with pytest.raises(cc.DataError, match=r"no variable \('latent', -7\)"):
        graph.mark(("latent", -7), "moisture")


def test_exports_of_window_graphs_say_times(result):
    graph = result.graphs["water-limited"]
    nodes = graph.to_networkx().nodes
    assert nodes["latent(t-1)"] == {"variable": "latent", "lag": 1}
    assert nodes["latent"] == {"variable": "latent", "lag": 0}
    gml = cc.export.to_gml(graph)
    assert 'label "latent(t-1)"\n    variable "latent"\n    lag 1' in gml
    assert cc.export.from_gml(gml) == graph
    assert cc.export.from_graphml(cc.export.to_graphml(graph)) == graph
    assert '"latent(t-1)" [variable="latent", lag=1];' in cc.export.to_dot(graph)
    assert "lag" not in cc.export.to_gml(Graph.from_edges("XY", [("X", "Y", "-->")]))


def test_the_report_knows_time(result, tmp_path):
    from causalcontext.report.html import answer, page
    from causalcontext.report.payload import payload

    told = payload(result)
    assert told["time"] == {
        "lags": 1,
        "lag": [1] * 7 + [0] * 7,
        "earlier": [-1] * 7 + list(range(7)),
    }
    assert told["contextVariables"] == [6, 13]
    names = told["names"]
    shown = {(names[x], names[y]) for x, y in told["effects"]["pairs"]}
    assert ("radiation(t-1)", "moisture") in shown
    assert told["summary"].startswith("score-ac on 1,499 windows of 7 variables and 1 lags")
    assert "3 differences may be claimed, 0 may not." in answer(result, ())
    assert "moisture --&gt; latent is found in water-limited only: its slope is" in answer(
        result, ()
    )
    assert "latent --&gt; moisture (lag 1)" in page(result)


def test_the_report_calls_what_is_left_of_a_curve_no_slope():
    """It printed shares of a curve as slopes, with errors of straight lines in the units of the
    table.
    """
    from causalcontext.report.html import lagged_stories

    rng = np.random.default_rng(4)
    wet, drive, noise = (
        rng.random(900) < 0.5,
        100.0 * rng.uniform(0.0, 1.0, 900),
        rng.standard_normal((2, 900)),
    )
    flux = np.where(wet, 40.0, 4.0) * np.tanh(np.roll(drive, 1) / 25.0) + noise[0]
    table = pd.DataFrame(
        {"drive": drive, "flux": flux, "other": noise[1], "wet": np.where(wet, "wet", "dry")}
    )
    result = cc.discover(
        table, context="wet", lags=1, method="score-ac", curves="always", context_lags=[0]
    )
    told = [sentence for sentence, _ in lagged_stories(result) if "drive" in sentence]
    assert told
    assert not any("its slope is" in sentence for sentence in told)


def test_the_report_tells_which_copy_a_change_follows():
    from causalcontext.report.html import lagged_stories

    design = SeriesDesign(variables=3, lags=1, into_context="lagged", changes=3)
    for seed in range(20):
        model = random_series_model(design, seed)
        found = lagged(model.sample(800, seed), "R", lags=1)
        told = [sentence for sentence, _ in lagged_stories(found)]
        if any("by the value of R(t-1)" in sentence for sentence in told):
            return
    raise AssertionError("no change follows R(t-1)")


def test_the_report_compares_many_contexts_with_the_first_alone(monkeypatch):
    """26 contexts were compared in all 325 pairs, which took most of the time of a report."""
    from causalcontext.report import html

    table = (
        random_series_model(SeriesDesign(variables=3, lags=1), 1)
        .sample(800, 1)
        .assign(R=np.arange(800) // 100)
    )
    result, pairs = lagged(table, "R", lags=1, method="pc-ac"), []
    changes = type(result).changes
    monkeypatch.setattr(
        type(result), "changes", lambda self, *pair: pairs.append(pair) or changes(self, *pair)
    )
    html.lagged_stories(result)
    assert pairs == [(0, other) for other in range(1, 8)]
