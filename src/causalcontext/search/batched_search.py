"""Levels searched in batches of queries, by any prepared test.

Every query is answered once (`RememberedAnswers`). All pairs of a level go on together, each with
its next few sets, so that a test gets large batches and few sets are tested in vain. The order of
the sets of a pair is that of the kernel in search/level_search.py, so both give the same records.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, islice
from math import comb, isnan, log, sqrt
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
from causalcontext.kernels.levels import skeleton
from causalcontext.kernels.levels.skeleton import MOST_SETS, Ballots, Decisions, no_decisions
from causalcontext.kernels.limits import TIED
from causalcontext.kernels.threads import in_threads
from causalcontext.progress import Watch
from causalcontext.search.plan import LevelTask, PairGroup, Plan
from causalcontext.search.settings import (
    FIRST_PART,
    LARGEST_BATCH,
    PART_SECONDS,
    SMALLEST_P_OF_EVIDENCE,
)
from causalcontext.views import CIQuery, Outcomes

Key = TypeVar("Key")


class CandidateSet(NamedTuple):
    """A set that may separate a pair: the query, its members that are no triggers, the place of its
    mask.

    `least` is the p-value that it takes to separate, where that is more than alpha.
    """

    query: CIQuery
    chosen: tuple[int, ...]
    mask: int = 0
    least: float = 0.0  # the p-value that it takes to separate, where that is more than alpha


class CIAnswer(NamedTuple):
    """The answer of a test to one query."""

    p: float
    statistic: float
    df: float
    n: int
    reason: int
    label: int


class RememberedAnswers:
    """A prepared test that remembers what it was asked, with threads where there are several.

    It is asked in parts; after each a watch is told, which keeps time limits and shows progress.
    Parts grow until one takes about `PART_SECONDS`.
    """

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1, watch: Watch | None = None) -> None:
        self.prepared = prepared
        self.n_jobs = n_jobs
        self.watch = watch
        self._known: dict[CIQuery, CIAnswer] = {}
        self._part = FIRST_PART

    def __len__(self) -> int:
        return len(self._known)

    def run(self, queries: Iterable[CIQuery]) -> None:
        """Answer the queries that are not answered yet, each once, in any number of threads.

        Two queries with their variables exchanged are one.
        """
        different = dict.fromkeys(map(_canonical, queries))
        fresh = [query for query in different if query not in self._known]
        parts_at_once = 4 * self.n_jobs if self.n_jobs > 1 else 1
        while fresh:
            share = max(-(-len(fresh) // parts_at_once), 1)
            size = share if self.watch is None else min(share, self._part)
            begins = range(0, min(len(fresh), parts_at_once * size), size)
            parts = [fresh[begin : begin + size] for begin in begins]
            fresh = fresh[parts_at_once * size :]
            start = time.perf_counter()
            answers = in_threads(self.prepared.answer, parts, self.n_jobs)
            for part, outcomes in zip(parts, answers, strict=True):
                self._known.update(zip(part, _answers_of(outcomes), strict=True))
                if self.watch is not None:
                    self.watch.answered(len(part))
            taken = (time.perf_counter() - start) / max(len(parts) / self.n_jobs, 1.0)
            self._part = max(1, min(2 * self._part, int(size * PART_SECONDS / max(taken, 1e-6))))

    def of(self, query: CIQuery) -> CIAnswer:
        """The answer to a query that was run."""
        return self._known[_canonical(query)]

    def evidence(self, query: CIQuery) -> float:
        """The evidence of an answer against independence: the strength times the root of the rows.

        It is comparable between tests, and 0 without an answer. A test without a strength has
        sqrt(-2 log p).
        """
        answer = self.of(query)
        if answer.reason:
            return 0.0
        label = self.prepared.labels[answer.label]
        strength = abs(label.strength_of(answer.statistic, answer.n))
        if isnan(strength):
            return sqrt(-2.0 * log(max(answer.p, SMALLEST_P_OF_EVIDENCE)))
        return strength * sqrt(max(answer.n, 1))

    def counts(self, since: int = 0) -> Ints:
        """The numbers of tests run on all rows, and on those of some contexts; shape (2,).

        Tests before the first `since` do not count.
        """
        fresh = list(self._known)[since:]
        inside_contexts = sum(1 for query in fresh if query.view)
        return np.array([len(fresh) - inside_contexts, inside_contexts], dtype=np.int64)


def _answers_of(outcomes: Outcomes) -> Iterator[CIAnswer]:
    """The answers of a batch, one by one; the label is 0 where there is a single one."""
    label = outcomes.label
    columns = (
        outcomes.p,
        outcomes.statistic,
        outcomes.df,
        outcomes.n,
        outcomes.reason,
        np.zeros(outcomes.p.size, dtype=np.int64) if label is None else label,
    )
    return map(CIAnswer._make, zip(*(column.tolist() for column in columns), strict=True))


def _canonical(query: CIQuery) -> CIQuery:
    """The same query with its two variables in column order."""
    return query if query.x <= query.y else CIQuery(query.y, query.x, query.given, query.view)


def first_separating(
    waiting: list[tuple[Key, Iterator[CandidateSet]]], settle: Callable[[Key, CandidateSet], bool]
) -> Iterator[tuple[list[CIQuery], int]]:
    """The next queries about the sets of all pairs, in their order, until one separates; and the
    pairs left.

    A pair's first query is alone, then come 2, 4, ... at a time, up to `LARGEST_BATCH`: most pairs
    that can be separated are so by one of their first sets. The queries are answered before the
    next ones are taken: `settle` says whether an answered set separates its pair. The first set in
    the order counts, whatever the size of the batches.
    """
    size = 1
    while waiting:
        batches = [list(islice(candidates, size)) for _, candidates in waiting]
        yield [candidate.query for batch in batches for candidate in batch], len(waiting)
        undecided = []
        for (key, candidates), batch in zip(waiting, batches, strict=True):
            separated = any(settle(key, candidate) for candidate in batch)
            if not separated and len(batch) == size:
                undecided.append((key, candidates))
        waiting = undecided
        size = min(2 * size, LARGEST_BATCH)


class BatchedSearch:
    """Searches levels with any `PreparedTest`; a query that several graphs ask for is run once."""

    more = 0  # the number of variables by which a set may be larger than its level
    clear = 0.0  # the p-value that some set has to exceed which separates the ends of a collider

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1, watch: Watch | None = None) -> None:
        self.prepared = prepared
        self._lock = Lock()
        self._answers = RememberedAnswers(prepared, n_jobs, watch)

    def of(self, contexts: tuple[int, ...]) -> BatchedSearch:
        """This search answers about all pairs."""
        return self

    def screen(self, plan: Plan, asked: Bools) -> None:
        """Nothing: every pair is searched, and recorded."""

    def fewest(self, level_task: LevelTask) -> int:
        """One: a pair may take seconds."""
        return 1

    def search(self, level_task: LevelTask) -> tuple[Decisions, Ints]:
        """The deciding sets of the pairs of a level task, and the numbers of tests, shape (2,).

        A pair is asked in every graph of the group whose bit is set, set by set in canonical order;
        a query that several graphs share is run once.
        """
        group = level_task.group
        pairs = level_task.pairs
        width = level_task.size + self.more
        decisions = no_decisions(pairs.first.size, group.share.end - group.share.begin, width)
        waiting = [
            ((k, g), self._of_level(level_task, int(x), int(y), g, decisions.facts[k, g]))
            for k, (x, y, bits) in enumerate(zip(*pairs, strict=True))
            for g in range(decisions.facts.shape[1])
            if int(bits) >> g & 1
        ]

        def settle(pair: tuple[int, int], candidate: CandidateSet) -> bool:
            answer = self._answers.of(candidate.query)
            return _written(decisions, pair, candidate, answer, group.plan.alpha)

        with self._lock:
            before = len(self._answers)
            for queries, _ in first_separating(waiting, settle):
                self._answers.run(queries)
            return decisions, self._answers.counts(before)

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The numbers of sets that separate each pair, and of those among them that hold each
        centre.

        All sets of neighbours and any triggers have a vote. -1 is written for centres that none
        holds where no set separates clearly: that is no verdict.
        """
        separating = np.zeros_like(ballots.first)
        holding = np.zeros_like(ballots.centre)
        largest = np.zeros(ballots.first.size)
        for size in range(min(int(ballots.largest.max(initial=0)), group.plan.max_given) + 1):
            voting = skeleton.with_sets_of(ballots, size)
            asked = list(self._voters(group, voting, size))
            self._answers.run(candidate.query for _, candidate in asked)
            for k, candidate in asked:
                p = self._answers.of(candidate.query).p
                if p > group.plan.alpha:
                    separating[k] += 1
                    largest[k] = max(largest[k], p)
                    held = {*candidate.chosen, *group.plan.masks[candidate.mask].triggers}
                    for centre in range(voting.offset[k], voting.offset[k + 1]):
                        holding[centre] += int(voting.centre[centre]) in held
        doubtful = np.repeat(largest <= self.clear, np.diff(ballots.offset))
        return separating, np.where(doubtful & (holding == 0), -1, holding)

    def _voters(
        self, group: PairGroup, voting: Ballots, size: int
    ) -> Iterator[tuple[int, CandidateSet]]:
        """The sets of one size that vote, each with the number of its pair."""
        for k, (g, x, y) in enumerate(zip(voting.graph, voting.first, voting.second, strict=True)):
            for mask, entry in enumerate(group.plan.masks):
                if size + len(entry.triggers) <= group.plan.max_given:
                    for candidate in self.sets(group, int(x), int(y), int(g), mask, size):
                        yield k, candidate

    def _of_level(
        self, level_task: LevelTask, x: int, y: int, g: int, facts: Codes
    ) -> Iterator[CandidateSet]:
        """The sets of one pair in one graph, in canonical order; too many are written to its facts.

        Masks come in the order of the plan, and their triggers count towards the size of a set.
        """
        group = level_task.group
        overflow = (facts, level_task.size)
        for mask in range(group.first_mask, len(group.plan.masks)):
            size = level_task.size - len(group.plan.masks[mask].triggers)
            if size >= 0:
                yield from self.sets(group, x, y, g, mask, size, overflow)

    def sets(
        self,
        group: PairGroup,
        x: int,
        y: int,
        g: int,
        mask: int,
        size: int,
        overflow: tuple[Codes, int] | None = None,
    ) -> Iterator[CandidateSet]:
        """The sets of `size` variables and the triggers of a mask that are asked about a pair in a
        graph.

        `overflow`, the facts of the pair and the size of the level, is where too many sets are
        written down; without it, the sets are those that have a vote. The view of the mask says
        which rows answer.
        """
        view = int(group.plan.views[group.share.begin + g, mask])
        kept = group.plan.masks[mask].kept
        for chosen in members_of_sets(group, x, y, g, mask, size, overflow):
            yield CandidateSet(CIQuery(x, y, (*chosen, *kept), view), chosen, mask)

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""
        with self._lock:
            self._answers.run(queries)
            return np.array([self._answers.of(query).p for query in queries], dtype=np.float64)


def _written(
    decisions: Decisions,
    pair: tuple[int, int],
    candidate: CandidateSet,
    answer: CIAnswer,
    alpha: float,
) -> bool:
    """True if an answer separates the pair, after it was written down where it is the weakest
    evidence so far.

    An answer that could not be given is counted, with its reason. P-values within `TIED` of each
    other are the same, so that the first set keeps its place.
    """
    if not answer.reason and candidate.least > 0.0 and answer.p <= max(alpha, candidate.least):
        return False  # no evidence for the edge either
    numbers = decisions.numbers[pair]
    facts = decisions.facts[pair]
    given = decisions.given[pair]
    if answer.reason:
        facts[skeleton.UNTESTED] += 1
        if facts[skeleton.MASK] < 0:
            facts[skeleton.ROWS] = answer.n
            facts[skeleton.REASON] = answer.reason
        return False
    if answer.p > alpha or answer.p > numbers[skeleton.P] * (1.0 + TIED):
        numbers[skeleton.P] = answer.p
        numbers[skeleton.STATISTIC] = answer.statistic
        numbers[skeleton.DF] = answer.df
        size = len(candidate.chosen)
        facts[skeleton.REASON] = 0
        facts[skeleton.LABEL] = answer.label
        facts[skeleton.ROWS] = answer.n
        facts[skeleton.MASK] = candidate.mask
        facts[skeleton.SIZE] = size
        given[:] = -1
        given[:size] = candidate.chosen
    facts[skeleton.SEPARATED] |= answer.p > alpha
    return answer.p > alpha


def members_of_sets(
    group: PairGroup,
    x: int,
    y: int,
    g: int,
    mask: int,
    size: int,
    overflow: tuple[Codes, int] | None = None,
) -> Iterator[tuple[int, ...]]:
    """The sets of `size` variables from the neighbours of x, then from those of y, each once.

    They are added to a mask, all of whose triggers must be neighbours as well. A neighbourhood with
    too many sets is left out, and the level written to `overflow`.
    """
    named = group.plan.masks[mask].triggers
    if x in named or y in named:
        return
    triggers = [group.plan.triggers.index(column) for column in named]
    pool_of_x: set[int] | None = None
    for node in (x, y):
        if not _has_triggers(group, node, triggers, g):
            continue
        pool = [z for z in group.serving(node, g) if z not in (x, y)]
        if comb(len(pool), size) > MOST_SETS and size > 1:
            if overflow is not None and overflow[0][skeleton.CUT] == 0:
                overflow[0][skeleton.CUT] = overflow[1]
            continue
        for chosen in combinations(pool, size):
            if pool_of_x is None or not pool_of_x.issuperset(chosen):
                yield chosen
        pool_of_x = set(pool)


def _has_triggers(group: PairGroup, node: int, triggers: Sequence[int], g: int) -> bool:
    """True if a node is adjacent to all these context variables in graph g."""
    graphs_of_triggers = [int(group.neighbours.triggers[node, t]) for t in triggers]
    return all(graphs >> g & 1 for graphs in graphs_of_triggers)
