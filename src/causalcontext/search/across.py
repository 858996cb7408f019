"""What the graphs of different contexts say about each other's arrows: rules T1, V1, V4, F and A1-A3.

They are sound under causal sufficiency, weak context-sufficiency (mechanisms change only where a context variable is a
cause) and strong context-acyclicity (no union cycle meets a context variable or its ancestors); docs/orientation.md has
the one-line proofs. T0, that links at a context variable are the same in all graphs, is how `GraphFamily` applies
an arrow. V3 of the literature note is a special case of V1. `across_rules` lists them, strongest first.

With several context variables, two graphs are compared where just one of the variables differs: what changes between
them is its doing. An edge that is missing in one context speaks for a change of mechanism only if the data could have
shown it there: V1 and V4 ask `physical(x, y, present graph, absent graph)` before they use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from causalcontext.graphs.paths import reached
from causalcontext.search.family import Doubt, GraphFamily, Origin, Proposal
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
        (same_direction_everywhere, same_direction_after_a_step),
    )


def unchanged(family: GraphFamily, context: int) -> set[int]:
    """The variables that cannot be children of a context variable: not adjacent to it, or known ancestors of it."""
    known = ancestors(family, context)
    adjacent = set().union(*(graph.adjacent[context] for graph in family.graphs))
    variables = range(len(family.graphs[0].adjacent))
    return {v for v in variables if v != context and (v not in adjacent or v in known)}


def ancestors(family: GraphFamily, variable: int) -> set[int]:
    """Known ancestors, along arrows of any graph (there is no union cycle through a context variable)."""
    return reached(variable, [graph.parents for graph in family.graphs])


def descendants(family: GraphFamily, variable: int) -> set[int]:
    """Known descendants, along arrows of any graph."""
    return reached(variable, [graph.children for graph in family.graphs])


def ancestor_of_context(family: GraphFamily) -> Iterator[Proposal]:
    """A1: a neighbour of a context that is a known ancestor causes it; a known descendant is caused by it."""
    for context in family.contexts.positions:
        open_here = set().union(*(graph.undirected[context] for graph in family.graphs))
        for v in open_here & ancestors(family, context):
            yield Proposal(0, v, context, Origin("A1", 0, (context,)))
        for v in open_here & descendants(family, context):
            yield Proposal(0, context, v, Origin("A1", 0, (context,)))


def from_ancestor_to_descendant(family: GraphFamily) -> Iterator[Proposal]:
    """A2: an edge between a known ancestor and a known descendant of a context points to the descendant."""
    for context in family.contexts.positions:
        above, below = ancestors(family, context), descendants(family, context)
        for g, graph in enumerate(family.graphs):
            for a in above:
                for b in graph.undirected[a] & below:
                    yield Proposal(g, a, b, Origin("A2", g, (context,)))


def into_ancestor(family: GraphFamily) -> Iterator[Proposal]:
    """A3: with b a known ancestor of a context and a ~> b along arrows of any graph, a - b is a --> b."""
    for context in family.contexts.positions:
        for b in ancestors(family, context):
            open_here = set().union(*(graph.undirected[b] for graph in family.graphs)) - {context}
            if not open_here:
                continue
            for a in open_here & ancestors(family, b):
                for g, graph in enumerate(family.graphs):
                    if b in graph.undirected[a]:
                        yield Proposal(g, a, b, Origin("A3", g, (context,)))


Gated = tuple[Proposal, tuple[int, int, int, int]]
"""A proposal, and what it rests on: x, y, the graph that has x - y, and the one that has not."""


def vanishing_from_unchanged(family: GraphFamily) -> Iterator[Gated]:
    """V1: x - y is here and not there, and x is no child of the context that differs: x --> y and context --> y.

    y --> x would be a change in the causes of x. Where neither end can be a child of the context (V2) an assumption or
    a test is wrong, and no rule is used.
    """
    fixed = _unchanged_by_context(family)
    for g, h, context, x, y in family.vanishing:
        if x in fixed[context] and y not in fixed[context]:
            needed = (x, y, g, h)
            yield Proposal(g, x, y, Origin("V1", h, ())), needed
            yield Proposal(g, context, y, Origin("V1", h, (x,))), needed


def vanishing_arrow(family: GraphFamily) -> Iterator[Gated]:
    """V4: x --> y here and no edge there: context --> y."""
    fixed = _unchanged_by_context(family)
    for g, h, context, x, y in family.vanishing:
        if y in family.graphs[g].children[x] and y not in fixed[context]:
            yield Proposal(g, context, y, Origin("V4", h, (x,))), (x, y, g, h)


def flipping_arrow(family: GraphFamily) -> Iterator[Proposal]:
    """F: x --> y here and y --> x there: the context that differs causes both."""
    for g, h, context in family.contexts.steps():
        for x, y in family.graphs[g].arrows():
            if x in family.graphs[h].children[y] and not {x, y}.intersection(family.contexts.positions):
                yield Proposal(g, context, x, Origin("F", h, (y,)))
                yield Proposal(g, context, y, Origin("F", h, (x,)))


def same_direction_everywhere(family: GraphFamily) -> Iterator[Proposal]:
    """T1: x --> y in one graph, and x or y is no child of any context: x --> y wherever they are adjacent."""
    fixed = set.intersection(*_unchanged_by_context(family).values())
    for (x, y), g in _system_arrows(family).items():
        if x in fixed or y in fixed:
            for h, other in enumerate(family.graphs):
                if h != g and y in other.adjacent[x]:
                    yield Proposal(h, x, y, Origin("T1", g, ()))


def same_direction_after_a_step(family: GraphFamily) -> Iterator[Proposal]:
    """T1 between graphs that differ in one of several contexts: x or y need not be a child of that one alone."""
    if len(family.contexts.positions) < 2:
        return
    fixed = _unchanged_by_context(family)
    for g, h, context in family.contexts.steps():
        for x, y in family.graphs[g].arrows():
            at_context = x in family.contexts.positions or y in family.contexts.positions
            if y in family.graphs[h].adjacent[x] and not at_context and (x in fixed[context] or y in fixed[context]):
                yield Proposal(h, x, y, Origin("T1", g, ()))


def broken_assumptions(family: GraphFamily) -> Iterator[Doubt]:
    """Edges that vanish though neither end can be a child of the context (V2), or though their head cannot (T1')."""
    fixed = _unchanged_by_context(family)
    for g, h, context, x, y in family.vanishing:
        if y in fixed[context] and y in family.graphs[g].children[x]:
            yield Doubt("T1'", h, x, y)
        elif {x, y} <= fixed[context] and x < y and x not in family.graphs[g].children[y]:
            yield Doubt("V2", h, x, y)


def _unchanged_by_context(family: GraphFamily) -> dict[int, set[int]]:
    return {context: unchanged(family, context) for context in family.contexts.positions}


def _system_arrows(family: GraphFamily) -> dict[tuple[int, int], int]:
    """The arrows between system variables, each with the first graph that has it."""
    found: dict[tuple[int, int], int] = {}
    for g, graph in enumerate(family.graphs):
        for x, y in graph.arrows():
            if not {x, y}.intersection(family.contexts.positions):
                found.setdefault((x, y), g)
    return found


def _gated(rule: Callable[[GraphFamily], Iterator[Gated]], physical: Physical) -> Rule:
    """The proposals of a rule that rest on a missing edge the data could have shown."""

    def proposals(family: GraphFamily) -> Iterator[Proposal]:
        for proposal, needed in rule(family):
            if _is_open(family, proposal) and physical(*needed):
                yield proposal

    return proposals


def _is_open(family: GraphFamily, proposal: Proposal) -> bool:
    """Whether the proposal could change or contradict anything: asking for support is not free."""
    cause, effect = proposal.cause, proposal.effect
    graphs = (family.graphs[g] for g in family.affected(proposal))
    return any(effect in graph.adjacent[cause] and effect not in graph.children[cause] for graph in graphs)
