"""Rules that compare the graphs of different contexts: rules A2, A3, V1, V4, F and T1 for
CPDAGs, I, V, V* and U for PAGs, and checks.

Those for CPDAGs are sound under causal sufficiency, weak context-sufficiency (mechanisms change
only where a context variable is a cause) and strong context-acyclicity (no union cycle meets a
context variable or its ancestors); docs/orientation.md has the one-line proofs. T0, that links at a
context variable are the same in all graphs, is how `GraphFamily` applies an end. V3 of the
literature note is a special case of V1; A1, that a neighbour of a context which is a known ancestor
causes it, follows from the others. `search.rules` lists them, with their order.

Those for PAGs are about links at the context variable R. Whether R causes a variable is the same in
every context, and what R does not cause has the same causes, with all their links, in every context
(docs/hidden-causes.md has the proofs). So where x - z is in one context and not in another, and x
is no effect of R, z is one. R may be confounded with anything, except for U. The rules for CPDAGs
(T1, V1, V2) are wrong where variables are hidden.

With several context variables, two graphs are compared where just one of the variables differs:
what changes between them is its doing. In PAGs what R causes may depend on the others, so what is
known of it is known of such graphs only. An edge that is missing in one context speaks for a change
of mechanism only if the data could have shown it there: V1, V4, V and V* ask `evidence.physical(x,
y, present graph, absent graph)` before they use it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from causalcontext.graphs.paths import reached
from causalcontext.search.family import ARROW, TAIL, GraphFamily, Proposal, SeparatingSet, Vanishing

GraphEdge = tuple[int, int, int]
"""(graph, x, y)"""


def from_ancestor_to_descendant(family: GraphFamily) -> Iterator[Proposal]:
    """A2: an edge between a known ancestor and a known descendant of a context points to the
    descendant.
    """
    for context in family.contexts.positions:
        above = ancestors(family, context)
        below = descendants(family, context)
        for g, graph in enumerate(family.graphs):
            for a in above:
                for b in graph.circles[a] & below:
                    yield _arrow(g, a, b, via=(context,))


def into_ancestor(family: GraphFamily) -> Iterator[Proposal]:
    """A3: with b a known ancestor of a context and a ~> b along arrows of any graph, a - b is a -->
    b.
    """
    for context in family.contexts.positions:
        for b in ancestors(family, context):
            open_here = set().union(*(graph.circles[b] for graph in family.graphs)) - {context}
            if not open_here:
                continue
            for a in open_here & ancestors(family, b):
                for g, graph in enumerate(family.graphs):
                    if a in graph.circles[b]:
                        yield _arrow(g, a, b, via=(context,))


def vanishing_from_unchanged(family: GraphFamily) -> Iterator[Proposal]:
    """V1: x - y is here and not there, and x is no child of the context that differs: x --> y and
    context --> y.

    y --> x would be a change in the causes of x. Where neither end can be a child of the context
    (V2) an assumption or a test is wrong, and no rule is used.
    """
    fixed = _unchanged_by_context(family)
    asked = AskedEndpoints(family)
    for lost in family.vanishing:
        g, h, context, x, y = lost
        if x in fixed[context] and y not in fixed[context]:
            yield from asked.if_physical(lost, _arrow(g, x, y, source=h))
            yield from asked.if_physical(lost, _arrow(g, context, y, via=(x,), source=h))


def vanishing_arrow(family: GraphFamily) -> Iterator[Proposal]:
    """V4: x --> y here and no edge there: context --> y."""
    fixed = _unchanged_by_context(family)
    asked = AskedEndpoints(family)
    for lost in family.vanishing:
        g, h, context, x, y = lost
        if y in family.graphs[g].children[x] and y not in fixed[context]:
            yield from asked.if_physical(lost, _arrow(g, context, y, via=(x,), source=h))


def flipping_arrow(family: GraphFamily) -> Iterator[Proposal]:
    """F: x --> y here and y --> x there: the context that differs causes both."""
    arrows, turned = family.arrows()
    if not (arrows.any(axis=0) & turned.any(axis=0)).any():
        return
    for g, h, context in family.contexts.steps():
        for e in np.flatnonzero(arrows[g] & turned[h]):
            x = int(family.edges.first[e])
            y = int(family.edges.second[e])
            yield _arrow(g, context, x, via=(y,), source=h)
            yield _arrow(g, context, y, via=(x,), source=h)


def same_direction(family: GraphFamily) -> Iterator[Proposal]:
    """T1: x --> y in one graph, and x or y is no child of the contexts: x --> y wherever they are
    adjacent.

    Between graphs that differ in one of several contexts, it is enough that x or y is no child of
    that one. Children of a context that is made out of a column are next to that column.
    """
    first, second, present = family.edges
    arrows, _ = family.arrows()
    loose = present & ~arrows & arrows.any(axis=0)
    if not loose.any():
        return
    fixed = _unchanged_by_context(family)
    by_sources = [unchanged(family, column) for column in family.evidence.sources]
    by_none = set.intersection(*fixed.values(), *by_sources)
    for e, h in np.argwhere(loose.T).tolist():
        x = int(first[e])
        y = int(second[e])
        if x in by_none or y in by_none:
            yield _arrow(h, x, y, source=int(arrows[:, e].argmax()))
    for g, h, context in family.contexts.steps() if len(fixed) > 1 else ():
        for e in np.flatnonzero(arrows[g] & loose[h]).tolist():
            x = int(first[e])
            y = int(second[e])
            if x in fixed[context] or y in fixed[context]:
                yield _arrow(h, x, y, source=g)


def lost_from_cause(family: GraphFamily) -> Iterator[GraphEdge]:
    """T1': x --> y vanishes though y cannot be a child of the context."""
    fixed = _unchanged_by_context(family)
    for g, h, context, x, y in family.vanishing:
        if y in fixed[context] and y in family.graphs[g].children[x]:
            yield h, x, y


def lost_between_unchanged(family: GraphFamily) -> Iterator[GraphEdge]:
    """V2: an edge without direction vanishes though neither end can be a child of the context."""
    fixed = _unchanged_by_context(family)
    for g, h, context, x, y in family.vanishing:
        arrow = y in family.graphs[g].children[x] or x in family.graphs[g].children[y]
        if x < y and {x, y} <= fixed[context] and not arrow:
            yield h, x, y


def unchanged(family: GraphFamily, context: int) -> set[int]:
    """The variables that cannot be children of a context variable: not adjacent to it, or known
    ancestors of it.
    """
    known = ancestors(family, context)
    adjacent = set().union(*(graph.adjacent[context] for graph in family.graphs))
    return set(range(len(family.graphs[0].adjacent))) - (adjacent - known) - {context}


def ancestors(family: GraphFamily, variable: int) -> set[int]:
    """Known ancestors, along arrows of any graph (there is no union cycle through a context
    variable).
    """
    return reached(variable, [graph.parents for graph in family.graphs])


def descendants(family: GraphFamily, variable: int) -> set[int]:
    """Known descendants, along arrows of any graph."""
    return reached(variable, [graph.children for graph in family.graphs])


def _unchanged_by_context(family: GraphFamily) -> dict[int, set[int]]:
    """For every context variable the variables that cannot be its children."""
    return {context: unchanged(family, context) for context in family.contexts.positions}


def _arrow(
    graph: int, a: int, b: int, via: tuple[int, ...] = (), source: int | None = None
) -> Proposal:
    """a --> b, because of something in the graph `source`, or in its own."""
    return Proposal(graph, a, b, ARROW, via, graph if source is None else source)


def vanishing_from_no_effect(family: GraphFamily) -> Iterator[Proposal]:
    """V: x - z is here and not there, and x is no effect of the context (rule I), or x --> z
    somewhere: R --> z.
    """
    outside = NoEffects(family)
    for lost in family.vanishing:
        next_to_context = lost.context in family.graphs[lost.present].tested[lost.y]
        if next_to_context and outside.leave_the_other(lost):
            yield from if_physical(family, lost, _caused_by_context(lost))


def vanishing_from_separated(family: GraphFamily) -> Iterator[Proposal]:
    """V*: x - z is here, and not there given the very set that separates R and x: R --> z."""
    for lost in family.vanishing:
        next_to_context = lost.context in family.graphs[lost.present].tested[lost.y]
        if next_to_context and _set_without_the_other(family, lost) is not None:
            for proposal in if_physical(family, lost, _caused_by_context(lost)):
                if is_lost_where_separated(family, lost):
                    yield proposal


def _caused_by_context(lost: Vanishing) -> Proposal:
    """The context variable is a cause of the second end of an edge that it makes vanish."""
    return Proposal(lost.present, lost.y, lost.context, TAIL, (lost.x,), lost.absent)


def is_lost_where_separated(family: GraphFamily, lost: Vanishing) -> bool:
    """The premise of V*: true if the set that separates R and x, with R fixed as well, separates x
    and z where their edge is missing.
    """
    inquiry = family.evidence.inquiry
    separating = _set_without_the_other(family, lost)
    if inquiry is None or separating is None:
        return False
    fixed_as_well = separating._replace(fixed=(*separating.fixed, lost.context))
    return inquiry.separates(lost.absent, lost.x, lost.y, fixed_as_well)


def _set_without_the_other(family: GraphFamily, lost: Vanishing) -> SeparatingSet | None:
    """The set that separates R and x, if z is not in it."""
    inquiry = family.evidence.inquiry
    if inquiry is None:
        return None
    separating = inquiry.separating_set(lost.present, lost.context, lost.x)
    if separating is None or lost.y in (*separating.given, *separating.fixed):
        return None
    return separating


def unconfounded_context(family: GraphFamily) -> Iterator[Proposal]:
    """U: nothing hidden causes R and something else, so an arrow at one end of a link at R is a
    tail at the other.
    """
    if family.evidence.confounded:
        return
    for context in family.contexts.positions:
        for g, graph in enumerate(family.graphs):
            for v in graph.tested[context]:
                for a, b in ((v, context), (context, v)):
                    if a in graph.arrows[b]:
                        yield Proposal(g, b, a, TAIL, (), g)


def lost_between_no_effects(family: GraphFamily) -> Iterator[tuple[int, int, int]]:
    """V2: an edge vanishes though neither end is an effect of the context."""
    outside = NoEffects(family)
    for g, h, context, x, z in family.vanishing:
        if x < z and {x, z} <= outside.of(context, g):
            yield h, x, z


class NoEffects:
    """The variables that a context variable is known not to cause, in graphs that are alike but for
    it.
    """

    def __init__(self, family: GraphFamily) -> None:
        self.family = family
        self._known: dict[tuple[int, int], set[int]] = {}

    def of(self, context: int, graph: int) -> set[int]:
        """Those of a graph, by an arrow at the context variable, or by rule I.

        I: the context variable and v are separated given variables that it does not cause, or given
        none. A directed path from it to v would be open, since only its effects could block it.
        """
        alike = self.family.alike(graph, (context,))
        if (context, alike[0]) not in self._known:
            self._known[context, alike[0]] = self._no_effects(context, alike)
        return self._known[context, alike[0]]

    def leave_the_other(self, lost: Vanishing) -> bool:
        """The premise of V: true if z, of an edge x - z that vanishes, must be an effect of the
        context variable.
        """
        alike = self.family.alike(lost.present, (lost.context,))
        causes = any(lost.y in self.family.graphs[g].children[lost.x] for g in alike)
        return causes or lost.x in self.of(lost.context, lost.present)

    def _no_effects(self, context: int, alike: tuple[int, ...]) -> set[int]:
        """The no-effects by arrows at the context, and by rule I until nothing is added."""
        family = self.family
        inquiry = family.evidence.inquiry
        no_effects = set().union(*(family.graphs[g].arrows[context] for g in alike))
        if inquiry is None:
            return no_effects
        graph = alike[0]
        others = set(range(len(family.graphs[0].adjacent))) - {context}
        conditions = {}
        for v in others - family.graphs[graph].adjacent[context]:
            separating = inquiry.separating_set(graph, context, v)
            if separating is not None:
                conditions[v] = {*separating.given, *separating.fixed}
        while True:
            implied = {v for v, given in conditions.items() if no_effects.issuperset(given)}
            if implied <= no_effects:
                return no_effects
            no_effects |= implied


class AskedEndpoints:
    """The endpoints that one rule has asked for in one round: the first proposal for an endpoint
    wins, so no other need be made.
    """

    def __init__(self, family: GraphFamily) -> None:
        self.family = family
        self._open: dict[tuple[int, int, int, int], bool] = {}

    def if_physical(self, lost: Vanishing, proposal: Proposal) -> Iterator[Proposal]:
        """The proposal if the data could have shown the edge that is lost, and it changes
        anything.
        """
        leader = next(iter(self.family.affected(proposal)))
        endpoint = (leader, proposal.a, proposal.b, proposal.end)
        if endpoint not in self._open:
            self._open[endpoint] = _matters(self.family, proposal)
        if self._open[endpoint] and self.family.evidence.physical(
            lost.x, lost.y, lost.present, lost.absent
        ):
            self._open[endpoint] = False
            yield proposal


def if_physical(family: GraphFamily, lost: Vanishing, proposal: Proposal) -> Iterator[Proposal]:
    """The proposal if the data could have shown the edge that is lost; not asked where it could
    change nothing.
    """
    if _matters(family, proposal) and family.evidence.physical(
        lost.x, lost.y, lost.present, lost.absent
    ):
        yield proposal


def _matters(family: GraphFamily, proposal: Proposal) -> bool:
    """True if an end is open in some graph, or settled otherwise."""
    _, a, b, end, *_ = proposal
    graphs = (family.graphs[g] for g in family.affected(proposal))
    return any(a in graph.circles[b] or graph.contradicts(a, b, end) for graph in graphs)
