"""`causalcontext calibrate`: a table on the terminal, whole files, one sentence for what is
refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import causalcontext as cc
from causalcontext.cli.app import app


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A working folder that holds data.csv."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.standard_normal((120, 3)), columns=["a", "b", "c"])
    frame["R"] = generator.choice(["dry", "wet"], 120)
    frame.to_csv("data.csv", index=False)
    return frame


def run(*words: str) -> Result:
    return CliRunner().invoke(
        app, ["calibrate", "data.csv", "--context", "R", "--repeats", "8", *words]
    )


def test_a_table_and_files(table: pd.DataFrame) -> None:
    answer = run(
        "--json",
        "out.json",
        "--plot",
        "out.png",
        "--largest-given",
        "1",
        "--alternative",
        "variance",
    )
    assert answer.exit_code == 0
    assert "auto: 8 repeats of a permutation null" in " ".join(answer.stdout.split())
    assert "right" in answer.stdout
    assert answer.stderr == "saved to out.json\nsaved to out.png\n"
    assert Path("out.png").stat().st_size > 1000
    expected = cc.calibrate(
        table, "R", repeats=8, largest_given=1, alternative="variance"
    ).to_dict()
    assert json.loads(Path("out.json").read_text()) == expected


def test_one_pair_by_name() -> None:
    answer = run(
        "--x",
        "a",
        "--y",
        "R",
        "--given",
        "b",
        "--given",
        "c",
        "--json",
        "out.json",
        "--null",
        "bootstrap",
    )
    assert answer.exit_code == 0
    found = json.loads(Path("out.json").read_text())
    assert [row["pair"] for row in found["table"]] == ["a against R"]
    assert found["table"][0]["given"] == 2
    assert found["settings"]["given"] == ["b", "c"]
    assert found["settings"]["null"] == "bootstrap"


def test_kinds_are_declared() -> None:
    answer = run("--kind", "a=count")
    assert answer.exit_code == 2
    assert "'a' is declared count" in answer.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--x", "aa", "--y", "b"], "error: the table has no column 'aa'; did you mean 'a'?"),
        (["--x", "a"], "error: x is 'a' but there is no y"),
        (["--alternative", "mea"], "error: alternative is 'mea'"),
        (["--test", "fisher"], "error: --test is 'fisher'"),
        (["--plot", "out.gif"], "error: cannot save a picture as 'out.gif'"),
        (
            ["--json", "data.csv"],
            "error: cannot write data.csv: it is an input of the same command",
        ),
        (
            ["--json", "a.svg", "--plot", "a.svg"],
            "error: cannot write a.svg: it is asked for twice",
        ),
        (["--json", "no/out.json"], "error: cannot write no/out.json: there is no folder no"),
    ],
)
def test_what_is_refused_is_one_sentence(words: list[str], sentence: str) -> None:
    answer = run(*words)
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith(sentence)
    assert answer.stderr.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["data.csv"]


@pytest.mark.parametrize("words", [[], ["--json", "out.json", "--plot", "out.svg"]])
def test_ctrl_c_keeps_what_is_done(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import causalcontext_lab.calibration.calibrate as module

    original, calls = module.run_repeat, []

    def run_repeat(*task: Any) -> Any:
        calls.append(task)
        if len(calls) > 20:
            raise KeyboardInterrupt
        return original(*task)

    monkeypatch.setattr(module, "run_repeat", run_repeat)
    answer = run(*words)
    assert answer.exit_code == 130
    assert answer.stdout == ""
    if words:
        assert answer.stderr == "interrupted: what was done so far is in out.json and out.svg\n"
        assert not json.loads(Path("out.json").read_text())["complete"]
    else:
        assert (
            answer.stderr
            == "interrupted: nothing is saved; --json FILE keeps what was done so far\n"
        )
