"""Draws of orders, sub-models and coefficients against sums over all of them, and the intervals
that follow.
"""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.orders.exact_orders import draw_orders
from causalcontext.results.effects.mixture import EffectDraws, OrderDraws
from causalcontext.score.data import score_data
from causalcontext.score.design import ScoreDesign
from causalcontext.score.merging import lattice
from causalcontext.score.options import ScoreOptions
from causalcontext.score.search import all_scores
from causalcontext.score.workspace import FitWorkspace
from causalcontext_lab.simulate.linear import random_model

NAMES = ["X", "Y", "Z", "R"]


def table(n=150, seed=0):
    """R follows X weakly; it changes what X does to Y; Z follows Y. Few rows, so that no order is
    sure.
    """
    rng = np.random.default_rng(seed)
    x = 3.0 + rng.normal(size=n)
    r = (0.4 * x + rng.normal(size=n) > 1.3).astype(int)
    y = np.where(r == 1, 0.9, 0.1) * x + rng.normal(size=n)
    return pd.DataFrame({"X": x, "Y": -20.0 + y, "Z": 0.3 * y + rng.normal(size=n), "R": r})


@pytest.fixture(scope="module")
def rows():
    return table()


@pytest.fixture(scope="module")
def result(rows):
    return cc.discover(rows, context="R", method="score-ac")


def naive_orders(best, needs):
    """The probability of every order: of a node before R the pooled score, after it the best of all
    its models.
    """
    nodes, scores = best.shape[1], {}
    for order in permutations(range(nodes)):
        total = 0.0
        for place, node in enumerate(order):
            inside = sum(1 << other for other in order[:place])
            own = best[:, node, inside]
            after = needs in order[:place]
            total += max(own[0], own[1] + own[2], *own[3:]) if after else own[0]
        scores[order] = total
    highest = max(scores.values())
    weight = {order: np.exp(score - highest) for order, score in scores.items()}
    return {order: one / sum(weight.values()) for order, one in weight.items()}


def test_orders_are_drawn_as_often_as_their_scores_say(rows):
    data = read_table(rows, "R")
    scored = score_data(data, gather_statistics(data, "listwise"), cc.Knowledge().links(data.names))
    design = ScoreDesign(scored, replace(ScoreOptions(), penalty=1.0), False)
    slots = lattice(design)
    workspace = FitWorkspace(design, False)
    best, _, _ = all_scores(workspace, slots)
    wanted = naive_orders(best, 3)
    drawn = draw_orders(best, slots, np.random.default_rng(5).uniform(size=(20_000, 4)))
    found = dict.fromkeys(wanted, 0.0)
    for order in drawn.tolist():
        found[tuple(order)] += 1 / len(drawn)
    assert (
        max(wanted.values()) < 0.6
    )  # several orders are possible, or this test would show nothing
    for order, probability in wanted.items():
        assert found[order] == pytest.approx(
            probability, abs=4.5 * np.sqrt(probability / len(drawn)) + 1e-4
        )


def naive_likelihood(rows, effect, causes, groups):
    """The Gaussian log-likelihood of a regression with an intercept for every group, without its
    constant.
    """
    design = np.column_stack(
        [*((groups == one).astype(float) for one in np.unique(groups)), *(rows[c] for c in causes)]
    )
    slopes, *_ = np.linalg.lstsq(design, rows[effect], rcond=None)
    left = np.sum((rows[effect] - design @ slopes) ** 2)
    return -0.5 * len(rows) * np.log(left / len(rows)), design.shape[1] + 1


def naive_models(rows, effect, before, after_context, price):
    """(probability, causes by context, whether the context is read) of every sub-model of one
    variable.
    """
    sets = [
        some for size in range(len(before) + 1) for some in product(*[[c] for c in before[:size]])
    ]
    sets = [
        tuple(c for k, c in enumerate(before) if mask >> k & 1) for mask in range(1 << len(before))
    ]
    one, found = np.zeros(len(rows)), []

    def weight(some, causes, groups):
        value, parameters = naive_likelihood(some, effect, causes, groups)
        return value - price(len(some)) * parameters

    for causes in sets:
        found.append((weight(rows, causes, one), (causes, causes), False))
    if after_context:
        for causes in sets:
            found.append((weight(rows, causes, rows["R"].to_numpy()), (causes, causes), True))
        parts = [rows[rows["R"] == r] for r in (0, 1)]
        for first, second in product(sets, sets):
            apart = [
                weight(part, own, np.zeros(len(part)))
                for part, own in zip(parts, (first, second), strict=True)
            ]
            found.append((sum(apart), (first, second), True))
    weights = np.array([one for one, _, _ in found])
    share = np.exp(weights - weights.max())
    return [
        (p, causes, reads) for p, (_, causes, reads) in zip(share / share.sum(), found, strict=True)
    ]


def test_edges_are_as_probable_as_the_sum_over_all_sub_models_of_all_orders_says(rows, result):
    orders = np.array([[0, 3, 1, 2]] * 6000 + [[2, 1, 3, 0]] * 2000)
    draws = EffectDraws(result, OrderDraws(orders, np.zeros((8000, 1, 4), dtype=bool)))
    wanted = np.zeros((2, 4, 4))

    def price(n: int) -> float:
        """What a parameter costs in the search: an edge that it leaves out is no probable one."""
        return 0.5 * result.evidence.penalty * float(np.log(n))

    for order, share in (([0, 3, 1, 2], 0.75), ([2, 1, 3, 0], 0.25)):
        for place, node in enumerate(order):
            if node == 3:
                continue
            before = [NAMES[v] for v in order[:place] if v != 3]
            models = naive_models(rows, NAMES[node], before, 3 in order[:place], price)
            for p, causes, reads in models:
                wanted[:, 3, node] += share * p * reads
                for r in (0, 1):
                    wanted[r, [NAMES.index(c) for c in causes[r]], node] += share * p
    assert ((wanted > 0.05) & (wanted < 0.95)).any()
    np.testing.assert_allclose(draws.edges.mean(axis=0), wanted, atol=0.025)


def test_coefficients_are_drawn_from_their_t_distribution():
    rows = table(n=14, seed=3)
    found = cc.discover(
        rows.drop(columns="R"), method="score-ac", knowledge=cc.Knowledge(required=[("X", "Y")])
    )
    draws = EffectDraws(
        found, OrderDraws(np.tile([0, 1, 2], (40_000, 1)), np.zeros((40_000, 0, 3), dtype=bool))
    )
    drawn = draws.totals[:, 0, 0, 1]
    fit = stats.linregress(rows["X"], rows["Y"])
    assert (
        stats.kstest((drawn - fit.slope) / fit.stderr, stats.t(12).cdf).statistic < 0.012
    )  # normal: .02 and more


def test_totals_are_sums_over_paths_and_a_draw_with_y_before_x_has_none(result):
    draws = result._effect_draws()
    place = np.argsort(result._order_draws().orders, axis=1)
    totals = draws.totals
    assert (totals[place[:, 0] > place[:, 1], :, 0, 1] == 0.0).all()
    assert (totals[place[:, 0] < place[:, 1], :, 0, 1] != 0.0).any()
    assert np.isfinite(totals).all()
    cyclic = draws.ancestors & draws.ancestors.swapaxes(2, 3)
    assert not cyclic.any()


def test_effects_have_the_intervals_of_the_draws_and_hold_the_estimate(result):
    found, given = result.effects(), result.effects(intervals="graph")
    assert set(found["intervals"]) == {
        "mixture",
        "given this graph",
    }  # the effect of R is not drawn
    assert set(given["intervals"]) == {"given this graph"}
    for name in ("x", "y", "context", "versus", "effect", "direct", "values"):
        pd.testing.assert_series_equal(found[name], given[name])
    drawn = found[found["intervals"] == "mixture"]
    assert ((drawn["low"] <= drawn["effect"]) & (drawn["effect"] <= drawn["high"])).all()
    row = drawn[
        (drawn["x"] == "X") & (drawn["y"] == "Y") & (drawn["context"] == 1) & drawn["versus"].isna()
    ].iloc[0]
    low, high = np.quantile(result._effect_draws().totals[:, 1, 0, 1], [0.01, 0.99])
    assert (row["low"], row["high"]) == (min(low, row["effect"]), max(high, row["effect"]))


def test_an_absent_edge_is_not_zero_for_sure(result):
    absent = result.effects("Z", "X")
    assert (absent["effect"] == 0.0).all() or absent["effect"].isna().any()
    assert (absent["high"] > absent["low"]).any()


def test_loaded_results_answer_the_same(result, tmp_path):
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    drawn = (
        result.effects()["intervals"] == "mixture"
    )  # the others have classical errors without rows
    pd.testing.assert_frame_equal(again.effects()[drawn], result.effects()[drawn])
    pd.testing.assert_frame_equal(again.edges(), result.edges())
    pd.testing.assert_frame_equal(again.probabilities(), result.probabilities())


def test_probabilities_of_edges_and_directions(result):
    edges, every = result.edges(), result.probabilities()
    assert edges["p_edge"].between(0.0, 1.0).all()
    assert len(every) == 2 * 4 * 3
    assert (every["ancestor"] >= every["cause"]).all()
    both = every.merge(every, left_on=["context", "x", "y"], right_on=["context", "y", "x"])
    np.testing.assert_allclose(both["cause_x"] + both["cause_y"], both["edge_x"])
    assert len(cc.discover(table(), context="R", method="pc-ac").probabilities()) == 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"intervals": "mix"}, "intervals"),
        ({"intervals": "mixture", "errors": "classical"}, "errors are classical"),
        ({"intervals": "graph", "samples": 30}, "not for samples"),
    ],
)
def test_options_that_cannot_be_used_are_refused(result, asked, words):
    with pytest.raises(cc.CausalContextError, match=words):
        result.effects("X", "Y", **asked)


def test_results_without_draws_say_why(rows):
    tested = cc.discover(rows, context="R", method="pc-ac")
    assert set(tested.effects()["intervals"]) <= {"given this graph"}
    with pytest.raises(cc.CausalContextError, match="not found by score-ac"):
        tested.effects(intervals="mixture")
    lagged = cc.discover(rows, context="R", method="score-ac", lags=1)
    assert set(lagged.effects()["intervals"]) <= {"given this graph: not yet with lags"}


def test_a_column_with_a_value_that_stands_out_has_no_draws():
    """They are of lines with noise: after a search that knew of the zeros of rain, they denied its
    arrows.
    """
    random, context = np.random.default_rng(6), (np.sin(np.arange(500) / 20) > 0).astype(int)
    warm = random.normal(size=500)
    wet = random.random(500) < 1 / (1 + np.exp(-warm))
    rain = np.where(wet, np.exp(0.5 * warm + 0.3 * context + 0.4 * random.normal(size=500)), 0.0)
    table = pd.DataFrame(
        {
            "warm": warm,
            "rain": rain,
            "soil": 0.6 * rain + 0.5 * random.normal(size=500),
            "R": context,
        }
    )
    result = cc.discover(table, "R")
    assert (
        result._effect_draws()
        == "not yet with columns of few values, or of which one value stands out"
    )
    assert result.edges()["p_direction"].isna().all()


def test_knowledge_holds_in_every_draw(rows):
    known = cc.Knowledge(required=[("Z", "Y")], forbidden=[("X", "Y"), ("R", "Y")])
    draws = cc.discover(rows, context="R", method="score-ac", knowledge=known)._effect_draws()
    assert draws.edges[:, :, 2, 1].all()
    assert not draws.edges[:, :, [0, 3], 1].any()


@pytest.mark.slow
def test_intervals_over_draws_cover_and_still_claim_signs():
    """The level (above .93 of the true effects) and the power (a third of the signs at least,
    hardly any false).
    """
    inside, signs = [], []
    for seed in range(52_000, 52_025):
        model = random_model(nodes=8, density=0.4, seed=seed)
        found = cc.discover(
            model.sample(500, seed=seed), context=model.context_name, method="score-ac"
        )._effect_draws()
        held = model.coefficients.copy()
        held[:, :, model.context] = 0.0
        truth = np.linalg.inv(np.eye(8) - held)
        low, high = np.quantile(found.totals, [0.025, 0.975], axis=0)
        for g, x, y in np.argwhere(np.abs(truth) > 0.05).tolist():
            if x != y:
                inside.append(low[g, x, y] <= truth[g, x, y] <= high[g, x, y])
                signs.append(np.sign(low[g, x, y]) if low[g, x, y] * high[g, x, y] > 0.0 else 0.0)
                signs[-1] *= np.sign(truth[g, x, y])
    assert np.mean(inside) > 0.93
    assert np.mean(np.array(signs) > 0.0) > 0.35
    assert np.mean(np.array(signs) < 0.0) < 0.01


def test_a_picture_has_the_probabilities(result):
    axes = result.plot(probabilities=True)
    shown = {text.get_text() for one in axes for text in one.texts}
    every = result.probabilities()
    assert {f"{p:.2f}" for p in every["edge"]} & shown
    with pytest.raises(cc.CausalContextError, match="for kind='contexts'"):
        result.plot("union", probabilities=True)
    with pytest.raises(cc.CausalContextError, match="not found by score-ac"):
        cc.discover(table(), context="R", method="pc-ac").plot(probabilities=True)


def test_graphs_are_drawn_with_lines_where_a_shared_bend_hardly_beats_slopes_by_context():
    """By chance a hinge takes the place of lines by context here: taken as given, the graph claimed
    false signs.
    """
    weak = (-0.3, -0.2, -0.1, 0.1, 0.2, 0.3)
    model = random_model(nodes=8, density=0.4, seed=84003, coefficients=weak)
    found = cc.discover(
        model.sample(1000, seed=84003), context=model.context_name, method="score-ac", seed=84003
    )
    assert found.evidence.curved
    assert isinstance(found._effect_draws(), EffectDraws)


def test_strong_effects_have_the_middle_95_percent_and_weak_ones_98(rows, result):
    draws, rng = EffectDraws(result, result._effect_draws()._draws), np.random.default_rng(5)
    for size, share in ((1.0, 0.02), (20.0, 0.05)):
        drawn = rng.normal(size, 1.0, size=(500, 2, 4, 4))
        draws.__dict__["totals"] = drawn
        _, low, high, _ = draws.spread(0, 1, 0, -1, 0.95)
        assert np.mean((drawn[:, 0, 0, 1] < low) | (drawn[:, 0, 0, 1] > high)) == pytest.approx(
            share, abs=0.005
        )
        _, low, high, _ = draws.spread(0, 1, 0, 1, 0.95)  # differences are always careful
        apart = drawn[:, 0, 0, 1] - drawn[:, 1, 0, 1]
        assert np.mean((apart < low) | (apart > high)) == pytest.approx(0.02, abs=0.005)


def test_intervals_do_not_depend_on_the_order_of_the_columns():
    """The draws went by position: another order of the columns had other random numbers."""
    table = cc.examples.soil_moisture(400, seed=3)[["precipitation", "radiation", "runoff", "soil"]]
    rng = np.random.default_rng(1)
    table = table.assign(other=0.6 * table["runoff"] + rng.standard_normal(400))
    first = cc.discover(table, "soil").effects("precipitation", "other")
    turned = cc.discover(table[table.columns[::-1]], "soil").effects("precipitation", "other")
    assert (first["intervals"] == "mixture").all()
    assert first[["effect", "low", "high"]].equals(turned[["effect", "low", "high"]])
