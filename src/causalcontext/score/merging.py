"""Slots: the blocks that a node's model may be made of.

With few contexts these are all sets of them. With more than four there are too many: every node gets a tree, single
contexts at its leaves, and at each step the merge that raises the score most. The best cut of the tree is found
exactly, so a merge that does not pay is undone. Trees depend on the candidates, so they are grown anew when a climb has
ended, and replaced where that is better. Merges are compared by moments; what is chosen in the end is scored with its
noise density.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.orders.fit_arrays import Memory
from causalcontext.kernels.orders.partitions import ContextPartitions, best_partition
from causalcontext.score.data import members
from causalcontext.score.design import ScoreDesign
from causalcontext.score.workspace import FitWorkspace

Tree = tuple[tuple[int, int, int], ...]
"""Slots as (contexts as a bit mask, left slot, right slot), single contexts first, all contexts last."""


def lattice_blocks(design: ScoreDesign) -> list[int]:
    """The blocks of all sets of contexts by mask, then those of all contexts that change with them."""
    return [*design.pooled(range(1, design.everything + 1)), *design.changing()]


def lattice(design: ScoreDesign) -> ContextPartitions:
    """The slots of every node where these are all sets of contexts."""
    slots = np.tile(lattice_blocks(design), (design.data.responses, 1))
    return ContextPartitions(design.data.contexts, slots, np.zeros((2, *slots.shape), dtype=np.int64), design.role)


class Merger:
    """Scores of nodes in sets of contexts, remembered, and the trees that follow from them."""

    def __init__(self, design: ScoreDesign, curves: bool, memory: Memory) -> None:
        self._design, self._curves, self._memory = design, curves, memory
        self._known: dict[tuple[int, int, bytes], float] = {}

    def trees(self, place: Ints | None = None) -> list[Tree]:
        """The trees of best merges of all nodes; `place` has the place of every node in every context's order.

        Without orders no node has candidates.
        """
        data = self._design.data
        place = np.zeros((data.contexts, data.responses + 1), dtype=np.int64) if place is None else place
        growing = [_Growing(data.contexts) for _ in range(data.responses)]
        while any(not tree.done for tree in growing):
            tasks = [(node, mask) for node, tree in enumerate(growing) for mask in tree.wanted()]
            for (node, mask), score in zip(tasks, self.scores(tasks, place).tolist(), strict=True):
                growing[node].scores[mask] = score
            for tree in growing:
                tree.merge()
        return [tuple(tree.slots) for tree in growing]

    def scores(self, tasks: Sequence[tuple[int, int]], place: Ints) -> Floats:
        """Scores by moments of (node, contexts); candidates come before the node in all orders of these contexts."""
        design, earlier = self._design, place[:, None, :-1] < place[:, :-1, None]
        before = {mask: np.all(earlier[members(mask, len(place))], axis=0) for mask in {mask for _, mask in tasks}}
        found = {(node, mask): before[mask][node] & design.allowed[node] for node, mask in tasks}
        keys = {task: (*task, candidates.tobytes()) for task, candidates in found.items()}
        new = [task for task in found if keys[task] not in self._known]
        if new:
            blocks = design.pooled([mask for _, mask in new])
            workspace = FitWorkspace(design, self._curves, densities=False, memory=self._memory)
            pairs = [(block, node) for block, (node, _) in zip(blocks, new, strict=True)]
            scores, _, _ = workspace.fit(pairs, [found[task] for task in new])
            self._known.update(zip((keys[task] for task in new), scores.tolist(), strict=True))
        return np.array([self._known[keys[task]] for task in tasks])

    def better(self, old: Sequence[Tree], orders: Ints) -> list[Tree]:
        """New trees for some orders, where they score higher than the old ones."""
        place = np.argsort(orders, axis=1)
        new = self.trees(place)
        self.scores([(node, mask) for node, tree in enumerate(old) for mask, _, _ in tree], place)  # all at once
        return [two if self._best(node, two, place) > self._best(node, one, place) + 1e-6 else one
                for node, (one, two) in enumerate(zip(old, new, strict=True))]  # fmt: skip

    def _best(self, node: int, tree: Tree, place: Ints) -> float:
        """The best cut of a tree, the root included."""
        scores = self.scores([(node, mask) for mask, _, _ in tree], place)
        joins = np.array([[[a for _, a, _ in tree]], [[b for _, _, b in tree]]])
        return max(float(scores[-1]), float(best_partition(self._design.data.contexts, joins, 0, scores)))

    def slots(self, trees: Sequence[Tree]) -> ContextPartitions:
        """The slots of some trees, then those of all contexts that change with them."""
        design = self._design
        block = np.array([[*design.pooled([mask for mask, _, _ in tree]), *design.changing()] for tree in trees])
        joins = np.zeros((2, *block.shape), dtype=np.int64)
        joins[:, :, : len(trees[0])] = [[[slot[side] for slot in tree] for tree in trees] for side in (1, 2)]
        return ContextPartitions(design.data.contexts, block, joins, design.role)


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
