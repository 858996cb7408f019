"""Searches of tables whose rows follow each other in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from causalcontext.ci_tests.devices import on_device, usable_device
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.dataset import Dataset, with_normal_scores
from causalcontext.data.indicators import Indicator
from causalcontext.data.kinds import Kind
from causalcontext.data.scan import Scan
from causalcontext.data.series import with_cycles
from causalcontext.data.streams import is_out_of_memory
from causalcontext.data.tables import read_table, take_columns
from causalcontext.discovery.reading import LAGS_NEED_ROWS
from causalcontext.discovery.settings import settings_of
from causalcontext.errors import InterruptedSearch, NotYetError, OptionError
from causalcontext.methods.ahead import compile_ahead
from causalcontext.methods.auto import MethodChoice, choose_by_call
from causalcontext.methods.registry import takes_lags
from causalcontext.options import Options
from causalcontext.progress import Advance, watching
from causalcontext.results.lagged import LaggedGraphs
from causalcontext.results.provenance import Settings
from causalcontext.timeseries.run import score_series, series_settings
from causalcontext.timeseries.tested import tested_series


def discover_lagged(table: Any, context: Any, options: Options, names: Sequence[str] | None,
                     progress: bool | Advance) -> LaggedGraphs:  # fmt: skip
    """The window graphs of a table whose rows follow each other in time."""
    series = options.series
    assert series is not None
    if isinstance(table, Scan) or is_out_of_memory(table):
        raise NotYetError(LAGS_NEED_ROWS)
    if isinstance(context, Indicator):
        raise NotYetError("not yet: lags with a context made out of a column; make the column first")
    if not takes_lags(options.method):
        raise NotYetError(f"not yet: method {options.method!r} with lags; pass method='score-ac', or 'pc-ac'")
    taken = [name for name in (series.time, series.units) if name is not None]
    for name in taken:
        if name == context or name in series.covariates:
            raise OptionError(f"column {name!r} cannot be time or units and take part in the search")
    rest, columns = (table, {}) if not taken else take_columns(table, names, taken)
    data = read_table(rest, context, kinds=options.kinds, names=None if taken else names)
    data = with_cycles(data, series.cycles, columns)
    method, reason = _lagged_method(options, data)
    settings = replace(settings_of(options, "none", context), method=method, series=series_settings(series))
    compile_ahead(("lags",) if method == "score-ac" else ("batches", "comparisons"))
    if method == "score-ac":
        found = _scored(data, columns, options, settings, progress)
    else:
        found = _tested(data, columns, options, settings, progress)
    return replace(found, notes=(*reason, *found.notes))


def _lagged_method(options: Options, data: Dataset) -> tuple[str, tuple[str, ...]]:
    """The method, and why "auto" chose it: the model of score-ac with lags takes continuous columns only."""
    if options.method != "auto":
        return options.method, ()
    other = next((place for place in data.system if data.kinds[place] is not Kind.CONTINUOUS), None)
    choice = choose_by_call(options.named_for_tests)
    if choice is None and other is None:
        choice = MethodChoice("score-ac", "all columns are continuous")
    if choice is None:
        assert other is not None
        found = f"column {data.names[other]!r} is {data.kinds[other].value}"
        choice = MethodChoice("pc-ac", f"{found}, and score-ac with lags takes continuous ones")
    return choice.method, (choice.reason,)


def _tested(data: Dataset, columns: dict[str, Any], options: Options, settings: Settings,
            progress: bool | Advance) -> LaggedGraphs:  # fmt: skip
    """The window graphs that tests find."""
    assert options.series is not None
    device, note = usable_device(options.device)
    test = on_device(find_test(options.test, int(options.seed)), device)
    if options.transform == "ranks":
        data = with_normal_scores(data)
    settings = replace(settings, test=test.name, score={})
    with watching(progress, options.time_limit) as advance:
        found = tested_series(data, columns, options.series, settings, test, (options.threads, advance))
    result = replace(found, notes=(*found.notes, *((note,) if note else ())))
    if not result.complete and not advance.over:
        raise InterruptedSearch(result)
    return result


def _scored(data: Dataset, columns: dict[str, Any], options: Options, settings: Settings,
            progress: bool | Advance) -> LaggedGraphs:  # fmt: skip
    """The window graphs of the best-scoring model."""
    assert options.series is not None
    with watching(progress, options.time_limit) as advance:
        found = score_series(data, columns, options.series, options.score, settings, advance)
    if not found.complete and not advance.over:
        raise InterruptedSearch(found)
    return found
