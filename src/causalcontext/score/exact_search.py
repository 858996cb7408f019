"""The exact optimum of small problems: a method of its own, and the judge of the order search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import OptionError
from causalcontext.kernels.orders.context_parents import choose_context_parents, context_score, no_memory
from causalcontext.kernels.orders.exact_orders import best_prefixes, best_subsets, best_suffixes
from causalcontext.kernels.orders.parent_sets import scratch
from causalcontext.kernels.orders.partitions import MOST_CONTEXTS_EXACT
from causalcontext.score.model import FittedModel
from causalcontext.score.options import ScoreOptions
from causalcontext.score.problem import Layout, lattice_layout
from causalcontext.score.setup import Setup

Floats = NDArray[np.float64]

LARGEST = 20
"""The most (system variables times contexts): the search keeps 2 to this power states."""


def search_exactly(setup: Setup, options: ScoreOptions) -> FittedModel:
    """The model with the highest score.

    Only one kind of model is left out: union cycles through two or more pooled nodes, which have the same mechanism in
    all contexts but would stand in opposite orders.
    """
    k, p = setup.contexts, setup.variables
    if k * p > LARGEST or k > MOST_CONTEXTS_EXACT:
        raise OptionError(f"search='exact' with {p} system variables and {k} contexts is too large, expected at most "
                          f"{LARGEST} variables times contexts and {MOST_CONTEXTS_EXACT} contexts; "
                          "use search='order'")  # fmt: skip
    layout = lattice_layout(setup, options)
    best, chosen = best_subsets(layout.problem.blocks, setup.allowed, setup.forced, scratch(p, p + 1))
    prefix, last = best_prefixes(best[(1 << k) - 2])
    suffix, step = best_suffixes(best, k, setup.role)
    beginnings = _totals(setup, layout, prefix, suffix)
    return _backtrack(setup, layout, int(np.argmax(beginnings)), float(beginnings.max()), chosen, last, step)


def _totals(
    setup: Setup, layout: Layout, prefix: NDArray[np.float64], suffix: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The best score with every set of nodes before the context."""
    k, p = setup.contexts, setup.variables
    totals, memory = np.full(len(prefix), -np.inf), no_memory()
    needed, late = int(setup.first[:p, p] @ (1 << np.arange(p))), int(setup.first[p, :p] @ (1 << np.arange(p)))
    for members in range(len(prefix)) if k > 1 else [0]:
        if needed & ~members or late & members:
            continue
        state = sum(members << (r * p) for r in range(k))
        before = np.array([bool(members >> j & 1) for j in range(p)])
        totals[members] = prefix[members] + context_score(layout.problem.context, before, memory) + suffix[state]
    return totals


def _backtrack(setup: Setup, layout: Layout, members: int, score: float, chosen: NDArray[np.int64],
               last: NDArray[np.int64], step: NDArray[np.int64]) -> FittedModel:  # fmt: skip
    """The model that reaches a score."""
    k, p = setup.contexts, setup.variables
    everything = (1 << k) - 1
    block, parents = np.full((k, p), everything), np.zeros((k, p, p), dtype=bool)
    shifted, orders = np.zeros(p, dtype=bool), [[p] for _ in range(k)]
    rest = members
    while rest:
        node = int(last[rest])
        rest ^= 1 << node
        parents[:, node] = _members(chosen[everything - 1, node, rest], p)
        for order in orders:
            order.insert(0, node)
    state = sum(members << (r * p) for r in range(k))
    while step[state] >= 0:
        node, number = divmod(int(step[state]), len(chosen))
        mask = everything if number == everything else number + 1
        shifted[node] = number == everything
        inside = (1 << p) - 1
        here = [r for r in range(k) if mask >> r & 1]
        for r in here:
            inside &= state >> (r * p)
        for r in here:
            block[r, node], parents[r, node] = mask, _members(chosen[number, node, inside], p)
            orders[r].append(node)
            state |= 1 << (r * p + node)
    before = np.array([bool(members >> j & 1) for j in range(p)])
    return FittedModel(score, np.array(orders), block, shifted, parents | setup.forced,
                       _context_parents(setup, layout, before))  # fmt: skip


def _context_parents(setup: Setup, layout: Layout, before: NDArray[np.bool_]) -> NDArray[np.bool_]:
    chosen = np.zeros(setup.variables, dtype=bool)
    if setup.contexts > 1:
        members, count = choose_context_parents(layout.problem.context, before)
        chosen[members[:count]] = True
    return np.asarray(chosen | setup.context_forced)


def _members(mask: np.int64, p: int) -> NDArray[np.bool_]:
    return np.array([bool(int(mask) >> j & 1) for j in range(p)])
