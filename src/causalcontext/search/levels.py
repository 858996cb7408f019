"""One level of the joint skeleton: every pair that is left, every set of one size, all graphs at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.levels.skeleton import Candidates, Records, choose_pairs, pack_graphs
from causalcontext.search.ledger import Ledger
from causalcontext.search.plan import NO_CONTEXT, Bools, Plan

Ints = NDArray[np.int64]
Advance = Callable[[int, int, int], None]
"""Called as `advance(level, pairs done, pairs in all)`."""

MOST_GRAPHS = 60
"""Graphs that share one sweep: their bits must fit an integer."""
TESTS_PER_CALL = 4_000_000
"""Roughly how many tests a kernel call may hold, so that progress is shown and Ctrl-C is heard."""


class LevelSearch(Protocol):
    """Answers a whole level at once: a compiled kernel, or `BatchedSearch` around any other test."""

    def search_pairs(self, alpha: float, level: int, first: Ints, second: Ints, slot: Ints, active: Ints,
                     candidates: Candidates, records: Records) -> Ints:  # fmt: skip
        """Look for separating sets of `level` variables for every pair, writing to `records`."""
        ...

    def count_votes(self, alpha: float, size: int, graph: Ints, first: Ints, second: Ints, centre: Ints, offset: Ints,
                    with_context: bool, candidates: Candidates, separating: Ints, holding: Ints) -> None:  # fmt: skip
        """Count the sets of `size` system variables that separate each pair, and those that hold each centre."""
        ...


@dataclass(frozen=True)
class Sweep:
    """A level for some of the graphs: pairs with enough candidates, and whom they may condition on."""

    graphs: slice
    slots: Ints
    active: Ints
    candidates: Candidates
    tests_per_pair: int


def sweeps(plan: Plan, ledger: Ledger, adjacency: Bools, level: int, only: Bools | None = None) -> list[Sweep]:
    """The work of one level; empty when no pair has enough candidates left.

    With `only`, shape (graphs, N, N), no more than these edges are looked at.
    """
    if level > plan.max_given:
        return []
    found = []
    for begin in range(0, len(plan.levels), MOST_GRAPHS):
        graphs = slice(begin, min(begin + MOST_GRAPHS, len(plan.levels)))
        sweep = _sweep(plan, ledger, adjacency, level, graphs, adjacency if only is None else only)
        if sweep.slots.size:
            found.append(sweep)
    return found


def run_level(search: LevelSearch, plan: Plan, ledger: Ledger, level: int, work: list[Sweep], n_jobs: int,
              advance: Advance) -> None:  # fmt: skip
    """Search every sweep of a level and write the outcome to the ledger."""
    ledger.make_room(level)
    total = sum(sweep.slots.size for sweep in work)
    done = 0
    for sweep in work:
        records = ledger.of_graphs(sweep.graphs)

        def search_part(part: slice, sweep: Sweep = sweep, records: Records = records) -> tuple[Ints, int]:
            slots = sweep.slots[part]
            tests = search.search_pairs(plan.alpha, level, ledger.first[slots], ledger.second[slots], slots,
                                        sweep.active[part], sweep.candidates, records)  # fmt: skip
            return tests, slots.size

        for tests, size in _in_parallel(search_part, _parts(sweep, n_jobs), n_jobs):
            ledger.tests += tests
            done += size
            advance(level, done, total)
    if plan.searches_context:
        ledger.share(_context_slots(plan, ledger))


def candidate_bits(plan: Plan, adjacency: Bools, graphs: slice, only: Bools | None = None) -> tuple[Candidates, Ints]:
    """Whom each variable may condition on: its neighbours in a graph, unless they cannot be its causes; open pairs."""
    system, pairs = pack_graphs(adjacency, adjacency if only is None else only, plan.links.may, plan.links.required,
                                graphs.start, graphs.stop)  # fmt: skip
    context = np.zeros(plan.variables, dtype=np.int64)
    if plan.context != NO_CONTEXT:
        if plan.searches_context:
            context = system[:, plan.context].copy()
        system[:, plan.context] = 0
    return Candidates(system, context, plan.views[graphs], plan.context_views[graphs]), pairs


def _sweep(plan: Plan, ledger: Ledger, adjacency: Bools, level: int, graphs: slice, only: Bools) -> Sweep:
    candidates, pairs = candidate_bits(plan, adjacency, graphs, only)
    shared = 1 << len(plan.levels[graphs]) if plan.searches_context and graphs.start == 0 else 0
    slots, active, most = choose_pairs(candidates, pairs, ledger.first, ledger.second, plan.context, shared, level)
    return Sweep(graphs, slots, active, candidates, 2 * comb(most, level))


def _context_slots(plan: Plan, ledger: Ledger) -> Ints:
    return np.flatnonzero((ledger.first == plan.context) | (ledger.second == plan.context))


def _parts(sweep: Sweep, n_jobs: int) -> list[slice]:
    """Slices of the pairs, small enough for progress and at least one per worker."""
    size = max(1, min(sweep.slots.size, TESTS_PER_CALL // max(sweep.tests_per_pair, 1)))
    if n_jobs > 1:
        size = max(1, min(size, -(-sweep.slots.size // (4 * n_jobs))))
    return [slice(begin, begin + size) for begin in range(0, sweep.slots.size, size)]


def _in_parallel(task: Callable[[slice], Any], parts: list[slice], n_jobs: int) -> Iterator[Any]:
    """Run a task over the parts, in order of completion of the list; threads, since kernels release the lock."""
    if n_jobs == 1 or len(parts) == 1:
        yield from map(task, parts)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            yield from pool.map(task, parts)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
