"""The findings of other methods in the same rows: the other engine, fci-ac and pc-m.

- Tests lack power in small contexts, and a score picks the best of wrong models; an edge that both
  find is hardly ever false (docs/decisions/claims-of-change.md).
- Hidden common causes spoil the tails of pc-ac ("x is a cause"), not its arrowheads or its missing
  edges. fci-ac allows for them, and every tail that it does not confirm is named. This is no test
  for hidden causes: a tail may stay open for lack of evidence alone.
- The rows of one context are a selected sample if the context is an effect of the system. pc-m,
  which searches every context by itself, then has additional edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.data.dataset import Dataset
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.diagnostics.settings import (
    MOST_NAMED_TOGETHER,
    MOST_SECOND_QUERIES,
    SECOND_SECONDS,
)
from causalcontext.errors import CausalContextError, listed, value_text
from causalcontext.graphs.endpoints import (
    Endpoint,
    GraphKind,
    adjacent,
    directed,
    mark_of,
    may_cause,
)
from causalcontext.graphs.graph import Graph
from causalcontext.kernels.arrays import Bools
from causalcontext.methods.registry import run_method
from causalcontext.methods.task import rows_task, windows_task
from causalcontext.progress import COLLIDERS, Advance, Watch, nobody, watching
from causalcontext.results.changes import (
    WithinContexts,
    compare_contexts,
    inside_words,
    why_inside_only,
    why_not_asked,
)
from causalcontext.results.kept import answers_of
from causalcontext.results.settings import MOST_COMPARED_CONTEXTS
from causalcontext.results.violations import suits_score, violations_of
from causalcontext.score.options import ScoreOptions
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.forecast import queries_ahead
from causalcontext.search.level_search import SplitSearch
from causalcontext.search.plan import Plan
from causalcontext.views import adaptive, masked

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

TOPIC = "hidden causes"
WORDS = {
    True: "are wrong if there are hidden common causes",
    False: "rest on the assumption that there is no hidden common cause",
}
ADVICE = {
    True: "do not read them as causes",
    False: (
        "if hidden causes are plausible, keep arrowheads and missing edges, and do not read these"
        " as causes"
    ),
}


def ask_other_engine(
    result: ContextGraphs, progress: bool | Advance = False
) -> ContextGraphs | str:
    """The result of the other engine, or the reason why there is none; asked once, and kept.

    What may speak against a claim that both make is asked as well: the model checks. The claims of
    both are compared at once, so that tables and files read them.
    """
    kept = answers_of(result)
    if kept.opinion is None:
        kept.opinion = why_not_asked(result) or _asked(result, progress)
    if not isinstance(kept.opinion, str):
        violations_of(result)
        for engine in (result, kept.opinion):
            compare_contexts(engine, MOST_COMPARED_CONTEXTS * (MOST_COMPARED_CONTEXTS - 1) // 2)
    return kept.opinion


def _asked(result: ContextGraphs, progress: bool | Advance) -> ContextGraphs | str:
    """The result of the other engine within `SECOND_SECONDS` seconds, or the reason why it has
    none.
    """
    other = "score-ac" if result.evidence is None else "pc-ac"
    try:
        with watching(progress, SECOND_SECONDS) as watch:
            return _run(result, other, watch)
    except CausalContextError as error:
        return f"{other} cannot be run: {error}"


def _run(result: ContextGraphs, other: str, watch: Watch) -> ContextGraphs | str:
    """The result of a search by the other engine on the same rows or windows, or that it took too
    long.

    What the first search prepared is used again: rows, test, knowledge. Scores take columns as they
    are, with all their cells, so that both engines speak of the same numbers.
    """
    rows = result.rows
    prepared = result.prepared
    settings = replace(result.settings, method=other)
    options = ScoreOptions(transform="none", time_limit=SECOND_SECONDS, wrong_cells="keep")
    if result.windowed is not None:
        task = windows_task(result.windowed, settings, options, 1, watch)
    else:
        assert rows is not None
        assert prepared is not None
        task = rows_task(rows, prepared, settings, options, watch)
    outcome = run_method(other, task)
    if watch.over:
        return f"{other} did not finish within {SECOND_SECONDS:.0f} s"
    outcome = outcome.whole()
    graphs = dict(
        zip(
            result.contexts,
            (Graph(result.names, end, outcome.kind) for end in outcome.endpoints),
            strict=True,
        )
    )
    return replace(
        result,
        graphs=graphs,
        settings=replace(settings, score=asdict(options)),
        log=outcome.log,
        evidence=outcome.evidence,
        origins=dict(outcome.origins),
        doubts=outcome.doubts,
        notes=outcome.notes,
        series=outcome.series,
    )


def unconfirmed_causes(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Tails that fci-ac contradicts, and tails that it leaves open; only where its tests are quick.

    An arrow x --> y of pc-ac is refuted where fci-ac has an arrowhead at x, and unconfirmed where
    it has a circle there. Edges that fci-ac lacks are not at issue. If it would need more than
    `MOST_SECOND_QUERIES` tests on rows, the finding says so and nothing is run.
    """
    by_tests = result.settings.method == "pc-ac" and bool(result.cells.positions)
    if not by_tests or result.prepared is None or result.prepared.gaussian is None:
        return
    ours = np.stack([result.graphs[value].endpoints for value in result.contexts])
    task = rows_task(rows, result.prepared, result.settings, ScoreOptions(), Watch(nobody))
    plan = replace(task.plan(adaptive, task.cells, "always"), kind=GraphKind.PAG)
    ahead = queries_ahead(plan, adjacent(ours), 0, task.row_test.compiled_roles)
    # that no kernel answers, about
    questions = sum(count for size, count in ahead.items() if size != COLLIDERS)
    if questions > MOST_SECOND_QUERIES:
        message = (
            f"directions were not compared with fci-ac, which would need about {questions:,.0f}"
            " tests on rows"
        )
        yield Finding(
            TOPIC, Severity.NOTE, message, "if hidden causes are plausible, run method='fci-ac'"
        )
        return
    cautious = run_method("fci-ac", task).whole().endpoints
    at_cause = cautious.swapaxes(-1, -2)
    arrows = directed(ours) & adjacent(cautious)
    for refuted in (True, False):
        at_issue = arrows & np.isin(
            at_cause, Endpoint.ARROW if refuted else (Endpoint.CIRCLE, Endpoint.CONFLICT)
        )
        # what fci-ac draws instead, each once, with the first context where not all of them differ
        edges = []
        for x, y in np.argwhere(at_issue.any(axis=0)).tolist():
            context = int(np.argmax(at_issue[:, x, y]))
            where = "" if at_issue[:, x, y].all() else f" in {value_text(result.contexts[context])}"
            edges.append(
                f"{result.names[x]} {mark_of(cautious[context], x, y)} {result.names[y]}{where}"
            )
        if edges:
            counted = f"{len(edges)} of {int(directed(ours).any(axis=0).sum())} directions"
            message = (
                f"{counted} {WORDS[refuted]}; fci-ac has {', '.join(edges[:MOST_NAMED_TOGETHER])}"
            )
            severity = Severity.CAUTION if refuted else Severity.NOTE
            yield Finding(TOPIC, severity, message, ADVICE[refuted], {"edges": tuple(edges)})


def selection_bias(result: ContextGraphs) -> Iterator[Finding]:
    """Possible causes of each context variable, and the edges that masking (pc-m) would add.

    If the context is an effect of the system, the rows of one context are a selected sample, in
    which columns are linked that are not: then such edges are a note. Otherwise they are a caution,
    since pooling may have hidden them.
    """
    method = result.settings.method
    names = result.names
    may = may_cause(result.union.endpoints)
    for context in result.cells.positions if method != "pc-m" else ():
        name = names[context]
        causes = tuple(names[v] for v in np.flatnonzero(may[:, context]))
        message = f"no possible cause of {name} was found: it looks exogenous"
        if causes:
            message = (
                f"{', '.join(causes)} may cause {name}, so rows of one context are a selected"
                " sample"
            )
        evidence: dict[str, object] = {"context variable": name, "possible causes": causes}
        yield Finding("selection bias", Severity.NOTE, message, "", evidence)
    if method != "pc-ac" or result.prepared is None or not result.complete:
        return
    edges_of_result = np.stack([graph.adjacency for graph in result.graphs.values()])
    inside = np.triu(_masked_edges(result, result.prepared) & ~edges_of_result)
    reason = why_inside_only(result)
    selects = why_inside_only(result) is WithinContexts.SELECTION
    advice = "method='pc-m' would add this edge"
    if not selects:
        scored = (
            "method='score-ac', which gives every context its own slopes, or "
            if suits_score(result)
            else ""
        )
        advice = f"compare with {scored}method='pc-m', which searches each context separately"
    for x, y in sorted(
        zip(*np.nonzero(inside.any(axis=0)), strict=True), key=lambda pair: -inside[:, *pair].sum()
    ):
        values = tuple(
            result.contexts[position] for position in np.flatnonzero(inside[:, x, y]).tolist()
        )
        where = (
            "each context"
            if len(values) == len(result.contexts)
            else listed(values, MOST_NAMED_TOGETHER)
        )
        message = (
            f"a search within {where} alone would link {names[x]} and {names[y]}:"
            f" {inside_words(result)}"
        )
        evidence = {"x": names[x], "y": names[y], "context": values[0], "contexts": values}
        yield Finding(
            reason.value, Severity.NOTE if selects else Severity.CAUTION, message, advice, evidence
        )


def _masked_edges(result: ContextGraphs, prepared: PreparedTest) -> Bools:
    """The adjacencies of pc-m, of several context variables inside every combination.

    Shape (contexts, N, N), False at contexts. The tests are those of the first search, whose
    answers are kept, so that few are new.
    """
    settings = result.settings
    variables = len(result.names)
    limit = variables if settings.max_given is None else min(settings.max_given, variables)
    links = settings.knowledge.links(result.names)
    plan = Plan(
        variables,
        result.cells,
        masked,
        tuple(range(len(result.contexts))),
        links,
        settings.alpha,
        limit,
    )
    masked_graphs = algorithm_1(SplitSearch(prepared), plan, 1, nobody)
    if not masked_graphs.complete:
        raise KeyboardInterrupt  # the search has caught it; half of a search is of no use here
    edges = adjacent(masked_graphs.endpoints)
    edges[:, result.cells.positions] = False
    edges[:, :, result.cells.positions] = False
    return edges
