"""Algorithm 1 of the paper, for all contexts at once; its siblings differ in the plan alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.graph import Mark
from causalcontext.search.colliders import judge_triples
from causalcontext.search.ledger import Ledger
from causalcontext.search.levels import Advance, LevelSearch, run_level, sweeps
from causalcontext.search.orient import orient
from causalcontext.search.plan import Bools, Plan


@dataclass(frozen=True, eq=False)
class Found:
    """The marks of every graph, shape (graphs, N, N), and the ledger of deciding tests."""

    marks: NDArray[np.int8]
    ledger: Ledger
    complete: bool


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
            remove_separated(graphs, ledger)  # 9, 10: all at the end of a level, as PC-stable does
        triples = judge_triples(search, plan, ledger, graphs, collider_rule)  # 15: orient as PC does
        marks = [orient(graph, plan.links, judged) for graph, judged in zip(graphs, triples, strict=True)]
        return Found(np.stack(marks), ledger, complete=True)
    except KeyboardInterrupt:
        remove_separated(graphs, ledger)
        return Found(unoriented(graphs), ledger, complete=False)


def remove_separated(graphs: Bools, ledger: Ledger) -> None:
    """Take the edges out of which the ledger holds a separating set."""
    g, pair = np.nonzero(ledger.separated())
    graphs[g, ledger.first[pair], ledger.second[pair]] = False
    graphs[g, ledger.second[pair], ledger.first[pair]] = False


def unoriented(graphs: Bools) -> NDArray[np.int8]:
    """The marks of graphs in which nothing is directed."""
    return np.where(graphs, Mark.UNDIRECTED, Mark.ABSENT).astype(np.int8)
