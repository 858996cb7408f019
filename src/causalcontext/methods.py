"""The methods: which rows answer a question, and how what was found becomes graphs.

PC-AC, PC-M and PC-P are one search (`search.algorithm.algorithm_1`) with another rule for the rows that answer a
question; PC-B combines the last two. score-ac asks no questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset
from causalcontext.data.survey import Survey
from causalcontext.diagnostics.support import Support
from causalcontext.graphs.ends import Ends, adjacent
from causalcontext.independence.protocol import PreparedTest
from causalcontext.knowledge import Links
from causalcontext.progress import Advance
from causalcontext.questions import Rule, adaptive, masked, pooled
from causalcontext.results.contexts import Settings
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import Decision, TrialLog
from causalcontext.score.choice import choose_by_residuals, choose_by_table
from causalcontext.score.engine import ScoreOutcome, run_score
from causalcontext.score.options import ScoreOptions
from causalcontext.search.algorithm import Found, algorithm_1, unoriented
from causalcontext.search.family import Doubt, Origin
from causalcontext.search.indicator import search_with_indicator
from causalcontext.search.intersection import intersect
from causalcontext.search.ledger import Ledger
from causalcontext.search.plan import NO_CONTEXT, Physical, Plan
from causalcontext.search.split import level_search


@dataclass(frozen=True, eq=False)
class Search:
    """Everything a method needs: a prepared test, what the variables are, what is known, how to search."""

    prepared: PreparedTest
    data: Dataset
    links: Links
    settings: Settings
    n_jobs: int
    advance: Advance
    survey: Survey
    score: ScoreOptions
    support: Support | None = None

    @property
    def context(self) -> int:
        """The position of the context, or `NO_CONTEXT`."""
        return NO_CONTEXT if self.data.context is None else self.data.context

    def run(self, rule: Rule, levels: Sequence[int], masked_scope: str = "adaptive",
            across: Callable[[Ledger], Physical] | None = None) -> tuple[Found, TrialLog]:  # fmt: skip
        """Search the graphs of some levels, with a rule for the rows that answer."""
        plan = self.plan(rule, levels, masked_scope, across)
        tests = level_search(self.prepared, self.context, self.n_jobs)
        found = algorithm_1(tests, plan, self.settings.collider_rule, self.n_jobs, self.advance)
        return found, TrialLog.from_ledger(plan, found.ledger, len(self.data.levels), self.labels)

    def plan(self, rule: Rule, levels: Sequence[int], masked_scope: str = "adaptive",
             across: Callable[[Ledger], Physical] | None = None) -> Plan:  # fmt: skip
        """What to search for, by the settings."""
        limit, variables = self.settings.max_given, len(self.data.names)
        return Plan(variables, self.context, rule, tuple(levels), self.links, self.settings.alpha,
                    variables if limit is None else limit, masked_scope, across)  # fmt: skip

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the tests that the prepared test runs."""
        names: tuple[str, ...] = getattr(self.prepared, "labels", (self.settings.test,))
        return names

    def physical(self, ledger: Ledger) -> Physical:
        """Whether a missing edge is a change of mechanism: asked of the rows, given what separated the pair."""

        def answer(x: int, y: int, present: int, absent: int) -> bool:
            given = ledger.separating_set(absent, x, y, NO_CONTEXT)
            system = [z for z in given or () if z not in (NO_CONTEXT, self.context)]
            return self.support is None or self.support.trusted(x, y, system, present, absent)

        return answer


@dataclass(frozen=True, eq=False)
class Outcome:
    """The ends of every context, shape (contexts, N, N), and how they came about."""

    ends: Ends
    log: TrialLog
    tests: NDArray[np.int64]
    complete: bool
    origins: Mapping[tuple[int, int, int], Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    evidence: ScoreEvidence | None = None
    notes: tuple[str, ...] = ()
    method: str | None = None


def pc_ac(search: Search) -> Outcome:
    """PC-AC: with the context in its conditioning set a question is asked inside one context, else on all rows."""
    if search.settings.indicator is not None:
        return _pc_ac_with_indicator(search)
    across = search.physical if search.settings.orientation == "across" else None
    found, log = search.run(adaptive, range(len(search.data.levels)), search.settings.masked_scope, across)
    return Outcome(found.ends, log, found.ledger.tests, found.complete, found.origins, found.doubts)


def _pc_ac_with_indicator(search: Search) -> Outcome:
    """PC-AC where the context is a function of a column: questions given that column are asked inside one step."""
    source = search.data.position(str(search.settings.indicator))
    plan = search.plan(adaptive, range(len(search.data.levels)))
    found, inside = search_with_indicator(search.prepared, plan, source, search.settings.collider_rule, search.n_jobs,
                                          search.advance)  # fmt: skip
    log = TrialLog.from_ledger(inside, found.ledger, len(search.data.levels), search.labels)
    return Outcome(found.ends, log.not_searched(search.context), found.ledger.tests, found.complete, found.origins,
                   found.doubts)  # fmt: skip


def pc_m(search: Search) -> Outcome:
    """PC-M: every question is asked inside one context; the context itself stays isolated."""
    found, log = search.run(masked, range(len(search.data.levels)))
    return Outcome(found.ends, log, found.ledger.tests, found.complete, found.origins)


def pc_p(search: Search) -> Outcome:
    """PC-P: every question is asked on all rows; the same graph for every context."""
    found, log = search.run(pooled, [0])
    levels = range(len(search.data.levels))
    ends = np.repeat(found.ends, len(levels), axis=0)
    origins = {(level, a, b): origin for (_, a, b), origin in found.origins.items() for level in levels}
    return Outcome(ends, log, found.ledger.tests, found.complete, origins)


def pc_b(search: Search) -> Outcome:
    """PC-B: the edges that PC-M and PC-P share, and the links at the context of PC-P."""
    everywhere = pc_p(search)
    if not everywhere.complete:
        return everywhere
    inside = pc_m(search)
    pooled_ends = everywhere.ends[0] if inside.complete else unoriented(adjacent(everywhere.ends[0]))
    ends = intersect(inside.ends, pooled_ends, search.context)
    log = inside.log.combined(everywhere.log, _decided_by_pool(inside.log, everywhere.log))
    return Outcome(ends, log, inside.tests + everywhere.tests, inside.complete)


def score_ac(search: Search) -> Outcome:
    """score-ac: the best-scoring model; mechanisms and their parents may differ between blocks of contexts."""
    return _from_scores(search, _scored(search))


def auto(search: Search) -> Outcome:
    """What suits the data: score-ac, unless it does not apply or its residuals say that its model is wrong."""
    choice = choose_by_table(search.data)
    if choice is None:
        scored = _scored(search)
        choice = choose_by_residuals(scored.findings, len(search.data.system))
        if choice.method == "score-ac":
            outcome = _from_scores(search, scored)
            return replace(outcome, method=choice.method, notes=(choice.reason, *outcome.notes))
    outcome = (pc_p if search.data.context is None else pc_ac)(search)
    return replace(outcome, method=choice.method, notes=(choice.reason, *outcome.notes))


def _scored(search: Search) -> ScoreOutcome:
    return run_score(search.data, search.survey, search.links, search.score, search.settings.seed, search.n_jobs,
                     search.advance)  # fmt: skip


def _from_scores(search: Search, scored: ScoreOutcome) -> Outcome:
    log = TrialLog.empty(len(search.data.levels), len(search.data.names))
    tests = np.zeros(2, dtype=np.int64)
    return Outcome(scored.ends, log, tests, not scored.interrupted, evidence=scored.evidence, notes=scored.notes)


METHODS: dict[str, Callable[[Search], Outcome]] = {
    "pc-ac": pc_ac, "pc-m": pc_m, "pc-p": pc_p, "pc-b": pc_b, "score-ac": score_ac, "auto": auto,
}  # fmt: skip


def _decided_by_pool(inside: TrialLog, everywhere: TrialLog) -> NDArray[np.bool_]:
    """Where PC-P has the say in PC-B: links at the context, edges that only it removes, weaker evidence."""
    removed_inside = inside.decision == Decision.ABSENT
    weaker = ~(inside.p >= everywhere.p)
    removed_by_pool = everywhere.decision == Decision.ABSENT
    at_context = inside.decision == Decision.NOT_SEARCHED
    has_say: NDArray[np.bool_] = at_context | (~removed_inside & (removed_by_pool | (weaker & ~np.isnan(everywhere.p))))
    return has_say
