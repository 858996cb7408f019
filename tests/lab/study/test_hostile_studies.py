"""A design or a records file that makes no sense ends with one sentence and exit code 2, before
anything runs.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from causalcontext.cli.app import app
from causalcontext.errors import FileError, OptionError
from causalcontext_lab.study import (
    Design,
    failure_table,
    grid,
    run_study,
    run_table,
    summary_table,
    time_table,
)
from causalcontext_lab.study.runner import read_records

WRONG = [
    'name = "../../escaped"',
    'name = "/tmp/x"',
    'name = ""',
    'name = ".hidden"',
    "name = 3",
    'name = "a\\\\b"',
    'repeats = "ten"',
    "repeats = -1",
    "repeats = 0",
    "repeats = 1.5",
    "repeats = true",
    'seed = "x"',
    "seed = -1",
    "alpha = 7.0",
    'alpha = "x"',
    "alpha = nan",
    "setting = 3",
    'setting = "x"',
    'methods = "pc-ac"',
    "methods = [3]",
    "methods = 3",
    'methods = ["pc"]',
    "knowledge = [1]",
    'test = "x"',
    "test = [1]",
    "setting = [1]",
    "[setting]\nsamples = -5",
    '[setting]\nsamples = "x"',
    "[setting]\nsamples = []",
    "[setting]\nnodes = 1",
    "[setting]\nnodes = true",
    "[setting]\ndensity = 7",
    '[setting]\nedits = "remove"',
    "[setting]\nedits = 3",
    "[setting]\nedits = []",
    '[setting]\nedits = ["x"]',
    '[setting]\ncycles = "x"',
    "[setting]\ncycles = 3",
    "[setting]\nbalance = -1",
    "[setting]\ncontext_noise = inf",
    '[setting]\nexogenous = "yes"',
    "[setting]\nnoise = 3",
    "[setting]\ncycle_length = 1",
    '[setting]\ngenerator = ["x", 3]',
    "[setting]\ncontexts = {}",
]
SMALL = Design(
    "small", grid(samples=100, nodes=4), methods=("pc-ac",), knowledge=("none",), repeats=2
)
STRANGE = (None, True, -1, 7, 10**30, 0.5, "", "x", [], {}, [[]], {"a": 1})


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_design_is_one_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(text + "\n")
    run = CliRunner().invoke(
        app, ["study", "run", str(tmp_path / "design.toml"), "--out", str(tmp_path / "out")]
    )
    assert run.exit_code == 2, run.output
    assert run.output.startswith("error: ")
    assert run.output.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_names_with_spaces_and_accents_are_fine() -> None:
    assert Design("Größe 2, n = 100".replace(",", "")).name == "Größe 2 n = 100"
    with pytest.raises(OptionError, match=r"the name of a design is '\.\.'"):
        Design("..")


def test_damaged_records_run_again_or_are_refused(tmp_path: Path) -> None:
    path, draw = tmp_path / "records.jsonl", random.Random(0)
    whole = run_study(SMALL, path)
    lines = path.read_text().splitlines()
    for _ in range(60):
        place = draw.randrange(len(lines))
        damaged = json.loads(lines[place])
        inner = draw.choice(
            [damaged, *(value for value in damaged.values() if isinstance(value, dict) and value)]
        )
        inner[draw.choice(list(inner))] = draw.choice(STRANGE)
        path.write_text(
            "\n".join([*lines[:place], json.dumps(damaged), *lines[place + 1 :]]) + "\n"
        )
        try:
            records = run_study(SMALL, path)
        except FileError:
            assert place == 0
            continue
        assert len(records) == len(whole)
        for table in (run_table, summary_table, time_table, failure_table):
            table(SMALL, records)


def test_a_byte_that_is_no_text_costs_one_job(tmp_path: Path) -> None:
    """And a character at which texts, but not files, have a new line costs none."""
    path = tmp_path / "records.jsonl"
    whole = run_study(SMALL, path)
    lines = path.read_bytes().splitlines()
    damaged = lines[2].replace(b'"method"', b'"met\xffod"')
    path.write_bytes(b"\n".join([*lines[:2], damaged, *lines[3:]]) + b"\n")
    assert len(read_records(path, SMALL)) == len(whole) - 2
    assert len(run_study(SMALL, path)) == len(whole)
    failed = json.dumps(
        json.loads(lines[2]) | {"reason": "one\u2028two"}, ensure_ascii=False
    ).encode()
    path.write_bytes(b"\n".join([*lines[:2], failed, *lines[3:]]) + b"\n")
    assert [record.get("reason") for record in read_records(path, SMALL)].count("one\u2028two") == 1


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"{}\n", b"[1]\n", b'{"format": "causalcontext-study"}\n']
)
def test_files_that_are_no_records_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_bytes(content)
    with pytest.raises(FileError):
        run_study(SMALL, tmp_path / "records.jsonl")
    with pytest.raises(FileError):
        run_study(SMALL, tmp_path)
