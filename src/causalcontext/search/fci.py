"""FCI for all contexts at once: what Algorithm 1 becomes when variables may be hidden
(docs/hidden-causes.md).

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
    """How cautious to be about what is hidden."""

    # the largest set, context variables counted, out of all that might separate; None: neighbours
    # are enough
    possible_dsep: int | None = None
    # {"conflict", "bidirected"}: what an edge is that colliders give arrows at both ends
    contested: str = "conflict"
    context_confounded: bool = (
        True  # whether something hidden may cause the context and something else
    )


def fci(
    search: LevelSearch, plan: Plan, caution: Caution, n_jobs: int, advance: Advance
) -> FoundGraphs:
    """One PAG per context. Ctrl-C ends the search with what is decided."""
    skeleton = Skeleton(search, plan, n_jobs, advance)
    try:
        for size in range(plan.variables):
            if not skeleton.separate(level_tasks(plan, skeleton.graphs, size)):
                break
        if (
            caution.possible_dsep is not None
        ):  # the edges that are left once more, with all sets that FCI would ask
            judged = judge_triples(
                search, plan, skeleton.sepsets, skeleton.sepsets.edges(skeleton.graphs)
            )
            both = zip(skeleton.graphs, (each.colliders for each in judged), strict=True)
            candidates = np.stack([possible_d_sep(graph, colliders) for graph, colliders in both])
            for size in range(1, min(caution.possible_dsep, plan.variables) + 1):
                if not skeleton.separate(
                    level_tasks(plan, skeleton.graphs, size, candidates=candidates)
                ):
                    break
        skeleton.prefer_large_p()
        oriented = _orient(skeleton, caution)
        endpoints, origins = with_indicators_of_pags(oriented, plan.contexts)
        return FoundGraphs(endpoints, skeleton.sepsets, True, origins, oriented.doubts)
    except KeyboardInterrupt:
        skeleton.sepsets.remove_separated(skeleton.graphs)
        return FoundGraphs(endpoints_of_arcs(skeleton.graphs), skeleton.sepsets, complete=False)


@dataclass(eq=False)
class Skeleton:
    """The skeletons of all contexts while edges are removed; `level` is the place of the level that
    removed an edge.
    """

    search: LevelSearch
    plan: Plan
    n_jobs: int
    advance: Advance
    levels: list[list[LevelTask]] = field(
        default_factory=list
    )  # searched so far, with the neighbours of their time

    def __post_init__(self) -> None:
        self.graphs = self.plan.complete_graphs()
        self.sepsets = SepsetRecords.empty(self.plan.variables, len(self.plan.cells))
        self.level = np.full(self.sepsets.facts.shape[:2], -1, dtype=np.int16)

    def separate(self, work: list[LevelTask]) -> bool:
        """Search a level and remove what it separates; whether there was anything to search."""
        if not work:
            return False
        before = self.sepsets.separated()
        run_level(self.search, self.sepsets, work, self.n_jobs, self.advance)
        share_cuts(self.plan, self.sepsets)
        self.plan.repeat_cuts(self.sepsets, before)
        self.level[self.sepsets.separated() & ~before] = len(self.levels)
        self.levels.append(work)
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
        for number, work in enumerate(self.levels):
            for level_task in work:
                share, (first, second, active) = level_task.group.share, level_task.pairs
                places = slots(first, second, self.plan.variables)
                here = (wanted & (self.level == number))[share.begin : share.end, places]
                bits = active & (here << np.arange(len(here))[:, None]).sum(
                    axis=0
                )  # the graphs where they are wanted
                pairs = Pairs(*(column[bits != 0] for column in (first, second, bits)))
                if pairs.first.size:
                    self._take(
                        replace(
                            level_task, pairs=pairs, group=replace(level_task.group, plan=patient)
                        )
                    )

    def _take(self, level_task: LevelTask) -> None:
        """Search some pairs once more, and replace their sets."""
        decisions, tests = self.search.of(level_task.group.contexts).search(level_task)
        self.sepsets.tests += tests
        pairs = level_task.pairs
        share = level_task.group.share
        places = slots(pairs.first, pairs.second, self.plan.variables)
        for k, bit in zip(*np.nonzero(decisions.numbers[:, :, P] > self.plan.alpha), strict=True):
            for g in np.flatnonzero(share.leader == share.begin + bit):
                for column in (LABEL, MASK, REASON, ROWS, SIZE):
                    self.sepsets.facts[g, places[k], column] = decisions.facts[k, bit, column]
                self.sepsets.numbers[g, places[k]] = decisions.numbers[k, bit]
                self.sepsets.given[g, places[k]] = -1
                self.sepsets.given[g, places[k], : decisions.given.shape[2]] = decisions.given[
                    k, bit
                ]


def share_cuts(plan: Plan, sepsets: SepsetRecords) -> None:
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
            where = graphs[p[graphs].argmax(axis=0)]
            better = largest > best[graphs]
            best[graphs] = np.where(better, largest, best[graphs])
            taken_from[graphs] = np.where(better, where, taken_from[graphs])
    g, places = np.nonzero((best >= 0.0) & ~separated)
    for array in (sepsets.numbers, sepsets.facts, sepsets.given):
        array[g, places] = array[taken_from[g, places], places]


def possible_d_sep(adjacency: Bools, colliders: Collection[Triple]) -> Bools:
    """True where v might be in a set that separates x from something: shape (N, N), from row x to
    column v.

    v is reached from x by a path on which every inner variable is a collider, or has neighbours on
    the path that are adjacent to each other (Spirtes, Glymour and Scheines, 2000).
    """
    found = np.zeros_like(adjacency)
    neighbours = [np.flatnonzero(row).tolist() for row in adjacency]
    for x in range(len(adjacency)):
        seen = {(x, v) for v in neighbours[x]}
        frontier = list(seen)
        while frontier:
            before, here = frontier.pop()
            found[x, here] = True
            for after in neighbours[here]:
                triple = (min(before, after), here, max(before, after))
                goes_on = after not in (before, x) and (
                    adjacency[before, after] or triple in colliders
                )
                if goes_on and (here, after) not in seen:
                    seen.add((here, after))
                    frontier.append((here, after))
    return found


def _orient(skeleton: Skeleton, caution: Caution) -> GraphFamily:
    """Colliders, then the rules for PAGs; with `plan.across` also what the graphs say about each
    other.
    """
    plan = skeleton.plan
    sepsets = skeleton.sepsets
    edges = sepsets.edges(skeleton.graphs)
    triples = judge_triples(skeleton.search, plan, sepsets, edges)
    inquiry = SepsetAnswers(skeleton)
    trusted = always_physical if plan.across is None else physical_by(plan, plan.across, sepsets)

    def shown(x: int, y: int, present: int, absent: int) -> bool:
        inside = inquiry.p(present, x, y, SeparatingSet((), plan.triggers))
        return not np.isnan(inside) and trusted(
            x, y, present, absent
        )  # what stays untested is not known to be there

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
    """What rules for PAGs may ask of a finished skeleton."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self._verdicts: dict[tuple[int, Triple], bool | None] = {}

    def is_collider(self, graph: int, x: int, w: int, y: int) -> bool | None:
        """Whether the sets that separate x and y leave w out; None without a verdict."""
        triple = (min(x, y), w, max(x, y))
        of = self.skeleton
        if (graph, triple) not in self._verdicts:
            asked = OpenTriples(
                *(np.array([number]) for number in (graph, triple[0], triple[2], w))
            )
            judged = judge_triples(
                of.search, of.plan, of.sepsets, of.sepsets.edges(of.graphs), asked
            )[graph]
            self._verdicts[graph, triple] = (
                None if triple in judged.ambiguous else triple in judged.colliders
            )
        return self._verdicts[graph, triple]

    def separating_set(self, graph: int, x: int, y: int) -> SeparatingSet | None:
        """The set that separated x and y; None if there is none."""
        found = self.skeleton.sepsets.separating_set(graph, x, y)
        return (
            None
            if found is None
            else SeparatingSet(found[0], self.skeleton.plan.masks[found[1]].triggers)
        )

    def separates(self, graph: int, x: int, y: int, found: SeparatingSet) -> bool:
        """Whether a set separates x and y in a graph."""
        return self.p(graph, x, y, found) > self.skeleton.plan.alpha

    def p(self, graph: int, x: int, y: int, among: SeparatingSet) -> float:
        """The p-value of x and y in a graph given a set; NaN where they cannot be compared."""
        plan = self.skeleton.plan
        m, mask = next(
            (m, mask) for m, mask in enumerate(plan.masks) if {*mask.triggers} == {*among.fixed}
        )
        query = CIQuery(min(x, y), max(x, y), (*among.given, *mask.kept), int(plan.views[graph, m]))
        self.skeleton.sepsets.tests[int(query.view > 0)] += 1
        return float(self.skeleton.search.ask([query])[0])
