"""One level of the joint skeleton: every pair that is left, every set of one size, all graphs at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import NamedTuple, Protocol

import numpy as np

from causalcontext.graphs.endpoints import GraphKind
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.levels.neighbours import (
    Edges,
    Neighbours,
    PairFilter,
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
from causalcontext.search.plan import Plan
from causalcontext.search.sepsets import Screened, SepsetRecords
from causalcontext.search.sharing import Role, sharing_of

MOST_GRAPHS = 60
"""Graphs that share one level task: their bits must fit an integer."""
TESTS_PER_CALL = 4_000_000
"""Roughly how many tests a kernel call may hold, so that progress is shown and Ctrl-C is heard."""


@dataclass(frozen=True)
class PairGroup:
    """Pairs of one role in some of the graphs, and whom they may condition on.

    Attributes
    ----------
    plan : Plan
    role : Role
    share : Share
        Whose answers the graphs take over, and which of them are looked at: those from `begin` up to `end`.
    neighbours : Neighbours
    first_mask : int
        The place of the first mask that is tried: 1 leaves out the sets without triggers.
    """

    plan: Plan
    role: Role
    share: SharedAnswers
    neighbours: Neighbours
    first_mask: int = 0


@dataclass(frozen=True)
class LevelTask:
    """A level for the pairs of a group of pairs that have enough candidates."""

    group: PairGroup
    size: int
    pairs: Pairs
    tests_per_pair: int


class Screening(NamedTuple):
    """Pairs of two system variables that were asked about given nothing.

    Attributes
    ----------
    first, second : arrays of int, shape (pairs,)
        Those that the empty set does not separate in all graphs, in row order.
    asked : int
        How many there were.
    screened : Screened
        Answers for the others.
    """

    first: Ints
    second: Ints
    asked: int
    screened: Screened


class LevelSearch(Protocol):
    """Answers a whole level at once: a compiled kernel, or `BatchedSearch` around any other test."""

    def screen(self, plan: Plan, asked: Bools) -> Screening | None:
        """Ask the pairs of system variables in `asked`, shape (N, N), given nothing; None to have them searched."""
        ...

    def fewest(self, level_task: LevelTask) -> int:
        """How many pairs of a level task are worth a call of `search`."""
        ...

    def search(self, level_task: LevelTask, pairs: Pairs) -> tuple[Decisions, Ints]:
        """The deciding sets of some pairs of a level task; the tests run on all rows, and on those of contexts."""
        ...

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold each centre."""
        ...


def first_sepsets(search: LevelSearch, plan: Plan, graphs: Bools) -> SepsetRecords:
    """A sepset records for a search that begins with complete graphs, shape (graphs, N, N), all alike.

    Where the test can screen pairs, those that the empty set separates in every graph are taken out of the graphs, and
    the sepset records does not list them: nothing looks at them again.
    """
    asked, outside = graphs[0] > plan.links.required, groups(plan) != -1
    asked[outside], asked[:, outside] = False, False
    screening = search.screen(plan, asked)
    if screening is None:
        return SepsetRecords.empty(plan.variables, len(graphs))
    asked[screening.first, screening.second] = asked[screening.second, screening.first] = False
    np.greater(graphs, asked, out=graphs)  # of wide tables, an array of all pairs takes as much memory as the search
    del asked
    first, second = np.divmod(np.flatnonzero(graphs[0]), plan.variables)
    listed = first[first < second], second[first < second]
    sepsets = SepsetRecords.of_pairs(plan.variables, len(graphs), listed, screening.screened)
    for begin in range(0, len(graphs), MOST_GRAPHS):
        for view in set(plan.views[begin : begin + MOST_GRAPHS, 0].tolist()):
            sepsets.tests[int(view > 0)] += screening.asked - screening.first.size
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
    asked_about = edges if only is None else list_edges(graphs & only)
    serving = edges if candidates is None else list_edges(candidates)
    for role, share in shares(plan):
        pairs = open_pairs(PairFilter(asked_about, plan.links.required, groups(plan), _code(plan, role)), share)
        if not pairs.first.size:
            continue
        group = group_of(plan, serving, role, share, inside=only is not None)
        most = reach(group.neighbours, pairs, _trigger_numbers(plan))
        chosen = np.flatnonzero(most >= size)
        if chosen.size:
            asked = Pairs(*(column[chosen] for column in pairs))
            found.append(LevelTask(group, size, asked, len(plan.masks) * comb(int(most[chosen].max()), size)))
    return found


@lru_cache(maxsize=4)
def shares(plan: Plan) -> list[tuple[Role, SharedAnswers]]:
    """Every role, in parts of at most `MOST_GRAPHS` graphs of which some lead."""
    total, found = len(plan.cells), []
    for role, leader in sharing_of(plan).leaders.items():
        for begin in range(0, total, MOST_GRAPHS):
            share = SharedAnswers(leader, begin, min(begin + MOST_GRAPHS, total))
            if (leader[share.begin : share.end] == np.arange(share.begin, share.end)).any():
                found.append((role, share))
    return found


def group_of(plan: Plan, edges: Edges, role: Role, share: SharedAnswers, inside: bool = False) -> PairGroup:
    """Whom the pairs of a role may condition on: neighbours that may be causes, in PAGs any and every trigger."""
    neighbours = list_neighbours(edges, plan.serving, _trigger_numbers(plan), _hidden(plan), share, len(plan.triggers))
    if inside or plan.kind is GraphKind.PAG:
        every = (1 << (share.end - share.begin)) - 1
        neighbours = neighbours._replace(triggers=np.full_like(neighbours.triggers, every))
    return PairGroup(plan, role, share, neighbours, first_mask=int(inside))


def run_level(
    search: LevelSearch, sepsets: SepsetRecords, work: list[LevelTask], n_jobs: int, advance: Advance
) -> None:
    """Search every level task of a level and write the outcome to the sepset records."""
    total = sum(level_task.pairs.first.size for level_task in work)
    done = 0
    for level_task in work:
        share = level_task.group.share

        def search_part(part: slice, level_task: LevelTask = level_task) -> tuple[Pairs, Decisions, Ints]:
            pairs = Pairs(*(column[part] for column in level_task.pairs))
            return pairs, *search.search(level_task, pairs)

        for pairs, decisions, tests in in_threads(
            search_part, _parts(level_task, search.fewest(level_task), n_jobs), n_jobs
        ):
            sepsets.take(decisions, sepsets.places(pairs.first, pairs.second), share.leader, share.begin)
            sepsets.tests += tests
            done += pairs.first.size
            advance(level_task.size, done, total)


@lru_cache(maxsize=4)
def _trigger_numbers(plan: Plan) -> Ints:
    """The number of the trigger that a column is, -1 for others."""
    numbers = np.full(plan.variables, -1, dtype=np.int64)
    numbers[list(plan.triggers)] = np.arange(len(plan.triggers))
    return numbers


@lru_cache(maxsize=4)
def _hidden(plan: Plan) -> Bools:
    """The columns that are never conditioned on."""
    hidden = np.zeros(plan.variables, dtype=bool)
    hidden[list(plan.contexts.positions)] = True
    return hidden


@lru_cache(maxsize=4)
def groups(plan: Plan) -> Ints:
    """The number of the searched context variable that a column is, -1 for others; -2 for one that is not searched."""
    groups = np.full(plan.variables, -1, dtype=np.int64)
    groups[list(plan.contexts.positions)] = -2
    groups[list(plan.searched)] = np.arange(len(plan.searched))
    return groups


def _code(plan: Plan, role: Role) -> tuple[int, int]:
    numbers = [plan.searched.index(position) for position in role.contexts]
    first, second = [*numbers, -1, -1][:2]
    return first, second


def _parts(level_task: LevelTask, fewest: int, n_jobs: int) -> list[slice]:
    """Slices of the pairs, small enough for progress and for every worker, and worth a call."""
    total = level_task.pairs.first.size
    size = min(total, TESTS_PER_CALL // max(level_task.tests_per_pair, 1))
    if n_jobs > 1:
        size = min(size, -(-total // (4 * n_jobs)))
    size = max(size, fewest, 1)
    return [slice(begin, begin + size) for begin in range(0, total, size)]
