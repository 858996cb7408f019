"""A context C = g(W) that is a function of a column (paper, App. "Deterministic indicators").

C is not searched over. A question with W among its conditions is asked where g(W) = c, W staying among them; every
other question on all rows (i). C enters the graphs afterwards: with W --> C, and with links to the effects of edges
that are missing in some context (ii, iii). Beside other context variables, graphs are compared that differ in C alone.

In a PAG W takes the part of a context variable in all rules. C has the causes of W, and W; so a link C - y has the end
at y that W - y has, and C is known to cause y by the premises of V and V*, which say that something C acts on leads to
y. One end of an edge that vanishes need not be next to W where variables are hidden, so nothing else is certain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent, directed, endpoints_of_mark
from causalcontext.knowledge import Links
from causalcontext.search.across import NoEffects, is_lost_where_separated
from causalcontext.search.family import Doubt, GraphFamily, Origin, Place, Vanishing
from causalcontext.views import Contexts


def with_indicators(endpoints: Endpoints, origins: Mapping[Place, Origin], contexts: Contexts
                    ) -> tuple[Endpoints, dict[Place, Origin], list[Doubt]]:  # fmt: skip
    """Endpoints and their origins with the links of context variables drawn that are made out of a column; doubts."""
    drawn, known, doubts = endpoints.copy(), dict(origins), []
    for indicator, source in contexts.made:
        draw_link(drawn, known, source, indicator, Origin("deterministic", 0, ()))
        for effect, certain, origin in links_of_indicator(endpoints, source, contexts.alike(indicator)):
            if drawn[0, indicator, effect] != Endpoint.ARROW:
                draw_link(drawn, known, indicator, effect, origin if certain else None)
        doubts += [  # edges that vanish though no end can be a child of the indicator: not a physical change
            Doubt("V2", place, x, y)
            for place, x, y in _vanishing(endpoints, contexts.alike(indicator))
            if not any(_may_be_child(endpoints, source, v) for v in (x, y))
        ]
    return drawn, known, doubts


def with_indicators_of_pags(family: GraphFamily, contexts: Contexts) -> tuple[Endpoints, dict[Place, Origin]]:
    """The ends of PAGs and their origins, with the links of context variables drawn that are made out of a column."""
    drawn, known = family.endpoints.copy(), dict(family.origins)
    for indicator, source in contexts.made:
        for g in range(len(drawn)):
            _draw_tail(drawn, known, (g, source, indicator), Origin("deterministic", 0, ()))
        for alike in contexts.alike(indicator):
            certain = dict(_known_effects(family, source, alike))
            for g, v in product(alike, sorted(_possible_effects(family, source, alike, certain))):
                drawn[g, v, indicator] = Endpoint.CIRCLE
                arrow = drawn[g, source, v] == Endpoint.ARROW
                drawn[g, indicator, v] = Endpoint.ARROW if arrow else Endpoint.CIRCLE
            for g, (effect, origin) in product(alike, certain.items()):
                _draw_tail(drawn, known, (g, indicator, effect), origin)
    return drawn, known


def _known_effects(family: GraphFamily, source: int, alike: Sequence[int]) -> Iterator[tuple[int, Origin]]:
    """What a context variable causes that is made out of a column, next to that column: by the premises of V and V*."""
    outside = NoEffects(family)
    for lost in _lost(family, source, alike):
        near = source in family.graphs[lost.present].adjacent[lost.y]
        shown = near and family.evidence.physical(lost.x, lost.y, lost.present, lost.absent)
        if shown and (outside.leave_the_other(lost) or is_lost_where_separated(family, lost)):
            yield lost.y, Origin("indicator", lost.absent, (lost.x,))


def _possible_effects(family: GraphFamily, source: int, alike: Sequence[int], certain: Collection[int]) -> set[int]:
    """The ends, next to the column, of vanishing edges neither end of which is known to be an effect."""
    outside = NoEffects(family)
    return {
        v
        for lost in _lost(family, source, alike)
        if lost.x not in certain and lost.y not in certain
        for v in (lost.x, lost.y)
        if source in family.graphs[lost.present].adjacent[v] and v not in outside.of(source, lost.present)
    }


def _lost(family: GraphFamily, source: int, alike: Sequence[int]) -> list[Vanishing]:
    return [lost for lost in family.vanishing if lost.context == source and lost.present in alike]


def _draw_tail(endpoints: Endpoints, origins: dict[Place, Origin], where: Place, origin: Origin) -> None:
    """Draw cause --> effect in one PAG: the tail is what is known, the arrow follows."""
    g, cause, effect = where
    endpoints[g, effect, cause], endpoints[g, cause, effect] = Endpoint.TAIL, Endpoint.ARROW
    origins[g, effect, cause] = origin


def links_of_indicator(endpoints: Endpoints, source: int, groups: Sequence[Sequence[int]]
                       ) -> Iterator[tuple[int, bool, Origin]]:  # fmt: skip
    """Effects of the indicator: (variable, whether it is certain, why), from edges that some graphs do not have.

    The effect of a vanishing edge is a child of C, hence adjacent to W. Where only one end can be one, it is the
    effect; where both can, the direction of the edge decides; without one, both are possible. Certain links come first.
    Graphs of a group differ in the indicator alone.
    """
    uncertain: list[tuple[int, bool, Origin]] = []
    arrows = np.asarray(directed(endpoints).any(axis=0))
    for h, x, y in _vanishing(endpoints, groups):
        effects = [v for v in (x, y) if _may_be_child(endpoints, source, v)]
        if len(effects) == 2 and arrows[x, y] != arrows[y, x]:
            effects = [y if arrows[x, y] else x]
        for effect in effects:
            link = (effect, len(effects) == 1, Origin("indicator", h, (x + y - effect,)))
            if link[1]:
                yield link
            else:
                uncertain.append(link)
    yield from uncertain


def links_without_functions(links: Links, contexts: Contexts) -> Links:
    """The same knowledge with no link at context variables that are made out of a column: nothing is known of them."""
    functions = [position for position, _ in contexts.made]
    if not functions:
        return links
    may, must = links.may.copy(), links.must.copy()
    for array in (may, must):
        array[functions], array[:, functions] = False, False
    return Links(may, must)


def _vanishing(endpoints: Endpoints, groups: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int]]:
    """(graph without it, x, y), x < y, for edges that some graphs of a group have and others have not."""
    for group in groups:
        present = adjacent(endpoints[list(group)])
        for x, y in zip(*np.nonzero(np.triu(present.any(axis=0) & ~present.all(axis=0))), strict=True):
            yield group[int(np.flatnonzero(~present[:, x, y])[0])], int(x), int(y)


def _may_be_child(endpoints: Endpoints, source: int, node: int) -> bool:
    """Whether a variable is adjacent to W and not a known cause of it."""
    return bool(endpoints[:, source, node].any() and not (endpoints[:, node, source] == Endpoint.ARROW).any())


def draw_link(endpoints: Endpoints, origins: dict[Place, Origin], cause: int, effect: int,
              origin: Origin | None) -> None:  # fmt: skip
    """Draw cause --> effect in all graphs; without an origin, an edge that may be there."""
    endpoints[:, effect, cause], endpoints[:, cause, effect] = endpoints_of_mark("o-o" if origin is None else "-->")
    if origin is not None:
        origins |= {(g, cause, effect): origin for g in range(len(endpoints))}
