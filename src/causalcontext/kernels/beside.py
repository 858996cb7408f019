"""Other processes that compile beside this one: what they have promised is waited for where it is needed.

What they compile is kept on disk, where numba finds it. Nothing depends on them: a process that cannot be started, dies
or takes too long leaves its kernels to whoever needs them. None lives longer than the block that started it, which
waits for what nobody has asked for yet: the next search would have to start again.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numba

PATIENCE = 300.0
"""Seconds after which another process is given up."""
_GLANCE = 0.05
"""Seconds between two looks at the disk."""
_SELDOM = (100_000, 50, 100)
"""When to look for garbage while compiling: a compiler makes many objects that live."""
_ROOT = Path(__file__).parents[1]
_CALL = """import sys, gc, types
sys.path[:] = {path!r}
gc.set_threshold(*{seldom})
package = sys.modules[{package!r}] = types.ModuleType({package!r})
package.__path__ = [{root!r}]
from {module} import {name}
{name}(*{given!r})
"""
"""The package's own imports are left out: kernels need few of them."""
_settings: Any = numba.config
_lock = Lock()
_running: list[_Promise] = []


class Job(NamedTuple):
    """A function to call in another process, and the functions that are on disk when it is done.

    Parameters
    ----------
    module, name : str
        Where the function is found.
    given : tuple
        Its arguments, as Python would write them.
    functions : tuple of functions
        As they were before they were compiled.
    """

    module: str
    name: str
    given: tuple[Any, ...]
    functions: tuple[Any, ...]


class _Promise:
    """A process, and the functions that will be on disk when it is done."""

    def __init__(self, process: subprocess.Popen[bytes], functions: Sequence[Any]) -> None:
        self._process, self.functions = process, frozenset(functions)

    def wait(self, arrived: Callable[[], bool]) -> None:
        """Until something has arrived on disk, or the process is gone."""
        until = time.monotonic() + PATIENCE
        while self._process.poll() is None and not arrived():
            if time.monotonic() > until:
                self.end()
            time.sleep(_GLANCE)

    def end(self) -> None:
        """The process is gone."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


@contextmanager
def compiled_beside(jobs: Iterable[Job]) -> Iterator[None]:
    """Other processes do jobs, one each, while the block runs; it ends when they are done, and an error ends them."""
    with _lock:
        promises = [] if _running or not _is_welcome() else list(filter(None, map(_started, jobs)))
        _running.extend(promises)
    try:
        yield
        with suppress(KeyboardInterrupt):  # what the block was for is done: Ctrl-C ends the waiting
            for promise in promises:
                promise.wait(lambda: False)
    finally:
        for promise in promises:
            _running.remove(promise)
            promise.end()


def wait_for(function: Any, arrived: Callable[[], bool]) -> None:
    """The function has arrived on disk, if a process promised that and is able to keep its promise."""
    for promise in tuple(_running):
        if function in promise.functions:
            promise.wait(arrived)


def _started(job: Job) -> _Promise | None:
    """The process that does a job, where it can be started."""
    call = _CALL.format(path=sys.path, seldom=_SELDOM, package=_ROOT.name, root=str(_ROOT), module=job.module,
                        name=job.name, given=job.given)  # fmt: skip
    kept = {"NUMBA_CACHE_DIR": _settings.CACHE_DIR} if _settings.CACHE_DIR else {}
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", call], env=os.environ | kept, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
    except OSError:
        return None
    return _Promise(process, job.functions)


def _is_welcome() -> bool:
    """Whether there is a core for another process (`NUMBA_NUM_THREADS=1` says no), and Python can be started again.

    A frozen program, or one that Python is embedded in, would start itself; one of many workers has company enough.
    """
    is_python = bool(sys.executable) and Path(sys.executable).name.lower().startswith(("python", "pypy"))
    alone = multiprocessing.current_process().name == "MainProcess"
    return is_python and not getattr(sys, "frozen", False) and alone and int(_settings.NUMBA_NUM_THREADS) > 1
