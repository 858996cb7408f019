"""What a search was asked for, as a result keeps it, and the result itself, with what must be said about the table."""

from __future__ import annotations

from dataclasses import asdict, replace

from causalcontext.ci_tests.protocol import prepared_test
from causalcontext.ci_tests.registry import TESTS, find_test
from causalcontext.data.dataset import Dataset
from causalcontext.data.indicators import split_context, step_functions
from causalcontext.data.scan import Scan
from causalcontext.graphs.graph import Graph
from causalcontext.knowledge import Knowledge
from causalcontext.methods.task import Task
from causalcontext.options import Options
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.notes import About, Note
from causalcontext.results.outcome import Outcome
from causalcontext.results.provenance import DataSummary, Settings
from causalcontext.score.options import ScoreOptions
from causalcontext.timeseries.windows import series_settings
from causalcontext.version import __version__

SCORE_METHODS = ("score-ac", "auto")
"""Those that search by scores, or may."""
NOTHING_KNOWN = Knowledge()


def settings_of(options: Options, test: str, context: object) -> Settings:
    """The settings of a search, by values alone."""
    limit = None if options.max_given is None else int(options.max_given)
    measured, made = split_context(context)
    return Settings(
        options.method, test, float(options.alpha), options.collider_rule, limit, options.missing, int(options.seed),
        options.knowledge or NOTHING_KNOWN, __version__,
        "always" if options.method == "fci-ac" else options.masked_scope, options.orientation,
        made[0].column if len(made) == 1 and measured is None else None,
        score=asdict(score_of(options)) if options.method in SCORE_METHODS else {},
        possible_dsep=None if options.possible_dsep is None else int(options.possible_dsep),
        contested=options.contested, context_confounded=bool(options.context_confounded),
        series={} if options.series is None else series_settings(options.series),
        transform="ranks" if ranked(options) else "none",
    )  # fmt: skip


def ranked(options: Options) -> bool:
    """Whether a search sees normal scores instead of the columns; score-ac transforms the table itself."""
    return options.transform == "ranks" and options.method != "score-ac"


def score_of(options: Options) -> ScoreOptions:
    """How to search by scores; columns that are normal scores already are transformed no further."""
    return replace(options.score, transform="none", wrong_cells="keep") if ranked(options) else options.score


def result_of(task: Task, outcome: Outcome, scanned: Scan | None, notes: tuple[str, ...]) -> ContextGraphs:
    """The outcome of a task, with graphs by name and all that is to be known about them."""
    task = _of_cleaned(task, outcome)
    data, statistics, windows = task.data, task.statistics, task.windows
    sampled, settings = scanned is not None and not scanned.whole, task.settings
    outcome.endpoints.setflags(write=False)
    names, cells = (data.names, data.contexts) if windows is None else (windows.nodes, windows.cells)
    if outcome.method is not None:
        by_score = outcome.method == "score-ac"
        settings = replace(settings, method=outcome.method, score=settings.score if by_score else {})
    warnings = (
        (*_missing_warning(task), *_determinism_warning(data, sampled)) if windows is None else windows.unit_warnings()
    )
    return ContextGraphs(
        names=names,
        cells=cells,
        levels=data.levels,
        contexts=data.values,
        graphs={
            value: Graph(names, endpoints, outcome.kind)
            for value, endpoints in zip(data.values, outcome.endpoints, strict=True)
        },
        settings=settings,
        data=_summary(task, outcome),
        log=outcome.log,
        tests_run={"pooled": int(outcome.tests[0]), "within contexts": int(outcome.tests[1])},
        complete=outcome.complete,
        origins=dict(outcome.origins),
        doubts=outcome.doubts,
        warnings=(*outcome.warnings, *warnings),
        evidence=outcome.evidence,
        notes=(*_transform_note(task), *outcome.notes, *notes),
        prepared=task.prepared,
        moments=statistics.of_columns(data) if windows is None else None,
        rows=None if sampled or windows is not None else data,
        scanned=scanned if sampled and windows is None else None,
        series=outcome.series,
        windowed=windows,
        wrong_cells=None if outcome.cleaned is None else outcome.cleaned.told(),
    )


def _of_cleaned(task: Task, outcome: Outcome) -> Task:
    """The task with the table that was searched, where that is not the one that was given; its fingerprint stays."""
    cleaned = outcome.cleaned
    if cleaned is None:
        return task
    if cleaned.windows is not None:
        return replace(task, windows=cleaned.windows)
    given = task.statistics
    found = replace(cleaned.statistics, lost=given.lost, missing=given.missing, fingerprint=given.fingerprint,
                    emptied=given.emptied, missing_context=given.missing_context)  # fmt: skip
    test = find_test(task.settings.test, task.settings.seed) if task.settings.test in ("auto", *TESTS) else None
    prepared = None if test is None else prepared_test(test, cleaned.rows, found)
    return replace(task, data=cleaned.rows, statistics=found, prepared=prepared)


def _summary(task: Task, outcome: Outcome) -> DataSummary:
    """What was analysed; of windows `WindowCounts` has what was lost, most of it not for missing values."""
    data, statistics, windows = task.data, task.statistics, task.windows
    if windows is None:
        rows, lost = tuple(statistics.moments.rows.tolist()), tuple(statistics.lost.tolist())
        kinds = tuple(str(kind.value) for kind in data.kinds)
        return DataSummary(rows, lost, statistics.missing_context, statistics.emptied, kinds, statistics.fingerprint)
    rows = windows.rows(tested=outcome.evidence is None)
    return DataSummary(rows, (0,) * len(rows), statistics.missing_context, (), windows.kinds, statistics.fingerprint)


def _transform_note(task: Task) -> tuple[str, ...]:
    """What must be said where columns were replaced."""
    if task.settings.transform == "none":
        return ()
    return ("every continuous column was replaced by the normal scores of its ranks: slopes, effects and changes are "
            "in these units",)  # fmt: skip


def _missing_warning(task: Task) -> tuple[str, ...]:
    """What must be said where tests left rows out."""
    if task.settings.missing != "testwise" or not task.statistics.missing.any():
        return ()
    return ("every test uses the rows that are complete in its own columns, so tests rest on different rows (see n in "
            "tests()); leaving rows out is itself a selection, which can create or hide edges if it depends on the "
            "values",)  # fmt: skip


def _determinism_warning(data: Dataset, sampled: bool) -> tuple[str, ...]:
    """What must be said where a context variable is a function of a column."""
    where = "in every row of the sample" if sampled else "without exception"
    notes = []
    for found in step_functions(data):
        way_out = f"declare it: {found.advice(len(data.contexts.positions) == 1)}"
        if sampled:
            way_out = (f"its links cannot be tested given {found.column}: leave one of the two out, or, for a part of "
                       f"the table that fits in memory, {way_out}")  # fmt: skip
        notes.append(Note(f"{found.context} is a function of {found.column} {where}", About.FUNCTION,
                          f"if it was made out of {found.column}, {way_out}"))  # fmt: skip
    return tuple(notes)
