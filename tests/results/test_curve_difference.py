"""How much of a curve shows in another context: the slope by its naive twin, and what may be
claimed by it.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.report.html import stories
from causalcontext.results.curve_difference import robust_slope


def naive_slope(curve, effect, others):
    """The coefficient of the curve, and the larger of the usual and White's HC3 standard error, by
    plain matrices.
    """
    design = np.column_stack([np.ones(len(curve)), curve, *others])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ effect
    left = effect - design @ beta
    usual = inverse * (left @ left) / (len(effect) - design.shape[1])
    leverage = np.array([row @ inverse @ row for row in design])
    middle = sum(
        np.outer(row, row) * (r / (1 - h)) ** 2
        for row, r, h in zip(design, left, leverage, strict=True)
    )
    return beta[1], np.sqrt(max(usual[1, 1], (inverse @ middle @ inverse)[1, 1]))


@pytest.mark.parametrize("seed", range(4))
def test_the_slope_on_a_curve_is_that_of_its_naive_twin(seed):
    rng = np.random.default_rng(seed)
    x, z, w = rng.standard_normal((3, 80)) + 5.0
    curve, noise = (x - 5.0) ** 2, rng.standard_normal(80) * (1.0 + (seed % 2) * np.abs(x - 5.0))
    effect = -0.7 * curve - 2.0 * z + noise + 40.0
    found = robust_slope(curve, effect, [z, w])
    assert (found.value, found.error) == pytest.approx(naive_slope(curve, effect, [z, w]))
    assert found.df == 76
    permuted = robust_slope(curve, effect, [1e6 * w, z, z, np.ones(80)])
    assert (permuted.value, permuted.error) == pytest.approx((found.value, found.error), rel=1e-6)


def test_a_curve_without_spread_or_rows_of_its_own_has_no_slope():
    x = np.linspace(-1.0, 1.0, 50)
    for curve, others in ((np.ones(50), []), (x, [x]), (x[:5], [x[:5] ** 2]), (x[:0], [x[:0]])):
        assert np.isnan(robust_slope(curve, x[: len(curve)], others).value)


def curved_table(seed, rows=800, there=0.0, spread=1.0, noise=0.7):
    """Y is a square of X in context a, `there` times that in b; C causes X, R is a coin that shifts
    Y.

    In b X has another spread, and Y another noise.
    """
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 2, rows)
    cause = rng.standard_normal(rows)
    x = np.where(code == 1, spread, 1.0) * (0.8 * cause + rng.standard_normal(rows))
    size = np.where(code == 0, 1.0, there)
    y = size * x**2 + 0.5 * code + np.where(code == 1, noise, 0.7) * rng.standard_normal(rows)
    return pd.DataFrame({"C": cause, "X": x, "Y": y, "R": np.array(["a", "b"])[code]})


@pytest.mark.parametrize("seed", range(3))
def test_a_curve_that_one_context_lacks_is_claimed(seed, tmp_path):
    result = cc.discover(curved_table(seed), "R", method="score-ac")
    assert result.evidence.curved
    row = result.changes("a", "b").set_index(["source", "target"]).loc[("X", "Y")]
    assert row["claimed"]
    assert row["effect_present"] == pytest.approx(1.0, abs=0.15)
    assert row["effect_absent"] == pytest.approx(0.0, abs=0.15)
    assert all(" of its curve remains in " in story.slopes for story in stories(result))
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json").changes("a", "b")
    assert again.loc[again["claimed"], ["source", "target"]].to_numpy().tolist() == [["X", "Y"]]


def test_a_curve_is_not_claimed_to_be_missing_where_its_values_are():
    """In b X hardly varies around the flat part of its square: the link is not seen there, and not
    denied.

    What moves X less there is a change, and C --> X, a straight line, one of its slope.
    """
    listed = 0
    for seed in range(4):
        result = cc.discover(
            curved_table(seed, there=1.0, spread=0.15, noise=2.0), "R", method="score-ac"
        )
        found = result.changes("a", "b")
        listed += len(found)
        claimed = {(row.target, row.kind) for row in found.itertuples() if row.claimed}
        assert claimed <= {("X", "spread"), ("X", "slope")}
    assert listed > 0


def test_a_curve_that_both_contexts_have_is_not_claimed():
    result = cc.discover(curved_table(3, there=1.0), "R", method="score-ac")
    assert not result.changes("a", "b")["claimed"].any()


def test_no_claims_where_residuals_say_that_the_model_is_wrong(monkeypatch):
    monkeypatch.setattr(
        "causalcontext.score.explore._uneven", lambda even, effort: even
    )  # as if no scale fitted
    table = curved_table(6, rows=1500)
    rng = np.random.default_rng(9)
    table["C2"] = rng.standard_normal(len(table))
    table["D"] = table["C2"] + np.exp(table["C2"]) * rng.standard_normal(len(table))
    elsewhere = cc.discover(table, "R", method="score-ac")
    assert {column for _, columns in elsewhere.evidence.contradictions for column in columns} == {
        "C2",
        "D",
    }
    assert elsewhere.changes("a", "b").set_index(["source", "target"]).loc[("X", "Y"), "claimed"]
    at_y = replace(elsewhere.evidence, contradictions=(("uneven spread", ("D", "Y")),))
    found = replace(elsewhere, evidence=at_y).changes("a", "b").set_index(["source", "target"])
    assert not found["claimed"].any()
    assert "the model is wrong (noise is not constant at Y)" in found.loc[("X", "Y"), "reason"]


def table_with_a_category(seed, rows=600, there=0.0):
    """K shifts Y in context a, `there` times as much in b, and X moves it in a alone; all else is
    straight.
    """
    rng = np.random.default_rng(seed)
    code, kind = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    x = rng.standard_normal(rows)
    size = np.where(code == 0, 1.0, there)
    y = (
        size * np.array([-1.5, 0.0, 1.5])[kind]
        + np.where(code == 0, 1.0, 0.0) * x
        + rng.standard_normal(rows)
    )
    kinds = np.array(["red", "green", "blue"], dtype=object)[kind]
    return pd.DataFrame({"K": kinds, "X": x, "Y": y, "R": np.array(["a", "b"])[code]})


@pytest.mark.parametrize("seed", range(2))
def test_a_category_that_matters_in_one_context_is_claimed_and_so_is_what_stands_beside_it(
    seed, tmp_path
):
    known = cc.Knowledge(tiers=[["K", "X"], ["Y"]], roots=["R"])
    result = cc.discover(table_with_a_category(seed), "R", method="score-ac", knowledge=known)
    assert not result.evidence.curved
    rows = result.changes("a", "b")
    assert {(row.source, row.target) for row in rows.itertuples() if row.claimed} == {
        ("K", "Y"),
        ("X", "Y"),
    }
    assert rows["effect_absent"].abs().max() < 0.25
    assert any(" of its effect remains in " in story.slopes for story in stories(result))
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json").changes("a", "b")
    pairs = ["source", "target"]
    assert again.loc[again["claimed"], pairs].sort_values(pairs).to_numpy().tolist() == [
        ["K", "Y"],
        ["X", "Y"],
    ]


def test_a_category_that_matters_everywhere_is_not_claimed():
    known = cc.Knowledge(tiers=[["K", "X"], ["Y"]], roots=["R"])
    for seed in range(3):
        result = cc.discover(
            table_with_a_category(seed, there=1.0), "R", method="score-ac", knowledge=known
        )
        found = result.changes("a", "b")
        assert "K" not in set(found.loc[found["claimed"], "source"])
