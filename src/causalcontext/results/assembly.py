"""The result of a search: graphs by name, and all that is to be known about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from causalcontext.ci_tests.protocol import prepared_test
from causalcontext.ci_tests.registry import TESTS, find_test
from causalcontext.data import indicators
from causalcontext.data.as_written import codes_for_missing, words_about_codes
from causalcontext.data.dataset import Dataset
from causalcontext.data.scan import Scan
from causalcontext.errors import listed
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import split
from causalcontext.methods.task import Task
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.notes import About, ResultNote, divided, was_cut
from causalcontext.results.outcome import DataSummary, Outcome, Settings
from causalcontext.results.thin import with_thin_levels
from causalcontext.results.untested import words_about_untested
from causalcontext.results.wrong_cells import WrongCells
from causalcontext.score.constants import (
    constant_columns,
    evident_constants,
    words_about_constants,
)
from causalcontext.screening.screen import NOTHING

RANKS = (
    "every continuous column was replaced by the normal scores of its ranks: slopes, effects and"
    " changes are in these units"
)
TESTWISE = (
    "every test uses the rows that are complete in its own columns, so tests rest on different rows"
    " (see n in tests()); leaving rows out is itself a selection, which can create or hide edges if"
    " it depends on the values"
)
DRAWN = (
    "single missing cells were drawn {} from a model of their row and of the rows beside it, and "
    "windows count for what is left of them; effects and their intervals are those of one draw"
)
"""Sentences about columns that were replaced, tests that left rows out, and drawn cells."""


def assembled(
    task: Task, outcome: Outcome, scanned: Scan | None, notes: tuple[str, ...]
) -> ContextGraphs:
    """The outcome of a task, with graphs by name and all that is to be known about them.

    Sentences are divided here into warnings, which must be known before believing the graphs, and
    notes, which say how the result was made. Context values of too few rows get the pooled graph
    last, since the search knows nothing of them.
    """
    task = _of_cleaned(task, outcome)
    data = task.data
    windows = task.windows
    screening = task.screening
    sampled = scanned is not None and not scanned.whole
    outcome.endpoints.setflags(write=False)
    names = data.names if windows is None else windows.nodes
    ends = zip(data.values, outcome.endpoints, strict=True)
    graphs = {value: Graph(names, endpoints, outcome.kind) for value, endpoints in ends}
    of_search, how_made = divided(outcome.notes)
    ranks = (RANKS,) if task.settings.transform != "none" else ()
    result = ContextGraphs(
        names=names,
        cells=data.contexts if windows is None else windows.cells,
        levels=data.levels,
        contexts=data.values,
        graphs=graphs,
        settings=_settings_after(task.settings, outcome),
        data=_summary(task, outcome),
        log=outcome.log,
        complete=outcome.complete and not was_cut(outcome.notes),
        tests_run={"pooled": int(outcome.tests[0]), "within contexts": int(outcome.tests[1])},
        origins=dict(outcome.origins),
        doubts=outcome.doubts,
        warnings=(
            *screening.warnings,
            *of_search,
            *outcome.warnings,
            *_table_warnings(task, outcome, sampled),
        ),
        notes=(*ranks, *how_made, *screening.notes, *_reading_notes(task, notes)),
        evidence=outcome.evidence,
        prepared=task.prepared,
        series=outcome.series,
        windowed=windows,
        moments=task.statistics.of_columns(data) if windows is None else None,
        rows=None if sampled or windows is not None else data,
        scanned=scanned if sampled and windows is None else None,
        wrong_cells=_wrong_cells(task, outcome),
        left_out=screening.left_out,
        doubtful_scales=screening.doubtful,
    )
    result = with_thin_levels(result, task.thin)
    sentences = (words_about_untested(result), "" if task.thin is None else task.thin.warning)
    return replace(result, warnings=(*(words for words in sentences if words), *result.warnings))


def _settings_after(settings: Settings, outcome: Outcome) -> Settings:
    """The settings with the method that "auto" chose; without options of scores if it tests."""
    if outcome.method is None:
        return settings
    score = settings.score if outcome.method == "score-ac" else {}
    return replace(settings, method=outcome.method, score=score)


def _table_warnings(task: Task, outcome: Outcome, sampled: bool) -> tuple[str, ...]:
    """The warnings about the table: columns with one value in some contexts, codes for missing
    values, tests on different rows, contexts that are functions of a column, units that are left
    out.
    """
    warnings: list[str] = []
    if task.windows is None and not sampled:
        warnings += _warnings_of_constants(task.data, told=outcome.evidence is not None)
    codes = words_about_codes(codes_for_missing(task.data)) if task.screening is NOTHING else ""
    if codes:
        warnings.append(codes)
    if task.windows is not None:
        return (*warnings, *task.windows.unit_warnings())
    if task.settings.missing == "testwise" and task.statistics.missing.any():
        warnings.append(TESTWISE)
    return (*warnings, *_determinism_warning(task.data, sampled))


def _reading_notes(task: Task, notes: Sequence[str]) -> tuple[str, ...]:
    """The notes about cells that were filled in, `notes`, and the note about times."""
    windows = task.windows
    about_cells = []
    if windows is not None and task.settings.missing == "model" and windows.counts.interpolated:
        about_cells.append(DRAWN.format("several times" if windows.drawn else "once"))
    if task.completed is not None:
        about_cells.append(task.completed.note)
    clock = "" if windows is None else windows.series.clock
    return (*about_cells, *notes, *([clock] if clock else []))


def _wrong_cells(task: Task, outcome: Outcome) -> WrongCells | None:
    """The cells that the search took for wrong, by the rows of the table that was given."""
    if outcome.cleaned is None:
        return None
    return outcome.cleaned.told().at_rows(task.screening.rows)


def _of_cleaned(task: Task, outcome: Outcome) -> Task:
    """The task with the table that was searched, where that is not the one that was given; its
    fingerprint stays.

    Rows that were lost, missing cells and empty contexts are those of the given table. Questions to
    the result that test are asked of the cleaned rows, if the test is one of the library's.
    """
    cleaned = outcome.cleaned
    if cleaned is None:
        return task
    if cleaned.windows is not None:
        return replace(task, windows=cleaned.windows)
    given = task.statistics
    statistics = replace(
        cleaned.statistics,
        lost=given.lost,
        missing=given.missing,
        fingerprint=given.fingerprint,
        emptied=given.emptied,
        missing_context=given.missing_context,
    )
    test = (
        find_test(task.settings.test, task.settings.seed)
        if task.settings.test in ("auto", *TESTS)
        else None
    )
    prepared = None if test is None else prepared_test(test, cleaned.rows, statistics)
    return replace(task, data=cleaned.rows, statistics=statistics, prepared=prepared)


def _summary(task: Task, outcome: Outcome) -> DataSummary:
    """The rows and columns that were analysed; of windows `WindowCounts` has what was lost, most of
    it not for missing values.
    """
    data = task.data
    statistics = task.statistics
    windows = task.windows
    if windows is None:
        used = statistics.moments.rows if task.completed is None else task.completed.rows
        rows = tuple(used.tolist())
        lost = tuple(statistics.lost.tolist())
        emptied = statistics.emptied
        kinds = tuple(str(kind.value) for kind in data.kinds)
        levels = tuple(data.categories.get(position, ()) for position in range(len(data.names)))
    else:
        rows = windows.rows(tested=outcome.evidence is None)
        kinds = windows.kinds
        emptied = ()
        levels_by_name = {
            data.names[position]: levels for position, levels in data.categories.items()
        }
        lost = (0,) * len(rows)
        levels = tuple(levels_by_name.get(split(node)[0], ()) for node in windows.nodes)
    return DataSummary(
        rows, lost, statistics.missing_context, emptied, kinds, statistics.fingerprint, levels
    )


def _warnings_of_constants(data: Dataset, told: bool) -> tuple[str, ...]:
    """The warnings about columns that have one value in some contexts, but for those that a search
    by scores has `told`.
    """
    known = constant_columns(data) if told else {}
    constant = evident_constants(data)
    return words_about_constants(
        data, {place: cells for place, cells in constant.items() if place not in known}
    )


def _determinism_warning(data: Dataset, sampled: bool) -> tuple[str, ...]:
    """The note about a context variable that is a function of a column."""
    where = "in every row of the sample" if sampled else "without exception"
    notes = []
    for step in indicators.step_functions(data):
        way_out = f"declare it: {step.advice(len(data.contexts.positions) == 1)}"
        if sampled:
            way_out = (
                f"its links cannot be tested given {step.column}: leave one of the two out, or,"
                f" for a part of the table that fits in memory, {way_out}"
            )
        notes.append(
            ResultNote(
                f"{step.context} is a function of {step.column} {where}",
                About.FUNCTION,
                f"if it was made out of {step.column}, {way_out}",
            )
        )
    return tuple(notes)


def labels_note(data: Dataset) -> str:
    """The note about contexts that hold two whole numbers as floats; empty without any."""
    float_contexts = [
        data.names[position]
        for position, levels in zip(data.contexts.positions, data.levels, strict=True)
        if data.dtypes[position].startswith("float")
        and all(isinstance(level, int) for level in levels)
    ]
    return (
        f"the floats of {listed(float_contexts)} are whole numbers and taken for labels"
        if float_contexts
        else ""
    )
