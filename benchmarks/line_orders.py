"""How good and how quick is the search for the best order by straight lines, beside FLOP?

    python benchmarks/line_orders.py --columns 20 50 100 200 --degree 3 8 --tables 5

FLOP (`pip install flopsearch`, which is no dependency) runs without restarts and with `--restarts`
on the same tables at the same price. A score is that of the graph in nats above the true one,
positive where the search found a better one; a graph of FLOP is scored by one of its members.
"plain" tables have weights of .5 to 2 and are standardised at the end, "unit" ones have weights of
.4 to 1 and are standardised as they are made. Seconds are processor seconds on one thread.
"""

from __future__ import annotations

import argparse
import os
import time
from importlib import import_module
from itertools import product

import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("RAYON_NUM_THREADS", "1")

from causalcontext.graphs.dags import extension
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.kernels.orders.line_orders import LineProblem, search_lines
from causalcontext.score.design import most_columns
from causalcontext.score.options import ScoreOptions
from measuring import machine, markdown_table

Graph = NDArray[np.bool_]
HEADER = ["table", "columns", "degree", "s", "nats", "wrong links", "FLOP: s", "nats"]
MORE = ["{} restarts: s", "nats", "wrong links", "not below the best of FLOP"]
SAME = 0.01
"""Scores that differ by less are the same (nats)."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--degree", type=float, nargs="+", default=[3.0, 8.0])
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--restarts", type=int, default=20)
    chosen = parser.parse_args()
    rows = []
    for kind, columns, degree in product(("unit", "plain"), chosen.columns, chosen.degree):
        found = [
            compared(*drawn(kind, columns, degree, chosen.rows, seed), chosen.restarts)
            for seed in range(chosen.tables)
        ]
        middle = np.median(found, axis=0)
        share = float(np.mean([one[1] > max(one[4], one[6]) - SAME for one in found]))
        rows.append(
            [kind, columns, degree, *(f"{number:.3g}" for number in middle), f"{share:.2f}"]
        )
    print(machine(), end="\n\n")
    print(markdown_table([*HEADER, *(title.format(chosen.restarts) for title in MORE)], rows))


def drawn(
    kind: str, columns: int, degree: float, rows: int, seed: int
) -> tuple[NDArray[np.float64], Graph]:
    """A table of lines in standard units, shape (rows, columns), and its links."""
    random = np.random.default_rng([seed, columns, rows, int(10 * degree), kind == "plain"])
    values = np.zeros((columns, rows))
    links = np.triu(random.random((columns, columns)) < degree / (columns - 1), 1)
    least, most = (0.5, 2.0) if kind == "plain" else (0.4, 1.0)
    for effect in range(columns):
        for cause in np.flatnonzero(links[:, effect]).tolist():
            weight = random.choice([-1.0, 1.0]) * random.uniform(least, most)
            values[effect] += weight * values[cause]
        values[effect] += random.normal(size=rows)
        if kind == "unit":
            values[effect] /= values[effect].std()
    values = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    shuffled = random.permutation(columns)
    return np.ascontiguousarray(values[shuffled].T), links[shuffled][:, shuffled]


def compared(values: NDArray[np.float64], links: Graph, restarts: int) -> list[float]:
    """Seconds, nats above the true graph and wrong links of ours, seconds and nats of FLOP without
    restarts, then seconds, nats and wrong links with them.
    """
    flop = import_module("flopsearch").flop
    rows, columns = values.shape
    covariance = values.T @ values / rows
    price = float(np.log(rows)) + ScoreOptions().parent_price(columns)
    nothing = np.zeros((columns, columns), dtype=bool)
    most = most_columns(rows, curves=False, offered=columns)
    problem = LineProblem(
        covariance, ~np.eye(columns, dtype=bool), nothing, nothing, float(rows), price, most
    )
    truth = score_of(problem, links)
    begin = time.process_time()
    score, _, causes = search_lines(problem, 0, np.zeros(1, dtype=np.int64))
    found = [time.process_time() - begin, score - truth, wrong(causes.T, links)]
    for more in (0, restarts):
        begin = time.process_time()
        marks = flop(values, 2.0 * price / np.log(rows), restarts=more)
        seconds = time.process_time() - begin
        graph = member(marks)
        found += [seconds, score_of(problem, graph) - truth, wrong(graph, links)]
    return [*found[:5], *found[6:]]


def score_of(problem: LineProblem, links: Graph) -> float:
    """The score of a graph by least squares, `links[cause, effect]`."""
    total = 0.0
    for effect, causes in enumerate(map(np.flatnonzero, links.T)):
        inside = problem.covariance[np.ix_(causes, causes)]
        towards = problem.covariance[causes, effect]
        left = problem.covariance[effect, effect] - towards @ np.linalg.solve(inside, towards)
        total += -0.5 * problem.rows * np.log(left) - problem.price * len(causes)
    return float(total)


def member(marks: NDArray[np.int_]) -> Graph:
    """A directed acyclic graph of the class that FLOP returns: 1 is an arrow, 2 an open edge."""
    endpoints = np.zeros(marks.shape, dtype=np.int8)
    endpoints[marks == 1] = Endpoint.ARROW
    endpoints[(marks == 1).T] = Endpoint.TAIL
    endpoints[marks == 2] = Endpoint.CIRCLE
    links = extension(endpoints)
    assert links is not None
    return links


def wrong(found: Graph, links: Graph) -> float:
    """Links that are missing or false, whatever their direction."""
    return float(((found | found.T) != (links | links.T)).sum() / 2)


if __name__ == "__main__":
    main()
