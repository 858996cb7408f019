"""The lag alarm: does the past beyond the lags still tell something, given all that was found?

If it does, lags are too few, or a persistent driver is hidden, or persistent columns are noisy; all three invent links.
Every variable is held against every column one or two steps beyond the lags, given its causes and its own past. The
p-values are combined by Cauchy's method (Liu and Xie, 2020), which holds whatever their dependence. A search by tests
asks its test, a model with lags its regressions (`timeseries/alarm.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from causalcontext.data.windows import MORE_LAGS
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed
from causalcontext.search.batches import RememberedAnswers
from causalcontext.search.lagged.context_lags import fisher
from causalcontext.search.lagged.parents import LaggedParents
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.search.lagged.revisions import causes_of
from causalcontext.views import CIQuery

LEVEL = 0.05
"""The alarm rings at this level of all queries together."""


class LagAlarm(NamedTuple):
    """The column beyond the lags that tells most, about what, and the p-value of all such columns together."""

    column: int
    y: int
    p: float


def combined(p_values: Mapping[tuple[int, int], float]) -> LagAlarm | None:
    """What p-values, by column and variable, say together; None without any.

    Examples
    --------
    >>> alarm = combined({(4, 0): 0.001, (5, 0): 0.4, (4, 1): 0.7})
    >>> alarm.column, alarm.y, round(alarm.p, 4)
    (4, 0, 0.003)
    """
    if not p_values:
        return None
    _, column, y = min((p, *place) for place, p in p_values.items())
    inside = np.clip(list(p_values.values()), 1e-15, 1.0 - 1e-15)
    p = 0.5 - np.arctan(np.tan((0.5 - inside) * np.pi).mean()) / np.pi
    return LagAlarm(column, y, float(p))


def past_beyond_lags(answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents,
                     endpoints: Endpoints) -> LagAlarm | None:  # fmt: skip
    """What tells most, tested on the rows of the context lags that may act on a variable, at every value."""
    arrows, near = (np.asarray(ends.any(axis=0)) for ends in (directed(endpoints), adjacent(endpoints)))
    window, asked = plan.window, {}
    lags = range(window.lags + 1, min(window.lags + MORE_LAGS, window.depth) + 1)
    beyond = [window.at(v, lag) for lag in lags for v in range(window.variables) if v not in window.contexts]
    for y in (y for y in plan.targets if not window.is_context(y)):
        causes = {z for z in causes_of(plan, past, arrows, y) if not window.is_context(z)}
        named = [context for context in plan.context_columns if near[context, y] and not arrows[y, context]]
        named += plan.named_by([z for z in causes if z < window.nodes and near[z, y]])
        rows = sorted((view, kept) for view, kept in {plan.rows(g, named) for g in plan.graphs} if view is not None)
        for u in beyond:
            asked[u, y] = [CIQuery(u, y, tuple(sorted(causes.union(kept))), view) for view, kept in rows]
    answers.run(query for queries in asked.values() for query in queries)
    return combined({place: fisher([answers.of(query).p for query in queries]) for place, queries in asked.items()})
