"""From a table whose rows follow each other in time to one window graph per context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.series import Series, as_series, with_single_cells_filled, without_unit_means
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.windows import LaggedTable, check_windows, constant_units, lagged_table
from causalcontext.errors import DataError, NotYetError, OptionError, listed
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import check_plain, window_names
from causalcontext.kernels.arrays import Values
from causalcontext.progress import OutOfTime, Watch
from causalcontext.results.lagged import LaggedGraphs
from causalcontext.results.log import CITestLog
from causalcontext.results.provenance import DataSummary, Settings
from causalcontext.results.series_facts import SeriesFacts
from causalcontext.score.options import ScoreOptions
from causalcontext.timeseries.alarm import not_asked, rise_with_more_lags, sentence
from causalcontext.timeseries.known import allowed_links
from causalcontext.timeseries.local_models import LocalModels
from causalcontext.timeseries.marks import WindowMarks
from causalcontext.timeseries.options import SeriesOptions
from causalcontext.timeseries.order_search import MOST_EXACT, Searched, search
from causalcontext.timeseries.problem import MOST_CONTEXTS, LaggedProblem
from causalcontext.timeseries.residuals import sentence as skewness_sentence
from causalcontext.timeseries.residuals import skewed
from causalcontext.timeseries.stability import HalfSamples
from causalcontext.views import Contexts

NO_ALARM = "the search was stopped before it was asked whether more lags raise the score"
STARTS = 2
"""Orders to begin with where the order is not searched exactly."""


def score_series(data: Dataset, taken: dict[str, Values], options: SeriesOptions, score: ScoreOptions,
                 settings: Settings, watch: Watch | None = None) -> LaggedGraphs:  # fmt: skip
    """score-ac with lags; where it is stopped, by its watch or by Ctrl-C, the best model so far and what was cut."""
    check_series(data, options)
    series = read_series(data, taken, options)
    table = lagged_table(series, options.lags, max(len(data.values), 1))
    check_windows(series, table, data.values, data.context_name, options.units)
    problem = make_problem(data, series, table, options, score, settings)
    heard = None if watch is None else watch.check
    local = LocalModels(problem, heard=heard)
    found = search(local, score.starts or STARTS, settings.seed)
    reader = make_reader(data, series, local, found)
    rise, stopped = _rise(series, problem, found, heard)
    facts = {"penalty": float(score.penalty), "search": "exact" if found.exact else "order", "transform": "none",
             "starts": 1 if found.exact else score.starts or STARTS, "agreeing": 1}  # fmt: skip
    about = SeriesFacts(reader.names, options.lags, series.covariate_names, reader.reads(), table.counts,
                        tuple(reader.slopes(data.values)), rise)  # fmt: skip
    halves = HalfSamples(problem, reader.names, reader.place, reader.covariates, score.starts or STARTS)
    result = _result(data, series, table, settings, about, reader, facts)
    cut = cut_sentences(reader) if stopped else not_asked(rise, options.lags)
    return replace(result, resample=halves, table=table, notes=(*cut, *result.notes),
                   complete=found.unfinished is None and stopped is not KeyboardInterrupt)  # fmt: skip


def _rise(series: Series, problem: LaggedProblem, found: Searched, heard: Callable[[], None] | None
          ) -> tuple[float | None, type[KeyboardInterrupt] | None]:  # fmt: skip
    """How much the score rises with more lags, and what stopped that question, if anything did."""
    if found.unfinished is not None:
        return None, OutOfTime
    try:
        return rise_with_more_lags(series, problem, found, heard), None
    except KeyboardInterrupt as reason:
        return None, type(reason)


def cut_sentences(reader: WindowMarks) -> tuple[str, ...]:
    """What is missing in the result of a search that was stopped."""
    unfinished = reader.found.unfinished
    if unfinished is None:
        return (NO_ALARM,)
    names = [reader.names[reader.place[node]] for node in unfinished]
    where = f"causes inside the time step of {listed(names)} were not all tried, " if names else ""
    return (f"the search was stopped early, and this is the best model found so far: {where}no order of the time step "
            "was settled, so that no link inside it has a direction", NO_ALARM)  # fmt: skip


def check_series(data: Dataset, options: SeriesOptions) -> None:
    """Return if the columns are such that the model applies."""
    check_plain(data.names)
    if len(data.contexts.positions) > 1:
        raise NotYetError("not yet: lags take one context variable; join them into one column")
    for position in data.system:
        if not data.kinds[position].is_number:
            raise NotYetError(f"not yet: score-ac with lags needs continuous columns, {data.names[position]!r} "
                              f"is {data.kinds[position].value}")  # fmt: skip
    if len(data.values) > MOST_CONTEXTS:
        raise NotYetError(f"not yet: score-ac with lags takes at most {MOST_CONTEXTS} contexts, {data.context_name!r} "
                          f"has {len(data.values)}; merge some")  # fmt: skip
    if len(data.system) - len(options.covariates) < 1:
        raise OptionError("covariates names every column; at least one must be left to be an effect")


def read_series(data: Dataset, taken: dict[str, Values], options: SeriesOptions) -> Series:
    """The rows in the order of time, gaps found, missing cells and unit means treated as asked."""
    time = None if options.time is None else (options.time, taken[options.time])
    units = None if options.units is None else (options.units, taken[options.units])
    series = as_series(data, options.covariates, time, units, options.step)
    if options.missing == "raise" and not series.complete.all():
        lost = int((~series.complete).sum())
        raise DataError(f"{lost} rows have missing values; pass missing='windows' to leave out their windows, "
                        "or missing='interpolate' to fill in single cells")  # fmt: skip
    means = np.array([data.kinds[data.position(name)] is Kind.CONTINUOUS for name in series.names], dtype=bool)
    if options.missing == "interpolate":
        series = with_single_cells_filled(series, means)
    if options.units is not None and data.contexts.positions and options.unit_effects == "means":
        units_found = int(series.units.max()) + 1
        if constant_units(series) == units_found:
            raise DataError(f"context {data.context_name!r} has one value in every unit of {options.units!r}, so its "
                            "effects are those of the units; pass unit_effects='none', or another context")  # fmt: skip
    taken_away = options.units is not None and options.unit_effects == "means"
    return without_unit_means(series, means) if taken_away else series


def make_problem(data: Dataset, series: Series, table: LaggedTable, options: SeriesOptions, score: ScoreOptions,
                 settings: Settings) -> LaggedProblem:  # fmt: skip
    """What is to be searched."""
    names = [*series.names, data.context_name or "_"]
    allowed = allowed_links(settings.knowledge, names, options.lags)
    return LaggedProblem(table, allowed, options.context_lags, score.penalty, data.context is not None)


def make_reader(data: Dataset, series: Series, local: LocalModels, found: Any) -> WindowMarks:
    """The model in the numbers of the table."""
    names = [name for name in data.names if name not in series.covariate_names]
    place = [names.index(name) for name in series.names]
    if data.context is not None:
        place.append(names.index(data.names[data.context]))
    return WindowMarks(local, found, names, place, series.covariate_names)


def _result(
    data: Dataset,
    series: Series,
    table: LaggedTable,
    settings: Settings,
    about: SeriesFacts,
    reader: WindowMarks,
    facts: dict[str, Any],
) -> LaggedGraphs:
    names = (*window_names(about.variables, about.lags), *about.covariates)
    cells = Contexts()
    if data.context is not None:
        cells = Contexts((names.index(data.names[data.context]),), data.contexts.cells)
    graphs = {value: Graph(names, endpoints) for value, endpoints in zip(data.values, reader.endpoints(), strict=True)}
    return LaggedGraphs(
        names=names,
        cells=cells,
        levels=data.levels,
        contexts=data.values,
        graphs=graphs,
        settings=settings,
        data=_summary(data, table, names),
        log=CITestLog.empty(len(data.values), len(names)),
        tests_run={"pooled": 0, "within contexts": 0},
        warnings=_warnings(data, series, about),
        evidence=reader.evidence(facts),
        series=about,
        notes=(*_notes(about), *skewness_sentence(skewed(reader), data.context is not None)),
    )


def _summary(data: Dataset, table: LaggedTable, names: Sequence[str]) -> DataSummary:
    used = np.bincount(table.codes[:, 0], minlength=len(data.values))
    context = data.names[data.context] if data.context is not None else None
    kinds = tuple("categorical" if name.split("(t-")[0] == context else "continuous" for name in names)
    # What was lost is in `WindowCounts`: most of it is not for missing values.
    return DataSummary(tuple(used.tolist()), (0,) * len(used), int((data.codes < 0).sum()), (), kinds,
                       gather_statistics(data, "listwise").fingerprint)  # fmt: skip


def _warnings(data: Dataset, series: Series, about: SeriesFacts) -> tuple[str, ...]:
    return (*sentence(about.rise, about.lags), *unit_warnings(data, series))


def unit_warnings(data: Dataset, series: Series) -> tuple[str, ...]:
    """What must be said about units in which the context never changes."""
    units = int(series.units.max()) + 1
    constant = constant_units(series) if units > 1 and data.context is not None else 0
    if not constant:
        return ()
    return (f"{data.context_name} has one value only in {constant} of {units} units, which say nothing about changes "
            "inside a unit",)  # fmt: skip


def _notes(about: SeriesFacts) -> tuple[str, ...]:
    found = [str(about.windows)]
    if len(about.variables) > MOST_EXACT:
        found.append("the order inside a time step was searched by moves, not exactly: there are many variables")
    return tuple(found)


def series_settings(options: SeriesOptions) -> dict[str, Any]:
    """The options as plain values, for the settings of a result."""
    content = asdict(options)
    return content | {"context_lags": list(options.context_lags), "covariates": list(options.covariates),
                      "cycles": [asdict(one) for one in options.cycles],
                      "step": None if options.step is None else str(options.step)}  # fmt: skip
