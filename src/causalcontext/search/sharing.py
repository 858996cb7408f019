"""Which graphs have the same answer about a pair: one map from (graph, pair) to the graph that answers for it.

A link at a context variable cannot depend on that variable's own value. So graphs whose cells differ in it alone share
the link: it is asked about once, with candidates from all of them, and the answer is copied. A pair of two system
variables is answered by every graph for itself; what graphs ask on the same rows is tested once all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Ints
from causalcontext.search.plan import Plan
from causalcontext.views import Contexts


class Role(NamedTuple):
    """The context variables of a pair: none, one or two, by position."""

    contexts: tuple[int, ...]


class Sharing:
    """Whose answers the graphs of a plan take over."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        searched = plan.searched
        self.roles = (Role(()), *(Role(chosen) for size in (1, 2) for chosen in combinations(searched, size)))
        self.leaders = {role: self._leader(role) for role in self.roles}

    def role(self, x: int, y: int) -> Role:
        """The role of a pair."""
        return Role(tuple(position for position in self.plan.searched if position in (x, y)))

    def _leader(self, role: Role) -> Ints:
        """The graph that answers for every graph about pairs of a role."""
        contexts = self.plan.graphs
        if not role.contexts:
            return np.arange(len(contexts.cells))
        others = [j for j, position in enumerate(contexts.positions) if position not in role.contexts]
        first: dict[tuple[int, ...], int] = {}
        return np.array([first.setdefault(tuple(cell[j] for j in others), g) for g, cell in enumerate(contexts.cells)])


@lru_cache(maxsize=4)
def sharing_of(plan: Plan) -> Sharing:
    """The sharing of a plan, made once."""
    return Sharing(plan)


def sharing_endpoints(contexts: Contexts, graph: int, a: int, b: int) -> Iterable[int]:
    """The graphs in which the ends of an edge a - b are the same: all of them at a context variable (rule T0)."""
    shared = a in contexts.positions or b in contexts.positions
    return range(len(contexts.cells)) if shared else (graph,)
