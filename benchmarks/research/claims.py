"""Claims of change between 2000 and 100 rows: how many are false, and how many true ones are found.

Run as `python benchmarks/research/claims.py [models] [first seed]`. Random linear systems as dense as the
paper's (.4) and sparser ones; the context is a threshold of one variable of the graph (with noise
.2, or without any). "raw" is what the graphs of the method differ in. Shares of edges leave the
removed link out.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

import causalcontext as cc
from causalcontext.graphs.paths import causal_order
from causalcontext_lab.simulate.linear import ContextSCM
from causalcontext_lab.simulate.random_graphs import random_base
from measuring import with_second_opinion

ROWS = (2000, 100)
SETTINGS = ((8, 0.4), (8, 0.25))
METHODS = ("pc-ac", "score-ac", "auto")


def base_graph(
    nodes: int, density: float, generator: np.random.Generator
) -> tuple[np.ndarray, tuple[int, ...], int, np.ndarray]:
    """Coefficients, an order, a context that one other variable drives, and what does not lead to
    the context.
    """
    while True:
        order, base = random_base(nodes, density, generator)
        context = int(generator.integers(nodes))
        base[context, :] = 0.0
        parents = np.flatnonzero(base[:, context])
        if parents.size == 0:
            continue
        base[parents[1:], context] = 0.0
        reach = (
            np.linalg.matrix_power((base != 0) | np.eye(nodes, dtype=bool), nodes)[:, context] > 0
        )
        if (base[:, ~reach] != 0).any():
            return base, order, context, ~reach


def tables(design: str, setting: tuple[int, float], noise: float, seed: int):
    """A table and the removed link by name, or None."""
    generator = np.random.default_rng([seed, 77])
    base, order, context, downstream = base_graph(*setting, generator)
    names = tuple("R" if node == context else f"X{node}" for node in range(setting[0]))
    changed, removed = base.copy(), None
    if design == "one removed link":
        causes, effects = np.nonzero(base * downstream)
        chosen = generator.integers(causes.size)
        changed[causes[chosen], effects[chosen]] = 0.0
        removed = {names[causes[chosen]], names[effects[chosen]]}
    balance = np.log(ROWS[0] / sum(ROWS)) / np.log(0.5)
    model = ContextSCM(
        names, context, np.stack([base, changed]), order, balance=balance, context_noise=noise
    )
    table = model.sample(sum(ROWS), generator)
    if design == "variance of a cause":
        table = with_other_variance(table, base, names, context, downstream, order, generator)
    return table, removed


def with_other_variance(table, base, names, context, downstream, order, generator):
    """The same system, where the small context triples or thirds the noise of a downstream
    cause.
    """
    causes = [node for node in np.flatnonzero(downstream) if base[node].any()]
    if not causes:
        return table
    node, factor = causes[generator.integers(len(causes))], (3.0, 1 / 3)[generator.integers(2)]
    values = table[list(names)].to_numpy(float)
    level = values[:, context].copy()
    residual = values - values @ base
    residual[level == 1, node] *= factor
    for later in causal_order(base != 0, order):
        if downstream[later]:
            values[:, later] = residual[:, later] + values @ base[:, later]
    table = table.copy()
    for later in np.flatnonzero(downstream):
        table[names[later]] = values[:, later]
    return table


def main() -> None:
    models = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(
        f"{models} models, seeds from {first}; edges: system edges of the union graph found;"
        " claims: false ones"
    )
    columns = (
        "noise of R",
        "edges",
        "claims",
        "raw, %",
        "claimed, %",
        "removals",
        "raw, %",
        "claimed, %",
    )
    print(
        f"{'nodes, density':16}{'design':22}{'method':9}"
        + "".join(f"{name:>11}" for name in columns)
    )
    designs = ("no change", "variance of a cause", "one removed link")
    for setting, design, noise, method in product(SETTINGS, designs, (0.2, 0.0), METHODS):
        print(line(design, setting, noise, range(first, first + models), method), flush=True)


def line(
    design: str, setting: tuple[int, float], noise: float, seeds: range, method: str = "pc-ac"
) -> str:
    edges = raw = claimed = removals = raw_hits = hits = 0
    for seed in seeds:
        table, removed = tables(design, setting, noise, seed)
        result = cc.discover(table, context="R", method=method)
        differences = with_second_opinion(result).changes(0, 1).query("kind == 'edge'")
        pairs = [{row.source, row.target} for row in differences.itertuples()]
        claims = [{row.source, row.target} for row in differences.itertuples() if row.claimed]
        edges += sum("R" not in (edge.source, edge.target) for edge in result.union.edges)
        raw += len([pair for pair in pairs if pair != removed])
        claimed += len([pair for pair in claims if pair != removed])
        if removed:
            removals, raw_hits, hits = (
                removals + 1,
                raw_hits + (removed in pairs),
                hits + (removed in claims),
            )
    numbers = [noise, edges, claimed, 100 * raw / edges, 100 * claimed / edges]
    if removals:
        numbers += [removals, 100 * raw_hits / removals, 100 * hits / removals]
    return f"{setting!s:16}{design:22}{method:9}" + "".join(f"{number:11.4g}" for number in numbers)


if __name__ == "__main__":
    main()
