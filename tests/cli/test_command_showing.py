"""`explain`, `plot`, `report`, `export`: a saved result is shown, and what cannot be shown is one
sentence.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import causalcontext as cc
import hostile
from causalcontext.cli.app import app
from causalcontext.cli.export import FORMATS
from causalcontext.report.advice import on_the_command_line
from causalcontext.report.html import write_report
from marks import rest_slow


@pytest.fixture(autouse=True)
def soil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cc.ContextGraphs:
    """A working folder that holds r.json."""
    monkeypatch.chdir(tmp_path)
    result = cc.discover(cc.examples.soil_moisture(800, seed=3), "soil")
    result.save("r.json")
    return result


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_explain_tells_the_story(soil: cc.ContextGraphs) -> None:
    answer = run("explain", "r.json", "precipitation", "runoff")
    assert answer.exit_code == 0
    stories = soil.explain("precipitation", "runoff").split("\n")
    assert answer.stdout == "\n\n".join(stories) + "\n"


def test_explain_as_json(soil: cc.ContextGraphs) -> None:
    found = json.loads(run("explain", "r.json", "runoff", "precipitation", "--json", "-").stdout)
    assert found["stories"] == soil.explain("runoff", "precipitation").split("\n")
    assert [test["context"] for test in found["tests"]] == ["dry", "wet"]
    assert found["marks"][1]["mark"] == soil.graphs["wet"].mark("runoff", "precipitation")


@pytest.mark.parametrize(
    "words",
    rest_slow(
        [
            ["a.svg", "--kind", "union"],
            ["b.png", "--only", "wet"],
            ["a.png"],
            ["a.pdf", "--kind", "difference"],
        ],
        fast=2,
    ),
)
def test_plot_writes_a_picture(words: list[str]) -> None:
    assert run("plot", "r.json", *words).exit_code == 0
    assert Path(words[0]).stat().st_size > 1000


def test_report_goes_beside_the_result_or_where_asked(soil: cc.ContextGraphs) -> None:
    assert run("report", "r.json").exit_code == 0
    assert run("report", "r.json", "other.html", "--title", "Mine").exit_code == 0
    write_report(cc.load("r.json"), "expected.html", spoken=on_the_command_line)
    assert Path("r.html").read_text() == Path("expected.html").read_text()
    assert "<title>Mine</title>" in Path("other.html").read_text()


def test_discover_writes_a_report() -> None:
    cc.examples.soil_moisture(300, seed=3).to_csv("soil.csv", index=False)
    answer = run("discover", "soil.csv", "--context", "soil", "--report", "out.html")
    assert answer.exit_code == 0
    assert answer.stderr == "the report is in out.html: open it in a browser\n"
    assert Path("out.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("form", list(FORMATS))
def test_export_prints_a_graph(soil: cc.ContextGraphs, form: str) -> None:
    answer = run("export", "r.json", "--to", form, "--only", "wet")
    assert answer.exit_code == 0
    assert answer.stdout == getattr(cc.export, f"to_{form}")(soil.graphs["wet"]) + "\n"


def test_export_prints_tabs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = cc.examples.soil_moisture(300, seed=3).rename(columns={"runoff": "run\toff"})
    cc.discover(table, "soil").save("r.json")
    answer = run("export", "r.json", "--to", "dot")
    assert answer.stdout == cc.export.to_dot(cc.load("r.json").union) + "\n"
    assert "\t" in answer.stdout


def test_export_to_a_file(soil: cc.ContextGraphs) -> None:
    assert run("export", "r.json", "--to", "gml", "--output", "g.gml").exit_code == 0
    assert cc.export.from_gml(Path("g.gml").read_text()) == soil.union


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["explain", "r.json", "precipitation", "runof"],
            "there is no variable 'runof'; did you mean 'runoff'?",
        ),
        (["explain", "nowhere.json", "a", "b"], "result file 'nowhere.json' cannot be read"),
        (["plot", "r.json", "a.bmp"], "its name must end with .png, .svg or .pdf"),
        (["plot", "r.json", "a.png", "--kind", "unoin"], "did you mean 'union'?"),
        (
            ["plot", "r.json", "a.png", "--only", "wett"],
            "there is no context 'wett'; did you mean 'wet'?",
        ),
        (["plot", "r.json", "missing/a.png"], "there is no folder missing"),
        (["report", "r.json", "missing/a.html"], "there is no folder missing"),
        (["report", "r.json", "r.json"], "it is an input of the same command"),
        (["export", "r.json", "--to", "dott"], "did you mean 'dot'?"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(words: list[str], sentence: str) -> None:
    answer = run(*words)
    assert answer.exit_code == 2
    assert sentence in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_every_command_helps() -> None:
    for command in ("discover", "check", "explain", "plot", "report", "export", "demo"):
        assert run(command, "--help").exit_code == 0


def test_hostile_names_go_all_the_way() -> None:
    hostile.table().to_csv("hostile.csv", index=False)
    assert (
        run(
            "discover",
            "hostile.csv",
            "--context",
            hostile.CONTEXT,
            "--json",
            "h.json",
            "--report",
            "h.html",
        ).exit_code
        == 0
    )
    assert run("plot", "h.json", "h.png").exit_code == 0
    assert run("explain", "h.json", hostile.NAMES[0], hostile.NAMES[1]).exit_code == 0
    assert cc.export.from_gml(run("export", "h.json", "--to", "gml").stdout).names == hostile.NAMES
    refused = run("export", "h.json", "--to", "tetrad")
    assert refused.exit_code == 2
    assert "Tetrad cannot hold" in refused.stderr


def test_changes_between_contexts() -> None:
    answer = run("changes", "r.json", "dry", "wet")
    assert answer.exit_code == 0
    assert "precipitation --> runoff" in answer.stdout
    found = json.loads(run("changes", "r.json", "dry", "wet", "--json", "-").stdout)
    assert {row["target"] for row in found if row["claimed"]} == {"runoff", "evapotranspiration"}
    assert run("changes", "r.json", "dry", "wett").stderr.startswith(
        "error: there is no context 'wett'; did you mean"
    )


def test_simulated_tables_can_be_searched() -> None:
    answer = run("simulate", "table.csv", "--rows", "300", "--seed", "3")
    assert answer.exit_code == 0
    assert "true links" in answer.stdout
    assert run("discover", "table.csv", "--context", "R").exit_code == 0
    again = run("simulate", "again.csv", "--rows", "300", "--seed", "3")
    assert Path("again.csv").read_text() == Path("table.csv").read_text()
    assert again.stdout == answer.stdout
    for words in (
        ["table.txt"],
        ["t.csv", "--rows", "0"],
        ["t.csv", "--density", "3"],
        ["none/t.csv"],
    ):
        refused = run("simulate", *words)
        assert refused.exit_code == 2
        assert refused.stderr.startswith("error: ")
    assert not Path("t.csv").exists()


def test_combinations_of_contexts_are_written_with_commas() -> None:
    table = cc.examples.soil_moisture(1000, seed=1)
    table["season"] = ["summer", "winter"] * 500
    cc.discover(table, context=["soil", "season"], method="pc-ac", alpha=0.01).save("two.json")
    found = json.loads(run("changes", "two.json", "dry,summer", "wet,summer", "--json", "-").stdout)
    assert ("precipitation", "runoff") in {(row["source"], row["target"]) for row in found}
    assert "dry,summer" in run("changes", "two.json", "wet,summer", "dry,summer").stdout
    wrong = run("changes", "two.json", "dry,summer", "wet,sumer")
    assert "did you mean 'wet,summer'?" in wrong.stderr
