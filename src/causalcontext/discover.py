"""From a table to one causal graph per context: `discover`. What is done with the table in between is in `methods`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Unpack

from causalcontext.data.checks import check_none_missing
from causalcontext.data.cycles import with_cycles
from causalcontext.data.dataset import Dataset
from causalcontext.data.determinism import step_functions
from causalcontext.data.files import read_file
from causalcontext.data.indicators import Indicator
from causalcontext.data.kinds import Kind
from causalcontext.data.open_stream import is_lazy, is_out_of_memory
from causalcontext.data.ranks import with_normal_scores
from causalcontext.data.scan import Scan, scan
from causalcontext.data.tables import read_table, take_columns
from causalcontext.diagnostics.support import Support
from causalcontext.errors import FileError, InterruptedSearch, NotYetError, OptionError
from causalcontext.graphs.graph import Graph
from causalcontext.independence.devices import on_device, usable_device
from causalcontext.independence.preparation import prepare
from causalcontext.independence.registry import find_test
from causalcontext.knowledge import Knowledge, Links
from causalcontext.methods.auto import MethodChoice, choose_by_call
from causalcontext.methods.first_run import first_run
from causalcontext.methods.registry import run_method
from causalcontext.methods.score_ac import ONE_CONTEXT
from causalcontext.methods.task import Outcome, Task
from causalcontext.options import Keywords, Options, made, takes
from causalcontext.progress import Advance, watching
from causalcontext.results.contexts import ContextGraphs, DataSummary, Settings
from causalcontext.results.lagged import LaggedGraphs
from causalcontext.score.options import ScoreOptions
from causalcontext.search.indicator import without
from causalcontext.timeseries.run import score_series, series_settings
from causalcontext.timeseries.tested import RULES as TESTED
from causalcontext.timeseries.tested import tested_series
from causalcontext.version import __version__

SCORE_METHODS = ("score-ac", "auto")
"""Those that search by scores, or may."""
LAGGED_METHODS = ("score-ac", *TESTED, "auto")
NOTHING_KNOWN = Knowledge()


@takes(Options)
def discover(
    table: Any,
    context: str | Sequence[str] | Indicator | None = None,
    *,
    names: Sequence[str] | None = None,
    progress: bool | Advance = False,
    **options: Unpack[Keywords],
) -> ContextGraphs:
    """One causal graph per value of the context, with the reasons for every missing edge.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, 2-D array with `names`, path, or what `cc.scan` returns
        One row per observation. A file of more than 256 MB, a folder, and a lazy table of numbers are read once in
        batches (`cc.scan`); the result's `notes` say what rests on all rows, and what on a sample. Columns are
        continuous, categorical, ordered or counts.
    context : str, sequence of str or Indicator, optional
        The column that names the context; it may itself be an effect of the system. Without one there is one graph,
        under the key "all". `cc.threshold` and `cc.bins` make a context out of a column.
        With several columns there is one graph for every combination of their values, a tuple, that occurs.
    method : {"auto", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac", "score-ac"}
        "auto", the default, takes "score-ac" or "pc-ac": what suits the options that you name, then the table; the
        first of the result's `notes` says which and why. "pc-ac" is the paper's method (adaptive);
        "pc-m" looks at each context by itself (masked), "pc-p" at all rows (pooled), "pc-b" has what the two share;
        "fci-ac" finds one partial ancestral graph per context, where variables may be missing from the table;
        "score-ac" the best-scoring model of mechanisms that may differ between contexts.
    test : str or IndependenceTest
        "auto" picks by the kinds of the columns of every trial: "partial-correlation" for two numbers, "robust-change"
        for a context or another category and a number, and so on; a name of the registry ("partial-correlation",
        "tsagris", "cmi-knn", ...) is used wherever it takes these kinds; or an object of your own.
    alpha : float
        Two variables are called independent if the p-value is larger than this.
    knowledge : Knowledge, optional
        Links that are required, forbidden or ordered.
    max_given : int, optional
        The largest conditioning set; no limit by default.
    collider_rule : {"majority", "conservative", "first"}
        How colliders are decided; around the context always conservatively.
    masked_scope : {"adaptive", "cycle", "always"}
        For "pc-ac": stop where the paper does, or ask again inside the contexts about edges that a large union cycle
        may hide, or about all edges.
    orientation : {"across", "within"}
        For "pc-ac" and "fci-ac": whether the graphs of the contexts orient each other, or each is oriented by itself
        (in "fci-ac" ends at the context are shared all the same).
    possible_dsep : int, optional
        For "fci-ac": ask the edges that are left once more with sets up to this size, the context counted, of variables
        that are no neighbours. By default neighbours are enough.
    contested : {"conflict", "bidirected"}
        For "fci-ac": an edge with arrows by colliders from both sides is `x-x`, or `<->`, a hidden common cause; few
        of these are right unless there are very many rows.
    context_confounded : bool
        For "fci-ac": False declares that nothing hidden causes the context and something else.
    kinds : mapping from column to {"continuous", "categorical", "ordered", "count"}, optional
        Overrides what the dtypes say.
    missing : {"raise", "listwise", "testwise", "windows", "interpolate"}
        Stop at missing values, drop the rows that have some, or use in every test the rows that are complete in its
        columns. With lags: leave out the windows that have some, or fill in single cells.
    names : sequence of str, optional
        Column names of an array.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.
    device : {"cpu", "cuda", "auto"}
        Where "cmi-knn" counts neighbours: on the processor, on a CUDA card, or on a card if there is one; the result is
        the same. Needs the extra `gpu`.
    seed : int
        For tests that draw random numbers, and for the random starts of "score-ac".
    progress : bool or callable
        Show a bar with the time left, or call `progress(size of sets, pairs done, pairs in all)`.
    transform : {"auto", "none", "ranks"}
        "ranks" replaces every continuous column by the normal scores of its ranks: outliers and monotone scales do no
        harm then. "auto" asks the likelihood in "score-ac", and is "none" for methods that test.
    time_limit : float, optional
        Seconds after which the tests end. What is known then is oriented by the separating sets that were found, and
        `notes` and `explain` say what was cut; "score-ac" returns the best model so far. Such a result depends on the
        speed of the machine.
    search, starts, curves, penalty
        For "score-ac": "exact" finds the optimum of a small problem, "order" climbs from `starts` random orders, "auto"
        takes the quicker one; `curves` may bend mechanisms ("auto" asks the likelihood); `penalty` 1 is the plain BIC.
    lags : int, optional
        Rows follow each other in time, and causes may be up to so many steps ago. The result is then a `LaggedGraphs`
        over variables such as `X(t-1)`, by "score-ac", "pc-ac", "pc-m" or "pc-p". Too many lags cost little, too few
        invent links.
    time, units, step
        With lags: the column that orders the rows (dates or numbers; gaps are respected), the column that names the
        series of a panel, and the time between two rows, by default the most frequent difference.
    context_lags : sequence of int, optional
        With lags: which copies of the context a variable may read; by default R(t) and R(t-1).
    covariates : sequence of str or Cycle, optional
        With lags: columns that may be causes of all others and are no effects; `cc.cycle("hour", "1D")` makes some.
    unit_effects : {"means", "none"}
        With units: whether the mean of every unit is taken away from its rows.

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
    chosen = made(Options, options, "discover")
    if chosen.lags is not None:
        return _discover_lagged(_in_memory(table), context, chosen, names, progress)
    device, device_note = usable_device(chosen.device)
    test = on_device(find_test(chosen.test, int(chosen.seed)), device)
    chosen, reason = _resolved(chosen, context)
    scanned = _scanned(table, context, chosen, progress is True)
    data = _read(_in_memory(table), context, chosen, names) if scanned is None else scanned.data
    settings = _settings(chosen, test.name, context)
    links = _links(settings.knowledge, data)
    if scanned is not None and chosen.missing == "raise":
        check_none_missing(scanned.survey, data, in_memory=False)
    known = None if scanned is None or scanned.whole else scanned.survey  # all rows in memory: no rounding of batches
    with first_run(chosen.method, test.name, data):
        data, survey, prepared = prepare(data, test, chosen.missing, known, chosen.threads)
        with watching(progress, chosen.time_limit) as advance:
            task = Task(prepared, data, survey, links, settings, _score(chosen), chosen.threads, advance,
                        Support(data, settings.alpha), device)  # fmt: skip
            outcome = run_method(chosen.method, task)
    if advance.over and not outcome.complete:
        outcome = replace(outcome, notes=(*outcome.notes, "the time limit ended the search; nothing is oriented"))
    notes = (device_note, scanned.note(outcome.evidence is not None) if scanned is not None else "")
    outcome = replace(outcome, notes=(*reason, *outcome.notes))
    result = _result(task, outcome, scanned, tuple(note for note in notes if note))
    if not result.complete and not advance.over:
        raise InterruptedSearch(result)
    return result


def _resolved(options: Options, context: Any) -> tuple[Options, tuple[str, ...]]:
    """The options with the method that the call itself decides on, if any, and why."""
    if options.method != "auto":
        return options, ()
    choice = choose_by_call(options.named_for_tests)
    if choice is None and isinstance(context, Indicator):
        choice = MethodChoice("pc-ac", "the context is made out of a column")
    return (options, ()) if choice is None else (replace(options, method=choice.method), (choice.reason,))


def _discover_lagged(table: Any, context: Any, options: Options, names: Sequence[str] | None,
                     progress: bool | Advance) -> LaggedGraphs:  # fmt: skip
    """The window graphs of a table whose rows follow each other in time."""
    series = options.series
    assert series is not None
    if isinstance(table, Scan) or is_out_of_memory(table):
        raise NotYetError("not yet: lags with a table that is larger than memory; read a part of it first")
    if isinstance(context, Indicator):
        raise NotYetError("not yet: lags with a context made out of a column; make the column first")
    if options.method not in LAGGED_METHODS:
        raise NotYetError(f"not yet: method {options.method!r} with lags; pass method='score-ac', or 'pc-ac'")
    taken = [name for name in (series.time, series.units) if name is not None]
    for name in taken:
        if name == context or name in series.covariates:
            raise OptionError(f"column {name!r} cannot be time or units and take part in the search")
    rest, columns = (table, {}) if not taken else take_columns(table, names, taken)
    data = read_table(rest, context, kinds=options.kinds, names=None if taken else names)
    data = with_cycles(data, series.cycles, columns)
    method, reason = _lagged_method(options, data)
    settings = replace(_settings(options, "none", context), method=method, series=series_settings(series))
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


def _settings(options: Options, test: str, context: object) -> Settings:
    limit = None if options.max_given is None else int(options.max_given)
    return Settings(
        options.method, test, float(options.alpha), options.collider_rule, limit, options.missing, int(options.seed),
        options.knowledge or NOTHING_KNOWN, __version__, _scope(options), options.orientation,
        context.column if isinstance(context, Indicator) else None,
        score=asdict(_score(options)) if options.method in SCORE_METHODS else {},
        possible_dsep=None if options.possible_dsep is None else int(options.possible_dsep),
        contested=options.contested, context_confounded=bool(options.context_confounded),
        transform="ranks" if _ranked(options) else "none",
    )  # fmt: skip


def _read(table: Any, context: Any, options: Options, names: Sequence[str] | None) -> Dataset:
    """The table, with the context that is made out of a column, and with normal scores, where these are asked for."""
    if _ranked(options):
        return with_normal_scores(_read(table, context, replace(options, transform="none"), names))
    if not isinstance(context, Indicator):
        return read_table(table, context, kinds=options.kinds, names=names)
    if options.method != "pc-ac":
        raise NotYetError(f"not yet: a context made out of a column needs method 'pc-ac', got {options.method!r}")
    return context.applied(read_table(table, None, kinds=options.kinds, names=names))


def _ranked(options: Options) -> bool:
    """Whether a search sees normal scores instead of the columns; score-ac transforms the table itself."""
    return options.transform == "ranks" and options.method != "score-ac"


def _score(options: Options) -> ScoreOptions:
    """How to search by scores; columns that are normal scores already are transformed no further."""
    return replace(options.score, transform="none") if _ranked(options) else options.score


def _links(knowledge: Knowledge, data: Dataset) -> Links:
    """What is known, by number; about a context that is made out of a column nothing can be."""
    links = knowledge.links(data.names)
    return links if data.contexts.source is None else without(links, data.contexts.positions[0])


def _scope(options: Options) -> str:
    """Which edges are asked about inside the contexts; fci-ac asks about all of them."""
    return "always" if options.method == "fci-ac" else options.masked_scope


def _scanned(table: Any, context: Any, options: Options, progress: bool) -> Scan | None:
    """The scan of a table that is not in memory, or None for one that is; what a scan cannot answer is refused."""
    if not isinstance(table, Scan) and not is_out_of_memory(table):
        return _scanned_lazily(table, context, options) if is_lazy(table) else None
    if isinstance(context, Indicator):
        raise NotYetError("not yet: a context made out of a column needs the table in memory; make it a column")
    if options.missing == "testwise":
        raise OptionError('missing="testwise" needs the table in memory; use missing="listwise"')
    if _ranked(options):
        raise NotYetError('not yet: transform="ranks" needs the table in memory')
    if isinstance(table, Scan):
        _check_context(table, context)
        return table
    several = context is not None and not isinstance(context, str) and len(context) > 1
    if several and options.method == "score-ac":
        raise NotYetError(ONE_CONTEXT)
    return scan(table, context, kinds=options.kinds, progress=progress)


def _scanned_lazily(table: Any, context: Any, options: Options) -> Scan | None:
    """The scan of a lazy table; None where it has to be collected, for what a scan cannot answer."""
    if options.missing == "testwise" or _ranked(options) or isinstance(context, Indicator):
        return None
    try:
        return scan(table, context, kinds=options.kinds)
    except (NotYetError, FileError):
        return None


def _in_memory(table: Any) -> Any:
    """The table of a file; anything else is one."""
    return read_file(table) if isinstance(table, str | os.PathLike) else table


def _check_context(scanned: Scan, context: Any) -> None:
    """Return if the context is the one that a table was scanned with, or none is named."""
    names = [scanned.data.names[position] for position in scanned.data.contexts.positions]
    asked = names if context is None else [context] if isinstance(context, str) else list(context)
    if asked != names:
        had = f"context={names[0] if len(names) == 1 else names!r}" if names else "no context"
        raise OptionError(f"context is {context!r}, but the table was scanned with {had}; scan it again")


def _result(task: Task, outcome: Outcome, scanned: Scan | None, notes: tuple[str, ...]) -> ContextGraphs:
    data, survey, sampled = task.data, task.survey, scanned is not None and not scanned.whole
    outcome.ends.setflags(write=False)
    kinds = tuple(str(kind.value) for kind in data.kinds)
    summary = DataSummary(tuple(survey.moments.rows.tolist()), tuple(survey.lost.tolist()), survey.missing_context,
                          survey.emptied, kinds, survey.fingerprint)  # fmt: skip
    return ContextGraphs(
        names=data.names,
        cells=data.contexts,
        levels=data.levels,
        contexts=data.values,
        graphs={
            value: Graph(data.names, ends, outcome.kind) for value, ends in zip(data.values, outcome.ends, strict=True)
        },
        settings=_as_run(task.settings, outcome.method),
        data=summary,
        log=outcome.log,
        tests_run={"pooled": int(outcome.tests[0]), "within contexts": int(outcome.tests[1])},
        complete=outcome.complete,
        origins=dict(outcome.origins),
        doubts=outcome.doubts,
        warnings=(*_missing_warning(task), *(() if sampled else _determinism_warning(data))),
        evidence=outcome.evidence,
        notes=(*_transform_note(task), *outcome.notes, *notes),
        prepared=task.prepared,
        moments=survey.of_columns(data),
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
    if task.settings.missing != "testwise" or not task.survey.missing.any():
        return ()
    return ("every test uses the rows that are complete in its own columns, so tests rest on different rows (see n in "
            "tests()); leaving rows out is itself a selection, which can make edges or hide them if it depends on the "
            "values",)  # fmt: skip


def _determinism_warning(data: Dataset) -> tuple[str, ...]:
    """What must be said where a context variable is a function of a column."""
    if data.contexts.source is not None:
        return ()
    alone = len(data.contexts.positions) == 1
    return tuple(
        f"{found.context} is a function of {found.column} without exception; if it was made out of {found.column}, "
        + ("declare it: " if alone else f"its links cannot be tested given {found.column}: leave one of the two out, "
           "or declare it as the only context, ") + found.call()
        for found in step_functions(data)
    )  # fmt: skip
