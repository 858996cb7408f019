"""A context C = g(W) that is a function of a column (paper, App. "Deterministic indicators").

C is not searched over. A question with W among its conditions is asked where g(W) = c, W staying
among them; every other question on all rows (i). C enters the graphs afterwards: with W --> C, and
with links to the effects of edges that are missing in some context (ii, iii). Beside other context
variables, graphs are compared that differ in C alone.

In a PAG W takes the part of a context variable in all rules. C has the causes of W, and W; so a
link C - y has the end at y that W - y has, and C is known to cause y by the premises of V and V*,
which say that something C acts on leads to y. One end of an edge that vanishes need not be next to
W where variables are hidden, so nothing else is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from causalcontext.graphs.endpoints import (
    Endpoint,
    Endpoints,
    adjacent,
    directed,
    endpoints_of_mark,
)
from causalcontext.knowledge import Links
from causalcontext.search.across import NoEffects, is_lost_where_separated
from causalcontext.search.family import Doubt, EdgeEnd, GraphFamily, Origin, Vanishing
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.views import Contexts


def with_indicators(
    endpoints: Endpoints, origins: Mapping[EdgeEnd, Origin], contexts: Contexts
) -> tuple[Endpoints, dict[EdgeEnd, Origin], list[Doubt]]:
    """The ends and their origins with the links of context variables that are made out of a column;
    doubts.

    Such a variable C is a function of its column W, so that tests cannot tell their effects apart:
    its links are drawn after the search, from edges that vanish when it changes.
    """

    def vanishing(indicator: int) -> Iterator[tuple[int, int, int]]:
        for group in contexts.alike(indicator):
            present = adjacent(endpoints[list(group)])
            for x, y in np.argwhere(np.triu(present.any(axis=0) & ~present.all(axis=0))).tolist():
                yield group[int(np.flatnonzero(~present[:, x, y])[0])], x, y

    def acting(indicator: int, source: int, end: int) -> list[int]:
        is_cause = (endpoints[:, end, source] == Endpoint.ARROW).any()
        return [indicator] if endpoints[:, source, end].any() and not is_cause else []

    return _with_links(endpoints, origins, contexts.made, vanishing, acting)


def with_made_contexts(
    plan: LaggedPlan, endpoints: Endpoints, origins: Mapping[EdgeEnd, Origin]
) -> tuple[Endpoints, dict[EdgeEnd, Origin], list[Doubt]]:
    """The same over time, for ends of shape (graphs, nodes, nodes).

    An effect of C(t-l) is next to W(t-l). A context may act at several lags: all are drawn that may
    be meant. Time directs those of the past; a link of now stays open where another variable may be
    the effect.
    """
    window = plan.window
    contexts = plan.contexts
    arrows_anywhere = np.asarray(directed(endpoints).any(axis=0))
    adjacent_anywhere = np.asarray(adjacent(endpoints).any(axis=0))
    now = Contexts(tuple(window.at(v, 0) for v in window.contexts), plan.values)

    def vanishing(indicator: int) -> Iterator[tuple[int, int, int]]:
        present = adjacent(endpoints)
        seen = set()
        for g, h in ((g, h) for g, h, position in now.steps() if position == indicator):
            for x, y in np.argwhere(np.triu(present[g] & ~present[h])).tolist():
                if (x, y) not in seen:
                    seen.add((x, y))
                    yield h, x, y

    def acting(indicator: int, source: int, end: int) -> list[int]:
        number = window.context_number(indicator)
        columns = []
        for column, of in contexts.made:
            if window.context_number(column) != number:
                continue
            may_act = window.is_now(end) and window.lag(column) in plan.context_lags
            if may_act and adjacent_anywhere[of, end] and not arrows_anywhere[end, of]:
                columns.append(column)
        return columns

    made = [(position, source) for position, source in contexts.made if window.is_now(position)]
    return _with_links(
        endpoints, origins, made, vanishing, acting, lambda column: not window.is_now(column)
    )


def _with_links(
    endpoints: Endpoints,
    origins: Mapping[EdgeEnd, Origin],
    made: Iterable[tuple[int, int]],
    vanishing: Callable[[int], Iterable[tuple[int, int, int]]],
    acting: Callable[[int, int, int], Sequence[int]],
    is_past: Callable[[int], bool] = lambda column: False,
) -> tuple[Endpoints, dict[EdgeEnd, Origin], list[Doubt]]:
    """The links of indicators drawn, from edges that some graphs do not have.

    The effect of a vanishing edge, (graph without it, x, y), is a child of C, hence adjacent to W.
    Where only one end can be one, it is the effect; where both can, the direction of the edge
    decides; without one, both are possible. Where neither can, it is not a physical change.

    Parameters
    ----------
    made : pairs of an indicator C and the column W it is made of
    vanishing : by indicator, the edges that vanish when it changes
    acting : by indicator, W and an end, the columns of C that may act on that end
    is_past : True for columns of C whose links time directs
    """
    drawn = endpoints.copy()
    known = dict(origins)
    doubts = []
    arrows = np.asarray(directed(endpoints).any(axis=0))
    for indicator, source in made:
        draw_link(drawn, known, source, indicator, Origin("deterministic", 0, ()))
        for absent, x, y in vanishing(indicator):
            acting_on = {end: acting(indicator, source, end) for end in (x, y)}
            effects = {end: columns for end, columns in acting_on.items() if columns}
            if not effects:
                doubts.append(Doubt("V2", absent, x, y))
            if len(effects) == 2 and arrows[x, y] != arrows[y, x]:
                del effects[x if arrows[x, y] else y]
            for effect, columns in effects.items():
                for column in columns:
                    if drawn[0, column, effect] == Endpoint.ARROW:
                        continue
                    other_end = x + y - effect
                    certain = len(effects) == 1 or is_past(column)
                    origin = Origin("indicator", absent, (other_end,)) if certain else None
                    draw_link(drawn, known, column, effect, origin)
    return drawn, known, doubts


def draw_link(
    endpoints: Endpoints,
    origins: dict[EdgeEnd, Origin],
    cause: int,
    effect: int,
    origin: Origin | None,
) -> None:
    """Draw cause --> effect in all graphs; without an origin, an edge that may be there."""
    endpoints[:, effect, cause], endpoints[:, cause, effect] = endpoints_of_mark(
        "o-o" if origin is None else "-->"
    )
    if origin is not None:
        origins |= {(g, cause, effect): origin for g in range(len(endpoints))}


def with_indicators_of_pags(
    family: GraphFamily, contexts: Contexts
) -> tuple[Endpoints, dict[EdgeEnd, Origin]]:
    """The ends of PAGs and their origins, with the links of indicators drawn.

    A tail at C is what is known of an effect; where an end of a vanishing edge may be one and is
    not known to, circles say so.
    """
    drawn = family.endpoints.copy()
    known = dict(family.origins)
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


def _known_effects(
    family: GraphFamily, source: int, alike: Sequence[int]
) -> Iterator[tuple[int, Origin]]:
    """The effects of a context variable that is made out of a column, next to that column.

    They follow by the premises of V and V*: an edge at such a variable vanishes with the context,
    the rows could have shown it, and the other end cannot be an effect, or
    `is_lost_where_separated`.
    """
    outside = NoEffects(family)
    for lost in _lost(family, source, alike):
        near = source in family.graphs[lost.present].tested[lost.y]
        shown = near and family.evidence.physical(lost.x, lost.y, lost.present, lost.absent)
        if shown and (outside.leave_the_other(lost) or is_lost_where_separated(family, lost)):
            yield lost.y, Origin("indicator", lost.absent, (lost.x,))


def _possible_effects(
    family: GraphFamily, source: int, alike: Sequence[int], certain: Collection[int]
) -> set[int]:
    """The ends, next to the column, of vanishing edges neither end of which is known to be an
    effect.
    """
    outside = NoEffects(family)
    possible = set()
    for lost in _lost(family, source, alike):
        if lost.x in certain or lost.y in certain:
            continue
        for v in (lost.x, lost.y):
            next_to_source = source in family.graphs[lost.present].tested[v]
            if next_to_source and v not in outside.of(source, lost.present):
                possible.add(v)
    return possible


def _lost(family: GraphFamily, source: int, alike: Sequence[int]) -> list[Vanishing]:
    """The edges of some graphs that vanish when the context made out of a column changes."""
    return [lost for lost in family.vanishing if lost.context == source and lost.present in alike]


def _draw_tail(
    endpoints: Endpoints, origins: dict[EdgeEnd, Origin], where: EdgeEnd, origin: Origin
) -> None:
    """Draw cause --> effect in one PAG: the tail is what is known, the arrow follows."""
    g, cause, effect = where
    endpoints[g, effect, cause] = Endpoint.TAIL
    endpoints[g, cause, effect] = Endpoint.ARROW
    origins[g, effect, cause] = origin


def links_without_functions(links: Links, contexts: Contexts) -> Links:
    """The same knowledge with no link at context variables that are made out of a column.

    Nothing is known of them before the search: their links are drawn after it.
    """
    functions = [position for position, _ in contexts.made]
    if not functions:
        return links
    may = links.may.copy()
    must = links.must.copy()
    for array in (may, must):
        array[functions] = False
        array[:, functions] = False
    return Links(may, must)
