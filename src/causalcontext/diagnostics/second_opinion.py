"""What the other engine finds in the same rows: score-ac about a result of tests, pc-ac about a result of scores.

The two err in different ways: tests lack power in small contexts, and a score picks the best of wrong models. What
both find is hardly ever false (docs/decisions/claims-of-change.md).
"""

from __future__ import annotations

from dataclasses import asdict, replace

from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.diagnostics.support import Support
from causalcontext.errors import CausalContextError
from causalcontext.graphs.endpoints import GraphKind
from causalcontext.graphs.graph import Graph
from causalcontext.methods.registry import run_method
from causalcontext.methods.task import Task
from causalcontext.progress import Watch, nobody
from causalcontext.results.contexts import ContextGraphs
from causalcontext.score.options import ScoreOptions

MOST_VARIABLES = 60
"""Beyond so many a second search would take longer than a question should."""
TIME_LIMIT = 60.0
"""Seconds for a second search."""


def second_opinion(result: ContextGraphs) -> ContextGraphs | str:
    """The result of the other engine, or why there is none."""
    other = "score-ac" if result.evidence is None else "pc-ac"
    if result.rows is None or result.prepared is None:
        return "a result without rows cannot be compared with another engine"
    if not result.complete:
        return f"{other} was not asked: the search was cut short"
    if len(result.cells.positions) != 1 or result.cells.source is not None or result.union.kind is not GraphKind.CPDAG:
        return f"{other} cannot be asked about such a context or graph"
    if result.settings.missing == "testwise" or len(result.names) > MOST_VARIABLES:
        return f"{other} was not asked: too many variables, or incomplete rows"
    try:
        return _run(result, other)
    except CausalContextError as error:
        return f"{other} cannot be asked: {error}"


def _run(result: ContextGraphs, other: str) -> ContextGraphs | str:
    rows, prepared, settings = result.rows, result.prepared, replace(result.settings, method=other)
    assert rows is not None
    assert prepared is not None
    links = settings.knowledge.links(result.names)
    options = ScoreOptions(transform="none", time_limit=TIME_LIMIT)
    watch = Watch(nobody, TIME_LIMIT)
    task = Task(
        prepared,
        rows,
        gather_statistics(rows, settings.missing),
        links,
        settings,
        options,
        1,
        watch,
        Support(rows, settings.alpha),
    )
    found = run_method(other, task)
    if watch.over:
        return f"{other} did not end within {TIME_LIMIT:.0f} s"
    found = found.whole()
    graphs = {
        value: Graph(result.names, endpoints, found.kind)
        for value, endpoints in zip(result.contexts, found.endpoints, strict=True)
    }
    return replace(
        result,
        graphs=graphs,
        settings=replace(settings, score=asdict(options)),
        log=found.log,
        evidence=found.evidence,
        origins=dict(found.origins),
        doubts=found.doubts,
        notes=found.notes,
    )
