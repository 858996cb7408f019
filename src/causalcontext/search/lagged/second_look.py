"""Which copies of the context a mechanism reads although small sets said otherwise: asked again given all parents.

What the context changes may be a slope. A test of the context against a variable sees that only with the cause whose
slope it is among the conditions, and an earlier, smaller set calls the two independent. Once the parents of a variable
are known, one question decides: is it independent of the copy given all of them? Exact distributions never answer
otherwise than before.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, adjacent, directed
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools
from causalcontext.search.batches import RememberedAnswers
from causalcontext.search.lagged.asking import Pair
from causalcontext.search.lagged.past import LaggedParents
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.views import CIQuery

Look = tuple[Pair, CIQuery]


def copies_to_restore(
    answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints
) -> list[Look]:
    """For every variable the copy that it is most dependent on given its parents, if there is one."""
    asked: dict[int, list[Look]] = {}
    for pair, query, y in _looks(plan, past, endpoints):
        asked.setdefault(y, []).append((pair, query))
    answers.run(query for looks in asked.values() for _, query in looks)
    total, found = sum(len(looks) for looks in asked.values()), []
    for looks in asked.values():
        best = min(looks, key=lambda look: (_p(answers, look[1]), look[0]))
        if _p(answers, best[1]) <= plan.alpha / total:  # looks share the level
            found.append(best)
    return found


def _looks(plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints) -> Iterator[tuple[Pair, CIQuery, int]]:
    """The copies that are not next to a variable whose parents are known, and what to ask."""
    there, arrows = (np.asarray(found.any(axis=0)) for found in (adjacent(endpoints), directed(endpoints)))
    undecided = there & np.asarray(
        (adjacent(endpoints) & ~directed(endpoints) & ~directed(endpoints).swapaxes(1, 2)).any(axis=0)
    )
    upstream = _may_cause_context(plan, there, arrows)
    for y in plan.targets:
        if plan.window.is_context(y) or undecided[y].any():
            continue
        given = causes_of(plan, past, arrows, y)
        for copy in plan.copies:
            read = plan.window.lag(copy) in plan.reading and plan.links.may[copy, y]
            if there[copy, y] or not read or (plan.window.is_now(copy) and upstream[y]):
                continue
            pair = Pair(0, min(copy, y), max(copy, y))
            yield pair, CIQuery(pair.z, pair.y, given, 0), y


def causes_of(plan: LaggedPlan, past: LaggedParents, arrows: Bools, y: int) -> tuple[int, ...]:
    """The parents of a variable, and what else of the past may be one: a parent too few makes the copy look like it."""
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
