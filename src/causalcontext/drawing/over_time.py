"""Pictures of results with lags: columns are times and rows are variables; and the summary over all lags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.drawing.layers import Arc
from causalcontext.drawing.layout import MARGIN, Layout, box_size, curve, layout
from causalcontext.drawing.legend import legend
from causalcontext.drawing.names import shown_names
from causalcontext.drawing.strokes import Panel, Stroke, colours_of, endpoints_of
from causalcontext.graphs.endpoints import endpoints_of_mark
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.lagged import LaggedGraphs
from causalcontext.results.summary_graph import SummaryEdge

if TYPE_CHECKING:
    from causalcontext.drawing.figure import Picture

COLUMN_GAP = 9.0
ROW_GAP = 2.6
BOTH_WAYS = "each acts on the other, at its own lag"
PORT = 0.5
"""Links that enter or leave the right side of a box stand so far apart."""
BULGE = 3.2
"""How far a link inside a time step bends out, and how much further if it passes more rows."""


def result_layout(result: ContextGraphs) -> Layout:
    """Where everything stands: over time for a result with lags, else causes left of effects."""
    return time_layout(result) if isinstance(result, LaggedGraphs) else layout(result.union)


def time_layout(result: LaggedGraphs) -> Layout:
    """The earliest values on the left, the present on the right, one row for every variable."""
    lines = shown_names(result.names)
    size = np.array([box_size(found) for found in lines])
    rows = [*result.series.variables, *result.series.covariates]
    lags = [split(name)[1] for name in result.names]
    row = np.array([rows.index(split(name)[0]) for name in result.names])
    widths = [
        max(size[i, 0] for i, lag in enumerate(lags) if lag == column) for column in range(result.series.lags, -1, -1)
    ]
    left = MARGIN + np.concatenate([[0.0], np.cumsum(np.array(widths) + COLUMN_GAP)[:-1]])
    column = result.series.lags - np.array(lags)
    pitch = float(size[:, 1].max()) + ROW_GAP
    centre = np.column_stack([left[column] + np.array(widths)[column] / 2, MARGIN + pitch * row + size[:, 1].max() / 2])
    arcs = [(int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(result.union.endpoints)), strict=True)]
    ports = _ports([arc for arc in arcs if column[arc[0]] == column[arc[1]]], centre)
    routes = {arc: _route(arc, centre, size, column, ports, pitch) for arc in arcs}
    widest = max([float((centre + size / 2)[:, 0].max()), *(float(route[:, 0].max()) for route in routes.values())])
    return Layout(lines, centre, size, routes, widest + MARGIN, float((centre + size / 2)[:, 1].max()) + MARGIN)


def _ports(arcs: Sequence[Arc], centre: Floats) -> dict[tuple[Arc, int], float]:
    """How far from the middle of a box each link inside a time step stands, in the order of the other ends."""
    found = {}
    for box in {place for arc in arcs for place in arc}:
        here = sorted((arc for arc in arcs if box in arc), key=lambda arc: centre[arc[0] + arc[1] - box, 1])
        for number, arc in enumerate(here):
            found[arc, box] = PORT * (number - (len(here) - 1) / 2) / max(1.0, (len(here) - 1) / 3)
    return found


def _route(arc: Arc, centre: Floats, size: Floats, column: Ints, ports: dict[tuple[Arc, int], float],
           pitch: float) -> Floats:  # fmt: skip
    """From the right side of the earlier box to the left side of the later one, between the boxes on the way."""
    i, j = arc
    start, end = centre[i] + (size[i, 0] / 2, 0.0), centre[j] - (size[j, 0] / 2, 0.0)
    if column[i] == column[j]:
        start, end = (centre[box] + (size[box, 0] / 2, ports[arc, box]) for box in arc)
        bend = BULGE * (0.6 + 0.4 * abs(centre[i, 1] - centre[j, 1]) / pitch)
        reach = max(start[0], end[0]) + bend
        return np.array([start, (reach, start[1]), (reach, end[1]), end])
    between = range(int(column[i]) + 1, int(column[j]))
    points = [(float(start[0]), float(start[1]))]
    for place in between:
        share = (place - column[i]) / (column[j] - column[i])
        y = start[1] + share * (end[1] - start[1])
        lane = (np.floor((y - centre[:, 1].min()) / pitch) + 0.5) * pitch + centre[:, 1].min()
        middle = centre[column == place][0, 0]
        half = size[column == place, 0].max() / 2
        points += [(middle - half, float(lane)), (middle + half, float(lane))]
    return curve([*points, (float(end[0]), float(end[1]))])


def summary_picture(result: LaggedGraphs) -> Picture:
    """What causes what at any lag: a label has the lags, a box those at which a variable acts on itself."""
    from causalcontext.drawing.figure import Picture  # needs matplotlib, which reports do without

    names = (*result.series.variables, *result.series.covariates)
    pairs: dict[tuple[int, int], list[SummaryEdge]] = {}
    for edge in result.summary:
        if edge.source != edge.target:
            i, j = names.index(edge.source), names.index(edge.target)
            pairs.setdefault((min(i, j), max(i, j)), []).append(edge)
    graph = Graph.from_edges(names, [(*_marked(names, pair, edges),) for pair, edges in pairs.items()])
    places = layout(_with_own_lags(graph, result))
    strokes = tuple(_stroke(result, graph, pair, edges) for pair, edges in pairs.items())
    panel = Panel("summary over all lags", strokes)
    contexts = tuple(names.index(result.names[place]) for place in result.cells.positions)
    samples = [
        replace(one, words=BOTH_WAYS) if one.stroke.endpoints == endpoints_of_mark("<=>") else one
        for one in legend(result, [panel], None)
    ]
    return Picture((panel,), tuple(samples), places, contexts)


def _marked(names: Sequence[str], pair: tuple[int, int], edges: Sequence[SummaryEdge]) -> tuple[str, str, str]:
    ways = {(edge.source, edge.target) for edge in edges if edge.mark == "-->"}
    if len(ways) == 2:
        return names[pair[0]], names[pair[1]], "<=>"
    return edges[0].source, edges[0].target, "-->" if ways else edges[0].mark


def _with_own_lags(graph: Graph, result: LaggedGraphs) -> Graph:
    """The same graph with the lags at which a variable acts on itself written in its box."""
    own = {name: result.summary.lags(name, name) for name in graph.names}
    return Graph(
        [f"{name} (own lag {_listed(own[name])})" if own[name] else name for name in graph.names], graph.endpoints
    )


def _stroke(result: LaggedGraphs, graph: Graph, pair: tuple[int, int], edges: Sequence[SummaryEdge]) -> Stroke:
    having = [value for value in result.contexts if any(value in edge.contexts for edge in edges)]
    lags = " / ".join(_listed(edge.lags) for edge in edges)
    return Stroke(pair, endpoints_of(graph, pair), colours_of(result, having), label=f"lag {lags}")


def _listed(lags: Sequence[int]) -> str:
    runs = list(lags)
    if len(runs) > 2 and all(b - a == 1 for a, b in pairwise(runs)):
        return f"{runs[0]}-{runs[-1]}"
    return ", ".join(map(str, runs))
