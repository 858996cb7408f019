"""The exact optimum of small problems: a method of its own, and the judge of the order search.

Exact are the orders. What a node takes from its candidates is the greedy choice, or the best one of any subset of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.orders.exact_orders import all_scores, best_path, best_prefixes, best_suffixes
from causalcontext.kernels.orders.node_data import Memory
from causalcontext.kernels.orders.node_scores import fit_pointer
from causalcontext.kernels.orders.partitions import MOST_CONTEXTS_EXACT, NEVER
from causalcontext.score.design import FitWorkspace, ScoreDesign
from causalcontext.score.model import FittedModel, Part, members
from causalcontext.score.setup import Setup

LARGEST = 20
"""The most (system variables times contexts): the search keeps 2 to this power states."""
QUICK = 14
"""Up to so many it takes less time than climbs from random starts."""


def check_size(setup: Setup) -> None:
    """Return if the exact search can be run."""
    k, p = setup.contexts, setup.variables
    if k * p > LARGEST or k > MOST_CONTEXTS_EXACT:
        raise OptionError(f"search='exact' with {p} system variables and {k} contexts is too large, expected at most "
                          f"{LARGEST} variables times contexts and {MOST_CONTEXTS_EXACT} contexts; "
                          "use search='order'")  # fmt: skip


def is_quick(contexts: int, variables: int) -> bool:
    """Whether the exact search is the quicker one."""
    return contexts * variables <= QUICK and contexts <= MOST_CONTEXTS_EXACT


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of all nodes with all sets of candidates.

    Only one kind of model is left out: union cycles through two or more pooled nodes, which have the same mechanism in
    all contexts but would stand in opposite orders.

    Attributes
    ----------
    layout : Layout
    best, found : arrays, shape (blocks, p, sets)
        The best score inside every set of candidates, and where its columns are in `pool`.
    context, context_found : arrays, shape (sets,)
    pool : array of int, shape (rows, 1 + W)
    ahead : array, shape (states,)
        The best score of what is still to be placed after the context.
    """

    layout: ScoreDesign
    best: Floats
    found: Ints
    context: Floats
    context_found: Ints
    pool: Ints
    ahead: Floats

    def best_model(self) -> FittedModel:
        """The model with the highest score."""
        p = self.layout.setup.variables
        model = self._model(p, p + 1, -np.inf, self.layout.setup.role, np.arange(1 << p))
        assert model is not None
        return model

    def without(self, cause: int, effect: int, floor: float) -> FittedModel | None:
        """The best model in which one does not cause the other, in any context; None if it scores at most `floor`."""
        setup, p = self.layout.setup, self.layout.setup.variables
        sets, role = np.arange(1 << p), setup.role
        if effect == p:
            return self._model(p, p + 1, floor, role, sets & ~(1 << cause))
        if cause == p:
            role = role.copy()
            role[effect] = NEVER
            return self._model(p, p + 1, floor, role, sets)
        return self._model(cause, effect, floor, role, sets)

    def _model(self, cause: int, effect: int, floor: float, role: Ints, before: Ints) -> FittedModel | None:
        """The best model; the context takes its parents from `before[A]` if the nodes A come before it."""
        setup = self.layout.setup
        k, p = setup.contexts, setup.variables
        prefix, last = best_prefixes(self.best[(1 << k) - 2], cause, effect)
        entry = prefix + self.context[before]
        entry[~self._possible()] = -np.inf
        score, earlier, step = best_path(self.best, k, role, entry, self.ahead, floor, cause, effect)
        if not score > floor:
            return None
        state = (1 << (k * p)) - 1
        orders: list[list[int]] = [[] for _ in range(k)]
        parts: list[list[Part]] = [[] for _ in range(p)]
        while earlier[state] >= 0:
            node, block = divmod(int(step[state]), len(self.best))
            state = int(earlier[state])
            mask = min(block + 1, (1 << k) - 1)
            inside = (1 << p) - 1
            for r in members(mask, k):
                inside &= state >> (r * p)
                orders[r].insert(0, node)
            parts[node].append(self._part(block, mask, node, inside & ~(1 << cause) if node == effect else inside))
        chosen = rest = state & ((1 << p) - 1)
        start: list[int] = []
        while rest:
            node = int(last[rest])
            rest ^= 1 << node
            start.insert(0, node)
            inside = rest & ~(1 << cause) if node == effect else rest
            parts[node].append(self._part((1 << k) - 2, (1 << k) - 1, node, inside))
        rows = self.pool[self.context_found[before[chosen]]]
        return FittedModel(float(score), np.array([[*start, p, *order] for order in orders], dtype=np.int64),
                           tuple(tuple(own) for own in parts), rows[1 : 1 + rows[0]].copy(), self.layout)  # fmt: skip

    def _possible(self) -> NDArray[np.bool_]:
        """The sets that may stand before the context."""
        setup, p = self.layout.setup, self.layout.setup.variables
        sets = np.arange(1 << p)
        if setup.contexts == 1:
            return np.asarray(sets == 0)
        needed, late = int(setup.first[:p, p] @ (1 << np.arange(p))), int(setup.first[p, :p] @ (1 << np.arange(p)))
        return np.asarray((needed & ~sets == 0) & (late & sets == 0))

    def _part(self, block: int, mask: int, node: int, inside: int) -> Part:
        rows = self.pool[self.found[block, node, inside]]
        return Part(block, mask, rows[1 : 1 + rows[0]].copy())


def score_everything(layout: ScoreDesign, memory: Memory) -> Scores:
    """The scores of a layout whose blocks are all sets of contexts."""
    setup, top = layout.setup, FitWorkspace(layout, 1, memory)
    k, blocks = setup.contexts, len(layout.tables.block)
    allowed = np.vstack([setup.allowed, setup.context_allowed[None]])
    pooled = (1 << k) - 2 if k > 1 else -1
    best, found, pool = all_scores(fit_pointer(), layout.calls, top.note, blocks, allowed, pooled, layout.width)
    pool[0, 0] = 0
    own, context = best[:blocks], best[blocks, 0] if setup.variables else np.zeros(1)
    where = found[blocks, 0] if setup.variables else np.zeros(1, dtype=np.int64)
    return Scores(layout, own, found[:blocks], context, where, pool, best_suffixes(own, k, setup.role))
