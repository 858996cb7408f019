"""The plan of a search: its graphs and variables, the rows that answer, and the knowledge.

A link at a context variable cannot depend on that variable's own value. So graphs whose cells
differ in it alone share the link: it is tested once, with candidates from all of them, and the
answer is copied (`Plan.leaders`). A pair of two system variables is answered by every graph for
itself; what graphs ask on the same rows is tested once all the same.

A level of the joint skeleton (`level_tasks`) is every pair that is left with every set of one size,
all graphs at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from math import comb
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from causalcontext.graphs.endpoints import GraphKind
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.levels import neighbours as kernels
from causalcontext.kernels.levels.neighbours import (
    Edges,
    Neighbours,
    Pairs,
    SharedAnswers,
    list_edges,
)
from causalcontext.kernels.levels.skeleton import Ballots, Decisions
from causalcontext.kernels.threads import in_threads
from causalcontext.knowledge import Links
from causalcontext.progress import Advance
from causalcontext.search.sepsets import SepsetRecords
from causalcontext.search.settings import MOST_GRAPHS_PER_CALL, TESTS_PER_CALL
from causalcontext.views import CIQuery, Contexts, ViewRule, masked, pooled

if TYPE_CHECKING:
    from causalcontext.search.family import Proposal
    from causalcontext.search.level_search import Marginal

Physical = Callable[[int, int, int, int], bool]
"""`physical(x, y, present, absent)`: true if x - y is missing in graph `absent` though its rows
could show it.
"""
Trusted = Callable[[int, int, Sequence[int], int, int], bool]
"""The same given a set, for two cells: `trusted(x, y, given, present, absent)`."""


class Mask(NamedTuple):
    """A set of triggers among the conditions of a question."""

    triggers: tuple[int, ...]  # columns
    named: tuple[int, ...]  # the context variables that they name
    # the triggers that stay among the conditions: the column of an indicator, and context variables
    # on all rows
    kept: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """One joint search for several graphs."""

    variables: int  # how many, context variables included
    contexts: Contexts  # the context variables, and the cells of the table
    rule: ViewRule  # which rows answer a question
    # the cell of every graph that is searched; a pooled search has a single graph, of cell 0
    cells: tuple[int, ...]
    links: Links  # what is known
    alpha: float  # two variables are called independent if the p-value is larger
    max_given: int  # the largest conditioning set
    collider_rule: str = "majority"  # {"majority", "conservative", "first"}
    # {"adaptive", "cycle", "always"}: for which of the edges that are left all sets are asked once
    # more, inside the contexts
    masked_scope: str = "adaptive"
    # whether an edge that is missing in one graph may orient others, asked given the set that
    # separated the pair. Without one, every graph is oriented by itself.
    across: Trusted | None = None
    # of the graphs. Where variables may be hidden (a PAG), both views are asked for every set,
    # whether or not a context variable is a neighbour, and whoever is a neighbour may be
    # conditioned on, cause or not.
    kind: GraphKind = GraphKind.CPDAG
    asked: Bools | None = None  # the pairs that are tested, shape (N, N); all of them by default

    @property
    def serving(self) -> Bools:
        """True where a neighbour (row) of a variable (column) may be conditioned on, shape (N, N):
        causes, in a PAG any.
        """
        return self.links.may if self.kind is GraphKind.CPDAG else np.ones_like(self.links.may)

    @property
    def searched(self) -> tuple[int, ...]:
        """The context variables whose links are tested: not where they are constant, nor functions
        of a column.
        """
        measured = (
            position
            for position in self.contexts.positions
            if self.contexts.source_of(position) is None
        )
        return () if self.rule is masked else tuple(measured)

    @cached_property
    def graphs(self) -> Contexts:
        """The searched context variables, with their levels in every graph, before those of others.

        In a PAG, the column of which a context variable is a function takes its place: it is what
        conditions name, and all rules for context variables hold for it.
        """
        positions = self.contexts.positions
        order = sorted(range(len(positions)), key=lambda j: positions[j] not in self.searched)
        cells = tuple(tuple(self.contexts.cells[cell][j] for j in order) for cell in self.cells)
        made = self.sources if self.kind is GraphKind.PAG else ()
        return Contexts((*self.searched, *made), cells)

    @property
    def sources(self) -> tuple[int, ...]:
        """The columns of which context variables are functions."""
        return tuple(source for _, source in self.contexts.made)

    @cached_property
    def leaders(self) -> dict[tuple[int, ...], Ints]:
        """The graph that answers for every graph, by the context variables of a pair: none, one or
        two.
        """
        leaders: dict[tuple[int, ...], Ints] = {(): np.arange(len(self.cells))}
        for contexts in _up_to_two(self.searched):
            shared = [self.searched.index(position) for position in contexts]
            others = [j for j in range(len(self.contexts.positions)) if j not in shared]
            first: dict[tuple[int, ...], int] = {}
            leader_of = []
            for g, cell in enumerate(self.graphs.cells):
                other_values = tuple(cell[j] for j in others)
                leader_of.append(first.setdefault(other_values, g))
            leaders[contexts] = np.array(leader_of)
        return leaders

    @cached_property
    def shares(self) -> list[tuple[tuple[int, ...], SharedAnswers]]:
        """The same in parts of at most `MOST_GRAPHS_PER_CALL` graphs, those without a leader left
        out.
        """
        shares = []
        graphs = np.arange(len(self.cells))
        for contexts, leader in self.leaders.items():
            for begin in range(0, graphs.size, MOST_GRAPHS_PER_CALL):
                end = min(begin + MOST_GRAPHS_PER_CALL, graphs.size)
                if (leader == graphs)[begin:end].any():
                    shares.append((contexts, SharedAnswers(leader, begin, end)))
        return shares

    @cached_property
    def masks(self) -> tuple[Mask, ...]:
        """The sets of columns that switch the rows, smallest first; the empty one is the first."""
        if self.rule is masked:
            return (Mask((), (), ()),)
        switching = self.searched if self.rule is pooled else self.contexts.positions
        masks = []
        subsets = [combinations(switching, size) for size in range(len(switching) + 1)]
        for named in chain.from_iterable(subsets):
            made = {position: self.contexts.source_of(position) for position in named}
            triggers = tuple(
                position if source is None else source for position, source in made.items()
            )
            kept = tuple(source for source in made.values() if source is not None)
            masks.append(Mask(triggers, named, triggers if self.rule is pooled else kept))
        return tuple(masks)

    @cached_property
    def triggers(self) -> tuple[int, ...]:
        """The columns that switch the rows."""
        return tuple(dict.fromkeys(column for mask in self.masks for column in mask.triggers))

    @cached_property
    def trigger_numbers(self) -> Ints:
        """The number of the trigger that a column is, -1 for others; shape (N,)."""
        numbers = np.full(self.variables, -1, dtype=np.int64)
        numbers[list(self.triggers)] = np.arange(len(self.triggers))
        return numbers

    def among(self, columns: Sequence[int]) -> Bools:
        """True for the variables that are among these columns, shape (N,)."""
        chosen = np.zeros(self.variables, dtype=bool)
        chosen[list(columns)] = True
        return chosen

    @cached_property
    def context_numbers(self) -> Ints:
        """The number of the searched context variable that a column is, -1 for others; -2 for one
        not searched.
        """
        numbers = np.full(self.variables, -1, dtype=np.int64)
        numbers[list(self.contexts.positions)] = -2
        numbers[list(self.searched)] = np.arange(len(self.searched))
        return numbers

    @cached_property
    def views(self) -> Ints:
        """The view that answers in every graph for every mask, shape (graphs, masks)."""
        cells = [self.contexts.cell(cell) for cell in self.cells]
        views = [
            [self.contexts.number(self.rule(cell, mask.named)) for mask in self.masks]
            for cell in cells
        ]
        return np.array(views, dtype=np.int64)

    def repeat_separations(self, sepsets: SepsetRecords, before: Bools) -> None:
        """Write separations since `before`, shape (graphs, pairs), to the pairs that repeat them in
        time: there are none without lags.
        """

    def repeated(self, proposal: Proposal) -> Iterator[Proposal]:
        """The same end of the links that repeat the proposed one in time: none without lags."""
        yield from ()

    def complete_graphs(self) -> Bools:
        """Every pair adjacent in every graph, but for those absent by assumption; shape (graphs, N,
        N).

        Where a context variable cannot be tested, only its required links are there.
        """
        graphs = np.empty((len(self.cells), self.variables, self.variables), dtype=bool)
        start = graphs[0]
        np.logical_or(self.links.may, self.links.may.T, out=start)
        for position in self.contexts.positions:
            if position not in self.searched:
                start[position] = start[:, position] = self.links.required[position]
        graphs[1:] = start
        return graphs


def _up_to_two(positions: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The context variables of a pair that has any: one of them, or two.

    They say which kernel answers, and which graphs share the answer.
    """
    yield from combinations(positions, 1)
    yield from combinations(positions, 2)


@dataclass(frozen=True)
class PairGroup:
    """Pairs with the same context variables in some of the graphs, and whom they may condition
    on.
    """

    plan: Plan
    contexts: tuple[int, ...]  # the context variables of the pairs: none, one or two
    # whose answers the graphs take over, and which of them are looked at: those from `begin` up to
    # `end`
    share: SharedAnswers
    neighbours: Neighbours
    first_mask: int = 0  # the first mask that is tried: 1 leaves out the sets without triggers
    _serving: dict[tuple[int, int], list[int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def serving(self, node: int, g: int) -> list[int]:
        """The variables that may be conditioned on for the sake of a node, in one of the graphs
        that are looked at.
        """
        if (node, g) not in self._serving:
            row = slice(self.neighbours.start[node], self.neighbours.start[node + 1])
            in_graph = (self.neighbours.graphs[row] >> g & 1).astype(bool)
            self._serving[node, g] = self.neighbours.columns[row][in_graph].tolist()
        return self._serving[node, g]


@dataclass(frozen=True)
class LevelTask:
    """A level for the pairs of a group that have enough candidates."""

    group: PairGroup
    size: int
    pairs: Pairs
    tests_per_pair: int


class GroupSearch(Protocol):
    """Answers a whole level at once: a compiled kernel, or `BatchedSearch` around any other
    test.
    """

    def fewest(self, level_task: LevelTask) -> int:
        """The number of pairs of a level task that are worth a call of `search`."""

    def search(self, level_task: LevelTask) -> tuple[Decisions, Ints]:
        """The deciding sets of the pairs of a level task; the tests run on all rows, and on those
        of contexts.
        """

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of neighbours and any triggers that separate each pair; how many of them hold
        each centre.
        """


class LevelSearch(Protocol):
    """A prepared test as a search of levels."""

    def of(self, contexts: tuple[int, ...]) -> GroupSearch:
        """The search that answers about pairs with these context variables."""

    def screen(self, plan: Plan, asked: Bools) -> Marginal | None:
        """Ask the pairs of system variables in `asked`, shape (N, N), given nothing; None to have
        them searched.
        """

    def ask(self, queries: Sequence[CIQuery]) -> Floats:
        """The p-value of every query, NaN where it cannot be run."""


def first_sepsets(search: LevelSearch, plan: Plan, graphs: Bools) -> SepsetRecords:
    """Sepset records for a search that begins with complete graphs, shape (graphs, N, N), all
    alike.

    Where the test can screen pairs, those that the empty set separates in every graph are taken out
    of the graphs, and the sepset records do not list them: nothing looks at them again.
    """
    asked = graphs[0] > plan.links.required
    outside = plan.context_numbers != -1
    asked[outside] = False
    asked[:, outside] = False
    screened = search.screen(plan, asked)
    if screened is None:
        return SepsetRecords.empty(plan.variables, len(graphs))
    separated = np.count_nonzero(asked) // 2 - screened.first.size
    asked[screened.first, screened.second] = asked[screened.second, screened.first] = False
    # of wide tables, an array of all pairs takes as much memory as the search
    np.greater(graphs, asked, out=graphs)
    del asked
    first, second = np.divmod(np.flatnonzero(graphs[0]), plan.variables)
    listed = first[first < second], second[first < second]
    sepsets = SepsetRecords.empty(plan.variables, len(graphs), listed, screened)
    for begin in range(0, len(graphs), MOST_GRAPHS_PER_CALL):
        end = begin + MOST_GRAPHS_PER_CALL
        for view in set(plan.views[begin:end, 0].tolist()):
            sepsets.tests[int(view > 0)] += separated
    return sepsets


def level_tasks(
    plan: Plan,
    graphs: Bools,
    size: int,
    only: Bools | None = None,
    candidates: Bools | None = None,
    edges: Edges | None = None,
) -> list[LevelTask]:
    """The work of one level; empty when no pair has enough candidates left. `edges` are those of
    the graphs, if known.

    With `only`, shape (graphs, N, N), no more than these edges are looked at, with at least one
    trigger among the conditions, whether or not it is a neighbour. With `candidates`, of the same
    shape, those that a row names may be conditioned on instead of its neighbours.
    """
    if size > plan.max_given:
        return []
    tasks = []
    edges = list_edges(graphs) if edges is None else edges
    asked_about = edges
    if only is not None or plan.asked is not None:
        chosen_pairs = graphs if only is None else graphs & only
        asked_about = list_edges(chosen_pairs if plan.asked is None else chosen_pairs & plan.asked)
    serving = edges if candidates is None else list_edges(candidates)
    for contexts, share in plan.shares:
        pairs = kernels.open_pairs(
            asked_about, plan.links.required, plan.context_numbers, list(contexts), share
        )
        if not pairs.first.size:
            continue
        group = group_of(plan, serving, contexts, share, inside=only is not None)
        candidate_counts = kernels.reach(group.neighbours, pairs, plan.trigger_numbers)
        chosen = np.flatnonzero(candidate_counts >= size)
        if chosen.size:
            asked = Pairs(*(column[chosen] for column in pairs))
            sets = len(plan.masks) * comb(int(candidate_counts[chosen].max()), size)
            tasks.append(LevelTask(group, size, asked, sets * (share.end - share.begin)))
    return tasks


def group_of(
    plan: Plan, edges: Edges, contexts: tuple[int, ...], share: SharedAnswers, inside: bool = False
) -> PairGroup:
    """The columns that pairs may condition on: neighbours that may be causes, in PAGs any neighbour
    and every trigger.
    """
    hidden = plan.among(plan.contexts.positions)  # context variables are no plain conditions
    neighbours = kernels.list_neighbours(
        edges, plan.serving, plan.trigger_numbers, hidden, share, len(plan.triggers)
    )
    if inside or plan.kind is GraphKind.PAG:
        every = (1 << (share.end - share.begin)) - 1
        neighbours = neighbours._replace(triggers=np.full_like(neighbours.triggers, every))
    return PairGroup(plan, contexts, share, neighbours, first_mask=int(inside))


def run_level(
    search: LevelSearch,
    sepsets: SepsetRecords,
    work: list[LevelTask],
    n_jobs: int,
    advance: Advance,
) -> None:
    """Search every level task of a level and write the outcome to the sepset records.

    Tasks are cut into parts, which threads search; records are written in the order of the parts.
    """
    total = sum(level_task.pairs.first.size for level_task in work)
    done = 0
    for level_task in work:
        group_search = search.of(level_task.group.contexts)
        share = level_task.group.share
        parts = list(_parts(level_task, group_search.fewest(level_task), n_jobs))
        answers = in_threads(group_search.search, parts, n_jobs)
        for part, (decisions, tests) in zip(parts, answers, strict=True):
            slots = sepsets.slots_of(part.pairs.first, part.pairs.second)
            sepsets.take(decisions, slots, share.leader, share.begin)
            sepsets.tests += tests
            done += part.pairs.first.size
            advance(part.size, done, total)


def _parts(level_task: LevelTask, fewest: int, n_jobs: int) -> Iterator[LevelTask]:
    """The task for some of its pairs each: small enough for progress and for every worker, and
    worth a call.
    """
    total = level_task.pairs.first.size
    size = min(total, TESTS_PER_CALL // max(level_task.tests_per_pair, 1))
    if n_jobs > 1:
        size = min(size, -(-total // (4 * n_jobs)))
    size = max(size, fewest, 1)
    for begin in range(0, total, size):
        pairs = Pairs(*(column[begin : begin + size] for column in level_task.pairs))
        yield replace(level_task, pairs=pairs)
