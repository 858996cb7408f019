"""Masked tests beyond Algorithm 1: where a large union cycle may hide a missing edge.

Algorithm 1 looks inside a context only with the context among the neighbours. On a union cycle of three or more nodes
that is not enough: X -[0]-> A -> Y -[1]-> B -> X with children A, B of the context leaves X - Y in both graphs
(docs/cycles.md). So after convergence some of the edges that are left are asked again, with all sets, inside the
context. Such a test never removes a true edge; the scopes differ in how many edges they ask about.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, directed
from causalcontext.graphs.paths import ancestors, blocks
from causalcontext.kernels.arrays import Bools
from causalcontext.progress import Advance
from causalcontext.search.levels import LevelSearch, level_tasks, run_level
from causalcontext.search.plan import Plan
from causalcontext.search.sepsets import SepsetRecords

FEWEST_CHILDREN = 2
"""Every union cycle holds at least two children of the context: two of its edges vary, with different heads."""


def separate_inside(search: LevelSearch, plan: Plan, sepsets: SepsetRecords, graphs: Bools, endpoints: Endpoints,
                    n_jobs: int, advance: Advance) -> bool:  # fmt: skip
    """Remove the edges in scope that some set separates inside a context; whether there were any."""
    asked = SCOPES[plan.masked_scope](plan, graphs, endpoints) if plan.searched else no_edges(plan, graphs, endpoints)
    before = int(graphs.sum())
    for size in range(1, plan.variables if asked.any() else 1):
        work = level_tasks(plan, graphs, size, asked)
        if not work:
            break
        run_level(search, sepsets, work, n_jobs, advance)
        sepsets.remove_separated(graphs)
    return int(graphs.sum()) < before


def no_edges(plan: Plan, graphs: Bools, endpoints: Endpoints) -> Bools:
    """Scope "adaptive": the paper's algorithm, nothing more."""
    return np.broadcast_to(np.False_, graphs.shape)


def system_edges(plan: Plan, graphs: Bools, endpoints: Endpoints) -> Bools:
    """Scope "always": every edge between system variables; complete whatever the cycles."""
    edges, contexts = graphs.copy(), list(plan.contexts.positions)
    edges[:, contexts], edges[:, :, contexts] = False, False
    return edges


def edges_of_possible_cycles(plan: Plan, graphs: Bools, endpoints: Endpoints) -> Bools:
    """Scope "cycle": edges that may be there only because of a large union cycle.

    One end is not adjacent to a context, neither is a known ancestor of it, and the edge lies in a biconnected block of
    the union skeleton without the contexts that holds at least two of their neighbours.
    """
    edges = system_edges(plan, graphs, endpoints) & possible_cycles(graphs, plan.searched)
    arrows, allowed = np.asarray(directed(endpoints).any(axis=0)), np.zeros(edges.shape[1:], dtype=bool)
    for context in plan.searched:
        at_context, upstream = np.asarray(graphs[:, context].any(axis=0)), ancestors(arrows, context)
        allowed |= ~(at_context[:, None] & at_context) & ~(upstream[:, None] | upstream)
    return np.asarray(edges & allowed)


def possible_cycles(graphs: Bools, contexts: tuple[int, ...]) -> Bools:
    """Edges in blocks of the union skeleton without the contexts that hold enough of their neighbours; shape (N, N)."""
    union = np.asarray(graphs.any(axis=0))
    at_context = set(np.flatnonzero(union[list(contexts)].any(axis=0)).tolist())
    union[list(contexts)], union[:, list(contexts)] = False, False
    found = np.zeros_like(union)
    if len(at_context) < FEWEST_CHILDREN:
        return found
    for edges in blocks(union):
        if len(edges) > 1 and len({v for edge in edges for v in edge} & at_context) >= FEWEST_CHILDREN:
            for a, b in edges:
                found[a, b] = found[b, a] = True
    return found


SCOPES: dict[str, Callable[[Plan, Bools, Endpoints], Bools]] = {
    "adaptive": no_edges,
    "cycle": edges_of_possible_cycles,
    "always": system_edges,
}
