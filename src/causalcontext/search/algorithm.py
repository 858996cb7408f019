"""Algorithm 1 of the paper, for all contexts at once; its siblings differ in the plan alone.

The functions in the order in which a search meets them: `first_sepsets`, `level_tasks` and
`run_level` (search/plan.py) for the skeleton, `orient_skeletons` for the ends, and
`separate_inside` (search/masked_tests.py) for the tests that go beyond the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, adjacent, endpoints_of_arcs
from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.neighbours import Edges, graphs_of
from causalcontext.progress import COLLIDERS, Advance, OutOfTime
from causalcontext.search.colliders import judge_triples
from causalcontext.search.family import Doubt, Evidence, GraphFamily, Origin
from causalcontext.search.masked_tests import separate_inside
from causalcontext.search.plan import (
    LevelSearch,
    Physical,
    Plan,
    Trusted,
    first_sepsets,
    level_tasks,
    run_level,
)
from causalcontext.search.rules import orient_edges
from causalcontext.search.sepsets import NO_PAIRS, SepsetRecords
from causalcontext.search.settings import MOST_TRIPLES_LATE, SHIELDED_TRIPLE_WORK

NO_GRAPHS = np.empty((0, 0, 0), dtype=bool)

Expect = Callable[[int, Bools], None]
"""Called as `expect(phase, graphs)` when a phase of a search begins: the size of the sets, or
`COLLIDERS`.
"""


@dataclass(frozen=True, eq=False)
class FoundGraphs:
    """The outcome of a search: the ends of every graph, the sepset records, and the origins of
    ends.

    `endpoints` has shape (graphs, N, N). `complete` is False where the search was interrupted, and
    its edges are those that were left then. `cut` names the tests that a time limit left out, in
    words.
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

    The loop over contexts of line 3 runs inside every step: a test on all rows answers for all
    contexts that ask it, and links at the context, which all graphs share, are tested once. Ctrl-C
    ends the search with what is decided; a time limit ends the tests, and what is left is oriented
    by the separating sets that are known.
    """
    graphs = plan.complete_graphs()  # 4: start fully connected
    sepsets = SepsetRecords.empty(plan.variables, len(plan.cells), NO_PAIRS)
    phase = 0  # the size of the sets, or `COLLIDERS`
    edges = None
    try:
        sepsets = first_sepsets(search, plan, graphs)  # those that live past the empty set
        for phase in range(plan.variables):  # 5: sets of 0, 1, 2, ... variables
            # 6, 7: edges, and the sets of their neighbours
            tasks = level_tasks(plan, graphs, phase, edges=sepsets.edges(graphs))
            if not tasks:
                break
            if expect is not None:
                expect(phase, graphs)
            run_level(search, sepsets, tasks, n_jobs, advance)  # 8: test, on the rows of plan.rule
            sepsets.remove_separated(graphs)  # 9, 10: all at the end of a level, as PC-stable does
        phase = COLLIDERS
        if expect is not None:
            expect(phase, graphs)
        edges = sepsets.edges(graphs)  # of a wide table, the ends take as much memory again
        graphs = NO_GRAPHS
        oriented = orient_skeletons(search, plan, sepsets, edges)  # 15: orient as PC does
        if plan.masked_scope != "adaptive":
            graphs = adjacent(oriented.endpoints)
            # beyond the paper
            if separate_inside(search, plan, sepsets, graphs, oriented.endpoints, n_jobs, advance):
                edges = sepsets.edges(graphs)
                oriented = orient_skeletons(search, plan, sepsets, edges)
        return FoundGraphs(oriented.endpoints, sepsets, True, oriented.origins, oriented.doubts)
    except OutOfTime:
        graphs = graphs if edges is None else graphs_of(edges, plan.variables)
        return _out_of_time(plan, sepsets, graphs, phase)
    except KeyboardInterrupt:
        graphs = graphs if edges is None else graphs_of(edges, plan.variables)
        sepsets.remove_separated(graphs)
        return FoundGraphs(endpoints_of_arcs(graphs), sepsets, complete=False)


def triples_of(graphs: Bools) -> tuple[int, int]:
    """The number of triples x - w - y of all graphs whose ends are not adjacent, and of those whose
    ends are.

    With A the adjacency of a graph, (A A)_xy counts the paths over one variable, each pair twice.
    """
    apart = together = 0.0
    for graph in graphs:
        links = graph.astype(np.float32)
        between = links @ links
        np.fill_diagonal(between, 0.0)
        together += float(between[graph].sum(dtype=np.float64))
        apart += float(between[~graph].sum(dtype=np.float64))
    return round(apart / 2), round(together / 2)


def _out_of_time(plan: Plan, sepsets: SepsetRecords, graphs: Bools, phase: int) -> FoundGraphs:
    """The graphs when the time is over, oriented without another test.

    They are not oriented at all if that would take long, too (`MOST_TRIPLES_LATE`). Colliders
    follow from the first separating set of every pair, since no vote can be held; `cut` says how
    many pairs were left.
    """
    unfinished_pairs = _pairs_of_level(plan, graphs, phase)
    sepsets.remove_separated(graphs)
    adjacent_pairs = [(x, y) for x, y in unfinished_pairs if graphs[:, x, y].any()]
    sepsets.cut_short(adjacent_pairs, phase)
    apart, shielded = triples_of(graphs)
    if apart + SHIELDED_TRIPLE_WORK * shielded > MOST_TRIPLES_LATE:
        return FoundGraphs(endpoints_of_arcs(graphs), sepsets, complete=False)
    plan = replace(plan, collider_rule="first")
    edges = sepsets.edges(graphs)
    oriented = orient_skeletons(None, plan, sepsets, edges)
    left_out = (
        f"before {len(unfinished_pairs)} pairs were tested given all sets of {phase} or more"
        " variables: some of their edges may be wrong"
    )
    if phase == COLLIDERS:
        left_out = "before all sets had voted on colliders: those at context variables stay open"
    return FoundGraphs(
        oriented.endpoints, sepsets, True, oriented.origins, oriented.doubts, left_out
    )


def _pairs_of_level(plan: Plan, graphs: Bools, size: int) -> set[tuple[int, int]]:
    """The pairs that a level with sets of `size` variables would still test; none while colliders
    are judged.
    """
    if size == COLLIDERS:
        return set()
    return {
        (int(x), int(y))
        for task in level_tasks(plan, graphs, size)
        for x, y in zip(task.pairs.first, task.pairs.second, strict=True)
    }


def orient_skeletons(
    search: LevelSearch | None, plan: Plan, sepsets: SepsetRecords, edges: Edges
) -> GraphFamily:
    """Colliders, then Meek's rules in every graph; with `plan.across` also what the graphs say
    about each other.
    """
    triples = judge_triples(search, plan, sepsets, edges)
    evidence = Evidence(triples, plan.links, untested=sepsets.untested(edges, plan))
    if plan.across is not None and plan.searched:
        physical = physical_by(plan, plan.across, sepsets)
        evidence = evidence._replace(contexts=plan.graphs, physical=physical, sources=plan.sources)
    return orient_edges(edges, plan.variables, evidence)


def physical_by(plan: Plan, trusted: Trusted, sepsets: SepsetRecords) -> Physical:
    """A function that says whether a missing edge is a change of mechanism.

    The answer is that of `trusted`, given the set that separated the pair in the graph without the
    edge, its context variables included.
    """

    def answer(x: int, y: int, present: int, absent: int) -> bool:
        chosen, mask = sepsets.separating_set(absent, x, y) or ((), 0)
        conditions = (*chosen, *plan.masks[mask].named)
        return trusted(x, y, conditions, plan.cells[present], plan.cells[absent])

    return answer
