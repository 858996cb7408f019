"""The lag alarm of a search by tests: does the past beyond the lags still tell something, given all that was found?

If it does, lags are too few, or a persistent driver is hidden, or persistent columns are noisy; all three invent links.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, adjacent, directed
from causalcontext.kernels.arrays import Bools
from causalcontext.search.batches import RememberedAnswers
from causalcontext.search.lagged.context_lags import fisher
from causalcontext.search.lagged.parents import LaggedParents
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.search.lagged.revisions import causes_of
from causalcontext.views import CIQuery

MORE_LAGS = 2
LEVEL = 0.01
"""Of all questions together."""


class LaggedViolation(NamedTuple):
    """A column beyond the lags, what it still tells about, and the p-value times the number of questions."""

    column: int
    y: int
    p: float


def late_column(
    answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints
) -> LaggedViolation | None:
    """The column beyond the lags that tells most, if it tells anything."""
    arrows = np.asarray(directed(endpoints).any(axis=0))
    near = np.asarray(adjacent(endpoints).any(axis=0))
    asked = {}
    for y in (y for y in plan.targets if not plan.window.is_context(y)):
        causes = {z for z in causes_of(plan, past, arrows, y) if not plan.window.is_context(z)}
        rows = _rows(plan, near, arrows, y)
        for u in _beyond(plan):
            asked[u, y] = [CIQuery(u, y, tuple(sorted(causes.union(kept))), view) for view, kept in rows]
    answers.run(query for queries in asked.values() for query in queries)
    found = [
        LaggedViolation(u, y, fisher([answers.of(query).p for query in queries])) for (u, y), queries in asked.items()
    ]
    least = min(found, key=lambda late: (late.p, late.column, late.y), default=None)
    return None if least is None or least.p * len(found) > LEVEL else least._replace(p=least.p * len(found))


def _beyond(plan: LaggedPlan) -> list[int]:
    window = plan.window
    lags = range(window.lags + 1, min(window.lags + MORE_LAGS, window.depth) + 1)
    return [window.at(variable, lag) for lag in lags for variable in range(window.variables)
            if variable != window.context]  # fmt: skip


def _rows(plan: LaggedPlan, near: Bools, arrows: Bools, y: int) -> list[tuple[int, tuple[int, ...]]]:
    """The rows of the context lags that may act on a variable, at every value; all rows where none may."""
    named = [context for context in plan.context_columns if near[context, y] and not arrows[y, context]]
    found = {plan.rows(g, named) for g in plan.graphs}
    return sorted((view, kept) for view, kept in found if view is not None)
