"""The graphs of all contexts while they are being oriented, end by end, and why each end is what it is.

A rule proposes one end: "the end at b of a - b is an arrow", or a tail. All proposals of a round are collected before
any is applied, so the order of the columns cannot matter. Proposals of a round that contradict each other make the edge
a conflict, which is never overwritten and supports no further rule; an end of an earlier round stands, and what
contradicts it is a doubt. What one end says about the other depends on what the graphs are (`CLOSURES`). An end at a
context variable is an end of the union, so it is applied to all graphs that have the edge at once (rule T0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from causalcontext.graphs.ends import End, Ends, Kind
from causalcontext.kernels.arrays import Bools
from causalcontext.knowledge import Links
from causalcontext.questions import Contexts
from causalcontext.search.colliders import Triple, Triples
from causalcontext.search.plan import Physical
from causalcontext.search.sharing import sharing_ends

CLOSURES: Mapping[Kind, Mapping[End, End]] = {
    Kind.PATTERN: {End.ARROW: End.TAIL, End.TAIL: End.ARROW, End.CONFLICT: End.CONFLICT},
    Kind.PAG: {End.TAIL: End.ARROW, End.CONFLICT: End.CONFLICT},
}
"""What an end implies at the other end of its edge. A direction of a pattern is one arrow and one tail. In a PAG two
arrows are a hidden common cause; two tails would be selection, which a context is not."""

Place = tuple[int, int, int]
"""(graph, a, b): the end at b of a - b."""


class Origin(NamedTuple):
    """Why an end is what it is: the rule, the graph in which it applied, and the variables it rests on."""

    rule: str
    graph: int
    via: tuple[int, ...]


class Proposal(NamedTuple):
    """What a rule asks for in one graph: this end at b of a - b, because of `via` in the graph `source`."""

    graph: int
    a: int
    b: int
    end: End
    via: tuple[int, ...]
    source: int


class Doubt(NamedTuple):
    """An end at b of a - b that a rule asks for against what is settled, or an edge on which the assumptions fail."""

    rule: str
    graph: int
    a: int
    b: int


class Vanishing(NamedTuple):
    """x - y is in one graph and not in another; no context variable but `context` differs between the two."""

    present: int
    absent: int
    context: int
    x: int
    y: int


def always_physical(x: int, y: int, present: int, absent: int) -> bool:
    """Trust every missing edge: right for exact distributions."""
    return True


class Inquiry(Protocol):
    """What rules for PAGs may ask of the search."""

    def is_collider(self, graph: int, x: int, w: int, y: int) -> bool | None:
        """Whether the sets that separate x and y leave w out; None without a verdict."""
        ...

    def separating_set(self, graph: int, x: int, y: int) -> tuple[int, ...] | None:
        """The set that separated x and y on all rows; None if there is none."""
        ...

    def separates(self, graph: int, x: int, y: int, given: tuple[int, ...]) -> bool:
        """Whether a set separates x and y inside the context of a graph."""
        ...


class Evidence(NamedTuple):
    """What rules may ask besides the ends.

    Attributes
    ----------
    triples : sequence of Triples
        The colliders of every graph, and the triples without a verdict.
    links : Links, optional
        Knowledge.
    contexts : Contexts
        The variables whose links the graphs share; without any, every graph is treated by itself.
    physical : function
        Whether an edge that is missing in one graph may orient others.
    across : bool
        Whether the graphs learn from each other, beyond the ends that they share.
    inquiry : Inquiry, optional
        For PAGs: what else may be asked.
    contested : {"conflict", "bidirected"}
        For PAGs: what an edge is that has colliders at both ends.
    confounded : bool
        For PAGs: whether something hidden may cause a context variable and another one.
    """

    triples: Sequence[Triples]
    links: Links | None = None
    contexts: Contexts = Contexts()
    physical: Physical = always_physical
    across: bool = True
    inquiry: Inquiry | None = None
    contested: str = "conflict"
    confounded: bool = True


class PartlyOriented:
    """One graph that is being oriented.

    `circles[b]`, `arrows[b]` and `tails[b]` are the neighbours a of b whose edge a - b has that end at b; an end that
    is none of these is a conflict. `parents[b]` and `children[b]` are those with a --> b and b --> a.
    """

    def __init__(self, adjacency: Bools, ambiguous: frozenset[Triple]) -> None:
        around: list[set[int]] = [set() for _ in adjacency]
        for a, b in np.argwhere(adjacency).tolist():
            around[a].add(b)
        self.ambiguous = ambiguous
        self.adjacent = around
        self.circles = [set(row) for row in around]
        self.arrows, self.tails, self.parents, self.children = ([set[int]() for _ in around] for _ in range(4))

    def open_ends(self) -> Iterator[tuple[int, int]]:
        """(a, b) for every circle at b of a - b; in a pattern these are both readings of every undirected edge."""
        for b, around in enumerate(self.circles):
            for a in around:
                yield a, b

    def clear(self, x: int, w: int, y: int) -> bool:
        """Whether (x, w, y) is unshielded with a verdict."""
        return y not in self.adjacent[x] and (min(x, y), w, max(x, y)) not in self.ambiguous

    def contradicts(self, a: int, b: int, end: End) -> bool:
        """Whether the end at b of a - b is settled otherwise; a conflict contradicts nothing."""
        return (a in self.arrows[b] and end is not End.ARROW) or (a in self.tails[b] and end is not End.TAIL)

    def settle(self, a: int, b: int, end: End) -> None:
        """Set the end at b of a - b, unless it is settled."""
        if a not in self.circles[b]:
            return
        self.circles[b].discard(a)
        if end is End.CONFLICT:
            return
        (self.arrows if end is End.ARROW else self.tails)[b].add(a)
        cause, effect = (a, b) if end is End.ARROW else (b, a)
        if cause in self.arrows[effect] and effect in self.tails[cause]:
            self.parents[effect].add(cause)
            self.children[cause].add(effect)

    def write_ends(self, codes: Ends) -> None:
        """Write the ends of all edges, shape (N, N)."""
        kinds = ((self.adjacent, End.CONFLICT), (self.circles, End.CIRCLE), (self.arrows, End.ARROW),
                 (self.tails, End.TAIL))  # fmt: skip
        for neighbours, end in kinds:
            second = [b for b, around in enumerate(neighbours) for _ in around]
            codes[[a for around in neighbours for a in around], second] = end


class GraphFamily:
    """The graphs of all contexts, where their settled ends come from, and what is in doubt.

    `origins` has the ends that rules asked for; an end that follows from the other end of its edge has none.
    """

    def __init__(self, adjacency: Bools, evidence: Evidence, kind: Kind = Kind.PATTERN) -> None:
        self.adjacency = adjacency
        self.graphs = [PartlyOriented(a, t.ambiguous) for a, t in zip(adjacency, evidence.triples, strict=True)]
        self.evidence, self.contexts, self.closure = evidence, evidence.contexts, CLOSURES[kind]
        self.origins: dict[Place, Origin] = {}
        self.doubts: set[Doubt] = set()

    def apply(self, proposals: Iterable[tuple[str, Proposal]]) -> bool:
        """Set open ends as rules, named first, propose, contradictory ones to a conflict; whether anything changed."""
        wanted: dict[tuple[Place, End], Origin] = {}
        for rule, proposal in proposals:
            _, a, b, end, via, source = proposal
            for g in self.affected(proposal):
                if a in self.graphs[g].circles[b]:
                    wanted.setdefault(((g, a, b), end), Origin(rule, source, via))
                elif self.graphs[g].contradicts(a, b, end):
                    self.doubts.add(Doubt(rule, g, a, b))
        self._settle(wanted)
        return bool(wanted)

    def affected(self, proposal: Proposal) -> Iterable[int]:
        """The graphs that an end holds for."""
        return sharing_ends(self.contexts, proposal.graph, proposal.a, proposal.b)

    def ends(self) -> Ends:
        """The ends of all graphs, shape (graphs, N, N)."""
        ends = np.zeros(self.adjacency.shape, dtype=np.int8)
        for graph, codes in zip(self.graphs, ends, strict=True):
            graph.write_ends(codes)
        return ends

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

    def _settle(self, wanted: Mapping[tuple[Place, End], Origin]) -> None:
        """Set the ends that are wanted and what they imply; an edge with contradictory claims becomes a conflict."""
        claims: dict[Place, set[End]] = {}
        for (g, a, b), end in wanted:
            claims.setdefault((g, a, b), set()).add(end)
            if end in self.closure:
                claims.setdefault((g, b, a), set()).add(self.closure[end])
        contested = {place for place, ends in claims.items() if len(ends) > 1}
        for place, ends in claims.items():
            g, a, b = place
            end = End.CONFLICT if contested.intersection((place, (g, b, a))) else min(ends)
            self.graphs[g].settle(a, b, end)
            if (place, end) in wanted:
                self.origins[place] = wanted[place, end]
