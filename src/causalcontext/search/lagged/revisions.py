"""What is revised once the links are found: context links asked again, links that contexts share, changes that direct.

What the context changes may be a slope. A test of the context against a variable sees that only with the cause whose
slope it is among the conditions, and an earlier, smaller set calls the two independent. Once the parents of a variable
are known, one query decides: is it independent of a context lag given all of them? Exact distributions never answer
otherwise than before.

A link differs between contexts only if a context lag acts on its effect. Where none is next to the effect, a context
that lacks the link tested it on too few rows: early in the search context lags were still next to it, and chose rows.
A link from the past into a variable points at it. If one context has it and another lacks it, the variable's mechanism
changes with a context lag; where no past one is next to it, that is R(t) (rule V4 over time).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, adjacent, directed, marked
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools
from causalcontext.search.batches import RememberedAnswers
from causalcontext.search.lagged.parents import LaggedParents
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.search.lagged.queries import Pair
from causalcontext.views import CIQuery

Change = tuple[int, int]
"""A column of the past, and a graph that lacks its link."""


def context_lags_to_restore(
    answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints
) -> list[tuple[Pair, CIQuery]]:
    """For every variable the context lag that it depends on most given its parents, if there is one."""
    asked: dict[int, list[tuple[Pair, CIQuery]]] = {}
    for pair, query, y in _again(plan, past, endpoints):
        asked.setdefault(y, []).append((pair, query))
    answers.run(query for queries in asked.values() for _, query in queries)
    total, found = sum(len(queries) for queries in asked.values()), []
    for queries in asked.values():
        p, pair, query = min((_p(answers, query), pair, query) for pair, query in queries)
        if p <= plan.alpha / total:  # all queries share the level
            found.append((pair, query))
    return found


def _again(plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints) -> Iterator[tuple[Pair, CIQuery, int]]:
    """The context lags that are not next to a variable whose parents are known, and what to ask."""
    there, arrows = (np.asarray(found.any(axis=0)) for found in (adjacent(endpoints), directed(endpoints)))
    undecided = there & np.asarray(
        (adjacent(endpoints) & ~directed(endpoints) & ~directed(endpoints).swapaxes(1, 2)).any(axis=0)
    )
    upstream = _may_cause_context(plan, there, arrows)
    for y in plan.targets:
        if plan.window.is_context(y) or undecided[y].any():
            continue
        given = causes_of(plan, past, arrows, y)
        for context in plan.context_columns:
            may_act = plan.window.lag(context) in plan.context_lags and plan.links.may[context, y]
            if there[context, y] or not may_act or (plan.window.is_now(context) and upstream[y]):
                continue
            pair = Pair(0, min(context, y), max(context, y))
            yield pair, CIQuery(pair.z, pair.y, given, 0), y


def causes_of(plan: LaggedPlan, past: LaggedParents, arrows: Bools, y: int) -> tuple[int, ...]:
    """The parents of a variable, and what else of the past may be one: the context can stand in for a missing one."""
    window, own = plan.window, plan.window.shifted(y, 1)
    earlier = [u for u in (*past.union(y), own) if u is not None and not window.is_context(u)]
    return tuple(sorted({*np.flatnonzero(arrows[:, y]).tolist(), *earlier}))


def _may_cause_context(plan: LaggedPlan, there: Bools, arrows: Bools) -> Bools:
    """True for the nodes from which a path may lead to the context of now."""
    now = plan.context_now
    if now is None:
        return np.zeros(len(there), dtype=bool)
    forward = there & ~(arrows.T & ~arrows)
    return np.asarray(reach(forward)[:, now])


def _p(answers: RememberedAnswers, query: CIQuery) -> float:
    p = answers.of(query).p
    return p if p == p else 1.0


def links_to_share(plan: LaggedPlan, graphs: Bools, endpoints: Endpoints) -> list[Pair]:
    """Links that some graphs lack though the context acts on nothing that may be their effect; by a graph with one."""
    some = np.asarray(graphs.any(axis=0) & ~graphs.all(axis=0))
    arrows = np.asarray(directed(endpoints).any(axis=0))
    acting = graphs[:, list(plan.context_columns)].any(axis=0) & ~arrows[:, list(plan.context_columns)].T
    changing = set(np.flatnonzero(acting.any(axis=0)).tolist())
    found = []
    for y in plan.targets:
        for z in np.flatnonzero(some[:, y]).tolist():
            if (plan.window.is_now(z) and z > y) or plan.is_shared(z, y):
                continue
            effects = {y} if not plan.window.is_now(z) or arrows[z, y] else {z} if arrows[y, z] else {z, y}
            if not effects & changing:
                found.append(Pair(int(np.argmax(graphs[:, z, y])), z, y))
    return found


def changed_by_context(plan: LaggedPlan, graphs: Bools, endpoints: Endpoints) -> dict[int, Change]:
    """The variables with an open link to R(t) whose links from the past differ between contexts, with one of these."""
    now, found = plan.context_now, {}
    if now is None:
        return {}
    for y in np.flatnonzero(marked(endpoints, "o-o")[:, now].any(axis=0)).tolist():
        beside = any(graphs[:, context, y].any() for context in plan.past_context_columns)
        varies = graphs[:, :, y].any(axis=0) & ~graphs[:, :, y].all(axis=0)
        lost = [u for u in np.flatnonzero(varies).tolist() if not plan.window.is_now(u)]
        if lost and not beside and plan.links.may[now, y]:
            found[y] = lost[0], int(np.argmin(graphs[:, lost[0], y]))
    return found
