"""Reachability and separation: ancestors, cycles, orders and d-separation, each once.

Links are arrays of bool in which `links[i, j]` says i --> j. Where a function takes shape (..., N,
N), leading axes are graphs, so that a whole enumeration is asked in one call. `reached` is for
graphs that are kept as sets of neighbours.

In a PAG, where variables may be hidden, `adjustment` says which variables to adjust for, or the
edge that forbids it: the generalised adjustment criterion (Perković, Textor, Kalisch and Maathuis
2018), from endpoints alone. Every possibly directed path from x to y starts with a visible edge out
of x; nothing that such a path may lead to is adjusted for; and the rest of the paths of definite
status are blocked. If any set of variables will do, the possible ancestors of x and y that are not
forbidden will.

Where only a part of a PAG is known (`sure` edges are there, others may be), the criterion is asked
of every graph that it leaves open: an edge is visible by edges that are sure, and every path counts
that is not surely blocked. What it answers is right if ends are; it may refuse what the whole PAG
would answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from causalcontext.data.frames import Later
from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent, directed, may_cause
from causalcontext.kernels.arrays import Bools

nx: Any = Later("networkx")  # imported when it is first needed: it takes long


def ancestors(links: Bools, node: int) -> Bools:
    """True for the nodes with a directed path of one or more links to `node`: shape (..., N)."""
    above = links[..., :, node].copy()
    while True:
        more = above | (links & above[..., None, :]).any(axis=-1)
        if np.array_equal(more, above):
            return np.asarray(above)
        above = more


def descendants(links: Bools, node: int) -> Bools:
    """True for the nodes to which a directed path of one or more links leads from `node`: shape
    (..., N).
    """
    return ancestors(links.swapaxes(-1, -2), node)


def possible_descendants(endpoints: Endpoints, node: int) -> Bools:
    """True for the nodes to which edges lead from `node` without an arrow against the way: shape
    (..., N).
    """
    return descendants(may_cause(endpoints), node)


def reach(links: Bools) -> Bools:
    """True from every node to all that a directed path of one or more links leads to: shape (...,
    N, N).
    """
    reaching = links
    while True:
        step = reaching.astype(np.float32)
        longer = reaching | (step @ step > 0)
        if np.array_equal(longer, reaching):
            return reaching
        reaching = longer


def reached(start: int, graphs: Sequence[Sequence[AbstractSet[int]]]) -> set[int]:
    """Everything but `start` that steps to neighbours lead to, each step in any of the graphs.

    >>> reached(0, [[{1}, set(), set()], [set(), {2}, {0}]])
    {1, 2}
    """
    met = {start}
    frontier = {start}
    while frontier:
        frontier = set().union(*(neighbours[v] for neighbours in graphs for v in frontier)) - met
        met |= frontier
    return met - {start}


def is_acyclic(links: Bools) -> Bools:
    """True where a graph has no directed cycle: peeling off nodes without parents leaves none."""
    left = np.ones(links.shape[:-1], dtype=np.bool_)
    while True:
        has_parent = (links & left[..., :, None]).any(axis=-2)
        if not (left & ~has_parent).any():
            return np.asarray(~left.any(axis=-1))
        left &= has_parent


def shortest_cycle(links: Bools) -> tuple[int, ...]:
    """The nodes of a shortest directed cycle, in its order from the first of them on; empty if
    there is none.
    """
    if is_acyclic(links):
        return ()
    back = [shortest_path(links, int(b), int(a)) for a, b in np.argwhere(links)]
    cycle = min((path for path in back if path), key=len)
    start = cycle.index(min(cycle))
    return cycle[start:] + cycle[:start]


def shortest_path(links: Bools, start: int, end: int) -> tuple[int, ...]:
    """The nodes of a shortest directed path, both ends included; empty if there is none."""
    paths: dict[int, tuple[int, ...]] = {start: (start,)}
    reached = [start]
    for node in reached:
        for child in np.flatnonzero(links[node]).tolist():
            if child not in paths:
                paths[child] = (*paths[node], child)
                reached.append(child)
    return paths.get(end, ())


def causal_order(links: Bools, preferred: Sequence[int]) -> tuple[int, ...]:
    """All nodes of an acyclic graph, causes before effects; otherwise as early as `preferred` has
    them.
    """
    rank = {node: number for number, node in enumerate(preferred)}
    parents_left = links.sum(axis=0)
    free = [(rank[node], node) for node in np.flatnonzero(parents_left == 0).tolist()]
    heapify(free)
    order: list[int] = []
    while free:
        node = heappop(free)[1]
        order.append(node)
        for child in np.flatnonzero(links[node]).tolist():
            parents_left[child] -= 1
            if parents_left[child] == 0:
                heappush(free, (rank[child], child))
    return tuple(order)


def blocks(adjacency: Bools) -> Iterator[list[tuple[int, int]]]:
    """The edges of every biconnected block: two of them lie on a common cycle of the skeleton if
    they share a block.
    """
    first, second = np.nonzero(np.triu(adjacency))
    skeleton = nx.Graph(zip(first.tolist(), second.tolist(), strict=True))
    yield from map(list, nx.biconnected_component_edges(skeleton))


def open_paths(links: Bools, start: int, given: Bools, leaving: bool = False) -> Bools:
    """True for the nodes to which a path from `start` is open, in acyclic graphs: shape (..., N).

    Nodes `given`, shape (..., N), block a path, but where two arrows meet at them or at their
    ancestors. `leaving` counts only paths whose first link points away from `start`.

    A ball rolls along the links and is at a node `from_child` or `from_parent`. It goes on from a
    node outside `given`, but for the turn from one parent to another, which it takes at members of
    `given` and their ancestors alone.
    """
    into = links.swapaxes(-1, -2)
    above = given | (links & given[..., None, :]).any(axis=-1)
    while (more := above | (links & above[..., None, :]).any(axis=-1)).sum() > above.sum():
        above = more
    free = np.broadcast_to(~given, above.shape).copy()
    free[..., start] = False
    from_parent = links[..., start, :].copy()
    from_child = np.zeros_like(from_parent) if leaving else into[..., start, :].copy()
    while True:
        passing = (from_parent | from_child) & free
        turning = (from_child & free) | (from_parent & above)
        turning[..., start] = False
        down = from_parent | (into & passing[..., None, :]).any(axis=-1)
        up = from_child | (links & turning[..., None, :]).any(axis=-1)
        if np.array_equal(down, from_parent) and np.array_equal(up, from_child):
            return np.asarray(down | up)
        from_parent = down
        from_child = up


def is_d_separated(links: Bools, x: int, y: int, given: Iterable[int]) -> bool:
    """True if the nodes `given` block every path between x and y of an acyclic graph.

    >>> collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> is_d_separated(collider, 0, 1, ()), is_d_separated(collider, 0, 1, (2,))
    (True, False)
    """
    blocked = np.zeros(links.shape[-1], dtype=bool)
    blocked[list(given)] = True
    return not open_paths(links, x, blocked)[y]


def mag_adjacency(links: Bools, observed: Sequence[int]) -> Bools:
    """True where two observed nodes are adjacent in the maximal ancestral graph: no set of other
    ones separates them.

    Nodes are numbered by their place among `observed`. If any set separates x and y, their observed
    ancestors do.
    """
    causes = reach(links)
    seen = np.zeros(links.shape[-1], dtype=bool)
    seen[list(observed)] = True
    adjacency = np.zeros((*links.shape[:-2], len(observed), len(observed)), dtype=bool)
    for (i, x), (j, y) in combinations(enumerate(observed), 2):
        given = (causes[..., :, x] | causes[..., :, y]) & seen
        given[..., [x, y]] = False
        adjacency[..., i, j] = adjacency[..., j, i] = open_paths(links, x, given)[..., y]
    return adjacency


class Adjustment(NamedTuple):
    """The variables to adjust for; or None, and the edge (or the variable,
    twice) that is to blame.
    """

    given: tuple[int, ...] | None
    blamed: tuple[int, int] | None = None


def adjustment(
    endpoints: Endpoints, x: int, y: int, fixed: Collection[int] = (), sure: Bools | None = None
) -> Adjustment:
    """The variables to adjust for so that the coefficient of x is its effect on y; y may lie
    downstream of x.

    `endpoints` are those of a PAG, shape (N, N). Variables that are held `fixed`, by choice of
    rows, must be among those to adjust for. With `sure`, of the same shape, other edges may be
    missing, and circles may be any ends.

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
        if not (directed(endpoints)[x, v] and is_visible(endpoints, x, v, sure)):
            return Adjustment(None, (x, v))
    on_path = descendants(links, x) & _leading(links, y)
    forbidden = on_path.copy()
    for v in np.flatnonzero(on_path).tolist():
        forbidden |= descendants(links, v)
    for v in fixed:
        if forbidden[v]:
            return Adjustment(None, (v, v))
    allowed = _possible_ancestors(endpoints, (x, y, *fixed)) & ~forbidden
    allowed[list(fixed)] = True
    allowed[[x, y]] = False
    given = tuple(np.flatnonzero(allowed).tolist())
    without = endpoints.copy()
    without[x, first] = without[first, x] = Endpoint.NONE
    open_path = connection(without, x, y, given, definite=sure is None)
    return Adjustment(given) if open_path is None else Adjustment(None, open_path)


def is_visible(endpoints: Endpoints, a: int, b: int, sure: Bools | None = None) -> bool:
    """True if a --> b cannot hide a common cause: a variable that is not adjacent to b points into
    a, perhaps by colliders.
    """
    links = adjacent(endpoints) if sure is None else sure
    parents = directed(endpoints)[:, b] & links[:, b]
    met = {a}
    frontier = [a]
    while frontier:
        v = frontier.pop()
        into = (endpoints[:, v] == Endpoint.ARROW) & links[:, v]
        apart = endpoints[:, b] == Endpoint.NONE
        apart[b] = False
        if (into & apart).any():
            return True
        both = np.flatnonzero(into & (endpoints[v] == Endpoint.ARROW) & parents).tolist()
        frontier += [u for u in both if u not in met]
        met.update(both)
    return False


def connection(
    endpoints: Endpoints, x: int, y: int, given: Iterable[int], definite: bool = True
) -> tuple[int, int] | None:
    """The first edge of an open walk between x and y; None if `given` blocks all of them.

    Walks are those of `definite` status, or all that some choice of the ends which are not known
    would open.
    """
    kept = set(given)
    passes = _passes if definite else _may_pass
    opened = _possible_ancestors(endpoints, kept)
    steps = [(x, int(v), int(v)) for v in np.flatnonzero(endpoints[x])]
    seen = {step[:2] for step in steps}
    for u, v, first in steps:
        if v == y:
            return x, first
        for w in np.flatnonzero(endpoints[v]).tolist():
            if w in (u, x) or (v, w) in seen:
                continue
            if passes(endpoints, u, v, w, kept, opened):
                seen.add((v, w))
                steps.append((v, w, first))
    return None


def _passes(
    endpoints: Endpoints, u: int, v: int, w: int, given: Collection[int], opened: Bools
) -> bool:
    """True if a path u - v - w has a definite status at v and is open there."""
    at = endpoints[u, v], endpoints[w, v]
    if at == (Endpoint.ARROW, Endpoint.ARROW):
        return bool(opened[v])
    unshielded = at == (Endpoint.CIRCLE, Endpoint.CIRCLE) and endpoints[u, w] == Endpoint.NONE
    return (Endpoint.TAIL in at or unshielded) and v not in given


def _may_pass(
    endpoints: Endpoints, u: int, v: int, w: int, given: Collection[int], opened: Bools
) -> bool:
    """True if a path u - v - w is open at v for some choice of the ends that are not known."""
    at = endpoints[u, v], endpoints[w, v]
    as_collider = Endpoint.TAIL not in at and bool(opened[v])
    return as_collider or (at != (Endpoint.ARROW, Endpoint.ARROW) and v not in given)


def _leading(links: Bools, y: int) -> Bools:
    """True for y and the nodes that may lead to it along links, shape (N,)."""
    leading = ancestors(links, y)
    leading[y] = True
    return leading


def _possible_ancestors(endpoints: Endpoints, variables: Iterable[int]) -> Bools:
    """True for these variables and those that may lead to them, shape (N,)."""
    links = may_cause(endpoints)
    above = np.zeros(len(links), dtype=bool)
    for variable in variables:
        above |= _leading(links, variable)
    return above
