"""What is compiled ahead is what searches call; nothing depends on it."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.ci_tests.change import RobustChange
from causalcontext.ci_tests.partial_correlation import PartialCorrelation, Sandwich
from causalcontext.ci_tests.registry import find_test
from causalcontext.cli.app import app
from causalcontext.data.tables import read_table
from causalcontext.methods import ahead
from causalcontext.methods.ahead import (
    PARTS,
    SENTENCE,
    WHERE,
    WHOLE,
    call_part,
    compile_ahead,
    kinds_for,
)
from marks import rest_slow


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return cc.examples.soil_moisture(2000, seed=1)


@pytest.fixture
def new_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is known to be compiled; what is noted goes to a folder of its own."""
    monkeypatch.setattr(ahead, "_asked", set())
    monkeypatch.setattr(ahead, "code_folder", lambda: tmp_path)
    return tmp_path


def test_kinds_of_searches(table: pd.DataFrame) -> None:
    signs = table.drop(columns="soil").gt(0.0).astype(str).assign(soil=table["soil"])
    wide = table.assign(
        **{f"noise {j}": np.random.default_rng(j).normal(size=len(table)) for j in range(4)}
    )
    numbers, words, one = (
        read_table(table, "soil"),
        read_table(signs, "soil"),
        read_table(table.drop(columns="soil"), None),
    )
    assert (
        kinds_for("auto", find_test("auto"), numbers)
        == kinds_for("score-ac", find_test("auto"), numbers)
        == ("orders", "scores")
    )
    assert kinds_for("auto", find_test("auto"), read_table(wide, "soil")) == ("climbs", "scores")
    assert kinds_for("pc-ac", find_test("auto"), numbers) == ("comparisons", "levels")
    assert kinds_for("pc-ac", find_test("auto"), words) == ("batches",)
    mixed = read_table(table.assign(humidity=signs["humidity"]), "soil")
    assert kinds_for("pc-ac", find_test("auto"), mixed) == ("comparisons", "batches")
    assert kinds_for("pc-m", find_test("auto"), numbers) == ("levels",)
    assert kinds_for("pc-ac", find_test("partial-correlation"), numbers) == ("levels",)
    assert kinds_for("pc-ac", find_test("auto"), one) == ("levels",)


def test_kinds_are_those_that_a_test_declares(table: pd.DataFrame) -> None:
    """No test is known by its name: what it needs, and what answers for the context, counts."""

    @dataclass(frozen=True)
    class Moments(PartialCorrelation):
        name: str = "moments of one's own"

    @dataclass(frozen=True)
    class Numbers(Sandwich):
        name: str = "numbers of one's own"

    @dataclass(frozen=True)
    class Contexts(RobustChange):
        name: str = "contexts of one's own"

    numbers = read_table(table, "soil")

    def kinds(test: object) -> tuple[str, ...]:
        return kinds_for("pc-ac", find_test(test), numbers)

    assert kinds("fisher-z") == kinds(Moments()) == ("levels",)
    assert kinds(Moments(at_context=False)) == ("comparisons", "levels")
    assert kinds("sandwich") == kinds(Numbers()) == ("comparisons", "batches")
    assert kinds(Contexts()) == ("comparisons", "batches")
    assert kinds("cmi-knn") == ("batches",)


@pytest.mark.slow
def test_every_part_runs() -> None:
    for part in [*(part for parts in PARTS.values() for part in parts), *WHOLE]:
        call_part(WHERE, part)


CALLED: list[str] = []


def note() -> None:
    CALLED.append("note")


def fail() -> None:
    raise ValueError("a part that fails")


def die() -> None:
    os._exit(1)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, ...]]:
    """Parts that are functions of this file."""
    mine = {"a note": ("note",), "a failure": ("fail",), "a death": ("die",)}
    monkeypatch.setattr(ahead, "WHERE", __name__)
    monkeypatch.setattr(ahead, "PARTS", mine)
    monkeypatch.setattr(ahead, "WHOLE", ())
    CALLED.clear()
    return mine


@pytest.mark.usefixtures("parts")
def test_it_is_said_and_done_once(
    new_machine: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ahead, "_can_start", lambda: False)
    with caplog.at_level(logging.WARNING, ahead.logger.name):
        for _ in range(2):
            compile_ahead(["a note"])
    assert caplog.messages == [SENTENCE]
    assert len(list(new_machine.iterdir())) == 1
    ahead._asked.clear()  # another process, on the same machine
    compile_ahead(["a note"])
    assert CALLED == ["note"]


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("can_start", rest_slow([False, True]))
def test_a_part_that_fails_is_left_to_the_search(
    can_start: bool, new_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "_can_start", lambda: can_start)
    compile_ahead(["a failure", "a death"] if can_start else ["a failure"])
    assert not list(new_machine.iterdir()), "no note that it is compiled"


def test_a_worker_that_was_ended_can_be_ended_again() -> None:
    """Threads go on sending it names, which must not hide why it was ended."""
    worker = ahead._Worker()
    worker._process.kill()
    worker._process.wait()
    with pytest.raises(BrokenPipeError):
        worker.call("note")
    worker.end()


@pytest.mark.usefixtures("parts", "new_machine")
def test_a_process_that_compiles_for_others_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part searches, and a search compiles ahead."""
    monkeypatch.setattr("causalcontext.kernels.compiling.only_for_disk", True)
    compile_ahead(["a note"])
    assert CALLED == []


@pytest.mark.usefixtures("parts")
def test_processes_that_cannot_be_started_are_survived(
    new_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError("too many processes")

    monkeypatch.setattr(ahead, "_can_start", lambda: True)
    monkeypatch.setattr("subprocess.Popen", refuse)
    compile_ahead(["a note"])
    assert not list(new_machine.iterdir())


def test_the_command_says_how_long_it_took_and_where_code_is_kept(
    parts: dict[str, tuple[str, ...]], new_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "_can_start", lambda: False)
    del parts["a failure"], parts["a death"]
    for said in ("compiled in 0 s", "everything is compiled already"):
        run = CliRunner().invoke(app, ["warmup"])
        assert run.exit_code == 0
        assert f"{said}, kept in {new_machine}" in run.output.replace("\n", "")
        assert CALLED == ["note"]


COLD = """
import sys
from numba.core import event
import causalcontext as cc
class Compiled(event.Listener):
    def on_start(self, happened):
        function = happened.data["dispatcher"].py_func
        if function.__module__.startswith("causalcontext"):
            print("compiled", function.__name__)
    def on_end(self, happened):
        pass
soil, days = cc.examples.soil_moisture(2000, seed=1), cc.examples.land_surface(500, seed=1)
with event.install_listener("numba:compile", Compiled()):
    {call}
"""


def searched_in_a_new_process(call: str, folder: Path) -> tuple[list[str], str]:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    run = subprocess.run(
        [sys.executable, "-c", COLD.format(call=call)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines(), run.stderr


@pytest.mark.slow
def test_the_first_search_finds_what_later_ones_find(tmp_path: Path, table: pd.DataFrame) -> None:
    for method in ("pc-ac", "score-ac"):
        call = f"print(cc.discover(soil, 'soil', method={method!r}).labeled_union)"
        lines, said = searched_in_a_new_process(call, tmp_path)
        union = str(cc.discover(table, "soil", method=method).labeled_union).splitlines()
        assert [line for line in lines if not line.startswith("compiled")] == union
        assert said.splitlines() == [SENTENCE]
        assert searched_in_a_new_process(call, tmp_path) == (
            union,
            "",
        ), "the second one compiles nothing"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_while_others_compile_ends_them_all(tmp_path: Path) -> None:
    """The command ends with one line, at once; nobody goes on compiling."""
    cc.examples.soil_moisture(200, seed=1).to_csv(tmp_path / "soil.csv", index=False)
    command = [sys.executable, "-m", "causalcontext", "discover", "soil.csv", "--context", "soil"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as search:
        assert search.stderr is not None
        assert search.stderr.readline() == f"{SENTENCE}\n"
        time.sleep(3.0)
        search.send_signal(signal.SIGINT)
        assert search.wait(timeout=20) == 130
        assert search.stderr.read() == "interrupted\n"
        until = time.monotonic() + 10.0
        while group_lives(search.pid):
            assert time.monotonic() < until, "somebody goes on compiling"
            time.sleep(0.1)


def group_lives(leader: int) -> bool:
    """Whether a process of a group is still there."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


ALL = """
    clinic = cc.examples.clinic(300, seed=1)
    for method in ("auto", "score-ac", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac"):
        found = cc.discover(soil, "soil", method=method)
        found.effects(), found.diagnose(), found.changes("dry", "wet")
        cc.discover(clinic, "status", method=method, kinds={"visits": "count"})
    for method in ("auto", "pc-ac"):
        cc.discover(days, "regime", lags=1, method=method)
"""


@pytest.mark.slow
def test_after_a_warm_up_no_search_compiles(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-m", "causalcontext", "warmup"],
        env=environment,
        check=True,
        capture_output=True,
    )
    lines, said = searched_in_a_new_process(ALL.strip(), tmp_path)
    assert lines == []
    assert said == ""
