"""What the PAGs of different contexts say about links at the context variable R: rules I, V, V* and U, and a check.

Whether R causes a variable is the same in every context, and what R does not cause has the same causes, with all their
links, in every context (docs/hidden-causes.md has the proofs). So where x - z is in one context and not in another, and
x is no effect of R, z is one. T0, that ends at R are the same in all graphs, is how `GraphFamily` applies an end. R may
be confounded with anything, except for U. The rules for CPDAGs (T1, V1, V2) are wrong where variables are hidden.

As there, a missing edge speaks for a change only if the data could have shown it: `evidence.physical`.
"""

from __future__ import annotations

from collections.abc import Iterator

from causalcontext.graphs.endpoints import Endpoint
from causalcontext.search.across import if_physical
from causalcontext.search.family import GraphFamily, Proposal


def vanishing_from_no_effect(family: GraphFamily) -> Iterator[Proposal]:
    """V: x - z is here and not there, and x is no effect of the context (rule I), or x --> z somewhere: R --> z."""
    outside = {context: no_effects(family, context) for context in family.contexts.positions}
    for lost in family.vanishing:
        g, h, context, x, z = lost
        causes = any(z in graph.children[x] for graph in family.graphs)
        if (causes or x in outside[context]) and context in family.graphs[g].adjacent[z]:
            yield from if_physical(family, lost, Proposal(g, z, context, Endpoint.TAIL, (x,), h))


def vanishing_from_separated(family: GraphFamily) -> Iterator[Proposal]:
    """V*: x - z is here, and not there given the very set that separates R and x: R --> z."""
    inquiry = family.evidence.inquiry
    if inquiry is None:
        return
    for lost in family.vanishing:
        g, h, context, x, z = lost
        given = inquiry.separating_set(g, context, x)
        if given is None or z in given or context not in family.graphs[g].adjacent[z]:
            continue
        for proposal in if_physical(family, lost, Proposal(g, z, context, Endpoint.TAIL, (x,), h)):
            if inquiry.separates(h, x, z, given):
                yield proposal


def unconfounded_context(family: GraphFamily) -> Iterator[Proposal]:
    """U: nothing hidden causes R and something else, so an arrow at one end of a link at R is a tail at the other."""
    if family.evidence.confounded:
        return
    for context in family.contexts.positions:
        for g, graph in enumerate(family.graphs):
            for v in graph.adjacent[context]:
                for a, b in ((v, context), (context, v)):
                    if a in graph.arrows[b]:
                        yield Proposal(g, b, a, Endpoint.TAIL, (), g)


def lost_between_no_effects(family: GraphFamily) -> Iterator[tuple[int, int, int]]:
    """V2: an edge vanishes though neither end is an effect of the context."""
    outside = {context: no_effects(family, context) for context in family.contexts.positions}
    for _, h, context, x, z in family.vanishing:
        if x < z and {x, z} <= outside[context]:
            yield h, x, z


def no_effects(family: GraphFamily, context: int) -> set[int]:
    """The variables that a context is known not to cause: an arrow at the context, or rule I.

    I: the context and v are separated on all rows given variables that it does not cause, or given none. A directed
    path from it to v would be open, since only its effects could block it.
    """
    inquiry = family.evidence.inquiry
    found = set().union(*(graph.arrows[context] for graph in family.graphs))
    if inquiry is None:
        return found
    variables = set(range(len(family.graphs[0].adjacent))) - {context}
    apart = {v: inquiry.separating_set(0, context, v) for v in variables - family.graphs[0].adjacent[context]}
    while True:
        more = {v for v, given in apart.items() if given is not None and found.issuperset(given)} - found
        if not more:
            return found
        found |= more
