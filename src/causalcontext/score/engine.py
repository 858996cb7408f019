"""score-ac: transform, search, marks, evidence and warnings in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.survey import Survey, take_survey
from causalcontext.errors import NotYetError
from causalcontext.graphs.ends import Ends
from causalcontext.kernels.orders.context_parents import no_memory
from causalcontext.knowledge import Links
from causalcontext.progress import Advance
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.score.equivalence import equivalence_ends
from causalcontext.score.exact_search import search_exactly
from causalcontext.score.judgement import judge
from causalcontext.score.model import FittedModel
from causalcontext.score.options import ScoreOptions
from causalcontext.score.order_search import Searched, layout_of, search_orders
from causalcontext.score.residuals import Misfit, check_residuals
from causalcontext.score.setup import Setup, set_up
from causalcontext.score.transform import log_slope, with_normal_scores

SAME_SCORE = 1e-3
"""Models whose scores differ by less count as equally good."""


@dataclass(frozen=True, eq=False)
class ScoreOutcome:
    """Ends of every context in the order of the table, the evidence, and what the residuals say."""

    ends: Ends
    evidence: ScoreEvidence
    findings: tuple[Misfit, ...]
    notes: tuple[str, ...]
    complete: bool
    interrupted: bool


def run_score(data: Dataset, survey: Survey, links: Links, options: ScoreOptions, seed: int, n_jobs: int,
              advance: Advance) -> ScoreOutcome:  # fmt: skip
    """The best-scoring model of a table, with honest marks."""
    for position in data.system:
        if not data.kinds[position].is_number:
            raise NotYetError(f"not yet: score-ac needs continuous system variables, {data.names[position]!r} is "
                              f"{data.kinds[position].value}; use method='pc-ac'")  # fmt: skip
    setup = set_up(data, survey, links)
    if options.transform == "ranks":
        setup = _ranked(data, links)
    searched = _search(setup, options, seed, n_jobs, advance)
    transform = "ranks" if options.transform == "ranks" else "none"
    if options.transform == "auto" and not searched.interrupted:
        ranked = _ranked(data, links)
        if prefers_ranks(setup, ranked, searched.models[0].score, options, seed):
            other = _search(ranked, options, seed, n_jobs, advance)
            if bend(ranked, other.models[0]) < bend(setup, searched.models[0]):
                setup, searched, transform = ranked, other, "ranks"
    return _outcome(setup, links, options, searched, transform, data.names)


def prefers_ranks(setup: Setup, ranked: Setup, score: float, options: ScoreOptions, seed: int) -> bool:
    """Whether a quick search on normal scores already beats the columns as they are, slopes of the transform counted.

    The marginal of a column is not free: it is charged like four parameters.
    """
    slopes = sum(log_slope(setup.values[:, j]) for j in range(setup.variables)) * setup.weight
    charge = setup.variables * 4.0 * 0.5 * options.penalty * np.log(setup.rows)
    quick = ScoreOptions(starts=1, penalty=options.penalty, time_limit=options.time_limit)
    best = search_orders(ranked, quick, seed, 1, lambda size, done, total: None).models[0].score
    return bool(best + slopes - charge > score)


def bend(setup: Setup, model: FittedModel) -> float:
    """How far the mechanisms of a model are from straight lines, by its residuals.

    Skewed or flat noise makes the likelihood prefer normal scores although they bend straight mechanisms; a warp that
    they undo leaves less bend, not more.
    """
    return sum(finding.size for finding in check_residuals(setup, model) if finding.kind == "nonlinear")


def _ranked(data: Dataset, links: Links) -> Setup:
    scores = with_normal_scores(data)
    return set_up(scores, take_survey(scores, "listwise"), links)


def _search(setup: Setup, options: ScoreOptions, seed: int, n_jobs: int, advance: Advance) -> Searched:
    if options.search == "exact":
        return Searched((search_exactly(setup, options),), True)
    return search_orders(setup, options, seed, n_jobs, advance)


def _outcome(setup: Setup, links: Links, options: ScoreOptions, searched: Searched, transform: str,
             names: Sequence[str]) -> ScoreOutcome:  # fmt: skip
    model = searched.models[0]
    agreeing = sum(other.score > model.score - SAME_SCORE for other in searched.models)
    facts = {"penalty": float(options.penalty), "search": options.search, "transform": transform,
             "starts": len(searched.models), "agreeing": agreeing}  # fmt: skip
    layout = layout_of(setup, options, model)
    evidence = judge(setup, options, layout, model, links, no_memory(), facts)
    findings = check_residuals(setup, model)
    notes = [*_sentences(findings, [names[i] for i in setup.position], setup.contexts > 1)]
    if not searched.complete:
        notes.append("the time limit ended the search early: this is the best model found so far")
    return ScoreOutcome(_table_ends(setup, links, model), evidence, findings, tuple(notes), searched.complete,
                        searched.interrupted)  # fmt: skip


def _table_ends(setup: Setup, links: Links, model: FittedModel) -> Ends:
    """Ends with the variables in the order of the table."""
    there = setup.position >= 0
    place = setup.position[there]
    numbered = Links(np.ones((len(there),) * 2, dtype=bool), np.zeros((len(there),) * 2, dtype=bool))
    numbered.may[np.ix_(there, there)] = links.may[place[:, None], place]
    ends = equivalence_ends(model, numbered)[:, there][:, :, there]
    back = np.argsort(place)
    return np.asarray(ends[:, back][:, :, back])


_DANGERS = {
    "nonlinear": ("residuals of {} depend on earlier variables, so a mechanism is not linear or its noise not constant",
                  "some edges, and above all links from the context, may be false or missing"),
    "skewed": ("residuals of {} are skewed", "edges are mostly safe, but directions at the context may be wrong"),
    "heavy tails": ("residuals of {} have heavy tails", "some links from the context may be false"),
}  # fmt: skip


def _sentences(findings: Sequence[Misfit], names: Sequence[str], context: bool) -> list[str]:
    """One warning for every kind of finding."""
    sentences = []
    for kind, (what, danger) in _DANGERS.items():
        listed = sorted(names[finding.variable] for finding in findings if finding.kind == kind)
        if listed:
            shown = ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")
            end = danger if context else "some edges may be false, missing or wrongly directed"
            sentences.append(f"{what.format(shown)}: {end}")
    return sentences
