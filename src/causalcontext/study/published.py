"""The data and the methods behind the paper's published figures, faults included; for replication only.

The authors' scripts differ from the paper's text. Their first pass starts at the noises and adds the links of one
context after the other to the same values, so that the context depends on mechanisms of all contexts; then it is cut
into levels. Their second pass starts at the noises again and adds the links of the row's own context. So the context
is no function of its final parents, and "false" positives at it are true dependences. Both passes walk context r in
the causal order of context r - 1, the first one in that of the base graph.

The methods use `regression-legacy`, one separate run per context. Links at the context may then differ between
contexts, and PC-B intersects PC-AC (not PC-M) with PC-P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.ci_tests.regression_legacy import RegressionLegacy
from causalcontext.data.dataset import Dataset
from causalcontext.data.frames import frame_of
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.graphs.union import union_endpoints
from causalcontext.methods.pc import intersect
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.batches import BatchedSearch
from causalcontext.search.plan import Plan
from causalcontext.simulate.linear import ContextSCM, add_effects, cut_at_quantiles
from causalcontext.simulate.random_graphs import ModelDesign, random_family
from causalcontext.study.task import EstimatedEndpoints, StudyTask
from causalcontext.views import ViewRule, adaptive, masked, pooled

if TYPE_CHECKING:
    import pandas as pd


ADDED_COEFFICIENTS = (-0.5, -0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4)
"""Coefficients of added links. The scripts may draw 0 too, a link without effect; such draws are left out here."""


@dataclass(frozen=True, eq=False)
class LegacySCM(ContextSCM):
    """A random model whose tables are drawn as the authors' scripts draw them; its graphs are as they claim."""

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of `n` rows; the context's column holds the integers 0 .. contexts - 1."""
        if n < self.contexts:
            raise OptionError(f"n is {n}; a table with {self.contexts} contexts needs at least as many rows")
        noise = self.noise(np.random.default_rng(seed), (len(self.names), n))
        orders = (self.base_order, *self.orders)
        accumulated = noise.copy()
        for level in range(self.contexts):
            add_effects(accumulated, self.coefficients[level], orders[level])
        levels = cut_at_quantiles(accumulated[self.context], self.contexts, self.balance)
        for level in range(self.contexts):
            rows = np.flatnonzero(levels == level)
            block = noise[:, rows]
            add_effects(block, self.coefficients[level], orders[level])
            noise[:, rows] = block
        columns = {name: noise[node] for node, name in enumerate(self.names)}
        return frame_of(columns | {self.context_name: levels})


def random_legacy_model(
    nodes: int = 8, density: float = 0.4, *, seed: int | np.random.Generator, balance: float = 1.0, **design: Any
) -> LegacySCM:
    """A random model as in the published study; the arguments are those of `random_model`."""
    made = ModelDesign(nodes, density, **design, added_coefficients=ADDED_COEFFICIENTS)
    family = random_family(made, np.random.default_rng(seed))
    names = tuple("R" if node == family.context else f"X{node}" for node in range(nodes))
    return LegacySCM(names, family.context, family.coefficients, family.order, balance=balance, context_noise=1.0,
                     rejections=family.rejections)  # fmt: skip


def published(method: str, task: StudyTask) -> EstimatedEndpoints:
    """PC-AC and PC-M with one run per context; PC-P on all rows; PC-B: the edges that PC-AC and PC-P share.

    Links at the context of PC-B are those of PC-P.
    """
    if method == "pc-p":
        return EstimatedEndpoints(None, _run(task, pooled, 0)[None])
    rule = masked if method == "pc-m" else adaptive
    contexts = np.stack([_run(task, rule, level) for level in range(len(_prepared(task)[0].contexts.cells))])
    if method == "pc-b":
        contexts = intersect(contexts, _run(task, pooled, 0), [list(task.table.columns).index(task.context)])
    return EstimatedEndpoints(contexts, union_endpoints(contexts)[None])


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
