"""Standard input and output, pipes, and `--json`, which is the same in every command."""

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
from causalcontext.data import streams

SEARCH = ("discover", "--context", "R", "--method", "pc-ac", "--test", "partial-correlation")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A working folder that holds data.csv, and r.json, the result of its search."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.standard_normal((400, 3)), columns=list("ABC"))
    table["B"] += table["A"]
    table["R"] = np.where(table["B"] + random.standard_normal(400) > 0, "dry", "wet")
    table.to_csv("data.csv", index=False)
    cc.discover(table, "R", method="pc-ac", test="partial-correlation").save("r.json")
    return table


def run(*words: str, given: bytes | str | None = None) -> Result:
    return CliRunner().invoke(app, list(words), input=given)


def in_a_shell(line: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, in which `causalcontext` is the command."""
    command = (
        f"causalcontext() {{ '{sys.executable}' -m causalcontext \"$@\"; }}; set -o pipefail;"
        f" {line}"
    )
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet"])
def test_a_table_comes_through_standard_input(table: pd.DataFrame, kind: str) -> None:
    file = Path(f"copy.{kind}")
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        table.to_parquet(file)
    else:
        table.to_csv(file, index=False, sep="\t" if kind == "tsv" else ",")
    answer = run(*SEARCH, "-", "--json", "-", given=file.read_bytes())
    assert answer.exit_code == 0, answer.output
    Path("piped.json").write_text(answer.stdout)
    assert cc.load("piped.json") == cc.load("r.json")
    assert not Path("-").exists()


def test_nothing_comes_through_standard_input() -> None:
    answer = run(*SEARCH, "-", given="")
    assert answer.exit_code == 2
    assert (
        answer.stderr
        == "error: nothing came through standard input, expected a table or a result\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "A", "B"),
        ("effects", "A", "B"),
        ("changes", "dry", "wet"),
        ("export",),
    ],
)
def test_a_result_comes_through_standard_input(words: tuple[str, ...]) -> None:
    name, *rest = words
    piped = run(name, "-", *rest, given=Path("r.json").read_text())
    assert piped.exit_code == 0, piped.output
    assert piped.stdout == run(name, "r.json", *rest).stdout
    assert run("report", "-", given="{}").stderr.endswith("say which: report - page.html\n")


@pytest.mark.parametrize(
    "words",
    [
        ("check", "data.csv", "--context", "R"),
        ("explain", "r.json", "A", "B"),
        ("effects", "r.json", "A", "B"),
        ("changes", "r.json", "dry", "wet"),
        ("contexts", "data.csv", "--time-limit", "5"),
        (*SEARCH, "data.csv"),
    ],
)
def test_json_is_a_file_or_standard_output(words: tuple[str, ...]) -> None:
    plain, saved, printed = (
        run(*words),
        run(*words, "--json", "out.json"),
        run(*words, "--json", "-"),
    )
    assert plain.exit_code == saved.exit_code == printed.exit_code == 0, printed.output
    assert saved.stdout == plain.stdout
    assert json.loads(printed.stdout) == json.loads(Path("out.json").read_text())
    assert run(*words, "--json").exit_code == 2
    assert "no folder" in run(*words, "--json", "nowhere/out.json").stderr


@pytest.mark.parametrize(
    "words",
    [
        (*SEARCH, "data.csv", "--report", "-"),
        ("report", "r.json", "-"),
        ("report", "r.json", "/dev/stdout"),
        ("stability", *SEARCH[1:], "data.csv", "--samples", "3", "--report", "-"),
    ],
)
def test_a_report_on_standard_output_is_alone_there(words: tuple[str, ...]) -> None:
    printed = run(*words)
    assert printed.exit_code == 0, printed.output
    page = printed.stdout.strip()
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>")
    assert not Path("-").exists()
    assert "result.second_opinion()" not in page
    assert run(*SEARCH, "data.csv", "--json", "-", "--report", "-").exit_code == 2


@pytest.mark.slow
def test_pipes_of_a_shell() -> None:
    discover = " ".join(SEARCH)
    done = in_a_shell(
        f"causalcontext {discover} data.csv --json /dev/stdout | causalcontext explain"
        " /dev/stdin A B"
    )
    assert (done.returncode, done.stdout) == (
        0,
        run("explain", "r.json", "A", "B").stdout,
    ), done.stderr
    done = in_a_shell("causalcontext check <(cat data.csv) --context R | tail -1")
    assert (done.returncode, done.stdout) == (0, "usable\n"), done.stderr
    os.mkfifo("pipe.csv")
    done = in_a_shell(
        "cat data.csv > pipe.csv & causalcontext check pipe.csv --context R --json - > told.json;"
        " wait"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(Path("told.json").read_text())["usable"] is True


def test_a_reader_that_has_read_enough_is_no_error() -> None:
    # A pipe that is closed before anything is written, whatever the number of lines.
    done = in_a_shell("causalcontext check data.csv --context R | true")
    assert (done.returncode, done.stderr) == (141, "")


def test_contexts_of_a_folder(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    random = np.random.default_rng(1)
    wet = random.random(600) < 0.5
    x, noise = random.standard_normal((2, 600))
    changing = pd.DataFrame(
        {"X": x, "Y": np.where(wet, 2.0, -2.0) * x + noise, "R": np.where(wet, "wet", "dry")}
    )
    Path("parts").mkdir()
    changing[:250].to_parquet("parts/a.parquet")
    changing[250:].to_parquet("parts/b.parquet")
    answer = run("contexts", "parts", "--json", "-")
    assert answer.exit_code == 0, answer.output
    assert [row["column"] for row in json.loads(answer.stdout)] == ["R"]
    assert cc.find_contexts(cc.scan("parts"))["column"].tolist() == ["R"]
    assert run("contexts", "parts", "--lags", "1").exit_code == 0
    refused = run("contexts", "parts", "--lags", "1", "--drop", "X")
    assert refused.exit_code == 2
    assert "--columns and --drop with lags" in refused.stderr
    monkeypatch.setattr(streams, "LARGE_FILE", 1000)
    answer = run("contexts", "parts/a.parquet")
    assert answer.exit_code == 0, answer.output
    assert "--context R" in answer.stdout
