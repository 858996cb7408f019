"""The queries that a search has before it, for progress bars and time limits.

The counts follow from the degrees of the graphs, as if no more edges were removed. They are too
large where edges will still be removed, and come nearer with every level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.progress import COLLIDERS
from causalcontext.search.plan import Plan
from causalcontext.search.settings import MOST_VOTING_SETS, WIDEST_FORECAST
from causalcontext.views import masked


def queries_ahead(
    plan: Plan, graphs: Bools, phase: int, quick: Sequence[int] = ()
) -> dict[int, float]:
    """The number of queries by phase: with sets of `phase` variables, of more, and for the votes.

    `phase` may be `COLLIDERS`: then only the votes are left. `graphs` has shape (graphs, N, N).
    Pairs with a number of context variables in `quick` are answered by a kernel, and left out.
    """
    contexts_of_pairs = range(min(len(plan.contexts.positions), 2) + 1)
    if plan.variables > WIDEST_FORECAST or set(contexts_of_pairs) <= set(quick):
        return {}
    contexts = np.zeros(plan.variables, dtype=np.int64)
    contexts[list(plan.contexts.positions)] = 1
    slow = ~np.isin(contexts[:, None] + contexts, list(quick))
    np.fill_diagonal(slow, False)
    serving = np.asarray(graphs & (contexts == 0) & plan.serving.T, dtype=np.float64)
    triggers = np.asarray(graphs, dtype=np.float64) @ contexts
    inside = triggers[:, :, None] - graphs * contexts
    inside = np.maximum(inside, inside.swapaxes(1, 2))
    queries = {} if phase == COLLIDERS else _levels(plan, graphs & slow, serving, inside, phase)
    if plan.collider_rule != "first":
        queries[COLLIDERS] = _votes(plan, graphs, slow, serving, inside)
    return {size: count for size, count in queries.items() if count}


def _levels(
    plan: Plan, edges: Bools, serving: Floats, inside: Floats, size: int
) -> dict[int, float]:
    """Queries about edges, by the size of the sets among those that serve either end, the other end
    not counted.
    """
    serving_one_end = (serving.sum(axis=2)[:, :, None] - serving).astype(np.int64)
    serving_both = (serving @ serving.swapaxes(1, 2)).astype(np.int64)
    last = min(int(np.where(edges, serving_one_end, 0).max(initial=0)) + 1, plan.max_given)
    queries = {}
    fewer = _sets(serving_one_end, serving_both, size - 1)
    for next_size in range(size, last + 1):
        sets = _sets(serving_one_end, serving_both, next_size)
        inside_sets = np.where(edges, inside * fewer, 0.0)
        queries[next_size] = _count(plan, np.where(edges, sets, 0.0), inside_sets)
        fewer = sets
    return queries


def _votes(plan: Plan, graphs: Bools, slow: Bools, serving: Floats, inside: Floats) -> float:
    """Queries about pairs without an edge that have a neighbour in common: all sets of
    neighbours.
    """
    numbers = graphs.astype(np.float64)
    voted_on = slow & ~graphs & (numbers @ numbers > 0.0)
    sets = 2.0 ** np.minimum(serving.sum(axis=2), 60.0)
    sets_of_both = 2.0 ** np.minimum(serving @ serving.swapaxes(1, 2), 60.0)
    sets = np.minimum(sets[:, :, None] + sets[:, None, :] - sets_of_both, MOST_VOTING_SETS)
    return _count(plan, np.where(voted_on, sets, 0.0), np.where(voted_on, inside * sets, 0.0))


def _sets(serving_one_end: Ints, serving_both: Ints, size: int) -> Floats:
    """The number of sets of a size among the variables that serve one end or the other, shape
    (graphs, N, N): C(a, size) + C(b, size) - C(a and b, size).
    """
    if size < 0:
        return np.zeros(serving_both.shape)
    sets_of = scipy.special.comb(np.arange(serving_both.shape[1] + 1), size)
    sets_of_one_end = sets_of[serving_one_end]
    either = sets_of_one_end + sets_of_one_end.swapaxes(1, 2) - sets_of[serving_both]
    return np.asarray(np.maximum(either, 0.0))


def _count(plan: Plan, everywhere: Floats, inside: Floats) -> float:
    """The sum over pairs, each counted once: queries on all rows once for all graphs, those inside
    a context for each graph.
    """
    together = everywhere.sum(axis=0) if plan.rule is masked else everywhere.max(axis=0)
    within = 0.0 if plan.rule is masked else inside.sum()
    return float(np.triu(together, 1).sum() + within / 2.0)
