"""The places of boxes and lines: one layout for all contexts, made from the union graph, in units
of the font size.

Causes stand left of effects, in layers by the usual method: make the edges acyclic by turning a
few, put every variable behind its causes, let long edges pass through places of their own, and sort
every layer by the middle of its neighbours. Edges leave a box at its right side and enter the next
one at its left side, as smooth curves that pass between other boxes. Variables without any edge
stand in rows of their own at the bottom.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from causalcontext.drawing.names import shown_names, text_width
from causalcontext.drawing.settings import (
    BOX_GAP,
    COLUMN_GAP,
    EDGES_AT_ONCE,
    LAYOUT_MARGIN,
    MANY_PLACES,
    MOST_LAYOUT_SWEEPS,
    MOST_PASSES,
    THREAD_GAP,
)
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.graphs.paths import causal_order
from causalcontext.kernels.arrays import Floats, Ints

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph

Arc = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Layout:
    """Boxes and routes, in units of the font size; y points down."""

    lines: tuple[tuple[str, ...], ...]  # what is written in each box
    centre: Floats  # the middle of every box, shape (variables, 2)
    size: Floats  # its width and height, alike; a variable of size 0 is not shown
    routes: dict[Arc, Floats]
    """By (i, j), i < j, a chain of m cubic Bézier curves from box i to box j, shape (1 + 3 m, 2),
    horizontal at its ends."""
    width: float  # of the whole picture, from (0, 0)
    height: float


def layout(graph: Graph, notes: Mapping[str, str] | None = None) -> Layout:
    """The layout of a graph; for several contexts, of their union.

    Variables with edges are laid out in layers. Those without stand in rows below, so that they
    take no room between the others. Everything is moved so that the upper left corner is at
    `LAYOUT_MARGIN`.

    Parameters
    ----------
    graph : the graph whose edges are drawn
    notes : by name, a line that a box has below its variable, such as "own lag 1"
    """
    noted = ([note] if (note := (notes or {}).get(name)) else [] for name in graph.names)
    lines = tuple(
        (*shown, *note) for shown, note in zip(shown_names(graph.names), noted, strict=True)
    )
    size = np.array([box_size(box_lines) for box_lines in lines]).reshape(-1, 2)
    linked = np.flatnonzero(graph.adjacency.any(axis=1))
    centre = np.zeros_like(size)
    routes: dict[Arc, Floats] = {}
    width = 0.0
    height = 0.0
    if linked.size:
        inner = graph.replaced(
            [graph.names[i] for i in linked], graph.endpoints[np.ix_(linked, linked)]
        )
        centre[linked], found_routes = _layered(inner, size[linked])
        routes = {(int(linked[i]), int(linked[j])): route for (i, j), route in found_routes.items()}
        low = (centre[linked] - size[linked] / 2).min(axis=0)
        high = (centre[linked] + size[linked] / 2).max(axis=0)
        for route in routes.values():
            low = np.minimum(low, route.min(axis=0))
            high = np.maximum(high, route.max(axis=0))
        centre[linked] += LAYOUT_MARGIN - low
        routes = {pair: route + LAYOUT_MARGIN - low for pair, route in routes.items()}
        width, height = (high - low + 2 * LAYOUT_MARGIN).tolist()
    width, height = _rows_below(
        centre, size, np.setdiff1d(np.arange(len(size)), linked), width, height
    )
    return Layout(lines, centre, size, routes, width, height)


def box_size(lines: tuple[str, ...]) -> tuple[float, float]:
    """The width and height of a box around these lines, in font sizes.

    A line takes 1.2 of height. The margins are .6 at both sides, and .4 above and below.
    """
    return max(text_width(line) for line in lines) + 1.2, 0.8 + 1.2 * len(lines)


def _layered(graph: Graph, size: Floats) -> tuple[Floats, dict[Arc, Floats]]:
    """The centres of boxes, shape (variables, 2), and the routes of edges, where each variable has
    one.

    The steps are those of Sugiyama, Tagawa and Toda (1981): an order of the variables, layers, a
    place in every layer that a long edge passes, an order inside the layers, heights. A place is a
    box without height, so that boxes keep away from long edges. Columns are as wide as their widest
    box and `COLUMN_GAP` apart.

    An edge leaves the right side of its cause and enters the left side of its effect; its route is
    turned round where the cause is the second of the pair.
    """
    arcs = oriented_arcs(graph)
    layer = layer_numbers(len(size), arcs)
    # the layers of variables and of the places where long edges pass, and the chain of places of
    # every arc
    threaded = layer.tolist()
    chains = dict[Arc, list[int]]()
    for start, end in arcs:
        between = range(layer[start] + 1, layer[end])
        chains[start, end] = [start, *range(len(threaded), len(threaded) + len(between)), end]
        threaded.extend(between)
    places = np.array(threaded, dtype=np.int64)
    layers = sorted_layers(places, chains.values())
    heights = np.concatenate([size[:, 1], np.zeros(len(places) - len(size))])
    y = _heights(layers, chains.values(), heights)
    widths = np.array(
        [size[layer == number, 0].max(initial=1.0) for number in range(int(layer.max()) + 1)]
    )
    left = np.concatenate([[0.0], np.cumsum(widths + COLUMN_GAP)[:-1]])
    right = left + widths
    centre = np.column_stack([(left[layer] + right[layer]) / 2, y[: len(size)]])
    leaving, entering = (_sides_of_boxes(chains, y, size, end) for end in (0, -1))
    routes = {}
    for (start, end), chain in chains.items():
        points = [(centre[start, 0] + size[start, 0] / 2, leaving[start, end])]
        for passed in chain[1:-1]:
            points += [(left[places[passed]], y[passed]), (right[places[passed]], y[passed])]
        points.append((centre[end, 0] - size[end, 0] / 2, entering[start, end]))
        route = curve(points)
        routes[min(start, end), max(start, end)] = route if start < end else route[::-1]
    return centre, routes


def _heights(
    layers: Sequence[Sequence[int]], chains: Iterable[Sequence[int]], heights: Floats
) -> Floats:
    """The y of every place, shape (places,): near the middle of its neighbours, with room between.

    In turns from left to right and back, every layer moves to the means m of its neighbours'
    heights, as far as its order and its gaps allow: with offsets o, the sums of the gaps, it is the
    vector y that minimises sum (y - m)^2 where y - o does not fall (`_nondecreasing`).

    Parameters
    ----------
    layers : the places of every layer, from top to bottom
    chains : the places of every edge, from its cause to its effect
    heights : shape (places,), 0 where a long edge passes
    """
    sides = _sides(len(heights), [link for chain in chains for link in pairwise(chain)])
    near = [before + behind for before, behind in zip(*sides, strict=True)]
    y = np.zeros(len(heights))
    for members in layers:
        gaps = _gaps(members, heights)
        y[members] = np.cumsum(gaps) - np.sum(gaps) / 2
    # every place has a neighbour, so that a layer's means are sums over stretches of one list
    neighbours = [
        np.array([other for node in members for other in near[node]]) for members in layers
    ]
    counts = [np.array([len(near[node]) for node in members]) for members in layers]
    offsets = [np.cumsum(_gaps(members, heights)) for members in layers]
    for turn in range(_fewer(MOST_PASSES, len(heights))):
        for k in range(len(layers)) if turn % 2 == 0 else reversed(range(len(layers))):
            starts = np.cumsum(counts[k]) - counts[k]
            wanted = np.add.reduceat(y[neighbours[k]], starts) / counts[k]
            y[layers[k]] = _nondecreasing(wanted - offsets[k]) + offsets[k]
    return y


def _fewer(times: int, places: int) -> int:
    """The number of sweeps over so many places: `times`, and fewer beyond `MANY_PLACES`.

    It is even, so that both directions get as many, and at least 2; the work of all sweeps then
    stays about the same.
    """
    return times if places <= MANY_PLACES else max(2, times * MANY_PLACES // places // 2 * 2)


def _gaps(members: Sequence[int], heights: Floats) -> Floats:
    """The distance of the middle of every member to that of the one above, shape (members,); first
    0.

    Two boxes are `BOX_GAP` apart, a long edge and what is beside it `THREAD_GAP`.
    """
    half = heights[list(members)] / 2
    boxes = heights[list(members)] > 0
    room = np.where(boxes[1:] & boxes[:-1], BOX_GAP, THREAD_GAP)
    return np.concatenate([[0.0], half[1:] + half[:-1] + room]) if len(half) else half


def _nondecreasing(wanted: Floats) -> Floats:
    """The nondecreasing sequence nearest to `wanted` in squares, by pooling adjacent violators.

    A block is (total, count). A new value joins the blocks above as long as their mean is larger
    than its own; each block is at its mean in the end. It takes a number of steps that is linear in
    the length.
    """
    blocks: list[tuple[float, int]] = []
    for value in wanted.tolist():
        total = value
        count = 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            above, more = blocks.pop()
            total = total + above
            count = count + more
        blocks.append((total, count))
    return (
        np.repeat([total / count for total, count in blocks], [count for _, count in blocks])
        if blocks
        else wanted
    )


def _sides_of_boxes(
    chains: dict[Arc, list[int]], y: Floats, size: Floats, end: int
) -> dict[Arc, float]:
    """The heights at which edges leave their boxes (`end` 0) or enter them (-1), by edge.

    The edges of a side are spread around its middle, in the order of the places that they go to, so
    that none crosses another there; they take at most three quarters of the side and are at most .8
    apart.
    """
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


def curve(points: Sequence[tuple[float, float]], turn: float = 0.5) -> Floats:
    """A chain of cubic Bézier curves through the points, shape (1 + 3 m, 2) for m + 1 points.

    A curve from (x0, y0) to (x1, y1) has its two control points at x0 + turn (x1 - x0) and x1 -
    turn (x1 - x0), at the heights of its ends: so it is horizontal at each point, and a chain has
    no corner.
    """
    curve = [points[0]]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (x1 - x0) * turn
        curve += [(x0 + bend, y0), (x1 - bend, y1), (x1, y1)]
    return np.array(curve)


def _rows_below(
    centre: Floats, size: Floats, chosen: NDArray[np.intp], width: float, height: float
) -> tuple[float, float]:
    """Put boxes without edges in rows under the rest; the width and height of everything.

    `chosen` are their positions; `centre` is written. A row is as wide as the picture, or as a
    square of that many boxes would be, and never narrower than its widest box.
    """
    if not chosen.size:
        return width, height
    wide = max(
        width, float(np.sqrt(len(chosen))) * 10.0, float(size[chosen, 0].max()) + 2 * LAYOUT_MARGIN
    )
    x = LAYOUT_MARGIN
    y = height or LAYOUT_MARGIN
    row = 0.0
    for box in chosen:
        if x > LAYOUT_MARGIN and x + size[box, 0] + LAYOUT_MARGIN > wide:
            x = LAYOUT_MARGIN
            y = y + row + 1.0
            row = 0.0
        row = max(row, float(size[box, 1]))
        centre[box] = x + size[box, 0] / 2, y + size[box, 1] / 2
        x += float(size[box, 0]) + 1.0
    return wide, y + row + LAYOUT_MARGIN


def oriented_arcs(graph: Graph) -> list[Arc]:
    """Every edge once, as an arc along one order of the variables.

    The order respects the directed edges if any order can: variables without a cause among those
    that are left come first, of these such as are near to variables that have a number already,
    then those with the most effects beyond their causes (Eades, Lin and Smyth, 1993). Where
    directed edges go in circles, the last two decide alone, so that few arcs are turned.
    """
    forward = (graph.endpoints == Endpoint.ARROW) & (graph.endpoints.T != Endpoint.ARROW)
    causes = forward.sum(axis=0)
    effects = forward.sum(axis=1)
    left = np.ones(len(forward), dtype=bool)
    near = np.zeros(len(forward), dtype=bool)
    rank: dict[int, int] = {}
    adjacent = graph.adjacency
    while left.any():
        free = left & (causes == 0)
        pool = np.flatnonzero(free if free.any() else left)
        chosen = int(pool[np.lexsort((pool, causes[pool] - effects[pool], ~near[pool]))[0]])
        rank[chosen] = len(rank)
        left[chosen] = False
        near |= adjacent[chosen]
        causes = causes - forward[chosen]
        effects = effects - forward[:, chosen]
    return [
        (i, j) if rank[i] < rank[j] else (j, i)
        for i, j in np.argwhere(np.triu(graph.endpoints)).tolist()
    ]


def layer_numbers(count: int, arcs: Sequence[Arc]) -> Ints:
    """The layer of every variable, shape (count,): behind all its causes.

    That is the longest path from a variable without causes. From the right, a variable with at
    least as many effects as causes then moves as close to its effects as that allows, which
    shortens more edges than it stretches.
    """
    parents, children = _sides(count, arcs)
    layer = np.zeros(count, dtype=np.int64)
    links = np.zeros((count, count), dtype=np.bool_)
    links[tuple(np.array(arcs, dtype=np.intp).reshape(-1, 2).T)] = True
    order = causal_order(links, range(count))
    for node in order:
        layer[node] = max((layer[parent] + 1 for parent in parents[node]), default=0)
    for node in reversed(order):
        if children[node] and len(children[node]) >= len(parents[node]):
            layer[node] = min(layer[child] for child in children[node]) - 1
    return layer


def sorted_layers(layer: Ints, chains: Iterable[Sequence[int]]) -> list[list[int]]:
    """The members of every layer from top to bottom, with few crossings.

    Layers are sorted by the mean place of their neighbours, from left to right and back, and the
    order with the fewest crossings so far is kept. It ends after `MOST_LAYOUT_SWEEPS` sweeps, or as
    soon as a sweep in one direction gives what it gave before.

    Parameters
    ----------
    layer : shape (places,), the number of the layer of each
    chains : the places of every edge, one a layer
    """
    before, behind = _sides(len(layer), [link for chain in chains for link in pairwise(chain)])
    layers = [
        np.flatnonzero(layer == number).tolist() for number in range(int(layer.max(initial=-1)) + 1)
    ]
    best = [list(members) for members in layers]
    fewest = crossings(layers, behind)
    earlier: dict[bool, list[list[int]]] = {}
    for sweep in range(_fewer(MOST_LAYOUT_SWEEPS, len(layer))):
        forward = sweep % 2 == 0
        if forward:
            for number in range(1, len(layers)):
                layers[number] = _by_neighbours(layers[number], layers[number - 1], before)
        else:
            for number in range(len(layers) - 2, -1, -1):
                layers[number] = _by_neighbours(layers[number], layers[number + 1], behind)
        if layers == earlier.get(forward):
            break  # it goes on like this
        earlier[forward] = [list(members) for members in layers]
        crossing = crossings(layers, behind)
        if crossing < fewest:
            best = [list(members) for members in layers]
            fewest = crossing
    return best


def _by_neighbours(
    members: Sequence[int], fixed: Sequence[int], neighbours: Sequence[Sequence[int]]
) -> list[int]:
    """The members of a layer by the mean place of their neighbours in the `fixed` layer beside.

    Those without neighbours there stay at their share of the layer. Equal means keep their order,
    which makes the layout independent of chance.
    """
    position = {node: number for number, node in enumerate(fixed)}
    keys: dict[int, float] = {}
    for number, node in enumerate(members):
        beside = [position[other] for other in neighbours[node]]
        keys[node] = number * (len(fixed) / len(members))
        if beside:
            keys[node] = sum(beside) / len(beside)
    return sorted(members, key=keys.__getitem__)


def crossings(layers: Sequence[Sequence[int]], behind: Sequence[Sequence[int]]) -> int:
    """The number of pairs of edges between neighbouring layers that cross.

    Sorted by their beginning and then by their end, two edges cross where the ends are in falling
    order: so it is a number of inversions, in n log n steps rather than n^2.
    """
    total = 0
    for members, members_behind in pairwise(layers):
        position = {node: number for number, node in enumerate(members_behind)}
        total += _inversions(
            [end for node in members for end in sorted([position[other] for other in behind[node]])]
        )
    return total


def _inversions(numbers: Sequence[int]) -> int:
    """The number of pairs of numbers in falling order.

    A part of `EDGES_AT_ONCE` numbers is compared with itself pair by pair, and with all earlier
    ones by a search among these in order.
    """
    total = 0
    values = np.array(numbers)
    for start in range(0, len(values), EDGES_AT_ONCE):
        part = values[start : start + EDGES_AT_ONCE]
        earlier = np.sort(values[:start])
        total += int(np.triu(part[:, None] > part, 1).sum())
        total += int((start - np.searchsorted(earlier, part, side="right")).sum())
    return total


def _sides(count: int, links: Sequence[Arc]) -> tuple[list[list[int]], list[list[int]]]:
    """The nodes before and behind every node, by links: two lists of `count` lists."""
    before: list[list[int]] = [[] for _ in range(count)]
    behind: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        behind[a].append(b)
        before[b].append(a)
    return before, behind
