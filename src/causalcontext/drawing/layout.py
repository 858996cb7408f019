"""Where everything stands: one layout for all contexts, made from the union graph, in units of the font size.

Causes stand left of effects. Edges leave a box at its right side and enter the next one at its left side, as smooth
curves that pass between other boxes. Variables without any edge stand in rows of their own at the bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from causalcontext.drawing.layers import Arc, layer_numbers, oriented_arcs, sorted_layers, threaded
from causalcontext.drawing.names import shown_names, text_width
from causalcontext.graphs.graph import Graph
from causalcontext.kernels.arrays import Floats, Ints

COLUMN_GAP = 5.0
ROW_GAP = 1.5
THREAD_GAP = 1.1
MARGIN = 1.2
PASSES = 24


@dataclass(frozen=True, eq=False)
class Layout:
    """Boxes and routes, in units of the font size; y points down.

    Attributes
    ----------
    lines : tuple of tuples of str
        What is written in each box.
    centre, size : arrays of float, shape (variables, 2)
        The middle of every box, and its width and height.
    routes : mapping from (i, j), i < j, to array of float, shape (1 + 3 m, 2)
        A chain of m cubic Bézier curves from box i to box j; both ends are horizontal.
    width, height : float
        Of the whole picture, from (0, 0).
    """

    lines: tuple[tuple[str, ...], ...]
    centre: Floats
    size: Floats
    routes: dict[Arc, Floats]
    width: float
    height: float


def layout(graph: Graph) -> Layout:
    """The layout of a graph; for several contexts, of their union.

    Examples
    --------
    >>> found = layout(Graph.from_edges(["X", "Y"], [("X", "Y", "-->")]))
    >>> bool(found.centre[0, 0] < found.centre[1, 0])
    True
    """
    lines = shown_names(graph.names)
    size = np.array([box_size(found) for found in lines]).reshape(-1, 2)
    linked = np.flatnonzero(graph.adjacency.any(axis=1))
    centre = np.zeros_like(size)
    routes: dict[Arc, Floats] = {}
    width, height = 0.0, 0.0
    if linked.size:
        inner = Graph([graph.names[i] for i in linked], graph.endpoints[np.ix_(linked, linked)])
        centre[linked], found_routes = _layered(inner, size[linked])
        routes = {(int(linked[i]), int(linked[j])): route for (i, j), route in found_routes.items()}
        width, height = _shift_to_margin(centre, size, linked, routes)
    width, height = _rows_below(centre, size, np.setdiff1d(np.arange(len(size)), linked), width, height)
    return Layout(lines, centre, size, routes, width, height)


def box_size(lines: tuple[str, ...]) -> tuple[float, float]:
    """The width and height of a box around these lines."""
    return max(text_width(line) for line in lines) + 1.2, 0.8 + 1.2 * len(lines)


def _layered(graph: Graph, size: Floats) -> tuple[Floats, dict[Arc, Floats]]:
    """Centres of boxes and routes of edges, where every variable has an edge."""
    arcs = oriented_arcs(graph)
    layer = layer_numbers(len(size), arcs)
    places, chains = threaded(layer, arcs)
    layers = sorted_layers(places, chains.values())
    heights = np.concatenate([size[:, 1], np.zeros(len(places) - len(size))])
    y = _heights(layers, chains.values(), heights)
    left, right = _columns(layer, size)
    centre = np.column_stack([(left[layer] + right[layer]) / 2, y[: len(size)]])
    return centre, _routes(chains, places, centre, size, y, left, right)


def _columns(layer: Ints, size: Floats) -> tuple[Floats, Floats]:
    """Left and right side of every column: as wide as its widest box."""
    widths = np.array([size[layer == number, 0].max(initial=1.0) for number in range(int(layer.max()) + 1)])
    left = np.concatenate([[0.0], np.cumsum(widths + COLUMN_GAP)[:-1]])
    return left, left + widths


def _heights(layers: Sequence[Sequence[int]], chains: object, heights: Floats) -> Floats:
    """The y of every place: near the middle of its neighbours, in the order of its layer, with room between."""
    near: list[list[int]] = [[] for _ in heights]
    for chain in chains:  # type: ignore[attr-defined]
        for a, b in pairwise(chain):
            near[a].append(b)
            near[b].append(a)
    y = np.zeros(len(heights))
    for members in layers:
        gaps = _gaps(members, heights)
        y[members] = np.cumsum(gaps) - np.sum(gaps) / 2
    for turn in range(PASSES):
        for members in layers if turn % 2 == 0 else reversed(layers):
            wanted = np.array([_middle(node, near[node], y, len(near[node])) for node in members])
            offset = np.cumsum(_gaps(members, heights))
            y[members] = _nondecreasing(wanted - offset) + offset
    return y


def _middle(node: int, near: list[int], y: Floats, count: int) -> float:
    return float(y[near].mean()) if count else float(y[node])


def _gaps(members: Sequence[int], heights: Floats) -> Floats:
    """The distance of every member to the one above; zero for the first."""
    half = heights[list(members)] / 2
    boxes = heights[list(members)] > 0
    room = np.where(boxes[1:] & boxes[:-1], ROW_GAP, THREAD_GAP)
    return np.concatenate([[0.0], half[1:] + half[:-1] + room]) if len(half) else half


def _nondecreasing(wanted: Floats) -> Floats:
    """The nondecreasing sequence nearest to `wanted` (pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in wanted:
        total, count = float(value), 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            above, more = blocks.pop()
            total, count = total + above, count + more
        blocks.append((total, count))
    return np.concatenate([np.full(count, total / count) for total, count in blocks]) if blocks else wanted


def _routes(chains: dict[Arc, list[int]], places: Ints, centre: Floats, size: Floats, y: Floats,
            left: Floats, right: Floats) -> dict[Arc, Floats]:  # fmt: skip
    leaving = _ports(chains, y, size, end=0)
    entering = _ports(chains, y, size, end=-1)
    routes = {}
    for (start, end), chain in chains.items():
        points = [(centre[start, 0] + size[start, 0] / 2, leaving[start, end])]
        for place in chain[1:-1]:
            points += [(left[places[place]], y[place]), (right[places[place]], y[place])]
        points.append((centre[end, 0] - size[end, 0] / 2, entering[start, end]))
        route = curve(points)
        routes[min(start, end), max(start, end)] = route if start < end else route[::-1]
    return routes


def _ports(chains: dict[Arc, list[int]], y: Floats, size: Floats, end: int) -> dict[Arc, float]:
    """Where every edge leaves (`end` 0) or enters (-1) its box: spread over its side in the order of neighbours."""
    by_box: dict[int, list[Arc]] = {}
    for arc in chains:
        by_box.setdefault(arc[end], []).append(arc)
    ports = {}
    for box, arcs in by_box.items():
        arcs.sort(key=lambda arc: y[chains[arc][1 if end == 0 else -2]])
        room = min(0.8, 0.75 * size[box, 1] / max(len(arcs) - 1, 1))
        for number, arc in enumerate(arcs):
            ports[arc] = float(y[box] + (number - (len(arcs) - 1) / 2) * room)
    return ports


def curve(points: Sequence[tuple[float, float]]) -> Floats:
    """Cubic curves through the points, horizontal at each of them."""
    curve = [points[0]]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (x1 - x0) * 0.5
        curve += [(x0 + bend, y0), (x1 - bend, y1), (x1, y1)]
    return np.array(curve)


def _shift_to_margin(centre: Floats, size: Floats, chosen: NDArray[np.intp], routes: dict[Arc, Floats]
                     ) -> tuple[float, float]:  # fmt: skip
    """Move boxes and routes so that they start at the margin; the width and height they then take."""
    low = (centre[chosen] - size[chosen] / 2).min(axis=0)
    high = (centre[chosen] + size[chosen] / 2).max(axis=0)
    for route in routes.values():
        low, high = np.minimum(low, route.min(axis=0)), np.maximum(high, route.max(axis=0))
    centre[chosen] += MARGIN - low
    for pair in routes:
        routes[pair] = routes[pair] + MARGIN - low
    width, height = high - low + 2 * MARGIN
    return float(width), float(height)


def _rows_below(centre: Floats, size: Floats, chosen: NDArray[np.intp], width: float, height: float
                ) -> tuple[float, float]:  # fmt: skip
    """Boxes without edges in rows under the rest; the width and height of everything."""
    if not chosen.size:
        return width, height
    wide = max(width, float(np.sqrt(len(chosen))) * 10.0, float(size[chosen, 0].max()) + 2 * MARGIN)
    x, y, row = MARGIN, height or MARGIN, 0.0
    for box in chosen:
        if x > MARGIN and x + size[box, 0] + MARGIN > wide:
            x, y, row = MARGIN, y + row + 1.0, 0.0
        row = max(row, float(size[box, 1]))
        centre[box] = x + size[box, 0] / 2, y + size[box, 1] / 2
        x += float(size[box, 0]) + 1.0
    return wide, y + row + MARGIN
