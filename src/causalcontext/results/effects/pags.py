"""Effects in PAGs, where variables may be hidden: by adjustment where the ends allow it, else not at all.

The context is held at its value by the choice of rows where it may lead to y. Then it must not be downstream of x: what
x does past a context that it moves itself is not a matter of adjustment. A context that is a function of a column may
lead wherever the column leads, drawn or not. Its rows are chosen where the column is adjusted for, or is x itself: then
they select nothing.
"""

from __future__ import annotations

import numpy as np

from causalcontext.graphs.adjustment import adjustment
from causalcontext.graphs.endpoints import Endpoint, Endpoints, directed, may_cause
from causalcontext.graphs.paths import ancestors, possible_descendants
from causalcontext.results.effects.composition import standardised_mean
from causalcontext.results.effects.estimates import Estimate
from causalcontext.results.effects.mechanics import Mechanics, NoAnswer
from causalcontext.results.effects.sets import edge_text


def adjusted_effect(mechanics: Mechanics, g: int, x: int, y: int) -> Estimate:
    """The effect of x on y in a context; `NoAnswer` has the mark that is to blame."""
    if not possible_descendants(_without_functions(mechanics, g), x)[y]:
        return Estimate(0.0)
    given = _given(mechanics, g, x, y, _held(mechanics, g, x, y))
    contexts = mechanics.result.cells
    functions = {position: source for position, source in contexts.made if source in (x, *given)}
    named = [v for v in contexts.positions if v in given or v in functions]
    system = tuple(v for v in given if v not in mechanics.contexts)
    return mechanics.regression(y, (x, *system), (mechanics.rows_of(g, named),)).slope(x)


def adjusted_difference(mechanics: Mechanics, context: int, g: int, h: int, y: int) -> Estimate:
    """The mean of y if a context variable is set as in one graph, minus that if it is set as in another."""
    if not any(possible_descendants(mechanics.endpoints[place], context)[y] for place in (g, h)):
        return Estimate(0.0)
    if len(mechanics.contexts) > 1:
        raise NoAnswer("several contexts and hidden variables at once")
    first, second = (
        standardised_mean(mechanics, y, _given(mechanics, place, context, y, ()), place) for place in (g, h)
    )
    return first - second


def _given(mechanics: Mechanics, g: int, x: int, y: int, held: tuple[int, ...]) -> tuple[int, ...]:
    """What to adjust for."""
    endpoints = _without_functions(mechanics, g)
    crossed = np.argwhere(np.triu((endpoints == Endpoint.CONFLICT) | (endpoints.T == Endpoint.CONFLICT)))
    if len(crossed):
        raise NoAnswer(edge_text(mechanics, g, *crossed[0].tolist()))
    found = adjustment(endpoints, x, y, held)
    if found.given is not None:
        return found.given
    assert found.blamed is not None
    a, b = found.blamed
    name = mechanics.name
    if a == b:
        raise NoAnswer(f"{name(a)}, which is held: {name(x)} may lead to it, and it may lead to {name(y)}")
    hides = ", which may hide a common cause" if directed(endpoints)[a, b] else ""
    raise NoAnswer(edge_text(mechanics, g, a, b) + hides)


def _held(mechanics: Mechanics, g: int, x: int, y: int) -> tuple[int, ...]:
    """The contexts that may lead to y other than through x, or the columns that they are made of."""
    links, cells = may_cause(_without_functions(mechanics, g)), mechanics.result.cells
    links[x] = links[:, x] = False
    leading = ancestors(links, y)
    sources = ((position, cells.source_of(position)) for position in cells.positions)
    held = (position if source is None else source for position, source in sources)
    return tuple(v for v in held if leading[v])


def _without_functions(mechanics: Mechanics, g: int) -> Endpoints:
    """The ends of a graph without the contexts that are functions of a column."""
    endpoints: Endpoints = mechanics.endpoints[g].copy()
    functions = [position for position, _ in mechanics.result.cells.made]
    endpoints[functions], endpoints[:, functions] = Endpoint.NONE, Endpoint.NONE
    return endpoints
