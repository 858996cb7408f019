"""Arrowheads of graphs: knowledge, colliders, then rules until nothing changes.

`orient` treats one graph by itself with Meek's four rules. `orient_all` treats the graphs of all contexts together;
with the rules of `search.across` they learn from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalcontext.knowledge import Links
from causalcontext.questions import Contexts
from causalcontext.search.colliders import Triples
from causalcontext.search.family import Doubt, GraphFamily, Origin, PartlyOriented, Proposal

Rule = Callable[[GraphFamily], Iterator[Proposal]]
Witness = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Oriented:
    """Marks of all graphs, shape (graphs, N, N); the origin of every arrow (graph, cause, effect); what is in doubt."""

    marks: NDArray[np.int8]
    origins: dict[tuple[int, int, int], Origin]
    doubts: tuple[Doubt, ...] = ()


def orient(adjacency: NDArray[np.bool_], links: Links, triples: Triples) -> NDArray[np.int8]:
    """The marks of one graph, shape (N, N)."""
    marks: NDArray[np.int8] = orient_all(adjacency[None], links, [triples]).marks[0]
    return marks


def orient_all(
    adjacency: NDArray[np.bool_],
    links: Links,
    triples: Sequence[Triples],
    contexts: Contexts | None = None,
    stronger_rules: Sequence[Sequence[Rule]] = (),
    checks: Callable[[GraphFamily], Iterable[Doubt]] = lambda family: (),
) -> Oriented:
    """The marks of all graphs and their origins.

    Parameters
    ----------
    adjacency : array of bool, shape (graphs, N, N)
    links : Links
        Knowledge, which comes first.
    triples : sequence of Triples
        The colliders of every graph.
    contexts : Contexts, optional
        The variables whose links the graphs share; without any, every graph is treated by itself.
    stronger_rules : sequence of groups of rules
        Tried before Meek's rules, the first group first; after every change it is the first group's turn again.
    checks : function
        What the finished graphs leave in doubt.
    """
    family = GraphFamily(adjacency, triples, contexts)
    family.apply(_known_arrows(adjacency, links))
    family.apply(_collider_arrows(triples, links))
    groups = [*stronger_rules, MEEK_RULES]
    while any(family.apply(proposal for rule in group for proposal in rule(family)) for group in groups):
        pass
    return Oriented(family.marks(), family.origins, tuple(sorted(family.doubts.union(checks(family)))))


def close_under_meek(adjacency: NDArray[np.bool_], arrows: NDArray[np.bool_]) -> NDArray[np.int8]:
    """The marks that follow from some arrows alone, shape (N, N); the rest stays undirected."""
    family = GraphFamily(adjacency[None], [Triples(frozenset(), frozenset())])
    settled = zip(*np.nonzero(arrows), strict=True)
    family.apply(Proposal(0, int(cause), int(effect), Origin("score", 0, ())) for cause, effect in settled)
    while family.apply(proposal for rule in MEEK_RULES for proposal in rule(family)):
        pass
    marks: NDArray[np.int8] = family.marks()[0]
    return marks


def _known_arrows(adjacency: NDArray[np.bool_], links: Links) -> Iterator[Proposal]:
    """Adjacent pairs that knowledge allows in one direction only."""
    for g, cause, effect in zip(*np.nonzero(adjacency & links.may & ~links.may.T), strict=True):
        yield Proposal(int(g), int(cause), int(effect), Origin("knowledge", int(g), ()))


def _collider_arrows(triples: Sequence[Triples], links: Links) -> Iterator[Proposal]:
    """Arrowheads of colliders; one that knowledge rules out is a test error, and orients nothing."""
    for g, judged in enumerate(triples):
        for x, w, y in sorted(judged.colliders):
            if links.may[x, w] and links.may[y, w]:
                yield Proposal(g, x, w, Origin("collider", g, (y,)))
                yield Proposal(g, y, w, Origin("collider", g, (x,)))


def _in_every_graph(name: str, rule: Callable[[PartlyOriented], Iterator[Witness]]) -> Rule:
    """A rule about one graph, asked of each."""

    def proposals(family: GraphFamily) -> Iterator[Proposal]:
        for g, graph in enumerate(family.graphs):
            for a, b, via in rule(graph):
                yield Proposal(g, a, b, Origin(name, g, via))

    return proposals


def _away_from_collider(graph: PartlyOriented) -> Iterator[Witness]:
    """R1: c --> a - b with c, b not adjacent: a --> b, else a would be a collider."""
    for a, b in graph.open_edges():
        witness = [c for c in graph.parents[a] if graph.clear(c, a, b)]
        if witness:
            yield a, b, (min(witness),)


def _away_from_cycle(graph: PartlyOriented) -> Iterator[Witness]:
    """R2: a --> c --> b and a - b: a --> b, else there would be a cycle."""
    for a, b in graph.open_edges():
        witness = graph.children[a] & graph.parents[b]
        if witness:
            yield a, b, (min(witness),)


def _double_triangle(graph: PartlyOriented) -> Iterator[Witness]:
    """R3: a - c --> b <-- d - a with c, d not adjacent, and a - b: a --> b."""
    for a, b in graph.open_edges():
        sides = sorted(graph.undirected[a] & graph.parents[b])
        witness = next(((c, d) for i, c in enumerate(sides) for d in sides[i + 1 :] if graph.clear(c, a, d)), None)
        if witness:
            yield a, b, witness


def _long_triangle(graph: PartlyOriented) -> Iterator[Witness]:
    """R4: a - c --> d --> b with c, b not adjacent, a adjacent to d, and a - b: a --> b. Needed with knowledge."""
    for a, b in graph.open_edges():
        middle = graph.parents[b] & graph.adjacent[a]
        for c in sorted(graph.undirected[a] - {b}):
            through = graph.children[c] & middle
            if through and graph.clear(c, a, b):
                yield a, b, (c, min(through))
                break


MEEK_RULES: tuple[Rule, ...] = (
    _in_every_graph("R1", _away_from_collider),
    _in_every_graph("R2", _away_from_cycle),
    _in_every_graph("R3", _double_triangle),
    _in_every_graph("R4", _long_triangle),
)
