"""Which directions of pc-ac rest on the assumption that nothing is hidden?

Hidden common causes spoil the tails of pc-ac, "x is a cause", not its arrowheads or its missing edges. fci-ac, which
allows for them, is run on the same table, and every tail that it does not confirm is named. This is no test for hidden
causes: a tail may stay open for lack of evidence alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.diagnostics.support import Support
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind, adjacent, directed, mark_of
from causalcontext.kernels.arrays import Bools
from causalcontext.methods.registry import run_method
from causalcontext.methods.task import Task
from causalcontext.progress import COLLIDERS, Watch, nobody
from causalcontext.results.contexts import ContextGraphs
from causalcontext.score.options import ScoreOptions
from causalcontext.search.forecast import queries_ahead
from causalcontext.views import adaptive

TOPIC = "hidden causes"
MOST_NAMED = 3
MOST_QUESTIONS = 2000
"""Of questions on rows: beyond so many the comparison would take longer than the search."""
WORDS = {
    True: "are wrong if something is hidden",
    False: "rest on the assumption that nothing hidden causes both ends",
}
ADVICE = {
    True: "do not read them as causes",
    False: "if hidden causes are plausible, keep arrowheads and missing edges, and do not read these as causes",
}


def unconfirmed_causes(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Tails that fci-ac contradicts, and tails that it leaves open; only where its tests are quick."""
    plain = result.settings.indicator is None and len(result.cells.positions) == 1
    if result.settings.method != "pc-ac" or not plain or result.prepared is None or result.prepared.gaussian is None:
        return
    ours = np.stack([result.graphs[value].endpoints for value in result.contexts])
    task = _task(result, rows, result.prepared)
    questions = _questions(task, adjacent(ours))
    if questions > MOST_QUESTIONS:
        message = f"directions were not compared with fci-ac, which takes about {questions:,.0f} tests on rows"
        yield Finding(TOPIC, Severity.NOTE, message, "if hidden causes are plausible, run method='fci-ac'")
        return
    cautious = run_method("fci-ac", task).whole().endpoints
    at_cause = cautious.swapaxes(-1, -2)
    arrows = directed(ours) & adjacent(cautious)
    for refuted in (True, False):
        at_issue = arrows & (
            (at_cause == Endpoint.ARROW) if refuted else np.isin(at_cause, (Endpoint.CIRCLE, Endpoint.CONFLICT))
        )
        edges = _named(result, at_issue, cautious)
        if edges:
            counted = f"{len(edges)} of {int(directed(ours).any(axis=0).sum())} directions"
            message = f"{counted} {WORDS[refuted]}; fci-ac has {', '.join(edges[:MOST_NAMED])}"
            severity = Severity.CAUTION if refuted else Severity.NOTE
            yield Finding(TOPIC, severity, message, ADVICE[refuted], {"edges": tuple(edges)})


def _task(result: ContextGraphs, rows: Dataset, prepared: PreparedTest) -> Task:
    """The table again, with the same settings."""
    settings = result.settings
    return Task(
        prepared,
        rows,
        gather_statistics(rows),
        settings.knowledge.links(result.names),
        settings,
        ScoreOptions(),
        1,
        Watch(nobody),
        Support(rows, settings.alpha),
    )


def _questions(task: Task, graphs: Bools) -> float:
    """About how many questions about these edges no kernel answers."""
    plan = replace(task.plan(adaptive, task.cells, "always"), kind=GraphKind.PAG)
    ahead = queries_ahead(plan, graphs, 0, task.prepared.compiled_roles)
    return sum(count for size, count in ahead.items() if size != COLLIDERS)


def _named(result: ContextGraphs, wanted: Bools, cautious: Endpoints) -> list[str]:
    """What fci-ac draws instead of directions, each once, with the first context where not all of them differ."""
    found = []
    for x, y in np.argwhere(wanted.any(axis=0)).tolist():
        place = int(np.argmax(wanted[:, x, y]))
        where = "" if wanted[:, x, y].all() else f" in {result.contexts[place]}"
        found.append(f"{result.names[x]} {mark_of(cautious[place], x, y)} {result.names[y]}{where}")
    return found
