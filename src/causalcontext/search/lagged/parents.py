"""Phase 1: which columns of the past may be parents of each variable, in each context.

A column stays if it is dependent given the q strongest others, for q = 0, 1, 2, ..., on *some* rows: all of them, those
of one context lag, or those of lags of two contexts. The variable changes with some of these, or with none, and on
their rows the parent shows; a superset is enough here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from causalcontext.search.batches import RememberedAnswers
from causalcontext.search.lagged.plan import FIRST_LEVEL, LaggedPlan
from causalcontext.views import CIQuery, pooled

Key = tuple[int, int]
"""(graph, target)"""


class ParentQuery(NamedTuple):
    """Whether a column may be a parent, on several sets of rows; `keys` are the graphs and targets it is about."""

    keys: tuple[Key, ...]
    column: int
    queries: tuple[CIQuery, ...]


@dataclass
class LaggedParents:
    """The columns of the past that may be parents, by graph and target, with the least evidence for them.

    `removed` has the query with the smallest p-value among those that took a column out.
    """

    left: dict[Key, dict[int, float]]
    removed: dict[tuple[int, int, int], CIQuery] = field(default_factory=dict)

    def of(self, graph: int, y: int) -> tuple[int, ...]:
        """Possible parents in one graph."""
        return tuple(self.left.get((graph, y), ()))

    def union(self, y: int) -> tuple[int, ...]:
        """Possible parents in any graph."""
        return tuple(dict.fromkeys(u for (_, target), found in self.left.items() if target == y for u in found))


def search_past(answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents) -> None:
    """Take columns out of `past` that are independent of the target given the strongest others.

    Context lags come last, given all that is left: what the context changes may be a slope, which shows only with
    its variable among the conditions.
    """
    for size in range(plan.window.nodes):
        asked = list(_queries(plan, past, size))
        if not asked:
            break
        _ask(answers, plan, past, asked)
    _ask(answers, plan, past, list(_context_queries(plan, past)))


def _ask(answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents, asked: list[ParentQuery]) -> None:
    answers.run(query for question in asked for query in question.queries)
    for question in asked:
        _judge(answers, plan, past, question)


def _queries(plan: LaggedPlan, past: LaggedParents, size: int) -> Iterator[ParentQuery]:
    """Whether a column of the past is independent given the `size` strongest others."""
    for y in plan.targets:
        shared = plan.window.is_context(y)
        for g in plan.graphs[:1] if shared else plan.graphs:
            strongest = _strongest(past, [g], y)
            for u in strongest:
                if u in plan.known_parents(y) or (plan.window.is_context(u) and not shared):
                    continue
                others = [z for z in strongest if z != u and (shared or _serves(plan, z))]
                if len(others) >= size:
                    given = tuple(sorted(others[:size]))
                    views = (0,) if shared else plan.first_views(g)
                    keys = tuple((h, y) for h in plan.graphs) if shared else ((g, y),)
                    yield ParentQuery(keys, u, tuple(CIQuery(u, y, given, view) for view in views))


def _context_queries(plan: LaggedPlan, past: LaggedParents) -> Iterator[ParentQuery]:
    """Whether a context lag is independent of a variable given all that may cause it, on all rows."""
    for y in plan.targets:
        known = plan.known_parents(y)
        if plan.window.is_context(y):
            continue
        everything = _strongest(past, list(plan.graphs), y)
        given = tuple(sorted(z for z in everything if not plan.window.is_context(z)))
        for u in everything:
            if plan.window.is_context(u) and u not in known:
                yield ParentQuery(tuple((g, y) for g in plan.graphs), u, (CIQuery(u, y, given, 0),))


def _serves(plan: LaggedPlan, z: int) -> bool:
    """Whether a column is conditioned on as it is; context lags choose rows instead, unless pooled."""
    return plan.rule is pooled or not plan.window.is_context(z)


def _strongest(past: LaggedParents, graphs: list[int], y: int) -> list[int]:
    """Possible parents in some graphs, the strongest first."""
    best: dict[int, float] = {}
    for g in graphs:
        for u, evidence in past.left[g, y].items():
            best[u] = max(best.get(u, 0.0), evidence)
    return sorted(best, key=lambda u: (-best[u], u))


def _judge(answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents, question: ParentQuery) -> None:
    found = [answers.of(query) for query in question.queries]
    level = max(FIRST_LEVEL, plan.alpha)  # a parent that is lost is lost
    if question.queries and all(answer.p > level for answer in found):
        least = min(zip(found, question.queries, strict=True), key=lambda pair: pair[0].p)
        for g, y in question.keys:
            past.left[g, y].pop(question.column, None)
            past.removed[g, question.column, y] = least[1]
        return
    evidence = max((answers.evidence(query) for query in question.queries), default=inf)
    for key in question.keys:
        if question.column in past.left[key]:
            past.left[key][question.column] = min(past.left[key][question.column], evidence)
