"""One level of the joint skeleton: every pair that is left, every set of one size, all graphs at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING, Protocol

import numpy as np

from causalcontext.graphs.endpoints import GraphKind
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.levels.neighbours import (
    Edges,
    Neighbours,
    Pairs,
    SharedAnswers,
    list_edges,
    list_neighbours,
    open_pairs,
    reach,
)
from causalcontext.kernels.levels.skeleton import Decisions
from causalcontext.kernels.levels.votes import Ballots
from causalcontext.kernels.threads import in_threads
from causalcontext.progress import Advance
from causalcontext.search.plan import MOST_GRAPHS, Plan
from causalcontext.search.sepsets import SepsetRecords
from causalcontext.views import CIQuery

if TYPE_CHECKING:
    from causalcontext.search.level_search import Marginal

TESTS_PER_CALL = 4_000_000
"""Roughly how many tests a kernel call may hold, so that progress is shown and Ctrl-C is heard."""


@dataclass(frozen=True)
class PairGroup:
    """Pairs with the same context variables in some of the graphs, and whom they may condition on."""

    plan: Plan
    contexts: tuple[int, ...]  # the context variables of the pairs: none, one or two
    # whose answers the graphs take over, and which of them are looked at: those from `begin` up to `end`
    share: SharedAnswers
    neighbours: Neighbours
    first_mask: int = 0  # the place of the first mask that is tried: 1 leaves out the sets without triggers


@dataclass(frozen=True)
class LevelTask:
    """A level for the pairs of a group that have enough candidates."""

    group: PairGroup
    size: int
    pairs: Pairs
    tests_per_pair: int


class GroupSearch(Protocol):
    """Answers a whole level at once: a compiled kernel, or `BatchedSearch` around any other test."""

    def fewest(self, level_task: LevelTask) -> int:
        """How many pairs of a level task are worth a call of `search`."""
        ...

    def search(self, level_task: LevelTask) -> tuple[Decisions, Ints]:
        """The deciding sets of the pairs of a level task; the tests run on all rows, and on those of contexts."""
        ...

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold each centre."""
        ...


class LevelSearch(Protocol):
    """A prepared test as a search of levels."""

    def of(self, contexts: tuple[int, ...]) -> GroupSearch:
        """What answers about pairs with these context variables."""
        ...

    def screen(self, plan: Plan, asked: Bools) -> Marginal | None:
        """Ask the pairs of system variables in `asked`, shape (N, N), given nothing; None to have them searched."""
        ...

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""
        ...


def first_sepsets(search: LevelSearch, plan: Plan, graphs: Bools) -> SepsetRecords:
    """Sepset records for a search that begins with complete graphs, shape (graphs, N, N), all alike.

    Where the test can screen pairs, those that the empty set separates in every graph are taken out of the graphs, and
    the sepset records do not list them: nothing looks at them again.
    """
    asked, outside = graphs[0] > plan.links.required, plan.context_numbers != -1
    asked[outside], asked[:, outside] = False, False
    screened = search.screen(plan, asked)
    if screened is None:
        return SepsetRecords.empty(plan.variables, len(graphs))
    separated = np.count_nonzero(asked) // 2 - screened.first.size
    asked[screened.first, screened.second] = asked[screened.second, screened.first] = False
    np.greater(graphs, asked, out=graphs)  # of wide tables, an array of all pairs takes as much memory as the search
    del asked
    first, second = np.divmod(np.flatnonzero(graphs[0]), plan.variables)
    listed = first[first < second], second[first < second]
    sepsets = SepsetRecords.empty(plan.variables, len(graphs), listed, screened)
    for begin in range(0, len(graphs), MOST_GRAPHS):
        for view in set(plan.views[begin : begin + MOST_GRAPHS, 0].tolist()):
            sepsets.tests[int(view > 0)] += separated
    return sepsets


def level_tasks(plan: Plan, graphs: Bools, size: int, only: Bools | None = None,
                candidates: Bools | None = None, edges: Edges | None = None) -> list[LevelTask]:  # fmt: skip
    """The work of one level; empty when no pair has enough candidates left. `edges` are those of the graphs, if known.

    With `only`, shape (graphs, N, N), no more than these edges are looked at, with at least one trigger among the
    conditions, whether or not it is a neighbour. With `candidates`, of the same shape, those that a row names may be
    conditioned on instead of its neighbours.
    """
    if size > plan.max_given:
        return []
    found = []
    edges = list_edges(graphs) if edges is None else edges
    chosen_pairs = plan.asked if only is None else only if plan.asked is None else only & plan.asked
    asked_about = edges if chosen_pairs is None else list_edges(graphs & chosen_pairs)
    serving = edges if candidates is None else list_edges(candidates)
    for contexts, share in plan.shares:
        pairs = open_pairs(asked_about, plan.links.required, plan.context_numbers, list(contexts), share)
        if not pairs.first.size:
            continue
        group = group_of(plan, serving, contexts, share, inside=only is not None)
        most = reach(group.neighbours, pairs, plan.trigger_numbers)
        chosen = np.flatnonzero(most >= size)
        if chosen.size:
            asked = Pairs(*(column[chosen] for column in pairs))
            sets = len(plan.masks) * comb(int(most[chosen].max()), size)
            found.append(LevelTask(group, size, asked, sets * (share.end - share.begin)))
    return found


def group_of(plan: Plan, edges: Edges, contexts: tuple[int, ...], share: SharedAnswers,
             inside: bool = False) -> PairGroup:  # fmt: skip
    """Whom pairs may condition on: neighbours that may be causes, in PAGs any and every trigger."""
    hidden = plan.among(plan.contexts.positions)  # context variables are no plain conditions
    neighbours = list_neighbours(edges, plan.serving, plan.trigger_numbers, hidden, share, len(plan.triggers))
    if inside or plan.kind is GraphKind.PAG:
        every = (1 << (share.end - share.begin)) - 1
        neighbours = neighbours._replace(triggers=np.full_like(neighbours.triggers, every))
    return PairGroup(plan, contexts, share, neighbours, first_mask=int(inside))


def run_level(search: LevelSearch, sepsets: SepsetRecords, work: list[LevelTask], n_jobs: int,
              advance: Advance) -> None:  # fmt: skip
    """Search every level task of a level and write the outcome to the sepset records."""
    total = sum(level_task.pairs.first.size for level_task in work)
    done = 0
    for level_task in work:
        asked, share = search.of(level_task.group.contexts), level_task.group.share
        parts = list(_parts(level_task, asked.fewest(level_task), n_jobs))
        for part, (decisions, tests) in zip(parts, in_threads(asked.search, parts, n_jobs), strict=True):
            sepsets.take(decisions, sepsets.places(part.pairs.first, part.pairs.second), share.leader, share.begin)
            sepsets.tests += tests
            done += part.pairs.first.size
            advance(part.size, done, total)


def _parts(level_task: LevelTask, fewest: int, n_jobs: int) -> Iterator[LevelTask]:
    """The task for some of its pairs each: small enough for progress and for every worker, and worth a call."""
    total = level_task.pairs.first.size
    size = min(total, TESTS_PER_CALL // max(level_task.tests_per_pair, 1))
    if n_jobs > 1:
        size = min(size, -(-total // (4 * n_jobs)))
    size = max(size, fewest, 1)
    for begin in range(0, total, size):
        yield replace(level_task, pairs=Pairs(*(column[begin : begin + size] for column in level_task.pairs)))
