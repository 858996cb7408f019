"""Which query a set of contemporaneous variables stands for: the paper's line 8, over time.

A pair z(t-l), y(t) is asked about given the set, what may cause y, and what may cause z, so much earlier. It is asked
on the rows R(t) = r if R(t) is in the set, on the rows R(t-1) = r if R(t-1) is next to y still, else on all rows. A
past context lag selects nothing that its target's parents do not explain, so that is always safe; R(t) selects
like any effect, and is fixed only where the set says so. The rows of a context that is made out of X(t-1) are chosen
where X(t-1) is among the conditions and next to y still: what is conditioned on selects nothing. A pair at a context
lag is asked about once for all graphs, with candidates from all of them; given other context lags, inside each of
their values (`context_lags.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.skeleton import MOST_SETS
from causalcontext.search.batches import CandidateSet
from causalcontext.search.lagged.parents import LaggedParents
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.views import CIQuery


class Pair(NamedTuple):
    """An earlier or contemporaneous column, a variable at time t, and the graph that asks: 0 for all where shared."""

    graph: int
    z: int
    y: int


class PairQueries:
    """The queries of every pair, as the graphs, shape (graphs, nodes, nodes), are now; some pairs may be settled."""

    def __init__(self, plan: LaggedPlan, past: LaggedParents, graphs: Bools, settled: Collection[Pair] = ()) -> None:
        self.plan, self.past, self.graphs, self.settled = plan, past, graphs, settled

    def pairs(self) -> Iterator[Pair]:
        """Every adjacent pair that is open to tests, once; shared ones for the first graph."""
        required = self.plan.links.required
        for y in self.plan.targets:
            for z in range(self.plan.window.nodes):
                if (self.plan.window.is_now(z) and z > y) or z == y or required[z, y]:
                    continue
                shared = self.plan.is_shared(z, y)
                for g in self.plan.graphs[:1] if shared else self.plan.graphs:
                    if self._neighbours(g, y, shared)[z] and Pair(g, z, y) not in self.settled:
                        yield Pair(g, z, y)

    def holding(self, pair: Pair) -> tuple[int, ...]:
        """The graphs that an answer about a pair is for."""
        if not self.plan.is_shared(pair.z, pair.y):
            return (pair.graph,)
        return tuple(self.plan.graphs)

    def most(self, pair: Pair) -> int:
        """The size of the largest set."""
        return max(len(self.pool(pair, node)) for node in self.serving(pair))

    def sets(self, pair: Pair, size: int) -> Iterator[CandidateSet]:
        """The sets of one size: neighbours of y, then of z if that is contemporaneous."""
        asked: set[CIQuery] = set()  # the same set may be asked on other rows for the sake of the other end
        for node in self.serving(pair):
            pool = self.pool(pair, node)
            if size > 1 and comb(len(pool), size) > MOST_SETS:
                continue
            for chosen in combinations(pool, size):
                query = self.query(pair, node, chosen)
                if query is not None and query not in asked:
                    asked.add(query)
                    yield CandidateSet(query, chosen)

    def serving(self, pair: Pair) -> tuple[int, ...]:
        """The ends whose neighbours are conditioned on: those at time t."""
        return (pair.y, pair.z) if self.plan.window.is_now(pair.z) else (pair.y,)

    def pool(self, pair: Pair, node: int) -> list[int]:
        """Contemporaneous neighbours that may cause `node`; the context comes last."""
        around = self._neighbours(pair.graph, node, self.plan.is_shared(pair.z, pair.y))
        may = self.plan.links.may
        found = [v for v in self.plan.targets if around[v] and may[v, node] and v not in (pair.z, pair.y)]
        return sorted(found, key=lambda v: (self.plan.window.is_context(v), v))

    def query(self, pair: Pair, node: int, chosen: tuple[int, ...]) -> CIQuery | None:
        """What is run for a set of neighbours of `node`; None where no rows answer."""
        plan, endpoints = self.plan, (pair.z, pair.y)
        shared = plan.is_shared(*endpoints)
        nodes = self.serving(pair) if shared else (node,)
        named = [
            context
            for context in plan.context_columns
            if context in chosen
            or (context in plan.past_context_columns and self._is_near(pair, context, nodes, shared))
        ]
        given = {*chosen, *self._causes(pair, shared)}.difference(endpoints)
        named += plan.named_by([v for v in given if v in chosen or self._is_near(pair, v, nodes, shared)])
        plain = {v for v in given if not plan.window.is_context(v)}
        if shared:
            return CIQuery(*endpoints, tuple(sorted(plain.union(named).difference(endpoints))), 0)
        view, kept = plan.rows(pair.graph, named)
        return None if view is None else CIQuery(*endpoints, tuple(sorted(plain.union(kept))), view)

    def _is_near(self, pair: Pair, column: int, nodes: Iterable[int], shared: bool) -> bool:
        """Whether a column of the window is still next to one of some nodes."""
        if column >= self.plan.window.nodes:
            return False
        return any(bool(self._neighbours(pair.graph, node, shared)[column]) for node in nodes)

    def _causes(self, pair: Pair, shared: bool) -> Iterator[int]:
        """What may cause y, and what may cause z, as much earlier as z is."""
        window, past = self.plan.window, self.past
        yield from past.union(pair.y) if shared else past.of(pair.graph, pair.y)
        place = window.place(pair.z)
        if place is None:
            return
        z = window.at(place[0], 0)
        for u in past.union(z) if shared else past.of(pair.graph, z):
            earlier = window.shifted(u, place[1])
            if earlier is not None:
                yield earlier

    def _neighbours(self, graph: int, node: int, shared: bool) -> Bools:
        return np.asarray(self.graphs[:, node].any(axis=0) if shared else self.graphs[graph, node])
