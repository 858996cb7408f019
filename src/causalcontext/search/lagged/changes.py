"""Which open links of R(t) a change directs: rule V4 over time.

A link from the past into a variable points at it. If one context has it and another lacks it, the variable's mechanism
changes, and it reads a copy of the context. Where no past copy is next to it, that copy is R(t).
"""

from __future__ import annotations

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, marked
from causalcontext.kernels.arrays import Bools
from causalcontext.search.lagged.plan import LaggedPlan

Change = tuple[int, int]
"""A column of the past, and a graph that lacks its link."""


def changed_by_context(plan: LaggedPlan, graphs: Bools, endpoints: Endpoints) -> dict[int, Change]:
    """The variables with an open link to R(t) whose links from the past differ between contexts, with one of these."""
    now, found = plan.context_now, {}
    if now is None:
        return {}
    for y in np.flatnonzero(marked(endpoints, "o-o")[:, now].any(axis=0)).tolist():
        beside = any(graphs[:, copy, y].any() for copy in plan.past_copies)
        lost = [u for u in range(plan.window.nodes) if not plan.window.is_now(u) and _differs(graphs[:, u, y])]
        if lost and not beside and plan.links.may[now, y]:
            found[y] = lost[0], int(np.argmin(graphs[:, lost[0], y]))
    return found


def _differs(there: Bools) -> bool:
    return bool(there.any() and not there.all())
