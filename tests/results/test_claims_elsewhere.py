"""What happens to other columns, to the order of the rows or to the zero of a scale costs no
claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.model_checks.violations import OUTLIERS, ROWS, Violation
from causalcontext.results.changes import model_is_wrong, own_claims
from causalcontext.results.kept import KeptAnswers, answers_of, with_answers
from questions import model_checks

CLAIMED = {("A", "C", "edge"), ("W", "K", "slope")}


def table(seed: int, rows: int = 700) -> pd.DataFrame:
    """A and C cause R; A causes C where R is "two", and W acts on K more strongly there."""
    g = np.random.default_rng(seed)
    a, w, b = g.normal(size=(3, rows))
    r = g.random(rows) < 1.0 / (1.0 + np.exp(-2.5 * b))
    c = r * a + 0.8 * g.normal(size=rows)
    k = (0.3 + 0.8 * r) * w + 0.5 * r + 0.8 * g.normal(size=rows)
    d = 0.6 * c + 0.7 * k + g.normal(size=rows)
    return pd.DataFrame(
        {"A": a, "B": b, "C": c, "K": k, "W": w, "D": d, "R": np.where(r, "two", "one")}
    )


def claims(result: cc.ContextGraphs) -> set[tuple[str, str, str]]:
    found = result.changes("one", "two")
    return set(
        found.loc[found["claimed"], ["source", "target", "kind"]].itertuples(index=False, name=None)
    )


def with_pair(
    found: pd.DataFrame, make: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> pd.DataFrame:
    u, e = np.random.default_rng(99).normal(size=(2, len(found)))
    return found.assign(U=u, V=make(u, e))


PAIRS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "curve": lambda u, e: 2.0 * np.sin(2.0 * u) + 0.5 * e,
    "square": lambda u, e: u**2 + 0.5 * e,
    "uneven": lambda u, e: u + np.exp(0.7 * u) * e,
    "line": lambda u, e: u + 0.6 * e,
}


@pytest.mark.parametrize("kind", PAIRS)
def test_an_unrelated_pair_costs_no_claim(kind: str):
    clean = claims(cc.discover(table(2), "R"))
    assert clean >= CLAIMED
    result = cc.discover(with_pair(table(2), PAIRS[kind]), "R")
    assert claims(result) == clean


def test_an_unrelated_product_costs_no_claim():
    found = table(2)
    u, v, e = np.random.default_rng(98).normal(size=(3, len(found)))
    assert claims(cc.discover(found.assign(U=u, V=v, P=u * v + 0.4 * e), "R")) >= CLAIMED


def test_claims_beside_a_curve_are_kept_in_a_file(tmp_path):
    result = cc.discover(with_pair(table(2), PAIRS["curve"]), "R")
    assert result.evidence.curved
    result.save(tmp_path / "result.json")
    assert claims(cc.load(tmp_path / "result.json")) == claims(result) >= CLAIMED


def answer(result: cc.ContextGraphs) -> tuple[object, ...]:
    """Everything that is said in words, and the effect of a cause to three digits."""
    result.second_opinion()
    changes = (
        result.changes("one", "two")[["source", "target", "kind", "claimed", "reason"]]
        .to_numpy()
        .tolist()
    )
    pairs = [(x, y) for x in result.names for y in result.names if x < y]
    return (
        dict(result.graphs),
        changes,
        model_checks(result),
        result.warnings,
        result.notes,
        [result.explain(*pair) for pair in pairs],
    )


@pytest.mark.parametrize("method", ["score-ac", "pc-ac"])
def test_the_order_of_the_rows_changes_no_word(method: str):
    found = table(2, 400)
    orders = {
        "by a cause": found.sort_values("A"),
        "by the context and a cause": found.sort_values(["R", "W"]),
        "shuffled": found.sample(frac=1.0, random_state=1),
    }
    expected = answer(cc.discover(found, "R", method=method))
    for name, other in orders.items():
        assert answer(cc.discover(other.reset_index(drop=True), "R", method=method)) == expected, (
            name
        )


@pytest.mark.parametrize("offset", [1e6, 1e9])
@pytest.mark.parametrize("method", ["score-ac", "pc-ac"])
def test_the_zero_of_a_scale_changes_nothing(offset: float, method: str):
    found = table(3, 500)
    moved = found.assign(**{name: found[name] + offset for name in "ABCDKW"})
    here, there = (cc.discover(one, "R", method=method) for one in (found, moved))
    assert dict(here.graphs) == dict(there.graphs)
    assert claims(here) == claims(there)
    columns = ["source", "target", "kind", "claimed", "reason"]
    first, second = here.changes("one", "two"), there.changes("one", "two")
    assert first[columns].to_numpy().tolist() == second[columns].to_numpy().tolist()
    moves = np.where(first["kind"] == "level", offset, 0.0)
    shown = second["effect_present"] - moves
    np.testing.assert_allclose(first["effect_present"], shown, rtol=1e-4, atol=1e-4)
    assert model_checks(here) == model_checks(there)
    one, other = (
        result.effects("W", "K").select_dtypes("number").to_numpy() for result in (here, there)
    )
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_only_what_a_claim_compares_can_veto_it():
    """Dependent rows at the effect, other violations at the effect, the cause and what else may
    cause the effect.
    """
    result = cc.discover(table(2), "R")
    assert {cause for cause in result.names if result.union.mark(cause, "K") == "-->"} == {"W", "R"}
    (change,) = (
        one for one in own_claims(result, "one", "two") if (one.source, one.target) == ("W", "K")
    )
    for kind, columns, wrong in (
        (ROWS, ("K",), True),
        (ROWS, ("W",), False),
        (ROWS, ("A", "B"), False),
        (OUTLIERS, ("W",), True),
        (OUTLIERS, ("K",), True),
        (OUTLIERS, ("D", "C"), False),
    ):
        violation = Violation(kind, columns, 0.5, sizes=(0.5,) * len(columns))
        other = with_answers(replace(result), KeptAnswers(violations=(violation,)))
        doubt = model_is_wrong(other, change)
        assert bool(doubt) == wrong, (kind, columns)
        assert not wrong or f"{kind} at {columns[0]}" in doubt
    for columns, wrong in ((("K",), True), (("D",), False), ((), True)):
        evidence = replace(result.evidence, contradictions=(("curves", columns),))
        other = with_answers(replace(result, evidence=evidence), answers_of(result))
        assert bool(model_is_wrong(other, change)) == wrong, columns


def test_files_that_name_no_columns_veto_as_before():
    result = cc.discover(table(2), "R")
    content = replace(result.evidence, contradictions=(("curves", ("D",)),)).to_dict()
    assert content["contradicted"] == ["curves"]
    del content["contradictions"]
    again = type(result.evidence).from_dict(content)
    assert again.contradictions == (("curves", ()),)


PRODUCTS = {
    "a product": lambda x, y, r: x * y,
    "a product by context": lambda x, y, r: x * y * (1 + r),
    "a product and a line": lambda x, y, r: x * y + 0.4 * x,
}


@pytest.mark.parametrize("kind", PRODUCTS)
def test_independent_causes_of_a_product_are_not_said_to_lack_a_link(kind: str):
    """Given their effect they are dependent: that gain is not one of the model, in which the effect
    comes later.
    """
    for seed in range(2):
        g = np.random.default_rng(seed)
        x, y, e, f = g.normal(size=(4, 500))
        r = g.random(500) < 0.5
        z = PRODUCTS[kind](x, y, r) + 0.5 * e
        result = cc.discover(
            pd.DataFrame({"X": x, "Y": y, "Z": z, "W": z + f, "R": np.where(r, "a", "b")}), "R"
        )
        assert result.union.mark("X", "Z") == result.union.mark("Y", "Z") == "-->"
        for line in result.explain("X", "Y").split("\n"):
            assert "would lower the score" in line, line


def test_absent_links_are_not_probable():
    """What the search leaves out at its price of a parameter has a probability at the same
    price.
    """
    for seed in range(4):
        g = np.random.default_rng(seed)
        x, y, e, f = g.normal(size=(4, 600))
        r = g.random(600) < 0.5
        z = x * y * r + 0.5 * e
        result = cc.discover(
            pd.DataFrame({"X": x, "Y": y, "Z": z, "W": z + f, "R": np.where(r, "a", "b")}),
            "R",
            method="score-ac",
            curves="never",
            wrong_cells="keep",
        )
        found = result.probabilities()
        for row in found[(found.x != "R") & (found.y != "R")].itertuples():
            if not result.graphs[row.context].mark(row.x, row.y):
                assert row.edge < 0.5, (seed, row)
