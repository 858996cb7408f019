"""`causalcontext effects`: a saved result answers from its moments."""

import json

import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app


@pytest.fixture(autouse=True)
def soil(tmp_path, monkeypatch):
    """A working folder that holds r.json."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    result = cc.discover(cc.examples.soil_moisture(800, seed=3), "soil", method="pc-ac", alpha=0.01)
    result.save("r.json")
    return result


def run(*words):
    return CliRunner().invoke(app, ["effects", "r.json", *words])


def test_effects_are_on_the_terminal_with_their_differences(soil):
    answer = run("precipitation", "runoff")
    assert answer.exit_code == 0
    assert "precipitation on runoff" in answer.stdout
    assert "wet minus dry" in answer.stdout
    found = soil.effects("precipitation", "runoff", errors="classical")
    assert f"{found['effect'][1]:.3g}" in answer.stdout
    assert f"{found['low'][1]:.3g} ... {found['high'][1]:.3g}" in answer.stdout
    assert "classical" in answer.stderr


def test_effects_as_json_are_the_table(soil):
    found = json.loads(run("soil", "--json", "-").stdout)
    table = soil.effects("soil", errors="classical")
    assert [row["y"] for row in found] == table["y"].tolist()
    assert [row["effect"] for row in found] == pytest.approx(table["effect"].tolist(), rel=1e-6)


def test_paths_and_all_pairs():
    assert "precipitation --> runoff" in run("precipitation", "runoff", "--by-path").stdout
    assert "radiation on humidity" in run().stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["precipitation", "run-off"], "did you mean 'runoff'"),
        (["precipitation", "soil", "--by-path"], "not yet: effects on the context 'soil'"),
        (
            ["precipitation", "runoff", "--of-level", "high"],
            "of_level is 'high', but runoff is a number",
        ),
        (["precipitation", "--by-path"], "needs a cause and an effect"),
        (["precipitation", "runoff", "--level", "95"], "level"),
    ],
)
def test_bad_questions_end_with_one_sentence(words, said):
    answer = run(*words)
    assert answer.exit_code == 2
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1
