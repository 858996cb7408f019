"""The result of a search: graphs and reasons, with what must be said about the table."""

from __future__ import annotations

from dataclasses import replace

from causalcontext.data.dataset import Dataset
from causalcontext.data.indicators import StepFunction, step_functions
from causalcontext.data.scan import Scan
from causalcontext.graphs.graph import Graph
from causalcontext.methods.task import Outcome, Task
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.notes import About, Note
from causalcontext.results.provenance import DataSummary, Settings


def result_of(task: Task, outcome: Outcome, scanned: Scan | None, notes: tuple[str, ...]) -> ContextGraphs:
    """The outcome of a task, with graphs by name and all that is to be known about them."""
    data, statistics, sampled = task.data, task.statistics, scanned is not None and not scanned.whole
    outcome.endpoints.setflags(write=False)
    kinds = tuple(str(kind.value) for kind in data.kinds)
    summary = DataSummary(
        tuple(statistics.moments.rows.tolist()),
        tuple(statistics.lost.tolist()),
        statistics.missing_context,
        statistics.emptied,
        kinds,
        statistics.fingerprint,
    )
    return ContextGraphs(
        names=data.names,
        cells=data.contexts,
        levels=data.levels,
        contexts=data.values,
        graphs={
            value: Graph(data.names, endpoints, outcome.kind)
            for value, endpoints in zip(data.values, outcome.endpoints, strict=True)
        },
        settings=_as_run(task.settings, outcome.method),
        data=summary,
        log=outcome.log,
        tests_run={"pooled": int(outcome.tests[0]), "within contexts": int(outcome.tests[1])},
        complete=outcome.complete,
        origins=dict(outcome.origins),
        doubts=outcome.doubts,
        warnings=(*_missing_warning(task), *_determinism_warning(data, sampled)),
        evidence=outcome.evidence,
        notes=(*_transform_note(task), *outcome.notes, *notes),
        prepared=task.prepared,
        moments=statistics.of_columns(data),
        rows=None if sampled else data,
        scanned=scanned if sampled else None,
    )


def _as_run(settings: Settings, method: str | None) -> Settings:
    """The settings with the method that was chosen, where there was a choice."""
    if method is None:
        return settings
    return replace(settings, method=method, score=settings.score if method == "score-ac" else {})


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
            "tests()); leaving rows out is itself a selection, which can make edges or hide them if it depends on the "
            "values",)  # fmt: skip


def _determinism_warning(data: Dataset, sampled: bool) -> tuple[str, ...]:
    """What must be said where a context variable is a function of a column."""
    if data.contexts.source is not None:
        return ()
    where = "in every row of the sample" if sampled else "without exception"
    return tuple(
        Note(f"{found.context} is a function of {found.column} {where}", About.FUNCTION,
             f"if it was made out of {found.column}, {_way_out(data, found, sampled)}")
        for found in step_functions(data)
    )  # fmt: skip


def _way_out(data: Dataset, found: StepFunction, sampled: bool) -> str:
    """What to do about a context that was made out of a column."""
    untested = f"its links cannot be tested given {found.column}: leave one of the two out, or declare it"
    if sampled:
        return f"{untested} for a part of the table that fits in memory: {found.advice()}"
    alone = len(data.contexts.positions) == 1
    return f"declare it: {found.advice()}" if alone else f"{untested} as the only context, {found.advice()}"
