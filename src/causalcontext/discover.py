"""From a table to one causal graph per context: `discover`. What is done with the table in between is in `methods`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from causalcontext.data.checks import check_missing_option
from causalcontext.data.dataset import Dataset
from causalcontext.data.determinism import indicators
from causalcontext.data.indicators import Indicator
from causalcontext.data.survey import Survey
from causalcontext.data.tables import read_table
from causalcontext.diagnostics.support import Support
from causalcontext.errors import (
    InterruptedSearch,
    NotYetError,
    OptionError,
    check_choice,
    check_jobs,
    check_level,
    check_whole,
)
from causalcontext.graphs.graph import Graph
from causalcontext.independence.gaussian import moments_of
from causalcontext.independence.preparation import prepare
from causalcontext.independence.protocol import IndependenceTest
from causalcontext.independence.registry import find_test
from causalcontext.knowledge import Knowledge
from causalcontext.methods import METHODS, Outcome, Search, pc_p
from causalcontext.progress import Advance, progress_bar
from causalcontext.results.contexts import ContextGraphs, DataSummary, Settings
from causalcontext.score.options import ScoreOptions
from causalcontext.search.colliders import COLLIDER_RULES
from causalcontext.search.cycles import SCOPES
from causalcontext.several import discover_several
from causalcontext.version import __version__


def discover(
    table: Any,
    context: str | Sequence[str] | Indicator | None = None,
    *,
    method: str = "pc-ac",
    test: str | IndependenceTest = "auto",
    alpha: float = 0.05,
    knowledge: Knowledge | None = None,
    max_given: int | None = None,
    collider_rule: str = "majority",
    masked_scope: str = "adaptive",
    orientation: str = "across",
    kinds: Mapping[str, str] | None = None,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    progress: bool | Advance = False,
    search: str = "order",
    transform: str = "auto",
    starts: int | None = None,
    penalty: float = 2.0,
    time_limit: float | None = None,
) -> ContextGraphs:
    """One causal graph per value of the context, with the reasons for every missing edge.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or 2-D array with `names`
        One row per observation. Columns are continuous, categorical, ordered or counts.
    context : str, sequence of str or Indicator, optional
        The column that names the context; it may itself be an effect of the system. Without one, plain PC is run and
        its graph is found under the key "all". `cc.threshold` and `cc.bins` make a context out of a column.
        With several columns there is one graph for every combination of their values, a tuple, that occurs.
    method : {"pc-ac", "pc-m", "pc-p", "pc-b", "score-ac", "auto"}
        Adaptive (the paper's method), masked (each context by itself), pooled (all rows), or the intersection of the
        last two; the best-scoring model of mechanisms that may differ between contexts; or what suits the data, with
        the reason in the result's `notes`.
    test : str or IndependenceTest
        "auto" picks by the kinds of the columns of every trial; a name of the registry ("partial-correlation",
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
        For "pc-ac": whether the graphs of the contexts orient each other, or each is oriented by itself.
    kinds : mapping from column to {"continuous", "categorical", "ordered", "count"}, optional
        Overrides what the dtypes say.
    missing : {"raise", "listwise", "testwise"}
        Stop at missing values, drop the rows that have some, or use in every test the rows that are complete in its
        columns.
    names : sequence of str, optional
        Column names of an array.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.
    seed : int
        For tests that draw random numbers, and for the random starts of "score-ac".
    progress : bool or callable
        Show a bar with the time left, or call `progress(size of sets, pairs done, pairs in all)`.
    search, transform, starts, penalty, time_limit
        For "score-ac": "exact" finds the optimum of a small problem, "order" climbs from `starts` random orders;
        `transform` may replace columns by normal scores of their ranks ("auto" asks the likelihood); `penalty` 1 is
        the plain BIC; after `time_limit` seconds the best model so far is returned.

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
    check_options(method, test, alpha, max_given, collider_rule, missing, n_jobs, seed)
    check_choice("masked_scope", masked_scope, SCOPES)
    check_choice("orientation", orientation, ORIENTATIONS)
    if missing == "testwise" and method in ("score-ac", "auto"):
        raise OptionError(f"missing is 'testwise', which is for methods that test; {method!r} needs complete rows: "
                          "pass missing='listwise', or method='pc-ac'")  # fmt: skip
    options = ScoreOptions(search, transform, starts, penalty, time_limit)
    chosen = find_test(test, int(seed))
    limit = None if max_given is None else int(max_given)
    settings = Settings(method, chosen.name, float(alpha), collider_rule, limit, missing, int(seed), _known(knowledge),
                        __version__, masked_scope, orientation, _made_from(context),
                        score=asdict(options) if method in ("score-ac", "auto") else {})  # fmt: skip
    if isinstance(context, list | tuple):
        return _finished(discover_several(table, context, settings, chosen, kinds, names, progress))
    data = _read(table, context, method, kinds, names)
    links = settings.knowledge.links(data.names)
    data, survey, prepared = prepare(data, chosen, missing)
    with progress_bar(progress) as advance:
        support = Support(data, float(alpha))
        task = Search(prepared, data, links, settings, _jobs(n_jobs), advance, survey, options, support)
        outcome = (pc_p if context is None and method.startswith("pc") else METHODS[method])(task)
    return _finished(_result(task, survey, outcome))


ORIENTATIONS = ("across", "within")


def _finished(result: ContextGraphs) -> ContextGraphs:
    """The result, unless the search was interrupted."""
    if not result.complete:
        raise InterruptedSearch(result)
    return result


def _result(search: Search, survey: Survey, outcome: Outcome) -> ContextGraphs:
    data = search.data
    kinds = tuple(str(kind.value) for kind in data.kinds)
    summary = DataSummary(tuple(survey.n.tolist()), tuple(survey.lost.tolist()), survey.missing_context, survey.emptied,
                          kinds, survey.fingerprint)  # fmt: skip
    return ContextGraphs(
        names=data.names,
        context=data.context_name,
        contexts=data.levels,
        graphs={value: Graph(data.names, ends) for value, ends in zip(data.levels, outcome.ends, strict=True)},
        settings=replace(search.settings, method=outcome.method or search.settings.method),
        data=summary,
        log=outcome.log,
        tests_run={"pooled": int(outcome.tests[0]), "within contexts": int(outcome.tests[1])},
        complete=outcome.complete,
        origins=dict(outcome.origins),
        doubts=outcome.doubts,
        warnings=_warnings(search),
        evidence=outcome.evidence,
        notes=outcome.notes,
        prepared=search.prepared,
        moments=moments_of(search.prepared),
        rows=data,
    )


def _read(table: Any, context: Any, method: str, kinds: Mapping[str, str] | None,
          names: Sequence[str] | None) -> Dataset:  # fmt: skip
    """The table, with the context that is made out of a column where one is asked for."""
    if not isinstance(context, Indicator):
        return read_table(table, context, kinds=kinds, names=names)
    if method != "pc-ac":
        raise NotYetError(f"not yet: a context made out of a column needs method 'pc-ac', got {method!r}")
    return context.applied(read_table(table, None, kinds=kinds, names=names))


def _warnings(search: Search) -> tuple[str, ...]:
    """What must be said with every result: rows that tests left out, and a context that is a function of a column."""
    return (*_missing_warning(search), *_determinism_warning(search))


def _missing_warning(search: Search) -> tuple[str, ...]:
    if search.settings.missing != "testwise" or not search.survey.missing.any():
        return ()
    return ("every test uses the rows that are complete in its own columns, so tests rest on different rows (see n in "
            "tests()); leaving rows out is itself a selection, which can make edges or hide them if it depends on the "
            "values",)  # fmt: skip


def _determinism_warning(search: Search) -> tuple[str, ...]:
    if search.settings.indicator is not None:
        return ()
    return tuple(
        f"{search.data.context_name} is a function of {found.column} without exception; if it was made out of "
        f"{found.column}, declare it: {found.call()}"
        for found in indicators(search.data)
    )


def _made_from(context: object) -> str | None:
    return context.column if isinstance(context, Indicator) else None


def _known(knowledge: Knowledge | None) -> Knowledge:
    if knowledge is None:
        return Knowledge()
    if not isinstance(knowledge, Knowledge):
        raise OptionError(f"knowledge is a {type(knowledge).__name__}, expected a Knowledge object")
    return knowledge


def check_options(method: str, test: str | IndependenceTest, alpha: float, max_given: int | None, collider_rule: str,
                  missing: str, n_jobs: int, seed: int, **score: Any) -> None:  # fmt: skip
    """Return if every option of `discover` means something; to be called before long work."""
    ScoreOptions(**score)
    check_choice("method", method, METHODS)
    check_choice("collider_rule", collider_rule, COLLIDER_RULES)
    check_missing_option(missing)
    find_test(test)
    check_level("alpha", alpha)
    if max_given is not None:
        check_whole("max_given", max_given, 0, ", or None for no limit")
    check_whole("seed", seed)
    check_jobs(n_jobs)


def _jobs(n_jobs: int) -> int:
    """The number of threads that is meant."""
    return (os.cpu_count() or 1) if n_jobs == -1 else int(n_jobs)
