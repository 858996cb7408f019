"""score-ac: transform, search, marks, evidence and warnings in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from causalcontext.data.coarse import FewValues, few_valued, with_levels, words_for
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics, gather_statistics
from causalcontext.errors import NotYetError, listed
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Ints
from causalcontext.kernels.orders.fit_arrays import ORDERED
from causalcontext.knowledge import Links
from causalcontext.model_checks.violations import Violation
from causalcontext.progress import Advance
from causalcontext.results.log import CITestLog
from causalcontext.results.notes import About, ResultNote, residual_notes
from causalcontext.results.outcome import Outcome
from causalcontext.results.wrong_cells import CleanedTable, FlaggedCell, WrongCells
from causalcontext.score.constants import constant_columns, with_traces, words_about_constants
from causalcontext.score.data import ScoreData, by_name, score_data
from causalcontext.score.explore import (
    RANKS,
    Explored,
    asks_for_scales,
    explore_even,
    explore_uneven,
    price_of_class,
)
from causalcontext.score.judgement import Directed, direct, in_table, judge
from causalcontext.score.model import mechanisms_of
from causalcontext.score.options import MOST_CURVED_VARIABLES, MOST_LEVELS, Clock, ScoreOptions
from causalcontext.score.residuals import check_fit, not_coarse
from causalcontext.score.search import SAME_SCORE, Effort
from causalcontext.score.treatments import with_steps
from causalcontext.score.wrong_cells import (
    Cleaned,
    Flags,
    Search,
    cleaned_table,
    flag_cells,
    without_wrong_cells,
)

FEW_NODES = 12
"""After an exact search of so many nodes all directions are asked, whatever the time."""


def run_score(
    table: Dataset,
    statistics: SufficientStatistics,
    links: Links,
    options: ScoreOptions,
    seed: int,
    n_jobs: int,
    advance: Advance,
    ends: Ints | None = None,
) -> tuple[Outcome, tuple[Violation, ...], bool]:
    """The best-scoring model of a table, its marks, what its residuals say, and whether there was
    time enough.

    A direction that is not clearly better than its reverse is left open. Columns that nothing may
    cause have no mechanism. Rows may be windows of a time series: `ends` are the rows of the series
    that they end at.
    """
    for position in table.system:
        levels = 0 if table.kinds[position].is_number else len(table.categories[position])
        if levels > MOST_LEVELS:
            raise NotYetError(
                f"not yet: score-ac takes columns of at most {MOST_LEVELS} levels, "
                f"{table.names[position]!r} has {levels}; merge some, or use method='pc-ac'"
            )
    contexts = table.contexts
    given = table
    table, number = by_name(table)
    constants = constant_columns(table) if ends is None else {}
    if constants:
        table = with_traces(table, constants)
    if constants or (np.diff(number) < 0).any():
        statistics = gather_statistics(table, "listwise")
    few = few_valued(table, (lambda name: split(name)[0]) if ends is not None else str)
    data = _with_levels(table, few, statistics, links, ends is not None)
    steps = few if options.transform == "none" else with_steps(data, few)
    if any(one.finer for one in steps):
        few = steps
        data = _with_levels(table, steps, statistics, links, ends is not None)
    clock = Clock(options.time_limit)
    effort = Effort(seed, n_jobs, advance, clock)
    changed = None
    explored, transform, treatment = explore_even(data, options, effort, few)
    coarse = {column for one in few for column in one.columns}
    cleaned = None
    flags = cache(partial(flag_cells, data.table, ends, coarse))
    if asks_for_scales(explored):
        # wrong rows look like an uneven spread, whose search takes seconds there
        cleaned = _cleaned(data, (explored, transform, treatment), few, effort, flags, even=True)
        explored = explore_uneven(explored, effort) if cleaned is None else explored
    if cleaned is None:
        cleaned = _cleaned(data, (explored, transform, treatment), few, effort, flags)
    if cleaned is not None:
        before = _directed(explored, clock).marks(
            contexts,
            lambda links: in_table(explored.design.data, links)[number],
            bool(explored.findings),
        )
        changed = _changed(given, cleaned, before.endpoints)
        _, _, data, (explored, transform, treatment) = cleaned
    directed = _directed(explored, clock)
    chosen = explored.design.data
    found = explored.found
    names = [table.names[i] for i in chosen.position]
    findings = (
        explored.findings
        if directed.model is found.best
        else check_fit(directed.model, names, options.densities, explored.curved)
    )
    facts = {
        "penalty": float(options.penalty),
        "search": found.search,
        "transform": transform if transform == "none" else RANKS,
        "starts": len(found.models),
        "curved": explored.curved,
        "curves_gain": explored.doubt,
        "scales_gain": explored.scales_gain,
        "agreeing": sum(other.score > found.best.score - SAME_SCORE for other in found.models),
        "mechanisms": mechanisms_of(directed.model, data),
        "contradictions": tuple(
            (finding.kind, tuple(sorted(finding.columns))) for finding in findings
        ),
        "wrong_cells": (
            "keep" if options.wrong_cells == "keep" else "none" if changed is None else "replaced"
        ),
    }
    findings = not_coarse(chosen, findings)  # claims are held back by all of them
    marks = directed.marks(
        contexts, lambda links: in_table(chosen, links)[number], bool(facts["contradictions"])
    )
    evidence = judge(directed, explored.curved, facts, clock)
    if (np.diff(number) < 0).any():
        evidence = evidence.renumbered(number)
    evidence = replace(evidence, undecided=tuple(sorted(marks.undecided)))
    taken = (*(() if changed is None else (changed.cells.note,)), *words_for(few, treatment))
    notes = (*taken, *_undeclared(data, few), *_notes(explored, findings), *_cut(clock))
    outcome = Outcome(
        marks.endpoints,
        CITestLog.empty(len(data.n), len(table.names)),
        np.zeros(2, np.int64),
        not clock.interrupted,
        marks.origins,
        evidence=evidence,
        notes=notes,
        warnings=words_about_constants(table, constants),
        cleaned=changed,
    )
    return outcome, findings, not clock.cut


def _with_levels(
    table: Dataset,
    few: Sequence[FewValues],
    statistics: SufficientStatistics,
    links: Links,
    is_window: bool,
) -> ScoreData:
    """The table as the score sees it, some numbers of few values as levels; `statistics` are those
    of the numbers.
    """
    if any(one.kind is not Kind.CONTINUOUS for one in few):
        table = with_levels(table, few)
        statistics = gather_statistics(table, "listwise")
    return score_data(table, statistics, links, is_window)


def _directed(explored: Explored, clock: Clock) -> Directed:
    """The model and those near it, by which undecided directions stay open; quick after a small
    exact search.
    """
    quick = explored.found.search == "exact" and explored.design.data.nodes <= FEW_NODES
    try:
        return direct(explored.found, None if quick else clock)
    except KeyboardInterrupt:
        clock.interrupt()
        return direct(explored.found, clock)


def _cleaned(
    data: ScoreData,
    found: Search,
    few: Sequence[FewValues],
    effort: Effort,
    flags: Callable[[], Flags | None],
    even: bool = False,
) -> Cleaned | None:
    """The table without wrong cells, if these are looked for and there are some."""
    if found[0].design.options.wrong_cells == "keep":
        return None
    try:
        return without_wrong_cells(data, found, few, effort, flags, even)
    except KeyboardInterrupt:  # the model of all cells is there, and is kept
        effort.clock.interrupt()
        effort.clock.skips("wrong cells")
        return None


def _changed(table: Dataset, cleaned: Cleaned, before: Endpoints) -> CleanedTable:
    """What was changed in a table, with the marks that it has as it is."""
    flags, rows = cleaned.flags, cleaned_table(table, cleaned.flags, cleaned.left_out)
    cells = [
        FlaggedCell(
            int(flags.rows[i]),
            table.names[position := int(flags.columns[j])],
            float(table.columns[position][flags.rows[i]]),
            float(flags.expected[i, j]),
        )
        for i, j in np.argwhere(flags.wrong).tolist()
    ]
    found = WrongCells(tuple(cells), tuple(flags.rows[cleaned.left_out].tolist()))
    return CleanedTable(found, rows, gather_statistics(rows, "listwise"), before)


def _notes(explored: Explored, findings: Sequence[Violation]) -> tuple[str, ...]:
    data = explored.design.data
    notes = []

    def named(nodes: Iterable[int]) -> str:
        return listed(sorted(data.table.names[data.position[node]] for node in nodes))

    counts = [j for j in range(data.responses) if data.table.kinds[data.position[j]] is Kind.COUNT]
    if counts:
        notes.append(
            f"{named(counts)}: links at counts are found, but do not trust their directions without"
            " other evidence; if you know them, pass knowledge=cc.Knowledge(tiers=...)"
        )
    graded = {
        node
        for node, part in explored.found.best.regressions()
        if node in data.context_variables
        and data.kind[node] == ORDERED
        and len(part.columns)
        and data.table.kinds[data.position[node]] is not Kind.ORDERED
    }
    if graded:
        notes.append(
            f"the values of {named(graded)} are taken to be in order: causes move it up or down; if"
            f" they are labels, pass kinds={{{named([min(graded)])!r}: 'categorical'}}"
        )
    notes += residual_notes(findings, data.contexts > 1)
    uneven = {node for node, part in explored.found.best.regressions() if len(part.scale)}
    if uneven:
        notes.append(
            f"the spread of the noise of {named(uneven)} is uneven and was modelled; it may also be"
            " the trace of a cause or a context that is not in the table"
        )
    if explored.undecided:
        who = named(explored.undecided)
        notes.append(
            ResultNote(
                f"these rows do not tell whether the context changes the mechanism of {who}, as in"
                " these graphs, or a cause has a bend (a kink, a saturation or a curve) that all"
                " contexts share",
                About.UNDECIDED,
            )
        )
    need = price_of_class(data, True, False)
    if 0.5 * need < explored.doubt < 2.0 * need:
        taken = "curved mechanisms were chosen" if explored.curved else "straight lines were kept"
        notes.append(
            f"{taken}, but the other class is nearly as good (curves raise the score by "
            f"{explored.doubt:.0f} nats, {need:.0f} are required)"
        )
    if data.responses > MOST_CURVED_VARIABLES and explored.design.options.curves != "never":
        notes.append(f"curves are not tried with more than {MOST_CURVED_VARIABLES} variables")
    return tuple(notes)


_LEFT_OUT = {
    "starts": "climbs were cut short",
    "normal scores": "normal scores were not tried",
    "ordered contexts": "values of the context were not tried in order",
    "curves": "curves were not tried",
    "wrong cells": "wrong cells were not looked for",
    "scales": "noise with an uneven spread was not tried",
    "directions": "directions that were not checked are left open",
}


def _cut(clock: Clock) -> list[str]:
    """What was cut, and by whom."""
    if not clock.cut:
        return []
    who = "Ctrl-C" if clock.interrupted else "the time limit"
    what = ", ".join(_LEFT_OUT[what] for what in _LEFT_OUT if what in clock.cut)
    said = f"{who} ended the search early: this is the best model found so far ({what})"
    return [said if clock.interrupted else ResultNote(said, About.CUT)]


def _undeclared(data: ScoreData, coarse: Sequence[FewValues]) -> list[str]:
    """A note on whole numbers, not few enough to be coarse, that are not declared as counts."""
    found = []
    told = {column for few in coarse for column in few.columns}
    for j in np.flatnonzero(data.gap[: data.responses] > 0.0).tolist():
        values = data.values[j] * data.scale[j] + data.centre[j]
        position = int(data.position[j])
        whole = np.allclose(values, np.round(values), rtol=0.0, atol=1e-6) and values.min() > -0.5
        if whole and position not in told and data.table.kinds[position] is Kind.CONTINUOUS:
            found.append(data.table.names[position])
    if not found:
        return []
    return [
        f"{listed(sorted(found))}: whole numbers, many of them equal; if they count something, pass"
        f" kinds={{{sorted(found)[0]!r}: 'count'}}, since directions of their links depend on it"
    ]
