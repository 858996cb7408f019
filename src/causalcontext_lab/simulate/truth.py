"""The true graphs of models that are never constant where they could vary, and assumptions about
them (Sec. 3.3 of the paper).

A model's graphs are a stack of adjacency matrices of shape (contexts, nodes, nodes): `stack[r, i,
j]` says that `i -> j` in the graph of context `r`, links at the context variable included. Leading
axes are models, so that a whole enumeration is filtered in one call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from causalcontext import Graph
from causalcontext.examples import Truth, directed_graph
from causalcontext.graphs.paths import ancestors, is_acyclic
from causalcontext_lab.arrays import Bools, Ints


class TrueGraphs:
    """The graphs of a model that is never constant where it could vary; it has names, a context and
    an adjacency.
    """

    names: tuple[str, ...]
    context: int
    adjacency: (
        Any  # array of bool, shape (contexts, nodes, nodes), perhaps made when it is first needed
    )

    def context_graph(self, level: int) -> Graph:
        """The true graph of one context, links at the context variable included."""
        return directed_graph(self.names, self.adjacency[level])

    def truth(self) -> Truth:
        """The four kinds of true graph; those of a context agree, since no mechanism is flat
        anywhere.
        """
        graphs = {level: self.context_graph(level) for level in range(len(self.adjacency))}
        return Truth(self.names[self.context], self.union_graph(), graphs, graphs, graphs)

    def union_graph(self) -> Graph:
        """The links of any context; `<=>` where a link is reversed between contexts."""
        return directed_graph(self.names, union_of(self.adjacency))


def union_of(stack: Bools) -> Bools:
    """The links of any context: shape (..., nodes, nodes)."""
    return np.asarray(stack.any(axis=-3))


def is_weakly_sufficient(stack: Bools, context: int) -> Bools:
    """True where the parents of a node differ between contexts only if the context variable is one
    of them.

    Links at the context variable itself are links of the union, so they must be the same in all
    contexts.
    """
    differs = (stack != stack[..., :1, :, :]).any(axis=-3)
    shared_at_context = ~differs[..., context, :].any(axis=-1) & ~differs[..., :, context].any(
        axis=-1
    )
    unexplained = differs.any(axis=-2) & ~stack[..., 0, context, :]
    return np.asarray(shared_at_context & ~unexplained.any(axis=-1))


def is_strongly_acyclic(stack: Bools, context: int) -> Bools:
    """True where every context graph is acyclic, and no union cycle meets the context or its
    ancestors.

    All nodes of a cycle through an ancestor of R are ancestors of R, so it is enough to look at the
    union among R and its ancestors.
    """
    union = union_of(stack)
    upstream = ancestors(union, context)
    upstream[..., context] = True
    among_upstream = union & upstream[..., :, None] & upstream[..., None, :]
    return np.asarray(is_acyclic(stack).all(axis=-1) & is_acyclic(among_upstream))


def shortest_union_cycle(stack: Bools) -> Ints:
    """The number of nodes on the shortest directed cycle of the union graph, 0 where there is
    none.
    """
    union = union_of(stack)
    walks = union
    shortest = np.zeros(union.shape[:-2], dtype=np.int64)
    for length in range(1, union.shape[-1] + 1):
        closed = np.diagonal(walks, axis1=-2, axis2=-1).any(axis=-1)
        shortest = np.where((shortest == 0) & closed, length, shortest)
        walks = walks @ union
    return shortest


def has_long_union_cycle(stack: Bools) -> Bools:
    """True where a directed cycle of the union graph visits three or more nodes once each.

    Theorem 1 asks for union cycles that are edge flips. A link `a -> b` lies on a longer cycle just
    if `b` reaches `a` without the link `b -> a`. Meant for small graphs: all ordered pairs are
    tried.
    """
    union = union_of(stack)
    found = np.zeros(union.shape[:-2], dtype=np.bool_)
    for a, b in np.argwhere(union.any(axis=tuple(range(union.ndim - 2)))):
        without = union.copy()
        without[..., b, a] = False
        found |= union[..., a, b] & ancestors(without, int(a))[..., b]
    return found
