"""The graphs of all contexts while they are being oriented, and why each arrow points as it does.

All proposals of a round are collected before any is applied, so the order of the columns cannot matter. Two proposals
that contradict each other mark the edge as a conflict; it is never overwritten and supports no further rule. An arrow
at a context variable is an arrow of the union, so it is applied to all graphs that have the edge at once (rule T0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.graph import Mark
from causalcontext.questions import Contexts
from causalcontext.search.colliders import Triple, Triples

Arrow = tuple[int, int]


class Origin(NamedTuple):
    """Why an edge points as it does: the rule, the graph in which it applied, and the variables it rests on."""

    rule: str
    graph: int
    via: tuple[int, ...]


class Proposal(NamedTuple):
    """An arrow that a rule asks for in one graph."""

    graph: int
    cause: int
    effect: int
    origin: Origin


class Doubt(NamedTuple):
    """An arrow that a rule asks for against what is settled, or an edge on which the assumptions fail."""

    rule: str
    graph: int
    cause: int
    effect: int


class Vanishing(NamedTuple):
    """x - y is in one graph and not in another; no context variable but `context` differs between the two."""

    present: int
    absent: int
    context: int
    x: int
    y: int


class PartlyOriented:
    """One graph that is being oriented: neighbours by kind of edge."""

    def __init__(self, adjacency: NDArray[np.bool_], ambiguous: frozenset[Triple]) -> None:
        around: list[set[int]] = [set() for _ in adjacency]
        for a, b in np.argwhere(adjacency).tolist():
            around[a].add(b)
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

    def arrows(self) -> Iterator[Arrow]:
        """Every directed edge."""
        for a, effects in enumerate(self.children):
            for b in effects:
                yield a, b

    def clear(self, x: int, w: int, y: int) -> bool:
        """Whether (x, w, y) is unshielded with a verdict."""
        return y not in self.adjacent[x] and (min(x, y), w, max(x, y)) not in self.ambiguous

    def close(self, a: int, b: int, conflict: bool) -> None:
        """Direct the undirected edge a --> b, or make it a conflict."""
        self.undirected[a].discard(b)
        self.undirected[b].discard(a)
        if not conflict:
            self.children[a].add(b)
            self.parents[b].add(a)

    def marks(self) -> NDArray[np.int8]:
        """The marks of all pairs; what is adjacent but neither directed nor undirected is a conflict."""
        codes = np.zeros((len(self.adjacent),) * 2, dtype=np.int8)
        kinds = ((self.adjacent, Mark.CONFLICT), (self.undirected, Mark.UNDIRECTED), (self.children, Mark.FORWARD),
                 (self.parents, Mark.BACKWARD))  # fmt: skip
        for neighbours, mark in kinds:
            first = [a for a, around in enumerate(neighbours) for _ in around]
            codes[first, [b for around in neighbours for b in around]] = mark
        return codes


class GraphFamily:
    """The graphs of all contexts; `contexts` are the variables whose links they share."""

    def __init__(
        self, adjacency: NDArray[np.bool_], triples: Sequence[Triples], contexts: Contexts | None = None
    ) -> None:
        self.graphs = [PartlyOriented(a, t.ambiguous) for a, t in zip(adjacency, triples, strict=True)]
        self.contexts = contexts or Contexts()
        self.origins: dict[tuple[int, int, int], Origin] = {}
        self.doubts: set[Doubt] = set()

    def apply(self, proposals: Iterable[Proposal]) -> bool:
        """Orient undirected edges as proposed, opposite proposals as conflicts; whether anything changed."""
        wanted: dict[tuple[int, int, int], Origin] = {}
        for proposal in proposals:
            _, a, b, origin = proposal
            for g in self.affected(proposal):
                if b in self.graphs[g].undirected[a]:
                    wanted.setdefault((g, a, b), origin)
                elif a in self.graphs[g].children[b]:
                    self.doubts.add(Doubt(origin.rule, g, a, b))
        for (g, a, b), origin in wanted.items():
            conflict = (g, b, a) in wanted
            self.graphs[g].close(a, b, conflict)
            if not conflict:
                self.origins[g, a, b] = origin
        return bool(wanted)

    def marks(self) -> NDArray[np.int8]:
        """The marks of all graphs, shape (graphs, N, N)."""
        return np.stack([graph.marks() for graph in self.graphs])

    @cached_property
    def vanishing(self) -> tuple[Vanishing, ...]:
        """System edges, both readings, that are missing after a step of one context variable."""
        return tuple(
            Vanishing(g, h, position, x, y)
            for g, h, position in self.contexts.steps()
            for x, around in enumerate(self.graphs[g].adjacent)
            if x not in self.contexts.positions
            for y in around - self.graphs[h].adjacent[x] - set(self.contexts.positions)
        )

    def affected(self, proposal: Proposal) -> Iterable[int]:
        """The graphs that an arrow holds for: all of them at a context variable (T0), else its own."""
        if proposal.cause in self.contexts.positions or proposal.effect in self.contexts.positions:
            return range(len(self.graphs))
        return (proposal.graph,)
