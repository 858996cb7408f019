"""Findings about a result: each check finds what it is for, and says nothing where there is
nothing.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.diagnostics.findings import Severity
from causalcontext.diagnostics.rows import minimum_detectable
from causalcontext.examples import proteins


def topics(result):
    return {finding.topic for finding in result.diagnose()}


def causes(result, x, y):
    return [
        f.evidence["cause"]
        for f in result.diagnose().about("missing edge")
        if {f.evidence["source"], f.evidence["target"]} == {x, y}
    ]


@pytest.mark.parametrize("seed", range(6))
def test_a_mechanism_that_is_switched_off_is_physical(seed):
    found = causes(
        cc.discover(cc.examples.example_i(2000, seed), context="R", method="pc-ac"), "T", "Y"
    )
    assert found == ["mechanism"]


def test_a_mechanism_out_of_support_is_descriptive():
    results = (
        cc.discover(cc.examples.example_ii(2000, seed), context="R", method="pc-ac")
        for seed in range(12)
    )
    found = [cause for result in results for cause in causes(result, "T", "Y")]
    assert len(found) >= 8
    assert sum(cause == "support" for cause in found) >= 0.75 * len(found)


def test_missing_edges_of_a_small_context_are_lack_of_rows():
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        w, x, y = rng.standard_normal((3, 2030))
        r = (w > np.quantile(w, 2000 / 2030)).astype(int)
        x = x + 0.5 * w
        result = cc.discover(
            pd.DataFrame({"W": w, "X": x, "Y": 0.2 * x + y, "R": r}),
            context="R",
            knowledge=cc.Knowledge.context_children("R", ["Y"]),
            method="pc-ac",
        )
        found += causes(result, "X", "Y")
    assert len(found) >= 4
    assert set(found) == {"few rows"}
    (small,) = [f for f in result.diagnose().about("rows") if f.evidence.get("rows") == 30]
    assert small.severity is Severity.WARNING
    assert small.evidence["minimum detectable"] > 0.4


def test_a_constant_cause_is_singular_support():
    rng = np.random.default_rng(4)
    n = 1500
    w, y = rng.standard_normal((2, n))
    light = np.where(
        w > 0, rng.uniform(0.5, 2, n), np.where(rng.random(n) < 0.9, 0.0, rng.uniform(0, 0.3, n))
    )
    frame = pd.DataFrame(
        {"W": w, "light": light, "Y": 1.5 * light + y, "day": np.where(w > 0, "day", "night")}
    )
    found = causes(cc.discover(frame, context="day", method="pc-ac"), "light", "Y")
    assert found in (["singular support"], [])


def test_a_deterministic_context_is_a_loud_finding_with_the_call():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.standard_normal((400, 3)), columns=["W", "X", "Y"])
    frame["R"] = np.where(frame["W"] > 0.3, "high", "low")
    (finding,) = (
        cc.discover(frame, context="R", method="pc-ac").diagnose().about("deterministic context")
    )
    assert finding.severity is Severity.WARNING
    assert finding.evidence["call"].startswith('context=cc.threshold("W", 0.')
    frame.loc[0, "R"] = "high" if frame.loc[0, "R"] == "low" else "low"
    assert (
        not cc.discover(frame, context="R", method="pc-ac")
        .diagnose()
        .about("deterministic context")
    )


def test_a_band_is_a_small_tree():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.standard_normal((400, 3)), columns=["W", "X", "Y"])
    frame["R"] = np.where(frame["W"].abs() < 0.5, "near", "far")
    (finding,) = (
        cc.discover(frame, context="R", method="pc-ac").diagnose().about("deterministic context")
    )
    assert len(finding.evidence["cuts"]) == 2
    assert 'cc.bins("W", edges=[' in finding.evidence["call"]


def test_selection_bias_is_audited():
    findings = (
        cc.discover(cc.examples.example_i(3000, 1), context="R", method="pc-ac")
        .diagnose()
        .about("selection bias")
    )
    assert findings[0].evidence["possible causes"] == ("X", "T")
    assert {(f.evidence["x"], f.evidence["y"]) for f in findings[1:]} >= {("X", "T")}


def test_an_exogenous_context_looks_so():
    rng = np.random.default_rng(7)
    r = rng.integers(2, size=2000)
    x, y, z = rng.standard_normal((3, 2000))
    y = y + np.where(r == 1, x, 0.0)
    frame = pd.DataFrame({"X": x, "Y": y, "Z": z + y, "R": r})
    (finding,) = (
        cc.discover(frame, context="R", alpha=0.01, method="pc-ac")
        .diagnose()
        .about("selection bias")
    )
    assert "looks exogenous" in finding.message


def test_overlap_near_misses_and_cycles_are_findings():
    rng = np.random.default_rng(8)
    r = rng.integers(2, size=600)
    x, y, z = rng.standard_normal((3, 600))
    frame = pd.DataFrame({"X": x + 4.0 * r, "Y": y + 0.09 * z, "Z": z, "R": r})
    result = cc.discover(frame, context="R", method="pc-ac")
    assert [f.evidence["column"] for f in result.diagnose().about("overlap")] == ["X"]
    table = cc.examples.soil_moisture(2000, seed=1)
    soil = cc.discover(table, context="soil", test="partial-correlation", method="pc-ac").diagnose()
    assert not soil.about("near miss")
    assert len(soil.about("large cycles")) == 1


def test_doubts_are_reported_by_rule():
    from dataclasses import replace

    from causalcontext.search.family import Doubt

    result = cc.discover(cc.examples.soil_moisture(2000, seed=1), context="soil", method="pc-ac")
    doubtful = replace(result, doubts=(Doubt("V2", 0, 0, 1), Doubt("A1", 0, 0, 1)))
    assert {f.evidence["rule"] for f in doubtful.diagnose().about("assumptions")} == {"V2", "A1"}


def test_a_loaded_result_says_what_it_cannot_check(tmp_path):
    result = cc.discover(cc.examples.example_i(800, 2), context="R", method="pc-ac")
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json").diagnose()
    assert any("not available on a loaded result" in finding.message for finding in again)
    assert not again.about("missing edge")
    assert again.about("selection bias") == result.diagnose().about("selection bias")


@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-p", "pc-b"])
def test_every_method_can_be_diagnosed(method):
    result = cc.discover(cc.examples.soil_moisture(500, seed=2), context="soil", method=method)
    diagnosis = result.diagnose()
    assert list(diagnosis.to_frame().columns) == [
        "topic",
        "severity",
        "message",
        "advice",
        "evidence",
    ]
    assert [f.severity for f in diagnosis] == sorted((f.severity for f in diagnosis), reverse=True)


def test_without_a_context_there_is_nothing_to_compare():
    result = cc.discover(
        cc.examples.soil_moisture(300, seed=2).drop(columns="soil"), method="pc-ac"
    )
    assert topics(result) - {"model"} == {"context"}


def test_minimum_detectable_correlation_is_detected_four_times_in_five():
    rng = np.random.default_rng(9)
    least = minimum_detectable(200, 0, 0.05)
    hits = 0
    for _ in range(400):
        x, e = rng.standard_normal((2, 200))
        y = least * x + np.sqrt(1 - least**2) * e
        hits += abs(np.arctanh(np.corrcoef(x, y)[0, 1])) * np.sqrt(197) > 1.96
    assert 0.72 < hits / 400 < 0.88
    assert minimum_detectable(4, 1, 0.05) == 1.0


@pytest.mark.slow
def test_decisions_by_a_hair_are_rare():
    rng = np.random.default_rng(8)
    r, x = rng.integers(2, size=400), rng.standard_normal(400)
    found = []
    for shift in np.arange(0.0, 0.4, 0.01):
        table = pd.DataFrame({"X": x + shift * r, "Y": rng.standard_normal(400), "R": r})
        result = cc.discover(table, context="R", test="partial-correlation", method="pc-ac")
        found += result.diagnose().about("near miss")[:1]
    assert 0 < len(found) < 15


@pytest.mark.slow
def test_many_contexts_make_few_findings():
    table = proteins(0, "log", 3000)
    found = cc.discover(
        table, "condition", alpha=0.01, test="partial-correlation", max_given=2, method="pc-ac"
    ).diagnose()
    assert len(found.about("overlap")) <= 4
    assert len(found.about("missing edge")) <= 20
    assert str(found).count("\n") < 30
    assert "<table>" in found._repr_html_()


@pytest.mark.slow
def test_contexts_with_enough_rows_are_one_line():
    result = cc.discover(
        proteins(0, "log", 3000),
        "condition",
        test="partial-correlation",
        max_given=1,
        method="pc-ac",
    )
    (finding,) = result.diagnose().about("rows")
    assert finding.severity is Severity.NOTE
    assert [part["rows"] for part in finding.evidence["contexts"]] == list(result.data.rows)
    assert f"from {min(result.data.rows)} rows" in finding.message


def turned(result):
    return [
        f for f in result.diagnose().about("assumptions") if "the other way in others" in f.message
    ]


def test_arrows_that_point_both_ways_are_named():
    """A feedback through the context: X moves Y in one, Y moves X in the other, each with a cause
    of its own.
    """
    rng = np.random.default_rng(3)
    n = 3000
    r, x, y = rng.integers(2, size=n), rng.exponential(size=n), rng.exponential(size=n)
    a, b = rng.standard_normal((2, n))
    x, y = x + a, y + b
    x, y = np.where(r == 1, x + 0.8 * y, x), np.where(r == 0, y + 0.8 * x, y)
    result = cc.discover(
        pd.DataFrame({"A": a, "B": b, "X": x, "Y": y, "R": r}), context="R", method="score-ac"
    )
    (finding,) = turned(result)
    assert finding.evidence["edges"] == ("X - Y",)
    assert "X --> Y in 1 of 2 contexts, Y --> X in 1" in finding.message
    assert finding.severity is Severity.NOTE
    from dataclasses import replace

    doubted = replace(
        result, evidence=replace(result.evidence, contradictions=(("curves", ("X",)),))
    )
    assert [f.severity for f in turned(doubted)] == [Severity.CAUTION]
    assert not turned(cc.discover(cc.examples.soil_moisture(1000, seed=1), context="soil"))


@pytest.mark.slow
def test_a_comparison_with_fci_ac_is_left_out_where_it_would_take_long():
    table = proteins(0, "log", 900)
    result = cc.discover(
        table, "condition", knowledge=cc.Knowledge(roots=["condition"]), method="pc-ac", alpha=0.2
    )
    (finding,) = result.diagnose().about("hidden causes")
    assert "not compared with fci-ac" in finding.message


@pytest.mark.parametrize("method", ["score-ac", "pc-ac"])
def test_with_lags_nothing_is_advised_that_lags_do_not_take(method):
    table = cc.examples.land_surface(400, seed=1)
    told = str(cc.discover(table, context="regime", lags=1, method=method).diagnose())
    assert "not checked with lags" in told
    assert "loaded" not in told
    assert "masked_scope" not in told
