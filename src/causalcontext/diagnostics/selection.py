"""Is the context an effect of the system? Then looking at one context alone makes dependences up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.errors import listed
from causalcontext.graphs.endpoints import adjacent, may_cause
from causalcontext.kernels.arrays import Bools
from causalcontext.progress import nobody
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.verdicts import WithinContexts, inside_words, why_inside_only
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.plan import Plan
from causalcontext.search.split import SplitSearch
from causalcontext.views import masked

MOST_NAMED = 3


def selection_bias(result: ContextGraphs) -> Iterator[Finding]:
    """Edges that masking (PC-M) would add, and whether anything can be a cause of the context."""
    yield from _possible_causes(result)
    if result.settings.method != "pc-ac" or result.prepared is None:
        return
    found = np.stack([graph.adjacency for graph in result.graphs.values()])
    inside = np.triu(_masked_edges(result, result.prepared) & ~found)
    for x, y in sorted(zip(*np.nonzero(inside.any(axis=0)), strict=True), key=lambda pair: -inside[:, *pair].sum()):
        yield _only_inside(result, int(x), int(y), np.flatnonzero(inside[:, x, y]).tolist())


def _only_inside(result: ContextGraphs, x: int, y: int, places: list[int]) -> Finding:
    """A pair that looks adjacent inside contexts alone."""
    pair, values = (result.names[x], result.names[y]), tuple(result.contexts[place] for place in places)
    reason = why_inside_only(result)
    message = f"within {_listed(values, result)} alone {pair[0]} and {pair[1]} look adjacent: {inside_words(result)}"
    evidence = {"x": pair[0], "y": pair[1], "context": values[0], "contexts": values}
    if reason is WithinContexts.SELECTION:
        return Finding(reason.value, Severity.NOTE, message, "masking would add this edge", evidence)
    alone = "method='pc-m', which looks at the contexts alone"
    scored = "method='score-ac', which gives every context its own slopes, or " if result.suits_score else ""
    advice = f"compare with {scored}{alone}"
    return Finding(reason.value, Severity.CAUTION, message, advice, evidence)


def _listed(values: tuple[Any, ...], result: ContextGraphs) -> str:
    """Contexts in words."""
    if len(values) == len(result.contexts):
        return "each context"
    return listed(values, MOST_NAMED)


def _possible_causes(result: ContextGraphs) -> Iterator[Finding]:
    if result.settings.method == "pc-m":
        return
    may = may_cause(result.union.endpoints)
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
    found = algorithm_1(SplitSearch(prepared), plan, 1, nobody)
    if not found.complete:
        raise KeyboardInterrupt  # the search has heard it, and nobody can use half of it
    edges = adjacent(found.endpoints)
    edges[:, result.cells.positions], edges[:, :, result.cells.positions] = False, False
    return edges
