"""Compiling ahead: before a search, two processes call, on tiny tables, what it will call.

numba compiles a kernel when it is first called, which takes seconds. Every part (`warmup/parts.py`)
calls some kernels once; what it compiles is kept on disk (`kernels/compiling.py`), where the search
finds it. Nothing depends on the parts: a kernel that none of them calls, or whose process died, is
compiled where it is called. Parts are named, not imported: they search themselves.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import Queue
from subprocess import DEVNULL, PIPE
from typing import Any

import llvmlite.binding
import numba

from causalcontext.ci_tests.change import ChangeTest
from causalcontext.ci_tests.protocol import IndependenceTest, Needs
from causalcontext.ci_tests.registry import Composite, Member
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.kernels import compiling
from causalcontext.kernels.compiling import code_folder, logger, settings
from causalcontext.methods.auto import choose_by_columns, choose_for_windows
from causalcontext.methods.settings import GARBAGE_THRESHOLDS
from causalcontext.progress import bar
from causalcontext.score.data import orders_of
from causalcontext.score.search import is_quick
from causalcontext.views import CIQuery

WHERE = "causalcontext.warmup.parts"
PARTS: dict[str, tuple[str, ...]] = {
    "comparisons": ("comparisons_by_logits", "scan", "comparisons_on_rows"),
    "levels": ("levels",),
    "batches": ("batches",),
    "orders": ("orders",),
    "climbs": ("climbs",),
    "scores": ("choice_pointer", "density_pointer", "logits", "class_pointer", "number_pointer"),
}
"""Parts that are compiled together: two processes take one part after the other, in an order that
keeps both busy.
"""
WHOLE = ("whole_tests", "whole_scores", "other_tests", "simulations")
"""The parts that are compiled in a second round, for those who want everything ahead."""
EVERYTHING = "everything"
SENTENCE = "compiling for this machine, once: about half a minute"
LONG_SENTENCE = "compiling everything for this machine, once: a minute or two"
DONE = "done"
"""The answer of a worker."""
_asked: set[str] = set()


def kinds_for(method: str, test: IndependenceTest, data: Dataset) -> tuple[str, ...]:
    """The kernels that a search calls, by its options and the kinds of columns alone; for "auto"
    those of the method that it tries first.
    """
    members: tuple[Any, ...] = test.members if isinstance(test, Composite) else (test,)
    contexts = len(data.contexts.cells)
    if method == "score-ac" or (method == "auto" and choose_by_columns(data) is None):
        variables = len(data.contexts.positions)
        quick = is_quick(orders_of(contexts, variables), len(data.system), variables)
        return ("orders" if quick else "climbs", "scores")
    numbers = all(data.kinds[column] is Kind.CONTINUOUS for column in data.system)
    by_moments = getattr(members[0], "needs", Needs.ROWS) is Needs.MOMENTS
    searched = ("levels",) if numbers and by_moments else ("batches",)
    if contexts > 1 and method != "pc-m" and _compares_contexts(members, data):
        return ("comparisons", *searched)
    return searched


def _compares_contexts(members: Sequence[Any], data: Dataset) -> bool:
    """True where a context against some other column is asked of a comparison between contexts."""
    for column in data.system:
        query = CIQuery(data.contexts.positions[0], column, ())
        answering = (
            member
            for member in members
            if not isinstance(member, Member) or member.answers(data, query)
        )
        if isinstance(next(answering, None), ChangeTest):
            return True
    return False


def kinds_for_windows(method: str, data: Dataset) -> tuple[str, ...]:
    """The same for windows of a table."""
    if method == "score-ac" or (method == "auto" and choose_for_windows(data).method == "score-ac"):
        quick = is_quick(1, len(data.system), len(data.contexts.positions))
        return ("orders" if quick else "climbs", "scores")
    return ("batches", "comparisons")


def compile_ahead(kinds: Iterable[str]) -> None:
    """The kernels of searches of these kinds are on disk; if they were not, a line or a bar says
    that they are being compiled.
    """
    new = [kind for kind in kinds if kind not in _asked]
    wanted = [kind for kind in new if not _is_done(kind)]
    _asked.update(new)
    worker = compiling.only_for_disk or multiprocessing.current_process().name != "MainProcess"
    if not wanted or worker:  # a worker compiles what it calls
        return
    parts = [part for kind in wanted for part in PARTS[kind]]
    with _telling(SENTENCE, len(parts)) as tell:
        if all(list(_compiled(parts, tell))):
            for kind in wanted:
                _note_done(kind)


def is_warm() -> bool:
    """True where everything is compiled for this machine."""
    return _is_done(EVERYTHING)


def warm_up() -> Path | None:
    """All kernels are compiled, with a bar; the folder they are kept in, or None if they cannot be
    kept.
    """
    if is_warm():
        return code_folder()
    _asked.update(PARTS)
    parts = [part for kind in PARTS for part in PARTS[kind]]
    with _telling(LONG_SENTENCE, len(parts) + len(WHOLE)) as tell:
        # whole searches find the parts on disk
        went_well = [*_compiled(parts, tell), *_compiled(WHOLE, tell)]
    if all(went_well):
        for kind in (*PARTS, EVERYTHING):
            _note_done(kind)
    return code_folder()


def _compiled(parts: Sequence[str], tell: Callable[[], None]) -> Iterator[bool]:
    """The success of each part, as truth values: two processes take one after the other, where they
    can be started.
    """
    if not _can_start():
        yield from (_went_well(partial(call_part, WHERE, part), tell) for part in parts)
        return
    try:
        workers = [_Worker() for _ in parts[:2]]
    except OSError as error:
        logger.debug("no process could be started to compile: %s", error)
        yield False
        return
    free: Queue[_Worker] = Queue()
    for worker in workers:
        free.put(worker)

    def call(part: str) -> None:
        worker = free.get()
        try:
            worker.call(part)
        finally:
            free.put(worker)

    with ThreadPoolExecutor(len(workers)) as pool:
        begun = [pool.submit(call, part) for part in parts]
        try:
            for done in as_completed(begun):
                yield _went_well(done.result, tell)
        finally:  # the pool waits for its threads, and these wait for the workers
            for left in begun:
                left.cancel()
            for worker in workers:
                worker.end()


class _Worker:
    """A process that calls the parts whose names it is sent, and answers each with a line."""

    def __init__(self) -> None:
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import answer_names;"
            " answer_names()"
        )
        kept = {"NUMBA_CACHE_DIR": settings.CACHE_DIR} if settings.CACHE_DIR else {}
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            text=True,
            env=os.environ | kept,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def call(self, part: str) -> None:
        """The part is called; an error if it raised one, or if the process is gone."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{WHERE} {part}\n")
        process.stdin.flush()
        answer = process.stdout.readline().strip()
        if answer != DONE:
            raise RuntimeError(answer or "the process is gone")

    def end(self) -> None:
        """The process is gone."""
        self._process.kill()
        with suppress(BrokenPipeError), self._process:  # a name may have been on its way
            pass


def answer_names() -> None:
    """The loop of a worker: every line on stdin names a part, which is called."""
    # Ctrl-C on a terminal reaches all; who started this one ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    compiling.only_for_disk = True
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    for line in sys.stdin:
        try:
            call_part(*line.split())
        except Exception as error:
            print(" ".join(str(error).split()) or type(error).__name__, flush=True)
        else:
            print(DONE, flush=True)


def call_part(module: str, name: str) -> None:
    """A part, by its name."""
    getattr(import_module(module), name)()


def _went_well(done: Callable[[], object], tell: Callable[[], None]) -> bool:
    """True where a part raised nothing; what it did not compile is compiled when it is called."""
    try:
        done()
    except Exception as error:
        logger.debug("a part was not compiled ahead: %s", error)
        return False
    tell()
    return True


def _can_start() -> bool:
    """True where there are cores for other processes, and Python can be started again: not from
    inside a program.
    """
    cores = min(os.cpu_count() or 1, int(settings.NUMBA_NUM_THREADS))
    python = Path(sys.executable or "").name.lower()
    return cores > 1 and python.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _is_done(kind: str) -> bool:
    folder = None if settings.DISABLE_JIT else code_folder()
    return folder is None or (folder / _mark(kind)).exists()


def _note_done(kind: str) -> None:
    folder = code_folder()
    if folder is not None:
        try:
            (folder / _mark(kind)).touch()
        except OSError as error:
            logger.debug("no note that %s are compiled: %s", kind, error)


def _mark(kind: str) -> str:
    """The name of the file that says that a kind is compiled, for this processor and these
    versions.
    """
    processor = settings.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    return f"{kind} {processor} {numba.__version__} {sys.implementation.cache_tag}".replace(
        " ", "-"
    )


@contextmanager
def _telling(sentence: str, parts: int) -> Iterator[Callable[[], None]]:
    """One line that kernels are compiled, and on a terminal a bar; the function counts what is
    done.
    """
    from rich.progress import TimeElapsedColumn

    shown = bar(TimeElapsedColumn())
    if not (shown.console.is_terminal or shown.console.is_jupyter):
        logger.warning(sentence)
        yield lambda: None
        return
    with shown:
        task = shown.add_task(sentence, total=parts)
        yield lambda: shown.advance(task)
