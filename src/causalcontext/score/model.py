"""A fitted model: parents of every node in every context, and which contexts share one mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.orders.context_parents import choose_context_parents
from causalcontext.kernels.orders.order_state import State
from causalcontext.kernels.orders.partitions import chosen_slots
from causalcontext.score.problem import Layout
from causalcontext.score.setup import Setup

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FittedModel:
    """K contexts, p system variables in the setup's order; the context is number p.

    Attributes
    ----------
    score : float
        The penalised log-likelihood of the table in pooled standard units.
    orders : array of int, shape (K, p + 1)
        Every node comes after its parents; all orders agree up to the context.
    block : array of int, shape (K, p)
        The contexts that share the mechanism of a node in a context, as a bit mask.
    shifted : array of bool, shape (p,)
        Nodes with one regression and an intercept of their own in every context.
    parents : array of bool, shape (K, p, p)
        `parents[r, child, parent]`.
    context_parents : array of bool, shape (p,)
    """

    score: float
    orders: Ints
    block: Ints
    shifted: Bools
    parents: Bools
    context_parents: Bools

    @property
    def context_children(self) -> Bools:
        """Nodes whose mechanism depends on the context, shape (p,)."""
        everything = (1 << len(self.block)) - 1
        return np.asarray(self.shifted | (self.block[0] != everything))

    def links(self) -> Bools:
        """Directed links of every context, shape (K, p + 1, p + 1), row -> column, the context last."""
        k, p = self.block.shape
        links = np.zeros((k, p + 1, p + 1), dtype=bool)
        links[:, :p, :p] = self.parents.transpose(0, 2, 1)
        links[:, :p, p] = self.context_parents
        links[:, p, :p] = self.context_children
        return links


def read_model(setup: Setup, layout: Layout, state: State, score: float) -> FittedModel:
    """The model that a state stands for."""
    k, p = setup.contexts, setup.variables
    everything = (1 << k) - 1
    family, fits = layout.problem.family, state.fits
    block, parents = np.zeros((k, p), dtype=np.int64), np.zeros((k, p, p), dtype=bool)
    shifted = np.zeros(p, dtype=bool)
    for node in range(p):
        after = k == 1 or state.place[0, node] > state.place[0, p]
        for slot in chosen_slots(family, node, fits.score[node], bool(after)):
            number = int(family.block[node, slot])
            shifted[node] = number == len(layout.masks)
            mask = everything if shifted[node] else layout.masks[number]
            taken = fits.parents[node, slot, : fits.taken[node, slot]]
            for r in (r for r in range(k) if mask >> r & 1):
                block[r, node] = mask
                parents[r, node, taken] = True
    parents |= setup.forced
    return FittedModel(score, state.orders.copy(), block, shifted, parents, _context_parents(setup, layout, state))


def _context_parents(setup: Setup, layout: Layout, state: State) -> Bools:
    chosen = np.zeros(setup.variables, dtype=bool)
    if setup.contexts > 1:
        before = state.place[0, : setup.variables] < state.place[0, setup.variables]
        members, count = choose_context_parents(layout.problem.context, before)
        chosen[members[:count]] = True
    return np.asarray(chosen | setup.context_forced)
