"""About how many queries a search has before it, if no more edges were removed: for progress bars and forecasts.

The numbers follow from the degrees of the graphs. They are too large where edges will still be removed, and come nearer
with every level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.progress import COLLIDERS
from causalcontext.search.colliders import MOST_SETS
from causalcontext.search.plan import Plan
from causalcontext.views import masked

Expect = Callable[[int, Bools], None]
"""Called as `expect(phase, graphs)` when a phase of a search begins: the size of the sets, or `COLLIDERS`."""
MOST_VARIABLES = 200
"""Larger tables are searched by kernels, whose levels take no time to speak of, and counting sets would."""


def queries_ahead(plan: Plan, graphs: Bools, phase: int, quick: Sequence[int] = ()) -> dict[int, float]:
    """Queries with sets of `phase` variables, of more, and for the votes on colliders.

    Parameters
    ----------
    plan : Plan
    graphs : array of bool, shape (graphs, N, N)
    phase : int
        The size of the sets that come next, or `COLLIDERS`.
    quick : sequence of int
        Pairs with so many context variables are answered by a kernel, and left out.
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


def _levels(plan: Plan, edges: Bools, serving: Floats, inside: Floats, size: int) -> dict[int, float]:
    """Queries about edges, by the size of the sets among those that serve either end, the other end not counted."""
    own = serving.sum(axis=2)[:, :, None] - serving
    common = serving @ serving.swapaxes(1, 2)
    last = min(int(np.where(edges, own, 0.0).max(initial=0.0)) + 1, plan.max_given)
    found = {}
    for s in range(size, last + 1):
        without, within = _sets(own, common, s), inside * _sets(own, common, s - 1)
        found[s] = _count(plan, np.where(edges, without, 0.0), np.where(edges, within, 0.0))
    return found


def _votes(plan: Plan, graphs: Bools, slow: Bools, serving: Floats, inside: Floats) -> float:
    """Queries about pairs without an edge that have a neighbour in common: all sets of neighbours."""
    numbers = graphs.astype(np.float64)
    asked = slow & ~graphs & (numbers @ numbers > 0.0)
    sets = 2.0 ** np.minimum(serving.sum(axis=2), 60.0)
    common = 2.0 ** np.minimum(serving @ serving.swapaxes(1, 2), 60.0)
    sets = np.minimum(sets[:, :, None] + sets[:, None, :] - common, MOST_SETS)
    return _count(plan, np.where(asked, sets, 0.0), np.where(asked, inside * sets, 0.0))


def _sets(own: Floats, common: Floats, size: int) -> Floats:
    """Sets of a size among those that serve one end or the other, by numbers, shape (graphs, N, N)."""
    if size < 0:
        return np.zeros_like(common)
    found = np.asarray(scipy.special.comb(own, size))
    return np.asarray(np.maximum(found + found.swapaxes(1, 2) - scipy.special.comb(common, size), 0.0))


def _count(plan: Plan, everywhere: Floats, inside: Floats) -> float:
    """Every pair once; questions on all rows are asked once for all graphs, those inside a context for each."""
    together = everywhere.sum(axis=0) if plan.rule is masked else everywhere.max(axis=0)
    within = 0.0 if plan.rule is masked else inside.sum()
    return float(np.triu(together, 1).sum() + within / 2.0)
