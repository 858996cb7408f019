"""The task of a search: a table in memory, the rows that a scan kept of one, or windows of rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.protocol import IndependenceTest, declared_traits
from causalcontext.data.checks import check_none_missing
from causalcontext.data.dataset import Dataset, with_normal_scores
from causalcontext.data.indicators import split_context
from causalcontext.data.scan import Scan
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.table_files import read_file
from causalcontext.data.tables import columns_of_table
from causalcontext.diagnostics.support import Support
from causalcontext.knowledge import Knowledge
from causalcontext.methods.registry import AUTO
from causalcontext.methods.task import Task, windows_task
from causalcontext.options import Options
from causalcontext.progress import Watch, nobody
from causalcontext.reading.scans import scanned_with_lags
from causalcontext.reading.tables import (
    asked_of_columns,
    read_and_screened,
    read_with_lags,
    screened_knowledge,
    sees_normal_scores,
)
from causalcontext.results.few_rows import ThinLevels
from causalcontext.results.outcome import Settings
from causalcontext.score.options import ScoreOptions
from causalcontext.screening.screen import Screening, screened_data
from causalcontext.screening.thin_levels import (
    context_without,
    kinds_without,
    rows_searched,
    some_rows_of,
    thin_levels,
)
from causalcontext.search.indicator import links_without_functions
from causalcontext.version import __version__

SCORE_METHODS = ("score-ac", AUTO)
"""Methods that search by scores, or may."""


def search_task(
    table: Any,
    context: Any,
    options: Options,
    names: Sequence[str] | None,
    test: IndependenceTest,
    scanned: Scan | None,
) -> Task:
    """The task of a search: a table in memory, the rows that a scan kept of one, or, with lags, its
    windows.

    Columns that are no variables are left out first, with the knowledge about them. A scan of a
    small table is searched like a table in memory. Kernels that are not on disk are compiled
    before the search begins.
    """
    if scanned is None and isinstance(table, str | os.PathLike):
        table = read_file(table)
    if options.lags is not None:
        return _windows_to_search(table, context, options, names, test, scanned)
    if scanned is None:
        return _rows_to_search(_read(table, context, options, names, test), test, None)
    if not scanned.is_table:
        screening = Screening(scanned.left_out)
        return _rows_to_search(
            _ReadTable(scanned.data, screening, None, context, options), test, scanned
        )
    # small enough for all that is asked of a table in memory
    options = replace(options, kinds=_kinds_declared(scanned.data))
    read = _read(scanned.sample_as_table(), context, options, None, test)
    left_out = (*scanned.left_out, *read.screening.left_out)
    read = read._replace(screening=replace(read.screening, left_out=left_out))
    return _rows_to_search(read, test, scanned)


class _ReadTable(NamedTuple):
    """The columns that a search may see, and the options and contexts that are left for them."""

    data: Dataset
    screening: Screening
    thin: ThinLevels | None  # values of the context whose rows were taken out of the table
    context: Any
    options: Options


def _read(
    table: Any,
    context: Any,
    options: Options,
    names: Sequence[str] | None,
    test: IndependenceTest,
) -> _ReadTable:
    """The columns of a table in memory, screened, without context values of too few rows.

    A table with such values is read once more, as if their rows had never been there.
    """
    rows = None
    data, screening = read_and_screened(table, context, options, names)
    thin = thin_levels(data, options.missing)
    if thin is not None:
        gone = [name for name, _ in thin.untested]
        rows_in_all = len(columns_of_table(table, names)[0].series)
        kept = rows_searched(data, thin, screening.rows, rows_in_all)
        rows = np.flatnonzero(kept)
        table = some_rows_of(table, names, kept, gone)
        names = names if isinstance(table, np.ndarray) else None
        context = context_without(context, thin)
        knowledge = (options.knowledge or Knowledge()).without(gone)
        options = replace(options, knowledge=knowledge, kinds=kinds_without(options.kinds, gone))
        # of all rows: which of them have no context, and how levels are spelled
        warnings = screening.told
        data, screening = read_and_screened(table, context, options, names)
        screening = replace(screening, told=warnings)
    data, screening = screened_data(data, screening, asked_of_columns(context, options, names))
    data = with_normal_scores(data) if sees_normal_scores(options) else data
    return _ReadTable(data, screening.within(rows), thin, context, options)


def _rows_to_search(read: _ReadTable, test: IndependenceTest, scanned: Scan | None) -> Task:
    """The task of a search on rows: statistics, the prepared test, and what is known."""
    data = read.data
    options = read.options
    screening, knowledge = screened_knowledge(read.screening, options)
    settings = replace(settings_of(options, test, read.context), knowledge=knowledge)
    links = links_without_functions(knowledge.links(data.names), data.contexts)
    if scanned is not None and not scanned.of_rows and options.missing == "raise":
        asked = gather_statistics(data, "listwise") if scanned.is_table else scanned.statistics
        check_none_missing(asked, data, testwise=False, in_memory=False)
    # Of all rows in memory there is no rounding of batches.
    known = None if scanned is None or scanned.whole else scanned.statistics
    tested = options.method_name != "score-ac"
    data, statistics, prepared = prepare(
        data, test, options.missing, known, tested, int(options.seed)
    )
    return Task(
        prepared,
        data,
        statistics,
        links,
        settings,
        _score_options(options),
        options.threads,
        Watch(nobody),
        Support(data, settings.alpha),
        screening=screening,
        thin=read.thin,
    )


def _windows_to_search(
    table: Any,
    context: Any,
    options: Options,
    names: Sequence[str] | None,
    test: IndependenceTest,
    scanned: Scan | None,
) -> Task:
    """The task of a search on windows, of a table in memory or of a scan."""
    thin = None
    if scanned is None:
        windows, screening, thin = read_with_lags(table, context, options, names, test)
    else:
        windows = scanned_with_lags(scanned, context, options, test)
        screening = Screening(scanned.left_out)
    screening, knowledge = screened_knowledge(screening, options)
    settings = replace(settings_of(options, test, context), knowledge=knowledge)
    known = None if scanned is None else scanned.statistics
    task = windows_task(
        windows, settings, _score_options(options), options.threads, Watch(nobody), known
    )
    return replace(task, screening=screening, thin=thin)


def settings_of(options: Options, test: IndependenceTest, context: object) -> Settings:
    """The settings of a search, by values alone, as a file keeps them.

    Options of methods that the method does not have are at their defaults; those of a search by
    scores are there only for methods that make one.
    """
    of_methods = options.of_methods
    limit = of_methods["max_given"]
    measured, made = split_context(context)
    series: dict[str, Any] = {} if options.series is None else asdict(options.series)
    if series:  # as plain values
        series |= {name: list(series[name]) for name in ("context_lags", "covariates", "cycles")}
        series["step"] = None if series["step"] is None else str(series["step"])
    scope = "always" if options.method_name == "fci-ac" else of_methods["masked_scope"]
    farthest = of_methods["possible_dsep"]
    return Settings(
        method=options.method_name,
        test=test.name,
        alpha=float(of_methods["alpha"]),
        collider_rule=of_methods["collider_rule"],
        max_given=None if limit is None else int(limit),
        missing=options.missing,
        seed=int(options.seed),
        knowledge=options.knowledge or Knowledge(),
        version=__version__,
        masked_scope=scope,
        orientation=of_methods["orientation"],
        indicator=made[0].column if len(made) == 1 and measured is None else None,
        score=asdict(_score_options(options)) if options.method_name in SCORE_METHODS else {},
        possible_dsep=None if farthest is None else int(farthest),
        contested=of_methods["contested"],
        context_confounded=bool(of_methods["context_confounded"]),
        series=series,
        transform="ranks" if sees_normal_scores(options) else "none",
        test_traits=declared_traits(test),
    )


def _score_options(options: Options) -> ScoreOptions:
    """The options of a search by scores; columns that are normal scores already are transformed no
    further.
    """
    return (
        replace(options.score, transform="none", wrong_cells="keep")
        if sees_normal_scores(options)
        else options.score
    )


def _kinds_declared(data: Dataset) -> dict[str, str] | None:
    """The kinds of the columns whose kind was said when a table was scanned, None without any."""
    kinds = {
        name: kind.value
        for name, kind in zip(data.names, data.kinds, strict=True)
        if name in data.declared
    }
    return kinds or None
