"""Contexts that are made out of a column, over time: their links, drawn once the graphs are found.

C(t) = g(W(t)) is not searched. It enters the graphs as in `search/indicator.py`: with W(t) --> C(t), and with links to
the effects of edges that are there at one of its values and missing at another. An effect of C(t-l) is next to W(t-l).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent, directed
from causalcontext.kernels.arrays import Bools
from causalcontext.search.family import Doubt, Origin, Place
from causalcontext.search.indicator import draw_link
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.views import Contexts


def with_made_contexts(plan: LaggedPlan, endpoints: Endpoints, origins: Mapping[Place, Origin]
                       ) -> tuple[Endpoints, dict[Place, Origin], list[Doubt]]:  # fmt: skip
    """Endpoints, shape (graphs, nodes, nodes), and origins with the links of contexts made out of columns; doubts.

    A context may act at several lags: all are drawn that may be meant. Time directs those of the past; a link of now
    stays open where another variable may be the effect.
    """
    drawn, known = endpoints.copy(), dict(origins)
    doubts: list[Doubt] = []
    for now, source in _made_now(plan):
        draw_link(drawn, known, source, now, Origin("deterministic", 0, ()))
        for absent, x, y in _vanishing(plan, endpoints, now):
            effects = _effects(plan, endpoints, now, x, y)
            if not effects:
                doubts.append(Doubt("V2", absent, x, y))
            for effect, columns in effects.items():
                origin = Origin("indicator", absent, (x + y - effect,))
                for column in columns:
                    certain = len(effects) == 1 or not plan.window.is_now(column)
                    if drawn[0, column, effect] != Endpoint.ARROW:
                        draw_link(drawn, known, column, effect, origin if certain else None)
    return drawn, known, doubts


def _made_now(plan: LaggedPlan) -> Iterator[tuple[int, int]]:
    """The contexts at time t that are made out of a column, and the column."""
    for position in plan.contexts.positions:
        source = plan.contexts.source_of(position)
        if source is not None and plan.window.is_now(position):
            yield position, source


def _vanishing(plan: LaggedPlan, endpoints: Endpoints, now: int) -> Iterator[tuple[int, int, int]]:
    """(graph without it, x, y), x < y, for edges that change where one context alone has another value."""
    present, seen = adjacent(endpoints), set()
    contexts = Contexts(tuple(plan.window.at(v, 0) for v in plan.window.contexts), plan.values)
    for g, h, position in contexts.steps():
        if position != now:
            continue
        for x, y in zip(*np.nonzero(np.triu(present[g] & ~present[h])), strict=True):
            if (x, y) not in seen:
                seen.add((x, y))
                yield h, int(x), int(y)


def _effects(plan: LaggedPlan, endpoints: Endpoints, now: int, x: int, y: int) -> dict[int, list[int]]:
    """Which ends of an edge may be the effect of a context, with the context lags that may act on it."""
    arrows, near = (np.asarray(found.any(axis=0)) for found in (directed(endpoints), adjacent(endpoints)))
    possible = {end: _acting(plan, near, arrows, now, end) for end in (x, y) if plan.window.is_now(end)}
    found = {end: columns for end, columns in possible.items() if columns}
    if len(found) == 2 and arrows[x, y] != arrows[y, x]:
        return {y: found[y]} if arrows[x, y] else {x: found[x]}
    return found


def _acting(plan: LaggedPlan, near: Bools, arrows: Bools, now: int, effect: int) -> list[int]:
    """The lags of a context whose column is next to a variable and no effect of it."""
    lags = [p for p in plan.contexts.positions if plan.window.context_number(p) == plan.window.context_number(now)]
    sources = {p: plan.contexts.source_of(p) for p in lags if plan.window.lag(p) in plan.context_lags}
    return [p for p, w in sources.items() if w is not None and near[w, effect] and not arrows[effect, w]]
