"""What differs between contexts: slopes and their comparison against naive twins, labels,
claims.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
import naive
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.graphs.graph import Graph
from causalcontext.results.changes import false_discovery
from causalcontext.results.kept import answers_of
from causalcontext.results.slope_fits import RowFits
from causalcontext.results.slopes import Slope, heterogeneity, slope
from questions import violations_of


def table(seed: int, sizes=(300, 80, 40)) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    values = rng.standard_normal((n, 4)) @ rng.uniform(-1, 1, (4, 4)) + 7.0
    frame = pd.DataFrame(values, columns=list("ABCD"))
    return frame.assign(R=np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("given", [(), (2,), (2, 3)])
def test_slopes_and_their_comparison_are_the_naive_ones(seed, given):
    frame = table(seed)
    data = read_table(frame, "R")
    moments = gather_statistics(data).of_columns(data)
    twins = [
        naive.regression_slope(part[list("ABCD")].to_numpy(), 0, 1, given)
        for _, part in frame.groupby("R")
    ]
    found = [slope(moments, r, 0, 1, given) for r in range(3)]
    for mine, (value, error) in zip(found, twins, strict=True):
        assert (mine.value, mine.error) == pytest.approx((value, error), rel=1e-8)
    q, p = heterogeneity(found)
    assert q == pytest.approx(naive.heterogeneity(twins), rel=1e-8)
    assert p == pytest.approx(stats.chi2.sf(q, 2), rel=1e-8)
    q, p = heterogeneity(found[:2])
    assert q == pytest.approx(naive.heterogeneity(twins[:2]), rel=1e-8)
    assert p > stats.chi2.sf(q, 1)  # Student's tails: standard errors are estimates


@pytest.mark.parametrize("seed", range(3))
def test_two_contexts_side_by_side_are_the_naive_ones(seed):
    frame = table(seed)
    result = cc.discover(frame, context="R", method="pc-ac")
    fits = RowFits(result)
    parts = [frame.loc[frame["R"] == level, list("ABCD")].to_numpy() for level in (2, 0)]
    for mine, part in zip(fits.slopes(3, 1, (0,), (2, 0)), parts, strict=True):
        value, error = naive.regression_slope(part, 3, 1, (0,))
        assert (mine.value, mine.error) == pytest.approx((value, error), rel=1e-8)
        assert mine.p == pytest.approx(2 * stats.t.sf(abs(value / error), len(part) - 3), rel=1e-7)
    rows = frame[frame["R"] != 1]
    twin = naive.context_change(rows[list("ABCD")].to_numpy(), rows["R"].to_numpy(), 1, (0, 3))
    assert fits.unchanged(1, (0, 3), (2, 0)) == pytest.approx(twin[-1], rel=1e-6)


def test_no_changes_are_a_table_of_the_same_types():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((300, 3)), columns=list("ABC")).assign(
        R=rng.integers(2, size=300)
    )
    found = cc.discover(frame, context="R", alpha=0.001, method="pc-ac").changes(0, 1)
    assert len(found) == 0
    assert found["claimed"].dtype == bool


def test_slopes_that_cannot_be_computed_are_not_numbers():
    frame = table(1, sizes=(50, 5, 40))
    frame.loc[frame["R"] == 2, "A"] = 3.0
    data = read_table(frame, "R")
    moments = gather_statistics(data).of_columns(data)
    assert np.isfinite(slope(moments, 0, 0, 1, ()).value)
    assert np.isnan(slope(moments, 1, 0, 1, ()).value)
    assert np.isnan(slope(moments, 2, 0, 1, ()).value)
    assert np.isnan(heterogeneity([slope(moments, r, 0, 1, ()) for r in (1, 2)])[1])


@pytest.mark.parametrize("seed", range(5))
def test_false_discovery_control_is_the_naive_one(seed):
    p = np.random.default_rng(seed).uniform(size=9) ** 3
    assert false_discovery(p) == pytest.approx(naive.benjamini_hochberg(p.tolist()))
    holes = np.insert(p, 4, np.nan)
    assert np.delete(false_discovery(holes), 4) == pytest.approx(
        naive.benjamini_hochberg(p.tolist())
    )
    assert false_discovery([]).size == 0
    of_all = naive.benjamini_hochberg([*p.tolist(), *[1.0] * 12])[:9]
    assert false_discovery(p, of=21) == pytest.approx(
        of_all
    )  # what was not picked would have had a p-value of 1


@pytest.fixture(scope="module")
def soil():
    result = cc.discover(
        cc.examples.soil_moisture(2000, seed=1), context="soil", alpha=0.01, method="pc-ac"
    )
    result.second_opinion()
    return result


def test_true_changes_are_claimed_with_their_effect(soil):
    found = soil.changes("dry", "wet").set_index(["source", "target"])
    taken_up = found.loc["precipitation", "evapotranspiration"]
    assert taken_up["claimed"]
    assert (taken_up["present"], taken_up["absent"]) == ("dry", "wet")
    assert taken_up["effect_present"] == pytest.approx(0.9, abs=0.1)
    assert taken_up["effect_absent"] == pytest.approx(0.0, abs=0.1)
    assert found.loc["precipitation", "runoff"]["claimed"]
    assert set(found.index[found["claimed"]]) == {
        ("precipitation", "evapotranspiration"),
        ("precipitation", "runoff"),
    }
    mirrored = soil.changes("wet", "dry").set_index(["source", "target"])
    assert mirrored.loc[found.index, "p"].equals(found["p"])


def test_labels_have_three_values(soil):
    found = soil.labels().set_index(["source", "target", "context"])["label"]
    assert found["precipitation", "runoff", "wet"] == "present"
    assert found["precipitation", "runoff", "dry"] == "absent"
    few = cc.discover(
        cc.examples.soil_moisture(150, seed=3), context="soil", alpha=0.001, method="pc-ac"
    ).labels()
    missing = few[few["label"] != "present"]
    assert set(missing["label"]) == {
        "undetermined"
    }  # about 75 rows a context cannot show an absence
    assert set(soil.labels(negligible=0.9)["label"]) == {"present", "absent"}


def test_changes_of_a_loaded_result_are_the_same(soil, tmp_path):
    soil.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    pd.testing.assert_frame_equal(again.changes("dry", "wet"), soil.changes("dry", "wet"))
    pd.testing.assert_frame_equal(again.labels(), soil.labels())


def test_questions_that_make_no_sense_get_one_sentence(soil):
    with pytest.raises(
        cc.OptionError, match="there is no context 'moist' \\(expected one of 'dry', 'wet'\\)"
    ):
        soil.changes("dry", "moist")
    with pytest.raises(cc.OptionError, match="two different contexts"):
        soil.changes("dry", "dry")
    with pytest.raises(cc.OptionError, match="only one graph"):
        cc.discover(
            cc.examples.soil_moisture(200, seed=1).drop(columns="soil"), method="pc-ac"
        ).labels()


def test_a_cause_whose_variance_changes_is_not_a_change_of_its_effect():
    """The correlation of x and y moves with the variance of x; the slope does not."""
    claims = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        w, x, y = rng.standard_normal((3, 1100))
        r = (w > np.quantile(w, 10 / 11)).astype(int)
        x = w + np.where(r == 1, 0.05, 1.0) * x
        frame = pd.DataFrame({"W": w, "X": x, "Y": 0.4 * x + y, "R": r})
        claims += int(
            cc.discover(frame, context="R", method="pc-ac").changes(0, 1)["claimed"].sum()
        )
    assert claims <= 1


def two_contexts(
    seed: int, rows: tuple[int, int] = (1000, 100)
) -> tuple[np.random.Generator, np.ndarray]:
    return np.random.default_rng(seed), np.repeat([0, 1], rows)


def test_an_edge_that_shows_where_it_was_not_found_is_another_slope():
    """The slope is larger in 0 than in 1, and clearly there in both: nothing was removed, and the
    slope changes.
    """
    rng, r = two_contexts(1)
    x, y = rng.standard_normal((2, len(r)))
    frame = pd.DataFrame({"X": x, "Y": y + np.where(r == 0, 2.0, 0.8) * x, "R": r})
    known = cc.Knowledge(required=[("X", "Y")])
    result = cc.discover(frame, context="R", knowledge=known, method="pc-ac")
    without = Graph.from_edges(result.names, [("R", "Y", "-->")])
    cut = replace(result, graphs={0: result.graphs[0], 1: without})
    cut.second_opinion()
    row = cut.changes(0, 1).iloc[0]
    assert row["p"] < 1e-6
    assert (row["kind"], row["reason"], row["claimed"]) == (
        "slope",
        "",
        True,
    )  # score-ac says so, too


@pytest.mark.parametrize(("factor", "claimed"), [(0.5, True), (1.0, False)])
def test_a_slope_that_halves_is_a_change(factor, claimed):
    """Far from 0, negative, beside a context that is an effect."""
    right = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        u, x, e, f, g = rng.standard_normal((5, 1500))
        r = np.where(u + 0.7 * g > 0, "a", "b")
        y = 40.0 - np.where(r == "a", 1.0, factor) * x + 0.5 * u + e
        frame = pd.DataFrame({"U": u, "X": x + 9.0, "Y": y, "W": f - y, "R": r})
        found = cc.discover(frame, "R").changes("a", "b")
        made = found.loc[found["claimed"], ["source", "target", "kind"]].to_numpy().tolist()
        right += made == ([["X", "Y", "slope"]] if claimed else [])
    assert right >= 4


def test_a_change_that_the_other_direction_explains_is_not_claimed():
    """Y --> X, and the context changes the variance of Y alone: drawn as X --> Y, it looks like a
    change.
    """
    claimed = doubted = 0
    for seed in range(10):
        rng, r = two_contexts(seed)
        x, y = rng.standard_normal((2, len(r)))
        y = y * np.where(r == 0, 1.0, 0.05)
        frame = pd.DataFrame({"X": y + x, "Y": y, "R": r})
        known = cc.Knowledge(required=[("X", "Y"), ("R", "Y")])
        result = cc.discover(frame, context="R", knowledge=known, method="pc-ac")
        without = Graph.from_edges(result.names, [("R", "Y", "-->")])
        found = replace(result, graphs={0: result.graphs[0], 1: without}).changes(0, 1).iloc[0]
        claimed += bool(found["claimed"])
        doubted += found["reason"] == "no change if the edge has the other direction"
    assert claimed <= 1
    assert doubted >= 8


def test_claims_on_graphs_of_a_score_find_the_removed_link_alone():
    claims = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        w, x, y, z = rng.standard_normal((4, 2100))
        r = (w + 0.2 * rng.standard_normal(2100) > 1.67).astype(int)
        y = y + np.where(r == 0, 1.5, 0.0) * x
        frame = pd.DataFrame({"W": w, "X": x, "Y": y, "Z": z + 1.2 * y, "R": r})
        result = cc.discover(frame, context="R", method="score-ac")
        found = result.changes(0, 1)
        claims += (
            found.loc[found["claimed"], ["source", "target"]].apply(frozenset, axis=1).tolist()
        )
        labels = result.labels().set_index(["source", "target", "context"])["label"]
        assert labels["Y", "Z", 0] == labels["Y", "Z", 1] == "present"
    assert claims == [frozenset("XY")] * 5


def switched(seed: int, rows: int = 600) -> pd.DataFrame:
    """X causes Y in one context only, and Z in both; the context is a coin."""
    rng = np.random.default_rng(seed)
    coin = rng.integers(0, 2, rows)
    x = rng.standard_normal(rows)
    y = 1.2 * coin * x + rng.standard_normal(rows)
    return pd.DataFrame(
        {"X": x, "Y": y, "Z": x + rng.standard_normal(rows), "R": np.where(coin == 1, "on", "off")}
    )


def test_what_both_engines_find_is_claimed():
    for method in ("pc-ac", "score-ac"):
        result = cc.discover(switched(0), "R", method=method)
        result.second_opinion()
        found = result.changes("on", "off").set_index(["source", "target"])
        assert found.loc[("X", "Y"), ["claimed", "status", "reason"]].tolist() == [
            True,
            "claimed",
            "",
        ]


def test_a_claim_that_the_score_does_not_make_is_a_candidate():
    result = cc.discover(switched(0), "R", method="pc-ac")
    other = result.second_opinion()
    assert other.settings.method == "score-ac"
    same = dict.fromkeys(result.contexts, other.graphs["on"])
    answers_of(result).opinion = replace(other, graphs=same)
    row = result.changes("on", "off").set_index(["source", "target"]).loc["X", "Y"]
    assert (row["claimed"], row["status"], row["reason"]) == (
        False,
        "candidate",
        "score-ac does not confirm it",
    )
    assert row["q"] < 0.05


def test_nothing_is_claimed_where_the_model_is_wrong():
    """Tests of straight lines meet a curve; where it is no part of what is compared, the change is
    claimed.
    """
    rng = np.random.default_rng(1)
    table = switched(1).assign(Z=lambda t: 2.0 * np.abs(t.X) + 0.3 * rng.standard_normal(len(t)))
    curved = cc.discover(table, "R", method="score-ac").changes("on", "off")
    assert curved.loc[curved["claimed"], ["source", "target"]].to_numpy().tolist() == [["X", "Y"]]
    by_tests = cc.discover(table, "R", method="pc-ac")
    by_tests.second_opinion()
    elsewhere = by_tests.changes("on", "off")
    assert elsewhere.loc[elsewhere["claimed"], ["source", "target"]].to_numpy().tolist() == [
        ["X", "Y"]
    ]
    result = cc.discover(
        switched(1).assign(Y=lambda t: t.Y + 2.0 * np.abs(t.X)), "R", method="pc-ac"
    )
    assert any(
        violation.kind == "curves" and "Y" in violation.columns
        for violation in violations_of(result)
    )
    result.second_opinion()
    found = result.changes("on", "off")
    assert not found["claimed"].any()
    assert found.loc[found["kind"] == "edge", "reason"].str.len().gt(0).all()
    assert set(found["status"]) <= {"candidate"}


def test_a_file_keeps_what_was_confirmed(tmp_path):
    result = cc.discover(switched(2), "R", method="pc-ac")
    result.second_opinion()
    result.save(tmp_path / "result.json")
    loaded = cc.load(tmp_path / "result.json")
    assert answers_of(loaded).claims == (("X", "Y", "on", "off"),)
    pd.testing.assert_frame_equal(loaded.changes("on", "off"), result.changes("on", "off"))


def test_a_cause_that_is_an_effect_in_the_other_context_does_not_bend_slopes():
    """A -> B by 1 in both contexts; X -> B in the one, B -> X in the other."""
    rng = np.random.default_rng(7)
    r, (a, b, x) = rng.integers(0, 2, 2000), rng.exponential(size=(3, 2000)) - 1.0
    turned = r == 1
    b = b + a + np.where(turned, 0.0, x)
    result = cc.discover(
        pd.DataFrame({"A": a, "B": b, "X": x + np.where(turned, 1.2 * b, 0.0), "R": r}), "R"
    )
    assert result.graphs[0].mark("X", "B") == "-->"
    assert result.graphs[1].mark("B", "X") == "-->"
    places = [result.position(name) for name in "ABX"]
    slopes = RowFits(result).slopes(places[0], places[1], (places[2],), (0, 1))
    assert [slope.value for slope in slopes] == pytest.approx([1.0, 1.0], abs=0.1)


def test_equations_differ_between_the_contexts_that_do_not_share_them():
    rng = np.random.default_rng(14)
    r, (x, y) = rng.integers(0, 3, 900), rng.standard_normal((2, 900))
    result = cc.discover(
        pd.DataFrame({"X": x, "Y": y + (r == 2) * x, "R": r}), "R", method="score-ac"
    )
    model, (x, y) = result.evidence.mechanisms, (result.position(name) for name in "XY")
    assert [model.differs(y, a, b) for a, b in ((0, 1), (0, 2), (2, 1))] == [False, True, True]
    assert not any(model.differs(x, a, b) for a, b in ((0, 1), (0, 2)))


def claimed_links(table):
    """What is claimed about edges and slopes, by the names of the ends."""
    found = cc.discover(table, "R").changes(0, 1)
    found = found[found["claimed"] & found["kind"].isin(["edge", "slope"])]
    return {frozenset(pair) for pair in zip(found["source"], found["target"], strict=True)}


def test_no_slope_is_claimed_that_a_turned_link_explains():
    """A -> B and A -> C in both contexts; B -> C in the one, C -> B in the other: lines cannot tell
    the direction.
    """
    rng = np.random.default_rng(11)
    r, (a, b, c) = rng.integers(0, 2, 2000), rng.standard_normal((3, 2000))
    early_b, early_c = a + b, 0.7 * a + c
    turned = r == 1
    table = pd.DataFrame(
        {
            "A": a,
            "B": np.where(turned, early_b + 0.9 * early_c, early_b),
            "C": np.where(turned, early_c, early_c + 0.9 * early_b),
            "R": r,
        }
    )
    assert claimed_links(table) <= {frozenset("BC")}


def test_no_edge_is_claimed_between_two_causes_of_what_is_taken_for_their_cause():
    """C -> E in both contexts, B -> E in the one and E -> B in the other: B and C are never
    linked.
    """
    for seed in range(5):
        rng = np.random.default_rng([12, seed])
        r, (b, c, e) = rng.integers(0, 2, 500), rng.standard_normal((3, 500))
        turned = r == 1
        e = np.where(turned, e - c, e - c + b)
        table = pd.DataFrame({"B": np.where(turned, b + 0.9 * e, b), "C": c, "E": e, "R": r})
        assert frozenset("BC") not in claimed_links(table)


def test_a_slope_that_changes_beside_another_change_is_claimed():
    """A -> B changes its slope from 1 to 0.3, and B -> C is in one context alone."""
    rng = np.random.default_rng(13)
    r, (a, b, c) = rng.integers(0, 2, 2000), rng.standard_normal((3, 2000))
    b = b + np.where(r == 1, 0.3 * a, a)
    assert claimed_links(pd.DataFrame({"A": a, "B": b, "C": c + r * b, "R": r})) == {
        frozenset("AB"),
        frozenset("BC"),
    }


def test_nothing_is_claimed_where_the_past_beyond_the_lags_still_tells_something():
    rng = np.random.default_rng(8)
    x, y, r = np.zeros(600), np.zeros(600), rng.integers(0, 2, 600)
    for t in range(1, 600):
        x[t] = 0.3 * x[t - 1] + rng.standard_normal()
        y[t] = r[t] * x[t - 1] + rng.standard_normal()
    result = cc.discover(pd.DataFrame({"X": x, "Y": y, "R": r}), "R", lags=1, method="score-ac")
    assert result.changes(0, 1)["claimed"].any()
    alarmed = replace(result, series=replace(result.series, beyond_lags=1e-6))
    violations_of(alarmed)
    assert not alarmed.changes(0, 1)["claimed"].any()
    assert alarmed.changes(0, 1)["reason"].str.contains("too few").any()


@pytest.mark.filterwarnings("error")
def test_a_slope_without_an_error_is_compared_with_nothing():
    """A column that others determine in a context; dividing by its error of 0 was a warning."""
    exact, other = Slope(1.0, 0.0, 1.0, 20), Slope(0.5, 0.1, 0.7, 30)
    assert np.isnan(heterogeneity((exact, other))).all()
    assert np.isnan(heterogeneity((exact, exact))).all()
