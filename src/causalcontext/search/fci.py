"""FCI for all contexts at once: Algorithm 1 where variables may be hidden (docs/hidden-causes.md).

The skeleton asks both views for every set, all rows and the rows of the context, whether or not the
context variable is a neighbour. A set that separates a pair on all rows separates it in every
context; of several context variables, any may be fixed, and what separates then does so in all
contexts with these values. What the rules rest on does not depend on the order of the columns:
where they use a single separating set, it is the one with the largest p-value of its level.
Neighbours alone are searched by default; `possible_dsep` asks for the larger sets of FCI.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from causalcontext.graphs.endpoints import GraphKind, endpoints_of_arcs
from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.neighbours import Pairs
from causalcontext.kernels.levels.skeleton import LABEL, MASK, REASON, ROWS, SIZE, P
from causalcontext.progress import Advance
from causalcontext.search.algorithm import FoundGraphs, physical_by
from causalcontext.search.colliders import OpenTriples, Triple, judge_triples
from causalcontext.search.family import Evidence, GraphFamily, SeparatingSet, always_physical
from causalcontext.search.indicator import with_indicators_of_pags
from causalcontext.search.plan import LevelSearch, LevelTask, Plan, level_tasks, run_level
from causalcontext.search.rules import orient_edges
from causalcontext.search.sepsets import SepsetRecords, slots
from causalcontext.views import CIQuery

CONTESTED = ("conflict", "bidirected")


@dataclass(frozen=True)
class Caution:
    """The caution of a search where variables may be hidden."""

    # the largest set, context variables counted, out of all that might separate; None: neighbours
    # are enough
    possible_dsep: int | None = None
    # {"conflict", "bidirected"}: what an edge is that colliders give arrows at both ends
    contested: str = "conflict"
    context_confounded: bool = True  # a hidden variable may cause the context and another one


def fci(
    search: LevelSearch, plan: Plan, caution: Caution, n_jobs: int, advance: Advance
) -> FoundGraphs:
    """One PAG per context. Ctrl-C ends the search with what is decided."""
    skeleton = Skeleton(search, plan, n_jobs, advance)
    try:
        for size in range(plan.variables):
            if not skeleton.separate(level_tasks(plan, skeleton.graphs, size)):
                break
        if caution.possible_dsep is not None:
            _separate_by_possible_d_sep(skeleton, caution.possible_dsep)
        skeleton.prefer_large_p()
        oriented = _orient(skeleton, caution)
        endpoints, origins = with_indicators_of_pags(oriented, plan.contexts)
        return FoundGraphs(endpoints, skeleton.sepsets, True, origins, oriented.doubts)
    except KeyboardInterrupt:
        skeleton.sepsets.remove_separated(skeleton.graphs)
        return FoundGraphs(endpoints_of_arcs(skeleton.graphs), skeleton.sepsets, complete=False)


def _separate_by_possible_d_sep(skeleton: Skeleton, largest: int) -> None:
    """Ask about the edges that are left once more, with all sets that FCI would ask.

    These are sets of up to `largest` variables out of those in Possible-D-Sep of either end, by the
    colliders that are known so far.
    """
    plan = skeleton.plan
    edges = skeleton.sepsets.edges(skeleton.graphs)
    judged = judge_triples(skeleton.search, plan, skeleton.sepsets, edges)
    candidates = np.stack(
        [
            possible_d_sep(graph, triples.colliders)
            for graph, triples in zip(skeleton.graphs, judged, strict=True)
        ]
    )
    for size in range(1, min(largest, plan.variables) + 1):
        if not skeleton.separate(level_tasks(plan, skeleton.graphs, size, candidates=candidates)):
            break


@dataclass(eq=False)
class Skeleton:
    """The skeletons of all contexts while edges are removed.

    `graphs` has shape (graphs, N, N); `level`, shape (graphs, pairs), is the place of the level
    that removed an edge, -1 for those that are left.
    """

    search: LevelSearch
    plan: Plan
    n_jobs: int
    advance: Advance
    # searched so far, with the neighbours of their time
    levels: list[list[LevelTask]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.graphs = self.plan.complete_graphs()
        self.sepsets = SepsetRecords.empty(self.plan.variables, len(self.plan.cells))
        self.level = np.full(self.sepsets.facts.shape[:2], -1, dtype=np.int16)

    def separate(self, tasks: list[LevelTask]) -> bool:
        """True after searching a level and removing the edges that it separates; False without a
        task.
        """
        if not tasks:
            return False
        before = self.sepsets.separated()
        run_level(self.search, self.sepsets, tasks, self.n_jobs, self.advance)
        share_separations(self.plan, self.sepsets)
        self.plan.repeat_separations(self.sepsets, before)
        self.level[self.sepsets.separated() & ~before] = len(self.levels)
        self.levels.append(tasks)
        self.sepsets.remove_separated(self.graphs)
        return True

    def prefer_large_p(self) -> None:
        """Keep, where rules look at it, the set with the largest p-value of its level instead of
        the first one.

        These are the sets that separate a context variable from others, and those that separate a
        pair in some contexts only. Searched once more with a level of 1, no set separates, and the
        largest p-value is what remains.
        """
        separated = self.sepsets.separated()
        sepsets = self.sepsets
        contexts = list(self.plan.searched)
        at_context = np.isin(sepsets.first, contexts) | np.isin(sepsets.second, contexts)
        patient = replace(self.plan, alpha=1.0)
        wanted = np.asarray(separated & (at_context | ~separated.all(axis=0)))
        for number, tasks in enumerate(self.levels):
            for level_task in tasks:
                share = level_task.group.share
                first, second, active = level_task.pairs
                pair_slots = slots(first, second, self.plan.variables)
                wanted_here = (wanted & (self.level == number))[share.begin : share.end, pair_slots]
                graph_bits = np.arange(len(wanted_here))[:, None]
                bits = active & (wanted_here << graph_bits).sum(axis=0)
                chosen = bits != 0
                pairs = Pairs(first[chosen], second[chosen], bits[chosen])
                if pairs.first.size:
                    group = replace(level_task.group, plan=patient)
                    self._take(replace(level_task, pairs=pairs, group=group))

    def _take(self, level_task: LevelTask) -> None:
        """Search some pairs once more, and replace their sets in all graphs that share the
        answer.
        """
        decisions, tests = self.search.of(level_task.group.contexts).search(level_task)
        self.sepsets.tests += tests
        pairs = level_task.pairs
        share = level_task.group.share
        pair_slots = slots(pairs.first, pairs.second, self.plan.variables)
        for k, bit in zip(*np.nonzero(decisions.numbers[:, :, P] > self.plan.alpha), strict=True):
            for g in np.flatnonzero(share.leader == share.begin + bit):
                for column in (LABEL, MASK, REASON, ROWS, SIZE):
                    self.sepsets.facts[g, pair_slots[k], column] = decisions.facts[k, bit, column]
                self.sepsets.numbers[g, pair_slots[k]] = decisions.numbers[k, bit]
                self.sepsets.given[g, pair_slots[k]] = -1
                width = decisions.given.shape[2]
                self.sepsets.given[g, pair_slots[k], :width] = decisions.given[k, bit]


def share_separations(plan: Plan, sepsets: SepsetRecords) -> None:
    """A pair that some graph has separated on some rows is separated in every graph that these rows
    are about.

    Where there are several such sets, the one with the largest p-value is written down.
    """
    separated = sepsets.separated()
    masks = sepsets.facts[:, :, MASK]
    best = np.full(separated.shape, -1.0)
    taken_from = np.zeros(separated.shape, dtype=np.int64)
    for m, views in enumerate(plan.views.T):
        p = np.where(separated & (masks == m), sepsets.numbers[:, :, P], -1.0)
        for graphs in (np.flatnonzero(views == view) for view in np.unique(views)):
            largest = p[graphs].max(axis=0)
            source = graphs[p[graphs].argmax(axis=0)]
            better = largest > best[graphs]
            best[graphs] = np.where(better, largest, best[graphs])
            taken_from[graphs] = np.where(better, source, taken_from[graphs])
    g, pairs = np.nonzero((best >= 0.0) & ~separated)
    for array in (sepsets.numbers, sepsets.facts, sepsets.given):
        array[g, pairs] = array[taken_from[g, pairs], pairs]


def possible_d_sep(adjacency: Bools, colliders: Collection[Triple]) -> Bools:
    """True where v might be in a set that separates x from something: shape (N, N), from row x to
    column v.

    v is reached from x by a path on which every inner variable is a collider, or has neighbours on
    the path that are adjacent to each other (Spirtes, Glymour and Scheines, 2000).
    """
    reached = np.zeros_like(adjacency)
    neighbours = [np.flatnonzero(row).tolist() for row in adjacency]
    for x in range(len(adjacency)):
        seen = {(x, v) for v in neighbours[x]}
        frontier = list(seen)
        while frontier:
            before, current = frontier.pop()
            reached[x, current] = True
            for after in neighbours[current]:
                triple = (min(before, after), current, max(before, after))
                goes_on = after not in (before, x) and (
                    adjacency[before, after] or triple in colliders
                )
                if goes_on and (current, after) not in seen:
                    seen.add((current, after))
                    frontier.append((current, after))
    return reached


def _orient(skeleton: Skeleton, caution: Caution) -> GraphFamily:
    """Colliders, then the rules for PAGs; with `plan.across` also what the graphs say about each
    other.

    A missing edge counts as shown only if the rows could have shown it and the edge was tested in
    the other context.
    """
    plan = skeleton.plan
    sepsets = skeleton.sepsets
    edges = sepsets.edges(skeleton.graphs)
    triples = judge_triples(skeleton.search, plan, sepsets, edges)
    inquiry = SepsetAnswers(skeleton)
    trusted = always_physical if plan.across is None else physical_by(plan, plan.across, sepsets)

    def shown(x: int, y: int, present: int, absent: int) -> bool:
        inside = inquiry.p(present, x, y, SeparatingSet((), plan.triggers))
        # an edge that stays untested is not known to be there
        return not np.isnan(inside) and trusted(x, y, present, absent)

    evidence = Evidence(
        triples,
        plan.links,
        plan.graphs,
        shown,
        plan.across is not None,
        inquiry,
        caution.contested,
        caution.context_confounded,
        repeated=plan.repeated,
        untested=sepsets.untested(edges, plan),
    )
    return orient_edges(edges, plan.variables, evidence, GraphKind.PAG)


class SepsetAnswers:
    """Answers about a finished skeleton, for rules of PAGs, which may ask for tests of their own.

    Verdicts on triples are kept, since a rule asks again after every change.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self._verdicts: dict[tuple[int, Triple], bool | None] = {}

    def is_collider(self, graph: int, x: int, w: int, y: int) -> bool | None:
        """True if the sets that separate x and y leave w out; None without a verdict."""
        triple = (min(x, y), w, max(x, y))
        if (graph, triple) not in self._verdicts:
            self._verdicts[graph, triple] = self._verdict(graph, triple)
        return self._verdicts[graph, triple]

    def _verdict(self, graph: int, triple: Triple) -> bool | None:
        """The verdict on one triple by the vote of all sets; None if it is ambiguous."""
        x, w, y = triple
        skeleton = self.skeleton
        edges = skeleton.sepsets.edges(skeleton.graphs)
        asked = OpenTriples(*(np.array([number]) for number in (graph, x, y, w)))
        judged = judge_triples(skeleton.search, skeleton.plan, skeleton.sepsets, edges, asked)
        if triple in judged[graph].ambiguous:
            return None
        return triple in judged[graph].colliders

    def separating_set(self, graph: int, x: int, y: int) -> SeparatingSet | None:
        """The set that separated x and y; None if there is none."""
        recorded = self.skeleton.sepsets.separating_set(graph, x, y)
        if recorded is None:
            return None
        given, mask = recorded
        return SeparatingSet(given, self.skeleton.plan.masks[mask].triggers)

    def separates(self, graph: int, x: int, y: int, separating: SeparatingSet) -> bool:
        """True if a set separates x and y in a graph, by a test of its own."""
        return self.p(graph, x, y, separating) > self.skeleton.plan.alpha

    def p(self, graph: int, x: int, y: int, among: SeparatingSet) -> float:
        """The p-value of x and y in a graph given a set; NaN where they cannot be compared."""
        plan = self.skeleton.plan
        m, mask = next(
            (m, mask) for m, mask in enumerate(plan.masks) if {*mask.triggers} == {*among.fixed}
        )
        query = CIQuery(min(x, y), max(x, y), (*among.given, *mask.kept), int(plan.views[graph, m]))
        self.skeleton.sepsets.tests[int(query.view > 0)] += 1
        return float(self.skeleton.search.ask([query])[0])
