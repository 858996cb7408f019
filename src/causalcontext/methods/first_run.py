"""The first search on a machine: its kernels are compiled by two processes at a time.

A search runs inside `first_run`. Where compiled kernels are found on disk nothing happens. Otherwise another process
compiles one half of what the search needs, this one the other; the search then finds both on disk.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.kernels.beside import SELDOM, compiled_beside
from causalcontext.kernels.compiling import is_on_disk
from causalcontext.kernels.first_calls import LEVELS, SCORES, TESTS, Halves

SENTENCE = "compiling for this machine, once: up to half a minute"
logger = logging.getLogger("causalcontext.compiling")
_seen: set[Halves] = set()


@contextmanager
def first_run(method: str, test: str, data: Dataset) -> Iterator[None]:
    """Inside the block a search may run: what it needs is compiled by two processes, if that has to be."""
    halves = halves_for(method, test, data)
    if halves is None or not _is_missing(halves):
        yield
        return
    logger.info(SENTENCE)
    with compiled_beside(halves.beside, [kernel.py_func for kernel in halves.kernels]) as company:
        if company:
            with _seldom_collected():
                halves.here()
        yield


def halves_for(method: str, test: str, data: Dataset) -> Halves | None:
    """What a search needs; None where that is not worth a process."""
    contexts = len(data.contexts.positions)
    if sum(data.kinds[place] is Kind.CONTINUOUS for place in data.system) < 2:
        return None
    if method in ("auto", "score-ac") and contexts == 1:
        return SCORES
    if test == "auto" and contexts and method != "pc-m":
        return TESTS
    return LEVELS if test in ("auto", "partial-correlation") else None


def _is_missing(halves: Halves) -> bool:
    """Whether the last of the kernels is not on disk, the first time that this is asked."""
    if halves in _seen:
        return False
    _seen.add(halves)
    return not is_on_disk(halves.kernels[-1])


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Garbage is collected seldom, as in the other process."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
