"""The exact optimum of small problems: a method of its own, and the judge of the order search.

Exact are the orders. What a node takes from its candidates is the greedy choice, or the best one of any subset of them.
"""

from __future__ import annotations

from math import inf

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.kernels.orders.exact_orders import all_scores, best_path, best_prefixes, best_suffixes
from causalcontext.kernels.orders.fits import fit_pointer
from causalcontext.kernels.orders.slots import MOST_CELLS_EXACT, NodeSlots, chosen_slots
from causalcontext.score.data import members
from causalcontext.score.design import ScoreDesign
from causalcontext.score.merging import lattice, without_reader
from causalcontext.score.model import FittedModel, Part, part_of
from causalcontext.score.workspace import FitWorkspace

LARGEST = 20
"""The most (system variables times contexts): the search keeps 2 to this power states."""
QUICK = 14
"""Up to so many it takes less time than climbs from random starts."""


def check_size(orders: int, variables: int, contexts: int) -> None:
    """Return if the exact search can be run, with so many orders, system variables and context variables."""
    if _size(orders, variables, contexts) > LARGEST:
        raise OptionError(f"search='exact' with {variables} system variables and {orders} contexts is too large, "
                          f"expected at most {LARGEST} variables times contexts and {MOST_CELLS_EXACT} contexts; "
                          "use search='order'")  # fmt: skip


def is_quick(orders: int, variables: int, contexts: int) -> bool:
    """Whether the exact search is the quicker one."""
    return _size(orders, variables, contexts) <= QUICK


def _size(orders: int, variables: int, contexts: int) -> float:
    """The search keeps 2 to this power states; somewhat less than that where many cells share one order."""
    if orders == 1:
        return variables + 2 * contexts
    return orders * variables if orders <= MOST_CELLS_EXACT else inf


class ExactScores:
    """The scores of all nodes with all sets of candidates, in all slots.

    Only one kind of model is left out: union cycles through two or more pooled nodes, which have the same mechanism in
    all contexts but would stand in opposite orders.
    """

    def __init__(self, design: ScoreDesign, curves: bool) -> None:
        self._design, self._slots = design, lattice(design)
        self._orders, self._system = design.data.orders, design.data.responses
        workspace = FitWorkspace(design, curves)
        self._best, self._found, self._pool = all_scores(fit_pointer(), workspace.calls, workspace.note, self._slots,
                                                         design.allowed, workspace.width)  # fmt: skip
        self._pool[0, 0] = 0
        common = {*design.needs[design.needs >= 0].tolist(), *range(self._system, design.data.nodes)}
        self._needed = sum(1 << int(node) for node in common)
        self._masks = [design.key(block)[1] for block in self._slots.block[0].tolist()]
        self._ahead = np.empty(0)
        self._parts: dict[tuple[int, int, int], Part] = {}
        if self._orders > 1:
            self._cells = np.array(self._masks, dtype=np.int64)
            self._ahead = best_suffixes(self._best, self._slots, self._cells, self._orders, self._system)

    def best_model(self) -> FittedModel:
        """The model with the highest score."""
        model = self._model(0, -1, -np.inf, self._slots)
        assert model is not None
        return model

    def without(self, cause: int, effect: int, floor: float) -> FittedModel | None:
        """The best model in which one does not cause the other, in any context; None if it scores at most `floor`."""
        slots = self._slots if self._design.allowed[effect, cause] else without_reader(self._slots, cause, effect)
        return self._model(cause, effect, floor, slots)

    def _model(self, cause: int, effect: int, floor: float, slots: NodeSlots) -> FittedModel | None:
        """The best model without one link."""
        k, p, nodes = self._orders, self._system, self._design.data.nodes
        prefix, last = best_prefixes(self._best, slots, self._needed, k > 1, cause, effect)
        orders: list[list[int]] = [[] for _ in range(k)]
        parts: list[list[Part]] = [[] for _ in range(nodes)]
        score, chosen = float(prefix[-1]), (1 << nodes) - 1
        if k > 1:
            contexts = (1 << nodes) - (1 << p)
            entry = prefix[np.arange(1 << p) | contexts]
            entry[self._needed & ~(np.arange(1 << p) | contexts) != 0] = -np.inf
            score, earlier, step = best_path(self._best, slots, self._cells, k, p, entry, self._ahead, floor, cause,
                                             effect)  # fmt: skip
        if not score > floor:
            return None
        if k > 1:
            state = (1 << (k * p)) - 1
            while earlier[state] >= 0:
                node, slot = divmod(int(step[state]), len(self._masks))
                state, inside = int(earlier[state]), (1 << p) - 1
                for r in members(self._masks[slot], k):
                    inside &= state >> (r * p)
                    orders[r].insert(0, node)
                inside = (inside | contexts) & ~(1 << cause if node == effect else 0)
                parts[node].append(self._part(slot, node, inside))
            chosen = state & ((1 << p) - 1) | contexts
        start: list[int] = []
        while chosen:
            node = int(last[chosen])
            chosen ^= 1 << node
            start.insert(0, node)
            inside = chosen & ~(1 << cause if node == effect else 0)
            usable = np.array([all(need < 0 or chosen >> need & 1 for need in needs) for needs in slots.needs.tolist()],
                              dtype=bool)  # fmt: skip
            for slot in chosen_slots(slots, node, self._best[:, node, inside], usable):
                parts[node].append(self._part(slot, node, inside))
        return FittedModel(float(score), np.array([[*start, *order] for order in orders], dtype=np.int64),
                           tuple(map(tuple, parts)), self._design)  # fmt: skip

    def _part(self, slot: int, node: int, inside: int) -> Part:
        """A regression, made once: most models share most of theirs."""
        key = slot, node, int(self._found[slot, node, inside])
        if key not in self._parts:
            columns = self._pool[key[2]]
            block = int(self._slots.block[node, slot])
            self._parts[key] = part_of(block, self._masks[slot], columns[1 : 1 + columns[0]].copy())
        return self._parts[key]
