"""The adaptive search over time: the past first (`past.py`), then links level by level, then directions.

Sound on exact distributions: a target's mechanism reads one copy of the context, and on the rows where that copy has
one value its parents separate it from everything that is no effect of it (tests/timeseries/test_exact_chains.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from causalcontext.graphs.ends import Ends, ends_of_arcs
from causalcontext.independence.labels import Label
from causalcontext.independence.protocol import PreparedTest
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.limits import TIED
from causalcontext.progress import COLLIDERS, Advance, OutOfTime
from causalcontext.questions import Contexts, Trial, adaptive
from causalcontext.search.answers import Answer, Answers
from causalcontext.search.batches import LARGEST_BLOCK
from causalcontext.search.family import Doubt, Evidence, Origin
from causalcontext.search.lagged.asking import Asking, Candidate, Pair
from causalcontext.search.lagged.colliders import judge_triples
from causalcontext.search.lagged.copies import ByCopies
from causalcontext.search.lagged.past import Past, all_of_the_past, search_past
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.search.orient import orient_all

TIME = "time"
"""What directs a link from the past."""


@dataclass
class Record:
    """The deciding trial of a pair: the separating one, or the one with the largest p-value."""

    trial: Trial | None = None
    answer: Answer | None = None
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

    ends: Ends
    records: dict[tuple[int, int, int], Record]
    tests: Ints
    complete: bool
    labels: tuple[Label, ...]
    origins: dict[tuple[int, int, int], Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    cut: str = ""


class LaggedSearch:
    """One search: what it asks, what is left, and what was decided."""

    def __init__(self, prepared: PreparedTest, plan: LaggedPlan, n_jobs: int, advance: Advance) -> None:
        asked = ByCopies(prepared, plan.contexts) if plan.rule is adaptive and plan.copies else prepared
        self.answers, self.plan, self.advance = Answers(asked, n_jobs), plan, advance
        self.past: Past = all_of_the_past(plan)
        self.graphs: Bools = np.zeros((len(plan.values), plan.window.nodes, plan.window.nodes), dtype=bool)
        self.records: dict[Pair, Record] = {}

    def run(self) -> LaggedFound:
        """Past, links, directions; a time limit ends the tests, and what is left is directed by what is known."""
        cut = ""
        try:
            search_past(self.answers, self.plan, self.past)
            self._start()
            self._links()
            self.advance(COLLIDERS, 0, 1)
            return self._directed(self.answers)
        except OutOfTime:
            cut = self._cut_words()
        except KeyboardInterrupt:
            self._start_if_needed()
            return LaggedFound(ends_of_arcs(self.graphs), self._told(), self.answers.counts(), False,
                               self.answers.prepared.labels)  # fmt: skip
        self._start_if_needed()
        return self._directed(None, cut)

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

    def _start_if_needed(self) -> None:
        if not self.graphs.any():
            self._start()

    def _links(self) -> None:
        """Level by level, the pairs that a set separates are taken out at the end of the level."""
        for size in range(len(self.plan.targets)):
            asking = Asking(self.plan, self.past, self.graphs)
            if size > self.plan.max_given:
                return
            waiting = [pair for pair in asking.pairs() if asking.most(pair) >= size]
            if not waiting:
                return
            self._level(asking, waiting, size)
            self._remove()

    def _level(self, asking: Asking, pairs: list[Pair], size: int) -> None:
        waiting = [(pair, asking.sets(pair, size)) for pair in pairs]
        block, total = 1, len(pairs)
        while waiting:
            blocks = [list(islice(candidates, block)) for _, candidates in waiting]
            self.answers.run(candidate.trial for some in blocks for candidate in some)
            waiting = [
                (pair, candidates)
                for (pair, candidates), some in zip(waiting, blocks, strict=True)
                if not self._settle(pair, some) and len(some) == block
            ]
            block = min(2 * block, LARGEST_BLOCK)
            self.advance(size, total - len(waiting), total)

    def _settle(self, pair: Pair, candidates: list[Candidate]) -> bool:
        """Write answers down; True as soon as one of them separates the pair."""
        record = self.records.setdefault(pair, Record())
        for candidate in candidates:
            answer = self.answers.of(candidate.trial)
            if answer.reason:
                record.untested += 1
                record.reason, record.rows = answer.reason, answer.n
                continue
            weaker = record.answer is None or answer.p > record.answer.p * (1.0 + TIED)
            if answer.p > self.plan.alpha or weaker:
                record.trial, record.answer, record.chosen = candidate.trial, answer, candidate.chosen
            if answer.p > self.plan.alpha:
                record.separated = True
                return True
        return False

    def _remove(self) -> None:
        asking = Asking(self.plan, self.past, self.graphs)
        for pair, record in self.records.items():
            if record.separated:
                for g in asking.holding(pair):
                    self.graphs[g, pair.z, pair.y] = self.graphs[g, pair.y, pair.z] = False

    def _directed(self, answers: Answers | None, cut: str = "") -> LaggedFound:
        """Time, then colliders, then Meek's rules in every graph; ends at R(t) are the same in all of them."""
        self._remove()
        plan, asking = self.plan, Asking(self.plan, self.past, self.graphs)
        separating = {pair: record.chosen for pair, record in self.records.items() if record.separated}
        triples = judge_triples(answers, asking, separating)
        now = plan.context_now
        contexts = Contexts() if now is None else Contexts((now,), tuple((value,) for value in plan.values))
        oriented = orient_all(self.graphs, Evidence(triples, plan.links, contexts, across=False))
        return LaggedFound(oriented.ends, self._told(), self.answers.counts(), True, self.answers.prepared.labels,
                           dict(self._by_time(oriented.origins)), oriented.doubts, cut)  # fmt: skip

    def _by_time(self, origins: dict[tuple[int, int, int], Origin]) -> Iterator[tuple[tuple[int, int, int], Origin]]:
        """Links from the past are directed by time; what rules say about them besides is of no interest."""
        window = self.plan.window
        for (g, a, b), origin in origins.items():
            yield (g, a, b), origin if window.is_now(a) and window.is_now(b) else Origin(TIME, g, ())

    def _told(self) -> dict[tuple[int, int, int], Record]:
        """What was decided, by graph; first what the past alone decided."""
        told = {
            (g, z, y): Record(trial, self.answers.of(trial), (), True)
            for (g, z, y), trial in self.past.removed.items()
        }  # fmt: skip
        asking = Asking(self.plan, self.past, self.graphs)
        for pair, record in self.records.items():
            told |= {(g, pair.z, pair.y): record for g in asking.holding(pair)}
        return told

    def _cut_words(self) -> str:
        left = int(sum(1 for _ in Asking(self.plan, self.past, self.graphs).pairs())) if self.graphs.any() else 0
        if not left:
            return "before the past was searched: some of the links may be wrong"
        return f"before {left} pairs were tested given all sets: some of their edges may be wrong"


def search_lagged(prepared: PreparedTest, plan: LaggedPlan, n_jobs: int, advance: Advance) -> LaggedFound:
    """The window graphs of all contexts."""
    return LaggedSearch(prepared, plan, n_jobs, advance).run()
