"""Every place that a veto of a claim has to be entered in; CONTRIBUTING.md lists them."""

import inspect
from pathlib import Path

import pytest

import causalcontext as cc
from causalcontext.results import changes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "decisions" / "what-vetoes-a-claim.md").read_text(encoding="utf-8")
GIVING_REASONS = {
    name: function
    for name, function in inspect.getmembers(changes, inspect.isfunction)
    if function.__module__ == changes.__name__
    and list(inspect.signature(function).parameters) == ["result", "change"]
    and function.__annotations__["return"] == "str"
}
SHOWN_BY = {
    "_few_values": (
        "tests/score/test_coarse.py",
        "test_changes_near_few_values_are_claimed_only_if_these_are_declared",
    ),
    "scale_is_doubtful": (
        "tests/screening/test_damage.py",
        "test_a_made_scale_holds_claims_back_in_results_and_files",
    ),
    "model_is_wrong": (
        "tests/results/test_claims_elsewhere.py",
        "test_only_what_a_claim_compares_can_veto_it",
    ),
}
"""The test of every veto: a claim that it vetoes, and one beside it that it leaves alone."""


@pytest.fixture(scope="module")
def result():
    table = cc.examples.soil_moisture(1000, seed=1)
    return cc.discover(table, context="soil", method="score-ac")


@pytest.mark.parametrize("name", GIVING_REASONS)
def test_a_veto_is_entered(name):
    assert GIVING_REASONS[name] in changes.VETOES, "enter it in VETOES of results/changes.py"


@pytest.mark.parametrize("veto", changes.VETOES, ids=lambda veto: veto.__name__)
def test_a_veto_is_in_the_docs(veto):
    assert f"`{veto.__name__}`" in PAGE, "add it to docs/decisions/what-vetoes-a-claim.md"


@pytest.mark.parametrize("veto", changes.VETOES, ids=lambda veto: veto.__name__)
def test_a_veto_has_a_test(veto):
    assert veto.__name__ in SHOWN_BY, "write its test, and name it in SHOWN_BY"
    file, name = SHOWN_BY[veto.__name__]
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


def test_a_veto_makes_a_claim_a_candidate_and_gives_its_reason(result, monkeypatch):
    claimed = [change for change in changes.found_changes(result, "dry", "wet") if change.claimed]
    assert claimed
    monkeypatch.setattr(changes, "VETOES", (*changes.VETOES, lambda result, change: "a new reason"))
    vetoed = changes.found_changes(result, "dry", "wet")
    assert not any(change.claimed for change in vetoed)
    reasons = {(change.source, change.target, change.kind): change.reason for change in vetoed}
    for change in claimed:
        assert reasons[change.source, change.target, change.kind] == "a new reason"


def test_the_first_veto_gives_the_reason(result, monkeypatch):
    vetoes = (lambda result, change: "", lambda result, change: "one", lambda result, change: "two")
    monkeypatch.setattr(changes, "VETOES", vetoes)
    before = [change.claimed for change in changes.own_claims(result, "dry", "wet")]
    after = changes.found_changes(result, "dry", "wet")
    assert any(before)
    assert {change.reason for change, was in zip(after, before, strict=True) if was} == {"one"}
