"""Contexts whose values are in order: their causes move them up or down."""

import numpy as np
import pandas as pd
import pytest
import scipy.optimize

import causalcontext as cc
from causalcontext.errors import DataError


def graded(seed, levels, rows=500, shuffled=False):
    """A causes B and a context of so many numbers; in some of them B causes C."""
    g = np.random.default_rng(seed)
    a = g.normal(size=rows)
    behind = a + 0.2 * g.normal(size=rows)
    r = np.searchsorted(np.quantile(behind, np.arange(1, levels) / levels), behind)
    b = 3.0 - a + g.normal(size=rows)
    c = np.where(r % 2 == 0, b, 0.0) + g.normal(size=rows)
    return pd.DataFrame({"A": a, "B": b, "C": c, "R": g.permutation(levels)[r] if shuffled else r})


def cause_of_r(table, **options):
    return cc.discover(table, "R", method="score-ac", **options).union.mark("A", "R")


def test_a_context_of_many_numbers_in_order_costs_one_slope_a_cause():
    """As labels every one of seven slopes is paid for."""
    for seed in range(3):
        rows = graded(seed, 8)
        found, told, labels = (
            cc.discover(rows, "R", kinds=kinds, method="score-ac")
            for kinds in (None, {"R": "ordered"}, {"R": "categorical"})
        )
        assert found.union.mark("A", "R") == told.union.mark("A", "R") == "-->"
        assert found.evidence.score == told.evidence.score
        assert found.evidence.score > labels.evidence.score + 20.0


def test_numbers_that_are_labels_are_taken_for_labels():
    for seed in range(3):
        rows = graded(seed, 4, shuffled=True)
        found, told = (
            cc.discover(rows, "R", kinds=kinds, method="score-ac")
            for kinds in (None, {"R": "categorical"})
        )
        if not (np.diff(rows.groupby("R")["A"].mean()) > 0).all():
            assert found.evidence.score == told.evidence.score
            assert not any("in order" in note for note in found.notes)


def test_a_note_says_that_values_are_taken_in_order_and_what_to_do():
    result = cc.discover(graded(0, 4), "R", method="score-ac")
    (note,) = (note for note in result.notes if "in order" in note)
    assert "kinds={'R': 'categorical'}" in note
    assert "its values in order with proportional odds" in result.explain("A", "R")
    told = cc.discover(graded(0, 4), "R", method="score-ac", kinds={"R": "ordered"})
    assert not any("in order" in note for note in told.notes)


def test_the_slope_of_a_context_in_order_is_that_of_naive_proportional_odds():
    rows = graded(1, 4, rows=300)
    told = {
        kind: cc.discover(rows, "R", kinds={"R": kind}, method="score-ac", curves="never")
        for kind in ("ordered", "categorical")
    }
    equations = {
        kind: next(
            one for one in result.evidence.mechanisms.equations if result.names[one.effect] == "R"
        )
        for kind, result in told.items()
    }
    x, y = rows["A"].to_numpy(), rows["R"].to_numpy()
    x = (x - x.mean()) / x.std()

    def loss(at):
        below = np.column_stack(
            [
                np.zeros(300),
                1 / (1 + np.exp(-(np.cumsum(at[:3]) - at[3] * x[:, None]))),
                np.ones(300),
            ]
        )
        return -np.log(np.maximum(np.diff(below, axis=1)[np.arange(300), y], 1e-300)).sum()

    best = scipy.optimize.minimize(
        loss, [-3.0, 3.0, 3.0, 5.0], method="Nelder-Mead", options={"maxiter": 20_000}
    )
    assert equations["ordered"].kind == "ordered"
    assert equations["categorical"].kind == "category"
    (slope,) = equations["ordered"].terms[0].slopes
    assert abs(slope) == pytest.approx(best.x[3], rel=0.03)


@pytest.mark.parametrize("several", [False, True])
def test_answers_and_files_take_ordered_contexts(tmp_path, several):
    rows = graded(2, 3, rows=600)
    if several:
        rows["T"] = np.where(
            rows["R"] + np.random.default_rng(0).normal(size=600) > 1, "late", "early"
        )
    context = ["R", "T"] if several else "R"
    result = cc.discover(
        rows, context, method="score-ac", knowledge=cc.Knowledge(forbidden=[("B", "A")])
    )
    first, second = result.contexts[0], result.contexts[-1]
    assert len(result.changes(first, second)) >= 0
    result.save(tmp_path / "result.json", rows=True)
    loaded = cc.load(tmp_path / "result.json")
    assert loaded.graphs == result.graphs
    if not several:
        answers = [one.effects("A", "R") for one in (result, loaded)]
        pd.testing.assert_frame_equal(*answers)
        assert answers[0]["effect"].notna().all()
    assert loaded.mechanisms().shape == result.mechanisms().shape
    result.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").exists()


def test_of_two_contexts_each_is_taken_in_order_or_not():
    """R is in order, S has numbers as labels; A causes both."""
    g = np.random.default_rng(1)
    a = g.normal(size=1500)
    r = np.digitize(a + 0.3 * g.normal(size=1500), [-0.8, 0.0, 0.8])
    s = np.array([1, 2, 0])[np.digitize(a + 0.8 * g.normal(size=1500), [-0.5, 0.5])]
    b = a + (r == 1) + g.normal(size=1500)
    rows = pd.DataFrame({"A": a, "B": b, "C": b * (s == 1) + g.normal(size=1500), "R": r, "S": s})
    kinds = {"R": "ordered", "S": "categorical"}
    found, told = (
        cc.discover(rows, ["R", "S"], method="score-ac", kinds=one) for one in (None, kinds)
    )
    assert found.evidence.score == told.evidence.score
    assert [found.union.mark("A", name) for name in "RS"] == ["-->", "-->"]


def test_probabilities_of_directions_are_those_of_the_same_order():
    rows = graded(0, 8, rows=200)
    found, told = (
        cc.discover(rows, "R", method="score-ac", kinds=one).edges()
        for one in (None, {"R": "ordered"})
    )
    pd.testing.assert_series_equal(found["p_direction"], told["p_direction"])


def test_words_have_an_order_only_if_they_say_so():
    rows = graded(3, 8)
    names = np.array(["dawn", "cold", "cool", "mild", "warm", "heat", "burn", "dusk"])
    rows["R"] = names[rows["R"]]
    with pytest.raises(DataError, match="context 'R' is declared ordered, but its values"):
        cause_of_r(table=rows, kinds={"R": "ordered"})
    rows["R"] = pd.Categorical(rows["R"], names, ordered=True)
    assert cause_of_r(table=rows, kinds={"R": "ordered"}) == "-->"


def test_a_declaration_is_heard_with_lags():
    g = np.random.default_rng(3)
    a, r = np.zeros(400), np.zeros(400, dtype=int)
    for t in range(1, 400):
        a[t] = 0.4 * a[t - 1] + g.normal()
        r[t] = np.digitize(a[t - 1] + 0.3 * g.normal(), [-1.0, 0.0, 0.8])
    rows = pd.DataFrame({"A": a, "B": np.roll(a, 1) + g.normal(size=400), "R": r})
    kinds = (None, {"R": "ordered"}, {"R": "categorical"})
    found, told, labels = (
        cc.discover(rows, "R", lags=1, method="score-ac", kinds=one).evidence.score for one in kinds
    )
    assert found == told > labels + 5.0
