"""From a table to one causal graph per context: `discover`, and its steps.

The table is read into memory, scanned in batches where it is not, or made into windows with lags;
`methods` search it; the result keeps what was asked for, with what must be said about the table.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from time import monotonic
from typing import Any, Unpack

import numpy as np

from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.protocol import IndependenceTest, declared_traits, prepared_test
from causalcontext.ci_tests.registry import (
    TESTS,
    find_test,
    note_on_device,
    on_device,
    usable_device,
)
from causalcontext.data import as_written, indicators
from causalcontext.data.as_written import codes_for_missing, words_about_codes
from causalcontext.data.checks import check_none_missing
from causalcontext.data.dataset import Dataset, with_normal_scores, without_columns
from causalcontext.data.frames import is_index, numbered, pa
from causalcontext.data.indicators import Indicator, contexts_of, split_context, with_functions
from causalcontext.data.sample import SAMPLE
from causalcontext.data.scan import Scan, StreamColumns, scan_checked
from causalcontext.data.series import with_cycles
from causalcontext.data.series_options import time_columns
from causalcontext.data.streams import is_lazy, is_number, is_out_of_memory, open_stream
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.table_files import is_list_of_paths, read_file
from causalcontext.data.tables import (
    NAMES_OF_ARRAYS,
    columns_of_table,
    eager_frame,
    read_table,
    take_columns,
)
from causalcontext.diagnostics.best_cut import best_cuts, places_to_try
from causalcontext.diagnostics.support import Support
from causalcontext.errors import (
    DataError,
    FileError,
    InterruptedSearch,
    NotYetError,
    OptionError,
    check_are_columns,
    listed,
    shortly,
)
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import split
from causalcontext.knowledge import Knowledge
from causalcontext.methods.ahead import compile_ahead, kinds_for, kinds_for_windows
from causalcontext.methods.auto import TESTWISE_CHOICE
from causalcontext.methods.registry import AUTO, METHOD_OPTIONS, METHODS
from causalcontext.methods.score_ac import ScoreAC
from causalcontext.methods.task import Task, windows_task
from causalcontext.options import Keywords, Options, options_of, takes
from causalcontext.progress import Advance, Watch, nobody, watching
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.cut import CUT
from causalcontext.results.finish import compared, finished, with_same_answers
from causalcontext.results.notes import About, ResultNote, divided, was_cut
from causalcontext.results.outcome import DataSummary, Outcome, Settings
from causalcontext.results.thin import with_thin_levels
from causalcontext.results.untested import words_about_untested
from causalcontext.score.options import ScoreOptions
from causalcontext.screening.cells import POINT
from causalcontext.screening.columns import NAMES_OF_INDEX
from causalcontext.screening.functions import functions_of_others
from causalcontext.screening.left_out import LeftOut, Why
from causalcontext.screening.screen import (
    NOTHING,
    Asked,
    Screening,
    check_strict,
    columns_of_variables,
    constant_in_units,
    screened,
    screened_data,
    screened_table,
)
from causalcontext.screening.thin_levels import (
    context_without,
    kinds_without,
    rows_searched,
    scan_without_thin_levels,
    some_rows_of,
    thin_levels,
)
from causalcontext.search.indicator import links_without_functions
from causalcontext.settings import FEWEST_FIRST_ROWS, SHORTEST_LIMIT
from causalcontext.timeseries.windows import (
    SeriesWindows,
    check_complete,
    read_windows,
    windows_of_scan,
)
from causalcontext.version import __version__

CERTAIN = (Why.DATE, Why.IDENTIFIER, Why.TEXT)
SCORE_METHODS = ("score-ac", AUTO)
"""Those that search by scores, or may."""
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
"""What must be said where columns were replaced, where tests left rows out, and where cells were
drawn.
"""


@takes(Options)
def discover(
    table: Any,
    context: str | Indicator | Sequence[str | Indicator] | None = None,
    *,
    names: Sequence[str] | None = None,
    progress: bool | Advance = False,
    **options: Unpack[Keywords],
) -> ContextGraphs:
    """One causal graph per value of the context, with the reasons for every missing edge.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, 2-D array with `names`, path, or what `cc.scan` returns
        One row per observation. Files of more than 256 MB, folders and lazy tables of numbers are
        read once, in batches, with a random `sample` of rows for what needs rows.
    context : str, Indicator or sequence of them, optional
        The column that names the context; it may itself be an effect of the system. Without one
        there is one graph, under the key "all". `cc.threshold` and `cc.bins` make a context out of
        a column; several contexts give one graph for every combination that occurs.
    names : sequence of str, optional
        Column names of an array.
    progress : bool or callable
        Show a bar with the time left, or call `progress(size of sets, pairs done, pairs in all)`.
    method : str or object of a method
        "auto" takes "score-ac" or "pc-ac", whichever suits the table; the first of the result's
        `notes` says why. Others by name or with options: `cc.PCAC(alpha=0.01)`, the paper's method;
        `cc.PCM`, `cc.PCP`, `cc.PCB`, `cc.FCIAC` (hidden causes), `cc.ScoreAC`. An option beside a
        name, `method="pc-ac", alpha=0.01`, is one of that object; `help(cc.PCAC)` lists them.
    knowledge : Knowledge, optional
        Links that are required, forbidden or ordered.
    kinds : mapping from column to {"continuous", "categorical", "ordered", "count"}, optional
        Overrides what values and dtypes say.
    missing : {"raise", "model", "listwise", "testwise", "windows", "interpolate"}
        Stop at missing values, use every observed cell by a model, drop rows, or drop them test by
        test; with lags also leave out windows, or fill in single cells.
    na_values : number, text or sequence of them, optional
        What means a missing value, such as [-9999, "."]; then no other values are taken for codes.
    keep : sequence of str, optional
        Columns that are searched although they would be left out (`result.left_out`).
    strict : bool
        Stop where columns would be left out, in place of a warning.
    damaged : {"auto", "keep"}
        Duplicates of rows, rows of totals, codes for missing values, imputed means and values
        carried forward are left out, beyond chance and with a warning; or they are kept.
    decimal, convert : {".", ","}, bool
        The mark before the decimals of numbers in text; whether to read units and thousands
        separators ("12 kg", "1,234") and merge levels that differ in case or spaces alone.
    n_jobs, device, seed : int, {"cpu", "cuda", "auto"}, int
        Threads (-1: all cores), and where "cmi-knn" counts neighbours: neither changes the result.
        The seed is for random starts and for tests that draw random numbers.
    transform : {"auto", "none", "ranks"}
        "ranks" replaces every continuous column by the normal scores of its ranks. "auto" asks the
        likelihood in "score-ac", and is "none" for methods that test.
    sample : int
        Rows to keep of a table that is read in batches.
    time_limit : float, optional
        Seconds after which the search ends with the result so far; it depends on the machine.
    lags : int, optional
        Rows follow each other in time, and causes may be up to so many steps ago: the result is
        over variables such as `X(t-1)`, with a `summary`. The options below are for such searches.
    time, units, step
        The column that orders the rows (or several, dates in parts), the column that names the
        series of a panel, and the time between two rows, by default the most frequent difference.
    context_lags, covariates, cycle
        The copies of a context that a variable may read, R(t) and R(t-1) by default; columns that
        are causes alone, such as `cc.cycle("hour", "1D")`; the same in text, "hour:1D".
    unit_effects, time_effects : {"means", "none"}
        Whether means of units, and what all units share at a time, are taken away.

    Returns
    -------
    ContextGraphs

    Raises
    ------
    CausalContextError
        With one sentence that says what was found, what was expected and what to do.
    InterruptedSearch
        After Ctrl-C; its `result` holds what was decided until then.

    Examples
    --------
    >>> import causalcontext as cc
    >>> result = cc.discover(cc.examples.soil_moisture(2000, seed=1), context="soil")
    >>> result.contexts
    ('dry', 'wet')
    """
    chosen = options_of(options, "discover")
    reason = tuple[str, ...]()
    if any(indicator.best for indicator in split_context(context)[1]):
        return _with_best_cut(table, context, names, progress, options)
    device, device_note = usable_device(chosen.device)
    test = on_device(find_test(chosen.of_methods["test"], int(chosen.seed)), device)
    device_note = device_note or note_on_device(test, device)
    if chosen.method_name == AUTO and chosen.missing == "testwise":
        chosen = replace(chosen, method=TESTWISE_CHOICE.method)
        reason = (TESTWISE_CHOICE.reason,)
    table, names, chosen = _as_meant(table, names, chosen)
    scanned = scanned_table(table, context, chosen, progress is True, names=names)
    context = scanned.context if context is None and scanned is not None else context
    thin = None
    if scanned is not None and chosen.lags is None and not scanned.is_table:
        scanned, thin = scan_without_thin_levels(scanned)
    task = _task(table, context, chosen, names, test, scanned)
    task = replace(task, thin=thin or task.thin)
    with watching(progress, chosen.time_limit) as advance:
        outcome = METHODS[chosen.method_name].on(task.data)(replace(task, advance=advance))
    if advance.over and not outcome.complete and outcome.evidence is None:
        unoriented = (
            "the time limit ended the search; nothing is oriented; pass a larger time_limit"
        )
        outcome = replace(outcome, warnings=(*outcome.warnings, unoriented))
    read = (
        ""
        if scanned is None
        else scanned.note(outcome.evidence is not None, chosen.lags is not None)
    )
    labels = "" if isinstance(table, np.ndarray) else _note_on_labels(task.data)
    outcome = replace(outcome, notes=(*reason, *outcome.notes))
    result = _result(
        task, outcome, scanned, tuple(note for note in (device_note, read, labels) if note)
    )
    looks_at_once = result.evidence is not None or chosen.method_name == AUTO
    if not result.final and not advance.over:
        raise InterruptedSearch(result)
    # The checks cost less than a tenth of a search by scores, but as much as one by tests, which
    # then asks later.
    return finished(result) if looks_at_once else compared(result)


def _as_meant(
    table: Any, names: Sequence[str] | None, options: Options
) -> tuple[Any, Sequence[str] | None, Options]:
    """The table with codes for missing values taken out, and with one time column in place of
    several.

    Options that rewrite cells (`decimal`, `convert`, `na_values`, several time columns) need the
    table in memory; for files and scans they are refused with what to do instead.
    """
    codes = as_written.parsed_codes(options.na_values)
    times = time_columns(options.time)
    if (options.decimal != POINT or options.convert) and (
        isinstance(table, Scan) or is_out_of_memory(table)
    ):
        which = "convert" if options.convert else "decimal"
        raise OptionError(
            f"{which} needs the table in memory; change the cells in the files, or read a part of"
            " them"
        )
    if not codes and len(times) < 2:
        return table, names, options
    if isinstance(table, Scan) or is_out_of_memory(table):
        which = "na_values" if codes else "time by several columns"
        raise OptionError(
            f"{which} needs the table in memory; replace the values in the files, or read a part of"
            " them"
        )
    frame = eager_frame(
        read_file(table) if isinstance(table, str | os.PathLike) else table, names
    ).to_pandas()
    frame = as_written.without_codes(frame, codes) if codes else frame
    if len(times) > 1:
        frame, name = as_written.joined_time(frame, times)
        options = replace(options, time=name)
    return frame, None, options


def _kinds_declared(data: Dataset) -> dict[str, str] | None:
    """The kinds of the columns whose kind was said when a table was scanned, None without any."""
    kinds = {
        name: kind.value
        for name, kind in zip(data.names, data.kinds, strict=True)
        if name in data.declared
    }
    return kinds or None


def _with_best_cut(
    table: Any,
    context: Any,
    names: Sequence[str] | None,
    progress: bool | Advance,
    options: Keywords,
) -> ContextGraphs:
    """The search with the cut that mechanisms want; where there is none, one that does not tell
    rows apart by it.

    The place of a cut is asked of a search by scores without that context. A search in which a
    mechanism may not change can direct links falsely, so a few cuts are searched as well, and of
    all these the best-scoring model says where mechanisms change. All searches share one time
    limit. Then the method of the caller searches with the cut, and the notes have the verdict.
    """
    # Where mechanisms change is asked of a search by scores without that context. A search in which
    # a mechanism may not change can direct links falsely, so a few cuts are searched as well, and
    # of all these the best-scoring model says what may cause what.
    chosen = options_of(options, "discover")
    wanted, *more = (item for item in split_context(context)[1] if item.best)
    if more:
        raise NotYetError(
            f"not yet: the cuts of {wanted.column!r} and of {more[0].column!r} at once; find one,"
            " and pass its value in place of 'best'"
        )
    rest = [item for item in contexts_of(context) if item is not wanted] or None
    table = scanned_table(table, rest, chosen, progress is True, names) or table
    given: Any = {name: value for name, value in options.items() if name not in METHOD_OPTIONS}
    given["method"] = chosen.method_object
    scores = isinstance(chosen.method_object, ScoreAC)
    by_scores = given if scores else given | {"method": ScoreAC(), "device": "cpu"}
    if chosen.missing == "testwise":
        by_scores = by_scores | {"missing": "listwise"}
    limit = chosen.time_limit
    begin = monotonic()

    def search(asked: Any, given: Keywords) -> ContextGraphs:
        """A search in the time that is left."""
        left: Any = (
            {}
            if limit is None
            else {"time_limit": max(limit - (monotonic() - begin), SHORTEST_LIMIT)}
        )
        return discover(table, asked, names=names, progress=progress, **(given | left))

    base = search(rest, by_scores)
    cuts = best_cuts(base, wanted)
    tried = []
    for places in places_to_try(cuts):
        if limit is not None and monotonic() - begin > limit:
            break
        with suppress(
            DataError
        ):  # a cut that only this asks about; what was found is searched below
            tried.append(search(_in_place(context, wanted.at(places)), by_scores))
    better = max(
        (base, *tried),
        key=lambda item: item.evidence.score if item.evidence is not None else -np.inf,
    )
    cuts = cuts if better is base else best_cuts(better, wanted)
    cut_values = [cut.value for cut in cuts if cut.verdict == CUT]
    if cut_values:
        result = search(_in_place(context, wanted.at(cut_values)), given)
    else:
        result = base if by_scores == given else search(rest, given)
    asked = (
        result.settings.score if limit is None else {**result.settings.score, "time_limit": limit}
    )
    settings = replace(result.settings, score=asked)
    notes = (*map(str, cuts), *result.notes)
    return with_same_answers(replace(result, settings=settings, cuts=cuts, notes=notes), result)


def _in_place(context: Any, indicator: Indicator) -> Any:
    """The contexts of a search, with a cut in place of the one that is to be found."""
    asked = [
        indicator if isinstance(item, Indicator) and item.best else item
        for item in contexts_of(context)
    ]
    return asked if len(asked) > 1 else asked[0]


def _task(
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
    settings = _settings(options, test, context)
    score = _score(options)
    watch = Watch(nobody)
    if scanned is None and isinstance(table, str | os.PathLike):
        table = read_file(table)
    if options.lags is not None:
        screening = NOTHING
        if scanned is None:
            windows, screening = read_with_lags(table, context, options, names, test)
        else:
            windows = _scanned_with_lags(scanned, context, options, test)
            screening = Screening(scanned.left_out)
        screening, knowledge = _screened_knowledge(screening, options)
        settings = replace(settings, knowledge=knowledge)
        compile_ahead(kinds_for_windows(options.method_name, windows.data))
        known = None if scanned is None else scanned.statistics
        task = windows_task(windows, settings, score, options.threads, watch, known)
        return replace(task, screening=screening)
    screening, thin = NOTHING, None
    is_table = scanned is not None and scanned.is_table
    if scanned is not None and is_table:  # small enough for all that is asked of a table in memory
        table = scanned.sample_as_table()
        names = None
        options = replace(options, kinds=_kinds_declared(scanned.data))
    if scanned is None or is_table:
        rows = None
        read, screening = _read_and_screened(table, context, options, names)
        thin = thin_levels(read, options.missing)
        if thin is not None:  # read once more, as if these rows had never been there
            gone = [name for name, _ in thin.untested]
            kept = rows_searched(
                read, thin, screening.rows, len(columns_of_table(table, names)[0].series)
            )
            rows = np.flatnonzero(kept)
            table = some_rows_of(table, names, kept, gone)
            names = names if isinstance(table, np.ndarray) else None
            context = context_without(context, thin)
            knowledge = (options.knowledge or Knowledge()).without(gone)
            options = replace(
                options, knowledge=knowledge, kinds=kinds_without(options.kinds, gone)
            )
            settings = _settings(options, test, context)
            warnings = (
                screening.told
            )  # of all rows: which of them have no context, and how levels are spelled
            read, screening = _read_and_screened(table, context, options, names)
            screening = replace(screening, told=warnings)
        compile_ahead(kinds_for(options.method_name, test, read))
        read, screening = screened_data(read, screening, _asked(context, options, names))
        screening = screening.within(rows)
        if scanned is not None:
            screening = replace(screening, left_out=(*scanned.left_out, *screening.left_out))
        data = with_normal_scores(read) if _ranked(options) else read
    else:
        data = scanned.data
        screening = Screening(scanned.left_out)
    screening, knowledge = _screened_knowledge(screening, options)
    settings = replace(settings, knowledge=knowledge)
    links = links_without_functions(settings.knowledge.links(data.names), data.contexts)
    if scanned is not None and not scanned.of_rows and options.missing == "raise":
        asked = gather_statistics(data, "listwise") if is_table else scanned.statistics
        check_none_missing(asked, data, testwise=False, in_memory=False)
    # Of all rows in memory there is no rounding of batches.
    known = None if scanned is None or scanned.whole else scanned.statistics
    compile_ahead(kinds_for(options.method_name, test, data))
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
        score,
        options.threads,
        watch,
        Support(data, settings.alpha),
        screening=screening,
        thin=thin,
    )


def _read_and_screened(
    table: Any, context: Any, options: Options, names: Sequence[str] | None
) -> tuple[Dataset, Screening]:
    """The columns of a table in memory that can be variables, with the contexts that are made out
    of them.

    The second part says what was left out, and why, with the kinds that were found.
    """
    table, names, screening = screened_table(table, _asked(context, options, names))
    return (
        indicators.read_with_functions(table, context, screening.kinds(options.kinds), names),
        screening,
    )


def _asked(context: Any, options: Options, names: Sequence[str] | None) -> Asked:
    """The caller's statements about the columns of a table in memory."""
    known = options.knowledge or Knowledge()
    return Asked(
        context,
        options.kinds,
        names,
        options.kept,
        options.missing,
        options.decimal,
        options.convert,
        options.series,
        damaged=options.damaged,
        codes_decided=options.na_values is not None,
        named=columns_of_variables(known.names, options.series),
        linked=columns_of_variables(known.linked, options.series),
    )


def _screened_knowledge(screening: Screening, options: Options) -> tuple[Screening, Knowledge]:
    """The knowledge about the columns that are searched, if columns may be left out."""
    if options.strict:
        check_strict(screening)
    return screening.with_knowledge(options.knowledge or Knowledge(), options.series)


def read_with_lags(
    table: Any, context: Any, options: Options, names: Sequence[str] | None, test: IndependenceTest
) -> tuple[SeriesWindows, Screening]:
    """The windows of a table whose rows follow each other in time, and what was left out of it.

    Columns that order the rows (`time`, `units`) are taken out before others are read. With means
    of units, columns that are constant in every unit are left out: nothing of them remains.
    """
    series = options.series
    assert series is not None
    check_lags(context, options)
    taken = series.taken
    measured = split_context(context)[0]
    if taken:
        check_are_columns(taken, [column.name for column in columns_of_table(table, names)])
    table, names, screening = screened_table(table, _asked(context, options, names))
    rest, columns = (table, {}) if not taken else take_columns(table, names, taken)
    data = read_table(
        rest, measured, kinds=screening.kinds(options.kinds), names=None if taken else names
    )
    data = with_functions(with_cycles(data, series.cycles, columns), context)
    if series.units is not None and series.unit_effects == "means":
        constant = constant_in_units(data, numbered(columns[series.units])[0], series, options.kept)
        data = without_columns(data, [left.column for left in constant])
        screening = replace(screening, left_out=(*screening.left_out, *constant))
    complete = _is_complete(data)
    data, screening = screened_data(data, screening, _asked(context, options, names))
    if series.missing == "raise" and complete:  # damaged cells alone are missing
        series = replace(series, missing="windows")
    return (
        read_windows(with_normal_scores(data) if _ranked(options) else data, columns, series, test),
        screening,
    )


def _is_complete(data: Dataset) -> bool:
    """True if no cell of a number is missing."""
    numbers = (data.columns[position] for position in data.system if data.kinds[position].is_number)
    return all(bool(np.isfinite(np.asarray(column, dtype=float)).all()) for column in numbers)


def check_lags(context: Any, options: Options) -> None:
    """Return if the columns that order the rows take no part in the search.

    A column of time or of units that is a context, a source of one, or a covariate as well is an
    error.
    """
    series = options.series
    if series is None:
        return
    measured, made = split_context(context)
    searched = [
        *(measured if isinstance(measured, list | tuple) else [measured]),
        *(indicator.column for indicator in made),
    ]
    for name in series.taken:
        if name in searched or name in series.covariates:
            raise OptionError(
                f"column {name!r} cannot be time or units and take part in the search"
            )


def _scanned_with_lags(
    scanned: Scan, context: Any, options: Options, test: IndependenceTest
) -> SeriesWindows:
    """The windows that a scan kept, if they may miss those with missing values."""
    assert options.series is not None
    assert scanned.windows is not None
    if options.missing == "raise":
        check_complete(int(scanned.statistics.lost.sum()) + scanned.statistics.missing_context)
    if not scanned.windows.sample_only:
        return windows_of_scan(scanned, scanned.data, options.series, test)
    cut = [
        item.with_cuts_of(scanned.data) if isinstance(item, Indicator) else item
        for item in contexts_of(context)
    ]
    rows = with_functions(scanned.windows.rows_of_sample(), cut)
    return windows_of_scan(scanned, rows, options.series, test)


def scanned_table(
    table: Any, context: Any, options: Options, progress: bool, names: Sequence[str] | None = None
) -> Scan | None:
    """The scan of a table that is not in memory, or None for one that is; what a scan cannot answer
    is refused.

    A lazy table is scanned where one pass is enough: it must hold numbers alone, and no option may
    ask for rows. In any other case it is collected.
    """
    if not isinstance(table, Scan) and not is_out_of_memory(table):
        # A lazy table is collected for what a scan answers on the sample, or not at all.
        needs_rows = (
            options.missing in ("testwise", "model")
            or _ranked(options)
            or bool(split_context(context)[1])
        )
        if is_lazy(table) and names is None and options.lags is None and not needs_rows:
            with suppress(NotYetError, FileError):
                return scanned_once(table, context, options, progress, only_numbers=True)
        return None
    if names is not None:
        raise OptionError(NAMES_OF_ARRAYS)
    check_scannable(context, options)
    if isinstance(table, Scan):
        _check_scan(table, context, options)
    scan = table if isinstance(table, Scan) else scanned_once(table, context, options, progress)
    if scan.is_table and options.lags is None:
        # it is searched like a table in memory, to which contexts and ranks are added later
        return scan
    if options.lags is None:
        scan = _without_functions(scan, context, options)
    data = with_functions(scan.data, context)
    data = with_normal_scores(data) if _ranked(options) else data
    return scan if data is scan.data else scan.on_sample(data)


def _without_functions(scanned: Scan, context: Any, options: Options) -> Scan:
    """The scan of a large table without the columns that are functions of others in the rows of its
    sample.

    Columns that the caller keeps, knows about, or makes a context of stay.
    """
    sources = [indicator.column for indicator in split_context(context)[1]]
    asked = _asked(context, options, None)
    left_out = functions_of_others(scanned.data, (*asked.kept, *sources), asked.named)
    if not left_out:
        return scanned
    return replace(
        scanned.without([left.column for left in left_out]), left_out=(*scanned.left_out, *left_out)
    )


def check_scannable(context: Any, options: Options) -> None:
    """Return if a search can do with what one pass over a table keeps, moments and a sample of its
    rows.
    """
    check_lags(context, options)
    if options.lags is not None and _ranked(options):
        raise NotYetError('not yet: transform="ranks" needs the table in memory, with lags')
    if options.missing in ("testwise", "model"):
        raise OptionError(
            f'missing="{options.missing}" needs the table in memory; use missing="listwise"'
        )


def scanned_once(
    table: Any,
    context: Any,
    options: Options,
    progress: bool,
    columns: Sequence[str] | None = None,
    only_numbers: bool = False,
) -> Scan:
    """The scan of a table, but for contexts that are made later; knowledge about what it has not is
    refused.

    Contexts whose cuts are not known are made later, from the sample, and with lags all those that
    are made out of a column.
    """
    columns, screening = _columns_of_files(table, context, options, columns)
    _screened_knowledge(screening, options)
    # These are contexts whose cuts are not known and, with lags, all that are made out of a column.
    later = [
        item for item in split_context(context)[1] if options.lags is not None or not item.cuts
    ]
    now = [item for item in contexts_of(context) if item not in later] or None if later else context

    def check(read: StreamColumns) -> None:
        """Refuse knowledge about columns that the files do not have, and levels where only numbers
        do.
        """
        if options.knowledge is not None:
            options.knowledge.links([*read.names, *(item.name for item in later)])
        if only_numbers and read.levels:
            raise NotYetError(f"not yet: {read.levels[0].name!r} has levels")

    scan = scan_checked(
        table,
        now,
        check,
        columns=columns,
        kinds=screening.kinds(options.kinds),
        sample=int(options.sample),
        progress=progress,
        series=options.series,
    )
    return replace(scan, left_out=screening.left_out) if screening.left_out else scan


def _columns_of_files(
    source: Any, context: Any, options: Options, columns: Sequence[str] | None
) -> tuple[Sequence[str] | None, Screening]:
    """The columns of files to read, and those that their first rows show to be dates, keys or free
    text.

    Only columns that the first `FEWEST_FIRST_ROWS` rows, or more, leave no doubt about are left
    out; with a shorter first batch all are read.
    """
    if not (isinstance(source, str | os.PathLike) or is_list_of_paths(source)):
        return columns, NOTHING
    series = options.series
    taken = () if series is None else series.taken
    stream = open_stream(source, taken)
    names = [
        name
        for name in stream.schema.names
        if not is_index(name) and (columns is None or name in columns)
    ]
    names += [name for name in taken if name not in names]
    batch = next((batch for batch, _ in stream.batches(names)), None)
    if batch is None or len(set(names)) < len(names) or batch.num_rows < FEWEST_FIRST_ROWS:
        return columns, NOTHING
    asked = replace(_asked(context, options, None), missing="testwise")
    screen = screened(pa.Table.from_batches([batch]), asked)[2]
    certain = tuple(
        left for left in screen.left_out if left.why in CERTAIN and shows_in_first_rows(left, batch)
    )
    out = {left.column for left in certain}
    return (
        ([name for name in names if name not in out], Screening(certain))
        if out
        else (columns, NOTHING)
    )


def shows_in_first_rows(left: LeftOut, batch: pa.RecordBatch) -> bool:
    """True where the first rows of files are enough to leave a column out: a number may go on
    otherwise.
    """
    number = is_number(batch.schema.field(left.column).type)
    return left.why is Why.DATE or not number or NAMES_OF_INDEX.fullmatch(left.column) is not None


def _check_scan(scanned: Scan, context: Any, options: Options) -> None:
    """Return if context, lags and sample are those that a table was scanned with, or none are
    named.

    Whether windows with interpolated rows are left out is up to the search: a scan keeps them
    apart.
    """
    kept = scanned.data.n_rows
    series = options.series
    windows = scanned.windows
    alike = windows is not None and series == windows.options
    if (
        series is not None
        and windows is not None
        and series.missing != "interpolate" != windows.options.missing
    ):
        alike = series == replace(
            windows.options, missing=series.missing
        )  # leaving some out is up to the search
    if series is not None and not alike:
        had = (
            "without lags" if windows is None else "with other lags, or another way to make windows"
        )
        raise OptionError(
            f"lags is {series.lags}, but the table was scanned {had}; pass the same options to scan"
            " and discover, or the files themselves to discover"
        )
    if options.sample != SAMPLE and min(options.sample, scanned.rows) != kept:
        raise OptionError(
            f"sample is {options.sample:,}, but {kept:,} rows were kept when the table was scanned;"
            " scan it again"
        )
    known = contexts_of(scanned.context)
    asked = contexts_of(context)
    if (
        context is not None
        and [item for item in asked if item in known or not isinstance(item, Indicator)] != known
    ):
        words = (
            f"context={listed([getattr(item, 'name', item) for item in known])}"
            if known
            else "no context"
        )
        raise OptionError(
            f"context is {shortly(context)}, but the table was scanned with {words}; scan it again"
        )


def _settings(options: Options, test: IndependenceTest, context: object) -> Settings:
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
        score=asdict(_score(options)) if options.method_name in SCORE_METHODS else {},
        possible_dsep=None if farthest is None else int(farthest),
        contested=of_methods["contested"],
        context_confounded=bool(of_methods["context_confounded"]),
        series=series,
        transform="ranks" if _ranked(options) else "none",
        test_traits=declared_traits(test),
    )


def _ranked(options: Options) -> bool:
    """True where a search sees normal scores instead of the columns; score-ac transforms the table
    itself.
    """
    return options.transform == "ranks" and options.method_name != "score-ac"


def _score(options: Options) -> ScoreOptions:
    """The options of a search by scores; columns that are normal scores already are transformed no
    further.
    """
    return (
        replace(options.score, transform="none", wrong_cells="keep")
        if _ranked(options)
        else options.score
    )


def _note_on_labels(data: Dataset) -> str:
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


def _result(
    task: Task, outcome: Outcome, scanned: Scan | None, notes: tuple[str, ...]
) -> ContextGraphs:
    """The outcome of a task, with graphs by name and all that is to be known about them.

    Sentences are divided here into warnings, which must be known before believing the graphs, and
    notes, which say how the result was made. Context values of too few rows get the pooled graph
    last, since the search knows nothing of them.
    """
    task = _of_cleaned(task, outcome)
    data = task.data
    statistics = task.statistics
    windows = task.windows
    sampled = scanned is not None and not scanned.whole
    settings = task.settings
    outcome.endpoints.setflags(write=False)
    names, cells = (
        (data.names, data.contexts) if windows is None else (windows.nodes, windows.cells)
    )
    if outcome.method is not None:
        by_score = outcome.method == "score-ac"
        settings = replace(
            settings, method=outcome.method, score=settings.score if by_score else {}
        )
    warnings = (
        windows.unit_warnings() if windows is not None else _determinism_warning(data, sampled)
    )
    if windows is None and settings.missing == "testwise" and statistics.missing.any():
        warnings = (TESTWISE, *warnings)
    if task.completed is not None:
        notes = (task.completed.note, *notes)
    if windows is not None and windows.series.clock:
        notes = (*notes, windows.series.clock)
    if windows is not None and settings.missing == "model" and windows.counts.interpolated:
        notes = (DRAWN.format("several times" if windows.drawn else "once"), *notes)
    codes = words_about_codes(codes_for_missing(data)) if task.screening is NOTHING else ""
    warnings = (*([codes] if codes else []), *warnings)
    of_search, how_made = divided(outcome.notes)
    ends = zip(data.values, outcome.endpoints, strict=True)
    graphs = {value: Graph(names, endpoints, outcome.kind) for value, endpoints in ends}
    result = ContextGraphs(
        names=names,
        cells=cells,
        levels=data.levels,
        contexts=data.values,
        graphs=graphs,
        settings=settings,
        data=_summary(task, outcome),
        log=outcome.log,
        complete=outcome.complete and not was_cut(outcome.notes),
        tests_run={"pooled": int(outcome.tests[0]), "within contexts": int(outcome.tests[1])},
        origins=dict(outcome.origins),
        doubts=outcome.doubts,
        warnings=(*task.screening.warnings, *of_search, *outcome.warnings, *warnings),
        notes=(
            *((RANKS,) if settings.transform != "none" else ()),
            *how_made,
            *task.screening.notes,
            *notes,
        ),
        evidence=outcome.evidence,
        prepared=task.prepared,
        series=outcome.series,
        windowed=windows,
        moments=statistics.of_columns(data) if windows is None else None,
        rows=None if sampled or windows is not None else data,
        scanned=scanned if sampled and windows is None else None,
        wrong_cells=(
            None if outcome.cleaned is None else outcome.cleaned.told().at_rows(task.screening.rows)
        ),
        left_out=task.screening.left_out,
        doubtful_scales=task.screening.doubtful,
    )
    result = with_thin_levels(result, task.thin)
    sentences = (words_about_untested(result), "" if task.thin is None else task.thin.warning)
    return replace(result, warnings=(*(words for words in sentences if words), *result.warnings))


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
    found = replace(
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
    prepared = None if test is None else prepared_test(test, cleaned.rows, found)
    return replace(task, data=cleaned.rows, statistics=found, prepared=prepared)


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
