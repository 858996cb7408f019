"""Commands on tables that are read in batches: folders, patterns, several files, and what is
refused before that.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.data import streams
from causalcontext.data.accumulate import Accumulator

pytest.importorskip("pyarrow")
TEST = ("--context", "R", "--method", "pc-ac", "--test", "partial-correlation")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A table in two files of the folder `parts`, with an index that nobody asked for."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((900, 3)), columns=list("ABC"))
    table["B"] += table["A"]
    table["R"] = np.where(table["B"] + rng.standard_normal(900) > 0, "dry", "wet")
    dated = table.set_index(pd.date_range("2020", periods=900))
    Path("parts").mkdir()
    dated[:400].to_parquet("parts/a.parquet")
    dated[400:].to_parquet("parts/b.parquet")
    return table


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(
    "data",
    [
        ("parts",),
        ("parts/*.parquet",),
        ("parts/a.parquet", "parts/b.parquet"),
        ("parts/b.parquet", "parts/a.parquet"),
    ],
)
def test_a_folder_a_pattern_and_several_files(table: pd.DataFrame, data: tuple[str, ...]) -> None:
    answer = run("discover", *data, *TEST, "--json", "out.json")
    assert answer.exit_code == 0, answer.output
    assert "2 files in parts are read once, in batches" in answer.stderr
    inside, result = (
        cc.discover(table, "R", method="pc-ac", test="partial-correlation"),
        cc.load("out.json"),
    )
    assert result.names == inside.names
    assert dict(result.graphs) == dict(inside.graphs)
    assert result.data.fingerprint == inside.data.fingerprint


def test_lags_and_columns_of_a_folder(table: pd.DataFrame) -> None:
    answer = run(
        "discover",
        "parts",
        *TEST,
        "--lags",
        "1",
        "--drop",
        "C",
        "--sample",
        "300",
        "--json",
        "out.json",
    )
    assert answer.exit_code == 0, answer.output
    inside, result = (
        cc.discover(
            table.drop(columns="C"), "R", lags=1, method="pc-ac", test="partial-correlation"
        ),
        cc.load("out.json"),
    )
    assert dict(result.graphs) == dict(inside.graphs)
    assert result.data == inside.data
    answer = run("stability", "parts", *TEST, "--lags", "1", "--samples", "2", "--sample", "300")
    assert answer.exit_code == 0, answer.output


def test_stability_of_a_folder_and_of_several_files() -> None:
    words = ("stability", *TEST, "--samples", "3", "--csv", "out.csv")
    assert run(*words, "parts").exit_code == 0
    first = Path("out.csv").read_text()
    assert run(*words, "parts/a.parquet", "parts/b.parquet").exit_code == 0
    assert Path("out.csv").read_text() == first


def test_stability_that_blocks_of_rows_cannot_answer_draws_from_the_sample() -> None:
    answer = run(
        "stability",
        "parts",
        "--context",
        "R",
        "--method",
        "pc-ac",
        "--sample",
        "300",
        "--samples",
        "2",
    )
    assert answer.exit_code == 0, answer.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--missing", "testwise"),
            "--missing testwise needs the table in memory; use --missing listwise",
        ),
        (
            ("--lags", "2", "--transform", "ranks", "--method", "pc-ac"),
            "not yet: --transform ranks needs the table",
        ),
        (("--knowledge", "known.toml"), "knowledge names 'Q', which is not a column"),
        (("--columns", "A,Q"), "no column 'Q'"),
        (("--drop", "Q"), "no column 'Q'"),
        (("--json", "parts/a.parquet"), "is an input of the same command"),
        (("--method", "pc-ac", "--alpha", "2"), "alpha is 2"),
    ],
)
def test_what_a_scan_cannot_answer_is_refused_before_it(
    options: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Accumulator, "add", None)  # no row is looked at
    Path("known.toml").write_text('forbidden = [["Q", "A"]]')
    answer = run("discover", "parts", "--context", "R", *options)
    assert answer.exit_code == 2, answer.output
    assert words in answer.stderr
    assert "Traceback" not in answer.output


def test_a_context_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Accumulator, "add", None)
    answer = run("discover", "parts", "--context", "Q")
    assert answer.exit_code == 2
    assert "no context column 'Q'" in answer.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--context", "A bins 2", "--columns", "A,B"),
        ("--context", "R", "--transform", "ranks", "--method", "pc-ac"),
    ],
)
def test_what_moments_do_not_know_rests_on_the_sample(options: tuple[str, ...]) -> None:
    answer = run("discover", "parts", *options, "--sample", "300")
    assert answer.exit_code == 0, answer.output
    assert "everything rests on a random sample of 300 rows" in answer.output


def test_the_library_refuses_before_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Accumulator, "add", None)
    known = cc.Knowledge(forbidden=[("Q", "A")])
    with pytest.raises(cc.KnowledgeError, match="names 'Q'"):
        cc.discover("parts", "R", knowledge=known)
    with pytest.raises(cc.OptionError, match="names is only for arrays"):
        cc.discover("parts", "R", names=list("ABCR"))


def test_a_file_that_may_not_fit_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LARGE_FILE", 1)
    answer = run("check", "parts/a.parquet", "--context", "R")
    assert answer.exit_code == 0, answer.output
    assert "is read into memory" in answer.stderr
    assert run("check", "parts", "--context", "R").exit_code == 2
