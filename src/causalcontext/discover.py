"""From a table to one causal graph per context: `discover`, and the four methods of the paper.

PC-AC, PC-M and PC-P are one search (`search.algorithm.algorithm_1`) with another rule for the rows that answer a
question; PC-B combines the last two.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.checks import check_missing_option
from causalcontext.data.dataset import Dataset
from causalcontext.data.determinism import indicators
from causalcontext.data.indicators import Indicator
from causalcontext.data.stock import Stock
from causalcontext.data.tables import read_table
from causalcontext.errors import InterruptedSearch, NotYetError, OptionError, check_choice
from causalcontext.graphs.graph import Graph, Mark
from causalcontext.independence.gaussian import moments_of
from causalcontext.independence.protocol import IndependenceTest, PreparedTest
from causalcontext.independence.registry import find_test
from causalcontext.knowledge import Knowledge, Links
from causalcontext.preparing import prepare
from causalcontext.progress import Advance, progress_bar
from causalcontext.results.contexts import ContextGraphs, DataSummary, Settings
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import Decision, TrialLog
from causalcontext.rules import Rule, adaptive, masked, pooled
from causalcontext.score.choice import choose_by_residuals, choose_by_table
from causalcontext.score.engine import ScoreOutcome, run_score
from causalcontext.score.options import ScoreOptions
from causalcontext.search.algorithm import Found, algorithm_1, unoriented
from causalcontext.search.colliders import COLLIDER_RULES
from causalcontext.search.cycles import SCOPES
from causalcontext.search.family import Doubt, Origin
from causalcontext.search.indicator import search_with_indicator
from causalcontext.search.intersection import intersect
from causalcontext.search.ledger import Ledger
from causalcontext.search.plan import NO_CONTEXT, Physical, Plan
from causalcontext.search.split import level_search
from causalcontext.several import discover_several
from causalcontext.support import Support
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
    data, stock, prepared = prepare(data, chosen, missing)
    with progress_bar(progress) as advance:
        support = Support(data, float(alpha))
        task = Search(prepared, data, links, settings, _jobs(n_jobs), advance, stock, options, support)
        outcome = (pc_p if context is None and method.startswith("pc") else METHODS[method])(task)
    return _finished(_result(task, stock, outcome))


@dataclass(frozen=True, eq=False)
class Search:
    """Everything a method needs: a prepared test, what the variables are, what is known, how to search."""

    prepared: PreparedTest
    data: Dataset
    links: Links
    settings: Settings
    n_jobs: int
    advance: Advance
    stock: Stock
    score: ScoreOptions
    support: Support | None = None

    @property
    def context(self) -> int:
        """The position of the context, or `NO_CONTEXT`."""
        return NO_CONTEXT if self.data.context is None else self.data.context

    def run(self, rule: Rule, levels: Sequence[int], masked_scope: str = "adaptive",
            across: Callable[[Ledger], Physical] | None = None) -> tuple[Found, TrialLog]:  # fmt: skip
        """Search the graphs of some levels, with a rule for the rows that answer."""
        plan = self.plan(rule, levels, masked_scope, across)
        tests = level_search(self.prepared, self.context, self.n_jobs)
        found = algorithm_1(tests, plan, self.settings.collider_rule, self.n_jobs, self.advance)
        return found, TrialLog.from_ledger(plan, found.ledger, len(self.data.levels), self.labels)

    def plan(self, rule: Rule, levels: Sequence[int], masked_scope: str = "adaptive",
             across: Callable[[Ledger], Physical] | None = None) -> Plan:  # fmt: skip
        """What to search for, by the settings."""
        limit, variables = self.settings.max_given, len(self.data.names)
        return Plan(variables, self.context, rule, tuple(levels), self.links, self.settings.alpha,
                    variables if limit is None else limit, masked_scope, across)  # fmt: skip

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the tests that the prepared test runs."""
        names: tuple[str, ...] = getattr(self.prepared, "labels", (self.settings.test,))
        return names

    def physical(self, ledger: Ledger) -> Physical:
        """Whether a missing edge is a change of mechanism: asked of the rows, given what separated the pair."""

        def answer(x: int, y: int, present: int, absent: int) -> bool:
            given = ledger.separating_set(absent, x, y, NO_CONTEXT)
            system = [z for z in given or () if z not in (NO_CONTEXT, self.context)]
            return self.support is None or self.support.trusted(x, y, system, present, absent)

        return answer


@dataclass(frozen=True, eq=False)
class Outcome:
    """The marks of every context, shape (contexts, N, N), and how they came about."""

    marks: NDArray[np.int8]
    log: TrialLog
    tests: NDArray[np.int64]
    complete: bool
    origins: Mapping[tuple[int, int, int], Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    evidence: ScoreEvidence | None = None
    notes: tuple[str, ...] = ()
    method: str | None = None


def pc_ac(search: Search) -> Outcome:
    """PC-AC: with the context in its conditioning set a question is asked inside one context, else on all rows."""
    if search.settings.indicator is not None:
        return _pc_ac_with_indicator(search)
    across = search.physical if search.settings.orientation == "across" else None
    found, log = search.run(adaptive, range(len(search.data.levels)), search.settings.masked_scope, across)
    return Outcome(found.marks, log, found.ledger.tests, found.complete, found.origins, found.doubts)


def _pc_ac_with_indicator(search: Search) -> Outcome:
    """PC-AC where the context is a function of a column: questions given that column are asked inside one step."""
    source = search.data.position(str(search.settings.indicator))
    plan = search.plan(adaptive, range(len(search.data.levels)))
    found, inside = search_with_indicator(search.prepared, plan, source, search.settings.collider_rule, search.n_jobs,
                                          search.advance)  # fmt: skip
    log = TrialLog.from_ledger(inside, found.ledger, len(search.data.levels), search.labels)
    return Outcome(found.marks, log.not_searched(search.context), found.ledger.tests, found.complete, found.origins,
                   found.doubts)  # fmt: skip


def pc_m(search: Search) -> Outcome:
    """PC-M: every question is asked inside one context; the context itself stays isolated."""
    found, log = search.run(masked, range(len(search.data.levels)))
    return Outcome(found.marks, log, found.ledger.tests, found.complete, found.origins)


def pc_p(search: Search) -> Outcome:
    """PC-P: every question is asked on all rows; the same graph for every context."""
    found, log = search.run(pooled, [0])
    levels = range(len(search.data.levels))
    marks = np.repeat(found.marks, len(levels), axis=0)
    origins = {(level, a, b): origin for (_, a, b), origin in found.origins.items() for level in levels}
    return Outcome(marks, log, found.ledger.tests, found.complete, origins)


def pc_b(search: Search) -> Outcome:
    """PC-B: the edges that PC-M and PC-P share, and the links at the context of PC-P."""
    everywhere = pc_p(search)
    if not everywhere.complete:
        return everywhere
    inside = pc_m(search)
    pooled_marks = everywhere.marks[0] if inside.complete else unoriented(everywhere.marks[0] != Mark.ABSENT)
    marks = intersect(inside.marks, pooled_marks, search.context)
    log = inside.log.combined(everywhere.log, _decided_by_pool(inside.log, everywhere.log))
    return Outcome(marks, log, inside.tests + everywhere.tests, inside.complete)


ORIENTATIONS = ("across", "within")


def score_ac(search: Search) -> Outcome:
    """score-ac: the best-scoring model; mechanisms and their parents may differ between blocks of contexts."""
    return _from_scores(search, _scored(search))


def auto(search: Search) -> Outcome:
    """What suits the data: score-ac, unless it does not apply or its residuals say that its model is wrong."""
    choice = choose_by_table(search.data)
    if choice is None:
        scored = _scored(search)
        choice = choose_by_residuals(scored.findings, len(search.data.system))
        if choice.method == "score-ac":
            outcome = _from_scores(search, scored)
            return replace(outcome, method=choice.method, notes=(choice.reason, *outcome.notes))
    outcome = (pc_p if search.data.context is None else pc_ac)(search)
    return replace(outcome, method=choice.method, notes=(choice.reason, *outcome.notes))


def _scored(search: Search) -> ScoreOutcome:
    return run_score(search.data, search.stock, search.links, search.score, search.settings.seed, search.n_jobs,
                     search.advance)  # fmt: skip


def _from_scores(search: Search, scored: ScoreOutcome) -> Outcome:
    log = TrialLog.empty(len(search.data.levels), len(search.data.names))
    tests = np.zeros(2, dtype=np.int64)
    return Outcome(scored.marks, log, tests, not scored.interrupted, evidence=scored.evidence, notes=scored.notes)


METHODS: dict[str, Callable[[Search], Outcome]] = {
    "pc-ac": pc_ac, "pc-m": pc_m, "pc-p": pc_p, "pc-b": pc_b, "score-ac": score_ac, "auto": auto,
}  # fmt: skip


def _decided_by_pool(inside: TrialLog, everywhere: TrialLog) -> NDArray[np.bool_]:
    """Where PC-P has the say in PC-B: links at the context, edges that only it removes, weaker evidence."""
    removed_inside = inside.decision == Decision.ABSENT
    weaker = ~(inside.p >= everywhere.p)
    removed_by_pool = everywhere.decision == Decision.ABSENT
    at_context = inside.decision == Decision.NOT_SEARCHED
    has_say: NDArray[np.bool_] = at_context | (~removed_inside & (removed_by_pool | (weaker & ~np.isnan(everywhere.p))))
    return has_say


def _finished(result: ContextGraphs) -> ContextGraphs:
    """The result, unless the search was interrupted."""
    if not result.complete:
        raise InterruptedSearch(result)
    return result


def _result(search: Search, stock: Stock, outcome: Outcome) -> ContextGraphs:
    data = search.data
    kinds = tuple(str(kind.value) for kind in data.kinds)
    summary = DataSummary(tuple(stock.n.tolist()), tuple(stock.lost.tolist()), stock.missing_context, stock.emptied,
                          kinds, stock.fingerprint)  # fmt: skip
    return ContextGraphs(
        names=data.names,
        context=data.context_name,
        contexts=data.levels,
        graphs={value: Graph(data.names, marks) for value, marks in zip(data.levels, outcome.marks, strict=True)},
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
    if search.settings.missing != "testwise" or not search.stock.missing.any():
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
    if not isinstance(alpha, int | float | np.floating) or not 0.0 < alpha < 1.0:
        raise OptionError(f"alpha is {alpha!r}, expected a number between 0 and 1")
    if max_given is not None and (not _whole(max_given) or max_given < 0):
        raise OptionError(f"max_given is {max_given!r}, expected a whole number from 0, or None for no limit")
    if not _whole(seed):
        raise OptionError(f"seed is {seed!r}, expected a whole number")
    if not _whole(n_jobs) or n_jobs == 0 or n_jobs < -1:
        raise OptionError(f"n_jobs is {n_jobs!r}, expected a whole number from 1, or -1 for all cores")


def _jobs(n_jobs: int) -> int:
    """The number of threads that is meant."""
    return (os.cpu_count() or 1) if n_jobs == -1 else int(n_jobs)


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
