"""Causal order as columns: which variable stands in which layer, and in which order inside it.

The method is the usual one for layered drawings: make the edges acyclic by turning a few, put every variable behind
its causes, let long edges pass through places of their own, and sort every layer by the middle of its neighbours.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from causalcontext.graphs.endpoints import Endpoint
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.paths import causal_order
from causalcontext.kernels.arrays import Bools, Ints

SWEEPS = 12
Arc = tuple[int, int]


def oriented_arcs(graph: Graph) -> list[Arc]:
    """Every edge once, as an arc along one order of the variables that respects the directed edges if any order can."""
    rank = {node: place for place, node in enumerate(_causal_order(graph))}
    first, second = np.nonzero(np.triu(graph.endpoints))
    pairs = [(int(i), int(j)) for i, j in zip(first, second, strict=True)]
    return [(i, j) if rank[i] < rank[j] else (j, i) for i, j in pairs]


def layer_numbers(count: int, arcs: Sequence[Arc]) -> Ints:
    """The layer of every variable: behind all its causes, and as close to its effects as that allows."""
    parents, children = _sides(count, arcs)
    layer = np.zeros(count, dtype=np.int64)
    order = causal_order(_links(count, arcs), range(count))
    for node in order:
        layer[node] = max((layer[parent] + 1 for parent in parents[node]), default=0)
    for node in reversed(order):
        if children[node] and len(children[node]) >= len(parents[node]):
            layer[node] = min(layer[child] for child in children[node]) - 1
    return layer


def threaded(layer: Ints, arcs: Sequence[Arc]) -> tuple[Ints, dict[Arc, list[int]]]:
    """The layers of variables and of the places where long edges pass, and the chain of places of every arc."""
    places = layer.tolist()
    chains: dict[Arc, list[int]] = {}
    for start, end in arcs:
        between = range(layer[start] + 1, layer[end])
        chains[start, end] = [start, *range(len(places), len(places) + len(between)), end]
        places.extend(between)
    return np.array(places, dtype=np.int64), chains


def sorted_layers(layer: Ints, chains: Iterable[Sequence[int]]) -> list[list[int]]:
    """The members of every layer from top to bottom, with few crossings."""
    links = [(a, b) for chain in chains for a, b in pairwise(chain)]
    before, behind = _sides(len(layer), links)
    layers = [np.flatnonzero(layer == number).tolist() for number in range(int(layer.max(initial=-1)) + 1)]
    best, fewest = [list(members) for members in layers], crossings(layers, behind)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for number in range(1, len(layers)) if forward else range(len(layers) - 2, -1, -1):
            fixed = layers[number - 1 if forward else number + 1]
            layers[number] = _by_middle(layers[number], fixed, before if forward else behind)
        found = crossings(layers, behind)
        if found < fewest:
            best, fewest = [list(members) for members in layers], found
    return best


def crossings(layers: Sequence[Sequence[int]], behind: Sequence[Sequence[int]]) -> int:
    """How many pairs of edges between neighbouring layers cross."""
    total = 0
    for here, there in pairwise(layers):
        place = {node: number for number, node in enumerate(there)}
        seen: list[int] = []
        for node in here:
            endpoints = sorted(place[other] for other in behind[node])
            total += sum(len(seen) - bisect_right(seen, end) for end in endpoints)
            for end in endpoints:
                insort(seen, end)
    return total


def _causal_order(graph: Graph) -> list[int]:
    """The variables, causes first; where directed edges go in circles, those with the most effects first."""
    adjacent = graph.adjacency
    forward = (graph.endpoints == Endpoint.ARROW) & (graph.endpoints.T != Endpoint.ARROW)
    causes, effects = forward.sum(axis=0), forward.sum(axis=1)
    left, near = np.ones(len(forward), dtype=bool), np.zeros(len(forward), dtype=bool)
    order: list[int] = []
    while left.any():
        free = left & (causes == 0)
        pool = np.flatnonzero(free if free.any() else left)
        best = np.lexsort((pool, causes[pool] - effects[pool], ~near[pool]))[0]
        chosen = int(pool[best])
        order.append(chosen)
        left[chosen] = False
        near |= adjacent[chosen]
        causes = causes - forward[chosen]
        effects = effects - forward[:, chosen]
    return order


def _links(count: int, arcs: Sequence[Arc]) -> Bools:
    links = np.zeros((count, count), dtype=np.bool_)
    for start, end in arcs:
        links[start, end] = True
    return links


def _sides(count: int, links: Sequence[Arc]) -> tuple[list[list[int]], list[list[int]]]:
    """What leads to every place, and where it leads to."""
    before: list[list[int]] = [[] for _ in range(count)]
    behind: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        behind[a].append(b)
        before[b].append(a)
    return before, behind


def _by_middle(members: list[int], fixed: Sequence[int], side: Sequence[Sequence[int]]) -> list[int]:
    """The members by the mean place of their neighbours in the fixed layer; those without stay where they are."""
    place = {node: number for number, node in enumerate(fixed)}
    scale = len(fixed) / max(len(members), 1)
    keys = {
        node: sum(place[other] for other in side[node]) / len(side[node]) if side[node] else number * scale
        for number, node in enumerate(members)
    }
    return sorted(members, key=lambda node: keys[node])
