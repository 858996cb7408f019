"""A second process that compiles beside this one: what it has promised is waited for where it is needed.

What it compiles is kept on disk, where numba finds it. Nothing depends on it: a process that cannot be started, dies or
takes too long leaves its kernels to whoever needs them. It never lives longer than the block that started it.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numba

PATIENCE = 300.0
"""Seconds after which the other process is given up."""
SELDOM = (100_000, 50, 100)
"""When to look for garbage while compiling: a compiler makes many objects that live."""
_CALL = "import sys, gc; sys.path[:] = {path!r}; gc.set_threshold(*{seldom}); from {module} import {name}; {name}()"
_settings: Any = numba.config
_lock = Lock()
_running: list[_Promise] = []


class _Promise:
    """A process, and the functions that will be on disk when it is done."""

    def __init__(self, process: subprocess.Popen[bytes], functions: Sequence[Any]) -> None:
        self._process, self.functions = process, frozenset(functions)

    def wait(self) -> None:
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.end()

    def end(self) -> None:
        """The process is gone."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


@contextmanager
def compiled_beside(task: Callable[[], None], functions: Sequence[Any]) -> Iterator[bool]:
    """Another process runs a task, which compiles these functions, while the block runs; whether there is one.

    Parameters
    ----------
    task : function
        Without arguments; a module is imported for it.
    functions : sequence of functions
        As they were before they were compiled.
    """
    promise = _started(task, functions)
    try:
        yield promise is not None
    finally:
        if promise is not None:
            _running.remove(promise)
            promise.end()


def wait_for(function: Any) -> None:
    """The function is on disk, if a process promised that and is able to keep its promise."""
    for promise in tuple(_running):
        if function in promise.functions:
            promise.wait()


def _started(task: Callable[[], None], functions: Sequence[Any]) -> _Promise | None:
    """The process that runs a task; None where there is one already, or there had better be none."""
    with _lock:
        if _running or not _is_welcome():
            return None
        call = _CALL.format(path=sys.path, seldom=SELDOM, module=task.__module__, name=task.__name__)
        kept = {"NUMBA_CACHE_DIR": _settings.CACHE_DIR} if _settings.CACHE_DIR else {}
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", call], env=os.environ | kept, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )  # fmt: skip
        except OSError:
            return None
        _running.append(_Promise(process, functions))
        return _running[-1]


def _is_welcome() -> bool:
    """Whether there is a core for it (`NUMBA_NUM_THREADS=1` says no), and Python can be started again.

    A frozen program, or one that Python is embedded in, would start itself; one of many workers has company enough.
    """
    is_python = bool(sys.executable) and Path(sys.executable).name.lower().startswith(("python", "pypy"))
    alone = multiprocessing.current_process().name == "MainProcess"
    return is_python and not getattr(sys, "frozen", False) and alone and int(_settings.NUMBA_NUM_THREADS) > 1
