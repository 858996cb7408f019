"""Which neighbours of a variable may be conditioned on, and which pairs are left, for many graphs
at once.

Graphs are bits of an integer, and a neighbour carries the bits of the graphs in which it may be
conditioned on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Ints


class Neighbours(NamedTuple):
    """The neighbours of every variable that may be conditioned on, and in which graphs."""

    # shape (N + 1,): variable i has the neighbours `columns[start[i] : start[i + 1]]`, in column
    # order, triggers not among them
    start: Ints
    # columns, graphs: shape (neighbours,): their columns, and the bits of the graphs in which they
    # may serve
    columns: Ints
    graphs: Ints
    triggers: (
        Ints  # shape (N, triggers): the bits of the graphs in which a trigger may serve a variable
    )


class Pairs(NamedTuple):
    """Pairs of variables, and the bits of the graphs in which they are asked about."""

    first: Ints
    second: Ints
    active: Ints


class SharedAnswers(NamedTuple):
    """Whose answers a graph takes over (`leader[g]`), and the graphs from `begin` up to `end` that
    are looked at.
    """

    leader: Ints
    begin: int
    end: int


class Edges(NamedTuple):
    """The edges of several graphs, both ways and in row order."""

    # first, second: shape (edges,)
    first: Ints
    second: Ints
    present: Bools  # shape (graphs, edges)


def list_edges(adjacency: Bools) -> Edges:
    """The edges that some graph has, from an array of shape (graphs, N, N); all that a level looks
    at.
    """
    somewhere = adjacency[0] if len(adjacency) == 1 else adjacency.any(axis=0)
    first, second = np.divmod(np.flatnonzero(somewhere), adjacency.shape[1])
    return Edges(first, second, adjacency[:, first, second])


def graphs_of(edges: Edges, variables: int) -> Bools:
    """The graphs that have these edges, shape (graphs, N, N)."""
    graphs = np.zeros((len(edges.present), variables, variables), dtype=bool)
    graphs[:, edges.first, edges.second] = edges.present
    return graphs


def list_neighbours(
    edges: Edges, may: Bools, trigger: Ints, hidden: Bools, share: SharedAnswers, triggers: int
) -> Neighbours:
    """The neighbours that may be conditioned on: possible causes, in a graph or in any of those
    that it answers for.

    `may` leads from cause to effect, shape (N, N); `trigger` is the number of the trigger that a
    column is, -1 for others; `hidden` columns are never conditioned on.
    """
    bits = _bits(edges, share, share.leader) * may[edges.second, edges.first]
    own = trigger[edges.second]
    serving = np.zeros((trigger.size, triggers), dtype=np.int64)
    serving[edges.first[own >= 0], own[own >= 0]] = bits[own >= 0]
    kept = np.flatnonzero((bits != 0) & (own < 0) & ~hidden[edges.second])
    start = np.zeros(trigger.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(edges.first[kept], minlength=trigger.size), out=start[1:])
    return Neighbours(start, edges.second[kept], bits[kept], serving)


def _bits(edges: Edges, share: SharedAnswers, leader: Ints) -> Ints:
    """The bits of the graphs from `share.begin` up to `share.end` that answer for a graph with the
    edge.
    """
    bits = np.zeros(edges.first.size, dtype=np.int64)
    for present, answering in zip(edges.present, leader.tolist(), strict=True):
        if share.begin <= answering < share.end:
            bits |= present * np.int64(1 << (answering - share.begin))
    return bits


def open_pairs(
    edges: Edges, required: Bools, context_numbers: Ints, contexts: list[int], share: SharedAnswers
) -> Pairs:
    """The pairs that are adjacent and not required, with the bits of the leading graphs where they
    are.

    `context_numbers` is the number of the searched context variable that a column is, -1 for
    others; `contexts` are the columns of those of the pairs: none, one, which comes first, or two.
    """
    first, second, _ = edges
    one, two = [*context_numbers[contexts].tolist(), -1, -1][:2]
    chosen = (
        (context_numbers[first] == one)
        & (context_numbers[second] == two)
        & ~required[first, second]
    )
    if one == two:
        chosen &= first < second
    leading = np.where(share.leader == np.arange(share.leader.size), share.leader, -1)
    bits = _bits(edges, share, leading) * chosen
    found = np.flatnonzero(bits)
    return Pairs(first[found], second[found], bits[found])


def reach(neighbours: Neighbours, pairs: Pairs, trigger: Ints) -> Ints:
    """The most candidates that one of the two variables of every pair has, triggers included."""
    most = np.empty(pairs.first.size, dtype=np.int64)
    fill_reach(neighbours, pairs, trigger, most)
    return most


def fill_reach(neighbours: Neighbours, pairs: Pairs, trigger: Ints, most: Ints) -> None:
    """`most` is filled."""
    _kernels.fill_reach(neighbours, pairs, trigger, most)


def widest_pools(
    neighbours: Neighbours, graph: Ints, first: Ints, second: Ints
) -> tuple[Ints, Ints]:
    """For every (graph, pair) the most candidates that one of the two variables has, and the
    triggers of either.
    """
    wide = np.zeros_like(first)
    triggers = np.zeros_like(first)
    fill_pools(neighbours, graph, first, second, wide, triggers)
    return wide, triggers


def fill_pools(
    neighbours: Neighbours, graph: Ints, first: Ints, second: Ints, wide: Ints, triggers: Ints
) -> None:
    """`wide` and `triggers` are filled, which are 0 before."""
    _kernels.fill_pools(neighbours, graph, first, second, wide, triggers)
