"""The level search for tests without a compiled kernel: the same queries in the same order, in batches.

Every query is answered once (`RememberedAnswers`). All pairs of a level go on together, each with its next few sets, so
that a test gets large batches and few sets are tested in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, islice
from math import comb, log, sqrt
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
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
from causalcontext.kernels.threads import in_threads
from causalcontext.search.levels import LevelTask, PairGroup
from causalcontext.search.plan import Plan
from causalcontext.views import CIQuery

LARGEST_BLOCK = 64
"""Sets of one pair that go into a batch at most; a search begins with one and doubles, so that few are in vain."""
Key = TypeVar("Key")


class CandidateSet(NamedTuple):
    """A set that may separate a pair: the query, its members that are no triggers, the place of its mask."""

    query: CIQuery
    chosen: tuple[int, ...]
    mask: int = 0


class CIAnswer(NamedTuple):
    """What a test said about one query."""

    p: float
    statistic: float
    df: float
    n: int
    reason: int
    label: int


class RememberedAnswers:
    """A prepared test that remembers what it was asked, with threads where there are several."""

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1) -> None:
        self.prepared, self.n_jobs = prepared, n_jobs
        self._known: dict[CIQuery, CIAnswer] = {}

    def __len__(self) -> int:
        return len(self._known)

    def run(self, queries: Iterable[CIQuery]) -> None:
        """Answer the queries that are not answered yet."""
        fresh = [query for query in dict.fromkeys(map(_canonical, queries)) if query not in self._known]
        size = max(-(-len(fresh) // (4 * self.n_jobs)) if self.n_jobs > 1 else len(fresh), 1)
        parts = [fresh[begin : begin + size] for begin in range(0, len(fresh), size)]
        for part, found in zip(parts, in_threads(self.prepared.answer, parts, self.n_jobs), strict=True):
            label = np.zeros(len(part)) if found.label is None else found.label
            columns = (found.p, found.statistic, found.df, found.n, found.reason, label)
            for query, p, statistic, df, n, reason, which in zip(part, *columns, strict=True):
                self._known[query] = CIAnswer(float(p), float(statistic), float(df), int(n), int(reason), int(which))

    def of(self, query: CIQuery) -> CIAnswer:
        """The answer to a query that was run."""
        return self._known[_canonical(query)]

    def evidence(self, query: CIQuery) -> float:
        """How much an answer speaks against independence: the strength times the root of the rows; 0 without any."""
        answer = self.of(query)
        if answer.reason:
            return 0.0
        label = self.prepared.labels[answer.label]
        size = abs(label.strength_of(answer.statistic, answer.n)) * sqrt(max(answer.n, 1))
        return size if size == size else sqrt(-2.0 * log(max(answer.p, 1e-300)))

    def counts(self, since: int = 0) -> Ints:
        """Tests run on all rows, and on the rows of some contexts; those after the first `since`."""
        fresh = list(self._known)[since:]
        some = sum(1 for query in fresh if query.view)
        return np.array([len(fresh) - some, some], dtype=np.int64)


def _canonical(query: CIQuery) -> CIQuery:
    """The same query with its two variables in column order."""
    return query if query.x <= query.y else CIQuery(query.y, query.x, query.given, query.view)


def first_separating(answers: RememberedAnswers, waiting: list[tuple[Key, Iterator[CandidateSet]]],
                     settle: Callable[[Key, CandidateSet, CIAnswer], bool]) -> Iterator[int]:  # fmt: skip
    """Test the sets of all pairs, in their order, until `settle` says that one separates; how many pairs are left."""
    block = 1
    while waiting:
        blocks = [list(islice(candidates, block)) for _, candidates in waiting]
        answers.run(candidate.query for some in blocks for candidate in some)
        waiting = [
            (key, candidates)
            for (key, candidates), some in zip(waiting, blocks, strict=True)
            if not any(settle(key, candidate, answers.of(candidate.query)) for candidate in some) and len(some) == block
        ]
        yield len(waiting)
        block = min(2 * block, LARGEST_BLOCK)


class BatchedSearch:
    """Searches levels with any `PreparedTest`; a query that several graphs ask for is run once."""

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1) -> None:
        self.prepared, self._lock, self._answers = prepared, Lock(), RememberedAnswers(prepared, n_jobs)

    def of(self, contexts: tuple[int, ...]) -> BatchedSearch:
        """This search answers about all pairs."""
        return self

    def screen(self, plan: Plan, asked: Bools) -> None:
        """Nothing: every pair is searched, and recorded."""

    def fewest(self, level_task: LevelTask) -> int:
        """One: a pair may take seconds."""
        return 1

    def search(self, level_task: LevelTask) -> tuple[Decisions, Ints]:
        """The deciding sets of the pairs of a level task; the tests run on all rows, and on those of contexts."""
        group, pairs = level_task.group, level_task.pairs
        decisions = no_decisions(pairs.first.size, group.share.end - group.share.begin, level_task.size)
        waiting = [
            ((k, g), _of_level(level_task, int(x), int(y), g, decisions.facts[k, g]))
            for k, (x, y, bits) in enumerate(zip(*pairs, strict=True))
            for g in range(decisions.facts.shape[1])
            if int(bits) >> g & 1
        ]

        def settle(place: tuple[int, int], candidate: CandidateSet, answer: CIAnswer) -> bool:
            return _written(decisions, place, candidate, answer, group.plan.alpha)

        with self._lock:
            before = len(self._answers)
            for _ in first_separating(self._answers, waiting, settle):
                pass
            return decisions, self._answers.counts(before)

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold each centre."""
        separating, holding = np.zeros_like(ballots.first), np.zeros_like(ballots.centre)
        for size in range(min(int(ballots.largest.max(initial=0)), group.plan.max_given) + 1):
            voting = with_sets_of(ballots, size)
            asked = [
                (k, candidate)
                for k, (g, x, y) in enumerate(zip(voting.graph, voting.first, voting.second, strict=True))
                for mask, entry in enumerate(group.plan.masks)
                if size + len(entry.triggers) <= group.plan.max_given
                for candidate in _sets(group, int(x), int(y), int(g), mask, size)
            ]
            self._answers.run(candidate.query for _, candidate in asked)
            for k, candidate in asked:
                if self._answers.of(candidate.query).p > group.plan.alpha:
                    separating[k] += 1
                    held = {*candidate.chosen, *group.plan.masks[candidate.mask].triggers}
                    for place in range(voting.offset[k], voting.offset[k + 1]):
                        holding[place] += int(voting.centre[place]) in held
        return separating, holding

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""
        with self._lock:
            self._answers.run(queries)
            return np.array([self._answers.of(query).p for query in queries], dtype=np.float64)


def _written(decisions: Decisions, place: tuple[int, int], candidate: CandidateSet, answer: CIAnswer,
             alpha: float) -> bool:  # fmt: skip
    """Write an answer down where it is the weakest evidence so far; whether it separates the pair."""
    numbers, facts, given = decisions.numbers[place], decisions.facts[place], decisions.given[place]
    if answer.reason:
        facts[UNTESTED] += 1
        if facts[MASK] < 0:
            facts[ROWS], facts[REASON] = answer.n, answer.reason
        return False
    if answer.p > alpha or answer.p > numbers[P] * (1.0 + TIED):
        numbers[P], numbers[STATISTIC], numbers[DF] = answer.p, answer.statistic, answer.df
        facts[ROWS], facts[MASK], facts[SIZE] = answer.n, candidate.mask, len(candidate.chosen)
        facts[REASON], facts[LABEL] = 0, answer.label
        given[:] = -1
        given[: len(candidate.chosen)] = candidate.chosen
    facts[SEPARATED] |= answer.p > alpha
    return answer.p > alpha


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
        row = slice(group.neighbours.start[node], group.neighbours.start[node + 1])
        serving = group.neighbours.columns[row][(group.neighbours.graphs[row] >> g & 1).astype(bool)]
        pool = [z for z in serving.tolist() if z not in (x, y)]
        if comb(len(pool), size) > MOST_SETS and size > 1:
            if note is not None and note[0][CUT] == 0:
                note[0][CUT] = note[1]
            continue
        for chosen in combinations(pool, size):
            if before is None or not before.issuperset(chosen):
                yield CandidateSet(group.plan.query(group.share.begin + g, mask, x, y, chosen), chosen, mask)
        before = set(pool)
