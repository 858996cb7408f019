"""Algorithm 1 of the paper, for all contexts at once; its siblings differ in the plan alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from causalcontext.graphs.ends import Ends, ends_of_arcs
from causalcontext.search.colliders import judge_triples
from causalcontext.search.cycles import separate_inside
from causalcontext.search.family import Doubt, Evidence, Origin
from causalcontext.search.ledger import Ledger
from causalcontext.search.levels import Advance, LevelSearch, run_level, sweeps
from causalcontext.search.orient import Oriented, orient_all
from causalcontext.search.plan import Bools, Plan


@dataclass(frozen=True, eq=False)
class Found:
    """The ends of every graph, shape (graphs, N, N), the ledger of deciding tests, and where the ends come from."""

    ends: Ends
    ledger: Ledger
    complete: bool
    origins: dict[tuple[int, int, int], Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()


def algorithm_1(search: LevelSearch, plan: Plan, collider_rule: str, n_jobs: int, advance: Advance) -> Found:
    """Skeleton and orientation of one graph per context (Algorithm 1; the numbers are its lines).

    The loop over contexts of line 3 runs inside every step: a test on all rows answers for all contexts that ask it,
    and links at the context, which all graphs share, are tested once. Ctrl-C ends the search with what is decided.
    """
    graphs = plan.complete_graphs()  # 4: start fully connected
    ledger = Ledger.empty(plan.variables, len(plan.levels))
    try:
        for size in range(plan.variables):  # 5: sets of 0, 1, 2, ... variables
            work = sweeps(plan, ledger, graphs, size)  # 6, 7: edges, and sets among their neighbours
            if not work:
                break
            run_level(search, plan, ledger, size, work, n_jobs, advance)  # 8: test, on the rows of plan.rule
            ledger.remove_separated(graphs)  # 9, 10: all at the end of a level, as PC-stable does
        oriented = orient_skeletons(search, plan, ledger, graphs, collider_rule)  # 15: orient as PC does
        if separate_inside(search, plan, ledger, graphs, oriented.ends, n_jobs, advance):  # beyond the paper
            oriented = orient_skeletons(search, plan, ledger, graphs, collider_rule)
        return Found(oriented.ends, ledger, True, oriented.origins, oriented.doubts)
    except KeyboardInterrupt:
        ledger.remove_separated(graphs)
        return Found(unoriented(graphs), ledger, complete=False)


def orient_skeletons(search: LevelSearch, plan: Plan, ledger: Ledger, graphs: Bools, collider_rule: str) -> Oriented:
    """Colliders, then Meek's rules in every graph; with `plan.across` also what the graphs say about each other."""
    triples = judge_triples(search, plan, ledger, graphs, collider_rule)
    if plan.across is None or not plan.contexts.positions:
        return orient_all(graphs, Evidence(triples, plan.links))
    return orient_all(graphs, Evidence(triples, plan.links, plan.contexts, plan.across(ledger)))


def unoriented(graphs: Bools) -> Ends:
    """The ends of graphs in which nothing is directed."""
    return ends_of_arcs(graphs)
