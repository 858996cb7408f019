"""Searches without noise: the engine on an exact oracle, for tests of theory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.endpoints import Endpoint, Endpoints, directed, marked
from causalcontext.knowledge import Knowledge
from causalcontext.search.algorithm import FoundGraphs, algorithm_1
from causalcontext.search.batched_search import BatchedSearch
from causalcontext.search.plan import Plan
from causalcontext.views import ViewRule, adaptive
from causalcontext_lab.simulate.testing import DiscreteModel, OracleTest


def search_oracle(
    model: DiscreteModel,
    rule: ViewRule = adaptive,
    levels: tuple[int, ...] = (0, 1),
    knowledge: Knowledge | None = None,
    collider_rule: str = "majority",
    masked_scope: str = "adaptive",
    across: bool = False,
) -> FoundGraphs:
    """The graphs that a search finds when every independence question is answered exactly."""
    links = (knowledge or Knowledge()).links(model.names)
    plan = Plan(
        len(model.names),
        model.contexts,
        rule,
        levels,
        links,
        0.5,
        len(model.names),
        collider_rule,
        masked_scope,
        always_trusted if across else None,
    )
    search = BatchedSearch(OracleTest(model).prepare(None))
    return algorithm_1(search, plan, 1, lambda size, done, total: None)


def always_trusted(x: int, y: int, given: Sequence[int], present: int, absent: int) -> bool:
    """A missing edge of an exact distribution is a change of mechanism."""
    return True


def skeleton(truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The adjacencies of directed graphs, shape (..., N, N)."""
    return truth | truth.swapaxes(-1, -2)


def of_some_skeletons(
    models: Iterable[NDArray[np.bool_]], every: int
) -> list[tuple[int, NDArray[np.bool_]]]:
    """The models of one in `every` skeletons, numbered as in `models`.

    Models with the same independences have the same skeleton, so that none of a chosen one is left
    out.
    """
    groups = defaultdict(list)
    for number, truth in enumerate(models):
        groups[skeleton(truth).tobytes()].append((number, truth))
    return [model for group in list(groups.values())[::every] for model in group]


def wrong_marks(endpoints: NDArray[np.int8], truth: NDArray[np.bool_]) -> int:
    """Arrowheads that contradict the true directed graphs, conflicts included."""
    return int((directed(endpoints) & ~truth).sum() + marked(endpoints, "x-x").sum() // 2)


def open_to_kin(endpoints: Endpoints, contexts: Iterable[int]) -> bool:
    """Whether a link of a context variable is open though arrows of any graphs lead along it: rule
    A1 would turn it.
    """
    reach = directed(endpoints).any(axis=0)
    for _ in range(3):
        reach |= reach @ reach
    kin = reach | reach.T
    is_open = (endpoints == Endpoint.CIRCLE).any(axis=0)
    return any(bool((kin[context] & is_open[context]).any()) for context in contexts)
