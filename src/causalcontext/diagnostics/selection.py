"""Is the context an effect of the system? Then looking at one context alone makes dependences up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.graphs.ends import adjacent, may_cause
from causalcontext.independence.protocol import PreparedTest
from causalcontext.kernels.arrays import Bools
from causalcontext.questions import masked
from causalcontext.results.contexts import ContextGraphs
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.plan import Plan
from causalcontext.search.split import SplitSearch


def selection_bias(result: ContextGraphs) -> Iterator[Finding]:
    """Edges that masking (PC-M) would add, and whether anything can be a cause of the context."""
    yield from _possible_causes(result)
    if result.settings.method != "pc-ac" or result.prepared is None:
        return
    inside = _masked_edges(result, result.prepared)
    for place, value in enumerate(result.contexts):
        for x, y in zip(*np.nonzero(np.triu(inside[place] & ~result.graphs[value].adjacency)), strict=True):
            pair = (result.names[x], result.names[y])
            message = f"within {value} alone {pair[0]} and {pair[1]} look adjacent: selection by {result.context}"
            evidence = {"x": pair[0], "y": pair[1], "context": value}
            yield Finding("selection bias", Severity.NOTE, message, "masking would add this edge", evidence)


def _possible_causes(result: ContextGraphs) -> Iterator[Finding]:
    if result.settings.method == "pc-m":
        return
    may = may_cause(result.union.ends)
    for context in result.cells.positions:
        name = result.names[context]
        causes = [result.names[v] for v in np.flatnonzero(may[:, context])]
        if causes:
            message = f"{', '.join(causes)} may cause {name}, so rows of one context are a selected sample"
        else:
            message = f"nothing is found that could cause {name}: it looks exogenous"
        evidence = {"context variable": name, "possible causes": tuple(causes)}
        yield Finding("selection bias", Severity.NOTE, message, "", evidence)


def _masked_edges(result: ContextGraphs, prepared: PreparedTest) -> Bools:
    """The adjacencies of PC-M, of several context variables inside every combination; shape (contexts, N, N)."""
    settings, variables = result.settings, len(result.names)
    limit = variables if settings.max_given is None else settings.max_given
    links = settings.knowledge.links(result.names)
    plan = Plan(variables, result.cells, masked, tuple(range(len(result.contexts))), links, settings.alpha, limit)
    edges = adjacent(algorithm_1(SplitSearch(prepared), plan, 1, lambda size, done, total: None).ends)
    edges[:, result.cells.positions], edges[:, :, result.cells.positions] = False, False
    return edges
