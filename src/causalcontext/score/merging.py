"""Many contexts: which of them share a node's mechanism, found by merging two at a time.

With more than four contexts there are too many sets of them. Every node gets a tree: single contexts at its leaves, and
at each step the merge that raises the score most. The best cut of the tree is found exactly, so a merge that does not
pay is undone. Trees depend on the candidates, so they are grown anew when a climb has ended, and replaced where that is
better. Merges are compared by moments; what is chosen in the end is scored with its noise density.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.node_data import Memory
from causalcontext.kernels.orders.node_scores import fit_pointer
from causalcontext.kernels.orders.partitions import ContextPartitions, best_partition
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.score.design import FitWorkspace, ScoreDesign
from causalcontext.score.design_factory import DesignFactory
from causalcontext.score.model import members

Tree = tuple[tuple[int, int, int], ...]
"""Slots as (contexts as a bit mask, left slot, right slot), single contexts first, all contexts last."""
Task = tuple[int, int]
"""A node, and contexts as a bit mask."""


class Merger:
    """Scores of nodes in blocks, remembered, and the trees that follow from them."""

    def __init__(self, designs: DesignFactory, curves: bool, memory: Memory) -> None:
        self.designs, self.curves = designs, curves
        self._memory = memory
        self._known: dict[tuple[int, int, bytes], float] = {}

    def trees(self, place: Ints | None) -> list[Tree]:
        """The trees of best merges of all nodes; `place` has the place of every node in every context's order."""
        setup = self.designs.setup
        k, p = setup.contexts, setup.variables
        growing = [_Growing(k) for _ in range(p)]
        while any(not tree.done for tree in growing):
            tasks = [(node, mask) for node, tree in enumerate(growing) for mask in tree.wanted()]
            scores = self.scores(tasks, place)
            for (node, mask), score in zip(tasks, scores.tolist(), strict=True):
                growing[node].scores[mask] = score
            for tree in growing:
                tree.merge()
        return [tuple(tree.slots) for tree in growing]

    def scores(self, tasks: Sequence[Task], place: Ints | None) -> Floats:
        """Scores by moments; a node's candidates in a block come before it in all orders of the block."""
        setup = self.designs.setup
        candidates = np.zeros((len(tasks), setup.variables), dtype=bool)
        if place is not None:
            before = _before(place[:, : setup.variables], {mask for _, mask in tasks})
            for row, (node, mask) in enumerate(tasks):
                candidates[row] = before[mask][node] & setup.allowed[node]
        keys = [(node, mask, row.tobytes()) for (node, mask), row in zip(tasks, candidates, strict=True)]
        new = [row for row, key in enumerate(keys) if key not in self._known]
        if new:
            found = self._fit([tasks[row] for row in new], candidates[new])
            self._known.update(zip((keys[row] for row in new), found.tolist(), strict=True))
        return np.array([self._known[key] for key in keys])

    def _fit(self, tasks: Sequence[Task], candidates: Bools) -> Floats:
        masks = sorted({mask for _, mask in tasks})
        layout = self.designs.layout(masks, self.curves, densities=False)
        number = {mask: place for place, mask in enumerate(masks)}
        todo = np.array([[number[mask], node] for node, mask in tasks], dtype=np.int64)
        scores, top = np.zeros(len(tasks)), FitWorkspace(layout, 1, self._memory)
        fit_many(fit_pointer(), layout.calls, top.note, todo, candidates, scores, np.zeros((len(tasks), 0)),
                 np.zeros((len(tasks), 0), dtype=np.int64))  # fmt: skip
        return scores

    def better(self, old: Sequence[Tree], orders: Ints) -> list[Tree]:
        """New trees for some orders, where they score higher than the old ones."""
        place = np.argsort(orders, axis=1)
        new = self.trees(place)
        self.scores([(node, mask) for node, tree in enumerate(old) for mask, _, _ in tree], place)  # all at once
        worth = [[self._best(node, tree, place) for tree in (one, other)]
                 for node, (one, other) in enumerate(zip(old, new, strict=True))]  # fmt: skip
        return [two if after > before + 1e-6 else one
                for one, two, (before, after) in zip(old, new, worth, strict=True)]  # fmt: skip

    def _best(self, node: int, tree: Tree, place: Ints) -> float:
        """The best cut of a tree, the root included."""
        scores = self.scores([(node, mask) for mask, _, _ in tree], place)
        joins = np.array([[[a for _, a, _ in tree]], [[b for _, _, b in tree]]])
        return max(float(scores[-1]), float(best_partition(self.designs.setup.contexts, joins, 0, scores)))

    def layout(self, trees: Sequence[Tree]) -> tuple[ScoreDesign, ContextPartitions]:
        """The layout and the slots of some trees."""
        setup = self.designs.setup
        masks = sorted({mask for tree in trees for mask, _, _ in tree})
        number = {mask: place for place, mask in enumerate(masks)}
        layout = self.designs.layout(masks, self.curves)
        block = np.array([[*(number[mask] for mask, _, _ in tree), layout.shifted] for tree in trees])
        joins = np.array([[[*(slot[side] for slot in tree), 0] for tree in trees] for side in (1, 2)])
        return layout, ContextPartitions(setup.contexts, block, joins, setup.role)


def _before(place: Ints, masks: Iterable[int]) -> dict[int, Bools]:
    """`[node, other]` of some sets of contexts: whether another comes before a node in all of them."""
    each = place[:, None, :] < place[:, :, None]
    return {mask: np.asarray(each[members(mask, len(place))].all(axis=0)) for mask in masks}


class _Growing:
    """The tree of one node while it grows."""

    def __init__(self, contexts: int) -> None:
        self.slots: list[tuple[int, int, int]] = [(1 << r, r, r) for r in range(contexts)]
        self.loose = list(range(contexts))
        self.scores: dict[int, float] = {}

    @property
    def done(self) -> bool:
        return len(self.loose) == 1

    def _mask(self, slot: int) -> int:
        return self.slots[slot][0]

    def wanted(self) -> list[int]:
        """Contexts whose scores the next merge needs."""
        if self.done:
            return []
        single = [self._mask(slot) for slot in self.loose]
        pairs = [one | other for i, one in enumerate(single) for other in single[i + 1 :]]
        return [mask for mask in single + pairs if mask not in self.scores]

    def merge(self) -> None:
        """Join the two slots whose merge raises the score most."""
        if self.done:
            return
        masks = {slot: self._mask(slot) for slot in self.loose}
        alone = {slot: self.scores[mask] for slot, mask in masks.items()}
        best, gain = (0, 0), -np.inf
        for i, a in enumerate(self.loose):
            for b in self.loose[i + 1 :]:
                apart = alone[a] + alone[b]  # a block that is too small on its own is merged first
                own = np.inf if apart == -np.inf else self.scores[masks[a] | masks[b]] - apart
                if own > gain or best == (0, 0):
                    best, gain = (a, b), own
        self.slots.append((masks[best[0]] | masks[best[1]], *best))
        self.loose = [slot for slot in self.loose if slot not in best] + [len(self.slots) - 1]
