"""Every kind of bad input, through the library and the command line, gets the sentence that
docs/bad-input.md has.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import causalcontext as cc
from bad_input import (
    ACCEPTED,
    BOTH,
    COMMAND,
    FILES,
    GOOD_TEXT,
    LEFT_OUT,
    OPTIONS,
    OUTPUTS,
    PYTHON,
    TABLES,
    Case,
    good_table,
)
from causalcontext.cli.app import app
from causalcontext.diagnostics.check import inspect
from causalcontext.report.advice import on_the_command_line

PAGE = Path(__file__).parents[1] / "docs" / "bad-input.md"
WITHOUT_PYARROW = "a .parquet file, and pyarrow is not installed"
WITHOUT_PERMISSION = "a file to write, without permission"


def documented() -> dict[str, tuple[str, str]]:
    """What you give -> (class of error, sentence), from the tables of the page; some tables have no
    class.
    """
    rows = [
        line.strip("| ").split(" | ")
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if "| `" in line
    ]
    return {cells[0]: (cells[1] if len(cells) == 3 else "", cells[-1].strip("`")) for cells in rows}


SENTENCES = documented()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with a folder in it, so that messages hold plain file names."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def matches(sentence: str, expected: str) -> bool:
    """Whether it is the sentence of the page; dots at the end stand for what another library
    said.
    """
    if expected.endswith("..."):
        return sentence.startswith(expected[:-3])
    return sentence == expected


def write_inputs(case: Case) -> str:
    """Write the files of a case; the path of its table."""
    if case.knowledge is not None:
        Path("knowledge.toml").write_text(case.knowledge, encoding="utf-8")
    if case.table is not None:
        case.table.to_parquet("data.parquet")
        return "data.parquet"
    for name, content in case.files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return case.path


def run_library(case: Case) -> None:
    path = write_inputs(case)
    table = cc.read_file(path) if case.table is None else case.table
    knowledge = None if case.knowledge is None else cc.Knowledge.from_toml("knowledge.toml")
    result = cc.discover(table, case.context, knowledge=knowledge, **case.options)
    if case.output is not None:
        result.save(case.output)


def run_command(command: str, path: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, [command, path, *arguments])


def arguments(case: Case) -> list[str]:
    """The options of a case as the command line has them."""
    given = [] if case.context is None else ["--context", case.context]
    given += [] if case.knowledge is None else ["--knowledge", "knowledge.toml"]
    for name, value in case.options.items():
        if name == "kinds":
            given += [
                word for column, kind in value.items() for word in ("--kind", f"{column}={kind}")
            ]
        elif name == "keep":
            given += ["--keep", ",".join(value)]
        elif isinstance(value, bool):
            given += [f"--{name}"] if value else []
        else:
            given += [f"--{name.replace('n_jobs', 'jobs').replace('_', '-')}", str(value)]
    return given


def assert_one_sentence(result: Result, expected: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    told = on_the_command_line(expected)  # the page has the sentence of Python
    assert matches(result.stderr.removeprefix("error: ").removesuffix("\n"), told)


def test_the_page_has_every_case_and_no_other() -> None:
    cases = [*BOTH, *LEFT_OUT, *PYTHON, *COMMAND, *ACCEPTED, WITHOUT_PYARROW, WITHOUT_PERMISSION]
    assert sorted(SENTENCES) == sorted(cases)


@pytest.mark.parametrize("given", BOTH)
def test_the_library_raises_the_sentence(given: str) -> None:
    case, (error_name, sentence) = BOTH[given], SENTENCES[given]
    with pytest.raises(cc.CausalContextError) as caught:
        run_library(case)
    assert type(caught.value) is case.error
    assert case.error.__name__ == error_name
    assert matches(str(caught.value), sentence), str(caught.value)


@pytest.mark.parametrize("given", BOTH)
def test_the_command_line_prints_the_sentence_and_leaves_no_file(given: str, folder: Path) -> None:
    case = BOTH[given]
    path = write_inputs(case)
    before = sorted(folder.rglob("*"))
    output = "out.json" if case.output is None else case.output
    result = run_command("discover", path, *arguments(case), "--json", output)
    assert_one_sentence(result, SENTENCES[given][1])
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("given", [*TABLES, *FILES])
def test_check_reports_what_discover_refuses(given: str) -> None:
    """Exit code 1 with a list of problems, or 2 where there is nothing to look at; never 0, never a
    traceback.
    """
    case = BOTH[given]
    result = run_command("check", write_inputs(case), *arguments(case))
    assert isinstance(result.exception, SystemExit), result.exception
    if result.exit_code == 2:
        assert_one_sentence(result, SENTENCES[given][1])
    else:
        assert result.exit_code == 1
        assert re.search(r"^problems \(\d+\)$", result.stdout, re.MULTILINE)


@pytest.mark.parametrize("given", LEFT_OUT)
def test_a_column_that_cannot_be_a_variable_is_left_out(given: str) -> None:
    """`discover` and `check` say the same sentence, and `keep` makes the column one that is looked
    at as it is.
    """
    table, sentence = LEFT_OUT[given], SENTENCES[given][1]
    out = next(name for name in table if name not in "XYZR")
    checked, result = cc.check(table, "R"), cc.discover(table, "R", method="pc-ac", max_given=0)
    assert checked.usable
    said = f"left out of the search: {sentence}; to keep it, pass keep=['{out}']"
    assert checked.notes[0] == result.warnings[0] == said
    assert checked.left_out == result.left_out
    assert set(result.names) == {"X", "Y", "Z", "R"}
    assert cc.check(table, "R", keep=[out]).left_out == ()
    assert not cc.check(table, "R", strict=True).usable


@pytest.mark.parametrize("given", PYTHON)
def test_python_only(given: str) -> None:
    (error, call), (error_name, sentence) = PYTHON[given], SENTENCES[given]
    with pytest.raises(cc.CausalContextError) as caught:
        call()
    assert type(caught.value) is error
    assert error.__name__ == error_name
    assert matches(str(caught.value), sentence), str(caught.value)


@pytest.mark.parametrize("given", COMMAND)
def test_command_line_only(given: str, folder: Path) -> None:
    Path("data.csv").write_text(GOOD_TEXT, encoding="utf-8")
    before = sorted(folder.rglob("*"))
    assert_one_sentence(
        run_command("discover", "data.csv", "--context", "R", *COMMAND[given]), SENTENCES[given][1]
    )
    assert sorted(folder.rglob("*")) == before
    assert Path("data.csv").read_text(encoding="utf-8") == GOOD_TEXT


@pytest.mark.parametrize("given", ACCEPTED)
@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-p", "pc-b"])
def test_accepted_and_noted(given: str, method: str) -> None:
    inspection = inspect(ACCEPTED[given], "R")
    assert inspection.problems == ()
    assert [note for note in inspection.notes if "few distinct values" not in note] == [
        SENTENCES[given][1]
    ]
    assert cc.discover(ACCEPTED[given], "R", method=method).complete


def test_pyarrow_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    good_table().to_parquet("data.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    error_name, sentence = SENTENCES[WITHOUT_PYARROW]
    with pytest.raises(cc.FileError, match=re.escape(sentence)):
        cc.read_file("data.parquet")
    assert error_name == "FileError"
    assert_one_sentence(run_command("discover", "data.parquet", "--context", "R"), sentence)


def test_permission_is_missing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Permissions do not bind every user, so the system's answer is replaced."""
    Path("data.csv").write_text(GOOD_TEXT, encoding="utf-8")
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    sentence = SENTENCES[WITHOUT_PERMISSION][1]
    with pytest.raises(cc.FileError, match=re.escape(sentence)):
        cc.discover(good_table(), "R").save("out.json")
    result = run_command("discover", "data.csv", "--context", "R", "--json", "out.json")
    assert_one_sentence(result, sentence)
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize(
    "words", [["--alpha", "high"], ["--colour", "red"], ["--max-given", "1.5"], ["--alpha", "0.01"]]
)
def test_usage_errors_end_with_2(words: list[str]) -> None:
    Path("data.csv").write_text(GOOD_TEXT, encoding="utf-8")
    result = run_command("discover", "data.csv", *words)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("given", [*OPTIONS, *OUTPUTS])
def test_outputs_and_options_are_refused_before_the_search(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: Any) -> None:
        raise AssertionError("the search has begun")

    case = BOTH[given]
    write_inputs(case)
    monkeypatch.setattr(sys.modules["causalcontext.methods.task"], "algorithm_1", search)
    result = run_command(
        "discover", "data.csv", *arguments(case), *(["--json", case.output] if case.output else [])
    )
    assert result.exit_code == 2
