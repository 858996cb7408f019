"""A prepared test as a search of levels: whole levels go to the kernel of the linear-Gaussian tests
or to that of the tests on counts, other pairs to a search in batches, with the same queries in the
same order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from itertools import pairwise
from threading import Lock

import numpy as np

from causalcontext.ci_tests.contingency import PreparedTables
from causalcontext.ci_tests.gaussian import PreparedGaussian, RowSelection
from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.levels import contingency, skeleton
from causalcontext.kernels.levels.contingency import TableLevel
from causalcontext.kernels.levels.gaussian import RowSelections, Workspace, workspace
from causalcontext.kernels.levels.marginal import answer_pairs, bounds, list_survivors
from causalcontext.kernels.levels.skeleton import (
    Ballots,
    Decisions,
    Level,
    Masks,
    Sizes,
    no_decisions,
)
from causalcontext.kernels.threads import check_stopped, in_threads
from causalcontext.progress import Watch
from causalcontext.search.batched_search import BatchedSearch
from causalcontext.search.plan import GroupSearch, LevelTask, PairGroup, Plan
from causalcontext.search.settings import (
    FEWEST_TO_SCREEN,
    PAIRS_PER_CALL,
    PAIRS_PER_THREAD,
    SETS_PER_THREAD,
    TESTS_PER_THREAD,
    UNUSED_MASK_SIZE,
)
from causalcontext.views import CIQuery

CountVotes = Callable[[Ballots, Ints, Ints], None]
"""Adds the votes on some ballots: how many sets separate each pair, and hold each centre."""


class SplitSearch:
    """A prepared test as a search of levels.

    Its own kernel answers about the pairs that it is for, by the number of context variables among
    them (`compiled_roles`); batches answer about the others. Both try the same sets in the same
    order, so that nobody can tell from a result which of them answered.
    """

    def __init__(
        self,
        prepared: PreparedTest,
        n_jobs: int = 1,
        watch: Watch | None = None,
    ) -> None:
        self.batched = BatchedSearch(prepared, n_jobs, watch)
        self.roles = prepared.compiled_roles
        self.compiled: KernelSearch | None = None
        if prepared.gaussian is not None:
            self.compiled = MomentSearch(prepared.gaussian, n_jobs)
        elif prepared.tables is not None:
            self.compiled = TableSearch(prepared.tables, n_jobs, watch)

    def of(self, contexts: tuple[int, ...]) -> GroupSearch:
        """The search that answers about pairs with these context variables."""
        if len(contexts) not in self.roles:
            return self.batched
        return self.compiled or self.batched

    def screen(self, plan: Plan, asked: Bools) -> Marginal | None:
        """The pairs of system variables given nothing, where the kernel of moments answers about
        them and they are many.

        None where all pairs are to be listed. `asked` has shape (N, N).
        """
        if not isinstance(self.compiled, MomentSearch):
            return None
        if 0 not in self.roles or len(asked) < FEWEST_TO_SCREEN:
            return None
        return Marginal(
            self.compiled.prepared, plan.views[:, 0], asked, plan.alpha, self.compiled.n_jobs
        )

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""
        return self.batched.ask(queries)


class KernelSearch(ABC):
    """Searches levels with a kernel.

    A call takes a part of the pairs of a level, all graphs of a group at once, and writes decisions
    of shape (pairs, graphs, ...).
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs

    def fewest(self, level_task: LevelTask) -> int:
        """The number of pairs that are worth a call: `PAIRS_PER_THREAD`, or fewer with many sets
        each.
        """
        total = level_task.pairs.first.size
        affordable = max(TESTS_PER_THREAD // max(level_task.tests_per_pair, 1), 1)
        return min(total, PAIRS_PER_THREAD, affordable)

    def search(self, level_task: LevelTask) -> tuple[Decisions, Ints]:
        """The deciding sets of the pairs of a level task, and the numbers of tests, shape (2,).

        These are the tests run on all rows, and on those of contexts.
        """
        share = level_task.group.share
        pairs = level_task.pairs.first.size
        decisions = no_decisions(pairs, share.end - share.begin, level_task.size)
        tests = np.zeros(2, dtype=np.int64)
        self._decide(level_task, decisions, tests)
        return decisions, tests

    @abstractmethod
    def _decide(self, level_task: LevelTask, decisions: Decisions, tests: Ints) -> None:
        """Write the decisions on the pairs of a level task, and count its tests."""

    @abstractmethod
    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The numbers of sets that separate each pair, and of those among them that hold each
        centre. Sets of neighbours and any triggers vote.
        """

    def _in_parts(self, count: CountVotes, ballots: Ballots, votes: tuple[Ints, Ints]) -> None:
        """Count the votes on parts of the ballots, in threads: every part has numbers of its own
        to add to, of pairs and of their centres.
        """
        separating, holding = votes

        def count_part(part: slice) -> None:
            centres = slice(ballots.offset[part.start], ballots.offset[part.stop])
            count(skeleton.part_of(ballots, part), separating[part], holding[centres])

        for _ in in_threads(count_part, _shares(ballots, self.n_jobs), self.n_jobs):
            pass


class MomentSearch(KernelSearch):
    """Searches levels with the kernel of a prepared test of moments.

    The rows that answer are the same for all calls of a level, and are kept.
    """

    def __init__(self, prepared: PreparedGaussian, n_jobs: int = 1) -> None:
        super().__init__(n_jobs)
        self.prepared = prepared
        self._lock = Lock()
        self._selections: dict[tuple[Hashable, ...], tuple[Ints, RowSelections]] = {}

    def _decide(self, level_task: LevelTask, decisions: Decisions, tests: Ints) -> None:
        size = level_task.size
        pairs = level_task.pairs
        level = self._level(level_task.group, size, triggers_count=True)
        skeleton.search_pairs(
            level, 0, pairs.first.size, pairs, decisions, _workspace(level, size), tests
        )

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """Where the rows that answer do not depend on the size of a set, all sizes are counted in
        one call.
        """
        separating = np.zeros_like(ballots.first)
        holding = np.zeros_like(ballots.centre)
        most = group.plan.max_given
        last = min(int(ballots.largest.max(initial=0)), most)
        # the same rows answer, whatever the size
        alike = not group.contexts or self.prepared.matters(last + 1) == 0
        for first in range(last + 1)[: 1 if alike else None]:
            sizes = Sizes(first, last if alike else first, most)
            voting = skeleton.with_sets_of(ballots, first)
            self._count(group, voting, sizes, (separating, holding))
        return separating, holding

    def _count(
        self, group: PairGroup, ballots: Ballots, sizes: Sizes, votes: tuple[Ints, Ints]
    ) -> None:
        """Add the votes of sets of these sizes."""
        level = self._level(group, sizes.first, triggers_count=False, largest=sizes.last)

        def count(part: Ballots, separating: Ints, holding: Ints) -> None:
            room = _workspace(level, sizes.last)
            skeleton.count_votes(level, 0, part.first.size, part, sizes, separating, holding, room)

        self._in_parts(count, ballots, votes)

    def _level(self, group: PairGroup, size: int, triggers_count: bool, largest: int = 0) -> Level:
        """The numbers that all pairs of a level share, for the kernel.

        With `triggers_count` the triggers count towards the size of a set. Sets of up to `largest`
        variables have room.
        """
        bits, sizes, kept, own_bits = _arrays(group.plan)
        sizes = _without_unused(sizes, group.first_mask)
        counted = (self.prepared.matters(size + 1), triggers_count) if group.contexts else ()
        key = (group.plan, group.contexts, group.share.begin, *counted)
        with self._lock:
            if key not in self._selections:
                self._selections[key] = self._make_selections(group, size, triggers_count)
            selection, selections = self._selections[key]
            views = self.prepared.views(max(size, largest) + kept.shape[1])
        masks = Masks(bits, sizes, kept, selection, own_bits)
        return Level(views, selections, group.neighbours, masks, group.plan.alpha, size)

    def _make_selections(
        self, group: PairGroup, size: int, triggers_count: bool
    ) -> tuple[Ints, RowSelections]:
        """The number of the rows that answer in every graph for every mask, and these rows.

        The first has shape (graphs, masks). Rows that several graphs or masks share have one
        number, so that moments are added up once. A mask with a context variable of the pair itself
        is left out.
        """
        plan = group.plan
        begin = group.share.begin
        contexts = group.contexts
        known: dict[RowSelection, int] = {}
        selection_of = np.zeros((group.share.end - begin, len(plan.masks)), dtype=np.int64)
        for m, mask in enumerate(plan.masks):
            chosen = size - len(mask.triggers) if triggers_count else size
            if set(mask.triggers).intersection(contexts):
                continue
            named = tuple(z for z in mask.kept if z in plan.contexts.positions)
            conditions = max(chosen, 0) + len(mask.kept) - len(named)
            for g in range(len(selection_of)):
                asked = self.prepared.selection(
                    int(plan.views[begin + g, m]), named, contexts, conditions
                )
                selection_of[g, m] = known.setdefault(asked, len(known))
        return selection_of, self.prepared.selections(list(known), change=bool(contexts))


class TableSearch(KernelSearch):
    """Searches levels with the kernel of a prepared test on counts.

    Context variables are columns like any other, so that a mask keeps them among the conditions,
    and every view is a row selection of its own. While a kernel runs, `watch` is asked whether the
    time is over.
    """

    def __init__(
        self, prepared: PreparedTables, n_jobs: int = 1, watch: Watch | None = None
    ) -> None:
        super().__init__(n_jobs)
        self.prepared = prepared
        self.watch = watch

    def _decide(self, level_task: LevelTask, decisions: Decisions, tests: Ints) -> None:
        level = self._level(level_task.group, level_task.size)
        contingency.search_tables(level, level_task.pairs, decisions, tests, self._beat)

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """All sizes are counted in one call."""
        separating = np.zeros_like(ballots.first)
        holding = np.zeros_like(ballots.centre)
        most = group.plan.max_given
        sizes = Sizes(0, min(int(ballots.largest.max(initial=0)), most), most)
        level = self._level(group, 0)

        def count(part: Ballots, separating: Ints, holding: Ints) -> None:
            contingency.vote_on_tables(level, part, sizes, separating, holding, self._beat)

        self._in_parts(count, ballots, (separating, holding))
        return separating, holding

    def _level(self, group: PairGroup, size: int) -> TableLevel:
        """The numbers that all pairs of a level share, for the kernel."""
        plan = group.plan
        bits, sizes, _, own_bits = _arrays(plan)
        views = plan.views[group.share.begin : group.share.end]
        masks = Masks(
            bits,
            _without_unused(sizes, group.first_mask),
            _padded([mask.kept for mask in plan.masks]),
            np.ascontiguousarray(views),
            own_bits,
        )
        prepared = self.prepared
        return TableLevel(
            prepared.codes, prepared.selections, group.neighbours, masks, plan.alpha, size
        )

    def _beat(self) -> None:
        """End the kernel where the time is over, or where another thread has ended the search."""
        check_stopped()
        if self.watch is not None:
            self.watch.check()


def _without_unused(sizes: Ints, first_mask: int) -> Ints:
    """The sizes of masks, those before the first that is tried too large for any set."""
    if not first_mask:
        return sizes
    return np.concatenate([np.full(first_mask, UNUSED_MASK_SIZE), sizes[first_mask:]])


def _padded(sets: Sequence[Sequence[int]]) -> Ints:
    """Sets of columns as rows of an array, padded with -1; shape (sets, largest)."""
    padded = np.full((len(sets), max(map(len, sets))), -1, dtype=np.int64)
    for row, columns in zip(padded, sets, strict=True):
        row[: len(columns)] = columns
    return padded


@lru_cache(maxsize=4)
def _arrays(plan: Plan) -> tuple[Ints, Ints, Ints, Ints]:
    """The masks of a plan as arrays for the kernel.

    Bits of their triggers, shape (masks,); sizes, shape (masks,); the system columns that they
    keep, shape (masks, width), padded with -1; and the bit of every column, shape (N,).
    """
    bit_of = {column: t for t, column in enumerate(plan.triggers)}
    bits = np.array(
        [sum(1 << bit_of[column] for column in mask.triggers) for mask in plan.masks],
        dtype=np.int64,
    )
    sizes = np.array([len(mask.triggers) for mask in plan.masks], dtype=np.int64)
    own_bits = np.zeros(plan.variables, dtype=np.int64)
    for column, t in bit_of.items():
        own_bits[column] = 1 << t
    kept = [[z for z in mask.kept if z not in plan.contexts.positions] for mask in plan.masks]
    return bits, sizes, _padded(kept), own_bits


def _shares(ballots: Ballots, n_jobs: int) -> list[slice]:
    """Slices of the ballots with about as many sets, several for every thread; 2^(k + 1) sets for k
    candidates.
    """
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
        # before `views`: makes room for them
        places = [prepared.place(int(view)) for view in views]
        self._view_places = np.array(places, dtype=np.int64)
        data = prepared.views(0)
        size = len(asked)
        known = bounds(data, np.unique(self._view_places), alpha)
        step = max(1, PAIRS_PER_CALL // size)

        def of_rows(begin: int) -> Ints:
            rows = np.unpackbits(self._asked[begin : begin + step], axis=1, count=size).view(bool)
            room = np.empty((2, rows.size), dtype=np.int64)
            return room[:, : list_survivors(data, known, rows, begin, room)].copy()

        survivors = list(in_threads(of_rows, range(0, size, step), n_jobs))
        self.first, self.second = np.concatenate(survivors, axis=1)

    def separates(self, first: Ints, second: Ints) -> Bools:
        """True for the pairs, none of which survived, that were asked about; shape (pairs,)."""
        bits = self._asked[first, second >> 3] >> (7 - (second & 7)).astype(np.uint8)
        return np.asarray(bits & 1 == 1)

    def decisions(self, first: Ints, second: Ints) -> Decisions:
        """The decisions on pairs none of which survived; empty for those not asked about.

        Shapes are (pairs, graphs, ...): a pair is compared once more, which takes less than having
        kept it.
        """
        decisions = no_decisions(first.size, self._view_places.size, 0)
        answer_pairs(
            self.prepared.views(0),
            self._view_places,
            first,
            second,
            self.separates(first, second),
            decisions,
        )
        return decisions
