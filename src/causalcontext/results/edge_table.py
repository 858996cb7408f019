"""The table of edges, with the same columns after every method and every question.

A search by tests has p-values, a search by scores has margins; what a method does not have is NaN
or "". Questions that were asked of the result (`results.kept`) fill the other columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.results.effects.mixture import with_probabilities
from causalcontext.results.empty import because
from causalcontext.results.evidence import HiddenSuspicion, score_edges
from causalcontext.results.kept import answers_of

if TYPE_CHECKING:
    from causalcontext.graphs.graph import LabeledEdge
    from causalcontext.results.contexts import ContextGraphs

COLUMNS = ("source", "target", "mark", "contexts", "strength", "p-value", "n")
NO_EDGES = "the graphs have no edge"


def edge_table(result: ContextGraphs) -> pd.DataFrame:
    """The edges of the labeled union of what was searched; see `ContextGraphs.edges`."""
    kept = answers_of(result)
    if result.evidence is None:
        table = _tested_edges(result)
    else:
        table = score_edges(result.evidence, result.graphs, result.names)
    suspicion = kept.suspicion or HiddenSuspicion()
    words = [suspicion.word(edge.source, edge.target) for edge in result.labeled_union]
    table = table.assign(**{"hidden cause": words})
    drawn = kept.draws is not None or kept.orders is not None
    draws = result._effect_draws() if drawn else "not asked"
    table = with_probabilities(table, draws, result.names, result.contexts)
    shares = [_share_of_samples(result, edge) for edge in result.labeled_union]
    table = table.assign(stability=np.array(shares, dtype=np.float64))
    return because(table, NO_EDGES)


def _tested_edges(result: ContextGraphs) -> pd.DataFrame:
    """The strength, the p-value and the rows of the weakest deciding test of every edge."""
    rows = []
    for edge in result.labeled_union:
        slot = result.log.slot(result.position(edge.source), result.position(edge.target))
        places = [result.contexts.index(value) for value in edge.contexts]
        entries = result.log.some(np.array([slot]))
        p_values = entries.p[places, 0]
        counts = entries.n[places, 0]
        if np.isnan(p_values).all():
            rows.append((*edge, float("nan"), float("nan"), int(counts.max())))
            continue
        weakest = int(np.nanargmax(p_values))
        strength = result.log.strength(places[weakest], slot)
        rows.append((*edge, strength, float(p_values[weakest]), int(counts[weakest])))
    table = frame_of(rows, columns=list(COLUMNS))
    return table.assign(score=float("nan"), model="", margin=float("nan"))


def _share_of_samples(result: ContextGraphs, edge: LabeledEdge) -> float:
    """The share of bootstrap samples that have an edge, in the context where it is least; NaN if
    no samples were drawn.
    """
    stability = answers_of(result).stability
    if stability is None:
        return float("nan")
    ends = sorted((result.position(edge.source), result.position(edge.target)))
    places = [result.contexts.index(value) for value in edge.contexts]
    return float(
        min(stability.frequency[context_index, ends[0], ends[1]].sum() for context_index in places)
    )
