"""Every place that a veto of a claim has to be entered in; CONTRIBUTING.md lists them."""

import inspect
from pathlib import Path

import pytest

import causalcontext as cc
from causalcontext.results import changes

PAGE = (Path(__file__).parents[2] / "docs" / "decisions" / "what-vetoes-a-claim.md").read_text(
    encoding="utf-8"
)
GIVING_REASONS = {
    name: function
    for name, function in inspect.getmembers(changes, inspect.isfunction)
    if function.__module__ == changes.__name__
    and list(inspect.signature(function).parameters) == ["result", "change"]
    and function.__annotations__["return"] == "str"
}


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
