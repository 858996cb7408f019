"""The exact optimum of small problems: a method of its own, and the judge of the order search.

Exact are the orders. What a node takes from its candidates is the greedy choice, or the best one of any subset of them.
"""

from __future__ import annotations

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.orders.exact_orders import all_scores, best_path, best_prefixes, best_suffixes
from causalcontext.kernels.orders.fits import fit_pointer
from causalcontext.kernels.orders.partitions import MOST_CONTEXTS_EXACT, NEVER
from causalcontext.score.data import members
from causalcontext.score.design import ScoreDesign
from causalcontext.score.merging import lattice_blocks
from causalcontext.score.model import FittedModel, Part
from causalcontext.score.workspace import FitWorkspace

LARGEST = 20
"""The most (system variables times contexts): the search keeps 2 to this power states."""
QUICK = 14
"""Up to so many it takes less time than climbs from random starts."""


def check_size(contexts: int, variables: int) -> None:
    """Return if the exact search can be run."""
    if contexts * variables > LARGEST or contexts > MOST_CONTEXTS_EXACT:
        raise OptionError(f"search='exact' with {variables} system variables and {contexts} contexts is too large, "
                          f"expected at most {LARGEST} variables times contexts and {MOST_CONTEXTS_EXACT} contexts; "
                          "use search='order'")  # fmt: skip


def is_quick(contexts: int, variables: int) -> bool:
    """Whether the exact search is the quicker one."""
    return contexts * variables <= QUICK and contexts <= MOST_CONTEXTS_EXACT


class ExactScores:
    """The scores of all nodes with all sets of candidates, in all sets of contexts.

    Only one kind of model is left out: union cycles through two or more pooled nodes, which have the same mechanism in
    all contexts but would stand in opposite orders.
    """

    def __init__(self, design: ScoreDesign, curves: bool) -> None:
        self._design, self._blocks = design, lattice_blocks(design)
        k, p, workspace = design.data.contexts, design.data.responses, FitWorkspace(design, curves)
        pooled = self._blocks[design.everything - 1] if k > 1 else -1
        best, found, self._pool = all_scores(fit_pointer(), workspace.calls, workspace.note, np.array(self._blocks),
                                             design.allowed, pooled, workspace.width)  # fmt: skip
        self._pool[0, 0] = 0
        self._best, self._context = best[:-1], best[-1, 0] if p else np.zeros(1)
        self._found, self._context_found = found[:-1], found[-1, 0] if p else np.zeros(1, dtype=np.int64)
        self._ahead = best_suffixes(self._best, k, design.role)

    def best_model(self) -> FittedModel:
        """The model with the highest score."""
        p = self._design.data.responses
        model = self._model(p, p + 1, -np.inf, self._design.role, np.arange(1 << p))
        assert model is not None
        return model

    def without(self, cause: int, effect: int, floor: float) -> FittedModel | None:
        """The best model in which one does not cause the other, in any context; None if it scores at most `floor`."""
        p, role = self._design.data.responses, self._design.role
        sets = np.arange(1 << p)
        if effect == p:
            return self._model(p, p + 1, floor, role, sets & ~(1 << cause))
        if cause == p:
            role = role.copy()
            role[effect] = NEVER
            return self._model(p, p + 1, floor, role, sets)
        return self._model(cause, effect, floor, role, sets)

    def _model(self, cause: int, effect: int, floor: float, role: Ints, before: Ints) -> FittedModel | None:
        """The best model; the context takes its parents from `before[A]` if the nodes A come before it."""
        k, p, everything = self._design.data.contexts, self._design.data.responses, self._design.everything
        prefix, last = best_prefixes(self._best[everything - 1], cause, effect)
        entry = prefix + self._context[before]
        entry[~self._possible()] = -np.inf
        score, earlier, step = best_path(self._best, k, role, entry, self._ahead, floor, cause, effect)
        if not score > floor:
            return None
        state = (1 << (k * p)) - 1
        orders: list[list[int]] = [[] for _ in range(k)]
        parts: list[list[Part]] = [[] for _ in range(p + 1)]
        while earlier[state] >= 0:
            node, block = divmod(int(step[state]), len(self._blocks))
            state = int(earlier[state])
            mask = min(block + 1, everything)
            inside = (1 << p) - 1
            for r in members(mask, k):
                inside &= state >> (r * p)
                orders[r].insert(0, node)
            inside = inside & ~(1 << cause) if node == effect else inside
            parts[node].append(self._part(block, mask, self._found[block, node, inside]))
        chosen = rest = state & ((1 << p) - 1)
        start: list[int] = []
        while rest:
            node = int(last[rest])
            rest ^= 1 << node
            start.insert(0, node)
            inside = rest & ~(1 << cause) if node == effect else rest
            parts[node].append(self._part(everything - 1, everything, self._found[everything - 1, node, inside]))
        if k > 1:
            parts[p].append(self._part(everything - 1, everything, self._context_found[before[chosen]]))
        return FittedModel(float(score), np.array([[*start, p, *order] for order in orders], dtype=np.int64),
                           tuple(map(tuple, parts)), self._design)  # fmt: skip

    def _possible(self) -> Bools:
        """The sets that may stand before the context."""
        p, first = self._design.data.responses, self._design.earlier
        sets, bits = np.arange(1 << p), 1 << np.arange(p)
        if self._design.data.contexts == 1:
            return np.asarray(sets == 0)
        needed, late = int(first[:p, p] @ bits), int(first[p, :p] @ bits)
        return np.asarray((needed & ~sets == 0) & (late & sets == 0))

    def _part(self, place: int, mask: int, row: int) -> Part:
        columns = self._pool[row]
        return Part(self._blocks[place], mask, columns[1 : 1 + columns[0]].copy())
