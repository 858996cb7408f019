"""Cuts of mechanisms: the profile against its naive twin, verdicts, intervals, and what a search
makes of them.
"""

import json
import sys
from dataclasses import replace
from inspect import signature
from itertools import count, pairwise

import numpy as np
import pandas as pd
import pytest
from naive_cuts import best_columns, likelihood_with_cut, score_with_cut
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.diagnostics.best_cut import endpoints_at
from causalcontext.report.html import tried_cuts
from causalcontext.results.kept import answers_of
from causalcontext.score.cuts import (
    CutColumns,
    CutResponse,
    columns_of,
    cut_profile,
    grid_of,
    group_gains,
    products_at,
)

discover = sys.modules["causalcontext.discover"]


def drawn(rows, seed, shape="jump", cut=0.2):
    random = np.random.default_rng(seed)
    a, v = random.normal(size=(2, rows))
    x, z = 0.6 * a + 0.8 * random.normal(size=rows), 0.5 * a + 0.87 * random.normal(size=rows)
    drive = {
        "jump": np.where(x > cut, 1.2 * z + 0.8, -0.6 * z),
        "tanh": 2.0 * np.tanh(x) + z,
        "lines": 0.7 * x + z,
        "slope": (1.0 + np.tanh(x)) * z,
        "reverse": 0.8 * z,
    }[shape]
    y = drive + 0.5 * v + random.normal(size=rows)
    return pd.DataFrame({"A": a, "X": x, "Z": z, "V": v, "Y": y})


def response(rows=120, seed=3, shape="jump"):
    table = drawn(rows, seed, shape)
    y, x, z = (
        ((table[name] - table[name].mean()) / table[name].std()).to_numpy() for name in "YXZ"
    )
    return CutResponse("Y", y, x, z[None], np.array([True]), *np.empty((2, 0, rows)))


def test_products_above_a_cut_are_those_of_columns_set_to_zero_below():
    one = response()
    columns, places, order = columns_of(one, "cut"), grid_of(one.x), np.argsort(one.x)
    found = products_at(columns, order, np.searchsorted(one.x[order], places, side="right"))
    for cut, products in zip(places, found, strict=True):
        every = np.concatenate([columns.fixed, columns.above * (one.x > cut), columns.y[None]])
        every = every - every.mean(axis=1, keepdims=True)
        assert np.allclose(products, every @ every.T, atol=1e-8)


def test_the_profile_is_that_of_refitting_at_every_cut():
    one = response()
    one = one._replace(curved=np.array([False]))
    profile, columns = cut_profile([[one]], one.x), columns_of(one, "cut")
    plain = best_columns(list(columns_of(one, "plain").fixed), columns.y)
    for place in (0, len(profile.places) // 2, len(profile.places) - 1):
        naive = score_with_cut(
            columns.fixed, columns.above, one.x, columns.y, profile.places[place]
        )
        assert profile.scores[place] == pytest.approx(naive - plain, abs=1e-5)


def test_the_interval_is_where_the_naive_likelihood_stays_near_its_top():
    one = response(rows=300)
    profile, columns = cut_profile([[one]], one.x), columns_of(one, "cut")
    # with the columns that the best cut has: a level, and another slope of z
    few = CutColumns(np.array([one.lines[0]]), columns.above[[0, 2]], columns.y)
    at = {
        cut: likelihood_with_cut(few.fixed, few.above, one.x, few.y, cut)
        for cut in (profile.value, profile.low - 0.3, profile.high + 0.3)
    }
    top = at.pop(profile.value)
    assert profile.low < profile.value < profile.high
    assert all(2.0 * (top - other) > 7.35 for other in at.values())


def test_cuts_leave_rows_on_either_side_and_lie_between_values():
    values = np.repeat(np.arange(10.0), 20)
    assert grid_of(values).tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5]
    assert grid_of(np.ones(50)).size == 0


def test_a_jump_is_a_cut_with_an_interval_and_two_graphs():
    result = cc.discover(drawn(600, 1), cc.threshold("X", "best"))
    cut = result.cut
    assert cut.verdict == "cut"
    assert cut.low <= 0.2 <= cut.high
    assert cut.low <= cut.value <= cut.high
    assert cut.high - cut.low < 0.3
    assert cut.changed == ("Y",)
    assert cut.evidence > cut.required
    assert result.context == f"X > {cut.value:g}"
    assert len(result.contexts) == 2
    assert str(cut) in result.notes
    assert result.made_of == {result.context: "X"}


@pytest.mark.parametrize("shape", ["tanh", "slope", "lines"])
def test_a_smooth_change_is_never_sold_as_two_regimes(shape):
    result = cc.discover(drawn(600, 2, shape), cc.threshold("X", "best"))
    assert result.cut.verdict == ("undecided" if shape == "lines" else "smooth change")
    assert result.cut.low is None
    assert result.cut.high is None
    assert result.contexts == ("all",)
    assert "interval" not in str(result)
    assert "interval" not in str(result.cut)


@pytest.mark.slow
def test_other_methods_use_the_cut_that_mechanisms_want():
    table = drawn(600, 1)
    scored, tested = (
        cc.discover(table, cc.threshold("X", "best"), method=method)
        for method in ("score-ac", "pc-ac")
    )
    assert scored.cut == tested.cut
    assert tested.settings.method == "pc-ac"
    assert tested.contexts == scored.contexts


def test_saved_cuts_are_equal_again_and_damaged_ones_are_refused(tmp_path):
    result = cc.discover(drawn(400, 1), cc.threshold("X", "best"))
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result
    assert replace(result, cuts=()) != result
    hidden = replace(result, cuts=(replace(result.cut, verdict="smooth change"),))
    hidden.save(tmp_path / "r.json")
    with pytest.raises(cc.FileError, match="an interval of a cut"):
        cc.load(tmp_path / "r.json")


def test_what_comes_before_the_column_cannot_change_with_it():
    table = drawn(600, 1)
    known = cc.Knowledge(tiers=[["A", "Z", "V", "Y"], ["X"]])
    with pytest.raises(cc.DataError, match="knowledge says that it causes nothing"):
        cc.discover(table, cc.threshold("X", "best"), knowledge=known)


@pytest.mark.slow
def test_two_cuts():
    random = np.random.default_rng(5)
    x, z = random.normal(size=(2, 1500))
    y = np.where(x > 0.7, 1.5, np.where(x > -0.7, -1.0, 1.0)) * z + random.normal(size=1500)
    result = cc.discover(pd.DataFrame({"X": x, "Z": z, "Y": y}), cc.threshold("X", "best", cuts=2))
    assert [cut.verdict for cut in result.cuts] == ["cut", "cut"]
    assert sorted(cut.value for cut in result.cuts) == pytest.approx([-0.7, 0.7], abs=0.08)
    assert result.context == "X bin"
    assert len(result.contexts) == 3


def followed(rows):
    random = np.random.default_rng(3)
    x, z, y = np.zeros((3, rows))
    for t in range(1, rows):
        x[t], z[t] = 0.5 * x[t - 1] + random.normal(), 0.4 * z[t - 1] + random.normal()
        y[t] = (1.0 if x[t - 1] > 0.3 else -0.6) * z[t - 1] + 0.3 * y[t - 1] + random.normal()
    return pd.DataFrame({"X": x, "Z": z, "Y": y})


def test_a_mechanism_may_change_with_the_past_of_a_column():
    result = cc.discover(followed(700), cc.threshold("X", "best"), lags=1)
    assert result.cut.verdict == "cut"
    assert result.cut.low <= 0.3 <= result.cut.high
    assert result.cut.changed == ("Y",)
    assert result.reads["Y"] == (result.context.split("(")[0], 1)
    said = result.diagnose().about("threshold")
    assert any("with the cut of X at" in finding.message for finding in said)


@pytest.mark.slow
def test_a_cut_beside_a_measured_context():
    table = drawn(800, 1)
    table["day"] = np.where(np.random.default_rng(0).random(800) < 0.5, "day", "night")
    result = cc.discover(table, ["day", cc.threshold("X", "best")])
    assert result.cut.verdict == "cut"
    assert len(result.contexts) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.threshold("X", "median"), "expected a number, or 'best'"),
        (lambda: cc.threshold("X", 0.3, cuts=2), "cuts is 2"),
        (lambda: cc.threshold("X", "best", cuts=3), "cuts is 3"),
        (lambda: cc.scan(drawn(50, 1), context=cc.threshold("X", "best")), "not yet"),
        (
            lambda: cc.discover(
                drawn(50, 1), [cc.threshold("X", "best"), cc.threshold("Z", "best")]
            ),
            "not yet: the cuts",
        ),
        (lambda: cc.discover(drawn(50, 1), cc.threshold("Q", "best")), "'Q'"),
    ],
)
def test_what_cannot_be_found_is_refused(call, message):
    with pytest.raises(cc.CausalContextError, match=message):
        call()


def test_the_command_line_finds_a_cut():
    from causalcontext.data.indicators import condition

    assert condition("VPD > best") == cc.threshold("VPD", "best")
    assert condition("VPD > best 2") == cc.threshold("VPD", "best", cuts=2)


def suspected(rows, seed, changes=True):
    random = np.random.default_rng(seed)
    group, x, z = random.random(rows) < 0.5, *random.normal(size=(2, rows))
    y = np.where(group & changes, -0.8, 0.8) * z + 0.5 * x + random.normal(size=rows)
    table = pd.DataFrame({"X": x, "Z": z, "R": np.where(group, "wet", "dry"), "Y": y})
    table["proxy"] = np.where(random.random(rows) < 0.85, table["R"], "dry")
    return table


def test_the_context_is_found_and_what_goes_along_with_it_is_not():
    found = cc.find_contexts(suspected(600, 1))
    assert found["column"].tolist() == ["R"]
    assert found["changed"].tolist() == [("Y",)]
    assert found["call"].tolist() == ["cc.discover(table, 'R')"]
    assert cc.find_contexts(suspected(600, 1), most=2)["column"].tolist() == ["R"]


def test_options_of_searches_by_scores_are_used_and_others_are_refused():
    panel = pd.concat([followed(200).assign(site=site, day=range(200)) for site in "ab"])
    options = {"lags": 1, "time": "day", "units": "site", "unit_effects": "none"}
    found = cc.find_contexts(panel, **options)
    assert found["column"].tolist() == ["X"]
    assert found["call"].item().endswith(", lags=1, time='day', units='site', unit_effects='none')")
    with pytest.raises(cc.NotYetError, match="means of units or times"):
        cc.find_contexts(panel, **(options | {"unit_effects": "means"}))
    for name, value in (("method", "pc-ac"), ("alpha", 0.1), ("collider_rule", "first")):
        with pytest.raises(cc.OptionError, match=f"find_contexts has no option '{name}'"):
            cc.find_contexts(panel, **{name: value})
    with pytest.raises(cc.OptionError, match=r"^find_contexts has .* did you mean 'lags'"):
        cc.find_contexts(panel, lag=1)
    with pytest.raises(cc.OptionError, match="it looks for contexts; leave context out"):
        cc.find_contexts(panel, context="site")
    with pytest.raises(cc.OptionError, match="pass missing='model' or missing='listwise'"):
        cc.find_contexts(panel, missing="testwise")
    assert {"units", "na_values", "covariates"} <= set(signature(cc.find_contexts).parameters)


def test_the_command_names_the_columns_and_what_to_run_next(tmp_path):
    file = tmp_path / "data.csv"
    suspected(600, 1).to_csv(file, index=False)
    result = CliRunner().invoke(app, ["contexts", str(file), "--seed", "1"], env={"COLUMNS": "300"})
    assert result.exit_code == 0
    assert (
        f"next: causalcontext discover {file} --context R, with the same options" in result.stdout
    )
    told = json.loads(CliRunner().invoke(app, ["contexts", str(file), "--json", "-"]).stdout)
    assert [(row["column"], row["call"]) for row in told] == [("R", "cc.discover(table, 'R')")]
    drawn(300, 2, "lines").to_csv(file, index=False)
    assert "no column was found" in CliRunner().invoke(app, ["contexts", str(file)]).stdout


def test_a_change_that_turned_a_link_is_found_all_the_same(monkeypatch):
    """Without the change in its model, a search directs Y --> Z or Y --> X, and Y would not be
    asked.
    """
    table = drawn(500, 25)
    table["W"] = 0.8 * table["Y"] + np.random.default_rng(25).normal(size=500)
    everything = {
        "method": "score-ac",
        "keep": ["A", "Y", "W"],
    }  # W is 0.8 Y + A, since the seed is that of A
    cut = cc.discover(table, cc.threshold("X", "best"), **everything).cut
    assert (cut.verdict, cut.changed) == ("cut", ("Y",))
    assert cut.low <= 0.2 <= cut.high
    monkeypatch.setattr(discover, "places_to_try", lambda _: [])
    assert cc.discover(table, cc.threshold("X", "best"), **everything).cut.verdict != "cut"


def test_without_a_change_nothing_is_suggested():
    assert cc.find_contexts(suspected(600, 2, changes=False)).empty
    assert cc.find_contexts(drawn(600, 2, "tanh")).empty


@pytest.mark.slow
def test_a_cut_is_suggested_with_the_call_that_declares_it():
    found = cc.find_contexts(drawn(600, 1)).iloc[0]
    assert (found["column"], found["kind"], found["changed"]) == ("X", "cut", ("Y",))
    assert found["low"] <= 0.2 <= found["high"]
    assert found["call"] == f"cc.discover(table, cc.threshold('X', {found['cut']:g}))"


def test_gains_of_groups_are_those_of_naive_regressions():
    random = np.random.default_rng(4)
    z, group = random.normal(size=200), (random.random(200) < 0.4).astype(float)
    y = np.where(group > 0, 1.0, -0.2) * z + random.normal(size=200)
    one = CutResponse(
        "Y", y, np.zeros(200), z[None], np.array([False]), np.empty((0, 200)), group[None]
    )
    naive = best_columns([group, z, group * z], y - y.mean()) - best_columns(
        [group, z], y - y.mean()
    )
    assert group_gains([[one]])[0] == pytest.approx(naive, abs=1e-6)


@pytest.mark.slow
def test_false_and_true_cuts_are_as_rare_and_as_frequent_as_promised():
    smooth = [
        cc.discover(
            drawn(600, seed, shape), cc.threshold("X", "best"), method="score-ac"
        ).cut.verdict
        for shape in ("tanh", "slope", "lines")
        for seed in range(900, 920)
    ]
    assert smooth.count("cut") <= 6  # of 60; a share of .05 has more in 3 of 100 runs
    cuts = [
        cc.discover(drawn(600, seed), cc.threshold("X", "best"), method="score-ac").cut
        for seed in range(900, 930)
    ]
    found = [cut for cut in cuts if cut.verdict == "cut"]
    assert len(found) >= 25  # of 30; a power of .9 has fewer in 5 of 100 runs
    assert sum(cut.low <= 0.2 <= cut.high for cut in found) >= len(found) - 5


def test_where_all_else_comes_before_a_column_nothing_is_said_to_change(monkeypatch):
    from causalcontext.diagnostics import best_cut

    monkeypatch.setattr(best_cut, "asked_responses", lambda *_: [])
    cut = cc.discover(drawn(200, 1), cc.threshold("X", "best")).cut
    assert (cut.verdict, cut.changed) == ("undecided", ())
    assert str(cut) == "no mechanism was found to change with X"


def test_the_picture_has_an_interval_of_a_cut_alone(tmp_path):
    for shape, patches in (("jump", 1), ("slope", 0)):
        result = cc.discover(drawn(400, 1, shape), cc.threshold("X", "best"), method="score-ac")
        (axes,) = result.plot("cut", path=tmp_path / "cut.png")
        assert len(axes.patches) == patches
        assert axes.get_title() == f"X: {result.cut.verdict}"
    with pytest.raises(cc.OptionError, match="no cut to show"):
        cc.discover(drawn(100, 1)).plot("cut")


def test_diagnose_says_whether_nearby_cuts_change_the_graphs():
    right = (
        cc.discover(drawn(800, 1), cc.threshold("X", 0.2), method="score-ac")
        .diagnose()
        .about("threshold")
    )
    assert any("the graphs are the same with the cut of X" in finding.message for finding in right)
    assert not any("the threshold is at" in finding.message for finding in right)
    wrong = (
        cc.discover(drawn(800, 1), cc.threshold("X", -0.6), method="score-ac")
        .diagnose()
        .about("threshold")
    )
    assert any(
        "X cuts the mechanism" in finding.message and "the threshold is at -0.6" in finding.message
        for finding in wrong
    )
    smooth = (
        cc.discover(drawn(800, 2, "tanh"), cc.threshold("X", 0.0), method="score-ac")
        .diagnose()
        .about("threshold")
    )
    assert any("splits what changes smoothly" in finding.message for finding in smooth)


def test_the_report_has_the_profile_and_of_a_cut_a_slider_over_others(tmp_path):
    for shape, slider in (("jump", True), ("tanh", False)):
        result = cc.discover(drawn(500, 1, shape), cc.threshold("X", "best"), method="score-ac")
        result.report(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text()
        assert "Where is the cut?" in page
        assert 'id="cut-slider"' not in page
        assert ("graphs with other cuts: result.report(" in page) == slider
        assert ("95 % interval 0" in page) == slider
        result.report(tmp_path / "r.html", diagnose=True)
        page = (tmp_path / "r.html").read_text()
        assert ('id="cut-slider"' in page) == slider
        assert "graphs with other cuts: " not in page
        result.save(tmp_path / "r.json")
        cc.load(tmp_path / "r.json").report(tmp_path / "again.html")
        again = (tmp_path / "again.html").read_text()
        assert "Where is the cut?" in again
        assert ('id="cut-slider"' in again) == slider


def test_graphs_with_other_cuts_are_searched_once_and_only_when_asked(tmp_path, monkeypatch):
    result = cc.discover(drawn(500, 1), cc.threshold("X", "best"), method="score-ac")
    searched = []
    monkeypatch.setattr(
        "causalcontext.report.html.endpoints_at",
        lambda result, cut: searched.append(cut) or endpoints_at(result, cut),
    )
    result.report(tmp_path / "r.html")
    assert not searched
    result.report(tmp_path / "r.html", diagnose=True)
    assert len(searched) > 10
    asked = list(searched)
    result.report(tmp_path / "r.html", diagnose=True)
    assert searched == asked
    result.save(tmp_path / "r.json")
    cuts = answers_of(result).other_cuts
    loaded = answers_of(cc.load(tmp_path / "r.json")).other_cuts
    assert list(loaded) == list(cuts)
    assert all((loaded[place] == cuts[place]).all() for place in cuts)


def test_a_file_with_graphs_of_another_cut_is_damaged(tmp_path):
    result = cc.discover(drawn(500, 1), cc.threshold("X", "best"), method="score-ac")
    own = np.stack([graph.endpoints for graph in result.graphs.values()])
    for wrong in ({result.cut.value + 1.0: own}, {result.cut.value: own[:1]}):
        answers_of(result).other_cuts = wrong
        result.save(tmp_path / "r.json")
        with pytest.raises(cc.FileError, match="is damaged: other_cuts is of another cut"):
            cc.load(tmp_path / "r.json")


@pytest.mark.parametrize("lags", [None, 1])
def test_a_search_with_the_cut_that_was_found_is_the_result_itself(lags):
    result = cc.discover(
        drawn(500, 1) if lags is None else followed(500),
        cc.threshold("X", "best"),
        lags=lags,
        method="score-ac",
    )
    tried = tried_cuts(result)
    assert len(tried) > 10
    own = np.stack([graph.endpoints for graph in result.graphs.values()])
    assert (endpoints_at(result, result.cut.value) == own).all()
    again = cc.discover(
        drawn(500, 1) if lags is None else followed(500),
        cc.threshold("X", min(tried)),
        lags=lags,
        method="score-ac",
    )
    assert (
        tried[min(tried)] == np.stack([graph.endpoints for graph in again.graphs.values()])
    ).all()


def test_the_searches_for_a_cut_share_one_time_limit(monkeypatch):
    module, seconds, limits = sys.modules["causalcontext.discover"], count(0.0, 5.0), []
    watching = module.watching
    monkeypatch.setattr(module, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(
        module,
        "watching",
        lambda progress, limit: limits.append(limit) or watching(progress, limit),
    )
    result = cc.discover(drawn(300, 1), cc.threshold("X", "best"), time_limit=100.0)
    assert limits[0] == 95.0
    assert len(limits) > 2
    assert all(later <= earlier - 5.0 for earlier, later in pairwise(limits))
    assert result.settings.score["time_limit"] == 100.0
