"""Other processes compile beside this one: they are waited for where they are needed, and nothing depends on them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from causalcontext.kernels import beside, compiling
from causalcontext.kernels.beside import Job, compiled_beside, wait_for
from causalcontext.kernels.compiling import njit

pytestmark = pytest.mark.skipif(not hasattr(signal, "pause"), reason="needs a process that waits")


def promised(x: float) -> float:
    return 2.0 * x


def never() -> bool:
    return False


def job(module: str, name: str, *given: object) -> Job:
    """A job that promises a function."""
    return Job(module, name, given, (promised,))


PAUSE = job("signal", "pause")


@pytest.fixture(autouse=True)
def company(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a core for another process, and Python to be started, wherever the tests run."""
    monkeypatch.setattr(beside, "_is_welcome", lambda: True)


def test_a_block_ends_when_its_processes_are_done() -> None:
    nap = job("time", "sleep", 0.5)
    with compiled_beside([nap, nap]):
        processes = [promise._process for promise in beside._running]
        assert [process.poll() for process in processes] == [None, None]
        wait_for(test_a_block_ends_when_its_processes_are_done, never)  # nobody promised that
        assert [process.poll() for process in processes] == [None, None]
    assert [process.returncode for process in processes] == [0, 0]
    assert not beside._running


def test_a_promise_is_waited_for() -> None:
    with compiled_beside([job("sys", "exit")]):
        process = beside._running[0]._process
        wait_for(promised, never)
        assert process.returncode == 0


def test_what_has_arrived_is_not_waited_for() -> None:
    looks = iter([False, False, True])
    with compiled_beside([PAUSE]):
        wait_for(promised, lambda: next(looks))
        assert beside._running[0]._process.poll() is None
        beside._running[0].end()


def test_a_kernel_waits_for_its_promise_and_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "is_on_disk", lambda kernel: False)
    kernel = njit()(promised)
    with compiled_beside([job("os", "_exit", "no number")]):
        process = beside._running[0]._process
        assert kernel(1.0) == 2.0
        assert process.returncode == 1, "it died"


def test_a_process_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "PATIENCE", 0.01)
    with compiled_beside([PAUSE]):
        wait_for(promised, never)
        assert beside._running[0]._process.returncode == -signal.SIGKILL


def test_one_block_at_a_time() -> None:
    with compiled_beside([PAUSE]), compiled_beside([PAUSE]):
        assert len(beside._running) == 1
        beside._running[0].end()


def test_an_error_ends_it() -> None:
    seen = []

    def failing() -> None:
        with compiled_beside([PAUSE]):
            seen.append(beside._running[0]._process)
            raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        failing()
    assert seen[0].returncode == -signal.SIGKILL


def test_what_cannot_be_started_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with compiled_beside([PAUSE]):
        assert not beside._running
        wait_for(promised, never)


@pytest.mark.parametrize("executable", ["", None, "/opt/blender", "C:/Program Files/tool.exe"])
def test_programs_that_hold_python_do_not_start_themselves(executable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(beside._settings, "NUMBA_NUM_THREADS", 2)
    monkeypatch.setattr("multiprocessing.current_process", lambda: type("Process", (), {"name": "MainProcess"}))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3.13")
    assert beside._is_welcome()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not beside._is_welcome()
    monkeypatch.delattr(sys, "frozen")
    monkeypatch.setattr(sys, "executable", executable)
    assert not beside._is_welcome()


def test_neither_does_one_of_many_workers_or_a_single_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(beside._settings, "NUMBA_NUM_THREADS", 2)
    monkeypatch.setattr("multiprocessing.current_process", lambda: type("Process", (), {"name": "LokyProcess-1"}))
    assert not beside._is_welcome()
    monkeypatch.setattr("multiprocessing.current_process", lambda: type("Process", (), {"name": "MainProcess"}))
    monkeypatch.setattr(beside._settings, "NUMBA_NUM_THREADS", 1)
    assert not beside._is_welcome()


STARTED = """
import signal
from causalcontext.kernels import beside
signal.signal(signal.SIGINT, signal.default_int_handler)
beside._is_welcome = lambda: True
with beside.compiled_beside([beside.Job("signal", "pause", (), (len,))]):
    print(beside._running[0]._process.pid, flush=True)
"""
WAITING = STARTED + "    beside.wait_for(len, lambda: False)"
DONE = STARTED + "print('found', flush=True)"


def interrupted(code: str) -> tuple[str, str]:
    """What is printed, on stdout and stderr, if Ctrl-C comes when another process runs, which is gone then."""
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    child = int(run.stdout.readline())
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=60)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    return said


def test_ctrl_c_ends_both() -> None:
    assert "KeyboardInterrupt" in interrupted(WAITING)[1]


def test_ctrl_c_after_the_search_loses_nothing() -> None:
    assert interrupted(DONE) == ("found\n", "")


def test_the_other_process_finds_the_library_and_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    class Process:
        def __init__(self, command: list[str], env: dict[str, str], **_: object) -> None:
            seen.update(command=command, env=env)

        def poll(self) -> int:
            return 0

        wait = poll

    monkeypatch.setattr(beside.subprocess, "Popen", Process)
    monkeypatch.setattr(beside._settings, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "path", ["here", "it's \\there"])
    with compiled_beside([PAUSE]):
        pass
    assert seen["env"]["NUMBA_CACHE_DIR"] == str(tmp_path)
    assert repr(sys.path) in seen["command"][2]
    compile(seen["command"][2], "call", "exec")
