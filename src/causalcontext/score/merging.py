"""Many contexts: which of them share a node's mechanism, found by merging two at a time.

With more than four contexts there are too many sets of them. Every node gets a tree: single contexts at its leaves, and
at each step the merge that raises the score most. The best cut of the tree is found exactly, so a merge that does not
pay is undone. Trees depend on the candidates, so they are grown anew between sweeps and replaced where that is better.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.orders.order_state import State
from causalcontext.kernels.orders.parent_sets import Blocks, fit, no_fits, scratch
from causalcontext.kernels.orders.partitions import Partitions, best_score
from causalcontext.score.options import ScoreOptions
from causalcontext.score.problem import Layout, make_blocks, make_problem, widest
from causalcontext.score.setup import Setup

Tree = list[tuple[int, int, int]]
"""Slots as (contexts as a bit mask, left slot, right slot), single contexts first, all contexts last."""


@dataclass
class Merger:
    """Scores of single blocks, with the block's moments remembered."""

    setup: Setup
    options: ScoreOptions
    blocks: dict[int, Blocks] = field(default_factory=dict)

    def __post_init__(self) -> None:
        width = widest(self.setup)
        self._fits, self._work = no_fits(self.setup.variables, 1, width), scratch(self.setup.variables, width)

    def score(self, node: int, mask: int, place: NDArray[np.int64] | None) -> float:
        """The score of a node in a block, its candidates being the nodes before it in the block's orders."""
        if mask not in self.blocks:
            self.blocks[mask] = make_blocks(self.setup, self.options, [mask])
        self._work.candidates[:] = False
        if place is not None:
            members = [r for r in range(self.setup.contexts) if mask >> r & 1]
            before = (place[members, : self.setup.variables] < place[members, node : node + 1]).all(axis=0)
            self._work.candidates[:] = before & self.setup.allowed[node]
        fit(self.blocks[mask], 0, node, self.setup.forced[node], self._fits, 0, self._work)
        return float(self._fits.score[node, 0])

    def tree(self, node: int, place: NDArray[np.int64] | None) -> Tree:
        """The tree of best merges of a node."""
        k = self.setup.contexts
        tree: Tree = [(1 << r, r, r) for r in range(k)]
        score = [self.score(node, mask, place) for mask, _, _ in tree]
        loose, gain = list(range(k)), {}
        while len(loose) > 1:
            for i, a in enumerate(loose):
                for b in loose[i + 1 :]:
                    if (a, b) not in gain:
                        merged = self.score(node, tree[a][0] | tree[b][0], place)
                        gain[a, b] = (_difference(merged, score[a] + score[b]), merged)
            a, b = max(((a, b) for a in loose for b in loose if (a, b) in gain), key=lambda pair: gain[pair][0])
            tree.append((tree[a][0] | tree[b][0], a, b))
            score.append(gain[a, b][1])
            loose = [slot for slot in loose if slot not in (a, b)] + [len(tree) - 1]
        return tree


def _difference(merged: float, apart: float) -> float:
    """The gain of a merge; a block that is too small on its own is merged first."""
    return np.inf if apart == -np.inf else merged - apart


def tree_layout(merger: Merger, trees: list[Tree]) -> Layout:
    """The problem whose slots are the trees of the nodes."""
    setup, k = merger.setup, merger.setup.contexts
    masks = tuple(sorted({mask for tree in trees for mask, _, _ in tree}))
    number = {mask: place for place, mask in enumerate(masks)}
    block = np.array([[number[mask] for mask, _, _ in tree] + [len(masks)] for tree in trees])
    left = np.array([[a for _, a, _ in tree] + [0] for tree in trees])
    right = np.array([[b for _, _, b in tree] + [0] for tree in trees])
    blocks = make_blocks(setup, merger.options, masks)
    return Layout(masks, make_problem(setup, merger.options, blocks, Partitions(k, block, left, right, setup.role)))


def better_trees(merger: Merger, layout: Layout, trees: list[Tree], state: State, shared: bool) -> list[Tree]:
    """New trees for the current orders, where they score higher than the old ones."""
    place = np.repeat(state.place[:1], merger.setup.contexts, axis=0) if shared else state.place
    chosen = []
    for node, old in enumerate(trees):
        new = merger.tree(node, place)
        worth = [_best(merger, layout.problem.family, node, tree, place) for tree in (old, new)]
        chosen.append(new if worth[1] > worth[0] + 1e-6 else old)
    return chosen


def _best(merger: Merger, family: Partitions, node: int, tree: Tree, place: NDArray[np.int64]) -> float:
    """The best cut of a tree."""
    scores = np.array([merger.score(node, mask, place) for mask, _, _ in tree] + [-np.inf])
    row = np.zeros((1, len(tree) + 1), dtype=np.int64)
    row[0, :-1] = [a for _, a, _ in tree]
    other = np.zeros_like(row)
    other[0, :-1] = [b for _, _, b in tree]
    own = Partitions(family.contexts, row, row, other, family.role[node : node + 1])
    return float(best_score(own, 0, scores, True))
