"""Levels of the skeleton on a card: a thread takes a pair, and does with it what the processor
does.

The functions of `kernels/levels` are compiled for the card as they are, so that the sets come in
the same order and the same one decides. Pairs with very many sets stay on the processor, whose
threads work on them meanwhile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import settings
from causalcontext.kernels.levels.gaussian import PairFit, Workspace, workspace
from causalcontext.kernels.levels.neighbours import Pairs
from causalcontext.kernels.levels.skeleton import (
    Ballots,
    Decisions,
    Level,
    Sizes,
    count_votes,
    search_pairs,
)
from causalcontext.kernels.threads import in_threads

THREADS = 64
MOST_THREADS = 1 << 17
MOST_SETS = 2_000
"""Sets of a pair that one thread of a card goes through; above, a thread of the processor is
faster.
"""


class Card:
    """Keeps the large arrays of a search on the card: cross products are sent once."""

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs
        self._kept: dict[int, tuple[Any, Any]] = {}

    def send(self, value: Any) -> Any:
        """A named tuple of arrays, of named tuples and of numbers, with its arrays on the card."""
        if isinstance(value, tuple):
            return type(value)(*(self.send(part) for part in value))
        if not isinstance(value, np.ndarray) or settings.ENABLE_CUDASIM:
            return value
        return cuda.to_device(np.ascontiguousarray(value))

    def send_level(self, level: Level) -> Any:
        """A level, of which the cross products may be there already."""
        cells, merged = (self._send_once(array) for array in (level.data.cells, level.data.merged))
        return self.send(level._replace(data=level.data._replace(cells=cells, merged=merged)))

    def _send_once(self, array: Floats) -> Any:
        if id(array) not in self._kept:
            self._kept[id(array)] = array, self.send(array)
        return self._kept[id(array)][1]

    def search_pairs(self, level: Level, pairs: Pairs, decisions: Decisions, tests: Ints) -> None:
        """As `skeleton.search_pairs`, which gets the pairs with very many sets."""
        heavy = _heavy(level, pairs.first, pairs.second)
        light = np.flatnonzero(~heavy)
        there = np.flatnonzero(heavy)
        if light.size:
            own = _of(pairs, light), _of(decisions, light)
            asked = self.send(own[0])
            found = self.send(own[1])
            room = self._room(level, light.size)
            _search[len(room.tests) // THREADS, THREADS](self.send_level(level), asked, found, room)
        if there.size:
            self._search_here(level, pairs, there, decisions, tests)
        if light.size:
            _put(decisions, light, [_fetched(column) for column in found])
            tests += _fetched(room.tests).sum(axis=0)

    def _search_here(
        self, level: Level, pairs: Pairs, places: Ints, decisions: Decisions, tests: Ints
    ) -> None:
        """Search some of the pairs on the processor."""

        def search(part: Ints) -> tuple[Decisions, Ints]:
            found = _of(decisions, part)
            run = np.zeros_like(tests)
            search_pairs(level, 0, part.size, _of(pairs, part), found, _own_room(level), run)
            return found, run

        parts = (
            np.array_split(places, min(places.size, 8 * self.n_jobs))
            if self.n_jobs > 1
            else [places]
        )
        for part, (found, run) in zip(parts, in_threads(search, parts, self.n_jobs), strict=True):
            _put(decisions, part, found)
            tests += run

    def count_votes(
        self, level: Level, ballots: Ballots, most: int, separating: Ints, holding: Ints
    ) -> None:
        """As `skeleton.count_votes` with sets of one size, which gets the pairs with very many
        sets.
        """
        sizes = Sizes(level.size, level.size, most)
        heavy = _heavy(level, ballots.first, ballots.second)
        (light, centres), (there, more) = _some(ballots, ~heavy), _some(ballots, heavy)
        if light.first.size:
            room = self._room(level, light.first.size)
            votes = self.send(DeviceVotes(separating[~heavy], holding[centres]))
            _vote[len(room.tests) // THREADS, THREADS](
                self.send_level(level), self.send(light), sizes, votes, room
            )
        if there.first.size:
            rest = DeviceVotes(separating[heavy], holding[more])
            count_votes(level, 0, there.first.size, there, sizes, *rest, _own_room(level))
            separating[heavy], holding[more] = rest
        if light.first.size:
            separating[~heavy] = _fetched(votes.separating)
            holding[centres] = _fetched(votes.holding)

    def _room(self, level: Level, pairs: int) -> DeviceWorkspace:
        """Scratch arrays for so many threads as there are pairs, or as fit into half of the memory
        that is free.
        """
        one = _own_room(level)
        arrays = [*one.fit, one.lists, one.weakest]
        free = 0 if settings.ENABLE_CUDASIM else int(cuda.current_context().get_memory_info()[0])
        most = free // (2 * sum(array.nbytes for array in arrays)) if free else MOST_THREADS
        threads = max(
            THREADS, min(-(-pairs // THREADS) * THREADS, most // THREADS * THREADS, MOST_THREADS)
        )
        make = np.zeros if settings.ENABLE_CUDASIM else cuda.device_array
        scratch: list[Any] = [make((threads, *array.shape), array.dtype) for array in arrays]
        return DeviceWorkspace._make([*scratch, self.send(np.zeros((threads, 2), dtype=np.int64))])


def _own_room(level: Level) -> Workspace:
    """The scratch arrays of one thread: pools are at most as large as the largest neighbourhood."""
    widest = int(np.diff(level.neighbours.start).max(initial=0))
    size = level.size + level.masks.kept.shape[1]
    return workspace(level.selections, size, len(level.masks.selection), max(widest, 1))


def _heavy(level: Level, first: Ints, second: Ints) -> Bools:
    """Which pairs have more sets than a thread of a card should go through."""
    degrees = np.diff(level.neighbours.start)
    pool = np.maximum(degrees[first], degrees[second]).astype(float)
    sets = np.ones(first.size)
    for k in range(level.size):
        sets *= np.maximum(pool - k, 0.0) / (k + 1.0)
    heavy: Bools = sets > MOST_SETS
    return heavy


def _of(columns: Any, places: Ints) -> Any:
    return type(columns)(*(column[places] for column in columns))


def _some(ballots: Ballots, chosen: Bools) -> tuple[Ballots, Bools]:
    """Some of the ballots, and which of all centres are theirs."""
    sizes = np.diff(ballots.offset)
    centres = np.repeat(chosen, sizes)
    offset = np.concatenate([[0], np.cumsum(sizes[chosen])])
    graph, first, second, largest = (column[chosen] for column in ballots[:4])
    return Ballots(graph, first, second, largest, ballots.centre[centres], offset), centres


def _put(columns: Any, places: Ints, found: Any) -> None:
    for column, new in zip(columns, found, strict=True):
        column[places] = new


def _fetched(array: Any) -> Any:
    return array if settings.ENABLE_CUDASIM else array.copy_to_host()


class DeviceWorkspace(NamedTuple):
    """Scratch arrays of all threads, that of a thread at its number; the tests that each has
    run.
    """

    factor: Any
    loads: Any
    moments: Any
    rank: Any
    lists: Any
    weakest: Any
    tests: Any


class DeviceVotes(NamedTuple):
    """What votes are counted in."""

    separating: Any
    holding: Any


@cuda.jit
def _search(level: Any, pairs: Any, decisions: Any, room: Any) -> None:
    thread = cuda.grid(1)
    k = cuda.grid(1)
    fit = PairFit(room.factor[thread], room.loads[thread], room.moments[thread], room.rank[thread])
    work = Workspace(fit, room.lists[thread], room.weakest[thread])
    while k < pairs.first.size:
        search_pairs(level, k, k + 1, pairs, decisions, work, room.tests[thread])
        k += cuda.gridsize(1)


@cuda.jit
def _vote(level: Any, ballots: Any, sizes: Any, votes: Any, room: Any) -> None:
    thread = cuda.grid(1)
    k = cuda.grid(1)
    fit = PairFit(room.factor[thread], room.loads[thread], room.moments[thread], room.rank[thread])
    work = Workspace(fit, room.lists[thread], room.weakest[thread])
    while k < ballots.first.size:
        count_votes(level, k, k + 1, ballots, sizes, votes.separating, votes.holding, work)
        k += cuda.gridsize(1)
