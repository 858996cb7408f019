"""score-ac with lags: the search of a table whose rows are windows and whose past is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.windows import MORE_LAGS, lagged_table
from causalcontext.graphs.endpoints import Endpoint, Endpoints
from causalcontext.graphs.lag_names import at, split
from causalcontext.kernels.arrays import Ints
from causalcontext.knowledge import Links
from causalcontext.progress import Watch
from causalcontext.results.equations import KINDS, NUMBER, Equation
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import Decision
from causalcontext.results.outcome import Outcome
from causalcontext.results.series import Copy, SeriesFacts, SlopeRow, read_of
from causalcontext.results.wrong_cells import CleanedTable, FlaggedCell, WrongCells
from causalcontext.score.engine import run_score
from causalcontext.score.options import ScoreOptions
from causalcontext.search.lagged.algorithm import LagAlarm
from causalcontext.timeseries.alarm import lag_warnings, past_beyond_lags
from causalcontext.timeseries.tested import slope_rows
from causalcontext.timeseries.windows import SeriesWindows
from causalcontext.views import Contexts

NO_ALARM = "the search was stopped before the past beyond the lags was tested"
LINE = KINDS[0]
THERE = (Decision.PRESENT, Decision.REQUIRED)
LEAST_GAP = 1.0
"""Context lags whose best models score less than this below that of another one are not told apart,
in nats.
"""


def score_windows(
    windows: SeriesWindows, links: Links, score: ScoreOptions, seed: int, n_jobs: int, watch: Watch
) -> Outcome:
    """The best-scoring model of the windows; where it is stopped, by its time or by Ctrl-C, the
    best so far.
    """
    windows.check(tested=False)
    table = windows.scored
    lags = windows.options.lags
    names = windows.series.names
    statistics = gather_statistics(table, "listwise")
    searched = windows.without_other_context_lags(links)
    score = (
        replace(score, wrong_cells="keep")
        if windows.drawn or windows.scanned is not None
        else score
    )
    asked = _with_declared_order(windows.searched, windows.data)
    known = gather_statistics(asked, "listwise") if windows.drawn else statistics
    found, _, in_time = run_score(
        asked, known, searched, score, seed, n_jobs, watch, windows.table.row
    )
    assert found.evidence is not None
    cells = cells_of_now(table, windows.cells)
    endpoints = found.endpoints[cells]
    evidence = found.evidence.renumbered(cells)
    # Links of the past repeat those of the present, and on some context lags no mechanism may
    # depend.
    now = np.isin(np.arange(len(windows.nodes)), windows.window.now)
    dropped = links.may & ~searched.may
    unasked = ~(now[:, None] | now) | dropped | dropped.T
    decision = evidence.decision.copy()
    decision[:, unasked[np.triu_indices(len(unasked), 1)]] = Decision.NOT_SEARCHED
    endpoints[:, unasked] = Endpoint.NONE
    evidence = replace(evidence, decision=decision)
    if found.cleaned is not None:
        cleaned, before = (
            found.cleaned,
            np.where(unasked, Endpoint.NONE, found.cleaned.before[cells]),
        )
        table = cleaned.rows
        statistics = cleaned.statistics
        found, windows = _of_series(windows, found, cleaned, before)
    reads = {name: _context_lags(windows, evidence, name) for name in names}
    alarm = None
    done = found.complete and in_time
    if done and windows.sample is None:
        alarm, done = _alarm(windows, evidence, reads)
    apart = slope_rows(windows, table, statistics.of_columns(table), endpoints, reads)
    assert found.evidence is not None
    slopes = _slopes_of_model(table, found.evidence, cells, windows.data.values, apart)
    facts = SeriesFacts(
        windows.names,
        lags,
        windows.series.covariate_names,
        reads,
        windows.table.counts,
        slopes,
        None if alarm is None else alarm.p,
    )
    longer = [at(name, lag) for lag in range(lags + MORE_LAGS + 1) for name in names]
    found = replace(found, complete=found.complete and (done or not in_time))
    too_few = (
        f"too few windows are whole with {lags + MORE_LAGS} lags to test the past beyond {lags}"
        " lags"
    )
    unasked_past = () if alarm is not None else (too_few,) if done else (NO_ALARM,)
    notes = (*found.notes, *unasked_past, str(windows.table.counts))
    return replace(
        found,
        endpoints=endpoints,
        evidence=evidence,
        log=found.log.empty(len(cells), len(table.names)),
        origins={},
        notes=notes,
        warnings=lag_warnings(alarm, longer, lags),
        series=facts,
    )


def _of_series(
    windows: SeriesWindows, found: Outcome, cleaned: CleanedTable, before: Endpoints
) -> tuple[Outcome, SeriesWindows]:
    """The outcome of a search of windows without wrong cells, with the cells of the table, and the
    windows.
    """
    series = windows.series
    data = windows.data
    flagged = {}
    assert series.rows is not None
    names = (*series.names, *series.covariate_names)
    values = np.hstack([series.values, series.covariates])
    for window, node, seen, expected in cleaned.cells.cells:
        name, lag = split(node)
        place = int(windows.table.row[window]) - lag
        position = data.position(name)
        values[place, names.index(name)] = expected
        row = int(series.rows[place])
        # the mean of a unit may have been taken away in windows
        value = float(data.columns[position][row])
        flagged[row, position] = FlaggedCell(row, name, value, value + expected - seen)
    changed = replace(
        series, values=values[:, : len(series.names)], covariates=values[:, len(series.names) :]
    )
    table = lagged_table(changed, windows.options.lags, max(len(data.values), 1))
    cells = WrongCells(tuple(flagged[cell] for cell in sorted(flagged)))
    notes = tuple(cells.note if note == cleaned.cells.note else note for note in found.notes)
    other = replace(windows, series=changed, all_windows=table)
    return (
        replace(
            found, notes=notes, cleaned=replace(cleaned, cells=cells, before=before, windows=other)
        ),
        other,
    )


def _with_declared_order(table: Dataset, data: Dataset) -> Dataset:
    """The windows, in which the values of contexts that were declared ordered are in order; tests
    see categories.
    """
    kinds = list(table.kinds)
    for place in table.contexts.positions:
        if data.kinds[data.position(split(table.names[place])[0])] is Kind.ORDERED:
            kinds[place] = Kind.ORDERED
    return replace(table, kinds=tuple(kinds))


def cells_of_now(table: Dataset, now: Contexts) -> Ints:
    """For every context at time t the cell of windows that stands for it: the one with the same
    values at all lags.
    """
    # So a mechanism that depends on R(t-1) is shown in the graph of the value that R(t-1) has.
    # Where no cell has equal values throughout, the one with most of them stands for it.
    cells = table.contexts.cells
    positions = table.contexts.positions
    names = [split(table.names[place])[0] for place in positions]
    places = list(map(positions.index, now.positions))
    found = []
    for cell in now.cells:
        value = {names[place]: code for place, code in zip(places, cell, strict=True)}
        here = [
            number
            for number, other in enumerate(cells)
            if all(other[place] == code for place, code in zip(places, cell, strict=True))
        ]
        alike = [
            sum(code == value[name] for name, code in zip(names, cells[number], strict=True))
            for number in here
        ]
        found.append(here[int(np.argmax(alike))])
    return np.array(found, dtype=np.int64)


def _context_lags(windows: SeriesWindows, evidence: ScoreEvidence, name: str) -> Copy:
    """The lags of the contexts that a mechanism depends on; several of one context where the scores
    are about equal.
    """
    here = windows.nodes.index(name)
    found = []
    for context in windows.contexts:
        gains = {}
        for lag in windows.options.context_lags:
            pair = evidence.slot(windows.nodes.index(at(context, lag)), here)
            if evidence.effect[0, pair] == here:
                present = evidence.decision[0, pair] in THERE
                gains[lag] = np.inf if present else float(evidence.difference[0, pair])
        if np.inf in gains.values():
            found.append((context, sorted(lag for lag, gain in gains.items() if gain > -LEAST_GAP)))
    return read_of(found)


def _alarm(
    windows: SeriesWindows, evidence: ScoreEvidence, reads: dict[str, Copy]
) -> tuple[LagAlarm | None, bool]:
    """What the past beyond the lags tells, and whether there was time for that."""
    first, second = np.triu_indices(len(windows.nodes), 1)
    causes = np.zeros((len(windows.nodes),) * 2, dtype=bool)
    present = np.isin(evidence.decision, THERE)
    for effect, cause in ((first, second), (second, first)):
        causes[cause, effect] = (present & (evidence.effect == effect)).any(axis=0)
    try:
        return past_beyond_lags(windows, causes, reads, evidence.curved), True
    except KeyboardInterrupt:
        return None, False


def _slopes_of_model(
    table: Dataset,
    evidence: ScoreEvidence,
    cells: Ints,
    values: Sequence[Any],
    apart: Sequence[SlopeRow],
) -> tuple[SlopeRow, ...]:
    """Slopes of links with those of the model, which may be the same in several contexts; of
    curves, as they are.
    """
    known: dict[tuple[str, str, int], tuple[float, float]] = {}
    if evidence.mechanisms is not None and evidence.transform == "none":
        for equation in evidence.mechanisms.equations:
            known |= _slopes_of_equation(table, equation, cells)
    place = {str(value): r for r, value in enumerate(values)}
    found = ((row, known.get((row.source, row.target, place[str(row.context)]))) for row in apart)
    return tuple(
        row if own is None or not row.present else row._replace(slope=own[0], error=own[1])
        for row, own in found
    )


def _slopes_of_equation(
    table: Dataset, equation: Equation, cells: Ints
) -> dict[tuple[str, str, int], tuple[float, float]]:
    """The slope of a number on every cause that acts along a straight line, and its error, by
    context.
    """
    if equation.kind != NUMBER or not equation.terms:
        return {}
    rows = np.isin(table.codes, equation.contexts)
    codes = table.codes[rows]
    y = np.asarray(table.columns[equation.effect], dtype=np.float64)[rows]
    level = {intercept: g for g, intercept in enumerate(dict.fromkeys(equation.intercepts))}
    group = np.zeros(len(table.contexts.cells), dtype=np.int64)
    group[list(equation.contexts)] = [level[intercept] for intercept in equation.intercepts]
    design = [(group[codes] == g).astype(float) for g in range(len(level))]
    lines = [term for term in equation.terms if term.kind == LINE]
    curved = {cause for term in equation.terms if term.kind != LINE for cause in term.causes}
    for term in lines:
        x = np.asarray(table.columns[term.causes[0]], dtype=np.float64)[rows]
        design.append(np.where(np.isin(codes, term.contexts), x, 0.0))
    matrix = np.column_stack(design)
    inverse = np.linalg.pinv(matrix.T @ matrix)
    slopes = inverse @ (matrix.T @ y)
    variance = float(np.sum((y - matrix @ slopes) ** 2)) / max(len(y) - matrix.shape[1], 1)
    found = {}
    for r, cell in enumerate(cells.tolist()):
        for cause in (
            {term.causes[0] for term in lines} - curved if cell in equation.contexts else ()
        ):
            own = [
                len(level) + k
                for k, term in enumerate(lines)
                if term.causes[0] == cause and cell in term.contexts
            ]
            # rounding may go below 0
            error = float(np.sqrt(max(variance * inverse[np.ix_(own, own)].sum(), 0.0)))
            found[table.names[cause], table.names[equation.effect], r] = (
                float(slopes[own].sum()),
                error,
            )
    return found
