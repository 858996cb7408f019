"""How many queries lie ahead, against all sets counted one by one."""

import itertools

import numpy as np
import pytest

from causalcontext.knowledge import Knowledge
from causalcontext.search.forecast import queries_ahead
from causalcontext.search.plan import Plan
from causalcontext.views import Contexts, adaptive

NAMES = ("A", "B", "C", "D", "E", "R")


def counted(graph, may, size):
    """Sets for pairs with R: of one end's neighbours or of the other's, neighbours that may be its
    causes.
    """
    found, r = 0, NAMES.index("R")
    for x in np.flatnonzero(graph[r]).tolist():
        pools = [
            [z for z in range(len(NAMES)) if graph[end, z] and may[z, end] and z not in (x, r)]
            for end in (x, r)
        ]
        found += len({given for pool in pools for given in itertools.combinations(pool, size)})
    return found


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("roots", [(), ("R",), ("A",)])
def test_questions_at_the_context_are_all_counted(seed, roots):
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.random((6, 6)) < 0.6, 1)
    graph = graph | graph.T
    links = Knowledge(roots=roots).links(NAMES)
    plan = Plan(
        6, Contexts((5,), ((0,),)), adaptive, (0,), links, 0.05, 6, "first", "adaptive", None
    )
    ahead = queries_ahead(plan, graph[None], 0, quick=(0,))
    for size in range(6):
        assert ahead.get(size, 0) == counted(graph, links.may, size)
