"""The adaptive search over time: the past first (`search_past`), then links level by level, then directions.

Sound on exact distributions: a target's mechanism changes with one lag of every context, and on the rows where these
have one value its parents separate it from everything that is no effect of it (tests/timeseries/test_exact_chains.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from causalcontext.ci_tests.protocol import Label, PreparedTest
from causalcontext.graphs.endpoints import Endpoints, endpoints_of_arcs
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.limits import TIED
from causalcontext.knowledge import Links
from causalcontext.progress import COLLIDERS, OutOfTime, Watch
from causalcontext.search.family import Doubt, Evidence, Origin, Place
from causalcontext.search.lagged.plan import ByContextLags, LaggedPlan
from causalcontext.search.lagged.queries import LaggedParents, Pair, PairQueries, judge_triples, search_past
from causalcontext.search.lagged.revisions import (
    Change,
    LagAlarm,
    changed_by_context,
    context_lags_to_restore,
    links_to_share,
    past_beyond_lags,
)
from causalcontext.search.level_search import CandidateSet, CIAnswer, RememberedAnswers, first_separating
from causalcontext.search.rules import orient_all
from causalcontext.views import CIQuery, adaptive

TIME, READS, CHANGE = "time", "reads", "V4"
"""What directs a link from the past, a link of the context that only a second look found, and one by a change."""


@dataclass
class Record:
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

    `records` has what was decided by (graph, z, y), shared pairs in every graph; `labels` are the tests.
    """

    endpoints: Endpoints
    records: dict[tuple[int, int, int], Record]
    tests: Ints
    complete: bool
    labels: tuple[Label, ...]
    origins: dict[tuple[int, int, int], Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    cut: str = ""
    lag_alarm: LagAlarm | None = None


class LaggedSearch:
    """One search for the window graphs of all contexts: what it asks, what is left, and what was decided."""

    def __init__(self, prepared: PreparedTest, plan: LaggedPlan, n_jobs: int, watch: Watch) -> None:
        asked = ByContextLags(prepared, plan.contexts) if plan.rule is adaptive and plan.context_columns else prepared
        self.answers, self.plan, self.watch = RememberedAnswers(asked, n_jobs, watch), plan, watch
        left = {(g, y): dict.fromkeys(plan.candidates(y), inf) for g in plan.graphs for y in plan.targets}
        self.past = LaggedParents(left)  # before any test every candidate may be a parent
        self.graphs: Bools = np.zeros((len(plan.values), plan.window.nodes, plan.window.nodes), dtype=bool)
        self.records: dict[Pair, Record] = {}
        self.restored: set[Pair] = set()

    def run(self) -> LaggedFound:
        """Past, links, directions; a time limit ends the tests, and what is left is directed by what is known."""
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
                return LaggedFound(endpoints_of_arcs(self.graphs), self._told(), self.answers.counts(), False,
                                   self.answers.prepared.labels)  # fmt: skip
            cut = f"before {left} pairs were tested given all sets: some of their edges may be wrong"
            return self._directed(None, cut if left else "before the past was searched: some of the links may be wrong")

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
            waiting = [(pair, asking.sets(pair, size)) for pair in asking.pairs() if asking.most(pair) >= size]
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
            self.records[pair] = Record(query, self.answers.of(query))
            self.graphs[:, pair.z, pair.y] = self.graphs[:, pair.y, pair.z] = True
        return bool(found)

    def _share(self, endpoints: Endpoints) -> bool:
        """Let graphs agree on links that nothing can have changed between them; whether some did not.

        A separation on the rows that they have in common holds for all of them, another does not outweigh a link.
        """
        if self.plan.rule is not adaptive:
            return False
        plan, known, found = self.plan, self._told(), links_to_share(self.plan, self.graphs, endpoints)
        for pair, graphs, acting in found:
            told = [known.get((g, pair.z, pair.y), Record()) for g in graphs]
            whole = [record for record in told if record.separated and record.query is not None and acting.issuperset(
                     map(plan.window.context_number, plan.contexts.fixed(record.query.view)))]  # fmt: skip
            kept = whole[0] if whole else told[graphs.index(pair.graph)]
            for g in graphs:
                self.graphs[g, pair.z, pair.y] = self.graphs[g, pair.y, pair.z] = not whole
                self.records[Pair(g, pair.z, pair.y)] = kept
        return bool(found)

    def _settle(self, pair: Pair, candidate: CandidateSet) -> bool:
        """Write an answer down; whether it separates the pair."""
        record, answer = self.records.setdefault(pair, Record()), self.answers.of(candidate.query)
        if answer.reason:
            record.untested += 1
            record.reason, record.rows = answer.reason, answer.n
            return False
        weaker = record.answer is None or answer.p > record.answer.p * (1.0 + TIED)
        if answer.p > self.plan.alpha or weaker:
            record.query, record.answer, record.chosen = candidate.query, answer, candidate.chosen
        record.separated |= answer.p > self.plan.alpha
        return answer.p > self.plan.alpha

    def _remove(self) -> None:
        asking = PairQueries(self.plan, self.past, self.graphs)
        for pair, record in self.records.items():
            if record.separated:
                for g in asking.holding(pair):
                    self.graphs[g, pair.z, pair.y] = self.graphs[g, pair.y, pair.z] = False

    def _directed(self, answers: RememberedAnswers | None, cut: str = "") -> LaggedFound:
        """Time, then colliders, then Meek's rules in every graph; ends at contexts are the same in all of them."""
        if answers is not None:
            self.watch(COLLIDERS, 0, 1)
        self._remove()
        plan, asking = self.plan, PairQueries(self.plan, self.past, self.graphs)
        separating = {pair: record.chosen for pair, record in self.records.items() if record.separated}
        triples = judge_triples(answers, asking, separating)
        contexts = plan.contexts_now
        oriented = orient_all(self.graphs, Evidence(triples, self._known({}), contexts, across=False))
        changed = changed_by_context(plan, self.graphs, oriented.endpoints)
        if changed:
            oriented = orient_all(self.graphs, Evidence(triples, self._known(changed), contexts, across=False))
        return LaggedFound(oriented.endpoints, self._told(), self.answers.counts(), True, self.answers.prepared.labels,
                           dict(self._origins(oriented.origins, changed)), oriented.doubts, cut)  # fmt: skip

    def _known(self, changed: Collection[tuple[int, int]]) -> Links:
        """What is known, and that a context causes what it changes."""
        may, now = self.plan.links.may.copy(), self.plan.contexts_now.positions
        for context, y in changed:
            may[y, context] = False
        for _, z, y in self.restored:
            may[y, z] = may[y, z] and z not in now
            may[z, y] = may[z, y] and y not in now
        return Links(may, self.plan.links.must)

    def _origins(self, origins: Mapping[Place, Origin], changed: Mapping[tuple[int, int], Change]) -> Iterator[
            tuple[Place, Origin]]:  # fmt: skip
        """Links from the past are directed by time, links of a context that have no other reason by changes."""
        window = self.plan.window
        for (g, a, b), origin in origins.items():
            if Pair(0, min(a, b), max(a, b)) in self.restored:
                yield (g, a, b), Origin(READS, g, ())
            elif (a, b) in changed:
                yield (g, a, b), Origin(CHANGE, changed[a, b][1], (changed[a, b][0],))
            else:
                yield (g, a, b), origin if window.is_now(a) and window.is_now(b) else Origin(TIME, g, ())

    def _told(self) -> dict[tuple[int, int, int], Record]:
        """What was decided, by graph; first what the past alone decided."""
        told = {
            (g, z, y): Record(query, self.answers.of(query), (), True)
            for (g, z, y), query in self.past.removed.items()
        }  # fmt: skip
        asking = PairQueries(self.plan, self.past, self.graphs)
        for pair, record in self.records.items():
            told |= {(g, pair.z, pair.y): record for g in asking.holding(pair)}
        return told
