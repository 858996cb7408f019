"""The methods as the published figures were made with: `regression-legacy`, one separate run per context.

Links at the context may then differ between contexts, and PC-B intersects PC-AC (not PC-M) with PC-P.
"""

from __future__ import annotations

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.stock import take_stock
from causalcontext.data.tables import read_table
from causalcontext.independence.regression_legacy import PreparedLegacy, RegressionLegacy
from causalcontext.knowledge import Links
from causalcontext.rules import Rule, adaptive, masked, pooled
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.batches import BatchedSearch
from causalcontext.search.intersection import intersect
from causalcontext.search.plan import Plan
from causalcontext.study.estimate import Estimate, Task
from causalcontext.study.metrics import Marks, union_marks


def published_pc_ac(task: Task) -> Estimate:
    """PC-AC, one run per context."""
    return _estimate(_by_context(*_prepared(task), task, adaptive))


def published_pc_m(task: Task) -> Estimate:
    """PC-M, one run per context."""
    return _estimate(_by_context(*_prepared(task), task, masked))


def published_pc_p(task: Task) -> Estimate:
    """PC-P on all rows."""
    data, prepared = _prepared(task)
    marks = _run(data, prepared, task, pooled, 0)
    return Estimate(None, marks[None])


def published_pc_b(task: Task) -> Estimate:
    """The edges that PC-AC and PC-P share; links at the context are those of PC-P."""
    data, prepared = _prepared(task)
    everywhere = _run(data, prepared, task, pooled, 0)
    return _estimate(intersect(_by_context(data, prepared, task, adaptive), everywhere, task.position))


def _prepared(task: Task) -> tuple[Dataset, PreparedLegacy]:
    data = read_table(task.table, task.context)
    return data, RegressionLegacy().prepare(data, take_stock(data, "raise"))


def _by_context(data: Dataset, prepared: PreparedLegacy, task: Task, rule: Rule) -> Marks:
    return np.stack([_run(data, prepared, task, rule, level) for level in range(len(data.levels))])


def _run(data: Dataset, prepared: PreparedLegacy, task: Task, rule: Rule, level: int) -> Marks:
    links: Links = task.knowledge.links(data.names)
    variables = len(data.names)
    plan = Plan(variables, task.position, rule, (level,), links, task.alpha, variables)
    search = BatchedSearch(prepared, task.position)
    found = algorithm_1(search, plan, "majority", 1, lambda size, done, total: None)
    return np.asarray(found.marks[0])


def _estimate(contexts: Marks) -> Estimate:
    return Estimate(contexts, union_marks(contexts))
