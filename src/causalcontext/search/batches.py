"""The level search for tests without a compiled kernel: the same questions in the same order, in batches of trials."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, islice
from math import comb
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from causalcontext.independence.protocol import PreparedTest
from causalcontext.kernels.levels.skeleton import (
    CUT,
    DF,
    GIVEN_CONTEXT,
    LABEL,
    MOST_SETS,
    REASON,
    ROWS,
    SEPARATED,
    SIZE,
    STATISTIC,
    UNTESTED,
    VIEW,
    Candidates,
    P,
    Records,
)
from causalcontext.questions import Outcomes, Trial

Ints = NDArray[np.int64]
Answer = tuple[float, float, float, int, int, int]
"""p, statistic, df, rows, reason, label."""
LARGEST_BLOCK = 64
"""Sets of one pair that go into a batch at most; a search begins with one and doubles, so that few are in vain."""


class BatchedSearch:
    """Searches levels with any `PreparedTest`; a trial that several graphs ask for is run once.

    Parameters
    ----------
    prepared : PreparedTest
    context : int
        The position of the context, or -1.
    """

    def __init__(self, prepared: PreparedTest, context: int, n_jobs: int = 1) -> None:
        self.prepared, self.context, self.n_jobs = prepared, context, n_jobs
        self._lock = Lock()
        self._answers: dict[Trial, Answer] = {}

    def search_pairs(self, alpha: float, level: int, first: Ints, second: Ints, slot: Ints, active: Ints,
                     candidates: Candidates, records: Records) -> Ints:  # fmt: skip
        """Look for separating sets of `level` variables for every pair, writing to `records`."""
        with self._lock:
            return self._search(alpha, level, first, second, slot, active, candidates, records)

    def _search(self, alpha: float, level: int, first: Ints, second: Ints, slot: Ints, active: Ints,
                candidates: Candidates, records: Records) -> Ints:  # fmt: skip
        before = len(self._answers)
        open_searches = [
            (self._trials(int(x), int(y), bit, level, candidates), bit % records.facts.shape[0], int(place))
            for x, y, place, bits in zip(first, second, slot, active, strict=True)
            for bit in range(records.facts.shape[0] + 1)
            if int(bits) >> bit & 1
        ]
        self._note_cuts(level, first, second, slot, active, candidates, records)
        size = 1
        while open_searches:
            blocks = [list(islice(trials, size)) for trials, _, _ in open_searches]
            self._run([trial for block in blocks for trial in block])
            open_searches = [
                search
                for search, block in zip(open_searches, blocks, strict=True)
                if not self._settle(block, alpha, records, search[1], search[2], candidates) and len(block) == size
            ]
            size = min(2 * size, LARGEST_BLOCK)
        fresh = list(self._answers)[before:]
        some = sum(1 for trial in fresh if trial.where)
        return np.array([len(fresh) - some, some], dtype=np.int64)

    def count_votes(self, alpha: float, size: int, graph: Ints, first: Ints, second: Ints, centre: Ints, offset: Ints,
                    with_context: bool, candidates: Candidates, separating: Ints, holding: Ints) -> None:  # fmt: skip
        """Count the sets of `size` system variables that separate each pair, and those that hold each centre."""
        asked = []
        for k, (x, y, g) in enumerate(zip(first, second, graph, strict=True)):
            bit = candidates.plain_view.size if self.context in (x, y) else int(g)
            for context_too in (False, True) if with_context else (False,):
                asked += [(k, trial) for trial in self._sets(int(x), int(y), bit, size, context_too, candidates)]
        self._run([trial for _, trial in asked])
        for k, trial in asked:
            p = self._answers[_canonical(trial)][0]
            if p > alpha:
                separating[k] += 1
                held = {*trial.given, *(column for column, _ in trial.where)}
                for place in range(offset[k], offset[k + 1]):
                    holding[place] += int(centre[place]) in held

    def _trials(self, x: int, y: int, bit: int, level: int, candidates: Candidates) -> Iterator[Trial]:
        """The trials of one pair in one graph, in canonical order: without the context first."""
        yield from self._sets(x, y, bit, level, False, candidates)
        if level > 0:
            yield from self._sets(x, y, bit, level - 1, True, candidates)

    def _sets(self, x: int, y: int, bit: int, size: int, with_context: bool, candidates: Candidates) -> Iterator[Trial]:
        """Sets of `size` system variables from the neighbours of x, then from those of y, each once."""
        if self.context in (x, y):
            x, y = self.context, (x + y - self.context)
            if with_context:
                return
        before: set[int] | None = None
        for node in (x, y):
            if with_context and not int(candidates.context[node]) >> bit & 1:
                continue
            pool = self._pool(node, x, y, bit, candidates)
            if comb(len(pool), size) > MOST_SETS:
                continue
            for chosen in combinations(pool, size):
                if before is None or not before.issuperset(chosen):
                    yield self._trial(x, y, chosen, bit, with_context, candidates)
            before = set(pool)

    def _pool(self, node: int, x: int, y: int, bit: int, candidates: Candidates) -> list[int]:
        """The system variables that may serve `node` in a graph."""
        return [int(z) for z in np.flatnonzero(candidates.system[node] >> bit & 1) if z not in (x, y)]

    def _note_cuts(self, level: int, first: Ints, second: Ints, slot: Ints, active: Ints, candidates: Candidates,
                   records: Records) -> None:  # fmt: skip
        """Write down the level from which on a pair has too many sets to try them all."""
        widest = int((candidates.system != 0).sum(axis=1).max(initial=0))
        if comb(widest, level) <= MOST_SETS and comb(widest, max(level - 1, 0)) <= MOST_SETS:
            return
        graphs = records.facts.shape[0]
        for x, y, place, bits in zip(first.tolist(), second.tolist(), slot.tolist(), active.tolist(), strict=True):
            for bit in (bit for bit in range(graphs + 1) if bits >> bit & 1):
                sizes = [len(self._pool(node, x, y, bit, candidates)) for node in (x, y)]
                facts = records.facts[bit % graphs, place]
                if facts[CUT] == 0 and any(comb(size, level) > MOST_SETS for size in sizes):
                    facts[CUT] = level

    def _trial(self, x: int, y: int, given: tuple[int, ...], bit: int, with_context: bool,
               candidates: Candidates) -> Trial:  # fmt: skip
        if self.context in (x, y):
            return Trial(x, y, given)
        view = int((candidates.context_view if with_context else candidates.plain_view)[bit])
        if view == GIVEN_CONTEXT:
            return Trial(x, y, (*given, self.context))
        return Trial(x, y, given, ((self.context, view - 1),) if view else ())

    def _run(self, trials: list[Trial]) -> None:
        """Answer the trials that are not answered yet."""
        fresh = [t for t in dict.fromkeys(_canonical(trial) for trial in trials) if t not in self._answers]
        if not fresh:
            return
        for part, outcomes in self._outcomes(fresh):
            self._remember(part, outcomes)

    def _outcomes(self, trials: list[Trial]) -> Iterator[tuple[list[Trial], Outcomes]]:
        """The answers, in parts that threads work on where there are several."""
        size = -(-len(trials) // (4 * self.n_jobs)) if self.n_jobs > 1 else len(trials)
        parts = [trials[begin : begin + size] for begin in range(0, len(trials), size)]
        if len(parts) == 1:
            yield parts[0], self.prepared.answer(parts[0])
            return
        with ThreadPoolExecutor(self.n_jobs) as pool:
            yield from zip(parts, pool.map(self.prepared.answer, parts), strict=True)

    def _remember(self, trials: list[Trial], outcomes: Outcomes) -> None:
        label = np.zeros(len(trials)) if outcomes.label is None else outcomes.label
        columns = (outcomes.p, outcomes.statistic, outcomes.df, outcomes.n, outcomes.reason, label)
        for trial, p, statistic, df, n, reason, which in zip(trials, *columns, strict=True):
            self._answers[trial] = (float(p), float(statistic), float(df), int(n), int(reason), int(which))

    def _written(self, trial: Trial, view: int) -> tuple[int, tuple[int, ...]]:
        """The view and the conditions of a trial as they are written down; `view` is that of the graph itself."""
        return (trial.where[0][1] + 1 if trial.where else 0), trial.given

    def _settle(self, block: list[Trial], alpha: float, records: Records, graph: int, slot: int,
                candidates: Candidates) -> bool:  # fmt: skip
        """Write a block of answers down; True as soon as one of them separates the pair."""
        numbers, facts = records.numbers[graph, slot], records.facts[graph, slot]
        for trial in block:
            p, statistic, df, n, reason, label = self._answers[_canonical(trial)]
            if reason:
                facts[UNTESTED] += 1
                if facts[VIEW] < 0:
                    facts[ROWS], facts[REASON] = n, reason
                continue
            if p > numbers[P]:
                numbers[P], numbers[STATISTIC], numbers[DF] = p, statistic, df
                view, given = self._written(trial, int(candidates.plain_view[graph]))
                facts[ROWS], facts[VIEW], facts[SIZE], facts[REASON], facts[LABEL] = n, view, len(given), 0, label
                records.given[graph, slot] = -1
                records.given[graph, slot, : len(given)] = given
            if p > alpha:
                facts[SEPARATED] = 1
                return True
        return False


def _canonical(trial: Trial) -> Trial:
    """The same trial with its two variables in column order."""
    if trial.x <= trial.y:
        return trial
    return Trial(trial.y, trial.x, trial.given, trial.where)
