"""The level search for tests without a compiled kernel: the same questions in the same order, in batches of queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb
from threading import Lock
from typing import NamedTuple

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
from causalcontext.kernels.levels.neighbours import Pairs
from causalcontext.kernels.levels.skeleton import (
    CUT,
    DF,
    LABEL,
    MASK,
    MOST_SETS,
    REASON,
    ROWS,
    SEPARATED,
    SIZE,
    STATISTIC,
    UNTESTED,
    Decisions,
    P,
    no_decisions,
)
from causalcontext.kernels.levels.votes import Ballots, with_sets_of
from causalcontext.kernels.limits import TIED
from causalcontext.search.answers import RememberedAnswers
from causalcontext.search.levels import LevelTask, PairGroup, Screening
from causalcontext.search.plan import Plan
from causalcontext.views import CIQuery

LARGEST_BLOCK = 64
"""Sets of one pair that go into a batch at most; a search begins with one and doubles, so that few are in vain."""


class CandidateSet(NamedTuple):
    """A set that may separate a pair: the query, the place of its mask, its members that are no triggers."""

    query: CIQuery
    mask: int
    chosen: tuple[int, ...]


class OpenSearch(NamedTuple):
    """The sets of one pair in one graph that are still to be tried."""

    candidates: Iterator[CandidateSet]
    pair: int
    graph: int


class BatchedSearch:
    """Searches levels with any `PreparedTest`; a query that several graphs ask for is run once.

    Parameters
    ----------
    prepared : PreparedTest
    n_jobs : int
        Threads.
    """

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1) -> None:
        self.prepared, self.n_jobs = prepared, n_jobs
        self._lock = Lock()
        self._answers = RememberedAnswers(prepared, n_jobs)

    def screen(self, plan: Plan, asked: Bools) -> Screening | None:
        """Nothing: every pair is searched, and recorded."""
        return None

    def fewest(self, level_task: LevelTask) -> int:
        """One: a pair may take seconds."""
        return 1

    def search(self, level_task: LevelTask, pairs: Pairs) -> tuple[Decisions, Ints]:
        """The deciding sets of some pairs of a level task; the tests run on all rows, and on those of contexts."""
        with self._lock:
            return self._search(level_task, pairs)

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold each centre."""
        separating, holding = np.zeros_like(ballots.first), np.zeros_like(ballots.centre)
        for size in range(min(int(ballots.largest.max(initial=0)), group.plan.max_given) + 1):
            self._count(group, size, with_sets_of(ballots, size), separating, holding)
        return separating, holding

    def _count(self, group: PairGroup, size: int, ballots: Ballots, separating: Ints, holding: Ints) -> None:
        """Add the votes of the sets of `size` variables."""
        asked = [
            (k, candidate)
            for k, (g, x, y) in enumerate(zip(ballots.graph, ballots.first, ballots.second, strict=True))
            for mask, entry in enumerate(group.plan.masks)
            if size + len(entry.triggers) <= group.plan.max_given
            for candidate in _sets(group, int(x), int(y), int(g), mask, size)
        ]
        self._answers.run([candidate.query for _, candidate in asked])
        for k, candidate in asked:
            if self._answers.of(candidate.query).p > group.plan.alpha:
                separating[k] += 1
                held = {*candidate.chosen, *group.plan.masks[candidate.mask].triggers}
                for place in range(ballots.offset[k], ballots.offset[k + 1]):
                    holding[place] += int(ballots.centre[place]) in held

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""
        with self._lock:
            self._answers.run(list(queries))
            return np.array([self._answers.of(query).p for query in queries], dtype=np.float64)

    def _search(self, level_task: LevelTask, pairs: Pairs) -> tuple[Decisions, Ints]:
        graphs, before = level_task.group.share.end - level_task.group.share.begin, len(self._answers)
        decisions = no_decisions(pairs.first.size, graphs, level_task.size)
        waiting = [
            OpenSearch(_of_level(level_task, int(x), int(y), g, decisions.facts[k, g]), k, g)
            for k, (x, y, bits) in enumerate(zip(*pairs, strict=True))
            for g in range(graphs)
            if int(bits) >> g & 1
        ]
        size = 1
        while waiting:
            blocks = [list(islice(asked.candidates, size)) for asked in waiting]
            self._answers.run([candidate.query for block in blocks for candidate in block])
            waiting = [
                asked
                for asked, block in zip(waiting, blocks, strict=True)
                if not self._settle(asked, block, level_task.group.plan.alpha, decisions) and len(block) == size
            ]
            size = min(2 * size, LARGEST_BLOCK)
        return decisions, self._answers.counts(before)

    def _settle(self, asked: OpenSearch, block: list[CandidateSet], alpha: float, decisions: Decisions) -> bool:
        """Write a block of answers down; True as soon as one of them separates the pair."""
        place = asked.pair, asked.graph
        numbers, facts, given = decisions.numbers[place], decisions.facts[place], decisions.given[place]
        for candidate in block:
            p, statistic, df, n, reason, label = self._answers.of(candidate.query)
            if reason:
                facts[UNTESTED] += 1
                if facts[MASK] < 0:
                    facts[ROWS], facts[REASON] = n, reason
                continue
            if p > alpha or p > numbers[P] * (1.0 + TIED):
                numbers[P], numbers[STATISTIC], numbers[DF] = p, statistic, df
                facts[ROWS], facts[MASK], facts[SIZE] = n, candidate.mask, len(candidate.chosen)
                facts[REASON], facts[LABEL] = 0, label
                given[:] = -1
                given[: len(candidate.chosen)] = candidate.chosen
            if p > alpha:
                facts[SEPARATED] = 1
                return True
        return False


def _of_level(level_task: LevelTask, x: int, y: int, g: int, facts: Codes) -> Iterator[CandidateSet]:
    """The sets of one pair in one graph, in canonical order; notes where there are too many."""
    for mask in range(level_task.group.first_mask, len(level_task.group.plan.masks)):
        size = level_task.size - len(level_task.group.plan.masks[mask].triggers)
        if size >= 0:
            yield from _sets(level_task.group, x, y, g, mask, size, (facts, level_task.size))


def _sets(group: PairGroup, x: int, y: int, g: int, mask: int, size: int,
          note: tuple[Codes, int] | None = None) -> Iterator[CandidateSet]:  # fmt: skip
    """Sets of `size` variables from the neighbours of x, then from those of y, each once, with the triggers of a mask.

    A neighbourhood with too many of them is left out, and the level noted.
    """
    triggers = [group.plan.triggers.index(column) for column in group.plan.masks[mask].triggers]
    if {x, y}.intersection(group.plan.masks[mask].triggers):
        return
    before: set[int] | None = None
    for node in (x, y):
        if not all(int(group.neighbours.triggers[node, t]) >> g & 1 for t in triggers):
            continue
        pool = _pool(group, node, x, y, g)
        if comb(len(pool), size) > MOST_SETS and size > 1:
            if note is not None and note[0][CUT] == 0:
                note[0][CUT] = note[1]
            continue
        for chosen in combinations(pool, size):
            if before is None or not before.issuperset(chosen):
                yield CandidateSet(group.plan.query(group.share.begin + g, mask, x, y, chosen), mask, chosen)
        before = set(pool)


def _pool(group: PairGroup, node: int, x: int, y: int, g: int) -> list[int]:
    """The variables that may serve `node` in a graph, triggers not among them."""
    row = slice(group.neighbours.start[node], group.neighbours.start[node + 1])
    serving = group.neighbours.columns[row][(group.neighbours.graphs[row] >> g & 1).astype(bool)]
    return [z for z in serving.tolist() if z not in (x, y)]
