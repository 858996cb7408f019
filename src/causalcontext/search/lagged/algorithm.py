"""The adaptive search over time: the past first (`search_past`), then links level by level, then
directions.

Sound on exact distributions: a target's mechanism changes with one lag of every context, and on the
rows where these have one value its parents separate it from everything that is no effect of it
(tests/timeseries/test_exact_chains.py).

Then some of it is revised. What the context changes may be a slope. A test of the context against a
variable sees that only with the cause whose slope it is among the conditions, and an earlier,
smaller set calls the two independent. Once the parents of a variable are known, one query decides:
is it independent of a context lag given all of them? Exact distributions never answer otherwise
than before.

A link differs with a context only if a lag of that context acts on its effect. Where none is next
to the effect, a graph that lacks the link tested it on too few rows: early in the search context
lags were still next to it, and chose rows. A link from the past into a variable points at it. If it
is there at one value of a context and missing at another, the variable's mechanism changes with a
lag of it; where no past one is next to it, that is R(t) (rule V4 over time).

The lag alarm asks whether the past beyond the lags still tells something, given all that was found.
If it does, lags are too few, or a persistent driver is hidden, or persistent columns are noisy; all
three invent links. Every variable is held against every column one or two steps beyond the lags,
given its causes and its own past. Where that would ring, columns inside the lags that still tell
something are added first: a link that the search lost is no reason for more lags. The p-values are
combined by Cauchy's method (Liu and Xie, 2020), which holds whatever their dependence. A search by
tests asks its test, a model with lags its regressions (`timeseries/alarm.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf
from typing import NamedTuple

import numpy as np

from causalcontext.ci_tests.protocol import Label, PreparedTest
from causalcontext.data.windows import MORE_LAGS
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed, endpoints_of_arcs, marked
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.levels.neighbours import list_edges
from causalcontext.kernels.limits import TIED
from causalcontext.knowledge import Links
from causalcontext.progress import COLLIDERS, OutOfTime, Watch
from causalcontext.search.batched_search import (
    CandidateSet,
    CIAnswer,
    RememberedAnswers,
    first_separating,
)
from causalcontext.search.family import Doubt, EdgeEnd, Evidence, Origin
from causalcontext.search.lagged.plan import ByContextLags, LaggedPlan, fisher
from causalcontext.search.lagged.queries import (
    LaggedParents,
    Pair,
    PairQueries,
    judge_triples,
    search_past,
)
from causalcontext.search.rules import orient_all
from causalcontext.views import CIQuery, adaptive

MissingLink = tuple[int, int]
"""A column of the past, and a graph that lacks its link."""


def context_lags_to_restore(
    answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints
) -> list[tuple[Pair, CIQuery]]:
    """For every variable with known parents the context lag that it depends on most given these, if
    there is one.
    """
    asked: dict[int, list[tuple[Pair, CIQuery]]] = {}
    there, arrows = (
        np.asarray(found.any(axis=0)) for found in (adjacent(endpoints), directed(endpoints))
    )
    open_links = adjacent(endpoints) & ~directed(endpoints) & ~directed(endpoints).swapaxes(1, 2)
    undecided = there & np.asarray(open_links.any(axis=0))
    downstream = reach(there & ~(arrows.T & ~arrows))
    for y in plan.targets:
        if plan.window.is_context(y) or undecided[y].any():
            continue
        given = causes_of(plan, past, arrows, y)
        made = plan.named_by(np.flatnonzero(arrows[:, y]).tolist())
        for context in plan.context_columns:
            may_act = plan.window.lag(context) in plan.context_lags and plan.links.may[context, y]
            if (
                there[context, y]
                or not may_act
                or (plan.window.is_now(context) and downstream[y, context])
            ):
                continue
            pair = Pair(0, min(context, y), max(context, y))
            asked.setdefault(y, []).append(
                (pair, CIQuery(pair.z, pair.y, tuple(sorted((*given, *made))), 0))
            )
    answers.run(query for queries in asked.values() for _, query in queries)
    total = sum(map(len, asked.values()))
    found = []
    for queries in asked.values():
        p, pair, query = min(
            (float(np.nan_to_num(answers.of(own).p, nan=1.0)), one, own) for one, own in queries
        )
        if p <= plan.alpha / total:  # all queries share the level
            found.append((pair, query))
    return found


def causes_of(plan: LaggedPlan, past: LaggedParents, arrows: Bools, y: int) -> tuple[int, ...]:
    """The parents of a variable, and what else of the past may be one: the context can stand in for
    a missing one.
    """
    window, own = plan.window, plan.window.shifted(y, 1)
    earlier = [u for u in (*past.union(y), own) if u is not None and not window.is_context(u)]
    return tuple(sorted({*np.flatnonzero(arrows[:, y]).tolist(), *earlier}))


def links_to_share(
    plan: LaggedPlan, graphs: Bools, endpoints: Endpoints
) -> list[tuple[Pair, tuple[int, ...], frozenset[int]]]:
    """Links that only some graphs have among those that agree in all contexts that act on a
    possible effect of them.

    The pair with the number of a graph that has the link, these graphs, and the contexts that act,
    by number.
    """
    some = np.asarray(graphs.any(axis=0) & ~graphs.all(axis=0))
    arrows = np.asarray(directed(endpoints).any(axis=0))
    found = []
    # a context may act on a variable if a lag of one, or of its column, is next to it
    sources = {context: context for context in plan.context_columns} | plan.made_columns
    for y in plan.targets:
        for z in np.flatnonzero(some[:, y]).tolist():
            if (plan.window.is_now(z) and z > y) or plan.is_shared(z, y):
                continue
            effects = (
                {y}
                if not plan.window.is_now(z) or arrows[z, y]
                else {z}
                if arrows[y, z]
                else {z, y}
            )
            acting = frozenset(
                plan.window.context_number(context)
                for (context, column), v in product(sources.items(), effects)
                if graphs[:, column, v].any() and not arrows[v, column]
            )
            alike: dict[tuple[int, ...], list[int]] = {}
            for g in plan.graphs:
                alike.setdefault(tuple(plan.values[g][v] for v in sorted(acting)), []).append(g)
            for group in alike.values():
                having = [g for g in group if graphs[g, z, y]]
                if having and len(having) < len(group):
                    found.append((Pair(having[0], z, y), tuple(group), acting))
    return found


def changed_by_context(
    plan: LaggedPlan, graphs: Bools, tested: Bools, endpoints: Endpoints
) -> dict[tuple[int, int], MissingLink]:
    """(R(t), y): variables with an open link to a context whose links from the past differ with it,
    and one of these.

    No other lag of the context is next to such a variable, and the graphs that differ have the same
    other contexts. An edge that nothing tested says nothing.
    """
    found: dict[tuple[int, int], MissingLink] = {}
    open_links = np.asarray((marked(endpoints, "o-o") & tested).any(axis=0))
    for present, absent, now in plan.contexts_now.steps():
        own = [
            u
            for u in plan.past_context_columns
            if plan.window.context_number(u) == plan.window.context_number(now)
        ]
        for y in np.flatnonzero(open_links[:, now]).tolist():
            lost = np.flatnonzero(tested[present, :, y] & ~graphs[absent, :, y]).tolist()
            lost = [u for u in lost if not plan.window.is_now(u)]
            if lost and not graphs[:, own, y].any() and plan.links.may[now, y]:
                change = lost[0], absent
                found[now, y] = min(change, found.get((now, y), change))
    return found


LEVEL = 0.05
"""The alarm rings at this level of all queries together."""


class LagAlarm(NamedTuple):
    """The column beyond the lags that tells most, about what, and the p-value of all such columns
    together.
    """

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


class AlarmConditions(NamedTuple):
    """Given what a variable is held against columns beyond the lags, and on which rows: views, with
    what they keep.
    """

    columns: set[int]
    rows: list[tuple[int, tuple[int, ...]]]


def past_beyond_lags(
    answers: RememberedAnswers, plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints
) -> LagAlarm | None:
    """What tells most, tested on the rows of the context lags that may act on a variable, at every
    value.

    Where it would ring, links that the search lost are looked for: they tell about the time beyond
    the lags as well.
    """
    window = plan.window
    given = _alarm_conditions(plan, past, endpoints)
    plain = [v for v in range(window.variables) if v not in window.contexts]
    lags = range(window.lags + 1, min(window.lags + MORE_LAGS, window.depth) + 1)
    beyond = [window.at(v, lag) for lag in lags for v in plain]
    told = _alarm_answers(answers, given, dict.fromkeys(given, beyond))
    alarm = combined(told)
    if alarm is None or alarm.p > LEVEL:
        return alarm
    ringing = sorted({y for (_, y), p in told.items() if p <= LEVEL})
    inside = [window.at(v, lag) for lag in range(1, window.lags + 1) for v in plain]
    # what tells most is added to the conditions, one after the other, at a level that all columns
    # share
    lost = ringing
    while lost:
        more = _alarm_answers(
            answers, given, {y: [u for u in inside if u not in given[y].columns] for y in lost}
        )
        least = {
            y: min(((p, u) for (u, z), p in more.items() if z == y), default=(1.0, -1))
            for y in lost
        }
        lost = [y for y in lost if least[y][0] <= plan.alpha / len(inside)]
        for y in lost:
            given[y].columns.add(least[y][1])
    return combined(told | _alarm_answers(answers, given, dict.fromkeys(ringing, beyond)))


def _alarm_conditions(
    plan: LaggedPlan, past: LaggedParents, endpoints: Endpoints
) -> dict[int, AlarmConditions]:
    """The causes of every variable at time t, and its own past; its rows by context lags that may
    act on it.
    """
    arrows, near = (
        np.asarray(ends.any(axis=0)) for ends in (directed(endpoints), adjacent(endpoints))
    )
    window = plan.window
    found = {}
    for y in (y for y in plan.targets if not window.is_context(y)):
        causes = {z for z in causes_of(plan, past, arrows, y) if not window.is_context(z)}
        named = [
            context
            for context in plan.context_columns
            if near[context, y] and not arrows[y, context]
        ]
        named += plan.named_by([z for z in causes if z < window.nodes and near[z, y]])
        rows = sorted(
            (view, kept)
            for view, kept in {plan.rows(g, named) for g in plan.graphs}
            if view is not None
        )
        found[y] = AlarmConditions(causes, rows)
    return found


def _alarm_answers(
    answers: RememberedAnswers,
    given: Mapping[int, AlarmConditions],
    asked: Mapping[int, Sequence[int]],
) -> dict[tuple[int, int], float]:
    """The p-value of every column that is asked about a variable."""
    queries = {
        (u, y): [
            CIQuery(u, y, tuple(sorted(given[y].columns.union(kept))), view)
            for view, kept in given[y].rows
        ]
        for y, columns in asked.items()
        for u in columns
    }
    answers.run(query for some in queries.values() for query in some)
    return {
        place: fisher([answers.of(query).p for query in some]) for place, some in queries.items()
    }


TIME = "time"
READS = "reads"
CHANGE = "V4"
"""What directs a link from the past, a link of the context that only a second look found, and one
by a change.
"""


@dataclass
class PairRecord:
    """The deciding query of a pair: the separating one, or the one with the largest p-value."""

    query: CIQuery | None = None
    answer: CIAnswer | None = None
    chosen: tuple[int, ...] = ()
    separated: bool = False
    untested: int = 0
    reason: int = 0
    rows: int = 0


@dataclass(frozen=True, eq=False)
class LaggedFound:
    """The ends of every graph, shape (graphs, nodes, nodes), and how they came about.

    `records` has what was decided by (graph, z, y), shared pairs in every graph; `labels` are the
    tests.
    """

    endpoints: Endpoints
    records: dict[tuple[int, int, int], PairRecord]
    tests: Ints
    complete: bool
    labels: tuple[Label, ...]
    origins: dict[tuple[int, int, int], Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    cut: str = ""
    lag_alarm: LagAlarm | None = None


class LaggedSearch:
    """One search for the window graphs of all contexts: what it asks, what is left, and what was
    decided.
    """

    def __init__(self, prepared: PreparedTest, plan: LaggedPlan, n_jobs: int, watch: Watch) -> None:
        asked = (
            ByContextLags(prepared, plan.contexts)
            if plan.rule is adaptive and plan.context_columns
            else prepared
        )
        self.answers = RememberedAnswers(asked, n_jobs, watch)
        self.plan = plan
        self.watch = watch
        left = {
            (g, y): dict.fromkeys(plan.candidates(y), inf)
            for g in plan.graphs
            for y in plan.targets
        }
        self.past = LaggedParents(left)  # before any test every candidate may be a parent
        self.graphs: Bools = np.zeros(
            (len(plan.values), plan.window.nodes, plan.window.nodes), dtype=bool
        )
        self.records: dict[Pair, PairRecord] = {}
        self.restored: set[Pair] = set()

    def run(self) -> LaggedFound:
        """Past, links, directions; a time limit ends the tests, and what is left is directed by
        what is known.
        """
        try:
            search_past(self.answers, self.plan, self.past)
            self._start()
            self._links()
            found = self._directed(self.answers)
            while self._restore(found.endpoints):
                self._links()
                found = self._directed(self.answers)
            found = self._directed(self.answers) if self._share(found.endpoints) else found
            alarm = past_beyond_lags(self.answers, self.plan, self.past, found.endpoints)
            return replace(found, lag_alarm=alarm)
        except KeyboardInterrupt as stopped:
            left = sum(1 for _ in PairQueries(self.plan, self.past, self.graphs).pairs())
            if not self.graphs.any():
                self._start()
            if not isinstance(stopped, OutOfTime):
                return LaggedFound(
                    endpoints_of_arcs(self.graphs),
                    self._told(),
                    self.answers.counts(),
                    False,
                    self.answers.prepared.labels,
                )
            cut = (
                f"before {left} pairs were tested given all sets: some of their edges may be wrong"
            )
            return self._directed(
                None,
                cut if left else "before the past was searched: some of the links may be wrong",
            )

    def _start(self) -> None:
        """What may be a parent, and everything inside the time step, is adjacent."""
        plan = self.plan
        for g in plan.graphs:
            for y in plan.targets:
                for u in (*self.past.of(g, y), *plan.known_parents(y)):
                    self.graphs[g, u, y] = self.graphs[g, y, u] = True
                for x in plan.targets:
                    self.graphs[g, x, y] = x != y and not plan.links.absent[x, y]
        self.graphs |= plan.links.required[None]

    def _links(self) -> None:
        """Level by level, the pairs that a set separates are taken out at the end of the level."""
        for size in range(len(self.plan.targets)):
            asking = PairQueries(self.plan, self.past, self.graphs, self.restored)
            if size > self.plan.max_given:
                return
            waiting = [
                (pair, asking.sets(pair, size))
                for pair in asking.pairs()
                if asking.most(pair) >= size
            ]
            if not waiting:
                return
            for queries, left in first_separating(waiting, self._settle):
                self.watch(size, len(waiting) - left, len(waiting))
                self.answers.run(queries)
            self.watch(size, len(waiting), len(waiting))
            self._remove()

    def _restore(self, endpoints: Endpoints) -> bool:
        """Put back links of the context that a second look finds; whether there were any."""
        if self.plan.rule is not adaptive:
            return False
        found = context_lags_to_restore(self.answers, self.plan, self.past, endpoints)
        for pair, query in found:
            self.restored.add(pair)
            self.records[pair] = PairRecord(query, self.answers.of(query))
            self.graphs[:, pair.z, pair.y] = self.graphs[:, pair.y, pair.z] = True
        return bool(found)

    def _share(self, endpoints: Endpoints) -> bool:
        """Let graphs agree on links that nothing can have changed between them; whether some did
        not.

        A separation on the rows that they have in common holds for all of them, another does not
        outweigh a link.
        """
        if self.plan.rule is not adaptive:
            return False
        plan, known, found = (
            self.plan,
            self._told(),
            links_to_share(self.plan, self.graphs, endpoints),
        )
        for pair, graphs, acting in found:
            told = [known.get((g, pair.z, pair.y), PairRecord()) for g in graphs]
            whole = [
                record
                for record in told
                if record.separated
                and record.query is not None
                and acting.issuperset(
                    map(plan.window.context_number, plan.contexts.fixed(record.query.view))
                )
            ]
            kept = whole[0] if whole else told[graphs.index(pair.graph)]
            for g in graphs:
                self.graphs[g, pair.z, pair.y] = self.graphs[g, pair.y, pair.z] = not whole
                self.records[Pair(g, pair.z, pair.y)] = kept
        return bool(found)

    def _settle(self, pair: Pair, candidate: CandidateSet) -> bool:
        """Write an answer down; whether it separates the pair."""
        record = self.records.setdefault(pair, PairRecord())
        answer = self.answers.of(candidate.query)
        if answer.reason:
            record.untested += 1
            record.reason = answer.reason
            record.rows = answer.n
            return False
        weaker = record.answer is None or answer.p > record.answer.p * (1.0 + TIED)
        if answer.p > self.plan.alpha or weaker:
            record.query = candidate.query
            record.answer = answer
            record.chosen = candidate.chosen
        record.separated |= answer.p > self.plan.alpha
        return answer.p > self.plan.alpha

    def _remove(self) -> None:
        asking = PairQueries(self.plan, self.past, self.graphs)
        for pair, record in self.records.items():
            if record.separated:
                for g in asking.holding(pair):
                    self.graphs[g, pair.z, pair.y] = self.graphs[g, pair.y, pair.z] = False

    def _directed(self, answers: RememberedAnswers | None, cut: str = "") -> LaggedFound:
        """Time, then colliders, then Meek's rules in every graph; ends at contexts are the same in
        all of them.
        """
        if answers is not None:
            self.watch(COLLIDERS, 0, 1)
        self._remove()
        plan, asking = self.plan, PairQueries(self.plan, self.past, self.graphs)
        separating = {
            pair: record.chosen for pair, record in self.records.items() if record.separated
        }
        tested = self._tested(asking)
        edges = list_edges(self.graphs)
        untested = ~tested[:, edges.first, edges.second] & edges.present
        triples = judge_triples(answers, asking, separating, tested)
        evidence = Evidence(
            triples, self._known({}), plan.contexts_now, across=False, untested=untested
        )
        oriented = orient_all(self.graphs, evidence)
        changed = changed_by_context(plan, self.graphs, tested, oriented.endpoints)
        if changed:
            oriented = orient_all(self.graphs, evidence._replace(links=self._known(changed)))
        return LaggedFound(
            oriented.endpoints,
            self._told(),
            self.answers.counts(),
            True,
            self.answers.prepared.labels,
            dict(self._origins(oriented.origins, changed)),
            oriented.doubts,
            cut,
        )

    def _tested(self, asking: PairQueries) -> Bools:
        """The edges that some query, or knowledge, speaks for; shape (graphs, nodes, nodes)."""
        tested = self.graphs & self.plan.links.required
        for pair, record in self.records.items():
            if record.answer is not None:
                for g in asking.holding(pair):
                    tested[g, pair.z, pair.y] = tested[g, pair.y, pair.z] = self.graphs[
                        g, pair.z, pair.y
                    ]
        return np.asarray(tested)

    def _known(self, changed: Collection[tuple[int, int]]) -> Links:
        """What is known, and that a context causes what it changes."""
        may = self.plan.links.may.copy()
        now = self.plan.contexts_now.positions
        for context, y in changed:
            may[y, context] = False
        for _, z, y in self.restored:
            may[y, z] = may[y, z] and z not in now
            may[z, y] = may[z, y] and y not in now
        return Links(may, self.plan.links.must)

    def _origins(
        self, origins: Mapping[EdgeEnd, Origin], changed: Mapping[tuple[int, int], MissingLink]
    ) -> Iterator[tuple[EdgeEnd, Origin]]:
        """Links from the past are directed by time, links of a context that have no other reason by
        changes.
        """
        window = self.plan.window
        for (g, a, b), origin in origins.items():
            if Pair(0, min(a, b), max(a, b)) in self.restored:
                yield (g, a, b), Origin(READS, g, ())
            elif (a, b) in changed:
                yield (g, a, b), Origin(CHANGE, changed[a, b][1], (changed[a, b][0],))
            else:
                yield (
                    (g, a, b),
                    origin if window.is_now(a) and window.is_now(b) else Origin(TIME, g, ()),
                )

    def _told(self) -> dict[tuple[int, int, int], PairRecord]:
        """What was decided, by graph; first what the past alone decided."""
        told = {
            (g, z, y): PairRecord(query, self.answers.of(query), (), True)
            for (g, z, y), query in self.past.removed.items()
        }
        asking = PairQueries(self.plan, self.past, self.graphs)
        for pair, record in self.records.items():
            told |= {(g, pair.z, pair.y): record for g in asking.holding(pair)}
        return told
