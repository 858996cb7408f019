"""The level search of the linear-Gaussian tests: whole levels go to a kernel."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from causalcontext.ci_tests.gaussian import PreparedGaussian, RowSelection
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.levels.gaussian import RowSelections, Workspace, workspace
from causalcontext.kernels.levels.neighbours import Pairs
from causalcontext.kernels.levels.skeleton import Decisions, Level, Masks, no_decisions, search_pairs
from causalcontext.kernels.levels.votes import Ballots, Sizes, count_votes, part_of, with_sets_of
from causalcontext.kernels.threads import in_threads
from causalcontext.search.levels import LevelTask, PairGroup, Screening
from causalcontext.search.marginal import Marginal
from causalcontext.search.plan import Plan

NEVER = 1 << 20
"""The size of a mask that is left out."""


PAIRS_PER_THREAD, SETS_PER_THREAD = 200, 10_000
"""Pairs of a level, and sets that vote, that are worth a call of a kernel: most pairs need no more than ten tests."""
MOST_PER_THREAD = 50_000
"""Tests that such a call may hold, unless those of one pair are more: a context with many neighbours has many sets."""
FEWEST_TO_SCREEN = 30
"""Variables from which on it takes less time to leave separated pairs out than to list them."""
FEWEST_ON_CARD = 2_000
"""Pairs from which on a card is faster than the processor."""


class CompiledSearch:
    """Searches levels with the kernel of a prepared test."""

    def __init__(self, prepared: PreparedGaussian, n_jobs: int = 1, device: str = "cpu") -> None:
        self.prepared, self.n_jobs = prepared, n_jobs
        self._card = _card(n_jobs) if device == "cuda" else None
        self._lock = Lock()
        self._selections: dict[tuple[Hashable, ...], tuple[Ints, RowSelections]] = {}

    def screen(self, plan: Plan, asked: Bools) -> Screening | None:
        """The pairs in `asked`, shape (N, N), that the empty set does not separate in all graphs; of few, none."""
        if len(asked) < FEWEST_TO_SCREEN:
            return None
        with self._lock:
            marginal = Marginal(self.prepared, plan.views[:, 0], asked)
        return Screening(*marginal.survivors(plan.alpha, self.n_jobs), int(np.count_nonzero(asked)) // 2, marginal)

    def fewest(self, level_task: LevelTask) -> int:
        """On a card all pairs, if they are many; else so many as a thread is worth."""
        total = level_task.pairs.first.size
        if self._card is not None and total >= FEWEST_ON_CARD:
            return total
        return min(total, PAIRS_PER_THREAD, max(MOST_PER_THREAD // max(level_task.tests_per_pair, 1), 1))

    def search(self, level_task: LevelTask, pairs: Pairs) -> tuple[Decisions, Ints]:
        """The deciding sets of some pairs of a level task; the tests run on all rows, and on those of contexts."""
        level = self._level(level_task.group, level_task.size, triggers_count=True)
        decisions = no_decisions(
            pairs.first.size, level_task.group.share.end - level_task.group.share.begin, level_task.size
        )
        tests = np.zeros(2, dtype=np.int64)
        if self._card is not None and pairs.first.size >= FEWEST_ON_CARD:
            self._card.search_pairs(level, pairs, decisions, tests)
        else:
            search_pairs(level, 0, pairs.first.size, pairs, decisions, _workspace(level, level_task.size), tests)
        return decisions, tests

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold each centre."""
        separating, holding = np.zeros_like(ballots.first), np.zeros_like(ballots.centre)
        most = group.plan.max_given
        size, last = 0, min(int(ballots.largest.max(initial=0)), most)
        if self._card is not None:
            while size <= last and (asked := with_sets_of(ballots, size)).first.size >= FEWEST_ON_CARD:
                votes = separating[: asked.first.size], holding[: asked.centre.size]
                self._card.count_votes(self._level(group, size, triggers_count=False), asked, most, *votes)
                size += 1
        for sizes in self._runs(group, Sizes(size, last, most)):
            self._count(group, with_sets_of(ballots, sizes.first), sizes, separating, holding)
        return separating, holding

    def _runs(self, group: PairGroup, sizes: Sizes) -> list[Sizes]:
        """The sizes, in parts of which the same rows answer."""
        if not group.role.contexts or self.prepared.matters(sizes.last + 1) == 0:
            return [sizes] if sizes.first <= sizes.last else []
        return [Sizes(size, size, sizes.most) for size in range(sizes.first, sizes.last + 1)]

    def _count(self, group: PairGroup, ballots: Ballots, sizes: Sizes, separating: Ints, holding: Ints) -> None:
        level = self._level(group, sizes.first, triggers_count=False, largest=sizes.last)

        def count(part: slice) -> None:
            votes = separating[part], holding[ballots.offset[part.start] : ballots.offset[part.stop]]
            own = part_of(ballots, part)
            count_votes(level, 0, own.first.size, own, sizes, *votes, _workspace(level, sizes.last))

        for _ in in_threads(count, _shares(ballots, self.n_jobs), self.n_jobs):
            pass

    def _level(self, group: PairGroup, size: int, triggers_count: bool, largest: int = 0) -> Level:
        """What the pairs of a level have in common; `triggers_count` towards its size or not. Sets may be larger."""
        bits, sizes, kept, own = _arrays(group.plan)
        if group.first_mask:
            sizes = np.concatenate([np.full(group.first_mask, NEVER), sizes[group.first_mask :]])
        counted = (self.prepared.matters(size + 1), triggers_count) if group.role.contexts else ()
        key = (group.plan, group.role, group.share.begin, *counted)
        with self._lock:
            if key not in self._selections:
                self._selections[key] = self._make_selections(group, size, triggers_count)
            selection, selections = self._selections[key]
            views = self.prepared.views(max(size, largest) + kept.shape[1])
        masks = Masks(bits, sizes, kept, selection, own)
        return Level(views, selections, group.neighbours, masks, group.plan.alpha, size)

    def _make_selections(self, group: PairGroup, size: int, triggers_count: bool) -> tuple[Ints, RowSelections]:
        """Which rows answer in every graph for every mask, shape (graphs, masks), and what they are."""
        plan, begin, contexts = group.plan, group.share.begin, group.role.contexts
        known: dict[RowSelection, int] = {}
        found = np.zeros((group.share.end - begin, len(plan.masks)), dtype=np.int64)
        for m, mask in enumerate(plan.masks):
            chosen = size - len(mask.triggers) if triggers_count else size
            if set(mask.triggers).intersection(contexts):
                continue
            named = tuple(z for z in mask.kept if z in plan.contexts.positions)
            conditions = max(chosen, 0) + len(mask.kept) - len(named)
            for g in range(len(found)):
                asked = self.prepared.selection(int(plan.views[begin + g, m]), named, contexts, conditions)
                found[g, m] = known.setdefault(asked, len(known))
        return found, self.prepared.selections(list(known), change=bool(contexts))


@lru_cache(maxsize=4)
def _arrays(plan: Plan) -> tuple[Ints, Ints, Ints, Ints]:
    """The masks of a plan: bits of their triggers, sizes, system columns that they keep; the bit of every column."""
    place = {column: t for t, column in enumerate(plan.triggers)}
    bits = np.array([sum(1 << place[column] for column in mask.triggers) for mask in plan.masks], dtype=np.int64)
    sizes = np.array([len(mask.triggers) for mask in plan.masks], dtype=np.int64)
    own = np.zeros(plan.variables, dtype=np.int64)
    for column, t in place.items():
        own[column] = 1 << t
    return (
        bits,
        sizes,
        _padded([[z for z in mask.kept if z not in plan.contexts.positions] for mask in plan.masks]),
        own,
    )


def _shares(ballots: Ballots, n_jobs: int) -> list[slice]:
    """Slices of the ballots with about as many sets, several for every thread."""
    total = ballots.first.size
    if n_jobs == 1:
        return [slice(0, total)]
    sets = np.cumsum(np.exp2(ballots.largest + 1.0))
    share = max(SETS_PER_THREAD, float(sets[-1]) / (8 * n_jobs))
    endpoints = np.unique(np.append(np.searchsorted(sets, np.arange(share, sets[-1], share)), total)).tolist()
    return [slice(begin, end) for begin, end in pairwise([0, *endpoints]) if begin < end]


def _card(n_jobs: int) -> Any:
    from causalcontext.kernels.cuda.levels import Card

    return Card(n_jobs)


def _workspace(level: Level, size: int) -> Workspace:
    """Scratch arrays for sets of at most `size` variables and what masks keep."""
    graphs, variables = len(level.masks.selection), len(level.masks.own)
    return workspace(level.selections, size + level.masks.kept.shape[1], graphs, variables)


def _padded(kept: list[list[int]]) -> Ints:
    width = max(len(columns) for columns in kept)
    rows = [[*columns, *[-1] * (width - len(columns))] for columns in kept]
    return np.array(rows, dtype=np.int64).reshape(len(kept), width)
