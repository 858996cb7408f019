"""The methods as the published figures were made with: `regression-legacy`, one separate run per context.

Links at the context may then differ between contexts, and PC-B intersects PC-AC (not PC-M) with PC-P.
"""

from __future__ import annotations

import numpy as np

from causalcontext.ci_tests.regression_legacy import RegressionLegacy
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.graphs.union import union_endpoints
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.batches import BatchedSearch
from causalcontext.search.intersection import intersect
from causalcontext.search.plan import Plan
from causalcontext.study.estimate import EstimatedEndpoints, StudyTask
from causalcontext.views import ViewRule, adaptive, masked, pooled


def published_pc_ac(task: StudyTask) -> EstimatedEndpoints:
    """PC-AC, one run per context."""
    return _estimate(_by_context(task, adaptive))


def published_pc_m(task: StudyTask) -> EstimatedEndpoints:
    """PC-M, one run per context."""
    return _estimate(_by_context(task, masked))


def published_pc_p(task: StudyTask) -> EstimatedEndpoints:
    """PC-P on all rows."""
    return EstimatedEndpoints(None, _run(task, pooled, 0)[None])


def published_pc_b(task: StudyTask) -> EstimatedEndpoints:
    """The edges that PC-AC and PC-P share; links at the context are those of PC-P."""
    return _estimate(intersect(_by_context(task, adaptive), _run(task, pooled, 0), [task.position]))


def _by_context(task: StudyTask, rule: ViewRule) -> Endpoints:
    return np.stack([_run(task, rule, level) for level in range(len(_prepared(task)[0].contexts.cells))])


def _run(task: StudyTask, rule: ViewRule, level: int) -> Endpoints:
    data, search = _prepared(task)
    variables = len(data.names)
    links = task.knowledge.links(data.names)
    plan = Plan(variables, data.contexts, rule, (level,), links, task.alpha, variables)
    found = algorithm_1(search, plan, 1, lambda size, done, total: None)
    return np.asarray(found.endpoints[0])


def _prepared(task: StudyTask) -> tuple[Dataset, BatchedSearch]:
    """The table, and a search that remembers every answer: the methods ask many questions in common."""
    if "published" not in task.memory:
        data = read_table(task.table, task.context)
        prepared = RegressionLegacy().prepare(data, gather_statistics(data, "raise"))
        task.memory["published"] = data, BatchedSearch(prepared)
    found: tuple[Dataset, BatchedSearch] = task.memory["published"]
    return found


def _estimate(contexts: Endpoints) -> EstimatedEndpoints:
    return EstimatedEndpoints(contexts, union_endpoints(contexts)[None])
