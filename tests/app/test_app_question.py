"""A question there and back, as a script, and what differs between the answers to two."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext_app.question import OPTIONS, Question, run_title
from causalcontext_app.session import compared

NASTY = 'it\'s "A" $(x) `y` \\ é'
QUESTIONS = {
    "plain": {},
    "by soil": {"context": ["soil"], "options": {"method": "pc-ac", "alpha": 0.01}},
    "a threshold": {"context": [{"column": "radiation", "cuts": [0.25]}], "drop": ["soil"]},
    "two contexts": {
        "context": ["soil", {"column": "radiation", "quantiles": 2}],
        "options": {"method": "pc-ac", "max_given": 2, "test": "partial-correlation"},
    },
    "knowledge": {
        "context": ["soil"],
        "drop": ["humidity"],
        "knowledge": {
            "required": [["precipitation", NASTY]],
            "forbidden": [["radiation", "soil"]],
            "tiers": [["precipitation"], [NASTY]],
            "roots": ["radiation"],
        },
    },
    "kinds": {
        "context": ["soil"],
        "kinds": {"level": "ordered"},
        "options": {"method": "pc-ac", "seed": 3},
    },
    "hidden": {
        "context": ["soil"],
        "options": {"method": "fci-ac", "context_confounded": False},
        "drop": ["level"],
    },
    "bins": {
        "context": [{"column": "radiation", "cuts": [-0.5, 0.5]}],
        "options": {"method": "pc-p"},
    },
    "lags": {
        "context": ["soil"],
        "options": {"lags": 1, "time": "day", "method": "pc-ac"},
        "drop": ["level"],
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table whose names need care, and the command."""
    place = tmp_path_factory.mktemp("scripts")
    table = cc.examples.soil_moisture(250, seed=1).rename(columns={"runoff": NASTY})
    table["level"] = np.digitize(table["temperature"], [-1, 0, 1])
    table["day"] = pd.date_range("2020-01-01", periods=250)
    table.to_csv(place / "the table.csv", index=False)
    command = place / "causalcontext"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m causalcontext "$@"\n')
    command.chmod(0o755)
    return place


def asked(name: str) -> Question:
    content = QUESTIONS[name]
    return Question.from_dict(
        content if "lags" in name else content | {"drop": [*content.get("drop", []), "day"]}
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_comes_back_and_a_script_repeats_its_search(folder, name, monkeypatch, capsys):
    """`as_python` gives the search that the question is: the same graphs, log and settings."""
    question = asked(name)
    assert Question.from_dict(question.to_dict()) == question
    table = cc.read_file(folder / "the table.csv")
    question.check(list(table.columns))
    expected = cc.discover(
        question.of_frame(table), question.asked_context(), **question.arguments()
    )
    monkeypatch.chdir(folder)
    exec(question.as_python("the table.csv", "python.json"), {})
    assert cc.load("python.json") == expected


@pytest.mark.parametrize(
    "name",
    [
        "knowledge",
        pytest.param("two contexts", marks=pytest.mark.slow),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in QUESTIONS
            if name not in ("knowledge", "two contexts")
        ),
    ],
)
def test_a_command_repeats_the_search(folder, name):
    question = asked(name)
    table = cc.read_file(folder / "the table.csv")
    expected = cc.discover(
        question.of_frame(table), question.asked_context(), **question.arguments()
    )
    script = question.as_command("the table.csv", "command.json")
    surroundings = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, env=surroundings, check=True, capture_output=True
    )
    found = cc.load(folder / "command.json")
    assert dict(found.graphs) == dict(expected.graphs)
    assert found.settings.knowledge == expected.settings.knowledge
    assert found.tests_run == expected.tests_run


def test_a_run_has_a_short_title():
    titles = [run_title(asked(name)) for name in ("plain", "by soil", "a threshold", "knowledge")]
    assert titles == [
        "one graph; without day",
        "by soil; pc-ac; alpha 0.01; without day",
        "by radiation > 0.25; without soil and day",
        "by soil; 5 statements known; without humidity and day",
    ]
    both = {"forbidden": [["a", "b"], ["b", "a"], ["a", "c"]], "sinks": ["c"]}
    assert run_title(Question.from_dict({"knowledge": both})) == "one graph; 3 statements known"


def test_every_plain_option_can_be_asked():
    assert {"method", "alpha", "missing", "lags", "time", "units"} <= set(OPTIONS)
    assert Question.from_dict({"options": {"alpha": 0.05, "method": "auto"}}).options == {}


def test_knowledge_as_toml_comes_back(tmp_path):
    known = cc.Knowledge(
        required=[("a\x7f\n\"'", "b\\")],
        forbidden=[("é😀", "b\\")],
        tiers=[["x"], [], ["y\t"]],
        sinks=["z\u2028"],
        closed=["q"],
    )
    (tmp_path / "known.toml").write_text(known.to_toml(), encoding="utf-8")
    assert cc.Knowledge.from_toml(tmp_path / "known.toml") == known
    assert cc.Knowledge().to_toml() == ""


def search(table, context="soil", **options):
    return cc.discover(table, context, method="pc-ac", **options)


def test_two_runs_are_compared_edge_by_edge():
    table = cc.examples.soil_moisture(1500, seed=1)
    first = search(table, alpha=0.01)
    known = cc.Knowledge(forbidden=[("precipitation", "soil"), ("soil", "precipitation")])
    second = search(table, alpha=0.01, knowledge=known)
    found = compared(first, second)
    assert [panel["title"] for panel in found["panels"]] == ["soil = dry", "soil = wet"]
    for panel, value in zip(found["panels"], first.contexts, strict=True):
        assert "precipitation --> soil" in panel["vanished"]
        before = {frozenset((edge.source, edge.target)) for edge in first.graphs[value].edges}
        after = {frozenset((edge.source, edge.target)) for edge in second.graphs[value].edges}
        assert len(panel["vanished"]) == len(before - after)
        assert len(panel["appeared"]) == len(after - before)
        assert panel["same"] + len(panel["turned"]) == len(before & after)
    assert compared(first, first)["panels"][0] == {
        "title": "soil = dry",
        "appeared": [],
        "vanished": [],
        "turned": [],
        "same": len(first.graphs["dry"].edges),
    }


def test_a_threshold_that_moved_is_compared_in_order_and_other_contexts_by_their_unions():
    table = cc.examples.soil_moisture(600, seed=1)
    low, high = (
        search(table.drop(columns="soil"), cc.threshold("radiation", cut)) for cut in (0.0, 0.5)
    )
    titles = [panel["title"] for panel in compared(low, high)["panels"]]
    assert titles == [
        "radiation <= 0, then radiation <= 0.5",
        "radiation > 0, then radiation > 0.5",
    ]
    assert compared(low, high)["notes"] == []
    found = compared(search(table), search(table, None))
    assert [panel["title"] for panel in found["panels"]] == ["union of all contexts"]
    found = compared(search(table), search(table.drop(columns="runoff")))
    assert found["notes"] == ["runoff is in only one of the two runs"]
