"""Our layered layout beside fast-sugiyama: crossings of edges, and time.

    pip install fast-sugiyama; python benchmarks/research/layered_layout.py [--graphs 8]

Random directed graphs with three neighbours a variable on average. Crossings are counted between
neighbouring layers, where long edges pass through places of their own, in both layouts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from causalcontext import Graph
from causalcontext.drawing import layout

sys.path.insert(0, str(Path(__file__).parents[1]))
from measuring import machine, markdown_table

SIZES = (8, 20, 50, 100, 200)
Arcs = list[tuple[int, int]]


def main() -> None:
    """Print crossings and milliseconds of both, the median over graphs."""
    import fast_sugiyama

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=8)
    graphs = parser.parse_args().graphs
    print(f"{machine('fast-sugiyama')}\n")
    rows = []
    for size in SIZES:
        numbers = [_compared(size, seed, fast_sugiyama.from_edges) for seed in range(graphs)]
        rows.append([str(size), *(f"{number:.1f}" for number in np.median(numbers, axis=0))])
    header = ["variables", "crossings, ours", "its", "our order, ms", "its, ms", "our picture, ms"]
    print(markdown_table(header, rows))


def _compared(size: int, seed: int, from_edges: Callable[[Arcs], Any]) -> tuple[float, ...]:
    arcs = random_arcs(size, seed)
    names = [f"v{i}" for i in range(size)]
    graph = Graph.from_edges(names, [(names[i], names[j], "-->") for i, j in arcs])
    ordering, ours = _timed(lambda: our_crossings(size, arcs))
    placing, parts = _timed(lambda: from_edges(arcs))
    drawing, _ = _timed(lambda: layout.layout(graph))
    return ours, its_crossings(parts), ordering, placing, drawing


def random_arcs(size: int, seed: int) -> Arcs:
    """Arcs along a random order, three neighbours a variable on average."""
    random = np.random.default_rng([seed, size])
    order = random.permutation(size)
    arcs = set()
    for j in range(1, size):
        for i in random.choice(j, min(j, random.poisson(1.5)), replace=False):
            arcs.add((int(order[i]), int(order[j])))
    return sorted(arcs)


def our_crossings(size: int, arcs: Arcs) -> int:
    """The crossings that are left in our order of the layers."""
    layer = layout.layer_numbers(size, arcs)
    places = layer.tolist()
    chains = []
    for start, end in arcs:
        between = range(layer[start] + 1, layer[end])
        chains.append([start, *range(len(places), len(places) + len(between)), end])
        places.extend(between)
    layers = layout.sorted_layers(np.array(places), chains)
    _, behind = layout._sides(len(places), [link for chain in chains for link in pairwise(chain)])
    return layout.crossings(layers, behind)


def its_crossings(parts: Any) -> int:
    """The crossings of its positions, over the connected parts that it lays out."""
    total = 0
    for positions, _, _, edges in parts:
        place = dict(positions)
        between = defaultdict(list)
        for edge in edges:
            upper, lower = sorted(edge, key=lambda node: place[node][1])
            between[place[upper][1]].append((place[upper][0], place[lower][0]))
        for links in between.values():
            total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(links, 2))
    return total


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """The least milliseconds of three calls, and the answer."""
    clocks = []
    for _ in range(3):
        start = time.perf_counter()
        answer = call()
        clocks.append(1e3 * (time.perf_counter() - start))
    return min(clocks), answer


if __name__ == "__main__":
    main()
