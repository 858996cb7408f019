"""`causalcontext discover`: what is printed, what is saved, and that options reach the search."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.report.advice import on_the_command_line

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(cc.__file__).parents[1])}


@pytest.fixture(autouse=True)
def soil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A working folder that holds soil.csv."""
    monkeypatch.chdir(tmp_path)
    cc.examples.soil_moisture(800, seed=3).to_csv("soil.csv", index=False)
    return cc.read_file("soil.csv")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["discover", *words])


def run_process(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "causalcontext", *words]
    return subprocess.run(
        command, env=ENVIRONMENT | environment, capture_output=True, text=True, check=False
    )


def test_the_summary_is_printed_and_the_result_saved(soil: pd.DataFrame) -> None:
    answer = run("soil.csv", "--context", "soil", "--json", "out.json")
    expected = cc.discover(soil, "soil")
    assert answer.exit_code == 0
    assert on_the_command_line(str(expected)) in answer.stdout
    assert answer.stderr == ""
    assert cc.load("out.json") == expected


def test_the_file_has_the_promised_shape() -> None:
    run("soil.csv", "--context", "soil", "--json", "out.json")
    content = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert content["complete"] is True
    assert content["context"]["name"] == "soil"
    assert content["context"]["levels"] == ["dry", "wet"]
    assert set(content["graphs"]) == {"dry", "wet"}
    assert {"source": "precipitation", "target": "soil", "mark": "-->"} in content["union"]


def test_the_kinds_are_printed() -> None:
    lines = run("soil.csv", "--context", "soil").stdout.splitlines()
    assert any(line.split() == ["context", "categorical", "string", "1", "soil"] for line in lines)
    assert any(line.split()[:4] == ["system", "continuous", "float64", "6"] for line in lines)


def test_every_option_reaches_the_search(soil: pd.DataFrame) -> None:
    Path("known.toml").write_text('forbidden = [["runoff", "humidity"]]\n', encoding="utf-8")
    words = [
        "--method",
        "pc-b",
        "--test",
        "fisher-z",
        "--alpha",
        "0.01",
        "--knowledge",
        "known.toml",
        "--max-given",
    ]
    words += [
        "2",
        "--collider-rule",
        "conservative",
        "--kind",
        "soil=categorical",
        "--missing",
        "listwise",
    ]
    answer = run(
        "soil.csv", "--context", "soil", *words, "--jobs", "2", "--seed", "7", "--json", "out.json"
    )
    assert answer.exit_code == 0
    assert cc.load("out.json") == cc.discover(
        soil,
        "soil",
        method="pc-b",
        test="fisher-z",
        alpha=0.01,
        max_given=2,
        collider_rule="conservative",
        knowledge=cc.Knowledge(forbidden=[("runoff", "humidity")]),
        kinds={"soil": "categorical"},
        missing="listwise",
        seed=7,
    )


def test_without_a_context_it_is_plain_pc(soil: pd.DataFrame) -> None:
    plain = soil.drop(columns="soil")
    plain.to_csv("plain.csv", index=False)
    answer = run("plain.csv", "--json", "out.json")
    assert answer.exit_code == 0
    assert cc.load("out.json").contexts == ("all",)
    expected = cc.discover(cc.read_file("plain.csv"))
    assert on_the_command_line(str(expected)) in answer.stdout


def test_an_integer_context_keeps_its_type(soil: pd.DataFrame) -> None:
    soil.assign(soil=(soil.soil == "wet").astype(int)).to_csv("numbers.csv", index=False)
    run("numbers.csv", "--context", "soil", "--json", "out.json")
    assert cc.load("out.json").contexts == (0, 1)


@pytest.mark.parametrize(
    "name", ["[bold]rain[/bold]", "[/]", "[red", "a=b", "rain\x1b[31m", "pluie é", ":smile:"]
)
def test_names_are_data_and_never_markup(soil: pd.DataFrame, name: str) -> None:
    soil.rename(columns={"precipitation": name, "soil": "[i]soil"}).to_csv("names.csv", index=False)
    answer = run("names.csv", "--context", "[i]soil", "--kind", f"{name}=continuous")
    shown = name.replace("\x1b", "\\x1b")
    assert answer.exit_code == 0, answer.stderr
    assert f"  {shown} --> [i]soil\n" in answer.stdout
    assert "\x1b" not in answer.stdout


def test_names_in_errors_are_on_one_line() -> None:
    answer = run("soil.csv", "--context", "so\nil [bold]")
    assert answer.stderr.startswith("error: the table has no context column 'so\\nil [bold]'")
    assert answer.stderr.count("\n") == 1


def test_rows_that_are_lost_are_reported(soil: pd.DataFrame) -> None:
    soil.loc[:9, "runoff"] = np.nan
    soil.loc[20:24, "soil"] = None
    frozen = soil.head(4).assign(soil="frozen", runoff=np.nan)
    pd.concat([soil, frozen]).to_csv("holes.csv", index=False)
    answer = run("holes.csv", "--context", "soil", "--missing", "listwise")
    lost = soil[soil.runoff.isna()].soil.value_counts()
    assert (
        f"rows dropped for missing values: dry: {lost['dry']}, wet: {lost['wet']}" in answer.stdout
    )
    assert "rows dropped without a value of soil: 5" in answer.stdout
    assert "no graph: frozen (4 rows)" in answer.stdout


def test_an_older_result_survives_bad_input() -> None:
    Path("out.json").write_text("precious", encoding="utf-8")
    assert (
        run(
            "soil.csv",
            "--context",
            "soil",
            "--method",
            "pc-ac",
            "--alpha",
            "2",
            "--json",
            "out.json",
        ).exit_code
        == 2
    )
    assert Path("out.json").read_text(encoding="utf-8") == "precious"


def test_a_report_is_no_pdf_and_that_is_said_before_the_search() -> None:
    answer = run("soil.csv", "--context", "soil", "--report", "soil.pdf")
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert answer.stderr.endswith("its name must end with .html\n")


def test_knowledge_is_not_overwritten() -> None:
    Path("known.toml").write_text('roots = ["radiation"]\n', encoding="utf-8")
    answer = run(
        "soil.csv", "--context", "soil", "--knowledge", "known.toml", "--json", "known.toml"
    )
    assert answer.exit_code == 2
    assert Path("known.toml").read_text(encoding="utf-8") == 'roots = ["radiation"]\n'


@pytest.mark.slow
def test_a_pipe_without_unicode_gets_plain_text_and_no_progress(soil: pd.DataFrame) -> None:
    soil.rename(columns={"radiation": "été"}).to_csv("summer.csv", index=False)
    answer = run_process("discover", "summer.csv", "--context", "soil", PYTHONIOENCODING="ascii")
    assert answer.returncode == 0
    assert answer.stderr == ""
    assert "\x1b" not in answer.stdout
    assert "  precipitation --> soil\n" in answer.stdout
    assert "  \\xe9t\\xe9 --> soil\n" in answer.stdout


def test_errors_of_the_whole_program_without_unicode(soil: pd.DataFrame) -> None:
    soil.rename(columns={"soil": "humidité"}).to_csv("soil.csv", index=False)
    answer = run_process("discover", "soil.csv", "--context", "humidite", PYTHONIOENCODING="ascii")
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert (
        answer.stderr
        == "error: the table has no context column 'humidite'; did you mean 'humidit\\xe9'?\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["check", "soil.csv", "--json", "-"], ["discover", "soil.csv", "--context", "soil"]]
)
def test_a_reader_that_leaves_early_is_no_error(words: list[str]) -> None:
    command = [sys.executable, "-m", "causalcontext", *words]
    pipes = subprocess.PIPE
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=pipes, stderr=pipes, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


def test_the_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"causalcontext {cc.__version__}\n"


def test_a_diagnosis_follows_if_asked_for() -> None:
    plain = run("soil.csv", "--context", "soil")
    asked = run("soil.csv", "--context", "soil", "--diagnose")
    assert asked.exit_code == 0
    graphs = plain.stdout[: plain.stdout.index("How this was made")]
    assert asked.stdout.startswith(graphs)
    assert "common causes and support: --diagnose" in " ".join(plain.stdout.split())
    assert "common causes and support: --diagnose" not in asked.stdout
    assert "diagnosis\n" in asked.stdout
    assert "missing edge: " in asked.stdout
