"""A context C = g(W) that is a function of a column (paper, App. "Deterministic indicators").

C is not searched over. A question with W among its conditions is asked where g(W) = c, W staying among them; every
other question on all rows (i). C enters the graphs afterwards: with W --> C, and with links to the effects of edges
that are missing in some context (ii, iii).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent, directed, endpoints_of_mark
from causalcontext.knowledge import Links
from causalcontext.search.family import Doubt, Origin, Place


def with_indicator(endpoints: Endpoints, origins: Mapping[Place, Origin], indicator: int, source: int
                   ) -> tuple[Endpoints, dict[Place, Origin], list[Doubt]]:  # fmt: skip
    """Endpoints and their origins with the links of an indicator drawn that is made from `source`; what is in doubt."""
    drawn, known = endpoints.copy(), dict(origins)
    draw_link(drawn, known, source, indicator, Origin("deterministic", 0, ()))
    for effect, certain, origin in links_of_indicator(endpoints, source):
        if drawn[0, indicator, effect] != Endpoint.ARROW:
            draw_link(drawn, known, indicator, effect, origin if certain else None)
    return drawn, known, [Doubt("V2", place, x, y) for place, x, y in _special(endpoints, source)]


def links_of_indicator(endpoints: Endpoints, source: int) -> Iterator[tuple[int, bool, Origin]]:
    """Effects of the indicator: (variable, whether it is certain, why), from edges that some graphs do not have.

    The effect of a vanishing edge is a child of C, hence adjacent to W. Where only one end can be one, it is the
    effect; where both can, the direction of the edge decides; without one, both are possible. Certain links come first.
    """
    uncertain: list[tuple[int, bool, Origin]] = []
    arrows = np.asarray(directed(endpoints).any(axis=0))
    for h, x, y in _vanishing(endpoints):
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


def without(links: Links, variable: int) -> Links:
    """The same knowledge with no link at a variable."""
    may, must = links.may.copy(), links.must.copy()
    for array in (may, must):
        array[variable], array[:, variable] = False, False
    return Links(may, must)


def _vanishing(endpoints: Endpoints) -> Iterator[tuple[int, int, int]]:
    """(graph without it, x, y), x < y, for edges that some graphs have and others have not."""
    present = adjacent(endpoints)
    for x, y in zip(*np.nonzero(np.triu(present.any(axis=0) & ~present.all(axis=0))), strict=True):
        yield int(np.flatnonzero(~present[:, x, y])[0]), int(x), int(y)


def _special(endpoints: Endpoints, source: int) -> Iterator[tuple[int, int, int]]:
    """Edges that vanish though no end can be a child of the indicator: not a physical change."""
    for h, x, y in _vanishing(endpoints):
        if not any(_may_be_child(endpoints, source, v) for v in (x, y)):
            yield h, x, y


def _may_be_child(endpoints: Endpoints, source: int, node: int) -> bool:
    """Whether a variable is adjacent to W and not a known cause of it."""
    return bool(endpoints[:, source, node].any() and not (endpoints[:, node, source] == Endpoint.ARROW).any())


def draw_link(endpoints: Endpoints, origins: dict[Place, Origin], cause: int, effect: int,
              origin: Origin | None) -> None:  # fmt: skip
    """Draw cause --> effect in all graphs; without an origin, an edge that may be there."""
    endpoints[:, effect, cause], endpoints[:, cause, effect] = endpoints_of_mark("o-o" if origin is None else "-->")
    if origin is not None:
        origins |= {(g, cause, effect): origin for g in range(len(endpoints))}
