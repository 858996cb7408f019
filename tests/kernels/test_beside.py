"""Another process compiles beside this one: it is waited for where it is needed, and nothing depends on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from causalcontext.kernels import beside
from causalcontext.kernels.beside import compiled_beside, wait_for
from causalcontext.kernels.compiling import njit

pytestmark = pytest.mark.skipif(not hasattr(signal, "pause"), reason="needs a process that waits")


def promised(x: float) -> float:
    return 2.0 * x


@pytest.fixture(autouse=True)
def company(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a core for another process, and Python to be started, wherever the tests run."""
    monkeypatch.setattr(beside, "_is_welcome", lambda: True)


def test_the_process_is_gone_when_the_block_is_done() -> None:
    with compiled_beside(signal.pause, [promised]) as started:
        assert started
        process = beside._running[0]._process
        assert process.poll() is None
        wait_for(test_the_process_is_gone_when_the_block_is_done)  # nobody promised that
    assert process.returncode == -signal.SIGKILL
    assert not beside._running


def test_a_promise_is_waited_for() -> None:
    with compiled_beside(sys.exit, [promised]):  # type: ignore[arg-type]
        process = beside._running[0]._process
        wait_for(promised)
        assert process.returncode == 0


def test_a_kernel_waits_for_its_promise_and_is_compiled_all_the_same() -> None:
    kernel = njit()(promised)
    with compiled_beside(os._exit, [promised]):  # type: ignore[arg-type]
        process = beside._running[0]._process
        assert kernel(1.0) == 2.0
        assert process.returncode == 1, "it died: a status is missing"


def test_a_process_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "PATIENCE", 0.01)
    with compiled_beside(signal.pause, [promised]):
        wait_for(promised)
        assert beside._running[0]._process.returncode == -signal.SIGKILL


def test_one_at_a_time() -> None:
    with compiled_beside(signal.pause, [promised]), compiled_beside(signal.pause, [promised]) as second:
        assert not second
        assert len(beside._running) == 1


def test_an_error_ends_it() -> None:
    seen = []

    def failing() -> None:
        with compiled_beside(signal.pause, [promised]):
            seen.append(beside._running[0]._process)
            raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        failing()
    assert seen[0].returncode == -signal.SIGKILL


def test_what_cannot_be_started_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with compiled_beside(signal.pause, [promised]) as started:
        assert not started
        wait_for(promised)


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


WAITING = """
import signal
from causalcontext.kernels import beside
signal.signal(signal.SIGINT, signal.default_int_handler)
beside._is_welcome = lambda: True
with beside.compiled_beside(signal.pause, [len]):
    print(beside._running[0]._process.pid, flush=True)
    beside.wait_for(len)
"""


def test_ctrl_c_ends_both() -> None:
    run = subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    child = int(run.stdout.readline())
    time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    _, error = run.communicate(timeout=60)
    assert "KeyboardInterrupt" in error
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


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
    with compiled_beside(signal.pause, []):
        pass
    assert seen["env"]["NUMBA_CACHE_DIR"] == str(tmp_path)
    assert repr(sys.path) in seen["command"][2]
    compile(seen["command"][2], "call", "exec")
