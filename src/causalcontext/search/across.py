"""What the graphs of different contexts say about each other's arrows: rules T1, V1, V4, F and A1-A3.

They are sound under causal sufficiency, weak context-sufficiency (mechanisms change only where the context is a cause)
and strong context-acyclicity (no union cycle meets the context or its ancestors); docs/orientation.md has the one-line
proofs. T0, that links at the context are the same in all graphs, is how `Family` applies an arrow. V3 of the literature
note is a special case of V1. `ACROSS_RULES` lists them, strongest first.

An edge that is missing in one context speaks for a change of mechanism only if the data could have shown it there: V1
and V4 ask `physical(x, y, present graph, absent graph)` before they use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

from causalcontext.search.family import Doubt, Family, Origin, Proposal
from causalcontext.search.orient import Rule
from causalcontext.search.plan import Physical


def always_physical(x: int, y: int, present: int, absent: int) -> bool:
    """Trust every missing edge: right for exact distributions."""
    return True


def across_rules(physical: Physical = always_physical) -> tuple[tuple[Rule, ...], ...]:
    """The rules in groups, strongest first."""
    return (
        (ancestor_of_context, from_ancestor_to_descendant, into_ancestor),
        (_gated(vanishing_from_unchanged, physical), _gated(vanishing_arrow, physical), flipping_arrow),
        (same_direction_everywhere,),
    )


def unchanged(family: Family, ancestors: set[int] | None = None) -> set[int]:
    """The variables that cannot be children of the context: not adjacent to it, or known ancestors of it."""
    graph = family.graphs[0]
    known = context_ancestors(family) if ancestors is None else ancestors
    adjacent = graph.adjacent[family.context]
    return {v for v in range(len(graph.adjacent)) if v != family.context and (v not in adjacent or v in known)}


def context_ancestors(family: Family) -> set[int]:
    """Known ancestors of the context, along arrows of any graph (there is no union cycle through it)."""
    return _reach(family, family.context, upstream=True)


def context_descendants(family: Family) -> set[int]:
    """Known descendants of the context, along arrows of any graph."""
    return _reach(family, family.context, upstream=False)


def ancestor_of_context(family: Family) -> Iterator[Proposal]:
    """A1: a neighbour of the context that is a known ancestor causes it; a known descendant is caused by it."""
    context = family.context
    for v in family.graphs[0].undirected[context] & context_ancestors(family):
        yield Proposal(0, v, context, Origin("A1", 0, ()))
    for v in family.graphs[0].undirected[context] & context_descendants(family):
        yield Proposal(0, context, v, Origin("A1", 0, ()))


def from_ancestor_to_descendant(family: Family) -> Iterator[Proposal]:
    """A2: an edge between a known ancestor and a known descendant of the context points to the descendant."""
    above, below = context_ancestors(family), context_descendants(family)
    for g, graph in enumerate(family.graphs):
        for a in above:
            for b in graph.undirected[a] & below:
                yield Proposal(g, a, b, Origin("A2", g, (family.context,)))


def into_ancestor(family: Family) -> Iterator[Proposal]:
    """A3: with b a known ancestor of the context and a ~> b along arrows of any graph, a - b is a --> b."""
    for b in context_ancestors(family):
        open_here = set().union(*(graph.undirected[b] for graph in family.graphs)) - {family.context}
        if not open_here:
            continue
        for a in open_here & _reach(family, b, upstream=True):
            for g, graph in enumerate(family.graphs):
                if b in graph.undirected[a]:
                    yield Proposal(g, a, b, Origin("A3", g, (family.context,)))


Vanishing = tuple[Proposal, tuple[int, int, int, int]]
"""A proposal, and what it rests on: x, y, the graph that has x - y, and the one that has not."""


def vanishing_from_unchanged(family: Family) -> Iterator[Vanishing]:
    """V1: x - y is here and not there, and x is no child of the context: x --> y and context --> y.

    y --> x would be a change in the causes of x. Where neither end can be a child of the context (V2) an assumption or
    a test is wrong, and no rule is used.
    """
    fixed = unchanged(family)
    for g, h, x, y in _vanishing_edges(family):
        if x in fixed and y not in fixed:
            needed = (x, y, g, h)
            yield Proposal(g, x, y, Origin("V1", h, ())), needed
            yield Proposal(g, family.context, y, Origin("V1", h, (x,))), needed


def vanishing_arrow(family: Family) -> Iterator[Vanishing]:
    """V4: x --> y here and no edge there: context --> y."""
    fixed = unchanged(family)
    for g, h, x, y in _vanishing_edges(family):
        if y in family.graphs[g].children[x] and y not in fixed:
            yield Proposal(g, family.context, y, Origin("V4", h, (x,))), (x, y, g, h)


def flipping_arrow(family: Family) -> Iterator[Proposal]:
    """F: x --> y here and y --> x there: the context causes both."""
    for g, h in permutations(range(len(family.graphs)), 2):
        for x, y in family.graphs[g].arrows():
            if x in family.graphs[h].children[y] and family.context not in (x, y):
                yield Proposal(g, family.context, x, Origin("F", h, (y,)))
                yield Proposal(g, family.context, y, Origin("F", h, (x,)))


def same_direction_everywhere(family: Family) -> Iterator[Proposal]:
    """T1: x --> y in one graph, and x or y is no child of the context: x --> y wherever they are adjacent."""
    fixed = unchanged(family)
    for g, graph in enumerate(family.graphs):
        for x, y in graph.arrows():
            if family.context in (x, y) or not (x in fixed or y in fixed):
                continue
            for h, other in enumerate(family.graphs):
                if h != g and y in other.adjacent[x]:
                    yield Proposal(h, x, y, Origin("T1", g, ()))


def broken_assumptions(family: Family) -> Iterator[Doubt]:
    """Edges that vanish though neither end can be a child of the context (V2), or though their head cannot (T1')."""
    fixed = unchanged(family)
    for g, h, x, y in _vanishing_edges(family):
        if y in fixed and y in family.graphs[g].children[x]:
            yield Doubt("T1'", h, x, y)
        elif x in fixed and y in fixed and x < y and x not in family.graphs[g].children[y]:
            yield Doubt("V2", h, x, y)


def _gated(rule: Callable[[Family], Iterator[Vanishing]], physical: Physical) -> Rule:
    """The proposals of a rule that rest on a missing edge the data could have shown."""

    def proposals(family: Family) -> Iterator[Proposal]:
        for proposal, needed in rule(family):
            if _is_open(family, proposal) and physical(*needed):
                yield proposal

    return proposals


def _is_open(family: Family, proposal: Proposal) -> bool:
    """Whether the proposal could change or contradict anything: asking for support is not free."""
    graph = family.graphs[proposal.graph]
    return proposal.effect in graph.adjacent[proposal.cause] and proposal.effect not in graph.children[proposal.cause]


def _vanishing_edges(family: Family) -> Iterator[tuple[int, int, int, int]]:
    """(g, h, x, y), both readings, for system edges x - y of graph g that graph h does not have."""
    for g, h in permutations(range(len(family.graphs)), 2):
        there = family.graphs[h].adjacent
        for x, around in enumerate(family.graphs[g].adjacent):
            if x != family.context:
                for y in around - there[x] - {family.context}:
                    yield g, h, x, y


def _reach(family: Family, start: int, upstream: bool) -> set[int]:
    """Everything that a path of arrows of any graph leads from (or to), seen from `start`."""
    found: set[int] = set()
    frontier = {start}
    while frontier:
        found |= frontier
        sides = (graph.parents if upstream else graph.children for graph in family.graphs)
        frontier = set().union(*(side[v] for side in sides for v in frontier)) - found
    return found - {start}
