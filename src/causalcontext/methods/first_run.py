"""The first search on a machine: its kernels are compiled by several processes at a time.

A search runs inside `first_run`. Where compiled kernels are found on disk nothing happens. Otherwise other processes
compile what the search needs, and it finds that on disk.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.kernels.beside import Job, compiled_beside
from causalcontext.kernels.compiling import is_on_disk
from causalcontext.kernels.first_calls import CLIMBS, LEVELS, PARTS, SCORES, TESTS, Hands, compile_parts
from causalcontext.score.exact_search import is_quick

SENTENCE = "compiling for this machine, once: up to half a minute"
logger = logging.getLogger("causalcontext.compiling")
_seen: set[str] = set()


@contextmanager
def first_run(method: str, test: str, data: Dataset) -> Iterator[None]:
    """Inside the block a search may run: what it needs is compiled by several processes, if that has to be."""
    with compiled_ahead(hands_for(method, test, data)):
        yield


@contextmanager
def compiled_ahead(hands: Hands) -> Iterator[None]:
    """Inside the block parts are being compiled, unless the first one of every process is on disk.

    No search does without those. Others may not be needed, and may so be missing where no other process can be started.
    """
    missing = [hand for hand in hands if _is_missing(hand[0])]
    jobs = [_job(hand) for hand in hands] if missing else []
    if jobs:
        logger.info(SENTENCE)
    with compiled_beside(jobs):
        yield


def hands_for(method: str, test: str, data: Dataset) -> Hands:
    """What a search needs; nothing where that is not worth a process."""
    contexts = len(data.contexts.positions)
    if sum(data.kinds[place] is Kind.CONTINUOUS for place in data.system) < 2:
        return ()
    if method in ("auto", "score-ac") and contexts == 1:
        return SCORES if is_quick(len(data.levels[0]), len(data.system)) else CLIMBS
    if test == "auto" and contexts and method != "pc-m":
        return TESTS
    return LEVELS if test in ("auto", "partial-correlation") else ()


def _job(hand: tuple[str, ...]) -> Job:
    """What another process does."""
    kernels = tuple(kernel.py_func for name in hand for kernel in PARTS[name].kernels)
    return Job(compile_parts.__module__, compile_parts.__name__, hand, kernels)


def _is_missing(name: str) -> bool:
    """Whether a part is not on disk, the first time that this is asked."""
    if name in _seen:
        return False
    _seen.add(name)
    return not all(map(is_on_disk, PARTS[name].kernels))
