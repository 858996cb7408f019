"""The scan of a table that is not in memory: one pass over files or batches, for searches that can
do with its moments and a sample of its rows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.data.dataset import with_normal_scores
from causalcontext.data.frames import is_index, pa
from causalcontext.data.indicators import Indicator, contexts_of, split_context, with_functions
from causalcontext.data.sample import SAMPLE
from causalcontext.data.scan import Scan, StreamColumns, scan_checked
from causalcontext.data.series_options import SeriesOptions
from causalcontext.data.streams import is_lazy, is_number, is_out_of_memory, open_stream
from causalcontext.data.table_files import is_list_of_paths
from causalcontext.data.tables import NAMES_OF_ARRAYS
from causalcontext.errors import FileError, NotYetError, OptionError, listed, shortly
from causalcontext.options import Options
from causalcontext.reading.tables import (
    asked_of_columns,
    check_lags,
    screened_knowledge,
    sees_normal_scores,
)
from causalcontext.screening.columns import NAMES_OF_INDEX
from causalcontext.screening.functions import functions_of_others
from causalcontext.screening.left_out import LeftOut, Why
from causalcontext.screening.screen import NOTHING, Screening, screened
from causalcontext.settings import FEWEST_FIRST_ROWS
from causalcontext.timeseries.windows import SeriesWindows, check_complete, windows_of_scan

CERTAIN = (Why.DATE, Why.IDENTIFIER, Why.TEXT)
"""Reasons to leave a column out that the first rows of a file can show."""


def scanned_table(
    table: Any, context: Any, options: Options, progress: bool, names: Sequence[str] | None = None
) -> Scan | None:
    """The scan of a table that is not in memory, or None for one that is; what a scan cannot answer
    is refused.

    A lazy table is scanned where one pass is enough: it must hold numbers alone, and no option may
    ask for rows. In any other case it is collected.
    """
    if not isinstance(table, Scan) and not is_out_of_memory(table):
        if not _may_stay_lazy(table, context, options, names):
            return None
        with suppress(NotYetError, FileError):
            return scanned_once(table, context, options, progress, only_numbers=True)
        return None
    if names is not None:
        raise OptionError(NAMES_OF_ARRAYS)
    check_scannable(context, options)
    if isinstance(table, Scan):
        _check_scan(table, context, options)
        scan = table
    else:
        scan = scanned_once(table, context, options, progress)
    if options.lags is None and scan.is_table:
        # it is searched like a table in memory, to which contexts and ranks are added later
        return scan
    if options.lags is None:
        scan = _without_functions(scan, context, options)
    data = with_functions(scan.data, context)
    data = with_normal_scores(data) if sees_normal_scores(options) else data
    return scan if data is scan.data else scan.on_sample(data)


def _may_stay_lazy(table: Any, context: Any, options: Options, names: Sequence[str] | None) -> bool:
    """True for a lazy table of whose rows no option asks more than one pass tells."""
    if not is_lazy(table) or names is not None or options.lags is not None:
        return False
    if options.missing in ("testwise", "model") or sees_normal_scores(options):
        return False
    return not split_context(context)[1]


def _without_functions(scanned: Scan, context: Any, options: Options) -> Scan:
    """The scan of a large table without the columns that are functions of others in the rows of its
    sample.

    Columns that the caller keeps, knows about, or makes a context of stay.
    """
    sources = [indicator.column for indicator in split_context(context)[1]]
    asked = asked_of_columns(context, options, None)
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
    if options.lags is not None and sees_normal_scores(options):
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
    screened_knowledge(screening, options)
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
    taken = () if options.series is None else options.series.taken
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
    certain = _certainly_left_out(batch, context, options)
    if not certain:
        return columns, NOTHING
    out = {left.column for left in certain}
    return [name for name in names if name not in out], Screening(certain)


def _certainly_left_out(
    batch: pa.RecordBatch, context: Any, options: Options
) -> tuple[LeftOut, ...]:
    """The columns that the first rows of files are enough to leave out."""
    asked = replace(asked_of_columns(context, options, None), missing="testwise")
    screening = screened(pa.Table.from_batches([batch]), asked)[2]
    return tuple(
        left
        for left in screening.left_out
        if left.why in CERTAIN and shows_in_first_rows(left, batch)
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
    """
    if options.series is not None and not _has_windows_for(scanned, options.series):
        had = "with other lags, or another way to make windows"
        if scanned.windows is None:
            had = "without lags"
        raise OptionError(
            f"lags is {options.series.lags}, but the table was scanned {had}; pass the same options"
            " to scan and discover, or the files themselves to discover"
        )
    kept = scanned.data.n_rows
    if options.sample != SAMPLE and min(options.sample, scanned.rows) != kept:
        raise OptionError(
            f"sample is {options.sample:,}, but {kept:,} rows were kept when the table was scanned;"
            " scan it again"
        )
    if context is None:
        return
    known = contexts_of(scanned.context)
    asked = contexts_of(context)
    if [item for item in asked if item in known or not isinstance(item, Indicator)] != known:
        words = "no context"
        if known:
            words = f"context={listed([getattr(item, 'name', item) for item in known])}"
        raise OptionError(
            f"context is {shortly(context)}, but the table was scanned with {words}; scan it again"
        )


def _has_windows_for(scanned: Scan, series: SeriesOptions) -> bool:
    """True for a scan with windows of these options.

    Whether windows with interpolated rows are left out is up to the search: a scan keeps them
    apart.
    """
    windows = scanned.windows
    if windows is None:
        return False
    wanted = series
    if series.missing != "interpolate" and windows.options.missing != "interpolate":
        wanted = replace(series, missing=windows.options.missing)
    return wanted == windows.options


def scanned_with_lags(
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
