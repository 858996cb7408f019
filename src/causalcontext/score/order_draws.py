"""Orders of the variables, drawn in proportion to the exponential of their score: how sure are the
directions?

The score is that of the exact search, with noise densities, and a plain BIC (penalty 1): a larger
penalty is too sure of orders. One order serves all contexts. Columns are numbers and mechanisms
lines with noise of an even spread; the exact sum over all orders takes tables of up to `MOST_NODES`
variables.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import complete_rows
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.kernels.arrays import Ints
from causalcontext.kernels.orders.exact_orders import draw_orders
from causalcontext.model_checks.violations import SPREAD
from causalcontext.progress import Count, counting_bar
from causalcontext.results.effects.mixture import MOST_SYSTEM, OrderDraws
from causalcontext.results.equations import ORDERED
from causalcontext.score.data import by_name, score_data
from causalcontext.score.design import ScoreDesign
from causalcontext.score.merging import lattice
from causalcontext.score.options import ScoreOptions
from causalcontext.score.search import all_scores
from causalcontext.score.workspace import FitWorkspace

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

DRAWS = 500
MOST_NODES = 13
"""The most variables with a mechanism: all sets of them are scored, in less than a second."""
MOST_CELLS = 8


def drawn_orders(result: ContextGraphs, progress: bool | Count = False) -> OrderDraws | str:
    """Orders that were drawn by their score, or why there are none.

    `progress` is as in `ContextGraphs.probabilities`.
    """
    reason = why_none(result)
    if reason:
        return reason
    assert result.rows is not None
    table, _ = by_name(result.rows)
    links = result.settings.knowledge.links(result.names)
    data = score_data(table, gather_statistics(table, "listwise"), links)
    if result.evidence is not None and result.evidence.mechanisms is not None:
        # contexts in order as in the model
        scales = zip(result.names, result.evidence.mechanisms.scales, strict=True)
        data = data.with_ordered_contexts([name for name, scale in scales if scale.kind == ORDERED])
    if data.nodes > MOST_NODES:
        return f"more than {MOST_NODES} variables"
    options = replace(
        ScoreOptions(), penalty=1.0, densities=bool(result.settings.score.get("densities", True))
    )
    design = ScoreDesign(data, options, False)
    slots = lattice(design)
    with counting_bar("mechanisms", progress) as advance:
        scores = all_scores(FitWorkspace(design, False), slots, advance=advance)
    assert scores is not None
    best, found, pool = scores
    uniform = np.random.default_rng([result.settings.seed % 2**32, 3]).uniform(
        size=(DRAWS, data.nodes)
    )
    orders = draw_orders(best, slots, uniform)
    into = np.zeros((DRAWS, len(result.cells.positions), len(result.names)), dtype=bool)
    for j, position in enumerate(result.cells.positions):
        (node,) = np.flatnonzero(data.position == position).tolist()
        source = result.cells.source_of(position)
        if source is not None:
            into[:, j, source] = True
        elif node < data.nodes:
            into[:, j] = _causes(design, found[0, node], pool, orders, node, len(result.names))
    # orders of all variables by position: givens first, and every made context right after its
    # column
    given = data.position[data.nodes : data.candidates].tolist()
    made = [
        (int(data.position[source]), int(data.position[v])) for v, source in data.made_of.items()
    ]
    whole = [
        [
            v
            for one in (*given, *data.position[order].tolist())
            for v in (one, *(context for source, context in made if source == one))
        ]
        for order in orders
    ]
    return OrderDraws(np.array(whole, dtype=np.int64).reshape(DRAWS, data.variables), into)


def why_none(result: ContextGraphs) -> str:
    """Why no orders are drawn of a result; empty if they are."""
    evidence = result.evidence
    kinds = result.data.kinds
    contexts = result.cells.positions
    if evidence is None:
        return "the graphs were not found by score-ac"
    if result.series is not None:
        return "not yet with lags"
    if result.rows is None:
        return "this result has no rows"
    if result.settings.missing != "listwise" and not complete_rows(result.rows).all():
        return "not yet with missing values"
    # what curves gain is unknown where a bend stands in the place of lines by context, which are
    # nearly as good
    if (evidence.curved and not np.isnan(evidence.curves_gain)) or evidence.transform != "none":
        return "not yet with curves or normal scores"
    if evidence.scales_gain == evidence.scales_gain or SPREAD in evidence.contradicted:
        return "not yet where the spread of the noise is uneven"
    if any(kind != Kind.CONTINUOUS for v, kind in enumerate(kinds) if v not in contexts):
        return "not yet with categories and counts"
    if evidence.mechanisms is not None and any(
        one.levels or one.scores or one.spike > 0.0
        for v, one in enumerate(evidence.mechanisms.scales)
        if v not in contexts and v < len(kinds)
    ):
        return "not yet with columns of few values, or of which one value stands out"
    if len(result.names) - len(contexts) > MOST_SYSTEM:
        return f"more than {MOST_SYSTEM} variables"
    if len(result.contexts) > MOST_CELLS:
        return f"more than {MOST_CELLS} contexts"
    return "" if result.complete else "the search was cut short"


def _causes(
    design: ScoreDesign, found: Ints, pool: Ints, orders: Ints, node: int, variables: int
) -> Ints:
    """The causes of a context in the best model given the nodes before it, shape (draws,
    variables).
    """
    data = design.data
    at = np.argmax(orders == node, axis=1)
    before = np.array(
        [int((1 << row[:place]).sum()) for row, place in zip(orders, at.tolist(), strict=True)]
    )
    causes = np.zeros((len(orders), variables), dtype=bool)
    for members in np.unique(before).tolist():
        columns = pool[found[members]]
        owners = design.owner[columns[1 : 1 + columns[0]]]
        causes[np.ix_(before == members, data.position[owners])] = True
    return causes
