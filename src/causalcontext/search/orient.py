"""Arrowheads of one graph: knowledge, colliders, then Meek's four rules until nothing changes.

All proposals of a round are collected before any is applied, so the order of the columns cannot matter. Two proposals
that contradict each other mark the edge as a conflict; it is never overwritten and supports no further rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.graph import Mark
from causalcontext.knowledge import Links
from causalcontext.search.colliders import Triple, Triples

Arrow = tuple[int, int]


def orient(adjacency: NDArray[np.bool_], links: Links, triples: Triples) -> NDArray[np.int8]:
    """The marks of one graph, shape (N, N)."""
    state = _State(adjacency, triples.ambiguous)
    state.apply(_known_arrows(adjacency, links))
    state.apply(_collider_arrows(triples.colliders, links))
    while state.apply(arrow for rule in MEEK_RULES for arrow in rule(state)):
        pass
    return state.marks()


def close_under_meek(adjacency: NDArray[np.bool_], arrows: NDArray[np.bool_]) -> NDArray[np.int8]:
    """The marks that follow from some arrows alone, shape (N, N); the rest stays undirected."""
    state = _State(adjacency, frozenset())
    state.apply((int(cause), int(effect)) for cause, effect in zip(*np.nonzero(arrows), strict=True))
    while state.apply(arrow for rule in MEEK_RULES for arrow in rule(state)):
        pass
    return state.marks()


def _known_arrows(adjacency: NDArray[np.bool_], links: Links) -> Iterator[Arrow]:
    """Adjacent pairs that knowledge allows in one direction only."""
    for cause, effect in zip(*np.nonzero(adjacency & links.may & ~links.may.T), strict=True):
        yield int(cause), int(effect)


def _collider_arrows(colliders: Iterable[Triple], links: Links) -> Iterator[Arrow]:
    """Arrowheads of colliders; one that knowledge rules out is a test error, and orients nothing."""
    for x, w, y in colliders:
        if links.may[x, w] and links.may[y, w]:
            yield x, w
            yield y, w


class _State:
    """A graph that is being oriented: neighbours by kind of edge."""

    def __init__(self, adjacency: NDArray[np.bool_], ambiguous: frozenset[Triple]) -> None:
        around = [set(np.flatnonzero(row).tolist()) for row in adjacency]
        self.ambiguous = ambiguous
        self.adjacent = around
        self.undirected = [set(row) for row in around]
        self.parents: list[set[int]] = [set() for _ in around]
        self.children: list[set[int]] = [set() for _ in around]

    def open_edges(self) -> Iterator[Arrow]:
        """Both readings of every undirected edge."""
        for a, around in enumerate(self.undirected):
            for b in around:
                yield a, b

    def clear(self, x: int, w: int, y: int) -> bool:
        """Whether (x, w, y) is unshielded with a verdict."""
        return y not in self.adjacent[x] and (min(x, y), w, max(x, y)) not in self.ambiguous

    def apply(self, proposals: Iterable[Arrow]) -> bool:
        """Orient undirected edges as proposed, opposite proposals as conflicts; whether anything changed."""
        arrows = {(a, b) for a, b in proposals if b in self.undirected[a]}
        for a, b in arrows:
            self.undirected[a].discard(b)
            self.undirected[b].discard(a)
            if (b, a) not in arrows:
                self.children[a].add(b)
                self.parents[b].add(a)
        return bool(arrows)

    def marks(self) -> NDArray[np.int8]:
        """The marks of all pairs; what is adjacent but neither directed nor undirected is a conflict."""
        codes = np.zeros((len(self.adjacent),) * 2, dtype=np.int8)
        for a, around in enumerate(self.adjacent):
            codes[a, list(around)] = Mark.CONFLICT
            codes[a, list(self.undirected[a])] = Mark.UNDIRECTED
            codes[a, list(self.children[a])] = Mark.FORWARD
            codes[a, list(self.parents[a])] = Mark.BACKWARD
        return codes


def _away_from_collider(graph: _State) -> Iterator[Arrow]:
    """R1: c --> a - b with c, b not adjacent: a --> b, else a would be a collider."""
    for a, b in graph.open_edges():
        if any(graph.clear(c, a, b) for c in graph.parents[a]):
            yield a, b


def _away_from_cycle(graph: _State) -> Iterator[Arrow]:
    """R2: a --> c --> b and a - b: a --> b, else there would be a cycle."""
    for a, b in graph.open_edges():
        if graph.children[a] & graph.parents[b]:
            yield a, b


def _double_triangle(graph: _State) -> Iterator[Arrow]:
    """R3: a - c --> b <-- d - a with c, d not adjacent, and a - b: a --> b."""
    for a, b in graph.open_edges():
        sides = sorted(graph.undirected[a] & graph.parents[b])
        if any(graph.clear(c, a, d) for i, c in enumerate(sides) for d in sides[i + 1 :]):
            yield a, b


def _long_triangle(graph: _State) -> Iterator[Arrow]:
    """R4: a - c --> d --> b with c, b not adjacent, a adjacent to d, and a - b: a --> b. Needed with knowledge."""
    for a, b in graph.open_edges():
        middle = graph.parents[b] & graph.adjacent[a]
        if any(graph.clear(c, a, b) and graph.children[c] & middle for c in graph.undirected[a] - {b}):
            yield a, b


MEEK_RULES = (_away_from_collider, _away_from_cycle, _double_triangle, _long_triangle)
