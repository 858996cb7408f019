"""Threads for kernels, which release Python's lock: one pool, results in order, stopped by
Ctrl-C.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Done = TypeVar("Done")

_worker = threading.local()
"""Of a thread of a pool: `stop`, an event that is set when the work of the pool is not wanted any
more.
"""


class Stopped(Exception):
    """The work of a thread is not wanted any more: another one met Ctrl-C, a time limit, an
    error.
    """


def check_stopped() -> None:
    """Raise `Stopped` in a thread of a pool whose work is not wanted any more."""
    stop = getattr(_worker, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


def in_threads(task: Callable[[Part], Done], parts: Sequence[Part], n_jobs: int) -> Iterator[Done]:
    """What a task makes of the parts, in their order.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    return map(task, parts) if n_jobs == 1 or len(parts) == 1 else _by_a_pool(task, parts, n_jobs)


def _by_a_pool(task: Callable[[Part], Done], parts: Sequence[Part], n_jobs: int) -> Iterator[Done]:
    stop = threading.Event()

    def begin() -> None:
        _worker.stop = stop

    with ThreadPoolExecutor(n_jobs, initializer=begin) as pool:
        try:
            yield from pool.map(task, parts)
        except (
            BaseException
        ):  # Ctrl-C, the end of the time, an error: what has not begun is not begun any more
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
