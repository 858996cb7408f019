"""score-ac: transform, search, marks, evidence and warnings in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.errors import NotYetError, listed
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.knowledge import Links
from causalcontext.model_checks.violations import Violation
from causalcontext.progress import Advance
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.notes import residual_notes
from causalcontext.score.clock import Clock
from causalcontext.score.directions import Directed, direct
from causalcontext.score.equations import mechanisms_of
from causalcontext.score.explore import CURVES_COST, Explored, explore
from causalcontext.score.judgement import judge
from causalcontext.score.options import MOST_CURVED_VARIABLES, ScoreOptions
from causalcontext.score.residuals import check_fit
from causalcontext.score.search import SAME_SCORE, Effort
from causalcontext.score.setup import Setup, set_up

MOST_LEVELS = 20
"""The most levels of a categorical or ordered column."""


@dataclass(frozen=True, eq=False)
class ScoreOutcome:
    """Ends of every context in the order of the table, the evidence, and what the residuals say."""

    endpoints: Endpoints
    evidence: ScoreEvidence
    findings: tuple[Violation, ...]
    notes: tuple[str, ...]
    complete: bool
    interrupted: bool


def run_score(
    data: Dataset,
    statistics: SufficientStatistics,
    links: Links,
    options: ScoreOptions,
    seed: int,
    n_jobs: int,
    advance: Advance,
) -> ScoreOutcome:
    """The best-scoring model of a table, with honest marks."""
    for position in data.system:
        levels = 0 if data.kinds[position].is_number else len(data.categories[position])
        if levels > MOST_LEVELS:
            raise NotYetError(
                f"not yet: score-ac takes columns of at most {MOST_LEVELS} levels, "
                f"{data.names[position]!r} has {levels}; merge some, or use method='pc-ac'"
            )
    setup = set_up(data, statistics, links)
    effort = Effort(seed, n_jobs, advance, Clock(options.time_limit))
    explored, transform = explore(data, setup, links, options, effort)
    chosen = explored.designs.setup
    directed = _directed(explored, _numbered(chosen, links), effort.clock)
    names = [data.names[i] for i in chosen.position]
    findings = check_fit(directed.model, names, options.densities, explored.curved)
    raw = chosen if transform == "none" else setup
    contradicted = tuple(sorted({finding.kind for finding in findings}))
    evidence = replace(_evidence(explored, directed, links, raw, transform), contradicted=contradicted)
    return ScoreOutcome(
        _table_endpoints(chosen, directed),
        evidence,
        findings,
        (*_notes(data, explored, findings), *_cut(effort.clock)),
        not effort.clock.cut,
        effort.clock.interrupted,
    )


def _directed(explored: Explored, may: NDArray[np.bool_], clock: Clock) -> Directed:
    """The model with honest marks; those of an exact search take no time."""
    try:
        return direct(explored.found, may, None if explored.found.search == "exact" else clock)
    except KeyboardInterrupt:
        clock.interrupt()
        return direct(explored.found, may, clock)


def _evidence(explored: Explored, directed: Directed, links: Links, raw: Setup, transform: str) -> ScoreEvidence:
    found, options = explored.found, explored.designs.options
    agreeing = sum(other.score > found.best.score - SAME_SCORE for other in found.models)
    facts = {"penalty": float(options.penalty), "search": found.search, "transform": transform,
             "starts": len(found.models), "agreeing": agreeing, "curved": explored.curved,
             "curves_gain": explored.doubt, "mechanisms": mechanisms_of(directed.model, raw)}  # fmt: skip
    return judge(explored.designs, directed, links, facts)


def _numbered(setup: Setup, links: Links) -> NDArray[np.bool_]:
    """What knowledge allows, in the numbers of the setup."""
    may = np.ones((len(setup.position),) * 2, dtype=bool)
    there = setup.position >= 0
    place = setup.position[there]
    may[np.ix_(there, there)] = links.may[place[:, None], place]
    return may


def _table_endpoints(setup: Setup, directed: Directed) -> Endpoints:
    """Ends with the variables in the order of the table."""
    there = setup.position >= 0
    back = np.argsort(setup.position[there])
    endpoints = directed.endpoints[:, there][:, :, there]
    return np.asarray(endpoints[:, back][:, :, back])


def _notes(data: Dataset, explored: Explored, findings: Sequence[Violation]) -> tuple[str, ...]:
    setup = explored.designs.setup
    notes = [*_undeclared(data, setup), *_counts(data), *residual_notes(findings, setup.contexts > 1)]
    need = CURVES_COST * np.log(setup.total)
    if 0.5 * need < explored.doubt < 2.0 * need:
        taken = "curved mechanisms were taken" if explored.curved else "straight lines were kept"
        notes.append(f"{taken}, but the other class is nearly as good (curves gain {explored.doubt:.0f}, "
                     f"{need:.0f} are asked for)")  # fmt: skip
    if setup.variables > MOST_CURVED_VARIABLES and explored.designs.options.curves != "never":
        notes.append(f"curves are not tried with more than {MOST_CURVED_VARIABLES} variables")
    return tuple(notes)


_LEFT_OUT = {
    "starts": "climbs were cut short", "normal scores": "normal scores were not tried",
    "curves": "curves were not tried", "directions": "directions that were not checked are left open",
}  # fmt: skip


def _cut(clock: Clock) -> list[str]:
    """What was cut, and by whom."""
    if not clock.cut:
        return []
    who = "Ctrl-C" if clock.interrupted else "the time limit"
    what = ", ".join(_LEFT_OUT[what] for what in _LEFT_OUT if what in clock.cut)
    return [f"{who} ended the search early: this is the best model found so far ({what})"]


def _undeclared(data: Dataset, setup: Setup) -> list[str]:
    """A note on columns of few whole numbers that nobody called counts."""
    found = []
    for j in np.flatnonzero(setup.gap[:-1] > 0.0).tolist():
        values = setup.rows.values[j] * setup.scale[j] + setup.centre[j]
        whole = np.allclose(values, np.round(values), rtol=0.0, atol=1e-6) and values.min() > -0.5
        if whole and values.max() > 1.5 and data.kinds[setup.position[j]] is Kind.CONTINUOUS:
            found.append(data.names[setup.position[j]])
    if not found:
        return []
    return [f"{listed(sorted(found))}: few whole numbers; if they count something, pass "
            f"kinds={{{sorted(found)[0]!r}: 'count'}}, since directions of their links depend on it"]  # fmt: skip


def _counts(data: Dataset) -> list[str]:
    """A note on counts: whether a link points to them or away is hardly seen by the score."""
    found = [data.names[i] for i in data.system if data.kinds[i] is Kind.COUNT]
    if not found:
        return []
    return [f"{listed(sorted(found))}: links at counts are found, but do not trust their directions without other "
            "evidence; if you know them, pass knowledge=cc.Knowledge(tiers=...)"]  # fmt: skip
