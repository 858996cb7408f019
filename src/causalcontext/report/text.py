"""A result as a page of text: the data, the graph of every context, their labeled union."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

from causalcontext.errors import value_text
from causalcontext.report.settings import MOST_LISTED_EDGES
from causalcontext.results.few_rows import thin_words
from causalcontext.results.kept import questions_left
from causalcontext.results.untested import untested_edges
from causalcontext.results.words import context_words

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Edge, LabeledEdge
    from causalcontext.results.contexts import ContextGraphs

CAREFUL = "What to be careful about"
MADE = "How this was made"
"""The titles of the warnings and of the notes."""
NOT_TESTED = "  (not tested)"
"""The words behind an edge that is there only because no test of the pair could be run."""


def summary(result: ContextGraphs) -> str:
    """The print of a result: warnings, the graph of every context, the labeled union, and how it
    was made.

    An edge that is there only because no test of the pair could be run says so behind it. Without a
    context there is one graph, and no union.
    """
    careful = warnings(result)
    made = remarks(result)
    thin = result.thin
    result = result.searched
    titles = (
        context_words(result.context, value, result.settings.indicator) for value in result.contexts
    )
    untested = {(edge.x, edge.y, result.contexts[edge.context]) for edge in untested_edges(result)}

    def doubt(edge: Edge | LabeledEdge, values: Sequence[Any]) -> str:
        """The words behind an edge that nothing tested in any of these contexts."""
        if not untested:
            return ""
        x, y = sorted((result.position(edge.source), result.position(edge.target)))
        return NOT_TESTED if all((x, y, value) in untested for value in values) else ""

    graphs = []
    for title, (value, graph) in zip(titles, result.graphs.items(), strict=True):
        edge_lines = [f"{edge}{doubt(edge, [value])}" for edge in graph.edges]
        graphs.append(f"{title} ({_counted(edge_lines)})\n{_listed(edge_lines)}")
    graphs = [] if result.context is None else graphs
    if thin is not None:
        graphs += [
            f"{thin.context} = {value_text(value)} ({thin_words(count)}, the union below)"
            for value, count in thin.rows
        ]
    title = (
        "graph"
        if result.context is None
        else "labeled union, [...] for an edge in these contexts only"
    )
    labeled = result.labeled_union
    lines = str(labeled).splitlines()
    for number, edge in enumerate(labeled):
        lines[number] += doubt(edge, edge.contexts)
    pairs = len({frozenset((edge.source, edge.target)) for edge in labeled})
    turned = f" between {pairs:,} pairs" if pairs < len(lines) else ""
    union = f"{title}: {_counted(labeled)}{turned}\n{_listed(lines)}"
    return "\n\n".join(
        [_heading(result), *_part(CAREFUL, careful), *graphs, union, *_part(MADE, made)]
    )


def _part(title: str, lines: Sequence[str]) -> list[str]:
    """Lines under a title; nothing without lines."""
    return ["\n".join([title, *lines])] if lines else []


def _heading(result: ContextGraphs) -> str:
    """The title of the print, with a line below it."""
    settings = result.settings
    evidence = result.evidence
    how = f"test: {settings.test}, alpha: {settings.alpha:g}"
    if evidence is not None:
        reached = (
            f", reached by {evidence.agreeing} of {evidence.starts} starts"
            if evidence.search == "order"
            else ""
        )
        how = (
            f"search: {evidence.search}, transform: {evidence.transform}, score:"
            f" {evidence.score:.1f}{reached}"
        )
    lines = [
        f"{settings.method} on {sum(result.data.rows):,} rows, {len(result.names)} variables"
        f" ({how})"
    ]
    if result.context is not None:
        rows = ", ".join(
            f"{value_text(value)}: {n:,}"
            for value, n in zip(result.contexts, result.data.rows, strict=True)
        )
        lines.append(f"context {result.context}, rows by value: {rows}")
    if any(result.data.lost):
        lost = ", ".join(
            f"{value_text(value)}: {n:,}"
            for value, n in zip(result.contexts, result.data.lost, strict=True)
        )
        lines.append(f"rows dropped for missing values: {lost}")
    if result.data.without_context:
        lines.append(
            f"rows dropped without a value of {result.context}: {result.data.without_context:,}"
        )
    if result.data.emptied:
        gone = ", ".join(
            f"{value_text(value)} ({rows:,} rows)" for value, rows in result.data.emptied
        )
        lines.append(f"contexts without a complete row, which have no graph: {gone}")
    if not result.final:
        left = "untested edges are still there and nothing is oriented"
        best = "this is the best model found so far"
        lines.append(
            f"INCOMPLETE: the search was interrupted; {left if result.evidence is None else best}"
        )
    return "\n".join(lines)


def warnings(result: ContextGraphs) -> list[str]:
    """The sentences that a reader must know before believing the graphs, each after "WARNING:"."""
    return [f"WARNING: {sentence}" for sentence in result.cautions]


def remarks(result: ContextGraphs) -> list[str]:
    """The sentences about how the result was made: its notes, and what was not tried or could not
    be.

    After the notes come the pairs that kept their edge though sets of some size were not all tried,
    and, of a search that was not cut, the questions that were not asked with the calls that ask
    them.
    """
    lines = [f"note: {note}" for note in result.notes]
    levels = result.log.kept.cut
    cut = int((levels > 0).any(axis=0).sum())
    if cut:
        smallest = int(levels[levels > 0].min())
        lines.append(
            f"note: {cut:,} pairs kept their edge though not all sets of {smallest} and more"
            " neighbours were tried"
        )
    if result.final:
        questions = "; ".join(questions_left(result))
        lines += [f"not asked: {questions}"] if questions else []
    return lines


def _counted(edges: Sized) -> str:
    """The number of edges in words."""
    return "1 edge" if len(edges) == 1 else f"{len(edges):,} edges"


def _listed(lines: list[str]) -> str:
    """The lines of edges, each on its own; beyond `MOST_LISTED_EDGES` their number."""
    if not lines:
        return "  (none)"
    more = (
        [f"... and {len(lines) - MOST_LISTED_EDGES} more"] if len(lines) > MOST_LISTED_EDGES else []
    )
    return "\n".join(f"  {line}" for line in lines[:MOST_LISTED_EDGES] + more)
