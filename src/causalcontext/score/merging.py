"""Slots: the blocks that a node's model may be made of.

With few contexts these are all sets of them. With more than four there are too many: every node
gets a tree, single contexts at its leaves, and at each step the merge that raises the score most.
The best cut of the tree is found exactly, so a merge that does not pay is undone. Trees depend on
the candidates, so they are grown anew when a climb has ended, and replaced where that is better.
Merges are compared by moments; what is chosen in the end is scored with its noise density.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.orders.fit_arrays import Memory
from causalcontext.kernels.orders.slots import MOST_CELLS_EXACT, NO_BLOCK, NodeSlots, best_partition
from causalcontext.score.design import POOLED, ScoreDesign
from causalcontext.score.model import before
from causalcontext.score.options import Clock
from causalcontext.score.workspace import FitWorkspace

AT_ONCE = 2000
"""Fits between two looks at the clock."""
Tree = tuple[tuple[int, int, int], ...]
"""Slots as (contexts as a bit mask, left slot, right slot), single contexts first, all contexts
last.
"""


def lattice(design: ScoreDesign) -> NodeSlots:
    """The slots of every node where these are all sets of values of a reader; all values apart
    where these are many.
    """
    blocks = []
    for reader in design.data.readers:
        few = reader.levels <= MOST_CELLS_EXACT
        masks = (
            range(1, (1 << reader.levels) - 1)
            if few
            else (1 << level for level in range(reader.levels))
        )
        blocks.append([design.pooled([reader.cells(mask) for mask in masks])] * design.data.nodes)
    return _node_slots(design, blocks)


def _node_slots(
    design: ScoreDesign, blocks: Sequence[Sequence[Sequence[int]]], joins: Ints | None = None
) -> NodeSlots:
    """The pooled slot of every node, then for every reader the given blocks, then those that change
    in all cells.
    """
    slots = [[design.block(POOLED, design.everything)] for _ in range(design.data.nodes)]
    owner = [-1]
    runs = []
    for q, (reader, own) in enumerate(zip(design.data.readers, blocks, strict=True)):
        first = len(owner)
        changing = design.changing(q)
        owner += [q] * (len(own[0]) + len(changing))
        runs.append([first, reader.levels, len(own[0]), len(owner)])
        for node, mine in enumerate(own):
            slots[node] += [*mine, *changing]
    joined = np.zeros((2, len(slots), len(owner)), dtype=np.int64)
    if joins is not None:
        joined[:, :, 1 : 1 + joins.shape[2]] = joins
    return NodeSlots(
        np.array(slots, dtype=np.int64),
        joined,
        np.array(runs, dtype=np.int64).reshape(-1, 4),
        np.array(owner),
        design.needs,
        design.may,
    )


def without_reader(slots: NodeSlots, cause: int, effect: int) -> NodeSlots:
    """Slots of which one node uses none of the readers that need another."""
    may = slots.may.copy()
    may[effect, 1:] &= ~(slots.needs == cause).any(axis=1)
    return slots._replace(may=may)


class Merger:
    """Scores of nodes in sets of contexts, remembered, and the trees that follow from them.

    As soon as the clock is late nothing more is compared: trees join what is loose as it comes.
    """

    def __init__(self, design: ScoreDesign, curves: bool, memory: Memory, clock: Clock) -> None:
        self._design = design
        self._curves = curves
        self._memory = memory
        self._clock = clock
        self._known: dict[tuple[int, int, bytes], float] = {}

    def trees(self, place: Ints | None = None) -> list[Tree]:
        """The trees of best merges of all nodes by their place in every context's order; none: no
        candidates.
        """
        data = self._design.data
        place = np.zeros((data.contexts, data.nodes), dtype=np.int64) if place is None else place
        growing = [_Growing(data.contexts) for _ in range(data.responses)]
        while any(not tree.done for tree in growing):
            tasks = [(node, mask) for node, tree in enumerate(growing) for mask in tree.wanted()]
            for start in range(0, len(tasks), AT_ONCE):
                if self._clock.late:
                    break
                part = tasks[start : start + AT_ONCE]
                for (node, mask), score in zip(
                    part, self.scores(part, place).tolist(), strict=True
                ):
                    growing[node].scores[mask] = score
            for tree in growing:
                tree.merge(compare=not self._clock.flag[0])
        return [tuple(tree.slots) for tree in growing]

    def scores(self, tasks: Sequence[tuple[int, int]], place: Ints) -> Floats:
        """Scores by moments of (node, contexts); candidates come before the node in all orders of
        these contexts.
        """
        design = self._design
        found = {}
        for node, mask in tasks:
            found[node, mask] = (
                before(place, node, mask, design.data.candidates) & design.allowed[node]
            )
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
        if self._clock.late:
            return list(old)
        # all at once
        self.scores([(node, mask) for node, tree in enumerate(old) for mask, _, _ in tree], place)
        return [
            two if self._best(node, two, place) > self._best(node, one, place) + 1e-6 else one
            for node, (one, two) in enumerate(zip(old, new, strict=True))
        ]

    def _best(self, node: int, tree: Tree, place: Ints) -> float:
        """The best cut of a tree, the root included."""
        scores = self.scores([(node, mask) for mask, _, _ in tree], place)
        joins = np.array([[a for _, a, _ in tree], [b for _, _, b in tree]])
        return max(float(scores[-1]), float(best_partition(len(place), len(tree), joins, scores)))

    def slots(self, trees: Sequence[Tree]) -> NodeSlots:
        """The slots of some trees; the context has none of them, and that of the last tree is never
        looked at.
        """
        everybody = [*trees, *[trees[-1]] * (self._design.data.nodes - len(trees))]
        blocks = [
            [*self._design.pooled([mask for mask, _, _ in tree[:-1]]), NO_BLOCK]
            for tree in everybody
        ]
        joins = [[[slot[side] for slot in tree] for tree in everybody] for side in (1, 2)]
        return _node_slots(self._design, [blocks], np.array(joins))


class _Growing:
    """The tree of one node while it grows."""

    def __init__(self, contexts: int) -> None:
        self.slots: list[tuple[int, int, int]] = [(1 << r, r, r) for r in range(contexts)]
        self.loose = list(range(contexts))
        self.scores: dict[int, float] = {}

    @property
    def done(self) -> bool:
        return len(self.loose) == 1

    def wanted(self) -> list[int]:
        """Contexts whose scores the next merge needs."""
        if self.done:
            return []
        single = [self.slots[slot][0] for slot in self.loose]
        pairs = [one | other for i, one in enumerate(single) for other in single[i + 1 :]]
        return [mask for mask in single + pairs if mask not in self.scores]

    def merge(self, compare: bool) -> None:
        """Join the two slots whose merge raises the score most; all that are left, one by one,
        without comparing.
        """
        while not (self.done or compare):
            self._join(*self.loose[:2])
        if self.done:
            return
        masks = {slot: self.slots[slot][0] for slot in self.loose}
        alone = {slot: self.scores[mask] for slot, mask in masks.items()}
        best = (0, 0)
        gain = -np.inf
        for i, a in enumerate(self.loose):
            for b in self.loose[i + 1 :]:
                apart = alone[a] + alone[b]  # a block that is too small on its own is merged first
                own = np.inf if apart == -np.inf else self.scores[masks[a] | masks[b]] - apart
                if own > gain or best == (0, 0):
                    best = (a, b)
                    gain = own
        self._join(*best)

    def _join(self, a: int, b: int) -> None:
        self.slots.append((self.slots[a][0] | self.slots[b][0], a, b))
        self.loose = [slot for slot in self.loose if slot not in (a, b)] + [len(self.slots) - 1]
