"""Curves, noise densities and columns of all kinds through the public door."""

import numpy as np
import pandas as pd
import pytest
from score_tables import curved_table, kinds_table, model_table, searched

import causalcontext as cc
from causalcontext.model_checks.violations import CURVES
from causalcontext.score.curves import product_lead
from causalcontext.score.residuals import check_fit, earlier
from marks import rest_slow


def marks_by_name(result):
    names = sorted(result.names)
    return {
        value: [[graph.mark(x, y) for y in names] for x in names]
        for value, graph in result.graphs.items()
    }


@pytest.fixture(scope="module")
def curved():
    return cc.discover(curved_table(800, 1), "R", method="score-ac")


@pytest.fixture(scope="module")
def kinds():
    return cc.discover(kinds_table(800, 1), "R", method="score-ac", kinds={"M": "continuous"})


def test_curved_mechanisms_are_found_and_directed(curved):
    assert curved.evidence.curved
    assert curved.evidence.curves_gain > 3 * np.log(800)
    links = {(edge.source, edge.target) for edge in curved.union.edges}
    assert links == {("A", "B"), ("A", "C"), ("B", "C"), ("C", "D"), ("A", "R"), ("R", "D")}
    assert {edge.mark for edge in curved.union.edges} == {"-->"}


def test_columns_of_all_kinds_are_found(kinds):
    links = {(edge.source, edge.target): edge.mark for edge in kinds.union.edges}
    assert {tuple(sorted(pair)) for pair in links} == {
        ("N", "O"),
        ("K", "N"),
        ("K", "O"),
        ("K", "M"),
        ("N", "R"),
    }
    assert links["N", "R"] == "-->"
    assert kinds.evidence.mechanisms.equation(kinds.names.index("O"), 0).kind == "ordered"


@pytest.mark.parametrize("make", [curved_table, kinds_table])
@pytest.mark.parametrize("how", rest_slow(["order", "exact"]))
def test_workers_columns_and_units_do_not_matter(make, how):
    rows = make(300, 5)
    result = cc.discover(rows, "R", method="score-ac", search=how)
    assert cc.discover(rows, "R", method="score-ac", search=how, n_jobs=2) == result
    shuffled = rows[np.random.default_rng(0).permutation(rows.columns)]
    assert marks_by_name(
        cc.discover(shuffled, "R", method="score-ac", search=how)
    ) == marks_by_name(result)
    scaled = rows.assign(
        **{name: 1000.0 * rows[name] - 7.0 for name in ("A", "B", "N") if name in rows}
    )
    assert marks_by_name(cc.discover(scaled, "R", method="score-ac", search=how)) == marks_by_name(
        result
    )


def test_straight_lines_stay_straight():
    taken = [
        cc.discover(model_table(300, seed), "R", method="score-ac").evidence.curved
        for seed in range(12)
    ]
    assert sum(taken) == 0


def test_curves_can_be_switched_off_and_on():
    rows = curved_table(400, 2)
    never = cc.discover(rows, "R", method="score-ac", curves="never", transform="none")
    assert not never.evidence.curved
    assert np.isnan(never.evidence.curves_gain)
    assert {term.kind for one in never.evidence.mechanisms.equations for term in one.terms} == {
        "linear"
    }
    always = cc.discover(
        model_table(300, 3), "R", method="score-ac", curves="always", transform="none"
    )
    assert always.evidence.curved


def test_a_partial_curve_is_that_of_the_regression(curved):
    """B has one cause, A: the curve is the least-squares fit of the functions that were chosen."""
    rows, mechanisms = curved_table(800, 1), curved.evidence.mechanisms
    cause, effect = curved.names.index("A"), curved.names.index("B")
    equation, scale = mechanisms.equation(effect, 0), mechanisms.scales[cause]
    x = scale.standard(rows["A"].to_numpy())
    design = np.column_stack([np.ones(800), *(term.values({cause: x}) for term in equation.terms)])
    slopes = np.linalg.lstsq(design, rows["B"].to_numpy(), rcond=None)[0]
    at = np.linspace(1.5, 4.5, 9)
    inside = scale.standard(at)
    naive = (
        np.column_stack([np.ones(9), *(term.values({cause: inside}) for term in equation.terms)])
        @ slopes
    )
    assert mechanisms.partial_curve(effect, cause, at, 0) == pytest.approx(naive, abs=0.05)
    assert naive == pytest.approx((at - 3.0) ** 2, abs=0.5)


def test_a_partial_curve_of_a_category_is_a_probability(kinds):
    mechanisms = kinds.evidence.mechanisms
    cause, effect = kinds.names.index("N"), kinds.names.index("R")
    shares = mechanisms.partial_curve(effect, cause, [-2.0, 0.0, 2.0], 0)
    assert shares.sum(axis=0) == pytest.approx(1.0)
    assert shares[1, 0] < 0.05 < 0.95 < shares[1, 2]


def test_explanations_say_what_a_link_looks_like(curved, kinds):
    assert "the link is a curve" in curved.explain("A", "B")
    assert "the link is a straight line" in curved.explain("C", "D")
    assert "the best model without this direction scores at least 30 nats less" in curved.explain(
        "A", "B"
    )
    assert "a level for every category" in kinds.explain("K", "O")
    generator = np.random.default_rng(2)
    x = generator.normal(size=400)
    rows = pd.DataFrame({"X": x, "Y": 2.0 * (x > 0.4) + 0.5 * generator.normal(size=400)})
    assert "the link is a step" in cc.discover(rows, method="score-ac").explain("X", "Y")


@pytest.mark.parametrize("name", ["curved", "kinds"])
def test_mechanisms_are_saved(tmp_path, name, request):
    result = request.getfixturevalue(name)
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again == result
    assert again.evidence.mechanisms == result.evidence.mechanisms
    assert again.explain(*result.names[:2]) == result.explain(*result.names[:2])


def test_knowledge_binds_categories_too():
    rows = kinds_table(400, 2)
    knowledge = cc.Knowledge(required=[("M", "N")], forbidden=[("K", "O"), ("O", "K")])
    result = cc.discover(rows, "R", method="score-ac", knowledge=knowledge)
    assert result.union.mark("M", "N") == "-->"
    assert result.union.mark("K", "O") == ""
    assert result.knowledge_violations() == []


def test_without_a_context_and_with_missing_values():
    rows = kinds_table(400, 3).drop(columns="R")
    rows.loc[::17, "N"] = np.nan
    result = cc.discover(rows, method="score-ac", missing="listwise")
    assert result.contexts == ("all",)
    assert result.graphs["all"].mark("N", "O") != ""


def test_rare_levels_and_constant_columns_are_survived():
    generator = np.random.default_rng(4)
    rows = kinds_table(120, 4)
    rows.loc[:1, "K"] = "rare"
    rows["R"] = np.where(
        np.arange(120) < 8, "few", np.where(generator.random(120) < 0.5, "one", "two")
    )
    rows.loc[rows["R"] == "one", "K"] = "a"
    result = cc.discover(rows, "R", method="score-ac")
    assert np.isfinite(result.evidence.score)


def test_counts_are_not_the_effect_of_everything():
    """Few values are not predicted exactly, or a count that causes a number would look like its
    effect.
    """
    for seed in range(4):
        generator = np.random.default_rng(seed)
        count = generator.poisson(2.0, size=500)
        rows = pd.DataFrame({"M": count, "Y": 0.8 * count + generator.normal(size=500)})
        assert (
            cc.discover(rows, method="score-ac", kinds={"M": "continuous"})
            .graphs["all"]
            .mark("M", "Y")
            == "-->"
        )
        assert cc.discover(rows, method="score-ac").graphs["all"].mark("M", "Y") in ("-->", "o-o")


def test_whole_numbers_that_nobody_declared_are_noted():
    rows = kinds_table(300, 1).assign(W=np.random.default_rng(1).poisson(60.0, size=300))
    words = (
        "W: whole numbers, many of them equal; if they count something, pass kinds={'W': 'count'}"
    )
    assert any(words in note for note in cc.discover(rows, "R", method="score-ac").notes)
    declared = {"M": "count", "W": "count"}
    assert not any(
        "whole" in note for note in cc.discover(rows, "R", method="score-ac", kinds=declared).notes
    )


def test_the_clinic_is_right_where_it_is_sure():
    """Visits follow the status: only as a declared count they do not turn half of the graph
    round.
    """
    result = cc.discover(
        cc.examples.clinic(1000, seed=1), "status", method="score-ac", kinds={"visits": "count"}
    )
    truth = {
        ("age", "smoker"),
        ("age", "pressure"),
        ("smoker", "pressure"),
        ("pressure", "status"),
        ("pressure", "dose"),
        ("status", "dose"),
        ("status", "visits"),
        ("dose", "complaint"),
    }
    edges = result.union.edges
    assert {frozenset((edge.source, edge.target)) for edge in edges} == {
        frozenset(pair) for pair in truth
    }
    assert {(edge.source, edge.target) for edge in edges if edge.mark == "-->"} <= truth


def test_a_declared_count_is_explained_by_its_root():
    """The noise of a Poisson count grows with its mean, that of its root hardly; directions there
    are not settled.
    """
    marks = []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        kind = generator.integers(3, size=500)
        rows = pd.DataFrame(
            {"K": np.array(list("abc"))[kind], "L": generator.poisson(np.array([1, 3, 6])[kind])}
        )
        result = cc.discover(rows, method="score-ac", kinds={"L": "count"})
        assert any("do not trust their directions" in note for note in result.notes)
        known = cc.Knowledge(tiers=[["K"], ["L"]])
        result = cc.discover(rows, method="score-ac", kinds={"L": "count"}, knowledge=known)
        marks.append(result.graphs["all"].mark("K", "L"))
        if marks[-1] == "-->":
            curve = result.evidence.mechanisms.partial_curve(1, 0, ["a", "b", "c"], 0)
            assert curve == pytest.approx([1.0, 3.0, 6.0], abs=0.9)
    assert marks == ["-->"] * 4


@pytest.mark.parametrize("levels", [2, 5])
def test_ties_do_not_break_the_curves(levels):
    """Numbers with few values: knots and steps fall together."""
    generator = np.random.default_rng(6)
    x = generator.integers(levels, size=400).astype(float)
    y = (x - 1.0) ** 2 + 0.3 * generator.normal(size=400)
    rows = pd.DataFrame(
        {"X": x, "Y": y, "Z": y + generator.normal(size=400), "R": generator.integers(2, size=400)}
    )
    result = cc.discover(rows, "R", method="score-ac", kinds={"X": "continuous"})
    assert np.isfinite(result.evidence.score)
    assert result.union.mark("X", "Y") != ""


def test_a_residual_is_held_against_what_comes_before_it_in_all_of_its_contexts():
    """Z is an effect of Y in one context and stands before it in the order of the other: no
    violation of Y.
    """
    generator = np.random.default_rng(4)
    code, noise = np.repeat([0, 1], 1000), generator.exponential(size=(3, 2000)) - 1.0
    x = noise[0]
    y = 1.5 * x + noise[1]
    z = np.where(code == 0, 0.0, 1.5) * y + noise[2]
    rows = pd.DataFrame({"X": x, "Y": y, "Z": z, "R": code})
    found = searched(rows, "exact").best
    both = (1 << 2) - 1
    for node, parts in enumerate(found.parts):
        for part in parts:
            if part.mask == both:
                held = set(np.flatnonzero(earlier(found, node)).tolist())
                places = np.argsort(found.orders, axis=1)
                assert held == {j for j in range(3) if (places[:, j] < places[:, node]).all()}
    assert not [
        finding for finding in check_fit(found, "ABC", True, False) if finding.kind == CURVES
    ]


def hidden_product(rows, seed):
    """B is the product of A and Z, and the context follows Z: slopes by context are nearly as good,
    links turned.
    """
    generator = np.random.default_rng(seed)
    a, z, e, f, g = generator.normal(size=(5, rows))
    r = np.where(z + 0.1 * f > 0.0, "high", "low")
    b = 1.5 * a * z + e
    return pd.DataFrame({"A": a, "Z": z, "B": b, "C": 1.2 * b + g, "R": r})


@pytest.mark.parametrize("groups", [2, 3])
def test_the_lead_of_a_product_is_that_of_naive_regressions(groups):
    table = hidden_product(300, 7)
    cells = np.arange(300) % groups if groups > 2 else (table["R"] == "high").to_numpy().astype(int)
    b, a, z, c = (table[name].to_numpy() for name in "BAZC")
    other = np.random.default_rng(1).normal(size=300)
    shifts = [(cells == group).astype(float) for group in range(1, groups)]

    def loss(*columns):
        design = np.column_stack([np.ones(300), a, other, *columns])
        rest = b - design @ np.linalg.lstsq(design, b, rcond=None)[0]
        return 150.0 * np.log(rest @ rest) + 3.0 * len(columns)

    slopes = [a * shift for shift in shifts]
    all_slopes = [*slopes, *(other * shift for shift in shifts)]
    expected = max(
        min(loss(y), loss(y, *shifts, *slopes), loss(y, *shifts, *all_slopes)) - loss(y, a * y)
        for y in (z, c)
    )
    found = product_lead(b, a, other[None], np.stack([z, c]), shifts, 3.0)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found > 20.0


def test_slopes_of_several_causes_by_context_are_no_product():
    """The slope of A changes with a context that follows Z: the product of both is ahead of slopes
    of Z by context.
    """
    generator = np.random.default_rng(3)
    a, z, noise = generator.normal(size=(3, 2000))
    high = (z + 0.3 * generator.normal(size=2000) > 0.0).astype(float)
    b = (1.0 + 2.0 * high) * a + (1.0 - 0.3 * high) * z + 0.5 * noise

    def left(*columns):
        design = np.column_stack([np.ones(2000), a, z, *columns])
        return float(np.sum((b - design @ np.linalg.lstsq(design, b, rcond=None)[0]) ** 2))

    assert left(a * z) < 0.8 * left(high, high * z)
    assert product_lead(b, z, a[None], a[None], [high], 4.0) < 0.0


def test_a_product_that_a_context_hides_is_found():
    """Slopes by context leave no residual that would ask for it: without a look, A - R and B --> A
    were found.
    """
    for seed in range(3):
        result = cc.discover(hidden_product(500, seed), "R", method="score-ac")
        links = {(edge.source, edge.target) for edge in result.union.edges}
        assert result.evidence.curved
        assert links == {("A", "B"), ("Z", "B"), ("B", "C"), ("Z", "R")}
        assert not result.changes("high", "low")["claimed"].any()
