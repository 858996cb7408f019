"""Where no mechanism can change, the contexts share their links.

A link differs between contexts only if its effect reads a copy of the context. Where no copy is next to the effect, a
context that lacks the link asked on too few rows: early in the search copies were still next to it, and chose rows.
"""

from __future__ import annotations

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, directed
from causalcontext.kernels.arrays import Bools
from causalcontext.search.lagged.asking import Pair
from causalcontext.search.lagged.plan import LaggedPlan


def links_to_share(plan: LaggedPlan, graphs: Bools, endpoints: Endpoints) -> list[Pair]:
    """Links that some graphs lack though nothing that may be their effect may read the context; by a graph with one."""
    some = np.asarray(graphs.any(axis=0) & ~graphs.all(axis=0))
    arrows = np.asarray(directed(endpoints).any(axis=0))
    readers = {y for y in plan.targets if any(graphs[:, copy, y].any() and not arrows[y, copy] for copy in plan.copies)}
    found = []
    for y in plan.targets:
        for z in np.flatnonzero(some[:, y]).tolist():
            if (plan.window.is_now(z) and z > y) or plan.is_shared(z, y):
                continue
            effects = {y} if not plan.window.is_now(z) or arrows[z, y] else {z} if arrows[y, z] else {z, y}
            if not effects & readers:
                found.append(Pair(int(np.argmax(graphs[:, z, y])), z, y))
    return found
