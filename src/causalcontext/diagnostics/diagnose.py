"""All checks in one call; those of assumptions: contradicting rules, cycles, violations of the
model, proxies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.diagnostics.best_cut import nearby_cuts
from causalcontext.diagnostics.findings import Diagnosis, Finding, Severity
from causalcontext.diagnostics.hidden_causes import suspicion_of
from causalcontext.diagnostics.other_methods import selection_bias, unconfirmed_causes
from causalcontext.diagnostics.rows import (
    deciding_columns,
    determinism,
    near_misses,
    ranked_overlap,
    rows_and_power,
    untestable_pairs,
    vanishing_edges,
)
from causalcontext.diagnostics.settings import MOST_NAMED_TOGETHER
from causalcontext.diagnostics.shared_time import shared_time
from causalcontext.errors import listed
from causalcontext.graphs.endpoints import GraphKind, directed
from causalcontext.graphs.paths import ancestors, shortest_cycle
from causalcontext.model_checks.violations import WORDS, advice, danger
from causalcontext.progress import Count, counting_bar
from causalcontext.results.curve_difference import replaceable_links
from causalcontext.results.kept import answers_of
from causalcontext.results.notes import About, ResultNote, about
from causalcontext.results.violations import advice_facts, check_words, violations_of
from causalcontext.search.masked_tests import possible_cycles
from causalcontext.search.rules import suspect

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

CONFLICTS = {
    GraphKind.CPDAG: "have contradicting directions",
    GraphKind.PAG: "have a hidden common cause, or their separating sets contradict each other",
}
RANKS = (
    "deterministic context",
    "search",
    "model",
    "untestable",
    "missing cells",
    "missing edge",
    "cancellation",
    "wrong cells",
    "proxies",
    "hidden causes",
    "shared time",
    "assumptions",
    "rows",
    "overlap",
    "threshold",
    "selection bias",
    "near miss",
    "large cycles",
)


def diagnose(result: ContextGraphs, progress: bool | Count = False) -> Diagnosis:
    """The findings of every check, the most severe first, then by what they are about (`RANKS`).

    Some checks are for any graph, some for graphs of contexts, some for rows in memory; a last
    finding says which were not run, and why. The model checks and the suspicion of hidden causes
    are kept by the result, which shows them in its tables from then on.
    """
    checks: list[Callable[[], Iterator[Finding]]] = [
        partial(check, result)
        for check in (OF_ANY_GRAPH if result.context is None else (*OF_ANY_GRAPH, *CHECKS))
    ]
    unchecked = _not_checked(result)
    if unchecked is None and result.rows is not None:
        checks += [partial(check, result, result.rows) for check in CHECKS_OF_ROWS]
    findings: list[Finding] = []
    with counting_bar("checks", progress) as advance:
        for done, check in enumerate(checks, 1):
            findings += check()
            advance(done, len(checks))
    if unchecked is not None:
        findings.append(unchecked)
    ranks = {topic: rank for rank, topic in enumerate(RANKS)}
    findings.sort(key=lambda finding: (-finding.severity, ranks.get(finding.topic, len(RANKS))))
    return Diagnosis(tuple(findings))


def _not_checked(result: ContextGraphs) -> Finding | None:
    """The finding on checks of rows that a result does not allow, and what to do; None where they
    can be run.
    """
    if result.context is None:
        message = "without a context there is one graph, and nothing to compare"
        return Finding("context", Severity.NOTE, message)
    if result.series is not None:
        message = "missing edges, determinism and overlap are not checked with lags"
        return Finding(
            "rows", Severity.NOTE, message, "changes() says which differences may be claimed"
        )
    if result.scanned is not None:
        message = (
            "missing edges, hidden causes and overlap are not checked in a table that was read in"
            " batches"
        )
        return Finding(
            "rows", Severity.NOTE, message, "run discover on a part of it that fits in memory"
        )
    if result.rows is None:
        checks = "" if answers_of(result).violations is not None else "model checks, "
        message = (
            f"{checks}missing edges, determinism and overlap: not available on a loaded result,"
            " which has no rows"
        )
        return Finding("rows", Severity.NOTE, message, "run discover again to have them checked")
    return None


def broken_rules(result: ContextGraphs) -> Iterator[Finding]:
    """Contradictions by rule, and edges without an agreed direction.

    A rule whose conclusion was contradicted points at what it rests on: a test that erred, or an
    assumption.
    """
    counts = Counter(doubt.rule for doubt in result.doubts)
    for rule, count in sorted(counts.items()):
        edges = [
            f"{result.names[d.a]} - {result.names[d.b]}" for d in result.doubts if d.rule == rule
        ]
        listed = ", ".join(list(dict.fromkeys(edges))[:MOST_NAMED_TOGETHER])
        times = "once" if count == 1 else f"{count} times"
        why = f"a test erred, or {suspect(rule)} does not hold"
        message = f"rule {rule} is contradicted {times} (such as {listed}): {why}"
        evidence = {"rule": rule, "count": count, "edges": tuple(dict.fromkeys(edges))}
        yield Finding(
            "assumptions", Severity.CAUTION, message, "see explain() for these pairs", evidence
        )
    # All endpoints of a PAG count, so its contexts are looked at one by one.
    graphs = [result.union] if result.union.kind is GraphKind.CPDAG else result.graphs.values()
    conflicts = list(
        dict.fromkeys(str(edge) for graph in graphs for edge in graph.edges if "x" in edge.mark)
    )
    if conflicts:
        conflict_words = CONFLICTS[result.union.kind]
        message = (
            f"{len(conflicts)} edges {conflict_words}: {', '.join(conflicts[:MOST_NAMED_TOGETHER])}"
        )
        yield Finding("assumptions", Severity.CAUTION, message, "", {"edges": tuple(conflicts)})


def directed_cycles(result: ContextGraphs) -> Iterator[Finding]:
    """Directed cycles inside a context, or in the union at the context and its ancestors.

    The former are wrong directions; the latter contradict strong context-acyclicity, on which rules
    rest.
    """
    arrows = [directed(graph.endpoints) for graph in result.graphs.values()]
    for value, links in zip(result.contexts, arrows, strict=True):
        cycle = shortest_cycle(links)
        if cycle:
            message = (
                f"the directed edges of {value} form a cycle:"
                f" {' --> '.join(result.names[v] for v in cycle)}"
            )
            yield Finding(
                "assumptions", Severity.WARNING, message, "some of these directions are wrong"
            )
    union = np.any(arrows, axis=0)
    for context in result.cells.positions:
        if ancestors(union, context)[context]:
            message = f"arrows of different contexts lead from {result.names[context]} back to it"
            yield Finding(
                "assumptions", Severity.WARNING, message, "strong context-acyclicity is in doubt"
            )


def turned_directions(result: ContextGraphs) -> Iterator[Finding]:
    """Pairs with an arrow one way in some contexts and the other way in others.

    It is a note where the model fits, since feedback through the context makes such pairs, and a
    caution where it does not.
    """
    arrows = np.stack([directed(graph.endpoints) for graph in result.graphs.values()])
    pairs = np.argwhere(np.triu(arrows.any(axis=0) & arrows.any(axis=0).T)).tolist()
    if not pairs:
        return
    doubted = bool(violations_of(result)) or bool(result.evidence and result.evidence.contradicted)
    why = "a model that does not fit can produce this" if doubted else "this requires feedback"
    which = "one pair points" if len(pairs) == 1 else f"{len(pairs)} pairs point"
    x, y = pairs[0]
    forward = int(arrows[:, x, y].sum())
    back = int(arrows[:, y, x].sum())
    first = result.names[x]
    second = result.names[y]
    such = (
        f"{first} --> {second} in {forward} of {len(arrows)} contexts,"
        f" {second} --> {first} in {back}"
    )
    message = f"{which} one way in some contexts and the other way in others ({such}): {why}"
    edges = tuple(f"{result.names[x]} - {result.names[y]}" for x, y in pairs)
    advice = (
        "read them as links without a direction"
        if doubted
        else "see explain() for what each direction rests on"
    )
    yield Finding(
        "assumptions",
        Severity.CAUTION if doubted else Severity.NOTE,
        message,
        advice,
        {"edges": edges},
    )


def large_cycles(result: ContextGraphs) -> Iterator[Finding]:
    """Blocks of the union skeleton in which a large union cycle could hide missing edges.

    Algorithm 1 tests inside a context only where the context is a neighbour of the pair; a union
    cycle of three or more variables can then leave a false edge (docs/cycles.md).
    `masked_scope="cycle"` tests these blocks inside contexts, too.
    """
    plain = result.settings.masked_scope == "adaptive" and result.series is None
    if result.settings.method != "pc-ac" or not plain:
        return
    contexts = result.cells.positions
    graphs = np.stack([graph.adjacency for graph in result.graphs.values()])
    at_context = np.asarray(graphs[:, contexts].any(axis=(0, 1)))
    suspects = possible_cycles(graphs, contexts) & ~(at_context[:, None] & at_context[None, :])
    if suspects.any():
        pairs = [
            f"{result.names[x]} - {result.names[y]}"
            for x, y in zip(*np.nonzero(np.triu(suspects)), strict=True)
        ]
        message = (
            f"{len(pairs)} edges may be false: a union cycle of three or more variables is possible"
            " there"
        )
        advice = 'if feedback through the contexts is plausible, compare with masked_scope="cycle"'
        yield Finding("large cycles", Severity.NOTE, message, advice, {"edges": tuple(pairs)})


def told_with_the_result(result: ContextGraphs) -> Iterator[Finding]:
    """The warnings of the search, and the ways in which the table contradicts its model.

    Warnings about which another check has more to say are left to that one.
    """
    violations = violations_of(result)
    of_violations = check_words(result)
    for sentence in (*result.warnings, *result.notes):
        # files of older versions have some of them among the notes
        if isinstance(sentence, ResultNote) and sentence.about is About.RESIDUALS:
            yield Finding("model", Severity.WARNING, sentence.found, sentence.advice)
        elif (
            sentence in result.warnings
            and sentence not in of_violations
            and not _is_checked(result, sentence)
        ):
            yield Finding("search", Severity.WARNING, sentence)
    for violation in violations:
        finding_words = WORDS[violation.kind].finding.format(listed(violation.columns))
        message = f"{finding_words}: {danger(violation, result.context is not None)}"
        yield Finding(
            "model",
            Severity.WARNING,
            message,
            advice(violation, advice_facts(result)),
            {"kind": violation.kind, "columns": violation.columns, "size": violation.size},
        )


def _is_checked(result: ContextGraphs, warning: str) -> bool:
    """True if another check has more to say about the matter of a warning."""
    if about(warning) is About.FUNCTION:
        # where rows are at hand, functions of a column are looked for
        return result.series is None and result.rows is not None
    return about(warning) is About.CELLS and result.wrong_cells is not None


def wrong_cells(result: ContextGraphs) -> Iterator[Finding]:
    """Cells that were taken for wrong, and the marks of a search that keeps all of them.

    It is a caution where these differ from the marks of the result.
    """
    if result.wrong_cells is None:
        return
    cells = result.wrong_cells.cells
    words = ("adds the edges", "removes", "changes the marks to")
    differ = result.wrong_cells.differences(result.graphs)
    differences = "; ".join(
        f"{word} {listed(edges)}" for word, edges in zip(words, differ, strict=True) if edges
    )
    message = (
        f"{len(cells):,} cells of {listed(sorted({cell.column for cell in cells}))} were taken for"
        f" wrong; without them the search {differences or 'has the same graphs'}"
    )
    evidence = {"added": tuple(differ[0]), "removed": tuple(differ[1]), "changed": tuple(differ[2])}
    yield Finding(
        "wrong cells",
        Severity.CAUTION if differences else Severity.NOTE,
        message,
        "look at flagged_cells(); if these values are right, pass wrong_cells='keep'",
        evidence,
    )


def proxy_links(result: ContextGraphs) -> Iterator[Finding]:
    """Links that explain nothing beside the curves of another variable: a line may describe what a
    curve makes.

    Such a link is a candidate, since the curves take more parameters for as much.
    """
    replaceable = replaceable_links(result)
    if not replaceable:
        return
    name = result.names
    links = tuple(f"{name[link.cause]} --> {name[link.effect]}" for link in replaceable)
    explained = tuple(
        f"{text} (curves of {name[link.other]})"
        for text, link in zip(links, replaceable, strict=True)
    )
    message = f"{listed(explained)} may be proxies for the effect of another variable"
    advice = (
        "treat them as candidates: curves of the other variable explain as much, with more"
        " parameters"
    )
    yield Finding("proxies", Severity.CAUTION, message, advice, {"edges": links})


def hidden_causes(result: ContextGraphs) -> Iterator[Finding]:
    """Links behind which a hidden common cause may stand, what was not asked, and that silence
    clears nothing.
    """
    if result.evidence is None and (result.series is None or result.union.kind is GraphKind.PAG):
        return
    suspicion = suspicion_of(result)
    silent = "a link that is not named here is not cleared"
    alike = "" if result.series is None else "; too few lags and noisy measurements look alike"
    if suspicion.suspected:
        pairs = set(suspicion.suspected)
        edges = tuple(
            str(edge) for edge in result.union.edges if (min(edge[:2]), max(edge[:2])) in pairs
        )
        message = (
            f"a hidden common cause may stand behind {listed(edges)}: a model with one describes"
            " the table better, or residuals that should be independent are not"
        )
        advice = (
            "do not read these as causes without other evidence; compare with method='fci-ac';"
            f" {silent}{alike}"
        )
        yield Finding("hidden causes", Severity.CAUTION, message, advice, {"edges": edges})
    elif suspicion.asked:
        message = (
            f"no sign of a hidden common cause was seen behind the {len(suspicion.asked)} links"
            " that were asked"
        )
        yield Finding(
            "hidden causes", Severity.NOTE, message, f"{silent}: many hidden causes leave no sign"
        )
    if suspicion.why_not:
        message = f"not all links could be asked about hidden common causes: {suspicion.why_not}"
        yield Finding(
            "hidden causes",
            Severity.NOTE,
            message,
            "run method='fci-ac', which allows for hidden causes",
        )


OF_ANY_GRAPH: tuple[Callable[[ContextGraphs], Iterator[Finding]], ...] = (
    told_with_the_result,
    wrong_cells,
    deciding_columns,
    hidden_causes,
    shared_time,
)
CHECKS: tuple[Callable[[ContextGraphs], Iterator[Finding]], ...] = (
    rows_and_power,
    untestable_pairs,
    selection_bias,
    broken_rules,
    directed_cycles,
    turned_directions,
    large_cycles,
    near_misses,
    proxy_links,
    nearby_cuts,
)
CHECKS_OF_ROWS: tuple[Callable[[ContextGraphs, Dataset], Iterator[Finding]], ...] = (
    unconfirmed_causes,
    vanishing_edges,
    determinism,
    ranked_overlap,
)
