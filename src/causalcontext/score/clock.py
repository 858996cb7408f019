"""When to stop: the time limit and Ctrl-C, as compiled code that runs for seconds can hear them.

Work is done in a thread of its own, while the caller's thread listens: when the time is up, or at Ctrl-C, it raises a
flag that kernels look at between two moves, and waits for what they have reached until then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")
GRACE = 1.0
"""Seconds after the end in which what is needed for any model at all may still be done."""


class Clock:
    """Tells a search when to stop, and remembers why, and what was left out because of it.

    Parameters
    ----------
    limit : float, optional
        Seconds from now.

    Attributes
    ----------
    flag : array of int, shape (1,)
        1 as soon as the search is to stop.
    overdue : array of int, shape (1,)
        1 as soon as even the first fits are to stop, `GRACE` later.
    interrupted : bool
        Whether that was Ctrl-C.
    cut : list of str
        What was ended early or left out.
    """

    def __init__(self, limit: float | None = None) -> None:
        self._deadline = None if limit is None else time.monotonic() + limit
        self.flag, self.overdue = np.zeros((2, 1), dtype=np.int64)
        self.interrupted = False
        self.cut: list[str] = []

    @property
    def late(self) -> bool:
        """Whether to stop."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self.flag[0] = 1
        return bool(self.flag[0])

    @property
    def is_overdue(self) -> bool:
        """Whether even what belongs to any model is to stop."""
        return self._deadline is not None and time.monotonic() >= self._deadline + GRACE

    def skips(self, what: str) -> bool:
        """Whether there is no time left for something, which is written down then."""
        if self.late and what not in self.cut:
            self.cut.append(what)
        return self.late

    def interrupt(self) -> None:
        """Stop because of Ctrl-C."""
        self.interrupted = True
        self.flag[0] = 1

    def start(self, call: Callable[[], Result]) -> Future[Result]:
        """A call that goes on in a thread of its own."""
        future: Future[Result] = Future()
        threading.Thread(target=_work, args=(call, future), daemon=True).start()
        return future

    def result(self, future: Future[Result]) -> Result:
        """What a call returns; it is told to stop when the time is up, or at Ctrl-C. A second Ctrl-C does not wait."""
        while True:
            try:
                following = self.overdue if self.flag[0] else self.flag
                if wait([future], self._left()).done:
                    return future.result()
                following[0] = 1
            except KeyboardInterrupt:
                if self.interrupted:
                    raise
                self.interrupt()

    def _left(self) -> float | None:
        """Seconds until the next flag is to be raised; None: nobody knows."""
        if self.flag[0]:
            return None if self.overdue[0] else GRACE
        if self._deadline is None:
            return None
        return max(self._deadline - time.monotonic(), 0.0)


def _work(call: Callable[[], Result], future: Future[Result]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)
