"""Honest marks: an edge is directed only if every model with the same score directs it so.

Two models have the same score if they share blocks, adjacencies and, inside every block, unshielded colliders: within a
block the likelihood is an ordinary linear-Gaussian one. Links at the context are never reversible (a logit is no
regression), nor are edges between nodes with different blocks (the context is a parent of one of them only, or their
rows differ). These edges, the colliders and what is known are fixed; Meek's rules find what follows. An edge that
several contexts share through one block has one direction, so what is settled in one of them is settled in all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.ends import Ends, directed, ends_of_arcs
from causalcontext.knowledge import Links
from causalcontext.score.model import FittedModel
from causalcontext.search.orient import close_under_meek

Bools = NDArray[np.bool_]


def equivalence_ends(model: FittedModel, links: Links) -> Ends:
    """The ends of every context's graph, shape (K, p + 1, p + 1); undirected where an equal model disagrees."""
    graphs = model.links()
    adjacent = graphs | graphs.transpose(0, 2, 1)
    same = _same_block(model)
    settled = graphs & ~same
    one_way = links.may & ~links.may.T
    for r, graph in enumerate(graphs):
        settled[r] |= _collider_arrows(graph, adjacent[r]) | (graph & one_way)
    while True:
        closed = np.stack([_closed(adjacent[r], settled[r]) for r in range(len(graphs))])
        shared = _share(closed, model) & graphs
        if np.array_equal(shared, settled):
            return ends_of_arcs(adjacent & ~settled.transpose(0, 2, 1))
        settled = shared | settled


def _same_block(model: FittedModel) -> Bools:
    """Pairs of system variables that have the same rows and the same kind of model in a context."""
    k, p = model.block.shape
    same = np.zeros((k, p + 1, p + 1), dtype=bool)
    kind = np.where(model.shifted, 1, 0)
    same[:, :p, :p] = (model.block[:, :, None] == model.block[:, None, :]) & (kind[:, None] == kind)
    return same


def _collider_arrows(graph: Bools, adjacent: Bools) -> Bools:
    """Links into a node that has another, non-adjacent parent."""
    parents = graph.T.astype(np.float32)
    lonely = (parents @ (~adjacent & ~np.eye(len(graph), dtype=bool)).astype(np.float32)) > 0
    return np.asarray(graph & lonely.T)


def _closed(adjacent: Bools, settled: Bools) -> Bools:
    """Settled links and all that follow by Meek's rules."""
    return directed(close_under_meek(adjacent, settled))


def _share(settled: Bools, model: FittedModel) -> Bools:
    """A link into a node is settled in all contexts of its block if it is in one."""
    shared = settled.copy()
    for r in range(len(settled)):
        for other in range(len(settled)):
            together = (model.block[r] >> other) & 1 == 1
            shared[r][:, :-1] |= settled[other][:, :-1] & together
    return shared
