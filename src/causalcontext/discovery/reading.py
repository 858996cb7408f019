"""The table of a search: read into memory, scanned in batches where it is not, or made into windows with lags."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.data.dataset import Dataset, with_normal_scores
from causalcontext.data.indicators import (
    Indicator,
    contexts_of,
    read_with_functions,
    split_context,
    with_functions,
)
from causalcontext.data.sample import SAMPLE
from causalcontext.data.scan import Scan, StreamColumns, scan_checked
from causalcontext.data.series import with_cycles
from causalcontext.data.series_options import SeriesOptions
from causalcontext.data.streams import is_lazy, is_out_of_memory
from causalcontext.data.table_files import read_file
from causalcontext.data.tables import NAMES_OF_ARRAYS, read_table, take_columns
from causalcontext.discovery.conclusion import ranked
from causalcontext.errors import FileError, NotYetError, OptionError, listed, shortly
from causalcontext.methods.registry import takes_lags
from causalcontext.options import Options
from causalcontext.timeseries.windows import SeriesWindows, check_complete, read_windows, windows_of_scan


def in_memory(table: Any) -> Any:
    """The table of a file; anything else is one."""
    return read_file(table) if isinstance(table, str | os.PathLike) else table


def read(table: Any, context: Any, options: Options, names: Sequence[str] | None) -> Dataset:
    """The table, with the contexts that are made out of columns, and with normal scores, where these are asked for."""
    if ranked(options):
        return with_normal_scores(read(table, context, replace(options, transform="none"), names))
    return read_with_functions(table, context, options.kinds, names)


def read_with_lags(table: Any, context: Any, options: Options, names: Sequence[str] | None, test: IndependenceTest
                   ) -> SeriesWindows:  # fmt: skip
    """The windows of a table whose rows follow each other in time."""
    series = options.series
    assert series is not None
    check_lags(context, options)
    taken, measured = series.taken, split_context(context)[0]
    rest, columns = (table, {}) if not taken else take_columns(table, names, taken)
    data = read_table(rest, measured, kinds=options.kinds, names=None if taken else names)
    data = with_functions(with_cycles(data, series.cycles, columns), context)
    return read_windows(with_normal_scores(data) if ranked(options) else data, columns, series, test)


def check_lags(context: Any, options: Options) -> None:
    """Return if the method takes lags, and the columns that order the rows take no part in the search."""
    series = options.series
    if series is None:
        return
    if not takes_lags(options.method):
        raise NotYetError(f"not yet: method {options.method!r} with lags; pass method='score-ac', or 'pc-ac'")
    measured, made = split_context(context)
    searched = [*(measured if isinstance(measured, list | tuple) else [measured]), *(one.column for one in made)]
    for name in series.taken:
        if name in searched or name in series.covariates:
            raise OptionError(f"column {name!r} cannot be time or units and take part in the search")


def scanned_with_lags(scanned: Scan, context: Any, options: Options, test: IndependenceTest) -> SeriesWindows:
    """The windows that a scan kept, if they may miss those with missing values."""
    assert options.series is not None
    assert scanned.windows is not None
    if options.missing == "raise":
        check_complete(int(scanned.statistics.lost.sum()) + scanned.statistics.missing_context)
    if not scanned.windows.sample_only:
        return windows_of_scan(scanned, scanned.data, options.series, test)
    cut = [one.with_cuts_of(scanned.data) if isinstance(one, Indicator) else one for one in contexts_of(context)]
    rows = with_functions(scanned.windows.rows_of_sample(), cut)
    return windows_of_scan(scanned, rows, options.series, test)


def scanned_table(
    table: Any,
    context: Any,
    options: Options,
    progress: bool,
    names: Sequence[str] | None = None,
) -> Scan | None:
    """The scan of a table that is not in memory, or None for one that is; what a scan cannot answer is refused."""
    if not isinstance(table, Scan) and not is_out_of_memory(table):
        lazily = is_lazy(table) and names is None
        return _scanned_lazily(table, context, options, progress) if lazily else None
    if names is not None:
        raise OptionError(NAMES_OF_ARRAYS)
    check_scannable(context, options)
    if isinstance(table, Scan):
        _check_scan(table, context, options)
    found = table if isinstance(table, Scan) else scanned_once(table, context, options, progress)
    data = with_functions(found.data, context)
    data = with_normal_scores(data) if ranked(options) else data
    return found if data is found.data else found.on_sample(data)


def check_scannable(context: Any, options: Options) -> None:
    """Return if a search can do with what one pass over a table keeps, moments and a sample of its rows."""
    check_lags(context, options)
    if options.lags is not None and ranked(options):
        raise NotYetError('not yet: transform="ranks" needs the table in memory, with lags')
    if options.missing == "testwise":
        raise OptionError('missing="testwise" needs the table in memory; use missing="listwise"')


def scanned_once(
    table: Any,
    context: Any,
    options: Options,
    progress: bool,
    columns: Sequence[str] | None = None,
    only_numbers: bool = False,
) -> Scan:
    """The scan of a table, but for contexts that are made later; knowledge about what it has not is refused.

    These are contexts whose cuts are not known and, with lags, all that are made out of a column.
    """
    later = [one for one in split_context(context)[1] if options.lags is not None or not one.cuts]
    now = [one for one in contexts_of(context) if one not in later] or None if later else context

    def check(read: StreamColumns) -> None:
        if options.knowledge is not None:
            options.knowledge.links([*read.names, *(one.name for one in later)])
        if only_numbers and read.levels:
            raise NotYetError(f"not yet: {read.levels[0].name!r} has levels")

    return scan_checked(table, now, check, columns=columns, kinds=options.kinds, sample=int(options.sample),
                        progress=progress, series=options.series)  # fmt: skip


def _scanned_lazily(table: Any, context: Any, options: Options, progress: bool) -> Scan | None:
    """The scan of a lazy table; None where it is collected, for what a scan answers on the sample, or not at all."""
    if options.lags is not None or options.missing == "testwise" or ranked(options) or split_context(context)[1]:
        return None
    try:
        return scanned_once(table, context, options, progress, only_numbers=True)
    except (NotYetError, FileError):
        return None


def _check_scan(scanned: Scan, context: Any, options: Options) -> None:
    """Return if context, lags and sample are those that a table was scanned with, or none are named."""
    kept, series, windows = scanned.data.n_rows, options.series, scanned.windows
    if series is not None and (windows is None or not _same_windows(series, windows.options)):
        had = "without lags" if windows is None else "with other lags, or another way to make windows"
        raise OptionError(f"lags is {series.lags}, but the table was scanned {had}; pass the same options to scan and "
                          "discover, or the files themselves to discover")  # fmt: skip
    if options.sample != SAMPLE and min(options.sample, scanned.rows) != kept:
        raise OptionError(f"sample is {options.sample:,}, but {kept:,} rows were kept when the table was scanned; scan "
                          "it again")  # fmt: skip
    known, asked = contexts_of(scanned.context), contexts_of(context)
    if context is not None and [one for one in asked if one in known or not isinstance(one, Indicator)] != known:
        words = f"context={listed([getattr(one, 'name', one) for one in known])}" if known else "no context"
        raise OptionError(f"context is {shortly(context)}, but the table was scanned with {words}; scan it again")


def _same_windows(asked: SeriesOptions, made: SeriesOptions) -> bool:
    """Whether windows were made as asked; leaving some out is up to the search."""
    return asked == made or (asked.missing != "interpolate" != made.missing
                             and replace(asked, missing="windows") == replace(made, missing="windows"))  # fmt: skip
