"""Masked tests, which go beyond Algorithm 1, where a large union cycle may hide a missing edge.

Algorithm 1 looks inside a context only with the context among the neighbours. On a union cycle of
three or more nodes that is not enough: X -[0]-> A -> Y -[1]-> B -> X with children A, B of the
context leaves X - Y in both graphs (docs/cycles.md). So after convergence edges that are left are
asked again, with all sets, inside the context. Such a test never removes a true edge; the scopes
differ in how many edges they ask about.
"""

from __future__ import annotations

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, directed
from causalcontext.graphs.paths import ancestors, blocks
from causalcontext.kernels.arrays import Bools
from causalcontext.progress import Advance
from causalcontext.search.plan import LevelSearch, Plan, level_tasks, run_level
from causalcontext.search.sepsets import SepsetRecords
from causalcontext.search.settings import FEWEST_CHILDREN

SCOPES = ("adaptive", "cycle", "always")
"""Edges that masked tests ask about: none, those of possible cycles, all between system variables.
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
    """Remove the edges in scope that some set separates inside a context; true if there were any.

    `graphs`, shape (graphs, N, N), and the records are changed in place.
    """
    if not plan.searched:
        return False
    asked = graphs.copy()
    contexts = list(plan.contexts.positions)
    asked[:, contexts] = False
    asked[:, :, contexts] = False
    if plan.masked_scope == "cycle":
        asked &= hidden_by_cycles(plan, graphs, endpoints)
    edges_before = int(graphs.sum())
    for size in range(1, plan.variables if asked.any() else 1):
        tasks = level_tasks(plan, graphs, size, asked)
        if not tasks:
            break
        run_level(search, sepsets, tasks, n_jobs, advance)
        sepsets.remove_separated(graphs)
    return int(graphs.sum()) < edges_before


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
    in_cycles = np.zeros_like(union)
    if len(at_context) < FEWEST_CHILDREN:
        return in_cycles
    for edges in blocks(union):
        members = {variable for edge in edges for variable in edge}
        if len(edges) > 1 and len(members & at_context) >= FEWEST_CHILDREN:
            for a, b in edges:
                in_cycles[a, b] = in_cycles[b, a] = True
    return in_cycles
