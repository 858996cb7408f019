"""Threads for kernels, which release Python's lock: one pool, results in order, stopped by
Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Done = TypeVar("Done")


def in_threads(task: Callable[[Part], Done], parts: Sequence[Part], n_jobs: int) -> Iterator[Done]:
    """What a task makes of the parts, in their order.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    return map(task, parts) if n_jobs == 1 or len(parts) == 1 else _by_a_pool(task, parts, n_jobs)


def _by_a_pool(task: Callable[[Part], Done], parts: Sequence[Part], n_jobs: int) -> Iterator[Done]:
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            yield from pool.map(task, parts)
        except (
            BaseException
        ):  # Ctrl-C, the end of the time, an error: what has not begun is not begun any more
            pool.shutdown(wait=False, cancel_futures=True)
            raise
