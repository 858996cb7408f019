"""The ends of all edges: knowledge, colliders, then rules until nothing changes.

`orient` treats one graph by itself. `orient_all` treats the graphs of all contexts together; with contexts in its
evidence they learn from each other.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from causalcontext.graphs.endpoints import Endpoints, GraphKind
from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.neighbours import Edges, list_edges
from causalcontext.knowledge import Links
from causalcontext.search.colliders import Triples
from causalcontext.search.family import Doubt, Evidence, GraphFamily, Origin, Place
from causalcontext.search.rules import ONCE, doubts, proposals, rule_groups


@dataclass(frozen=True, eq=False)
class Oriented:
    """Ends of all graphs, shape (graphs, N, N); the origin of every proposed end (graph, a, b); what is in doubt."""

    endpoints: Endpoints
    origins: dict[Place, Origin]
    doubts: tuple[Doubt, ...] = ()


def orient(adjacency: Bools, links: Links, triples: Triples) -> Endpoints:
    """The ends of one pattern, shape (N, N)."""
    endpoints: Endpoints = orient_all(adjacency[None], Evidence([triples], links)).endpoints[0]
    return endpoints


def orient_all(adjacency: Bools, evidence: Evidence, kind: GraphKind = GraphKind.CPDAG) -> Oriented:
    """The ends of all graphs and their origins, from an array of shape (graphs, N, N)."""
    return orient_edges(list_edges(adjacency), adjacency.shape[1], evidence, kind)


def orient_edges(edges: Edges, variables: int, evidence: Evidence, kind: GraphKind = GraphKind.CPDAG) -> Oriented:
    """The ends of all graphs and their origins.

    Parameters
    ----------
    edges : Edges
        Those of all graphs.
    variables : int
    evidence : Evidence
        Colliders and knowledge, which come first, and what rules across contexts need.
    kind : Kind
        What the graphs are: it decides which rules there are, and what one end says about the other.
    """
    with _no_collection():
        family = GraphFamily(edges, variables, evidence, kind)
        across = bool(evidence.contexts.positions) and evidence.across
        groups = rule_groups(kind, across)
        for turn in ONCE:
            family.apply(proposals(groups.pop(turn, ()), family))
        while any(family.apply(proposals(group, family)) for group in groups.values()):
            pass
        broken = doubts(kind, family) if across else ()
        return Oriented(family.endpoints, family.origins, tuple(sorted(family.doubts.union(broken))))


@contextmanager
def _no_collection() -> Iterator[None]:
    """No search for cyclic garbage: rules make very many small sets, none of which is any."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
