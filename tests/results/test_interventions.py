"""What happens if a context or a variable is set: against naive means, and against simulated
interventions.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from test_effects import GRAPH, NAMES, graphs, one, table

import causalcontext as cc
import naive_effects as naive
from causalcontext.examples import soil_moisture_model
from causalcontext.report.payload import effects_panel


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
        wanted = naive.mean_under(fits, GRAPH, "wet", y, means) - naive.mean_under(
            fits, GRAPH, "dry", y, means
        )
        assert row["effect"] == pytest.approx(wanted, rel=1e-6, abs=1e-9)
    assert set(result.effects("R")["y"]) == {"B", "Y"}


def test_setting_a_variable_gives_the_naive_means(rows, result):
    means, fits = means_and_fits(rows)
    found = result.predict_intervention({"X": 101.5})
    assert set(found["variable"]) == {"B", "Y"}
    for row in found.to_dict("records"):
        wanted = naive.mean_under(fits, GRAPH, row["context"], row["variable"], means, {"X": 101.5})
        assert row["mean"] == pytest.approx(wanted, rel=1e-9)
        assert row["now"] == pytest.approx(
            rows.loc[rows["R"] == row["context"], row["variable"]].mean()
        )
        assert row["low"] < row["mean"] < row["high"]
    inside = one(result.predict_intervention({"X": 101.5}, "wet", among="context"), variable="Y")
    wet = rows[rows["R"] == "wet"]
    slope = naive.total_effect(fits, GRAPH, "wet", "X", "Y")
    assert inside["mean"] == pytest.approx(wet["Y"].mean() + slope * (101.5 - wet["X"].mean()))


def test_errors_of_means_are_those_of_a_bootstrap(rows, result):
    generator = np.random.default_rng(0)
    drawn = []
    for _ in range(300):
        means, fits = means_and_fits(
            rows.iloc[generator.integers(len(rows), size=len(rows))], errors=False
        )
        wet, dry = (naive.mean_under(fits, GRAPH, r, "Y", means) for r in ("wet", "dry"))
        drawn.append([naive.mean_under(fits, GRAPH, "wet", "Y", means, {"A": 1.0}), wet - dry])
    spread = np.std(drawn, axis=0)
    assert one(result.predict_intervention({"A": 1.0}, "wet"), variable="Y")["se"] == pytest.approx(
        spread[0], rel=0.15
    )
    assert one(result.effects("R", "Y"), context="wet")["se"] == pytest.approx(spread[1], rel=0.15)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e308, 10**400, "a", None, [1]])
def test_a_variable_is_set_to_a_number_that_can_be_computed_with(result, value):
    """An infinite one gave means of 0 and warnings from numpy, a whole number of 400 digits an
    OverflowError.
    """
    with pytest.raises(cc.OptionError, match=r"'A' is set to .*, expected a number up to 1e\+100"):
        result.predict_intervention({"A": value})


@pytest.mark.parametrize("value", [1, np.int64(1), np.float32(1.0)])
def test_a_variable_is_set_to_numbers_of_any_type(result, value):
    assert result.predict_intervention({"A": value}).equals(result.predict_intervention({"A": 1.0}))


@pytest.mark.slow
def test_setting_the_context_is_what_a_simulated_intervention_does():
    """Also where mechanisms that R changes are fitted on rows that were selected by what causes
    R.
    """
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
    return pd.DataFrame(
        {"R": r, "X": x, "ill": pd.Categorical(np.where(ill == 1, "yes", "no")), "visits": visits}
    )


def test_categories_and_counts_are_standardised_over_rows():
    rows = mixed_table()
    names = list(rows.columns)
    graph = cc.Graph.from_edges(
        names,
        [("R", "ill", "-->"), ("X", "ill", "-->"), ("R", "visits", "-->"), ("X", "visits", "-->")],
    )
    result = cc.discover(rows, context="R", kinds={"visits": "count"}, method="pc-ac").with_graphs(
        {0: graph, 1: graph}
    )
    for y, kind in (("ill", "categorical"), ("visits", "count")):
        numbers = (rows[y] == "yes") if y == "ill" else rows[y]
        found, wanted = result.effects("X", y), {}
        for r in (0, 1):
            here = rows["R"] == r
            mean = naive.likelihood_fit(
                kind, numbers[here].to_numpy(float), rows.loc[here, "X"].to_numpy()
            )
            x = rows.loc[here, "X"].to_numpy()
            wanted[r] = float(np.mean(mean(x + 1.0) - mean(x)))
            assert one(found, context=r, versus=None)["effect"] == pytest.approx(
                wanted[r], rel=1e-4
            )
        assert one(found, context=1, versus=0)["effect"] == pytest.approx(
            wanted[1] - wanted[0], rel=1e-4
        )
        assert (found["se"] > 0).all()
        between = one(result.effects("R", y), context=1, versus=0)
        plain = numbers[rows["R"] == 1].mean() - numbers[rows["R"] == 0].mean()
        assert between["effect"] == pytest.approx(plain, rel=1e-6)
    assert result.mechanisms()["note"].str.match("not yet: .* without a linear mechanism").all()
    assert result.predict_intervention({"X": 1.0})["note"].str.startswith("not yet").all()


def level_table(n=900, seed=4):
    """Colour leads to an illness and to a grade, X to all of them; nothing is a context."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    colour = np.array(["red", "green", "blue"])[
        (rng.logistic(size=n) + x > 0.0).astype(int) + (rng.uniform(size=n) < 0.4)
    ]
    strength = 0.5 * x + (colour == "green") - 0.7 * (colour == "red") + rng.logistic(size=n)
    grade = pd.Categorical.from_codes(
        (strength > -0.5).astype(int) + (strength > 1.0), ["mild", "medium", "severe"], ordered=True
    )
    ill = np.where(0.8 * (colour == "blue") - 0.4 * x + rng.logistic(size=n) > 0.0, "ill", "well")
    return pd.DataFrame(
        {
            "X": x,
            "colour": colour,
            "grade": grade,
            "ill": ill,
            "weight": x - (ill == "ill") + rng.normal(size=n),
        }
    )


LEVEL_LINKS = [
    ("X", "colour", "-->"),
    ("X", "grade", "-->"),
    ("colour", "grade", "-->"),
    ("X", "ill", "-->"),
    ("colour", "ill", "-->"),
    ("X", "weight", "-->"),
    ("ill", "weight", "-->"),
]


@pytest.fixture(scope="module")
def graded():
    rows = level_table()
    graph = cc.Graph.from_edges(list(rows.columns), LEVEL_LINKS)
    return rows, cc.discover(rows, method="pc-ac", max_given=0).with_graphs({"all": graph})


def standardised(rows, counted, before, after):
    """The mean difference of an indicator between two colours, given X, by a general optimiser."""
    columns = np.column_stack(
        [rows["X"], rows["colour"] == "green", rows["colour"] == "red"]
    ).astype(float)
    mean, means = naive.likelihood_fit("categorical", counted.to_numpy(float), columns), []
    for colour in (after, before):
        moved = columns.copy()
        moved[:, 1], moved[:, 2] = colour == "green", colour == "red"
        means.append(mean(moved).mean())
    return means[0] - means[1]


def test_every_level_of_a_cause_is_compared_with_the_reference_and_every_level_of_an_effect_is_named(
    graded,
):
    rows, result = graded
    found = result.effects("colour", "ill")
    assert found[["x_level", "reference", "of_level"]].to_numpy().tolist() == [
        ["green", "blue", "well"],
        ["red", "blue", "well"],
    ]
    for row in found.to_dict("records"):
        assert row["effect"] == pytest.approx(
            standardised(rows, rows["ill"] == "well", "blue", row["x_level"]), abs=1e-4
        )
        assert (
            row["note"]
            == f"the probability of ill = well; colour = {row['x_level']} instead of blue"
        )
    turned = one(result.effects("colour", "ill", reference="red", of_level="ill"), x_level="blue")
    assert turned["effect"] == pytest.approx(
        one(found, x_level="red")["effect"], abs=1e-6
    )  # both signs turn
    assert set(result.effects("X", "colour")["of_level"]) == {"blue", "green", "red"}
    assert result.effects("X", "colour")["effect"].sum() == pytest.approx(
        0.0, abs=0.05
    )  # one logit each


def test_an_effect_on_an_ordered_column_is_of_a_level_or_higher(graded):
    rows, result = graded
    found = result.effects("colour", "grade", reference="red")
    assert list(found["of_level"].unique()) == ["medium", "severe"]
    for row in found.to_dict("records"):
        counted = rows["grade"].cat.codes >= ["mild", "medium", "severe"].index(row["of_level"])
        assert row["effect"] == pytest.approx(
            standardised(rows, counted, "red", row["x_level"]), abs=1e-4
        )
    assert "the probability of grade = medium or higher" in found["note"][0]
    with pytest.raises(cc.CausalContextError, match="the lowest level of grade"):
        result.effects("X", "grade", of_level="mild")


def test_a_line_from_a_category_turns_with_its_reference(graded):
    _, result = graded
    plain, turned = (
        result.effects("ill", "weight"),
        result.effects("ill", "weight", reference="well"),
    )
    assert (plain["x_level"][0], plain["reference"][0], plain["of_level"][0]) == (
        "well",
        "ill",
        None,
    )
    for name in ("effect", "direct"):
        assert turned[name][0] == -plain[name][0]
    assert (turned["low"][0], turned["high"][0]) == (-plain["high"][0], -plain["low"][0])
    paths = result.effects("ill", "weight", reference="well", by_path=True)
    assert paths["effect"].sum() == pytest.approx(turned["effect"][0])
    coefficient = one(result.mechanisms(), cause="ill", effect="weight")
    assert coefficient["note"] == "ill = well instead of ill"
    assert coefficient["coefficient"] == plain["effect"][0]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"x": "X", "y": "ill", "reference": "a"}, "reference is 'a', but X is a number"),
        ({"x": "ill", "y": "weight", "reference": "sick"}, "is no level of ill"),
        ({"x": "ill", "y": "weight", "of_level": 1}, "of_level is 1, but weight is a number"),
        ({"y": "ill", "reference": "x"}, "a level of x, which is not named"),
    ],
)
def test_a_level_that_is_none_is_refused(graded, asked, words):
    with pytest.raises(cc.CausalContextError, match=words):
        graded[1].effects(**asked)


def test_levels_are_in_files_reports_and_samples(graded, tmp_path):
    _, result = graded
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again.data == result.data
    assert again.effects("ill", "weight", reference="well")["x_level"][0] == "ill"
    panel = effects_panel(result)
    assert any("ill = well" in note for note in panel["notes"])
    drawn = result.effects("colour", "ill", reference="red", samples=20)
    assert (
        drawn["effect"].tolist()
        == result.effects("colour", "ill", reference="red")["effect"].tolist()
    )


def test_an_effect_on_the_context_is_a_probability_in_all_rows(rows):
    found = cc.discover(rows, context="R", method="pc-ac").with_graphs(graphs(GRAPH))
    (row,) = found.effects("X", "R").to_dict("records")
    assert (row["context"], row["of_level"]) == (None, "wet")
    columns = rows[["X", "A"]].to_numpy()
    mean = naive.likelihood_fit(
        "categorical", (rows["R"] == "wet").to_numpy(float), columns - columns.mean(axis=0)
    )
    here = columns - columns.mean(axis=0)
    assert row["effect"] == pytest.approx(
        np.mean(mean(here + np.array([1.0, 0.0])) - mean(here)), abs=1e-4
    )
    assert found.effects("Y", "R")["note"][0].endswith("no directed path")
    assert found.effects("X", "R", of_level="dry")["effect"][0] == pytest.approx(
        -row["effect"], abs=1e-9
    )


def test_given_graphs_say_what_a_search_did_not_ask(rows):
    """pc-m asks nothing about the context; graphs with links at it do, and X is fitted on all
    rows.
    """
    known = cc.discover(rows, context="R", method="pc-m").with_graphs(graphs(GRAPH)).mechanisms()
    wanted = cc.discover(rows, context="R", method="pc-ac").with_graphs(graphs(GRAPH)).mechanisms()
    pd.testing.assert_frame_equal(known, wanted)
    assert set(known[known["effect"] == "X"]["rows"]) == {"all"}
    scored = (
        cc.discover(rows, context="R", method="score-ac").with_graphs(graphs(GRAPH)).mechanisms()
    )
    pd.testing.assert_frame_equal(scored, wanted)


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
    graph = cc.Graph.from_edges(
        ["R", "S", "X", "Y"], [("R", "Y", "-->"), ("S", "Y", "-->"), ("X", "Y", "-->")]
    )
    result = cc.discover(rows, context=["R", "S"], method="pc-ac")
    result = result.with_graphs(dict.fromkeys(result.contexts, graph))
    found = result.effects("R", "Y")
    assert sorted(zip(found["context"], found["versus"], strict=True)) == [
        ((1, 0), (0, 0)),
        ((1, 1), (0, 1)),
    ]
    for row in found.to_dict("records"):
        assert row["effect"] == pytest.approx(1.0 + 1.5 * x.mean(), abs=4 * row["se"])
    assert set(result.mechanisms()["rows"]) == {f"R={a}, S={b}" for a in (0, 1) for b in (0, 1)}


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1]])
def test_the_means_do_not_depend_on_the_order_of_columns(rows, result, names):
    turned = cc.discover(rows[names], context="R", method="pc-ac").with_graphs(graphs(GRAPH, names))
    first, second = (
        f.predict_intervention({"X": 99.0}).sort_values(["context", "variable"])
        for f in (result, turned)
    )
    assert np.allclose(first[["mean", "se"]], second[["mean", "se"]])
