"""Levels and spreads that a context changes: naive twins, level and power, with lags, in words and
from a file.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import causalcontext as cc
from causalcontext.report.html import answer
from causalcontext.results.levels_and_spreads import level, spread


def table(seed, what, rows=500, endogenous=False, noise="normal"):
    """X and W cause Y, which causes Z; the context R changes the level of Y, the spread of its
    noise, or nothing.
    """
    g = np.random.default_rng([seed, 3])
    x, w, late, soft = g.normal(size=(4, rows))
    b = x + soft > 0.0 if endogenous else g.random(rows) < 0.5
    own = g.standard_t(4, rows) / np.sqrt(2.0) if noise == "heavy" else g.normal(size=rows)
    grows = (
        np.exp(0.6 * x) if what == "cause" else np.where(b, 2.0, 1.0) if what == "spread" else 1.0
    )
    y = x - w + own * grows + (1.2 * b if what == "level" else 0.0)
    return pd.DataFrame(
        {"X": x, "W": w, "Y": 50.0 + 3.0 * y, "Z": y + late, "R": np.where(b, "b", "a")}
    )


def claims(found):
    return {(row.source, row.target, row.kind) for row in found.itertuples() if row.claimed}


def naive_error(column, design, left):
    """The larger of the usual and White's (HC3) standard error of the last coefficient of a
    regression.
    """
    inverse = np.linalg.inv(design.T @ design)
    usual = np.sqrt(left @ left / (len(left) - design.shape[1]) * inverse[column, column])
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    middle = design.T @ np.diag((left / (1.0 - leverage)) ** 2) @ design
    return max(usual, np.sqrt((inverse @ middle @ inverse)[column, column]))


def test_no_level_is_claimed_of_what_may_be_a_cause_of_the_context():
    """A has no cause but R, so that the shape of its noise alone tells the direction; Y of `table`
    has others.
    """
    g = np.random.default_rng(15)
    b = g.random(800) < 0.5
    a = 2.0 * b + g.normal(size=800)
    alone = pd.DataFrame({"A": a, "C": a + g.normal(size=800), "R": np.where(b, "b", "a")})
    first = cc.Knowledge(forbidden=[("A", "R")])
    for rows, effect, known, kept in (
        (alone, "A", None, False),
        (alone, "A", first, True),
        (table(1, "level"), "Y", None, True),
    ):
        found = cc.discover(rows, "R", method="score-ac", knowledge=known).changes("a", "b")
        assert (("R", effect, "level") in claims(found)) == kept
        assert found["reason"].str.startswith(f"{effect} may be a cause of R").any() != kept


def test_levels_of_many_contexts_and_of_thresholds_are_claimed():
    g = np.random.default_rng(0)
    a, d, own, noise = g.normal(size=(4, 2400))
    r = g.integers(0, 6, 2400)
    b = 0.5 * d + own
    for moves, context, two in (
        (r % 2, "R", (0, 1)),
        (a > 0.3, cc.threshold("A", 0.3), ("<= 0.3", "> 0.3")),
    ):
        rows = pd.DataFrame({"A": a, "B": b, "C": 0.8 * b + 0.6 * d + 3.0 * moves + noise, "D": d})
        rows = rows.assign(R=r) if context == "R" else rows
        found = cc.discover(rows, context, method="score-ac").changes(*two)
        assert "C" in {
            row.target for row in found.itertuples() if row.claimed and row.kind == "level"
        }


def test_no_spread_is_claimed_of_what_may_be_a_cause_of_the_context():
    """Rows with one value of R have less of the spread of its cause A; the search has the link
    turned round here.
    """
    g = np.random.default_rng(0)
    a = g.lognormal(size=400)
    b = a + g.normal(size=400) > 1.0
    result = cc.discover(
        pd.DataFrame({"A": a, "C": a + g.normal(size=400), "R": np.where(b, "b", "a")}), "R"
    )
    found = result.changes("a", "b")
    assert result.union.mark("R", "A") == "-->"
    assert found[found["kind"] == "spread"]["reason"].str.startswith("A may be a cause of R").all()
    assert not claims(found)


@pytest.mark.parametrize("seed", range(3))
def test_the_difference_of_levels_is_that_of_a_naive_regression(seed):
    rows = table(seed, "level", 200, endogenous=True)
    y, there = rows["Y"].to_numpy(), (rows["R"] == "b").to_numpy()
    others = [rows["X"].to_numpy(), rows["W"].to_numpy()]
    design = np.column_stack([np.ones(200), there, *others])
    slopes = np.linalg.lstsq(design, y, rcond=None)[0]
    found = level(y, others, there)
    assert found.second - found.first == pytest.approx(slopes[1])
    average = slopes[0] + slopes[2:] @ [each.mean() for each in others]
    assert found.first == pytest.approx(average)
    t = slopes[1] / naive_error(1, design, y - design @ slopes)
    assert found.p == pytest.approx(2.0 * scipy.stats.t.sf(abs(t), 196), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_difference_of_spreads_is_that_of_brown_and_forsythe_or_larger(seed):
    rows = table(seed, "none", 200)
    y, there = rows["Y"].to_numpy(), (rows["R"] == "b").to_numpy()
    others = [rows["X"].to_numpy(), rows["W"].to_numpy()]
    left = np.empty(200)
    for some in (there, ~there):
        design = np.column_stack([np.ones(200), *others])[some]
        rest = y[some] - design @ np.linalg.lstsq(design, y[some], rcond=None)[0]
        left[some] = rest * np.sqrt(some.sum() / (some.sum() - 3))
    found = spread(y, others, there, np.zeros(200), [])
    assert (found.first, found.second) == pytest.approx((left[~there].std(), left[there].std()))
    sizes = np.where(there, abs(left - np.median(left[there])), abs(left - np.median(left[~there])))
    plain = np.column_stack([np.ones(200), there])
    slopes = np.linalg.lstsq(plain, sizes, rcond=None)[0]
    t = slopes[1] / naive_error(1, plain, sizes - plain @ slopes)
    assert found.p == pytest.approx(2.0 * scipy.stats.t.sf(abs(t), 198), rel=1e-6)
    assert found.p >= scipy.stats.levene(left[there], left[~there], center="median").pvalue * (
        1.0 - 1e-9
    )


@pytest.mark.parametrize("method", ["score-ac", "pc-ac"])
@pytest.mark.parametrize(("what", "size"), [("level", 3.6), ("spread", 2.0)])
def test_what_a_context_changes_is_claimed_and_nothing_else(what, size, method):
    result = cc.discover(table(1, what, 800), "R", method=method)
    result.second_opinion()
    found = result.changes("a", "b")
    assert claims(found) == {("R", "Y", what)}
    row = found[found["kind"] == what].iloc[0]
    assert row["difference"] == pytest.approx(size, rel=0.25)
    assert (row["mark"], row["present"], row["absent"]) == ("-->", "a", "b")


def test_it_is_said_in_words_and_a_file_keeps_it(tmp_path):
    for what, words in (
        ("level", "R changes the level of Y"),
        ("spread", "R changes the spread of the noise of Y"),
    ):
        result = cc.discover(table(1, what, 800), "R", method="score-ac")
        assert words in result.explain("R", "Y")
        assert words in answer(result, [])
        result.save(tmp_path / "result.json")
        loaded = cc.load(tmp_path / "result.json")
        assert claims(loaded.changes("a", "b")) == {("R", "Y", what)}
        assert claims(loaded.changes("b", "a")) == {("R", "Y", what)}


def test_a_level_in_normal_scores_is_called_one():
    rows = table(1, "level", 800)
    plain, ranked = (
        cc.discover(rows, "R", method="score-ac", transform=transform)
        for transform in ("none", "ranks")
    )
    assert "normal scores" not in plain.explain("R", "Y")
    assert "the level of Y: in normal scores, with its causes" in ranked.explain("R", "Y")


def test_with_several_contexts_the_source_is_the_one_that_differs():
    g = np.random.default_rng(5)
    r, s, x, own = (
        g.integers(0, 2, 1200),
        g.integers(0, 2, 1200),
        g.normal(size=1200),
        g.normal(size=1200),
    )
    rows = pd.DataFrame(
        {"X": x, "Y": x + own * np.where(s == 1, 2.2, 1.0) + 1.5 * r, "R": r, "S": s}
    )
    result = cc.discover(rows, ["R", "S"], method="score-ac")
    assert claims(result.changes((0, 0), (1, 0))) == {("R", "Y", "level")}
    assert claims(result.changes((0, 0), (0, 1))) == {("S", "Y", "spread")}


def test_of_the_other_order_of_contexts_the_ratio_is_the_inverse():
    result = cc.discover(table(2, "spread", 800), "R", method="score-ac")
    there, back = (
        result.changes(*pair).set_index("kind").loc["spread"] for pair in (("a", "b"), ("b", "a"))
    )
    assert there["difference"] == pytest.approx(1.0 / back["difference"])
    assert there["p"] == pytest.approx(back["p"])


@pytest.mark.parametrize("what", ["level", "spread"])
def test_with_lags_it_is_the_same(what):
    g = np.random.default_rng(7)
    x, y, noise = np.zeros(900), np.zeros(900), g.normal(size=(2, 900))
    b = np.repeat(g.random(90) < 0.5, 10)
    for t in range(1, 900):
        x[t] = 0.5 * x[t - 1] + noise[0, t]
        y[t] = (
            0.4 * y[t - 1]
            + 0.8 * x[t - 1]
            + noise[1, t] * (2.0 if b[t] and what == "spread" else 1.0)
        )
        y[t] += 1.5 * (b[t] and what == "level")
    result = cc.discover(
        pd.DataFrame({"X": x, "Y": y, "R": np.where(b, "b", "a")}), "R", lags=1, method="score-ac"
    )
    assert {(target, kind) for _, target, kind in claims(result.changes("a", "b"))} == {("Y", what)}


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["normal", "heavy"])
def test_level_and_power(noise):
    wrong, right = 0, dict.fromkeys(("level", "spread"), 0)
    for seed in range(20):
        for what in ("none", "cause", "level", "spread"):
            rows = table(seed, what, 500, endogenous=seed % 2 == 1, noise=noise)
            found = claims(cc.discover(rows, "R", method="score-ac").changes("a", "b"))
            true = {("R", "Y", what)} & found
            wrong += bool(found - true)
            if what in right:
                right[what] += bool(true)
    assert wrong <= 4
    assert right["level"] >= 10  # where X causes R as well, margins are small
    assert right["spread"] >= 10


@pytest.mark.parametrize("off", [0.0, 60.0, 1e6 / 3.0])
def test_a_constant_has_no_spread_to_compare(off):
    """A device that is off in one context: a warning says so, and it is no change of noise."""
    rng = np.random.default_rng(8)
    wet = rng.random(600) < 0.5
    x = rng.standard_normal(600) + wet
    table = pd.DataFrame(
        {"x": x, "y": 0.8 * x + rng.standard_normal(600), "soil": np.where(wet, "wet", "dry")}
    )
    known = cc.Knowledge(tiers=[["soil"], ["x", "y", "device"]])
    for quiet, claimed in ((0.3 * rng.standard_normal(600), True), (np.zeros(600), False)):
        device = off + np.where(wet, rng.standard_normal(600), quiet)
        result = cc.discover(table.assign(device=device), "soil", knowledge=known)
        changes = result.changes("dry", "wet")
        spreads = changes[(changes["kind"] == "spread") & changes["claimed"]]
        assert list(spreads["target"]) == ["device"] * claimed
        assert any("device is the same" in text for text in result.warnings) is not claimed
