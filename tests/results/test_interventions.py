"""What happens if a context or a variable is set: against naive means, and against simulated interventions."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from test_effects import GRAPH, NAMES, graphs, one, table

import causalcontext as cc
import naive_effects as naive
from causalcontext.simulate.examples import soil_moisture_model


@pytest.fixture(scope="module")
def rows():
    return table(seed=3)


@pytest.fixture(scope="module")
def result(rows):
    return cc.discover(rows, context="R", method="pc-ac").with_graphs(graphs(GRAPH))


def means_and_fits(rows, errors=True):
    return rows.drop(columns="R").mean(), naive.mechanisms(rows, GRAPH, errors)


def test_setting_the_context_gives_the_naive_difference(rows, result):
    means, fits = means_and_fits(rows)
    for y in ("B", "Y", "X"):
        row = one(result.effects("R", y), context="wet", versus="dry")
        wanted = naive.mean_under(fits, GRAPH, "wet", y, means) - naive.mean_under(fits, GRAPH, "dry", y, means)
        assert row["effect"] == pytest.approx(wanted, rel=1e-6, abs=1e-9)
    assert set(result.effects("R")["y"]) == {"B", "Y"}


def test_setting_a_variable_gives_the_naive_means(rows, result):
    means, fits = means_and_fits(rows)
    found = result.predict_intervention({"X": 101.5})
    assert set(found["variable"]) == {"B", "Y"}
    for row in found.to_dict("records"):
        wanted = naive.mean_under(fits, GRAPH, row["context"], row["variable"], means, {"X": 101.5})
        assert row["mean"] == pytest.approx(wanted, rel=1e-9)
        assert row["now"] == pytest.approx(rows.loc[rows["R"] == row["context"], row["variable"]].mean())
        assert row["low"] < row["mean"] < row["high"]
    inside = one(result.predict_intervention({"X": 101.5}, "wet", among="context"), variable="Y")
    wet = rows[rows["R"] == "wet"]
    slope = naive.total_effect(fits, GRAPH, "wet", "X", "Y")
    assert inside["mean"] == pytest.approx(wet["Y"].mean() + slope * (101.5 - wet["X"].mean()))


def test_errors_of_means_are_those_of_a_bootstrap(rows, result):
    generator = np.random.default_rng(0)
    drawn = []
    for _ in range(300):
        means, fits = means_and_fits(rows.iloc[generator.integers(len(rows), size=len(rows))], errors=False)
        wet, dry = (naive.mean_under(fits, GRAPH, r, "Y", means) for r in ("wet", "dry"))
        drawn.append([naive.mean_under(fits, GRAPH, "wet", "Y", means, {"A": 1.0}), wet - dry])
    spread = np.std(drawn, axis=0)
    assert one(result.predict_intervention({"A": 1.0}, "wet"), variable="Y")["se"] == pytest.approx(spread[0], rel=0.15)
    assert one(result.effects("R", "Y"), context="wet")["se"] == pytest.approx(spread[1], rel=0.15)


@pytest.mark.slow
def test_setting_the_context_is_what_a_simulated_intervention_does():
    """Also where mechanisms that R changes are fitted on rows that were selected by what causes R."""
    model = soil_moisture_model()
    rows, noise = model.sample(20_000, seed=1), model.draw_noise(200_000, seed=2)
    found = cc.discover(rows, context="soil", method="pc-ac").with_graphs(model.truth().descriptive)
    wet, dry = (model.solve(noise, do={"soil": level}) for level in (1, 0))
    for row in found.effects("soil").to_dict("records"):
        wanted = wet[row["y"]].mean() - dry[row["y"]].mean()
        assert row["effect"] == pytest.approx(wanted, abs=4 * row["se"] + 0.01)


def mixed_table(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    r = (rng.uniform(size=n) < 0.5).astype(int)
    ill = (rng.uniform(size=n) < expit(np.where(r == 1, 1.0, -0.5) * x - 0.3)).astype(int)
    visits = rng.poisson(np.exp(0.3 * x + np.where(r == 1, 0.4, 0.0)))
    return pd.DataFrame({"R": r, "X": x, "ill": pd.Categorical(np.where(ill == 1, "yes", "no")), "visits": visits})


def test_categories_and_counts_are_standardised_over_rows():
    rows = mixed_table()
    names = list(rows.columns)
    graph = cc.Graph.from_edges(names, [("R", "ill", "-->"), ("X", "ill", "-->"), ("R", "visits", "-->"),
                                        ("X", "visits", "-->")])  # fmt: skip
    result = cc.discover(rows, context="R", kinds={"visits": "count"}, method="pc-ac").with_graphs({0: graph, 1: graph})
    for y, kind in (("ill", "categorical"), ("visits", "count")):
        numbers = (rows[y] == "yes") if y == "ill" else rows[y]
        found, wanted = result.effects("X", y), {}
        for r in (0, 1):
            here = rows["R"] == r
            mean = naive.likelihood_fit(kind, numbers[here].to_numpy(float), rows.loc[here, "X"].to_numpy())
            x = rows.loc[here, "X"].to_numpy()
            wanted[r] = float(np.mean(mean(x + 1.0) - mean(x)))
            assert one(found, context=r, versus=None)["effect"] == pytest.approx(wanted[r], rel=1e-4)
        assert one(found, context=1, versus=0)["effect"] == pytest.approx(wanted[1] - wanted[0], rel=1e-4)
        assert (found["se"] > 0).all()
        between = one(result.effects("R", y), context=1, versus=0)
        plain = numbers[rows["R"] == 1].mean() - numbers[rows["R"] == 0].mean()
        assert between["effect"] == pytest.approx(plain, rel=1e-6)
    assert result.mechanisms()["note"].str.match("not yet: .* without a linear mechanism").all()
    assert result.predict_intervention({"X": 1.0})["note"].str.startswith("not yet").all()


def test_what_is_not_yet_answered_says_so():
    rng = np.random.default_rng(4)
    rows = mixed_table(400).assign(colour=pd.Categorical(rng.choice(["red", "green", "blue"], 400)))
    names = list(rows.columns)
    graph = cc.Graph.from_edges(names, [("X", "colour", "-->"), ("colour", "visits", "-->")])
    result = cc.discover(rows, context="R", method="pc-ac").with_graphs({0: graph, 1: graph})
    notes = result.effects()["note"]
    assert notes.str.contains("not yet: effects on colour, which is categorical").any()
    assert notes.str.contains("not yet: effects of colour, which is categorical").any()


def test_a_context_made_of_a_column_cannot_be_set(rows):
    found = cc.discover(rows.drop(columns="R"), context=cc.threshold("X", 100.0), method="pc-ac")
    with pytest.raises(cc.CausalContextError, match="made out of 'X'"):
        found.effects(found.context, "Y")
    assert "X" in set(found.effects()["x"])


def test_one_of_several_contexts_is_set_with_the_others_held():
    rng = np.random.default_rng(5)
    n = 3000
    s, r, x = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.normal(size=n)
    y = np.where(r == 1, 2.0, 0.5) * x + np.where(r == 1, 1.0, 0.0) + 0.5 * s + rng.normal(size=n)
    rows = pd.DataFrame({"R": r, "S": s, "X": x, "Y": y})
    graph = cc.Graph.from_edges(["R", "S", "X", "Y"], [("R", "Y", "-->"), ("S", "Y", "-->"), ("X", "Y", "-->")])
    result = cc.discover(rows, context=["R", "S"], method="pc-ac")
    result = result.with_graphs(dict.fromkeys(result.contexts, graph))
    found = result.effects("R", "Y")
    assert sorted(zip(found["context"], found["versus"], strict=True)) == [((1, 0), (0, 0)), ((1, 1), (0, 1))]
    for row in found.to_dict("records"):
        assert row["effect"] == pytest.approx(1.0 + 1.5 * x.mean(), abs=4 * row["se"])
    assert set(result.mechanisms()["rows"]) == {f"R={a}, S={b}" for a in (0, 1) for b in (0, 1)}


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1]])
def test_the_means_do_not_depend_on_the_order_of_columns(rows, result, names):
    turned = cc.discover(rows[names], context="R", method="pc-ac").with_graphs(graphs(GRAPH, names))
    first, second = (f.predict_intervention({"X": 99.0}).sort_values(["context", "variable"]) for f in (result, turned))
    assert np.allclose(first[["mean", "se"]], second[["mean", "se"]])
