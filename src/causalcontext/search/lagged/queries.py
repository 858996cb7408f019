"""What a search over time asks: which columns of the past may be parents, which query a set stands
for, which triples are colliders.

The past first. A column stays if it is dependent given the q strongest others, for q = 0, 1, 2,
..., on *some* rows: all of them, those of one context lag, or those of lags of two contexts. The
variable changes with some of these, or with none, and on their rows the parent shows; a superset is
enough here.

Then sets of contemporaneous variables: the paper's line 8, over time. A pair z(t-l), y(t) is asked
about given the set, what may cause y, and what may cause z, so much earlier. It is asked on the
rows R(t) = r if R(t) is in the set, on the rows R(t-1) = r if R(t-1) is next to y still, else on
all rows. A past context lag selects nothing that its target's parents do not explain, so that is
always safe; R(t) selects like any effect, and is fixed only where the set says so. The rows of a
context that is made out of X(t-1) are chosen where X(t-1) is among the conditions and next to y
still: what is conditioned on selects nothing. A pair at a context lag is asked about once for all
graphs, with candidates from all of them; given other context lags, inside each of their values
(`ByContextLags`).

Triples x - w - y have w and y at time t, x at time t or before. Sets of contemporaneous neighbours
vote, always together with what may cause the two ends. Around R(t) the vote is conservative. A
separation on the rows R(t) = r counts as one given R(t).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, inf
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.skeleton import MOST_SETS
from causalcontext.search.batched_search import CandidateSet, RememberedAnswers
from causalcontext.search.colliders import Triple, Triples, ruling
from causalcontext.search.lagged.plan import FIRST_LEVEL, LaggedPlan
from causalcontext.views import CIQuery, pooled

Key = tuple[int, int]
"""(graph, target)"""
ParentQuery = tuple[tuple[Key, ...], int, tuple[CIQuery, ...]]
"""True if a column may be a parent, on several sets of rows, and the graphs and targets that it is
about.
"""


@dataclass
class LaggedParents:
    """The columns of the past that may be parents, by graph and target, with the least evidence for
    them.

    `removed` has the query with the smallest p-value among those that took a column out.
    """

    left: dict[Key, dict[int, float]]
    removed: dict[tuple[int, int, int], CIQuery] = field(default_factory=dict)

    def of(self, graph: int, y: int) -> tuple[int, ...]:
        """Possible parents in one graph."""
        return tuple(self.left.get((graph, y), ()))

    def union(self, y: int) -> tuple[int, ...]:
        """Possible parents in any graph."""
        return tuple(
            dict.fromkeys(
                u for (_, target), found in self.left.items() if target == y for u in found
            )
        )


def search_past(answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents) -> None:
    """Take columns out of `past` that are independent of the target given the strongest others.

    Context lags come last, given all that is left: what the context changes may be a slope, which
    shows only with its variable among the conditions.
    """
    for size in range(plan.window.nodes):
        asked = list(_queries(plan, past, size))
        if not asked:
            break
        _ask(answers, plan, past, asked)
    _ask(answers, plan, past, list(_context_queries(plan, past)))


def _ask(
    answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents, asked: list[ParentQuery]
) -> None:
    """Take columns out that no set of rows shows to be parents, and lower the evidence for the
    others.
    """
    answers.run(query for *_, queries in asked for query in queries)
    level = max(FIRST_LEVEL, plan.alpha)  # a parent that is lost is lost
    for keys, column, queries in asked:
        least = min(queries, key=lambda query: answers.of(query).p, default=None)
        if least is not None and all(answers.of(query).p > level for query in queries):
            for g, y in keys:
                past.left[g, y].pop(column, None)
                past.removed[g, column, y] = least
            continue
        evidence = max((answers.evidence(query) for query in queries), default=inf)
        for key in keys:
            if column in past.left[key]:
                past.left[key][column] = min(past.left[key][column], evidence)


def _queries(plan: LaggedPlan, past: LaggedParents, size: int) -> Iterator[ParentQuery]:
    """True if a column of the past is independent given the `size` strongest others."""
    for y in plan.targets:
        shared = plan.window.is_context(y)
        # context lags are conditioned on as they are; else they choose rows
        plain = shared or plan.rule is pooled
        for g in plan.graphs[:1] if shared else plan.graphs:
            strongest = _strongest(past, [g], y)
            for u in strongest:
                if u in plan.known_parents(y) or (plan.window.is_context(u) and not shared):
                    continue
                others = [
                    z for z in strongest if z != u and (plain or not plan.window.is_context(z))
                ]
                if len(others) >= size:
                    given = tuple(sorted(others[:size]))
                    views = (0,) if shared else plan.first_views(g)
                    keys = tuple((h, y) for h in plan.graphs) if shared else ((g, y),)
                    yield keys, u, tuple(CIQuery(u, y, given, view) for view in views)


def _context_queries(plan: LaggedPlan, past: LaggedParents) -> Iterator[ParentQuery]:
    """True if a context lag is independent of a variable given all that may cause it, on all
    rows.
    """
    for y in plan.targets:
        known = plan.known_parents(y)
        if plan.window.is_context(y):
            continue
        everything = _strongest(past, list(plan.graphs), y)
        given = tuple(sorted(z for z in everything if not plan.window.is_context(z)))
        for u in everything:
            if plan.window.is_context(u) and u not in known:
                yield tuple((g, y) for g in plan.graphs), u, (CIQuery(u, y, given, 0),)


def _strongest(past: LaggedParents, graphs: list[int], y: int) -> list[int]:
    """Possible parents in some graphs, the strongest first."""
    best: dict[int, float] = {}
    for g in graphs:
        for u, evidence in past.left[g, y].items():
            best[u] = max(best.get(u, 0.0), evidence)
    return sorted(best, key=lambda u: (-best[u], u))


class Pair(NamedTuple):
    """An earlier or contemporaneous column, a variable at time t, and the graph that asks: 0 for
    all where shared.
    """

    graph: int
    z: int
    y: int


class PairQueries:
    """The queries of every pair, as the graphs, shape (graphs, nodes, nodes), are now; some pairs
    may be settled.
    """

    def __init__(
        self, plan: LaggedPlan, past: LaggedParents, graphs: Bools, settled: Collection[Pair] = ()
    ) -> None:
        self.plan = plan
        self.past = past
        self.graphs = graphs
        self.settled = settled

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

    def holding(self, pair: Pair) -> Sequence[int]:
        """The graphs that an answer about a pair is for."""
        return self.plan.graphs if self.plan.is_shared(pair.z, pair.y) else (pair.graph,)

    def most(self, pair: Pair) -> int:
        """The size of the largest set."""
        return max(len(self.pool(pair, node)) for node in self.serving(pair))

    def sets(self, pair: Pair, size: int) -> Iterator[CandidateSet]:
        """The sets of one size: neighbours of y, then of z if that is contemporaneous."""
        # the same set may be asked on other rows for the sake of the other end
        asked: set[CIQuery] = set()
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
        found = [
            v for v in self.plan.targets if around[v] and may[v, node] and v not in (pair.z, pair.y)
        ]
        return sorted(found, key=lambda v: (self.plan.window.is_context(v), v))

    def query(self, pair: Pair, node: int, chosen: tuple[int, ...]) -> CIQuery | None:
        """What is run for a set of neighbours of `node`; None where no rows answer."""
        plan = self.plan
        endpoints = (pair.z, pair.y)
        shared = plan.is_shared(*endpoints)
        nodes = self.serving(pair) if shared else (node,)
        named = [
            context
            for context in plan.context_columns
            if context in chosen
            or (
                context in plan.past_context_columns and self._is_near(pair, context, nodes, shared)
            )
        ]
        given = {*chosen, *self._causes(pair, shared)}.difference(endpoints)
        named += plan.named_by(
            [v for v in given if v in chosen or self._is_near(pair, v, nodes, shared)]
        )
        plain = {v for v in given if not plan.window.is_context(v)}
        if shared:
            return CIQuery(*endpoints, tuple(sorted(plain.union(named).difference(endpoints))), 0)
        view, kept = plan.rows(pair.graph, named)
        return None if view is None else CIQuery(*endpoints, tuple(sorted(plain.union(kept))), view)

    def _is_near(self, pair: Pair, column: int, nodes: Iterable[int], shared: bool) -> bool:
        """True if a column of the window is still next to one of some nodes."""
        if column >= self.plan.window.nodes:
            return False
        return any(bool(self._neighbours(pair.graph, node, shared)[column]) for node in nodes)

    def _causes(self, pair: Pair, shared: bool) -> Iterator[int]:
        """What may cause y, and what may cause z, as much earlier as z is."""
        window = self.plan.window
        past = self.past
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


MOST_VOTES = 10_000
"""Sets that may vote on one pair."""
OpenPair = tuple[int, Pair, list[int]]
"""A graph, a pair that is not adjacent in it, and its common neighbours at time t."""


def judge_triples(
    answers: RememberedAnswers | None,
    asking: PairQueries,
    separating: Mapping[Pair, tuple[int, ...]],
    tested: Bools,
) -> list[Triples]:
    """The colliders of every graph; without a test to ask, by the sets that separated the pairs.

    An edge that nothing tested, False in `tested` of shape (graphs, nodes, nodes), is in no triple.
    """
    plan = asking.plan
    colliders: list[set[Triple]] = [set() for _ in plan.graphs]
    ambiguous: list[set[Triple]] = [set() for _ in plan.graphs]
    first = answers is None or plan.collider_rule == "first"
    found = list(_open_pairs(asking, tested))
    votes = {} if answers is None else _votes(answers, asking, found)
    for graph, pair, centres in found:
        for w in centres:
            at_context = plan.window.is_context(w)
            if plan.links.absent[pair.z, pair.y]:
                verdict = None
            elif first and (answers is None or not at_context):
                known = separating.get(pair)
                verdict = (
                    None if known is None or (at_context and answers is None) else w not in known
                )
            else:
                sets = votes[pair]
                held = sum(w in chosen for chosen in sets)
                verdict = ruling(
                    held, len(sets), "conservative" if at_context else plan.collider_rule
                )
            triple = (min(pair.z, pair.y), w, max(pair.z, pair.y))
            if verdict is None:
                ambiguous[graph].add(triple)
            elif verdict:
                colliders[graph].add(triple)
    return [Triples(frozenset(c), frozenset(a)) for c, a in zip(colliders, ambiguous, strict=True)]


def _open_pairs(asking: PairQueries, tested: Bools) -> Iterator[OpenPair]:
    """Pairs with an end at time t, not adjacent in a graph, that have common neighbours there."""
    plan, window = asking.plan, asking.plan.window
    now = np.array(plan.targets, dtype=np.int64)
    for g in plan.graphs:
        graph = asking.graphs[g]
        for y in plan.targets:
            for z in range(window.nodes):
                if z == y or graph[z, y] or (window.is_now(z) and (z > y or z not in plan.targets)):
                    continue
                centres = now[tested[g, z, now] & tested[g, y, now]].tolist()
                if centres:
                    yield g, Pair(0 if plan.is_shared(z, y) else g, z, y), centres


def _votes(
    answers: RememberedAnswers, asking: PairQueries, found: list[OpenPair]
) -> dict[Pair, list[tuple[int, ...]]]:
    """The sets that separate every pair."""
    pairs = {pair for _, pair, _ in found if not asking.plan.links.absent[pair.z, pair.y]}
    sets = {pair: list(_every_set(asking, pair)) for pair in sorted(pairs)}
    answers.run(candidate.query for some in sets.values() for candidate in some)
    return {
        pair: [c.chosen for c in some if answers.of(c.query).p > asking.plan.alpha]
        for pair, some in sets.items()
    }


def _every_set(asking: PairQueries, pair: Pair) -> Iterator[CandidateSet]:
    most = min(asking.most(pair), asking.plan.max_given)
    total = 0
    for size in range(most + 1):
        total += 2 * comb(asking.most(pair), size)
        if size > 1 and total > MOST_VOTES:
            return
        yield from asking.sets(pair, size)
