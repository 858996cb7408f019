"""A prepared test as a search of levels: whole levels go to the kernel of the linear-Gaussian
tests, other pairs to a search in batches, with the same queries in the same order.

In batches every query is answered once (`RememberedAnswers`). All pairs of a level go on together,
each with its next few sets, so that a test gets large batches and few sets are tested in vain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice, pairwise
from math import comb, log, sqrt
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np

from causalcontext.ci_tests.gaussian import PreparedGaussian, RowSelection
from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
from causalcontext.kernels.levels import skeleton
from causalcontext.kernels.levels.gaussian import RowSelections, Workspace, workspace
from causalcontext.kernels.levels.marginal import answer_pairs, bounds, list_survivors
from causalcontext.kernels.levels.skeleton import (
    MOST_SETS,
    Ballots,
    Decisions,
    Level,
    Masks,
    Sizes,
    no_decisions,
)
from causalcontext.kernels.limits import TIED
from causalcontext.kernels.threads import in_threads
from causalcontext.progress import Watch
from causalcontext.search.plan import GroupSearch, LevelTask, PairGroup, Plan
from causalcontext.views import CIQuery

NEVER = 1 << 20
"""The size of a mask that is left out."""
PAIRS_PER_CALL = 1_000_000
"""Pairs that a call of the kernel looks at given nothing, so that Ctrl-C is heard."""
PAIRS_PER_THREAD = 200
SETS_PER_THREAD = 10_000
"""Pairs of a level, and sets that vote, that are worth a call of a kernel: most pairs need no more
than ten tests.
"""
MOST_PER_THREAD = 50_000
"""Tests that such a call may hold, unless those of one pair are more: a context with many
neighbours has many sets.
"""
FEWEST_TO_SCREEN = 30
"""Variables from which on it takes less time to leave separated pairs out than to list them."""


class SplitSearch:
    """A prepared test as a search of levels: its own kernel answers about the pairs it is for,
    batches about others.
    """

    def __init__(
        self,
        prepared: PreparedTest,
        n_jobs: int = 1,
        watch: Watch | None = None,
    ) -> None:
        self.batched = BatchedSearch(prepared, n_jobs, watch)
        self.roles = prepared.compiled_roles
        self.compiled = (
            None if prepared.gaussian is None else CompiledSearch(prepared.gaussian, n_jobs)
        )

    def of(self, contexts: tuple[int, ...]) -> GroupSearch:
        """What answers about pairs with these context variables."""
        return (
            self.compiled
            if self.compiled is not None and len(contexts) in self.roles
            else self.batched
        )

    def screen(self, plan: Plan, asked: Bools) -> Marginal | None:
        """Ask pairs of system variables given nothing, where a kernel answers about them and they
        are many.
        """
        if self.compiled is None or 0 not in self.roles or len(asked) < FEWEST_TO_SCREEN:
            return None
        return Marginal(
            self.compiled.prepared, plan.views[:, 0], asked, plan.alpha, self.compiled.n_jobs
        )

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""
        return self.batched.ask(queries)


class CompiledSearch:
    """Searches levels with the kernel of a prepared test."""

    def __init__(self, prepared: PreparedGaussian, n_jobs: int = 1) -> None:
        self.prepared = prepared
        self.n_jobs = n_jobs
        self._lock = Lock()
        self._selections: dict[tuple[Hashable, ...], tuple[Ints, RowSelections]] = {}

    def fewest(self, level_task: LevelTask) -> int:
        """So many pairs as a thread is worth."""
        total = level_task.pairs.first.size
        return min(
            total, PAIRS_PER_THREAD, max(MOST_PER_THREAD // max(level_task.tests_per_pair, 1), 1)
        )

    def search(self, level_task: LevelTask) -> tuple[Decisions, Ints]:
        """The deciding sets of the pairs of a level task; the tests run on all rows, and on those
        of contexts.
        """
        group = level_task.group
        size = level_task.size
        pairs = level_task.pairs
        level = self._level(group, size, triggers_count=True)
        decisions = no_decisions(pairs.first.size, group.share.end - group.share.begin, size)
        tests = np.zeros(2, dtype=np.int64)
        skeleton.search_pairs(
            level, 0, pairs.first.size, pairs, decisions, _workspace(level, size), tests
        )
        return decisions, tests

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold
        each centre.
        """
        separating = np.zeros_like(ballots.first)
        holding = np.zeros_like(ballots.centre)
        most = group.plan.max_given
        last = min(int(ballots.largest.max(initial=0)), most)
        alike = (
            not group.contexts or self.prepared.matters(last + 1) == 0
        )  # the same rows answer, whatever the size
        for first in range(last + 1)[: 1 if alike else None]:
            sizes = Sizes(first, last if alike else first, most)
            self._count(group, skeleton.with_sets_of(ballots, first), sizes, separating, holding)
        return separating, holding

    def _count(
        self, group: PairGroup, ballots: Ballots, sizes: Sizes, separating: Ints, holding: Ints
    ) -> None:
        level = self._level(group, sizes.first, triggers_count=False, largest=sizes.last)

        def count(part: slice) -> None:
            votes = (
                separating[part],
                holding[ballots.offset[part.start] : ballots.offset[part.stop]],
            )
            own = skeleton.part_of(ballots, part)
            skeleton.count_votes(
                level, 0, own.first.size, own, sizes, *votes, _workspace(level, sizes.last)
            )

        for _ in in_threads(count, _shares(ballots, self.n_jobs), self.n_jobs):
            pass

    def _level(self, group: PairGroup, size: int, triggers_count: bool, largest: int = 0) -> Level:
        """What the pairs of a level have in common; `triggers_count` towards its size or not. Sets
        may be larger.
        """
        bits, sizes, kept, own = _arrays(group.plan)
        if group.first_mask:
            sizes = np.concatenate([np.full(group.first_mask, NEVER), sizes[group.first_mask :]])
        counted = (self.prepared.matters(size + 1), triggers_count) if group.contexts else ()
        key = (group.plan, group.contexts, group.share.begin, *counted)
        with self._lock:
            if key not in self._selections:
                self._selections[key] = self._make_selections(group, size, triggers_count)
            selection, selections = self._selections[key]
            views = self.prepared.views(max(size, largest) + kept.shape[1])
        masks = Masks(bits, sizes, kept, selection, own)
        return Level(views, selections, group.neighbours, masks, group.plan.alpha, size)

    def _make_selections(
        self, group: PairGroup, size: int, triggers_count: bool
    ) -> tuple[Ints, RowSelections]:
        """Which rows answer in every graph for every mask, shape (graphs, masks), and what they
        are.
        """
        plan = group.plan
        begin = group.share.begin
        contexts = group.contexts
        known: dict[RowSelection, int] = {}
        found = np.zeros((group.share.end - begin, len(plan.masks)), dtype=np.int64)
        for m, mask in enumerate(plan.masks):
            chosen = size - len(mask.triggers) if triggers_count else size
            if set(mask.triggers).intersection(contexts):
                continue
            named = tuple(z for z in mask.kept if z in plan.contexts.positions)
            conditions = max(chosen, 0) + len(mask.kept) - len(named)
            for g in range(len(found)):
                asked = self.prepared.selection(
                    int(plan.views[begin + g, m]), named, contexts, conditions
                )
                found[g, m] = known.setdefault(asked, len(known))
        return found, self.prepared.selections(list(known), change=bool(contexts))


@lru_cache(maxsize=4)
def _arrays(plan: Plan) -> tuple[Ints, Ints, Ints, Ints]:
    """The masks of a plan: bits of their triggers, sizes, system columns that they keep; the bit of
    every column.
    """
    place = {column: t for t, column in enumerate(plan.triggers)}
    bits = np.array(
        [sum(1 << place[column] for column in mask.triggers) for mask in plan.masks], dtype=np.int64
    )
    sizes = np.array([len(mask.triggers) for mask in plan.masks], dtype=np.int64)
    own = np.zeros(plan.variables, dtype=np.int64)
    for column, t in place.items():
        own[column] = 1 << t
    kept = [[z for z in mask.kept if z not in plan.contexts.positions] for mask in plan.masks]
    padded = np.full((len(kept), max(map(len, kept))), -1, dtype=np.int64)
    for row, columns in zip(padded, kept, strict=True):
        row[: len(columns)] = columns
    return bits, sizes, padded, own


def _shares(ballots: Ballots, n_jobs: int) -> list[slice]:
    """Slices of the ballots with about as many sets, several for every thread."""
    total = ballots.first.size
    if n_jobs == 1:
        return [slice(0, total)]
    sets = np.cumsum(np.exp2(ballots.largest + 1.0))
    share = max(SETS_PER_THREAD, float(sets[-1]) / (8 * n_jobs))
    endpoints = np.unique(
        np.append(np.searchsorted(sets, np.arange(share, sets[-1], share)), total)
    ).tolist()
    return [slice(begin, end) for begin, end in pairwise([0, *endpoints]) if begin < end]


def _workspace(level: Level, size: int) -> Workspace:
    """Scratch arrays for sets of at most `size` variables and what masks keep."""
    graphs = len(level.masks.selection)
    variables = len(level.masks.own)
    return workspace(level.selections, size + level.masks.kept.shape[1], graphs, variables)


class Marginal:
    """Pairs of system variables given nothing, all at once, from a matrix of correlations.

    Nothing is written down about a pair that the empty set separates in every graph: its record is
    made again if it is asked for. `first` and `second` are the pairs in `asked`, shape (N, N), that
    the empty set does not separate in all graphs, in row order; `views` answer, one for every
    graph.
    """

    def __init__(
        self, prepared: PreparedGaussian, views: Ints, asked: Bools, alpha: float, n_jobs: int = 1
    ) -> None:
        self.prepared = prepared
        self._asked = np.packbits(asked, axis=1)
        self._places = np.array(
            [prepared.place(int(view)) for view in views], dtype=np.int64
        )  # makes room for them
        data = prepared.views(0)
        size = len(asked)
        known = bounds(data, np.unique(self._places), alpha)
        step = max(1, PAIRS_PER_CALL // size)

        def of_rows(begin: int) -> Ints:
            rows = np.unpackbits(self._asked[begin : begin + step], axis=1, count=size).view(bool)
            room = np.empty((2, rows.size), dtype=np.int64)
            return room[:, : list_survivors(data, known, rows, begin, room)].copy()

        found = list(in_threads(of_rows, range(0, size, step), n_jobs))
        self.first, self.second = np.concatenate(found, axis=1)

    def separates(self, first: Ints, second: Ints) -> Bools:
        """Whether these pairs, none of which survived, were asked about."""
        bits = self._asked[first, second >> 3] >> (7 - (second & 7)).astype(np.uint8)
        return np.asarray(bits & 1 == 1)

    def decisions(self, first: Ints, second: Ints) -> Decisions:
        """The decisions on such pairs; of pairs that were not asked about, nothing."""
        found = no_decisions(first.size, self._places.size, 0)
        answer_pairs(
            self.prepared.views(0),
            self._places,
            first,
            second,
            self.separates(first, second),
            found,
        )
        return found


LARGEST_BLOCK = 64
"""Sets of one pair that go into a batch at most; a search begins with one and doubles, so that few
are in vain.
"""
PART_SECONDS = 0.2
FIRST_PART = 8
"""Seconds between two reports to a watch, about, and queries before the first one."""
Key = TypeVar("Key")


class CandidateSet(NamedTuple):
    """A set that may separate a pair: the query, its members that are no triggers, the place of its
    mask.
    """

    query: CIQuery
    chosen: tuple[int, ...]
    mask: int = 0
    least: float = 0.0  # the p-value that it takes to separate, where that is more than alpha


class CIAnswer(NamedTuple):
    """What a test said about one query."""

    p: float
    statistic: float
    df: float
    n: int
    reason: int
    label: int


class RememberedAnswers:
    """A prepared test that remembers what it was asked, with threads where there are several.

    It is asked in parts; after each a watch is told, which keeps time limits and shows progress.
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
        """Answer the queries that are not answered yet."""
        fresh = [
            query for query in dict.fromkeys(map(_canonical, queries)) if query not in self._known
        ]
        while fresh:
            share = max(-(-len(fresh) // (4 * self.n_jobs)) if self.n_jobs > 1 else len(fresh), 1)
            size = share if self.watch is None else min(share, self._part)
            many = 4 * self.n_jobs if self.n_jobs > 1 else 1
            parts = [
                fresh[begin : begin + size]
                for begin in range(0, min(len(fresh), many * size), size)
            ]
            fresh = fresh[many * size :]
            begin = time.perf_counter()
            for part, found in zip(
                parts, in_threads(self.prepared.answer, parts, self.n_jobs), strict=True
            ):
                label = np.zeros(len(part)) if found.label is None else found.label
                columns = (
                    found.p,
                    found.statistic,
                    found.df,
                    found.n,
                    found.reason,
                    label.astype(np.int64),
                )
                rows = zip(*(column.tolist() for column in columns), strict=True)
                self._known.update(zip(part, map(CIAnswer._make, rows), strict=True))
                if self.watch is not None:
                    self.watch.answered(len(part))
            taken = (time.perf_counter() - begin) / max(len(parts) / self.n_jobs, 1.0)
            self._part = max(1, min(2 * self._part, int(size * PART_SECONDS / max(taken, 1e-6))))

    def of(self, query: CIQuery) -> CIAnswer:
        """The answer to a query that was run."""
        return self._known[_canonical(query)]

    def evidence(self, query: CIQuery) -> float:
        """How much an answer speaks against independence: the strength times the root of the rows;
        0 without any.
        """
        answer = self.of(query)
        if answer.reason:
            return 0.0
        label = self.prepared.labels[answer.label]
        size = abs(label.strength_of(answer.statistic, answer.n)) * sqrt(max(answer.n, 1))
        return size if size == size else sqrt(-2.0 * log(max(answer.p, 1e-300)))

    def counts(self, since: int = 0) -> Ints:
        """Tests run on all rows, and on the rows of some contexts; those after the first
        `since`.
        """
        fresh = list(self._known)[since:]
        some = sum(1 for query in fresh if query.view)
        return np.array([len(fresh) - some, some], dtype=np.int64)


def _canonical(query: CIQuery) -> CIQuery:
    """The same query with its two variables in column order."""
    return query if query.x <= query.y else CIQuery(query.y, query.x, query.given, query.view)


def first_separating(
    waiting: list[tuple[Key, Iterator[CandidateSet]]], settle: Callable[[Key, CandidateSet], bool]
) -> Iterator[tuple[list[CIQuery], int]]:
    """What to ask next about the sets of all pairs, in their order, until one separates; how many
    pairs are left.

    The queries are answered before the next ones are taken: `settle` says whether an answered set
    separates its pair.
    """
    block = 1
    while waiting:
        blocks = [list(islice(candidates, block)) for _, candidates in waiting]
        yield [candidate.query for some in blocks for candidate in some], len(waiting)
        waiting = [
            (key, candidates)
            for (key, candidates), some in zip(waiting, blocks, strict=True)
            if not any(settle(key, candidate) for candidate in some) and len(some) == block
        ]
        block = min(2 * block, LARGEST_BLOCK)


class BatchedSearch:
    """Searches levels with any `PreparedTest`; a query that several graphs ask for is run once."""

    more = 0  # by how many variables a set may be larger than its level
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
        """The deciding sets of the pairs of a level task; the tests run on all rows, and on those
        of contexts.
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

        def settle(place: tuple[int, int], candidate: CandidateSet) -> bool:
            return _written(
                decisions, place, candidate, self._answers.of(candidate.query), group.plan.alpha
            )

        with self._lock:
            before = len(self._answers)
            for queries, _ in first_separating(waiting, settle):
                self._answers.run(queries)
            return decisions, self._answers.counts(before)

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold
        each centre.

        -1 is written for centres that none holds where no set separates clearly: that is no
        verdict.
        """
        separating = np.zeros_like(ballots.first)
        holding = np.zeros_like(ballots.centre)
        largest = np.zeros(ballots.first.size)
        for size in range(min(int(ballots.largest.max(initial=0)), group.plan.max_given) + 1):
            voting = skeleton.with_sets_of(ballots, size)
            asked = [
                (k, candidate)
                for k, (g, x, y) in enumerate(
                    zip(voting.graph, voting.first, voting.second, strict=True)
                )
                for mask, entry in enumerate(group.plan.masks)
                if size + len(entry.triggers) <= group.plan.max_given
                for candidate in self.sets(group, int(x), int(y), int(g), mask, size)
            ]
            self._answers.run(candidate.query for _, candidate in asked)
            for k, candidate in asked:
                p = self._answers.of(candidate.query).p
                if p > group.plan.alpha:
                    separating[k] += 1
                    largest[k] = max(largest[k], p)
                    held = {*candidate.chosen, *group.plan.masks[candidate.mask].triggers}
                    for place in range(voting.offset[k], voting.offset[k + 1]):
                        holding[place] += int(voting.centre[place]) in held
        doubtful = np.repeat(largest <= self.clear, np.diff(ballots.offset))
        return separating, np.where(doubtful & (holding == 0), -1, holding)

    def _of_level(
        self, level_task: LevelTask, x: int, y: int, g: int, facts: Codes
    ) -> Iterator[CandidateSet]:
        """The sets of one pair in one graph, in canonical order; notes where there are too many."""
        for mask in range(level_task.group.first_mask, len(level_task.group.plan.masks)):
            size = level_task.size - len(level_task.group.plan.masks[mask].triggers)
            if size >= 0:
                yield from self.sets(
                    level_task.group, x, y, g, mask, size, (facts, level_task.size)
                )

    def sets(
        self,
        group: PairGroup,
        x: int,
        y: int,
        g: int,
        mask: int,
        size: int,
        note: tuple[Codes, int] | None = None,
    ) -> Iterator[CandidateSet]:
        """The sets of `size` variables and the triggers of a mask that are asked about a pair in a
        graph.

        Without anywhere to `note` that there are too many, those that have a vote.
        """
        view = int(group.plan.views[group.share.begin + g, mask])
        kept = group.plan.masks[mask].kept
        for chosen in members_of_sets(group, x, y, g, mask, size, note):
            yield CandidateSet(CIQuery(x, y, (*chosen, *kept), view), chosen, mask)

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""
        with self._lock:
            self._answers.run(queries)
            return np.array([self._answers.of(query).p for query in queries], dtype=np.float64)


def _written(
    decisions: Decisions,
    place: tuple[int, int],
    candidate: CandidateSet,
    answer: CIAnswer,
    alpha: float,
) -> bool:
    """Write an answer down where it is the weakest evidence so far; whether it separates the
    pair.
    """
    if not answer.reason and candidate.least > 0.0 and answer.p <= max(alpha, candidate.least):
        return False  # no evidence for the edge either
    numbers = decisions.numbers[place]
    facts = decisions.facts[place]
    given = decisions.given[place]
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
    note: tuple[Codes, int] | None = None,
) -> Iterator[tuple[int, ...]]:
    """Sets of `size` variables from the neighbours of x, then from those of y, each once, to add to
    a mask.

    A neighbourhood with too many of them is left out, and the level noted.
    """
    named = group.plan.masks[mask].triggers
    if x in named or y in named:
        return
    triggers = [group.plan.triggers.index(column) for column in named]
    before: set[int] | None = None
    for node in (x, y):
        if triggers and not all(int(group.neighbours.triggers[node, t]) >> g & 1 for t in triggers):
            continue
        pool = [z for z in group.serving(node, g) if z not in (x, y)]
        if comb(len(pool), size) > MOST_SETS and size > 1:
            if note is not None and note[0][skeleton.CUT] == 0:
                note[0][skeleton.CUT] = note[1]
            continue
        for chosen in combinations(pool, size):
            if before is None or not before.issuperset(chosen):
                yield chosen
        before = set(pool)
