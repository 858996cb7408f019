"""The columns of a table in memory, or its windows, with what is left out of them and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.data import as_written, indicators
from causalcontext.data.dataset import Dataset, only_cells, with_normal_scores, without_columns
from causalcontext.data.frames import numbered
from causalcontext.data.indicators import split_context, with_functions
from causalcontext.data.scan import Scan
from causalcontext.data.series import with_cycles
from causalcontext.data.series_options import time_columns
from causalcontext.data.streams import is_out_of_memory
from causalcontext.data.table_files import read_file
from causalcontext.data.tables import columns_of_table, eager_frame, read_table, take_columns
from causalcontext.errors import OptionError, check_are_columns
from causalcontext.knowledge import Knowledge
from causalcontext.options import Options
from causalcontext.results.few_rows import ThinLevels
from causalcontext.screening.cells import POINT
from causalcontext.screening.screen import (
    Asked,
    Screening,
    check_strict,
    columns_of_variables,
    constant_in_units,
    screened_data,
    screened_table,
)
from causalcontext.screening.thin_levels import thin_among_windows
from causalcontext.timeseries.windows import SeriesWindows, read_windows


def read_and_screened(
    table: Any, context: Any, options: Options, names: Sequence[str] | None
) -> tuple[Dataset, Screening]:
    """The columns of a table in memory that can be variables, with the contexts that are made out
    of them.

    The second part says what was left out, and why, with the kinds that were found.
    """
    table, names, screening = screened_table(table, asked_of_columns(context, options, names))
    kinds = screening.kinds(options.kinds)
    return indicators.read_with_functions(table, context, kinds, names), screening


def read_with_lags(
    table: Any, context: Any, options: Options, names: Sequence[str] | None, test: IndependenceTest
) -> tuple[SeriesWindows, Screening, ThinLevels | None]:
    """The windows of a table whose rows follow each other in time, what was left out of it, and the
    values of the context that end too few windows.

    The rows of such values stay, since those beside them would follow each other without them, but
    their context is missing, so that no window holds them. Columns that order the rows (`time`,
    `units`) are taken out before others are read. With means of units, columns that are constant in
    every unit are left out: nothing of them remains.
    """
    series = options.series
    assert series is not None
    check_lags(context, options)
    taken = series.taken
    measured = split_context(context)[0]
    if taken:
        check_are_columns(taken, [column.name for column in columns_of_table(table, names)])
    table, names, screening = screened_table(table, asked_of_columns(context, options, names))
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
    data, screening = screened_data(data, screening, asked_of_columns(context, options, names))
    if series.missing == "raise" and complete:  # damaged cells alone are missing
        series = replace(series, missing="windows")
    data = with_normal_scores(data) if sees_normal_scores(options) else data
    windows = read_windows(data, columns, series, test)
    thin = thin_among_windows(data, windows.of_contexts)
    if thin is None or thin.untested:
        return windows, screening, None
    kept = [cell for cell, value in enumerate(data.values) if value not in thin.values]
    if series.missing == "raise":  # the context alone is missing
        series = replace(series, missing="windows")
    return read_windows(only_cells(data, kept), columns, series, test), screening, thin


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


def asked_of_columns(context: Any, options: Options, names: Sequence[str] | None) -> Asked:
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


def screened_knowledge(screening: Screening, options: Options) -> tuple[Screening, Knowledge]:
    """The knowledge about the columns that are searched, if columns may be left out."""
    if options.strict:
        check_strict(screening)
    return screening.with_knowledge(options.knowledge or Knowledge(), options.series)


def sees_normal_scores(options: Options) -> bool:
    """True where a search sees normal scores instead of the columns; score-ac transforms the table
    itself.
    """
    return options.transform == "ranks" and options.method_name != "score-ac"


def as_meant(
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
