"""Algorithm 1 of the paper, for all contexts at once; its siblings differ in the plan alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, adjacent, endpoints_of_arcs
from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.neighbours import Edges, graphs_of
from causalcontext.progress import COLLIDERS, Advance, OutOfTime
from causalcontext.search.colliders import judge_triples
from causalcontext.search.cycles import separate_inside
from causalcontext.search.family import Doubt, Evidence, GraphFamily, Origin
from causalcontext.search.forecast import Expect
from causalcontext.search.levels import LevelSearch, first_sepsets, level_tasks, run_level
from causalcontext.search.plan import Physical, Plan, Trusted
from causalcontext.search.rules import orient_edges
from causalcontext.search.sepsets import NO_PAIRS, SepsetRecords

NO_GRAPHS = np.empty((0, 0, 0), dtype=bool)


@dataclass(frozen=True, eq=False)
class FoundGraphs:
    """The ends of every graph, shape (graphs, N, N), the sepset records, and where the ends come from.

    `cut` says in words what a time limit left out.
    """

    endpoints: Endpoints
    sepsets: SepsetRecords
    complete: bool
    origins: dict[tuple[int, int, int], Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    cut: str = ""


def algorithm_1(
    search: LevelSearch, plan: Plan, n_jobs: int, advance: Advance, expect: Expect | None = None
) -> FoundGraphs:
    """Skeleton and orientation of one graph per context (Algorithm 1; the numbers are its lines).

    The loop over contexts of line 3 runs inside every step: a test on all rows answers for all contexts that ask it,
    and links at the context, which all graphs share, are tested once. Ctrl-C ends the search with what is decided; a
    time limit ends the tests, and what is left is oriented by the separating sets that are known.
    """
    graphs = plan.complete_graphs()  # 4: start fully connected
    sepsets = SepsetRecords.of_pairs(plan.variables, len(plan.cells), NO_PAIRS)
    size, edges = 0, None
    try:
        sepsets = first_sepsets(search, plan, graphs)  # those that live past the empty set
        for size in range(plan.variables):  # 5: sets of 0, 1, 2, ... variables
            work = level_tasks(plan, graphs, size, edges=sepsets.edges(graphs))  # 6, 7: edges, sets of neighbours
            if not work:
                break
            if expect is not None:
                expect(size, graphs)
            run_level(search, sepsets, work, n_jobs, advance)  # 8: test, on the rows of plan.rule
            sepsets.remove_separated(graphs)  # 9, 10: all at the end of a level, as PC-stable does
        size = COLLIDERS
        if expect is not None:
            expect(size, graphs)
        edges, graphs = sepsets.edges(graphs), NO_GRAPHS  # of a wide table, the ends take as much memory again
        oriented = orient_skeletons(search, plan, sepsets, edges)  # 15: orient as PC does
        if plan.masked_scope != "adaptive":
            graphs = adjacent(oriented.endpoints)
            if separate_inside(search, plan, sepsets, graphs, oriented.endpoints, n_jobs, advance):  # beyond the paper
                oriented = orient_skeletons(search, plan, sepsets, sepsets.edges(graphs))
        return FoundGraphs(oriented.endpoints, sepsets, True, oriented.origins, oriented.doubts)
    except OutOfTime:
        return _out_of_time(plan, sepsets, graphs if edges is None else graphs_of(edges, plan.variables), size)
    except KeyboardInterrupt:
        graphs = graphs if edges is None else graphs_of(edges, plan.variables)
        sepsets.remove_separated(graphs)
        return FoundGraphs(endpoints_of_arcs(graphs), sepsets, complete=False)


def _out_of_time(plan: Plan, sepsets: SepsetRecords, graphs: Bools, size: int) -> FoundGraphs:
    """What is known when the time is over, oriented without another test."""
    left = level_tasks(plan, graphs, size) if size >= 0 else []
    sepsets.remove_separated(graphs)
    pairs = {(int(x), int(y)) for work in left for x, y in zip(work.pairs.first, work.pairs.second, strict=True)}
    sepsets.cut_short([pair for pair in pairs if graphs[:, pair[0], pair[1]].any()], size)
    oriented = orient_skeletons(None, replace(plan, collider_rule="first"), sepsets, sepsets.edges(graphs))
    cut = (f"before {len(pairs)} pairs were tested given all sets of {size} or more variables: some of their edges may "
           "be wrong")  # fmt: skip
    if size == COLLIDERS:
        cut = "before all sets had voted on colliders: those at context variables stay open"
    return FoundGraphs(oriented.endpoints, sepsets, True, oriented.origins, oriented.doubts, cut)


def orient_skeletons(search: LevelSearch | None, plan: Plan, sepsets: SepsetRecords, edges: Edges) -> GraphFamily:
    """Colliders, then Meek's rules in every graph; with `plan.across` also what the graphs say about each other."""
    evidence = Evidence(judge_triples(search, plan, sepsets, edges), plan.links)
    if plan.across is not None and plan.searched:
        physical = physical_by(plan, plan.across, sepsets)
        evidence = evidence._replace(contexts=plan.graphs, physical=physical, sources=plan.sources)
    return orient_edges(edges, plan.variables, evidence)


def physical_by(plan: Plan, trusted: Trusted, sepsets: SepsetRecords) -> Physical:
    """Whether a missing edge is a change of mechanism, given what separated the pair."""

    def answer(x: int, y: int, present: int, absent: int) -> bool:
        chosen, mask = sepsets.separating_set(absent, x, y) or ((), 0)
        return trusted(x, y, (*chosen, *plan.masks[mask].named), plan.cells[present], plan.cells[absent])

    return answer
