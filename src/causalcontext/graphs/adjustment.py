"""Which variables to adjust for in a PAG, where variables may be hidden, or the edge that forbids it.

The generalised adjustment criterion (Perković, Textor, Kalisch and Maathuis 2018), from endpoints alone: every possibly
directed path from x to y starts with a visible edge out of x; nothing that such a path may lead to is adjusted for; and
the rest of the paths of definite status are blocked. If any set of variables will do, the possible ancestors of x and y
that are not forbidden will.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints, directed, may_cause
from causalcontext.graphs.paths import ancestors, descendants
from causalcontext.kernels.arrays import Bools


class Adjustment(NamedTuple):
    """What to adjust for; or None, and the edge (or the variable, twice) that is to blame."""

    given: tuple[int, ...] | None
    blamed: tuple[int, int] | None = None


def adjustment(endpoints: Endpoints, x: int, y: int, fixed: Collection[int] = ()) -> Adjustment:
    """The variables to adjust for so that the coefficient of x is its effect on y; y may lie downstream of x.

    `endpoints` are those of a PAG, shape (N, N). Variables that are held `fixed`, by choice of rows, must be among
    those to adjust for.

    >>> from causalcontext.graphs.graph import Graph
    >>> pag = Graph.from_edges("ZXY", [("Z", "X", "o->"), ("X", "Y", "-->")], "pag")
    >>> adjustment(pag.endpoints, 1, 2).given
    (0,)
    >>> adjustment(pag.endpoints, 0, 2)
    Adjustment(given=None, blamed=(0, 1))
    """
    links = may_cause(endpoints)
    links[:, x] = False
    first = np.flatnonzero(links[x] & _leading(links, y)).tolist()
    for v in first:
        if not (directed(endpoints)[x, v] and is_visible(endpoints, x, v)):
            return Adjustment(None, (x, v))
    on_path = descendants(links, x) & _leading(links, y)
    forbidden = np.any([on_path, *(descendants(links, int(v)) for v in np.flatnonzero(on_path))], axis=0)
    for v in fixed:
        if forbidden[v]:
            return Adjustment(None, (v, v))
    allowed = _possible_ancestors(endpoints, (x, y, *fixed)) & ~forbidden
    allowed[list(fixed)] = True
    allowed[[x, y]] = False
    given = tuple(np.flatnonzero(allowed).tolist())
    without = endpoints.copy()
    without[x, first] = without[first, x] = Endpoint.NONE
    open_path = connection(without, x, y, given)
    return Adjustment(given) if open_path is None else Adjustment(None, open_path)


def is_visible(endpoints: Endpoints, a: int, b: int) -> bool:
    """Whether a --> b cannot hide a common cause: what is not adjacent to b points into a, perhaps by colliders."""
    parents = directed(endpoints)[:, b]
    found, frontier = {a}, [a]
    while frontier:
        v = frontier.pop()
        into = endpoints[:, v] == Endpoint.ARROW
        if (into & (endpoints[:, b] == Endpoint.NONE) & (np.arange(len(endpoints)) != b)).any():
            return True
        both = np.flatnonzero(into & (endpoints[v] == Endpoint.ARROW) & parents).tolist()
        frontier += [u for u in both if u not in found]
        found.update(both)
    return False


def connection(endpoints: Endpoints, x: int, y: int, given: Iterable[int]) -> tuple[int, int] | None:
    """The first edge of an open walk of definite status between x and y; None if `given` blocks all of them."""
    kept = set(given)
    opened = _possible_ancestors(endpoints, kept)
    steps = [(x, int(v), int(v)) for v in np.flatnonzero(endpoints[x])]
    seen = {step[:2] for step in steps}
    for u, v, first in steps:
        if v == y:
            return x, first
        for w in np.flatnonzero(endpoints[v]).tolist():
            if w not in (u, x) and (v, w) not in seen and _passes(endpoints, u, v, w, kept, opened):
                seen.add((v, w))
                steps.append((v, w, first))
    return None


def _passes(endpoints: Endpoints, u: int, v: int, w: int, given: Collection[int], opened: Bools) -> bool:
    """Whether a path u - v - w has a definite status at v and is open there."""
    at = endpoints[u, v], endpoints[w, v]
    if at == (Endpoint.ARROW, Endpoint.ARROW):
        return bool(opened[v])
    unshielded = at == (Endpoint.CIRCLE, Endpoint.CIRCLE) and endpoints[u, w] == Endpoint.NONE
    return (Endpoint.TAIL in at or unshielded) and v not in given


def _leading(links: Bools, y: int) -> Bools:
    """y and what may lead to it along some links."""
    found = ancestors(links, y)
    found[y] = True
    return found


def _possible_ancestors(endpoints: Endpoints, variables: Iterable[int]) -> Bools:
    """Some variables and what may lead to them."""
    links = may_cause(endpoints)
    return np.asarray(np.any([np.zeros(len(links), dtype=bool), *(_leading(links, v) for v in variables)], axis=0))
