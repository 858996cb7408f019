"""What follows within one pattern: from knowledge, from its colliders, and by Meek's four rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps

import numpy as np

from causalcontext.graphs.endpoints import Endpoint
from causalcontext.search.family import GraphFamily, PartlyOriented, Proposal

Witness = tuple[int, int, tuple[int, ...]]
"""a --> b, because of some other variables."""


def in_every_graph(rule: Callable[[PartlyOriented], Iterator[Witness]]) -> Callable[[GraphFamily], Iterator[Proposal]]:
    """A rule about one graph, asked of each."""

    @wraps(rule)
    def proposals(family: GraphFamily) -> Iterator[Proposal]:
        for g, graph in enumerate(family.graphs):
            for a, b, via in rule(graph):
                yield Proposal(g, a, b, Endpoint.ARROW, via, g)

    return proposals


def only_allowed_direction(family: GraphFamily) -> Iterator[Proposal]:
    """Adjacent pairs that knowledge allows in one direction only."""
    if family.evidence.links is None:
        return
    may, (first, second, present) = family.evidence.links.may, family.edges
    one_way = may[first, second] & ~may[second, first]
    for g, e in np.argwhere(present & one_way).tolist():
        yield Proposal(g, int(first[e]), int(second[e]), Endpoint.ARROW, (), g)


def collider(family: GraphFamily) -> Iterator[Proposal]:
    """Arrows of colliders; one that knowledge rules out is a test error, and orients nothing."""
    links = family.evidence.links
    for g, judged in enumerate(family.evidence.triples):
        arrows: dict[tuple[int, int], int] = {}
        for x, w, y in sorted(judged.colliders):
            if links is None or (links.may[x, w] and links.may[y, w]):
                arrows.setdefault((x, w), y)
                arrows.setdefault((y, w), x)
        for (cause, effect), other in arrows.items():
            yield Proposal(g, cause, effect, Endpoint.ARROW, (other,), g)


@in_every_graph
def away_from_collider(graph: PartlyOriented) -> Iterator[Witness]:
    """R1: c --> a - b with c, b not adjacent: a --> b, else a would be a collider."""
    for a, b in graph.open_endpoints():
        if graph.parents[a]:
            witness = [c for c in graph.parents[a] if graph.clear(c, a, b)]
            if witness:
                yield a, b, (min(witness),)


@in_every_graph
def away_from_cycle(graph: PartlyOriented) -> Iterator[Witness]:
    """R2: a --> c --> b and a - b: a --> b, else there would be a cycle."""
    for a, b in graph.open_endpoints():
        witness = graph.children[a] & graph.parents[b]
        if witness:
            yield a, b, (min(witness),)


@in_every_graph
def double_triangle(graph: PartlyOriented) -> Iterator[Witness]:
    """R3: a - c --> b <-- d - a with c, d not adjacent, and a - b: a --> b."""
    for a, b in graph.open_endpoints():
        if len(graph.parents[b]) < 2:
            continue
        sides = sorted(graph.circles[a] & graph.parents[b])
        witness = next(((c, d) for i, c in enumerate(sides) for d in sides[i + 1 :] if graph.clear(c, a, d)), None)
        if witness:
            yield a, b, witness


@in_every_graph
def long_triangle(graph: PartlyOriented) -> Iterator[Witness]:
    """R4: a - c --> d --> b with c, b not adjacent, a adjacent to d, and a - b: a --> b. Needed with knowledge."""
    for a, b in graph.open_endpoints():
        middle = graph.parents[b] & graph.adjacent[a]
        if not middle:
            continue
        for c in sorted(graph.circles[a] - {b}):
            through = graph.children[c] & middle
            if through and graph.clear(c, a, b):
                yield a, b, (c, min(through))
                break
