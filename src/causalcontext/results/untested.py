"""Edges that are in a graph only because no test of the pair could be run: which they are, and one
sentence on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.errors import listed
from causalcontext.results.log import Decision
from causalcontext.results.settings import MOST_UNTESTED_NAMED
from causalcontext.search.sepsets import pairs_at
from causalcontext.views import REASON_TEXT, Reason

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


class UntestedEdge(NamedTuple):
    """Two variables by position, the context by its place, and why no query could be run."""

    x: int
    y: int
    context: int
    reason: Reason


def untested_edges(result: ContextGraphs) -> list[UntestedEdge]:
    """The edges of the graphs that nothing tested, by pair and context."""
    if result.evidence is not None:
        return []
    log = result.log
    edges = list[UntestedEdge]()
    contexts, places = np.nonzero(log.kept.decision == Decision.UNTESTABLE)
    if not places.size:
        return []
    slots = (
        places
        if log.slots is None or log.kept.decision.shape[1] == log.pairs
        else log.slots[places]
    )
    first, second = pairs_at(slots, log.variables)
    graphs = [result.graphs[value].endpoints for value in result.contexts]
    for c, slot, x, y in zip(
        contexts.tolist(), places.tolist(), first.tolist(), second.tolist(), strict=True
    ):
        if graphs[c][x, y]:
            edges.append(UntestedEdge(x, y, c, Reason(int(log.kept.reason[c, slot]))))
    return sorted(edges)


def words_about_untested(result: ContextGraphs) -> str:
    """One sentence that counts the edges that nothing tested and names a few; empty without any."""
    searched = result.searched
    edges = untested_edges(searched) if searched.final else []
    if not edges:
        return ""
    pairs: dict[tuple[int, int], list[UntestedEdge]] = {}
    for edge in edges:
        pairs.setdefault((edge.x, edge.y), []).append(edge)
    words = []
    for (x, y), values in pairs.items():
        everywhere = len(values) == len(searched.contexts)
        where = (
            ""
            if everywhere
            else f" in {listed([searched.contexts[edge.context] for edge in values], 2)}"
        )
        why = REASON_TEXT.get(values[0].reason, "no time was left")
        words.append(f"{searched.names[x]} - {searched.names[y]}{where} ({why})")
    count = "1 edge was" if len(words) == 1 else f"{len(words):,} edges were"
    they = "it says" if len(words) == 1 else "they say"
    return (
        f"{count} not tested at all, so {they} nothing (o-o):"
        f" {listed(words, MOST_UNTESTED_NAMED, 'pair')}; explain() says why"
    )
