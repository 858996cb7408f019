"""Rules within one graph: from knowledge, from its colliders, and from settled ends.

In a CPDAG these are Meek's four rules. In a PAG they are R1-R4 and R8-R10 of Zhang (2008): an arrow
at b of a - b says that b is no cause of a, a tail that it is one, perhaps through others. R5-R7 are
for selection, of which there is none: a context is a variable of the graph. `clear` keeps triples
without a verdict out.

Where the literature walks along uncovered paths (R9, R10), a walk is as good: if the end in
question were an arrow, every step of the walk would be directed, and directed steps lead from a
cause to its effect or in a circle. So it is enough to know which steps can follow each other, and
nothing grows exponentially.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from itertools import combinations

import numpy as np

from causalcontext.graphs.endpoints import Endpoint
from causalcontext.graphs.paths import reach
from causalcontext.search.family import ARROW, CONFLICT, TAIL, GraphFamily, PartlyOriented, Proposal

EndClaim = tuple[int, int, Endpoint, tuple[int, ...]]
"""This end at b of a - b, because of some other variables."""


def in_every_graph(
    rule: Callable[[PartlyOriented], Iterator[EndClaim]],
) -> Callable[[GraphFamily], Iterator[Proposal]]:
    """A rule of the family from a rule about one graph, which is asked of each.

    It yields ends (a, b, end at b of a - b, variables it rests on); the proposals name the graph as
    well.
    """

    @wraps(rule)
    def proposals(family: GraphFamily) -> Iterator[Proposal]:
        for g, graph in enumerate(family.graphs):
            for a, b, end, via in rule(graph):
                yield Proposal(g, a, b, end, via, g)

    return proposals


def only_allowed_direction(family: GraphFamily) -> Iterator[Proposal]:
    """Adjacent pairs that knowledge allows in one direction only."""
    if family.evidence.links is None:
        return
    may = family.evidence.links.may
    first, second, present = family.edges
    in_one_direction = may[first, second] & ~may[second, first]
    for g, e in np.argwhere(present & in_one_direction).tolist():
        yield Proposal(g, int(first[e]), int(second[e]), ARROW, (), g)


def agreed_direction(family: GraphFamily) -> Iterator[Proposal]:
    """Directions that all models of a score have that are nearly as good as the best one."""
    arrows = family.evidence.arrows
    if arrows is None:
        return
    for g, cause, effect in np.argwhere(arrows).tolist():
        yield Proposal(g, cause, effect, ARROW, (), g)


def collider(family: GraphFamily) -> Iterator[Proposal]:
    """Arrows of colliders x --> w <-- y; one that knowledge rules out is a test error, and orients
    nothing.

    Each arrow rests on the other end of its triple, of several on the first in the order of the
    columns.
    """
    links = family.evidence.links
    for g, judged in enumerate(family.evidence.triples):
        arrows: dict[tuple[int, int], int] = {}
        for x, w, y in sorted(judged.colliders):
            if links is None or (links.may[x, w] and links.may[y, w]):
                arrows.setdefault((x, w), y)
                arrows.setdefault((y, w), x)
        for (cause, effect), other in arrows.items():
            yield Proposal(g, cause, effect, ARROW, (other,), g)


@in_every_graph
def away_from_collider(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R1: c --> a - b with c, b not adjacent: a --> b, else a would be a collider."""
    for a, b in graph.open_endpoints():
        if graph.parents[a]:
            witness = [c for c in graph.parents[a] if graph.clear(c, a, b)]
            if witness:
                yield a, b, ARROW, (min(witness),)


@in_every_graph
def away_from_cycle(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R2: a --> c --> b and a - b: a --> b, else there would be a cycle."""
    for a, b in graph.open_endpoints():
        witness = graph.children[a] & graph.parents[b]
        if witness:
            yield a, b, ARROW, (min(witness),)


@in_every_graph
def double_triangle(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R3: a - c --> b <-- d - a with c, d not adjacent, and a - b: a --> b."""
    for a, b in graph.open_endpoints():
        if len(graph.parents[b]) < 2:
            continue
        sides = sorted(graph.circles[a] & graph.parents[b])
        witness = _first_apart(graph, a, sides)
        if witness:
            yield a, b, ARROW, witness


@in_every_graph
def long_triangle(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R4: a - c --> d --> b with c, b not adjacent, a adjacent to d, and a - b: a --> b. Needed
    with knowledge.
    """
    for a, b in graph.open_endpoints():
        middle = graph.parents[b] & graph.tested[a]
        if not middle:
            continue
        for c in sorted(graph.circles[a] - {b}):
            through = graph.children[c] & middle
            if through and graph.clear(c, a, b):
                yield a, b, ARROW, (c, min(through))
                break


def known_endpoints(family: GraphFamily) -> Iterator[Proposal]:
    """A tail at what is known to be a cause, an arrow at what is known not to be one; no more than
    that.
    """
    links = family.evidence.links
    if links is None:
        return
    causes = reach(links.must)
    first, second, present = family.edges
    for g, e in np.argwhere(present).tolist():
        a = int(first[e])
        b = int(second[e])
        if causes[b, a]:
            yield Proposal(g, a, b, TAIL, (), g)
        elif not links.may[b, a]:
            yield Proposal(g, a, b, ARROW, (), g)


def pag_collider(family: GraphFamily) -> Iterator[Proposal]:
    """R0: arrows at the centres of colliders; one against a known cause is a test error, and
    orients nothing.

    An edge with such arrows at both ends is a hidden common cause, or its two separations
    contradict each other. With contested edges as conflicts it is given up, unless one of the
    arrows was known before. Over time, an arrow is proposed at all repetitions of its edge, so that
    these contest each other as well.
    """
    links = family.evidence.links
    repeated = family.evidence.repeated
    proposals = list[Proposal]()
    causes = None if links is None else reach(links.must)
    for g, judged in enumerate(family.evidence.triples):
        for x, w, y in sorted(judged.colliders):
            if causes is not None and (causes[w, x] or causes[w, y]):
                continue
            for cause, other in ((x, y), (y, x)):
                arrow = Proposal(g, cause, w, ARROW, (other,), g)
                proposals.append(arrow)
                if repeated is not None:
                    proposals += repeated(arrow)
    asked = {(min(family.affected(arrow)), arrow.a, arrow.b) for arrow in proposals}
    for arrow in proposals:
        graph = family.graphs[arrow.graph]
        nothing_known = arrow.a in graph.circles[arrow.b] and arrow.b in graph.circles[arrow.a]
        both = (min(family.affected(arrow)), arrow.b, arrow.a) in asked and nothing_known
        give_up = both and family.evidence.contested == "conflict"
        yield arrow._replace(end=CONFLICT) if give_up else arrow


@in_every_graph
def no_new_collider(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R1: an arrow c *-> b, b no collider of c and a: a tail at b of a - b."""
    for a, b in graph.open_endpoints():
        witness = [c for c in graph.arrows[b] if c != a and graph.clear(c, b, a)]
        if witness:
            yield a, b, TAIL, (min(witness),)


@in_every_graph
def no_cycle(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R2: a --> c *-> b or a *-> c --> b: b causing a would close a cycle, so an arrow at b."""
    for a, b in graph.open_endpoints():
        witness = graph.children[a] & graph.arrows[b] | {
            c for c in graph.parents[b] if a in graph.arrows[c]
        }
        if witness:
            yield a, b, ARROW, (min(witness),)


@in_every_graph
def pag_double_triangle(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R3: c *-> b <-* d, a no collider of c and d, circles at a of both: an arrow at b of a - b."""
    for a, b in graph.open_endpoints():
        sides = sorted(graph.arrows[b] & graph.circles[a])
        witness = _first_apart(graph, a, sides)
        if witness:
            yield a, b, ARROW, witness


def discriminating_path(family: GraphFamily) -> Iterator[Proposal]:
    """R4: a path d *-> ... <-> a <-* b - c on which all but d and b are colliders and causes of c,
    d and c apart.

    b is in all sets that separate d and c, and causes c, or it is in none of them, and a <-> b <->
    c. Every end d of such a path has its say: the first one alone would depend on the order of the
    columns. A hidden common cause is drawn only where colliders may draw one, too: of the `<->`
    that tests with noise find so, one in three is right.
    """
    inquiry = family.evidence.inquiry
    if inquiry is None:
        return
    for g, graph in enumerate(family.graphs):
        for c, b in graph.open_endpoints():
            for a, d in _discriminating(graph, b, c):
                verdict = inquiry.is_collider(g, d, b, c)
                if verdict is False:
                    yield Proposal(g, c, b, TAIL, (d, a), g)
                elif verdict and family.evidence.contested == "bidirected":
                    yield Proposal(g, a, b, ARROW, (d, c), g)
                    yield Proposal(g, c, b, ARROW, (d, a), g)
                    yield Proposal(g, b, c, ARROW, (d, a), g)


def _discriminating(graph: PartlyOriented, b: int, c: int) -> Iterator[tuple[int, int]]:
    """The pairs (a, d) of all discriminating paths d ... a, b, c.

    The path is walked backwards from a, over variables that are colliders on it and causes of c,
    until a d that is not adjacent to c.
    """
    for a in sorted(graph.parents[c] & graph.tested[b]):
        if b not in graph.arrows[a]:
            continue
        seen = {a, b, c}
        frontier = [a]
        while frontier:
            nearer = frontier.pop()
            for before in sorted(graph.arrows[nearer] - seen):
                if before not in graph.adjacent[c]:
                    yield a, before
                elif before in graph.parents[c] and nearer in graph.arrows[before]:
                    frontier.append(before)
                else:
                    continue
                seen.add(before)


@in_every_graph
def through_an_effect(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R8: b --> c --> a and b o-> a: b causes a, so a tail at b."""
    for a, b in _half_directed(graph):
        witness = graph.children[b] & graph.parents[a]
        if witness:
            yield a, b, TAIL, (min(witness),)


@in_every_graph
def around_the_edge(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R9: b o-> a, and an uncovered walk b, c, ..., a that may be directed, c and a apart: a tail
    at b.
    """
    for b, pairs in _by_start(graph).items():
        for a in pairs:
            for c in sorted(_possible_effects(graph, b) - graph.adjacent[a] - {a}):
                if graph.clear(c, b, a) and a in _uncovered(graph, b, c):
                    yield a, b, TAIL, (c,)
                    break


@in_every_graph
def two_ways_round(graph: PartlyOriented) -> Iterator[EndClaim]:
    """R10: b o-> a, uncovered walks from b that begin with c, with d, c and d apart, to causes of
    a: a tail at b.
    """
    for b, pairs in _by_start(graph).items():
        first = sorted(_possible_effects(graph, b))
        endpoints = {c: _uncovered(graph, b, c) | {c} for c in first}
        for a in pairs:
            useful = [c for c in first if c != a and endpoints[c] & graph.parents[a]]
            witness = _first_apart(graph, b, useful)
            if witness:
                yield a, b, TAIL, witness


def _first_apart(
    graph: PartlyOriented, centre: int, candidates: list[int]
) -> tuple[int, int] | None:
    """The first two candidates c, d with (c, centre, d) unshielded and with a verdict; None without
    any.
    """
    for c, d in combinations(candidates, 2):
        if graph.clear(c, centre, d):
            return c, d
    return None


def _half_directed(graph: PartlyOriented) -> Iterator[tuple[int, int]]:
    """(a, b) for every b o-> a."""
    for a, b in graph.open_endpoints():
        if b in graph.arrows[a]:
            yield a, b


def _by_start(graph: PartlyOriented) -> dict[int, list[int]]:
    """For every b the a with b o-> a."""
    ends_of: dict[int, list[int]] = {}
    for a, b in _half_directed(graph):
        ends_of.setdefault(b, []).append(a)
    return ends_of


def _possible_effects(graph: PartlyOriented, b: int) -> set[int]:
    """The neighbours a of b with no arrow at b, no tail at a and no conflict: b may cause them."""
    return {
        a
        for a in graph.circles[b] | graph.tails[b]
        if b in graph.circles[a] or b in graph.arrows[a]
    }


def _uncovered(graph: PartlyOriented, start: int, second: int) -> set[int]:
    """The variables that are reached by uncovered walks which may be directed and begin with these
    two.

    Uncovered: of three successive variables, the outer ones are not adjacent, and the middle one
    has a verdict. The second variable itself does not count.
    """
    seen = {(start, second)}
    frontier = [(start, second)]
    while frontier:
        before, current = frontier.pop()
        for after in _possible_effects(graph, current):
            if (
                (current, after) not in seen
                and after != before
                and graph.clear(before, current, after)
            ):
                seen.add((current, after))
                frontier.append((current, after))
    return {current for _, current in seen} - {second}
