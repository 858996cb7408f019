"""Which triples x - w - y of a window graph are colliders: w and y at time t, x at time t or before.

Sets of contemporaneous neighbours vote, always together with what may cause the two ends. Around R(t) the vote is
conservative. A separation on the rows R(t) = r counts as one given R(t).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb

import numpy as np

from causalcontext.search.batches import CandidateSet, RememberedAnswers
from causalcontext.search.colliders import Triple, Triples, ruling
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.search.lagged.queries import Pair, PairQueries

MOST_SETS = 10_000
"""Sets that may vote on one pair."""
OpenPair = tuple[int, int, int, tuple[int, ...]]
"""A graph, a pair that is not adjacent in it, and its common neighbours at time t."""


def judge_triples(
    answers: RememberedAnswers | None, asking: PairQueries, separating: Mapping[Pair, tuple[int, ...]]
) -> list[Triples]:
    """The colliders of every graph; without a test to ask, by the sets that separated the pairs."""
    plan = asking.plan
    colliders: list[set[Triple]] = [set() for _ in plan.graphs]
    ambiguous: list[set[Triple]] = [set() for _ in plan.graphs]
    first = answers is None or plan.collider_rule == "first"
    found = list(_open_pairs(asking))
    votes = {} if answers is None else _votes(answers, asking, found)
    for graph, z, y, centres in found:
        pair = _asked(plan, graph, z, y)
        for w in centres:
            at_context = plan.window.is_context(w)
            if plan.links.absent[z, y]:
                verdict = None
            elif first and (answers is None or not at_context):
                known = separating.get(pair)
                verdict = None if known is None or (at_context and answers is None) else w not in known
            else:
                sets = votes[pair]
                held = sum(w in chosen for chosen in sets)
                verdict = ruling(held, len(sets), "conservative" if at_context else plan.collider_rule)
            triple = (min(z, y), w, max(z, y))
            if verdict is None:
                ambiguous[graph].add(triple)
            elif verdict:
                colliders[graph].add(triple)
    return [Triples(frozenset(c), frozenset(a)) for c, a in zip(colliders, ambiguous, strict=True)]


def _open_pairs(asking: PairQueries) -> Iterator[OpenPair]:
    """Pairs with an end at time t, not adjacent in a graph, that have common neighbours there."""
    plan, window = asking.plan, asking.plan.window
    now = np.array(plan.targets, dtype=np.int64)
    for g in plan.graphs:
        graph = asking.graphs[g]
        for y in plan.targets:
            for z in range(window.nodes):
                if z == y or graph[z, y] or (window.is_now(z) and (z > y or z not in plan.targets)):
                    continue
                centres = tuple(now[graph[z, now] & graph[y, now]].tolist())
                if centres:
                    yield g, z, y, centres


def _asked(plan: LaggedPlan, graph: int, z: int, y: int) -> Pair:
    return Pair(0 if plan.is_shared(z, y) else graph, z, y)


def _votes(answers: RememberedAnswers, asking: PairQueries, found: list[OpenPair]) -> dict[Pair, list[tuple[int, ...]]]:
    """The sets that separate every pair."""
    pairs = {_asked(asking.plan, graph, z, y) for graph, z, y, _ in found if not asking.plan.links.absent[z, y]}
    sets = {pair: list(_every_set(asking, pair)) for pair in sorted(pairs)}
    answers.run(candidate.query for some in sets.values() for candidate in some)
    return {pair: [c.chosen for c in some if answers.of(c.query).p > asking.plan.alpha] for pair, some in sets.items()}


def _every_set(asking: PairQueries, pair: Pair) -> Iterator[CandidateSet]:
    most, total = min(asking.most(pair), asking.plan.max_given), 0
    for size in range(most + 1):
        total += 2 * comb(asking.most(pair), size)
        if size > 1 and total > MOST_SETS:
            return
        yield from asking.sets(pair, size)
