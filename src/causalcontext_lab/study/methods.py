"""The methods of a study, by name: our own, causal-learn's, and the published ones; what they are
told and hand back.

FCI-JCI0 and CD-NOD on all rows, for union graphs, are causal-learn's searches (extra `compare`)
with our tests. Both have no way to use link assumptions while they search, so they are run without
knowledge, as in the paper.

The published methods, faults included, are for replication only: `regression-legacy`, one separate
run per context. Links at the context may then differ between contexts, and PC-B intersects PC-AC
(not PC-M) with PC-P.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from typing import Any, Literal

import numpy as np
import pandas as pd

from causalcontext import Knowledge, discover
from causalcontext.ci_tests.protocol import (
    Declared,
    IndependenceTest,
    PreparedTest,
    declared_traits,
    prepared_test,
)
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics, gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind
from causalcontext.graphs.graph import union_endpoints
from causalcontext.methods.pc_b import intersect
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.batched_search import BatchedSearch, RememberedAnswers
from causalcontext.search.plan import Plan
from causalcontext.views import CIQuery, Outcomes, ViewRule, adaptive, masked, pooled
from causalcontext_lab.arrays import Bools, Floats, Ints
from causalcontext_lab.simulate.hidden import HiddenVariables
from causalcontext_lab.simulate.linear import ContextSCM


@dataclass(frozen=True, eq=False)
class StudyTask:
    """A table, its context, what is known about links, and how to test.

    `memory` is shared by all tasks on the same table, for what need not be computed twice.
    """

    table: pd.DataFrame
    context: str
    knowledge: Knowledge
    test: str
    alpha: float
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class EstimatedEndpoints:
    """Found ends in the order of the table's columns."""

    contexts: Endpoints | None  # shape (contexts, N, N): None for methods that find the union alone
    union: Endpoints  # shape (1, N, N)
    # how many tests were run on which rows, where the method counts them
    tests: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Remembering:
    """The test `inner`, prepared once for every table; methods that ask after another one are
    answered from memory.
    """

    inner: IndependenceTest
    prepared: dict[str, PreparedRemembering] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the test is called."""
        return self.inner.name

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedRemembering:
        """The test for this table, with what it has answered."""
        if statistics.fingerprint not in self.prepared:
            self.prepared[statistics.fingerprint] = PreparedRemembering(
                prepared_test(self.inner, data, statistics)
            )
        return self.prepared[statistics.fingerprint]


class PreparedRemembering(Declared):
    """A prepared test and its answers; trials that never reach `answer` because they are compiled
    are not kept.
    """

    def __init__(self, inner: PreparedTest) -> None:
        self._answers = RememberedAnswers(inner)
        self.labels = inner.labels
        self.gaussian = inner.gaussian
        self.tables = inner.tables
        self.compiled_roles = inner.compiled_roles

    def answer(self, trials: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every trial, in order."""
        self._answers.run(trials)
        found = np.array([self._answers.of(trial) for trial in trials], dtype=np.float64).reshape(
            -1, 6
        )
        p, statistic, df, n, reason, label = found.T
        return Outcomes(
            statistic, df, p, n.astype(np.int64), reason.astype(np.int8), label.astype(np.int8)
        )


TEST_NAME = "causalcontext"
ARROW = 1
"""How causal-learn codes the ends of an edge: `endpoints[j, i]` is the end at j of the edge between
i and j.
"""


def cd_nod(task: StudyTask) -> EstimatedEndpoints:
    """CD-NOD, which takes the context to be exogenous."""
    from causallearn.search.ConstraintBased.CDNOD import cdnod

    def search(values: Floats) -> Ints:
        found = cdnod(
            values[:, :-1],
            values[:, -1:],
            task.alpha,
            TEST_NAME,
            show_progress=False,
            verbose=False,
        )
        return np.asarray(found.G.graph)

    return _union(task, search)


def fci_p(task: StudyTask) -> EstimatedEndpoints:
    """FCI on all rows, the context a variable like any other; its PAG, end by end."""
    return EstimatedEndpoints(None, fci_pag(task)[None])


def fci_m(task: StudyTask) -> EstimatedEndpoints:
    """FCI inside every context, which has no links then; PAGs, end by end."""
    contexts = np.stack(
        [fci_pag(task, level) for level in range(task.table[task.context].nunique())]
    )
    return EstimatedEndpoints(contexts, union_endpoints(contexts, GraphKind.PAG)[None])


def fci_pag(task: StudyTask, level: int | None = None) -> Endpoints:
    """The PAG of FCI on all rows, or on those of one context, where the context has no links; shape
    (N, N).
    """
    # Unlike in FCI-JCI0, every end is kept as it is: here variables may be hidden.
    columns = [name for name in task.table.columns if level is None or name != task.context]
    codes = _searched(task, columns, 0 if level is None else 1 + level, _fci(task))
    known = {0: Endpoint.NONE, -1: Endpoint.TAIL, ARROW: Endpoint.ARROW, 2: Endpoint.CIRCLE}
    chosen = [list(task.table.columns).index(name) for name in columns]
    endpoints = np.zeros((task.table.shape[1],) * 2, dtype=np.int8)
    endpoints[np.ix_(chosen, chosen)] = np.vectorize(known.get, otypes=[np.int8])(codes.T)
    return endpoints


def _fci(task: StudyTask) -> Callable[[Floats], Ints]:
    from causallearn.search.ConstraintBased.FCI import fci

    return lambda values: np.asarray(
        fci(values, TEST_NAME, task.alpha, show_progress=False, verbose=False)[0].graph
    )


def _union(task: StudyTask, search: Callable[[Floats], Ints]) -> EstimatedEndpoints:
    """The union found by a search that wants the context as the last column."""
    # What is no arrow is a tail beside an arrow, else a circle.
    if task.knowledge.names:
        raise OptionError(
            "FCI-JCI0 and CD-NOD cannot be told about links; ask for knowledge 'none'"
        )
    order = [name for name in task.table.columns if name != task.context] + [task.context]
    codes = _searched(task, order, 0, search)
    ends = [Endpoint.NONE, Endpoint.ARROW, Endpoint.TAIL]
    endpoints = np.select(
        [codes == 0, codes.T == ARROW, codes == ARROW], ends, default=Endpoint.CIRCLE
    ).astype(np.int8)
    back = [order.index(name) for name in task.table.columns]
    return EstimatedEndpoints(None, endpoints[np.ix_(back, back)][None])


def _searched(
    task: StudyTask, columns: Sequence[str], view: int, search: Callable[[Floats], Ints]
) -> Ints:
    """What a search of causal-learn finds on some columns, with our test on the rows of a view."""
    from causallearn.utils.cit import CIT_Base, register_ci_test

    data = read_table(task.table, task.context)
    prepared = find_test(task.test).prepare(data, gather_statistics(data, "raise"))
    places = [data.names.index(name) for name in columns]

    class PreparedCIT(CIT_Base):  # type: ignore[misc]
        """A test that has seen the table already."""

        method = TEST_NAME

        def __call__(self, x: Any, y: Any, condition_set: Iterable[int] | None = None) -> float:
            x, y, *given = (places[int(place)] for place in (x, y, *(condition_set or ())))
            p = float(prepared.answer([CIQuery(x, y, tuple(sorted(given)), view)]).p[0])
            return 0.0 if np.isnan(p) else p

    register_ci_test(TEST_NAME, PreparedCIT)
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        # causal-learn talks, asked or not
        return search(task.table[list(columns)].to_numpy(dtype=np.float64))


def published(method: str, task: StudyTask) -> EstimatedEndpoints:
    """PC-AC and PC-M with one run per context; PC-P on all rows; PC-B: the edges that PC-AC and
    PC-P share.
    """
    # Links at the context of PC-B are those of PC-P.
    if method == "pc-p":
        return EstimatedEndpoints(None, _run(task, pooled, 0)[None])
    rule = masked if method == "pc-m" else adaptive
    contexts = np.stack(
        [_run(task, rule, level) for level in range(len(_prepared(task)[0].contexts.cells))]
    )
    if method == "pc-b":
        contexts = intersect(
            contexts, _run(task, pooled, 0), [list(task.table.columns).index(task.context)]
        )
    return EstimatedEndpoints(contexts, union_endpoints(contexts)[None])


def _run(task: StudyTask, rule: ViewRule, level: int) -> Endpoints:
    data, search = _prepared(task)
    links = task.knowledge.links(data.names)
    variables = len(data.names)
    plan = Plan(variables, data.contexts, rule, (level,), links, task.alpha, variables)
    return np.asarray(algorithm_1(search, plan, 1, lambda size, done, total: None).endpoints[0])


def _prepared(task: StudyTask) -> tuple[Dataset, BatchedSearch]:
    """The table, and a search that remembers every answer: the methods ask many questions in
    common.
    """
    if "published" not in task.memory:
        data = read_table(task.table, task.context)
        prepared = find_test("regression-legacy").prepare(data, gather_statistics(data, "raise"))
        task.memory["published"] = data, BatchedSearch(prepared)
    found: tuple[Dataset, BatchedSearch] = task.memory["published"]
    return found


StudyMethod = Callable[[StudyTask], EstimatedEndpoints]


def search_with(method: str, task: StudyTask) -> EstimatedEndpoints:
    """What `discover` finds; of PC-P the union alone counts, since it has the same graph for every
    context.
    """
    # Numbers of tests are kept of methods that test: none is not the same as zero.
    test: str | Remembering = "auto" if method in WITHOUT_TESTS else task.test
    if method not in WITHOUT_TESTS and _is_slow(find_test(task.test)):
        test = task.memory.setdefault("test", Remembering(find_test(task.test)))
    options: dict[str, Any] = {"alpha": task.alpha}
    if method not in WITHOUT_TESTS:
        options["test"] = test
    result = discover(task.table, task.context, method=method, knowledge=task.knowledge, **options)
    contexts = (
        None
        if method == "pc-p"
        else np.stack([graph.endpoints for graph in result.graphs.values()])
    )
    tests = {} if method in WITHOUT_TESTS else result.tests_run
    return EstimatedEndpoints(contexts, result.union.endpoints[None], tests)


def _is_slow(test: IndependenceTest) -> bool:
    """True if a test permutes rows, as one without a model does: several methods ask it once."""
    members = getattr(test, "members", (test,))
    return any("model_free" in declared_traits(member) for member in members)


METHODS: Mapping[str, StudyMethod] = {
    **{
        name: partial(search_with, name)
        for name in ("pc-ac", "pc-m", "pc-b", "pc-p", "fci-ac", "score-ac")
    },
    # FCI-JCI0: `o->` is an arrow, since nothing is hidden there
    "fci": lambda task: _union(task, _fci(task)),
    "fci-p": fci_p,
    "fci-m": fci_m,
    "cd-nod": cd_nod,
    **{f"published {name}": partial(published, name) for name in ("pc-ac", "pc-m", "pc-b", "pc-p")},
}
"""A new method is one function and one line here."""

WITHOUT_KNOWLEDGE = ("fci", "fci-p", "fci-m", "cd-nod")
"""Methods that cannot be told about links; they run once per table, without knowledge."""
WITHOUT_TESTS = ("score-ac",)


def told_links(
    kind: str, model: ContextSCM | HiddenVariables, others: Literal["absent", "unknown"]
) -> tuple[Knowledge, Bools]:
    """What a method is told about links at the context, and the pairs that the metrics leave out
    for it.
    """
    # That is nothing, the children of the context, or all its links; then `others` says whether the
    # pairs that are not named are told to be absent, or still tested (as published).
    told = np.zeros((len(model.names),) * 2, dtype=np.bool_)
    if kind == "none" or isinstance(model, HiddenVariables):
        return Knowledge(), told
    context = model.context
    links = model.adjacency[0]
    children = [model.names[node] for node in np.flatnonzero(links[context])]
    told[context, links[context]] = True
    if kind == "r-children":
        return Knowledge.context_children(model.context_name, children), told | told.T
    told[context] = True
    told[context, context] = False
    parents = [model.names[node] for node in np.flatnonzero(links[:, context])]
    return (
        Knowledge.context_neighbours(model.context_name, parents, children, others=others),
        told | told.T,
    )
