"""What is revised once the links are found: context links asked again, links that contexts share, changes that direct;
and the lag alarm.

What the context changes may be a slope. A test of the context against a variable sees that only with the cause whose
slope it is among the conditions, and an earlier, smaller set calls the two independent. Once the parents of a variable
are known, one query decides: is it independent of a context lag given all of them? Exact distributions never answer
otherwise than before.

A link differs with a context only if a lag of that context acts on its effect. Where none is next to the effect, a
graph that lacks the link tested it on too few rows: early in the search context lags were still next to it, and chose
rows. A link from the past into a variable points at it. If it is there at one value of a context and missing at
another, the variable's mechanism changes with a lag of it; where no past one is next to it, that is R(t) (rule V4 over
time).

The lag alarm asks whether the past beyond the lags still tells something, given all that was found. If it does, lags
are too few, or a persistent driver is hidden, or persistent columns are noisy; all three invent links. Every variable
is held against every column one or two steps beyond the lags, given its causes and its own past. The p-values are
combined by Cauchy's method (Liu and Xie, 2020), which holds whatever their dependence. A search by tests asks its test,
a model with lags its regressions (`timeseries/alarm.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from causalcontext.data.windows import MORE_LAGS
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed, marked
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools
from causalcontext.search.lagged.plan import LaggedPlan, fisher
from causalcontext.search.lagged.queries import LaggedParents, Pair
from causalcontext.search.level_search import RememberedAnswers
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
        p, pair, query = min(
            (float(np.nan_to_num(answers.of(query).p, nan=1.0)), pair, query) for pair, query in queries
        )
        if p <= plan.alpha / total:  # all queries share the level
            found.append((pair, query))
    return found


def _again(plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints) -> Iterator[tuple[Pair, CIQuery, int]]:
    """The context lags that are not next to a variable whose parents are known, and what to ask."""
    there, arrows = (np.asarray(found.any(axis=0)) for found in (adjacent(endpoints), directed(endpoints)))
    undecided = there & np.asarray(
        (adjacent(endpoints) & ~directed(endpoints) & ~directed(endpoints).swapaxes(1, 2)).any(axis=0)
    )
    downstream = reach(there & ~(arrows.T & ~arrows))
    for y in plan.targets:
        if plan.window.is_context(y) or undecided[y].any():
            continue
        given = causes_of(plan, past, arrows, y)
        made = plan.named_by(np.flatnonzero(arrows[:, y]).tolist())
        for context in plan.context_columns:
            may_act = plan.window.lag(context) in plan.context_lags and plan.links.may[context, y]
            if there[context, y] or not may_act or (plan.window.is_now(context) and downstream[y, context]):
                continue
            pair = Pair(0, min(context, y), max(context, y))
            yield pair, CIQuery(pair.z, pair.y, tuple(sorted((*given, *made))), 0), y


def causes_of(plan: LaggedPlan, past: LaggedParents, arrows: Bools, y: int) -> tuple[int, ...]:
    """The parents of a variable, and what else of the past may be one: the context can stand in for a missing one."""
    window, own = plan.window, plan.window.shifted(y, 1)
    earlier = [u for u in (*past.union(y), own) if u is not None and not window.is_context(u)]
    return tuple(sorted({*np.flatnonzero(arrows[:, y]).tolist(), *earlier}))


def links_to_share(plan: LaggedPlan, graphs: Bools, endpoints: Endpoints
                   ) -> list[tuple[Pair, tuple[int, ...], frozenset[int]]]:  # fmt: skip
    """Links that only some graphs have among those that agree in all contexts that act on a possible effect of them.

    The pair with the number of a graph that has the link, these graphs, and the contexts that act, by number.
    """
    some = np.asarray(graphs.any(axis=0) & ~graphs.all(axis=0))
    arrows = np.asarray(directed(endpoints).any(axis=0))
    found = []
    for y in plan.targets:
        for z in np.flatnonzero(some[:, y]).tolist():
            if (plan.window.is_now(z) and z > y) or plan.is_shared(z, y):
                continue
            effects = {y} if not plan.window.is_now(z) or arrows[z, y] else {z} if arrows[y, z] else {z, y}
            acting = frozenset(v for effect in effects for v in _acting(plan, graphs, arrows, effect))
            alike: dict[tuple[int, ...], list[int]] = {}
            for g in plan.graphs:
                alike.setdefault(tuple(plan.values[g][v] for v in sorted(acting)), []).append(g)
            for group in alike.values():
                having = [g for g in group if graphs[g, z, y]]
                if having and len(having) < len(group):
                    found.append((Pair(having[0], z, y), tuple(group), acting))
    return found


def _acting(plan: LaggedPlan, graphs: Bools, arrows: Bools, effect: int) -> Iterator[int]:
    """The contexts, by number, that may act on a variable: a lag of one, or of its column, is next to it."""
    sources = {context: context for context in plan.context_columns} | plan.made_columns
    for context, column in sources.items():
        if graphs[:, column, effect].any() and not arrows[effect, column]:
            yield plan.window.context_number(context)


def changed_by_context(plan: LaggedPlan, graphs: Bools, endpoints: Endpoints) -> dict[tuple[int, int], Change]:
    """(R(t), y): variables with an open link to a context whose links from the past differ with it, and one of these.

    No other lag of the context is next to such a variable, and the graphs that differ have the same other contexts.
    """
    found: dict[tuple[int, int], Change] = {}
    open_links = np.asarray(marked(endpoints, "o-o").any(axis=0))
    for present, absent, now in plan.contexts_now.steps():
        own = [u for u in plan.past_context_columns if plan.window.context_number(u) == plan.window.context_number(now)]
        for y in np.flatnonzero(open_links[:, now]).tolist():
            lost = np.flatnonzero(graphs[present, :, y] & ~graphs[absent, :, y]).tolist()
            lost = [u for u in lost if not plan.window.is_now(u)]
            if lost and not graphs[:, own, y].any() and plan.links.may[now, y]:
                change = lost[0], absent
                found[now, y] = min(change, found.get((now, y), change))
    return found


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
