"""The graphs of all contexts while they are being oriented, end by end, and why each end is what it
is.

A rule proposes one end: "the end at b of a - b is an arrow", or a tail. All proposals of a round
are collected before any is applied, so the order of the columns cannot matter. Proposals of a round
that contradict each other make the edge a conflict, which is never overwritten and supports no
further rule; an end of an earlier round stands, and what contradicts it is a doubt. What one end
says about the other depends on what the graphs are (`CLOSURES`). An end at a context variable of a
CPDAG is an end of the union, so it is applied to all graphs that have the edge at once (rule T0).
An end of a PAG says who causes whom, perhaps through others whose causes change with another
context variable: there it holds for the graphs that differ in this context variable alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.levels.neighbours import Edges
from causalcontext.knowledge import Links
from causalcontext.search.colliders import Triple, Triples
from causalcontext.search.plan import Physical
from causalcontext.views import Contexts

if TYPE_CHECKING:
    from causalcontext.search.fci import SepsetAnswers

ARROW = Endpoint.ARROW
TAIL = Endpoint.TAIL
CONFLICT = Endpoint.CONFLICT
"""A member of an enumeration is slow to look up, and these are looked up for every end."""
CLOSURES: Mapping[GraphKind, Mapping[Endpoint, Endpoint]] = {
    GraphKind.CPDAG: {ARROW: TAIL, TAIL: ARROW, CONFLICT: CONFLICT},
    GraphKind.PAG: {TAIL: ARROW, CONFLICT: CONFLICT},
}
"""The end that an end implies at the other end of its edge. A direction of a CPDAG is one arrow and
one tail. In a PAG two arrows are a hidden common cause; two tails would be selection, which a
context is not."""

EdgeEnd = tuple[int, int, int]
"""(graph, a, b): the end at b of a - b."""


class Origin(NamedTuple):
    """The origin of an end: the rule, the graph in which it applied, and the variables it
    rests on.
    """

    rule: str
    graph: int
    via: tuple[int, ...]


class Proposal(NamedTuple):
    """A proposal of a rule for one graph: this end at b of a - b, because of `via` in the graph
    `source`.
    """

    graph: int
    a: int
    b: int
    end: Endpoint
    via: tuple[int, ...]
    source: int


class Doubt(NamedTuple):
    """An end at b of a - b that a rule asks for against what is settled, or an edge on which the
    assumptions fail.
    """

    rule: str
    graph: int
    a: int
    b: int


class Vanishing(NamedTuple):
    """x - y is in one graph and not in another; no context variable but `context` differs between
    the two.
    """

    present: int
    absent: int
    context: int
    x: int
    y: int


def always_physical(x: int, y: int, present: int, absent: int) -> bool:
    """Trust every missing edge: right for exact distributions."""
    return True


class SeparatingSet(NamedTuple):
    """Variables that separate two others, where those in `fixed` have the values of the graph."""

    given: tuple[int, ...]
    fixed: tuple[int, ...] = ()


class Evidence(NamedTuple):
    """The evidence that rules may ask for besides the ends."""

    triples: Sequence[Triples]  # the colliders of every graph, and the triples without a verdict
    links: Links | None = None  # knowledge
    # the variables whose links the graphs share; without any, every graph is treated by itself
    contexts: Contexts = Contexts()
    # true if an edge that is missing in one graph may orient others
    physical: Physical = always_physical
    across: bool = True  # the graphs learn from each other, beyond the ends that they share
    inquiry: SepsetAnswers | None = None  # for PAGs: what else may be asked
    # {"conflict", "bidirected"}: for PAGs: what an edge is that has colliders at both ends
    contested: str = "conflict"
    confounded: bool = True  # for PAGs: a hidden variable may cause a context and another one
    # for CPDAGs: the columns of which further context variables, not among `contexts`, are
    # functions
    sources: tuple[int, ...] = ()
    # shape (graphs, N, N): directions that a score has settled, row --> column
    arrows: Bools | None = None
    # the ends that are the same as one that is proposed: a link over time repeats itself
    repeated: Callable[[Proposal], Iterable[Proposal]] | None = None
    # shape (graphs, edges): edges that are there only because nothing tested them
    untested: Bools | None = None


class PartlyOriented:
    """One graph that is being oriented.

    `adjacent[b]` are all neighbours of b: no rule may take one of them for separated from b.
    `tested[b]` are those whose edge a query or knowledge speaks for. An edge that nothing tested
    has open ends, and feeds no rule. `circles[b]`, `arrows[b]` and `tails[b]` are the neighbours a
    of b whose edge a - b has that end at b; an end that is none of these is a conflict.
    `parents[b]` and `children[b]` are those with a --> b and b --> a. `endpoints`, shape (N, N),
    says the same, for rules that look at all edges at once.
    """

    def __init__(
        self,
        first: Ints,
        second: Ints,
        endpoints: Endpoints,
        ambiguous: frozenset[Triple],
        untested: Bools | None = None,
    ) -> None:
        endpoints[first, second] = Endpoint.CIRCLE
        starts = np.searchsorted(first, np.arange(len(endpoints) + 1)).tolist()
        columns = second.tolist()
        self.endpoints = endpoints
        self.ambiguous = ambiguous
        self.adjacent = [set(columns[begin:end]) for begin, end in pairwise(starts)]
        self.tested = self.adjacent
        if untested is not None and untested.any():
            self.tested = [set(row) for row in self.adjacent]
            for a, b in zip(first[untested].tolist(), second[untested].tolist(), strict=True):
                self.tested[b].discard(a)
        self.circles = [set(row) for row in self.tested]
        self.arrows, self.tails, self.parents, self.children = (
            [set[int]() for _ in self.adjacent] for _ in range(4)
        )
        self._open: list[tuple[int, int]] | None = None

    def open_endpoints(self) -> list[tuple[int, int]]:
        """(a, b) for every circle at b of a - b; in a CPDAG these are both readings of every
        undirected edge.
        """
        if self._open is None:
            self._open = [(a, b) for b, around in enumerate(self.circles) for a in around]
        return self._open

    def clear(self, x: int, w: int, y: int) -> bool:
        """True if (x, w, y) is unshielded, with a verdict."""
        return y not in self.adjacent[x] and (min(x, y), w, max(x, y)) not in self.ambiguous

    def open_untested(self) -> None:
        """Let ends of edges that nothing tested be settled: for knowledge, after all rules."""
        for b, around in enumerate(self.adjacent):
            self.circles[b] |= around - self.tested[b]
        self._open = None

    def contradicts(self, a: int, b: int, end: Endpoint) -> bool:
        """True if the end at b of a - b is settled otherwise; a conflict contradicts nothing."""
        arrow_against = a in self.arrows[b] and end is not ARROW
        tail_against = a in self.tails[b] and end is not TAIL
        return arrow_against or tail_against

    def settle(self, a: int, b: int, end: Endpoint) -> None:
        """Set the end at b of a - b, unless it is settled."""
        if a not in self.circles[b]:
            return
        self.circles[b].discard(a)
        self.endpoints[a, b] = end
        self._open = None
        if end is CONFLICT:
            return
        (self.arrows if end is ARROW else self.tails)[b].add(a)
        cause, effect = (a, b) if end is ARROW else (b, a)
        if cause in self.arrows[effect] and effect in self.tails[cause]:
            self.parents[effect].add(cause)
            self.children[cause].add(effect)


class GraphFamily:
    """The graphs of all contexts, where their settled ends come from, and what is in doubt.

    `endpoints` has shape (graphs, N, N), and `edges` lists those that some graph has. `origins` has
    the endpoints that rules asked for; an end that follows from the other end of its edge has none.
    """

    def __init__(
        self, edges: Edges, variables: int, evidence: Evidence, kind: GraphKind = GraphKind.CPDAG
    ) -> None:
        self.edges = edges
        self.endpoints: Endpoints = np.zeros(
            (len(edges.present), variables, variables), dtype=np.int8
        )
        unknown = np.zeros_like(edges.present) if evidence.untested is None else evidence.untested
        self.tested: Bools = np.asarray(edges.present & ~unknown)
        self.graphs: list[PartlyOriented] = []
        for g, triples in enumerate(evidence.triples):
            in_graph = edges.present[g]
            first = edges.first[in_graph]
            second = edges.second[in_graph]
            untested = unknown[g, in_graph]
            graph = PartlyOriented(first, second, self.endpoints[g], triples.ambiguous, untested)
            self.graphs.append(graph)
        self.evidence = evidence
        self.contexts = evidence.contexts
        self.kind = kind
        self.closure = CLOSURES[kind]
        self.origins: dict[EdgeEnd, Origin] = {}
        self.noted: set[Doubt] = set()
        self._arrows: tuple[Bools, Bools] | None = None
        self._alike: dict[tuple[int, tuple[int, ...]], tuple[int, ...]] = {}

    def apply(self, proposals: Iterable[tuple[str, Proposal]]) -> bool:
        """Set open ends as rules, named first, propose, contradictory ones to a conflict; true if
        anything changed.
        """
        wanted: dict[EdgeEnd, dict[Endpoint, Origin]] = {}
        for rule, proposal in proposals:
            _, a, b, end, via, source = proposal
            for g in self.affected(proposal):
                if a in self.graphs[g].circles[b]:
                    asked = wanted.setdefault((g, a, b), {})
                    if end not in asked:
                        asked[end] = Origin(rule, source, via)
                elif self.graphs[g].contradicts(a, b, end):
                    self.noted.add(Doubt(rule, g, a, b))
        if wanted:
            self._settle(wanted)
        return bool(wanted)

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """The doubts, sorted."""
        return tuple(sorted(self.noted))

    def affected(self, proposal: Proposal) -> Iterable[int]:
        """The graphs that an end holds for: at a context variable all of them, in PAGs those alike
        but for it (T0).
        """
        shared = tuple(v for v in (proposal.a, proposal.b) if v in self.contexts.positions)
        if not shared:
            return (proposal.graph,)
        return (
            self.alike(proposal.graph, shared)
            if self.kind is GraphKind.PAG
            else range(len(self.contexts.cells))
        )

    def alike(self, graph: int, but_for: tuple[int, ...]) -> tuple[int, ...]:
        """The graphs whose context variables, but for some of them, have the values of a graph."""
        if (graph, but_for) not in self._alike:
            free = [self.contexts.positions.index(position) for position in but_for]
            kept = [
                tuple(value for j, value in enumerate(cell) if j not in free)
                for cell in self.contexts.cells
            ]
            same = tuple(g for g, values in enumerate(kept) if values == kept[graph])
            self._alike[graph, but_for] = same
        return self._alike[graph, but_for]

    def arrows(self) -> tuple[Bools, Bools]:
        """True for the edges between system variables that are arrows from `first` to `second`, and
        for those back; two arrays of shape (graphs, edges).
        """
        if self._arrows is None:
            first, second, _ = self.edges
            ends_at_second = self.endpoints[:, first, second]
            ends_at_first = self.endpoints[:, second, first]
            onward = (ends_at_second == ARROW) & (ends_at_first == TAIL)
            back = (ends_at_first == ARROW) & (ends_at_second == TAIL)
            self._arrows = onward & self.between_system, back & self.between_system
        return self._arrows

    @cached_property
    def between_system(self) -> Bools:
        """True for the edges without a context variable at either end, shape (edges,)."""
        at_context = np.zeros(self.endpoints.shape[1], dtype=bool)
        at_context[list(self.contexts.positions)] = True
        return ~(at_context[self.edges.first] | at_context[self.edges.second])

    @cached_property
    def vanishing(self) -> tuple[Vanishing, ...]:
        """System edges, both readings, that are missing after a step of one context variable.

        An edge that nothing tested does not vanish, and is not missing.
        """
        first, second, present = self.edges
        return tuple(
            Vanishing(g, h, position, int(first[e]), int(second[e]))
            for g, h, position in self.contexts.steps()
            for e in np.flatnonzero(self.tested[g] & ~present[h] & self.between_system)
        )

    def _settle(self, wanted: Mapping[EdgeEnd, Mapping[Endpoint, Origin]]) -> None:
        """Set the ends that are wanted and what they imply; an edge with contradictory claims
        becomes a conflict.
        """
        self._arrows = None
        claims: dict[EdgeEnd, Endpoint] = {}
        contested: set[EdgeEnd] = set()
        for (g, a, b), asked in wanted.items():
            for end in asked:
                if claims.setdefault((g, a, b), end) is not end:
                    contested.add((g, a, b))
                implied = self.closure.get(end)
                if implied is not None and claims.setdefault((g, b, a), implied) is not implied:
                    contested.add((g, b, a))
        for endpoint, claimed in claims.items():
            g, a, b = endpoint
            is_contested = endpoint in contested or (g, b, a) in contested
            end = CONFLICT if is_contested else claimed
            self.graphs[g].settle(a, b, end)
            if endpoint in wanted and end in wanted[endpoint]:
                self.origins[endpoint] = wanted[endpoint][end]
