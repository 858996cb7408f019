"""From a table to one causal graph per context: `discover`, and the four methods of the paper.

PC-AC, PC-M and PC-P are one search (`search.algorithm.algorithm_1`) with another rule for the rows that answer a
question; PC-B combines the last two.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.checks import check_missing_option, check_stock
from causalcontext.data.dataset import Dataset
from causalcontext.data.stock import Stock, drop_empty_levels, take_stock
from causalcontext.data.tables import read_table
from causalcontext.errors import InterruptedSearch, OptionError, check_choice
from causalcontext.graphs.graph import Graph, Mark
from causalcontext.independence.protocol import IndependenceTest, PreparedTest
from causalcontext.independence.registry import find_test
from causalcontext.knowledge import Knowledge, Links
from causalcontext.progress import Advance, progress_bar
from causalcontext.results.contexts import ContextGraphs, DataSummary, Settings
from causalcontext.results.log import Decision, TrialLog
from causalcontext.rules import Rule, adaptive, masked, pooled
from causalcontext.search.algorithm import Found, algorithm_1, unoriented
from causalcontext.search.batches import BatchedSearch
from causalcontext.search.colliders import COLLIDER_RULES
from causalcontext.search.intersection import intersect
from causalcontext.search.levels import LevelSearch
from causalcontext.search.plan import NO_CONTEXT, Plan
from causalcontext.version import __version__


def discover(
    table: Any,
    context: str | None = None,
    *,
    method: str = "pc-ac",
    test: str | IndependenceTest = "auto",
    alpha: float = 0.05,
    knowledge: Knowledge | None = None,
    max_given: int | None = None,
    collider_rule: str = "majority",
    kinds: Mapping[str, str] | None = None,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    progress: bool | Advance = False,
) -> ContextGraphs:
    """One causal graph per value of the context, with the reasons for every missing edge.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or 2-D array with `names`
        One row per observation. System variables must be continuous.
    context : str, optional
        The column that names the context; it may itself be an effect of the system. Without one, plain PC is run and
        its graph is found under the key "all".
    method : {"pc-ac", "pc-m", "pc-p", "pc-b"}
        Adaptive (the paper's method), masked (each context by itself), pooled (all rows), or the intersection of the
        last two.
    test : str or IndependenceTest
        "auto", a name of the registry ("partial-correlation", "fisher-z"), or an object that follows the protocol.
    alpha : float
        Two variables are called independent if the p-value is larger than this.
    knowledge : Knowledge, optional
        Links that are required, forbidden or ordered.
    max_given : int, optional
        The largest conditioning set; no limit by default.
    collider_rule : {"majority", "conservative", "first"}
        How colliders are decided; around the context always conservatively.
    kinds : mapping from column to {"continuous", "categorical"}, optional
        Overrides what the dtypes say.
    missing : {"raise", "listwise"}
        Stop at missing values, or drop the rows that have some.
    names : sequence of str, optional
        Column names of an array.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.
    seed : int
        For tests that draw random numbers; the tests of this version draw none.
    progress : bool or callable
        Show a bar with the time left, or call `progress(size of sets, pairs done, pairs in all)`.

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
    chosen = find_test(test)
    data = read_table(table, context, kinds=kinds, names=names)
    links = _known(knowledge).links(data.names)
    stock = take_stock(data, missing)
    check_stock(stock, data, missing)
    data, stock = drop_empty_levels(data, stock)
    prepared = chosen.prepare(data, stock)
    limit = None if max_given is None else int(max_given)
    settings = Settings(method, chosen.name, float(alpha), collider_rule, limit, missing, int(seed), _known(knowledge),
                        __version__)  # fmt: skip
    with progress_bar(progress) as advance:
        search = Search(prepared, data, links, settings, _jobs(n_jobs), advance)
        outcome = (pc_p if context is None else METHODS[method])(search)
    result = _result(search, stock, outcome)
    if not result.complete:
        raise InterruptedSearch(result)
    return result


@dataclass(frozen=True, eq=False)
class Search:
    """Everything a method needs: a prepared test, what the variables are, what is known, how to search."""

    prepared: PreparedTest
    data: Dataset
    links: Links
    settings: Settings
    n_jobs: int
    advance: Advance

    @property
    def context(self) -> int:
        """The position of the context, or `NO_CONTEXT`."""
        return NO_CONTEXT if self.data.context is None else self.data.context

    def run(self, rule: Rule, levels: Sequence[int]) -> tuple[Found, TrialLog]:
        """Search the graphs of some levels, with a rule for the rows that answer."""
        limit = self.settings.max_given
        variables = len(self.data.names)
        plan = Plan(variables, self.context, rule, tuple(levels), self.links, self.settings.alpha,
                    variables if limit is None else limit)  # fmt: skip
        found = algorithm_1(self._level_search(), plan, self.settings.collider_rule, self.n_jobs, self.advance)
        labels = getattr(self.prepared, "labels", (self.settings.test,))
        return found, TrialLog.from_ledger(plan, found.ledger, len(self.data.levels), labels)

    def _level_search(self) -> LevelSearch:
        """The test itself if it has a compiled level search, else the same search in batches of trials."""
        if hasattr(self.prepared, "search_pairs"):
            return self.prepared  # type: ignore[return-value]
        return BatchedSearch(self.prepared, self.context)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The marks of every context, shape (contexts, N, N), and how they came about."""

    marks: NDArray[np.int8]
    log: TrialLog
    tests: NDArray[np.int64]
    complete: bool


def pc_ac(search: Search) -> Outcome:
    """PC-AC: with the context in its conditioning set a question is asked inside one context, else on all rows."""
    found, log = search.run(adaptive, range(len(search.data.levels)))
    return Outcome(found.marks, log, found.ledger.tests, found.complete)


def pc_m(search: Search) -> Outcome:
    """PC-M: every question is asked inside one context; the context itself stays isolated."""
    found, log = search.run(masked, range(len(search.data.levels)))
    return Outcome(found.marks, log, found.ledger.tests, found.complete)


def pc_p(search: Search) -> Outcome:
    """PC-P: every question is asked on all rows; the same graph for every context."""
    found, log = search.run(pooled, [0])
    marks = np.repeat(found.marks, len(search.data.levels), axis=0)
    return Outcome(marks, log, found.ledger.tests, found.complete)


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


METHODS: dict[str, Callable[[Search], Outcome]] = {"pc-ac": pc_ac, "pc-m": pc_m, "pc-p": pc_p, "pc-b": pc_b}


def _decided_by_pool(inside: TrialLog, everywhere: TrialLog) -> NDArray[np.bool_]:
    """Where PC-P has the say in PC-B: links at the context, edges that only it removes, weaker evidence."""
    removed_inside = inside.decision == Decision.ABSENT
    weaker = ~(inside.p >= everywhere.p)
    removed_by_pool = everywhere.decision == Decision.ABSENT
    at_context = inside.decision == Decision.NOT_SEARCHED
    has_say: NDArray[np.bool_] = at_context | (~removed_inside & (removed_by_pool | (weaker & ~np.isnan(everywhere.p))))
    return has_say


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
        settings=search.settings,
        data=summary,
        log=outcome.log,
        tests_run={"pooled": int(outcome.tests[0]), "within contexts": int(outcome.tests[1])},
        complete=outcome.complete,
        prepared=search.prepared,
    )


def _known(knowledge: Knowledge | None) -> Knowledge:
    if knowledge is None:
        return Knowledge()
    if not isinstance(knowledge, Knowledge):
        raise OptionError(f"knowledge is a {type(knowledge).__name__}, expected a Knowledge object")
    return knowledge


def check_options(method: str, test: str | IndependenceTest, alpha: float, max_given: int | None, collider_rule: str,
                  missing: str, n_jobs: int, seed: int) -> None:  # fmt: skip
    """Return if every option of `discover` means something; to be called before long work."""
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
