"""The level search for tests without a compiled kernel: the same questions in the same order, in batches of trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb
from threading import Lock
from typing import NamedTuple

import numpy as np

from causalcontext.independence.protocol import PreparedTest
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
from causalcontext.questions import Trial
from causalcontext.search.answers import Answers
from causalcontext.search.levels import Scene, Screening, Sweep
from causalcontext.search.plan import Plan

LARGEST_BLOCK = 64
"""Sets of one pair that go into a batch at most; a search begins with one and doubles, so that few are in vain."""


class Candidate(NamedTuple):
    """A set that may separate a pair: the trial, the place of its mask, its members that are no triggers."""

    trial: Trial
    mask: int
    chosen: tuple[int, ...]


class OpenSearch(NamedTuple):
    """The sets of one pair in one graph that are still to be tried."""

    candidates: Iterator[Candidate]
    pair: int
    graph: int


class BatchedSearch:
    """Searches levels with any `PreparedTest`; a trial that several graphs ask for is run once.

    Parameters
    ----------
    prepared : PreparedTest
    n_jobs : int
        Threads.
    """

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1) -> None:
        self.prepared, self.n_jobs = prepared, n_jobs
        self._lock = Lock()
        self._answers = Answers(prepared, n_jobs)

    def screen(self, plan: Plan, asked: Bools) -> Screening | None:
        """Nothing: every pair is searched, and recorded."""
        return None

    def fewest(self, sweep: Sweep) -> int:
        """One: a pair may take seconds."""
        return 1

    def search(self, sweep: Sweep, pairs: Pairs) -> tuple[Decisions, Ints]:
        """The deciding sets of some of the pairs of a sweep; the tests run on all rows, and on those of contexts."""
        with self._lock:
            return self._search(sweep, pairs)

    def vote(self, scene: Scene, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold each centre."""
        separating, holding = np.zeros_like(ballots.first), np.zeros_like(ballots.centre)
        for size in range(min(int(ballots.largest.max(initial=0)), scene.plan.max_given) + 1):
            self._count(scene, size, with_sets_of(ballots, size), separating, holding)
        return separating, holding

    def _count(self, scene: Scene, size: int, ballots: Ballots, separating: Ints, holding: Ints) -> None:
        """Add the votes of the sets of `size` variables."""
        asked = [
            (k, candidate)
            for k, (g, x, y) in enumerate(zip(ballots.graph, ballots.first, ballots.second, strict=True))
            for mask, entry in enumerate(scene.plan.masks)
            if size + len(entry.triggers) <= scene.plan.max_given
            for candidate in _sets(scene, int(x), int(y), int(g), mask, size)
        ]
        self._answers.run([candidate.trial for _, candidate in asked])
        for k, candidate in asked:
            if self._answers.of(candidate.trial).p > scene.plan.alpha:
                separating[k] += 1
                held = {*candidate.chosen, *scene.plan.masks[candidate.mask].triggers}
                for place in range(ballots.offset[k], ballots.offset[k + 1]):
                    holding[place] += int(ballots.centre[place]) in held

    def ask(self, trials: Sequence[Trial]) -> Floats:
        """The p-value of every trial, NaN where it cannot be run."""
        with self._lock:
            self._answers.run(list(trials))
            return np.array([self._answers.of(trial).p for trial in trials], dtype=np.float64)

    def _search(self, sweep: Sweep, pairs: Pairs) -> tuple[Decisions, Ints]:
        graphs, before = sweep.scene.share.end - sweep.scene.share.begin, len(self._answers)
        decisions = no_decisions(pairs.first.size, graphs, sweep.size)
        waiting = [
            OpenSearch(_of_level(sweep, int(x), int(y), g, decisions.facts[k, g]), k, g)
            for k, (x, y, bits) in enumerate(zip(*pairs, strict=True))
            for g in range(graphs)
            if int(bits) >> g & 1
        ]
        size = 1
        while waiting:
            blocks = [list(islice(asked.candidates, size)) for asked in waiting]
            self._answers.run([candidate.trial for block in blocks for candidate in block])
            waiting = [
                asked
                for asked, block in zip(waiting, blocks, strict=True)
                if not self._settle(asked, block, sweep.scene.plan.alpha, decisions) and len(block) == size
            ]
            size = min(2 * size, LARGEST_BLOCK)
        return decisions, self._answers.counts(before)

    def _settle(self, asked: OpenSearch, block: list[Candidate], alpha: float, decisions: Decisions) -> bool:
        """Write a block of answers down; True as soon as one of them separates the pair."""
        place = asked.pair, asked.graph
        numbers, facts, given = decisions.numbers[place], decisions.facts[place], decisions.given[place]
        for candidate in block:
            p, statistic, df, n, reason, label = self._answers.of(candidate.trial)
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


def _of_level(sweep: Sweep, x: int, y: int, g: int, facts: Codes) -> Iterator[Candidate]:
    """The sets of one pair in one graph, in canonical order; notes where there are too many."""
    for mask in range(sweep.scene.first_mask, len(sweep.scene.plan.masks)):
        size = sweep.size - len(sweep.scene.plan.masks[mask].triggers)
        if size >= 0:
            yield from _sets(sweep.scene, x, y, g, mask, size, (facts, sweep.size))


def _sets(scene: Scene, x: int, y: int, g: int, mask: int, size: int,
          note: tuple[Codes, int] | None = None) -> Iterator[Candidate]:  # fmt: skip
    """Sets of `size` variables from the neighbours of x, then from those of y, each once, with the triggers of a mask.

    A neighbourhood with too many of them is left out, and the level noted.
    """
    triggers = [scene.plan.triggers.index(column) for column in scene.plan.masks[mask].triggers]
    if {x, y}.intersection(scene.plan.masks[mask].triggers):
        return
    before: set[int] | None = None
    for node in (x, y):
        if not all(int(scene.neighbours.triggers[node, t]) >> g & 1 for t in triggers):
            continue
        pool = _pool(scene, node, x, y, g)
        if comb(len(pool), size) > MOST_SETS and size > 1:
            if note is not None and note[0][CUT] == 0:
                note[0][CUT] = note[1]
            continue
        for chosen in combinations(pool, size):
            if before is None or not before.issuperset(chosen):
                yield Candidate(scene.plan.trial(scene.share.begin + g, mask, x, y, chosen), mask, chosen)
        before = set(pool)


def _pool(scene: Scene, node: int, x: int, y: int, g: int) -> list[int]:
    """The variables that may serve `node` in a graph, triggers not among them."""
    row = slice(scene.neighbours.start[node], scene.neighbours.start[node + 1])
    serving = scene.neighbours.columns[row][(scene.neighbours.graphs[row] >> g & 1).astype(bool)]
    return [z for z in serving.tolist() if z not in (x, y)]
