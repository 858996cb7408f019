"""Ctrl-C: what is done is kept where a file was asked for, one sentence, exit code 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(cc.__file__).parents[1]), "TERM": "xterm"}
PATIENCE = 120.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def endless_table() -> pd.DataFrame:
    """A table in which everything depends on everything, so that a search takes hours."""
    generator = np.random.default_rng(0)
    values = generator.standard_normal((300, 400)) + generator.standard_normal((300, 1))
    table = pd.DataFrame(values, columns=[f"V{place}" for place in range(400)])
    return table.assign(R=generator.integers(0, 2, 300))


def read_until(terminal: int, words: bytes) -> bytes:
    """Read from a terminal until it shows the words, or is closed."""
    seen, deadline = b"", time.monotonic() + PATIENCE
    while words not in seen and time.monotonic() < deadline:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other end is closed
            return seen
        if not piece:
            return seen
        seen += piece
    return seen


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_ctrl_c_in_a_running_search_keeps_what_is_done() -> None:
    import pty

    endless_table().to_csv("data.csv", index=False)
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "causalcontext",
        "discover",
        "data.csv",
        "--context",
        "R",
        "--method",
        "pc-ac",
        "--json",
        "out.json",
    ]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = read_until(ours, b"pairs given 1")
        assert b"pairs given 1" in shown, shown.decode()
        process.send_signal(signal.SIGINT)
        rest = read_until(ours, b"so far is in out.json")
        code = process.wait(PATIENCE)
        os.close(ours)
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert code == 130
    assert b'so far is in out.json, with "complete": false' in rest
    assert b"Traceback" not in rest
    result = cc.load("out.json")
    assert not result.complete
    assert len(result.union.edges) > 0
    assert sorted(path.name for path in Path().iterdir()) == ["data.csv", "out.json"]


@pytest.fixture
def interrupted_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search in which Ctrl-C comes with the conditioning sets of one variable."""
    algorithm: Any = sys.modules["causalcontext.search.algorithm"]
    original = algorithm.run_level

    def run_level(search: Any, plan: Any, sepsets: Any, level: int, *rest: Any) -> None:
        if level == 1:
            raise KeyboardInterrupt
        original(search, plan, sepsets, level, *rest)

    monkeypatch.setattr(algorithm, "run_level", run_level)


@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-p", "pc-b"])
@pytest.mark.usefixtures("interrupted_search")
def test_an_interrupted_result_is_saved(method: str) -> None:
    cc.examples.soil_moisture(500, seed=0).to_csv("data.csv", index=False)
    words = ["discover", "data.csv", "--context", "soil", "--method", method, "--json", "out.json"]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 130
    assert answer.stdout == ""
    assert (
        answer.stderr
        == 'interrupted: what was decided so far is in out.json, with "complete": false\n'
    )
    assert not cc.load("out.json").complete


@pytest.mark.usefixtures("interrupted_search")
def test_an_interrupted_search_without_a_file(folder: Path) -> None:
    cc.examples.soil_moisture(500, seed=0).to_csv("data.csv", index=False)
    answer = CliRunner().invoke(
        app, ["discover", "data.csv", "--context", "soil", "--method", "pc-ac"]
    )
    assert answer.exit_code == 130
    assert answer.stdout == ""
    assert (
        answer.stderr
        == "interrupted: nothing is saved; --json FILE keeps what was decided so far\n"
    )
    assert [path.name for path in folder.iterdir()] == ["data.csv"]


@pytest.mark.parametrize("command", ["discover", "check"])
def test_ctrl_c_before_the_search(
    command: str, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    def read_file(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("causalcontext.cli.inputs.read_file", read_file)
    answer = CliRunner().invoke(app, [command, "data.csv"])
    assert answer.exit_code == 130
    assert answer.stderr == "interrupted\n"
    assert list(folder.iterdir()) == []


def test_ctrl_c_while_the_library_is_imported_is_one_sentence(folder: Path) -> None:
    """The package is one that is interrupted in the middle of its import, wherever in it that may
    be.
    """
    package = folder / "causalcontext"
    package.mkdir()
    sent = (
        "import os, signal, time\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n   "
        " time.sleep(9)\n"
    )
    swallowed = (  # as numpy's import does
        "except KeyboardInterrupt:\n    raise ImportError('a bad install')\n"
    )
    (package / "__init__.py").write_text(sent + swallowed)
    path = os.pathsep.join((str(folder), ENVIRONMENT["PYTHONPATH"]))
    code = (  # an editable install finds the package before any path
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'ditable' not in repr(f)];"
        " from causalcontext_command import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT | {"PYTHONPATH": path}, capture_output=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, b"", b"interrupted\n")


def test_the_command_is_the_command_line() -> None:
    code = "from causalcontext_command import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code, "--version"], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (0, f"causalcontext {cc.__version__}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_while_python_imports_the_package_to_run_it_is_one_sentence(folder: Path) -> None:
    (folder / "numpy").mkdir()
    sent = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n"
    (folder / "numpy" / "__init__.py").write_text(sent)
    first = os.pathsep.join([str(folder), ENVIRONMENT["PYTHONPATH"]])
    ended = subprocess.run(
        [sys.executable, "-m", "causalcontext", "--help"],
        capture_output=True,
        text=True,
        env=ENVIRONMENT | {"PYTHONPATH": first},
    )
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")
