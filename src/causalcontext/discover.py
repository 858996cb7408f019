"""From a table to one causal graph per context: `discover`, and its steps.

`reading` makes a task of the table: of one in memory, of a scan in batches, or of windows with
lags. `methods` search it. `results/assembly.py` makes a result of the outcome, with what must be
said about the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Any, Unpack

import numpy as np

from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.ci_tests.registry import find_test, note_on_device, on_device, usable_device
from causalcontext.data.indicators import Indicator, contexts_of, split_context
from causalcontext.diagnostics.best_cut import best_cuts, places_to_try
from causalcontext.errors import DataError, InterruptedSearch, NotYetError
from causalcontext.methods.auto import TESTWISE_CHOICE
from causalcontext.methods.registry import AUTO, METHOD_OPTIONS, METHODS
from causalcontext.methods.score_ac import ScoreAC
from causalcontext.methods.task import Task
from causalcontext.options import Keywords, Options, options_of, takes
from causalcontext.progress import Advance, watching
from causalcontext.reading.scans import scanned_table
from causalcontext.reading.tables import as_meant
from causalcontext.reading.tasks import search_task
from causalcontext.results.assembly import assembled, labels_note
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.cut import CUT
from causalcontext.results.finish import (
    compared,
    finished,
    with_same_answers,
    with_words_about_rows,
)
from causalcontext.results.outcome import Outcome
from causalcontext.screening.thin_levels import scan_without_thin_levels
from causalcontext.settings import SHORTEST_LIMIT

UNORIENTED = "the time limit ended the search; nothing is oriented; pass a larger time_limit"


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

    A table and its context are enough. From `missing` to `sample`, options say what the cells of
    the table mean; from `n_jobs` to `time_limit`, how the search runs; from `lags` on, that rows
    follow each other in time. Options of one method belong to its object.

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
    transform : {"auto", "none", "ranks"}
        "ranks" replaces every continuous column by the normal scores of its ranks. "auto" asks the
        likelihood in "score-ac", about all columns and about amounts alone, and is "none" for
        methods that test.
    sample : int
        Rows to keep of a table that is read in batches.
    n_jobs, device, seed : int, {"cpu", "cuda", "auto"}, int
        Threads (-1: all cores), and where "cmi-knn" counts neighbours: neither changes the result.
        The seed is for random starts and for tests that draw random numbers.
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
    if any(indicator.best for indicator in split_context(context)[1]):
        return _with_best_cut(table, context, names, progress, options)
    test, device_note = _test_on_device(chosen)
    reason = tuple[str, ...]()
    if chosen.method_name == AUTO and chosen.missing == "testwise":
        chosen = replace(chosen, method=TESTWISE_CHOICE.method)
        reason = (TESTWISE_CHOICE.reason,)
    table, names, chosen = as_meant(table, names, chosen)
    scanned = scanned_table(table, context, chosen, progress is True, names=names)
    context = scanned.context if context is None and scanned is not None else context
    thin = None
    if scanned is not None and chosen.lags is None and not scanned.is_table:
        scanned, thin = scan_without_thin_levels(scanned)
    task = search_task(table, context, chosen, names, test, scanned)
    task = replace(task, thin=thin or task.thin)
    outcome, is_over = _searched(task, chosen, progress)
    outcome = replace(outcome, notes=(*reason, *outcome.notes))
    notes = [device_note]
    if scanned is not None:
        notes.append(scanned.note(outcome.evidence is not None, chosen.lags is not None))
    if not isinstance(table, np.ndarray):
        notes.append(labels_note(task.data))
    result = assembled(task, outcome, scanned, tuple(filter(None, notes)))
    if not result.final and not is_over:
        raise InterruptedSearch(result)
    # The checks cost less than a tenth of a search by scores, but as much as one by tests, which
    # then asks later, but for those of rows.
    looks_at_once = result.evidence is not None or chosen.method_name == AUTO
    return finished(result) if looks_at_once else compared(with_words_about_rows(result))


def _searched(task: Task, options: Options, progress: bool | Advance) -> tuple[Outcome, bool]:
    """The outcome of a search by the chosen method, and whether its time was over."""
    with watching(progress, options.time_limit) as advance:
        method = METHODS[options.method_name].on(task.data)
        outcome = method(replace(task, advance=advance))
    if advance.over and not outcome.complete and outcome.evidence is None:
        outcome = replace(outcome, warnings=(*outcome.warnings, UNORIENTED))
    return outcome, advance.over


def _test_on_device(options: Options) -> tuple[IndependenceTest, str]:
    """The test on its device, and a note where that is not the device that was asked for."""
    device, device_note = usable_device(options.device)
    test = on_device(find_test(options.of_methods["test"], int(options.seed)), device)
    return test, device_note or note_on_device(test, device)


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
    chosen = options_of(options, "discover")
    wanted = _only_wanted(context)
    rest = [item for item in contexts_of(context) if item is not wanted] or None
    table = scanned_table(table, rest, chosen, progress is True, names) or table
    given: Any = {name: value for name, value in options.items() if name not in METHOD_OPTIONS}
    given["method"] = chosen.method_object
    by_scores = _options_by_scores(given, chosen)
    limit = chosen.time_limit
    begin = monotonic()

    def search(asked: Any, given: Keywords) -> ContextGraphs:
        """A search in the time that is left."""
        left: Any = {}
        if limit is not None:
            left["time_limit"] = max(limit - (monotonic() - begin), SHORTEST_LIMIT)
        return discover(table, asked, names=names, progress=progress, **(given | left))

    base = search(rest, by_scores)
    cuts = best_cuts(base, wanted)
    tried = []
    for places in places_to_try(cuts):
        if limit is not None and monotonic() - begin > limit:
            break
        with suppress(DataError):
            # a cut that only this asks about; what was found is searched below
            tried.append(search(_in_place(context, wanted.at(places)), by_scores))
    better = max((base, *tried), key=_score_of)
    cuts = cuts if better is base else best_cuts(better, wanted)
    cut_values = [cut.value for cut in cuts if cut.verdict == CUT]
    if cut_values:
        result = search(_in_place(context, wanted.at(cut_values)), given)
    else:
        result = base if by_scores == given else search(rest, given)
    score = result.settings.score
    settings = replace(
        result.settings, score=score if limit is None else {**score, "time_limit": limit}
    )
    notes = (*map(str, cuts), *result.notes)
    return with_same_answers(replace(result, settings=settings, cuts=cuts, notes=notes), result)


def _only_wanted(context: Any) -> Indicator:
    """The context whose cut is to be found; several are refused."""
    wanted, *more = (item for item in split_context(context)[1] if item.best)
    if more:
        raise NotYetError(
            f"not yet: the cuts of {wanted.column!r} and of {more[0].column!r} at once; find one,"
            " and pass its value in place of 'best'"
        )
    return wanted


def _options_by_scores(given: dict[str, Any], options: Options) -> Any:
    """The options of the searches by scores that find a cut: those of the caller, where they are
    for such a search.
    """
    if not isinstance(options.method_object, ScoreAC):
        given = given | {"method": ScoreAC(), "device": "cpu"}
    return given | {"missing": "listwise"} if options.missing == "testwise" else given


def _score_of(result: ContextGraphs) -> float:
    """The score of the model that a search found."""
    return -np.inf if result.evidence is None else result.evidence.score


def _in_place(context: Any, indicator: Indicator) -> Any:
    """The contexts of a search, with a cut in place of the one that is to be found."""
    asked = [
        indicator if isinstance(item, Indicator) and item.best else item
        for item in contexts_of(context)
    ]
    return asked if len(asked) > 1 else asked[0]
