"""Algorithm 1 of the paper, for all contexts at once; its siblings differ in the plan alone.

Masked tests go beyond it, where a large union cycle may hide a missing edge. Algorithm 1 looks
inside a context only with the context among the neighbours. On a union cycle of three or more nodes
that is not enough: X -[0]-> A -> Y -[1]-> B -> X with children A, B of the context leaves X - Y in
both graphs (docs/cycles.md). So after convergence some of the edges that are left are asked again,
with all sets, inside the context. Such a test never removes a true edge; the scopes differ in how
many edges they ask about.

For progress bars and forecasts, `queries_ahead` says about how many queries a search has before it,
if no more edges were removed. The numbers follow from the degrees of the graphs. They are too large
where edges will still be removed, and come nearer with every level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from causalcontext.graphs.endpoints import Endpoints, adjacent, directed, endpoints_of_arcs
from causalcontext.graphs.paths import ancestors, blocks
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.levels.neighbours import Edges, graphs_of
from causalcontext.progress import COLLIDERS, Advance, OutOfTime
from causalcontext.search.colliders import MOST_SETS, judge_triples
from causalcontext.search.family import Doubt, Evidence, GraphFamily, Origin
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
from causalcontext.views import masked

NO_GRAPHS = np.empty((0, 0, 0), dtype=bool)


@dataclass(frozen=True, eq=False)
class FoundGraphs:
    """The ends of every graph, shape (graphs, N, N), the sepset records, and where the ends come
    from.

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

    The loop over contexts of line 3 runs inside every step: a test on all rows answers for all
    contexts that ask it, and links at the context, which all graphs share, are tested once. Ctrl-C
    ends the search with what is decided; a time limit ends the tests, and what is left is oriented
    by the separating sets that are known.
    """
    graphs = plan.complete_graphs()  # 4: start fully connected
    sepsets = SepsetRecords.empty(plan.variables, len(plan.cells), NO_PAIRS)
    size, edges = 0, None
    try:
        sepsets = first_sepsets(search, plan, graphs)  # those that live past the empty set
        for size in range(plan.variables):  # 5: sets of 0, 1, 2, ... variables
            work = level_tasks(
                plan, graphs, size, edges=sepsets.edges(graphs)
            )  # 6, 7: edges, sets of neighbours
            if not work:
                break
            if expect is not None:
                expect(size, graphs)
            run_level(search, sepsets, work, n_jobs, advance)  # 8: test, on the rows of plan.rule
            sepsets.remove_separated(graphs)  # 9, 10: all at the end of a level, as PC-stable does
        size = COLLIDERS
        if expect is not None:
            expect(size, graphs)
        edges = sepsets.edges(graphs)  # of a wide table, the ends take as much memory again
        graphs = NO_GRAPHS
        oriented = orient_skeletons(search, plan, sepsets, edges)  # 15: orient as PC does
        if plan.masked_scope != "adaptive":
            graphs = adjacent(oriented.endpoints)
            if separate_inside(
                search, plan, sepsets, graphs, oriented.endpoints, n_jobs, advance
            ):  # beyond the paper
                edges = sepsets.edges(graphs)
                oriented = orient_skeletons(search, plan, sepsets, edges)
        return FoundGraphs(oriented.endpoints, sepsets, True, oriented.origins, oriented.doubts)
    except OutOfTime:
        return _out_of_time(
            plan, sepsets, graphs if edges is None else graphs_of(edges, plan.variables), size
        )
    except KeyboardInterrupt:
        graphs = graphs if edges is None else graphs_of(edges, plan.variables)
        sepsets.remove_separated(graphs)
        return FoundGraphs(endpoints_of_arcs(graphs), sepsets, complete=False)


MOST_LATE = 200_000
PER_SHIELDED = 0.02
"""Triples of all graphs that are still judged when the time is over, which takes a second; what one
whose ends are adjacent, and which is left out then, counts for."""


def triples_of(graphs: Bools) -> tuple[int, int]:
    """The number of triples x - w - y of all graphs whose ends are not adjacent, and of those whose
    ends are.
    """
    apart = together = 0.0
    for graph in graphs:
        links = graph.astype(np.float32)
        between = links @ links
        np.fill_diagonal(between, 0.0)
        together += float(between[graph].sum(dtype=np.float64))
        apart += float(between[~graph].sum(dtype=np.float64))
    return round(apart / 2), round(together / 2)


def _out_of_time(plan: Plan, sepsets: SepsetRecords, graphs: Bools, size: int) -> FoundGraphs:
    """What is known when the time is over, oriented without another test, unless that would take
    long, too.
    """
    left = level_tasks(plan, graphs, size) if size >= 0 else []
    sepsets.remove_separated(graphs)
    pairs = {
        (int(x), int(y))
        for work in left
        for x, y in zip(work.pairs.first, work.pairs.second, strict=True)
    }
    sepsets.cut_short([pair for pair in pairs if graphs[:, pair[0], pair[1]].any()], size)
    apart, shielded = triples_of(graphs)
    if apart + PER_SHIELDED * shielded > MOST_LATE:
        return FoundGraphs(endpoints_of_arcs(graphs), sepsets, complete=False)
    plan = replace(plan, collider_rule="first")
    edges = sepsets.edges(graphs)
    oriented = orient_skeletons(None, plan, sepsets, edges)
    cut = (
        f"before {len(pairs)} pairs were tested given all sets of {size} or more variables: some of"
        " their edges may be wrong"
    )
    if size == COLLIDERS:
        cut = "before all sets had voted on colliders: those at context variables stay open"
    return FoundGraphs(oriented.endpoints, sepsets, True, oriented.origins, oriented.doubts, cut)


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
    """Whether a missing edge is a change of mechanism, given what separated the pair."""

    def answer(x: int, y: int, present: int, absent: int) -> bool:
        chosen, mask = sepsets.separating_set(absent, x, y) or ((), 0)
        return trusted(
            x, y, (*chosen, *plan.masks[mask].named), plan.cells[present], plan.cells[absent]
        )

    return answer


SCOPES = ("adaptive", "cycle", "always")
"""Of masked tests: none, edges of possible cycles, all edges between system variables."""
FEWEST_CHILDREN = 2
"""Every union cycle holds at least two children of the context: two of its edges vary, with
different heads.
"""


def separate_inside(
    search: LevelSearch,
    plan: Plan,
    sepsets: SepsetRecords,
    graphs: Bools,
    endpoints: Endpoints,
    n_jobs: int,
    advance: Advance,
) -> bool:
    """Remove the edges in scope that some set separates inside a context; whether there were
    any.
    """
    if not plan.searched:
        return False
    asked = graphs.copy()
    contexts = list(plan.contexts.positions)
    asked[:, contexts] = False
    asked[:, :, contexts] = False
    if plan.masked_scope == "cycle":
        asked &= hidden_by_cycles(plan, graphs, endpoints)
    before = int(graphs.sum())
    for size in range(1, plan.variables if asked.any() else 1):
        work = level_tasks(plan, graphs, size, asked)
        if not work:
            break
        run_level(search, sepsets, work, n_jobs, advance)
        sepsets.remove_separated(graphs)
    return int(graphs.sum()) < before


def hidden_by_cycles(plan: Plan, graphs: Bools, endpoints: Endpoints) -> Bools:
    """Pairs that may be adjacent only because of a large union cycle, shape (N, N).

    One end is not adjacent to a context, neither is a known ancestor of it, and the edge lies in a
    biconnected block of the union skeleton without the contexts that holds at least two of their
    neighbours.
    """
    arrows = np.asarray(directed(endpoints).any(axis=0))
    allowed = np.zeros(graphs.shape[1:], dtype=bool)
    for context in plan.searched:
        at_context = np.asarray(graphs[:, context].any(axis=0))
        upstream = ancestors(arrows, context)
        allowed |= ~(at_context[:, None] & at_context) & ~(upstream[:, None] | upstream)
    return np.asarray(allowed & possible_cycles(graphs, plan.searched))


def possible_cycles(graphs: Bools, contexts: tuple[int, ...]) -> Bools:
    """Edges in blocks of the union skeleton without the contexts that hold enough of their
    neighbours; shape (N, N).
    """
    union = np.asarray(graphs.any(axis=0))
    at_context = set(np.flatnonzero(union[list(contexts)].any(axis=0)).tolist())
    union[list(contexts)] = False
    union[:, list(contexts)] = False
    found = np.zeros_like(union)
    if len(at_context) < FEWEST_CHILDREN:
        return found
    for edges in blocks(union):
        if (
            len(edges) > 1
            and len({v for edge in edges for v in edge} & at_context) >= FEWEST_CHILDREN
        ):
            for a, b in edges:
                found[a, b] = found[b, a] = True
    return found


Expect = Callable[[int, Bools], None]
"""Called as `expect(phase, graphs)` when a phase of a search begins: the size of the sets, or
`COLLIDERS`.
"""
MOST_VARIABLES = 200
"""Larger tables are searched by kernels, whose levels take no time to speak of, and counting sets
would.
"""


def queries_ahead(
    plan: Plan, graphs: Bools, phase: int, quick: Sequence[int] = ()
) -> dict[int, float]:
    """Queries with sets of `phase` variables, of more, and for the votes on colliders; `phase` may
    be `COLLIDERS`.

    Pairs with a number of context variables in `quick` are answered by a kernel, and left out.
    """
    contexts_of_pairs = range(min(len(plan.contexts.positions), 2) + 1)
    if plan.variables > MOST_VARIABLES or set(contexts_of_pairs) <= set(quick):
        return {}
    contexts = np.zeros(plan.variables, dtype=np.int64)
    contexts[list(plan.contexts.positions)] = 1
    slow = ~np.isin(contexts[:, None] + contexts, list(quick))
    np.fill_diagonal(slow, False)
    serving = np.asarray(graphs & (contexts == 0) & plan.serving.T, dtype=np.float64)
    triggers = np.asarray(graphs, dtype=np.float64) @ contexts
    inside = triggers[:, :, None] - graphs * contexts
    inside = np.maximum(inside, inside.swapaxes(1, 2))
    found = {} if phase == COLLIDERS else _levels(plan, graphs & slow, serving, inside, phase)
    if plan.collider_rule != "first":
        found[COLLIDERS] = _votes(plan, graphs, slow, serving, inside)
    return {size: count for size, count in found.items() if count}


def _levels(
    plan: Plan, edges: Bools, serving: Floats, inside: Floats, size: int
) -> dict[int, float]:
    """Queries about edges, by the size of the sets among those that serve either end, the other end
    not counted.
    """
    own = (serving.sum(axis=2)[:, :, None] - serving).astype(np.int64)
    common = (serving @ serving.swapaxes(1, 2)).astype(np.int64)
    last = min(int(np.where(edges, own, 0).max(initial=0)) + 1, plan.max_given)
    found = {}
    fewer = _sets(own, common, size - 1)
    for s in range(size, last + 1):
        sets = _sets(own, common, s)
        found[s] = _count(plan, np.where(edges, sets, 0.0), np.where(edges, inside * fewer, 0.0))
        fewer = sets
    return found


def _votes(plan: Plan, graphs: Bools, slow: Bools, serving: Floats, inside: Floats) -> float:
    """Queries about pairs without an edge that have a neighbour in common: all sets of
    neighbours.
    """
    numbers = graphs.astype(np.float64)
    asked = slow & ~graphs & (numbers @ numbers > 0.0)
    sets = 2.0 ** np.minimum(serving.sum(axis=2), 60.0)
    common = 2.0 ** np.minimum(serving @ serving.swapaxes(1, 2), 60.0)
    sets = np.minimum(sets[:, :, None] + sets[:, None, :] - common, MOST_SETS)
    return _count(plan, np.where(asked, sets, 0.0), np.where(asked, inside * sets, 0.0))


def _sets(own: Ints, common: Ints, size: int) -> Floats:
    """Sets of a size among those that serve one end or the other, by numbers, shape (graphs, N,
    N).
    """
    if size < 0:
        return np.zeros(common.shape)
    sets_of = scipy.special.comb(np.arange(common.shape[1] + 1), size)
    found = sets_of[own]
    return np.asarray(np.maximum(found + found.swapaxes(1, 2) - sets_of[common], 0.0))


def _count(plan: Plan, everywhere: Floats, inside: Floats) -> float:
    """Every pair once; questions on all rows are asked once for all graphs, those inside a context
    for each.
    """
    together = everywhere.sum(axis=0) if plan.rule is masked else everywhere.max(axis=0)
    within = 0.0 if plan.rule is masked else inside.sum()
    return float(np.triu(together, 1).sum() + within / 2.0)
