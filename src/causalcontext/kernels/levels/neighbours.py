"""Who may be conditioned on for the sake of whom, and which pairs are left, for many graphs at once.

Graphs are bits of an integer, and a neighbour carries the bits of the graphs in which it may be conditioned on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.compiling import njit


class Neighbours(NamedTuple):
    """Who may be conditioned on for the sake of a variable, and in which graphs.

    Attributes
    ----------
    start : array of int, shape (N + 1,)
        Variable i has the neighbours `columns[start[i] : start[i + 1]]`, in column order, triggers not among them.
    columns, graphs : arrays of int, shape (neighbours,)
        Their columns, and the bits of the graphs in which they may serve.
    triggers : array of int, shape (N, triggers)
        The bits of the graphs in which a trigger may serve a variable.
    """

    start: Ints
    columns: Ints
    graphs: Ints
    triggers: Ints


class Pairs(NamedTuple):
    """Pairs of variables, and the bits of the graphs in which they are asked about."""

    first: Ints
    second: Ints
    active: Ints


class Share(NamedTuple):
    """Whose answers a graph takes over (`leader[g]`), and the graphs from `begin` up to `end` that are looked at."""

    leader: Ints
    begin: int
    end: int


def list_neighbours(adjacency: Bools, may: Bools, trigger: Ints, hidden: Bools, share: Share,
                    triggers: int) -> Neighbours:  # fmt: skip
    """Who may serve whom: neighbours that may be causes, in a graph or in any of those that it answers for.

    Parameters
    ----------
    adjacency : array of bool, shape (graphs, N, N)
    may : array of bool, shape (N, N)
        From cause to effect.
    trigger : array of int, shape (N,)
        The number of the trigger that a column is, -1 for others.
    hidden : array of bool, shape (N,)
        Columns that are never conditioned on.
    """
    size = may.shape[0]
    begin, nothing = np.zeros(size + 1, dtype=np.int64), np.empty(0, dtype=np.int64)
    serving = np.zeros((size, triggers), dtype=np.int64)
    found = Neighbours(begin, nothing, nothing, serving)
    count = _fill_neighbours(adjacency, may, trigger, hidden, share, found)
    found = Neighbours(begin, np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), serving)
    _fill_neighbours(adjacency, may, trigger, hidden, share, found)
    return found


@njit(cache=True, nogil=True)
def _fill_neighbours(adjacency: Bools, may: Bools, trigger: Ints, hidden: Bools, share: Share,
                     found: Neighbours) -> int:  # fmt: skip
    """Write down where every variable's neighbours start, and them where there is room; how many there are."""
    size, room = may.shape[0], found.columns.size
    bits = np.zeros(size, dtype=np.int64)
    for i in range(size):
        place = found.start[i]
        found.start[i + 1] = place + _row(adjacency, may, share, i, bits, trigger, hidden, found.triggers)
        for z in range(size if room else 0):
            if bits[z]:
                found.columns[place], found.graphs[place] = z, bits[z]
                place += 1
    return int(found.start[size])


@njit(cache=True, nogil=True)
def _row(adjacency: Bools, may: Bools, share: Share, i: int, bits: Ints, trigger: Ints, hidden: Bools,
         serving: Ints) -> int:  # fmt: skip
    """Fill the bits of those that may serve variable i, triggers apart; how many there are."""
    bits[:] = 0
    for g in range(adjacency.shape[0]):
        leader = share.leader[g]
        if share.begin <= leader < share.end:
            for z in range(bits.size):
                if adjacency[g, i, z] and may[z, i]:
                    bits[z] |= 1 << (leader - share.begin)
    count = 0
    for z in range(bits.size):
        if trigger[z] >= 0:
            serving[i, trigger[z]] = bits[z]
        if trigger[z] >= 0 or hidden[z]:
            bits[z] = 0
        count += bits[z] != 0
    return count


class Wanted(NamedTuple):
    """Which pairs are looked for.

    Attributes
    ----------
    adjacency : array of bool, shape (graphs, N, N)
    required : array of bool, shape (N, N)
        Pairs that are not asked about.
    group : array of int, shape (N,)
        The number of the searched context variable that a column is, -1 for others.
    role : tuple of two int
        The context variables of a pair by these numbers: (-1, -1) for two system variables, (a, -1) for a context
        variable, which comes first, and a system variable, (a, b) for two context variables.
    """

    adjacency: Bools
    required: Bools
    group: Ints
    role: tuple[int, int]


def open_pairs(wanted: Wanted, share: Share) -> Pairs:
    """The pairs of a role that are adjacent and not required, with the bits of the leading graphs where they are."""
    nothing = np.empty(0, dtype=np.int64)
    found = _list_pairs(wanted, share, Pairs(nothing, nothing, nothing))
    pairs = Pairs(*(np.empty(found, dtype=np.int64) for _ in range(3)))
    _list_pairs(wanted, share, pairs)
    return pairs


@njit(cache=True, nogil=True)
def _list_pairs(wanted: Wanted, share: Share, pairs: Pairs) -> int:
    """Write down as many pairs as there is room for; how many there are."""
    found, size, one, two = 0, wanted.group.size, wanted.role[0], wanted.role[1]
    for i in range(size):
        if wanted.group[i] != one:
            continue
        for j in range(i + 1 if one == two else 0, size):
            if wanted.group[j] != two or i == j or wanted.required[i, j]:
                continue
            bits = 0
            for g in range(share.begin, share.end):
                if share.leader[g] == g and wanted.adjacency[g, i, j]:
                    bits |= 1 << (g - share.begin)
            if bits and found < pairs.first.size:
                pairs.first[found], pairs.second[found], pairs.active[found] = i, j, bits
            found += bits != 0
    return found


def reach(neighbours: Neighbours, pairs: Pairs, trigger: Ints) -> Ints:
    """The most candidates that one of the two variables of every pair has, triggers included."""
    most = np.empty(pairs.first.size, dtype=np.int64)
    _fill_reach(neighbours, pairs, trigger, most)
    return most


@njit(cache=True, nogil=True)
def _fill_reach(neighbours: Neighbours, pairs: Pairs, trigger: Ints, most: Ints) -> None:
    size = neighbours.start.size - 1
    count = neighbours.start[1:] - neighbours.start[:-1]
    for i in range(size):
        for t in range(neighbours.triggers.shape[1]):
            count[i] += neighbours.triggers[i, t] != 0
    for k in range(pairs.first.size):
        x, y = pairs.first[k], pairs.second[k]
        most[k] = max(count[x] - _serves(neighbours, x, y, trigger), count[y] - _serves(neighbours, y, x, trigger))


@njit(cache=True, nogil=True)
def _serves(neighbours: Neighbours, node: int, z: int, trigger: Ints) -> int:
    if trigger[z] >= 0:
        return 1 if neighbours.triggers[node, trigger[z]] else 0
    row = neighbours.columns[neighbours.start[node] : neighbours.start[node + 1]]
    place = np.searchsorted(row, z)
    return 1 if place < row.size and row[place] == z else 0


def widest_pools(neighbours: Neighbours, graph: Ints, first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """For every (graph, pair) the most candidates that one of the two variables has, and the triggers of either."""
    wide, triggers = np.zeros_like(first), np.zeros_like(first)
    _fill_pools(neighbours, graph, first, second, wide, triggers)
    return wide, triggers


@njit(cache=True, nogil=True)
def _fill_pools(neighbours: Neighbours, graph: Ints, first: Ints, second: Ints, wide: Ints, triggers: Ints) -> None:
    for k in range(first.size):
        x, y, g = first[k], second[k], graph[k]
        for node in (x, y):
            count = 0
            for i in range(neighbours.start[node], neighbours.start[node + 1]):
                z = neighbours.columns[i]
                count += z != x and z != y and (neighbours.graphs[i] >> g) & 1
            wide[k] = max(wide[k], count)
        for t in range(neighbours.triggers.shape[1]):
            triggers[k] += ((neighbours.triggers[x, t] | neighbours.triggers[y, t]) >> g) & 1
