"""Columns and contexts by words, stability and the demo on the command line."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app


@pytest.fixture(scope="module")
def soil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("choices") / "soil.csv"
    cc.examples.soil_moisture(400, seed=1).to_csv(path, index=False)
    return path


def run(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(app, [str(word) for word in words])
    return found.exit_code, found.output


def test_a_threshold_is_a_context(soil: Path, tmp_path: Path) -> None:
    code, text = run(
        "discover",
        soil,
        "--drop",
        "soil",
        "--context",
        "radiation > 0.3",
        "--json",
        tmp_path / "r.json",
        "--method",
        "pc-ac",
        "--max-given",
        1,
    )
    assert code == 0, text
    assert "radiation <= 0.3 (" in text
    table = pd.read_csv(soil).drop(columns="soil")
    assert cc.load(tmp_path / "r.json") == cc.discover(
        table, cc.threshold("radiation", 0.3), method="pc-ac", max_given=1
    )


def test_a_threshold_stands_beside_other_contexts(soil: Path, tmp_path: Path) -> None:
    code, text = run(
        "discover",
        soil,
        "--context",
        "soil",
        "--context",
        "radiation > 0.3",
        "--json",
        tmp_path / "r.json",
        "--method",
        "pc-ac",
        "--max-given",
        1,
    )
    assert code == 0, text
    expected = cc.discover(
        pd.read_csv(soil), ["soil", cc.threshold("radiation", 0.3)], method="pc-ac", max_given=1
    )
    assert cc.load(tmp_path / "r.json") == expected


@pytest.mark.parametrize(
    ("context", "levels"),
    [
        ("radiation bins 3", 3),
        ("radiation bins -0.5, 0.5, 1", 4),
        ("-1 < radiation <= 1", 2),
        ("radiation <= 0", 2),
    ],
)
def test_bins_are_a_context(context: str, levels: int, soil: Path, tmp_path: Path) -> None:
    code, text = run(
        "discover",
        soil,
        "--drop",
        "soil",
        "--context",
        context,
        "--json",
        tmp_path / "r.json",
        "--method",
        "pc-ac",
        "--max-given",
        0,
    )
    assert code == 0, text
    assert len(cc.load(tmp_path / "r.json").contexts) == levels


def test_columns_are_chosen(soil: Path, tmp_path: Path) -> None:
    words = ("discover", soil, "--context", "soil", "--json", tmp_path / "r.json")
    assert run(*words, "--columns", "runoff, precipitation")[0] == 0
    assert cc.load(tmp_path / "r.json").names == ("precipitation", "soil", "runoff")
    assert run(*words, "--drop", "runoff", "--drop", "humidity,temperature")[0] == 0
    assert not {"runoff", "humidity", "temperature"}.intersection(
        cc.load(tmp_path / "r.json").names
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--columns", "run-off"),
            "error: the table has no column 'run-off'; did you mean 'runoff'?",
        ),
        (
            ("--context", "radiaton > 1"),
            "error: the table has no column 'radiaton'; did you mean 'radiation'?",
        ),
        (
            ("--context", "radiation > 1", "--context", "radiation > 0"),
            "error: two contexts are made out of 'radiation'",
        ),
        (
            ("--context", "radiation bins x"),
            "error: 'x' in context 'radiation bins x' is not a number",
        ),
        (
            ("--context", "radiation = 0"),
            "error: --context is 'radiation = 0', expected a column, or 'X > 0.6'",
        ),
        (
            ("--context", "2 < radiation < 1"),
            "error: --context is '2 < radiation < 1', expected the smaller number first",
        ),
        (
            ("--context", "soil", "--drop", "soil"),
            "error: column 'soil' is the context, and --drop leaves it out",
        ),
    ],
)
def test_wrong_choices_are_one_sentence(words: tuple[str, ...], sentence: str, soil: Path) -> None:
    code, text = run("discover", soil, *words)
    assert code == 2
    assert text.startswith(sentence)
    assert text.count("\n") == 1


def test_stability_on_the_command_line(soil: Path, tmp_path: Path) -> None:
    code, text = run(
        "stability",
        soil,
        "--context",
        "soil",
        "--samples",
        5,
        "--test",
        "partial-correlation",
        "--method",
        "pc-ac",
        "--max-given",
        1,
        "--csv",
        tmp_path / "s.csv",
        "--json",
        tmp_path / "s.json",
        "--report",
        tmp_path / "s.html",
    )
    assert code == 0, text
    assert "5 bootstrap samples" in text
    found = pd.read_csv(tmp_path / "s.csv")
    assert pd.read_json(tmp_path / "s.json").columns.tolist() == found.columns.tolist()
    assert found["present"].between(0.1, 1.0).all()
    assert "5 bootstrap samples" in (tmp_path / "s.html").read_text(encoding="utf-8")
    assert run("stability", soil, "--samples", 0)[0] == 2


def test_names_in_csv_files_are_no_formulas(soil: Path, tmp_path: Path) -> None:
    table = pd.read_csv(soil).rename(
        columns={"radiation": "=HYPERLINK(1)", "runoff": "@sum", "soil": "-wet"}
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    code, text = run(
        "stability",
        tmp_path / "t.csv",
        "--context=-wet",
        "--samples",
        2,
        "--method",
        "pc-ac",
        "--max-given",
        1,
        "--csv",
        tmp_path / "s.csv",
    )
    assert code == 0, text
    found = pd.read_csv(tmp_path / "s.csv")
    assert {"'=HYPERLINK(1)", "'@sum", "'-wet"} <= {*found["x"], *found["y"]}
    assert not found[["x", "y"]].stack().str.match(r"[=+@-]").any()


def test_the_demo_writes_a_report(tmp_path: Path) -> None:
    code, text = run("demo", "--report", tmp_path / "new" / "demo.html")
    assert code == 0, text
    assert "<!doctype html>" in (tmp_path / "new" / "demo.html").read_text()[:100].lower()


def test_contexts_lists_columns_and_the_next_call(soil: Path) -> None:
    code, text = run("contexts", soil)
    assert code == 0, text
    assert "soil" in text
    assert f"next: causalcontext discover {soil} --context soil" in "".join(
        text.splitlines(keepends=True)
    )
    code, text = run("contexts", soil, "--json", "-", "--drop", "soil")
    assert code == 0, text
    assert text.strip().startswith("[")


def test_a_cut_is_found_by_words(soil: Path) -> None:
    code, text = run("discover", soil, "--drop", "soil", "--context", "radiation > best")
    assert code == 0, text
    assert "radiation" in text
    assert "95 % interval" not in text
