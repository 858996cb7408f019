"""From a table to one causal graph per context: `discover`.

Its steps are in `discovery`; what is done with the table in between is in `methods`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from causalcontext.ci_tests.composite import on_device, usable_device
from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.protocol import IndependenceTest
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.checks import check_none_missing
from causalcontext.data.indicators import Indicator
from causalcontext.data.scan import Scan
from causalcontext.diagnostics.support import Support
from causalcontext.discovery.conclusion import result_of, score_of, settings_of
from causalcontext.discovery.reading import in_memory, read, read_with_lags, scanned_table, scanned_with_lags
from causalcontext.errors import InterruptedSearch
from causalcontext.methods.ahead import compile_ahead, kinds_for, kinds_for_windows
from causalcontext.methods.auto import choose_by_call
from causalcontext.methods.registry import run_method
from causalcontext.methods.task import Task, windows_task
from causalcontext.options import Keywords, Options, made, takes
from causalcontext.progress import Advance, Watch, nobody, watching
from causalcontext.search.indicator import links_without_functions

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


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
        One row per observation. A file of more than 256 MB, a folder, and a lazy table of numbers are read once in
        batches (`cc.scan`); the result's `notes` say what rests on all rows, and what on a sample. Columns are
        continuous, categorical, ordered or counts.
    context : str, Indicator or sequence of them, optional
        The column that names the context; it may itself be an effect of the system. Without one there is one graph,
        under the key "all". `cc.threshold` and `cc.bins` make a context out of a column.
        With several contexts there is one graph for every combination of their values, a tuple, that occurs.
    method : {"auto", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac", "score-ac"}
        "auto", the default, takes "score-ac" or "pc-ac": what suits the options that you name, then the table; the
        first of the result's `notes` says which and why. "pc-ac" is the paper's method (adaptive);
        "pc-m" looks at each context by itself (masked), "pc-p" at all rows (pooled), "pc-b" has what the two share;
        "fci-ac" finds one partial ancestral graph per context, where variables may be missing from the table;
        "score-ac" the best-scoring model of mechanisms that may differ between contexts.
    test : str or IndependenceTest
        "auto" picks by the kinds of the columns of every query: "partial-correlation" for two numbers, "robust-change"
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
        For "fci-ac": False declares that the context has no hidden common cause with another variable.
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
    sample : int
        Rows to keep of a table that this call reads in batches, for tests that look at rows, and for "score-ac".
    time_limit : float, optional
        Seconds after which the tests end. What is known then is oriented by the separating sets that were found, and
        `notes` and `explain` say what was cut; "score-ac" returns the best model so far. Such a result depends on the
        speed of the machine.
    search, starts, curves, penalty
        For "score-ac": "exact" finds the optimum of a small problem, "order" climbs from `starts` random orders, "auto"
        takes the quicker one; `curves` may bend mechanisms ("auto" asks the likelihood); `penalty` 1 is the plain BIC.
    wrong_cells : {"auto", "keep"}
        For "score-ac": cells that the rest of their row contradicts are replaced by what it leads to expect, and rows
        that are wrong as a whole left out, if that shortens the description of the table; `flagged_cells()` has them.
        "keep" leaves every cell as it is.
    lags : int, optional
        Rows follow each other in time, and causes may be up to so many steps ago. The result is then over variables
        such as `X(t-1)`, and has a `summary` over all lags; by all methods but "fci-ac". Too many lags
        cost little, too few invent links.
    time, units, step
        With lags: the column that orders the rows (dates or numbers; gaps are respected), the column that names the
        series of a panel, and the time between two rows, by default the most frequent difference.
    context_lags : sequence of int, optional
        With lags: which copies of each context a variable may read; by default R(t) and R(t-1).
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
    device, device_note = usable_device(chosen.device)
    test = on_device(find_test(chosen.test, int(chosen.seed)), device)
    chosen, reason = _resolved(chosen)
    scanned = scanned_table(table, context, chosen, progress is True, names=names)
    context = scanned.context if context is None and scanned is not None else context
    task = replace(_task(table, context, chosen, names, test, scanned), device=device)
    with watching(progress, chosen.time_limit) as advance:
        outcome = run_method(chosen.method, replace(task, advance=advance))
    if advance.over and not outcome.complete and outcome.evidence is None:
        outcome = replace(outcome, notes=(*outcome.notes, "the time limit ended the search; nothing is oriented"))
    read = "" if scanned is None else scanned.note(outcome.evidence is not None, chosen.lags is not None)
    notes = (device_note, read)
    outcome = replace(outcome, notes=(*reason, *outcome.notes))
    result = result_of(task, outcome, scanned, tuple(note for note in notes if note))
    if not result.complete and not advance.over:
        raise InterruptedSearch(result)
    return result


def _task(table: Any, context: Any, options: Options, names: Sequence[str] | None, test: IndependenceTest,
          scanned: Scan | None) -> Task:  # fmt: skip
    """What is to be searched: a table in memory, what a scan kept of one, or, with lags, its windows."""
    settings, score, watch = settings_of(options, test.name, context), score_of(options), Watch(nobody)
    if options.lags is not None:
        windows = (read_with_lags(in_memory(table), context, options, names, test) if scanned is None
                   else scanned_with_lags(scanned, context, options, test))  # fmt: skip
        compile_ahead(kinds_for_windows(options.method, windows.data))
        known = None if scanned is None else scanned.statistics
        return windows_task(windows, settings, score, options.threads, watch, known)
    data = read(in_memory(table), context, options, names) if scanned is None else scanned.data
    links = links_without_functions(settings.knowledge.links(data.names), data.contexts)
    if scanned is not None and not scanned.of_rows and options.missing == "raise":
        check_none_missing(scanned.statistics, data, testwise=False)
    # Of all rows in memory there is no rounding of batches.
    known = None if scanned is None or scanned.whole else scanned.statistics
    compile_ahead(kinds_for(options.method, test.name, data))
    tested = options.method != "score-ac"
    data, statistics, prepared = prepare(data, test, options.missing, known, options.threads, tested)
    return Task(prepared, data, statistics, links, settings, score, options.threads, watch,
                Support(data, settings.alpha))  # fmt: skip


def _resolved(options: Options) -> tuple[Options, tuple[str, ...]]:
    """The options with the method that the call itself decides on, if any, and why."""
    if options.method != "auto":
        return options, ()
    choice = choose_by_call(options.named_for_tests)
    return (options, ()) if choice is None else (replace(options, method=choice.method), (choice.reason,))
