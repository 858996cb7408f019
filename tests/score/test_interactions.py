"""Categories whose causes act together: products of levels are proposed, priced, saved and of use,
and only then.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from naive_logit import naive_logit
from scipy.special import softmax
from score_tables import design_of, fits_of, workspace_of

import causalcontext as cc
from causalcontext.score.curves import interaction_gains

LEVELS = np.array(["low", "middle", "high"])


def switch_table(rows: int, seed: int, additive: bool = False) -> pd.DataFrame:
    """A and B cause C, which causes D; the share of C follows a table of A and B, or a sum of what
    either does.
    """
    random = np.random.default_rng(seed)
    a, b = random.integers(3, size=rows), random.integers(3, size=rows)
    sums = np.array([-1.5, 0.0, 1.5])[:, None] + np.array([1.2, 0.0, -1.2])
    odds = (
        sums if additive else np.array([[-2.0, -2.0, 2.0], [-2.0, 2.0, 2.0], [2.0, 2.0, -2.0]])
    )[a, b]
    c = (random.random(rows) < 1 / (1 + np.exp(-odds))).astype(int)
    d = np.where(random.random(rows) < 0.2, random.integers(2, size=rows), c)
    return pd.DataFrame(
        {
            "A": LEVELS[a],
            "B": LEVELS[b],
            "C": np.array(["no", "yes"])[c],
            "D": np.array(["off", "on"])[d],
        }
    )


def products_of(result: cc.ContextGraphs) -> list[tuple[str, ...]]:
    terms = [
        term
        for one in result.evidence.mechanisms.equations
        for term in one.terms
        if term.kind == "product"
    ]
    return [tuple(result.names[cause] for cause in term.causes) for term in terms]


def test_gains_are_those_of_robust_score_tests():
    random = np.random.default_rng(3)
    one, other = random.integers(3, size=120), random.integers(2, size=120)
    codes = (random.integers(3, size=120) + (one == 2) * random.integers(2, size=120)) % 3
    gains = interaction_gains(codes, 3, np.eye(3)[one].T.copy(), np.eye(2)[other].T.copy())
    design = np.column_stack([np.ones(120), one == 0, one == 1, other == 0]).astype(float)
    slopes = np.zeros(8)
    for _ in range(30):
        _, gradient, curvature = naive_logit(design.T, codes, 3, slopes)
        slopes += np.linalg.solve(curvature, gradient)
    shares = softmax(np.column_stack([design @ slopes.reshape(2, 4).T, np.zeros(120)]), axis=1)
    for a in range(3):
        for b in range(2):
            x = ((one == a) & (other == b)).astype(float)
            x = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
            worth = 0.0
            for level in range(3):
                left = (codes == level) - shares[:, level]
                worth += 0.5 * (2 / 3) * sum(x * left) ** 2 / sum((x * left) ** 2)
            assert gains[a, b] == pytest.approx(worth, rel=0.01)


def test_causes_that_act_together_are_found_and_directed():
    result = cc.discover(switch_table(1500, 1), method="score-ac")
    assert {(edge.source, edge.target, edge.mark) for edge in result.union.edges} == {
        ("A", "C", "-->"),
        ("B", "C", "-->"),
        ("C", "D", "-->"),
    }
    assert {frozenset(pair) for pair in products_of(result)} == {frozenset("AB")}


def test_sums_have_no_products():
    found = [
        cc.discover(switch_table(600, seed, additive=True), method="score-ac") for seed in range(8)
    ]
    assert sum(bool(products_of(result)) for result in found) == 0


def test_products_can_be_switched_off():
    result = cc.discover(switch_table(1500, 1), method="score-ac", curves="never")
    assert products_of(result) == []


def test_probabilities_are_those_of_the_table():
    """Without other causes the logit with all products it needs is the table itself: its shares
    come back.
    """
    rows = switch_table(20_000, 5)
    result = cc.discover(rows, method="score-ac")
    mechanisms, names = result.evidence.mechanisms, result.names
    a, b, c = (names.index(name) for name in "ABC")
    equation = mechanisms.equation(c, 0)
    standard = {v: mechanisms.scales[v].standard(rows[names[v]].to_numpy()) for v in (a, b)}
    odds = equation.intercepts[0][0] + sum(
        term.slopes[0] * term.values(standard) for term in equation.terms
    )
    first = mechanisms.scales[c].levels[0]
    shown = pd.DataFrame(
        {
            "A": rows["A"],
            "B": rows["B"],
            "model": 1 / (1 + np.exp(-odds)),
            "seen": rows["C"] == first,
        }
    )
    by_cell = shown.groupby(["A", "B"]).mean()
    assert np.abs(by_cell["model"] - by_cell["seen"]).max() < 0.05
    curve = mechanisms.partial_curve(c, a, list(mechanisms.scales[a].levels), 0)
    assert curve.shape == (2, 3)
    assert curve.sum(axis=0) == pytest.approx(1.0)


def test_products_of_levels_are_kept_in_files(tmp_path):
    result = cc.discover(switch_table(1500, 1), method="score-ac")
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json").evidence.mechanisms == result.evidence.mechanisms


def test_columns_and_workers_do_not_matter():
    rows = switch_table(800, 4)
    result = cc.discover(rows, method="score-ac")
    assert cc.discover(rows, method="score-ac", n_jobs=2) == result
    other = cc.discover(rows[["D", "B", "C", "A"]], method="score-ac")
    assert all(other.union.mark(x, y) == result.union.mark(x, y) for x in "ABCD" for y in "ABCD")


def test_a_sum_of_indicators_keeps_all_of_them():
    """Once its causes explain a category without rest, none of them may look superfluous."""
    codes = np.repeat([[0, 0, 0, 2], [1, 0, 1, 0], [0, 1, 1, 1]], [460, 30, 10], axis=0).T
    rows = pd.DataFrame(
        {
            name: np.array(["no", "yes", "both"])[own]
            for name, own in zip("ABCD", codes, strict=True)
        }
    )
    design = design_of(rows, None)
    workspace, names = (
        workspace_of(design),
        [design.data.table.names[j] for j in design.data.position],
    )
    for child, parents in (("C", "AB"), ("A", "BC"), ("D", "AB")):
        offered = np.array([[name in parents for name in names]])
        (score,), (columns,) = fits_of(workspace, [(0, names.index(child))], offered)
        assert {names[design.owner[column]] for column in columns} == {*parents}
        own = [column for column, owner in enumerate(design.owner) if names[owner] in parents]
        sets = [
            (0, names.index(child), some) for size in range(3) for some in combinations(own, size)
        ]
        assert score == pytest.approx(
            workspace.score(sets)[:, 0].max(), abs=1e-3
        )  # no set of columns is better


@pytest.mark.slow
def test_level_and_power():
    """Of 40 tables whose causes add up at most two have a product; of 40 with a switch 36 have it,
    directed right.
    """
    sums = [
        cc.discover(switch_table(500, 100 + seed, additive=True), method="score-ac")
        for seed in range(40)
    ]
    assert sum(bool(products_of(result)) for result in sums) <= 2
    switches = [cc.discover(switch_table(500, 100 + seed), method="score-ac") for seed in range(40)]
    assert (
        sum(
            result.union.mark("A", "C") == "-->" == result.union.mark("B", "C")
            for result in switches
        )
        >= 36
    )


def test_a_link_that_acts_together_with_another_alone_is_called_so():
    result = cc.discover(switch_table(1500, 2), method="score-ac")
    mechanisms, c = result.evidence.mechanisms, result.position("C")
    (equation,) = (one for one in mechanisms.equations if one.effect == c)
    for name in ("A", "B"):
        kinds = {term.kind for term in equation.terms if result.position(name) in term.causes}
        words = (
            "a product with another cause" if kinds == {"product"} else "a level for every category"
        )
        assert words in result.explain(name, "C")
    alone = tuple(term for term in equation.terms if term.kind == "product")
    assert alone
    only = replace(mechanisms, equations=(replace(equation, terms=alone),))
    assert only.shape(c, alone[0].causes[0], 0) == "product"
