"""Searches with lags on systems with truth values and counts among the columns, against the truth.

Six columns in time, two of them numbers, two truth values (logits) and two counts (Poisson), in
random order. Every number depends on its own last value, a truth value and a count on theirs less;
cross links are drawn as for `time_series.py`, at lag 0 or 1. A context of 2 values is a logit of
one column of the same time step and of its own last value; one column, which reads R(t) or R(t-1),
loses a link in one context. Rates are over the links of the window graphs of both contexts.
`numbers` is score-ac on the same tables with truth values and counts as plain numbers.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.graphs.lag_names import at
from measuring import machine, markdown_table

KINDS = ("number", "number", "truth", "truth", "count", "count")
NAMES = tuple(f"X{i + 1}" for i in range(len(KINDS)))
OWN = {"number": 0.5, "truth": 1.2, "count": 0.15}
SIZE = {"number": 0.6, "truth": 1.6, "count": 0.35}


class System(NamedTuple):
    """Weights by [context, lag, cause, effect], who reads which copy (-1: none), the order, the
    cause of R, kinds.
    """

    weights: np.ndarray
    reads: np.ndarray
    order: np.ndarray
    cause: int
    kinds: tuple[str, ...]


def drawn(random: np.random.Generator) -> System:
    """A random system."""
    d = len(KINDS)
    kinds = tuple(KINDS[i] for i in random.permutation(d))
    order = random.permutation(d + 1)
    place = np.argsort(order)
    weights = np.zeros((2, 2, d, d))
    for j in range(d):
        weights[:, 1, j, j] = OWN[kinds[j]]
    pairs = [(i, j) for i in range(d) for j in range(d) if i != j]
    for number in random.permutation(len(pairs))[: d + 1]:
        i, j = pairs[number]
        lag = int(random.random() > 0.4 or place[i] > place[j])
        weights[:, lag, i, j] = SIZE[kinds[j]] * random.choice([-1, 1])
    cause = int(order[max(int(place[d]) - 1, 0)]) if place[d] else -1
    reads = np.full(d, -1)
    j = int(random.integers(d))
    links = np.argwhere(weights[0, :, :, j] * (np.arange(d) != j))
    if len(links):
        lag, i = links[int(random.integers(len(links)))]
        reads[j] = 1 if place[j] < place[d] else int(random.integers(2))
        weights[int(random.integers(2)), lag, i, j] = 0.0
    return System(weights, reads, order, cause, kinds)


def sampled(system: System, rows: int, random: np.random.Generator) -> pd.DataFrame:
    """A table of consecutive times."""
    d, total = len(KINDS), rows + 200
    values, scaled, context = np.zeros((total, d)), np.zeros((total, d)), np.zeros(total, dtype=int)
    for t in range(1, total):
        for node in system.order:
            if node == d:
                drive = 1.5 * scaled[t, system.cause] if system.cause >= 0 else 0.0
                context[t] = int(
                    random.random() < _logistic(drive + 1.0 * (2 * context[t - 1] - 1))
                )
                continue
            r = context[t - system.reads[node]] if system.reads[node] >= 0 else 0
            pull = (
                scaled[t] @ system.weights[r, 0, :, node]
                + scaled[t - 1] @ system.weights[r, 1, :, node]
            )
            values[t, node] = _value(system.kinds[node], float(pull), random)
            scaled[t, node] = _standard(system.kinds[node], values[t, node])
    table = pd.DataFrame(values[200:], columns=NAMES)
    for name, kind in zip(NAMES, system.kinds, strict=True):
        table[name] = (
            table[name]
            if kind == "number"
            else table[name].astype(bool if kind == "truth" else int)
        )
    return table.assign(R=context[200:])


def _moves(table: pd.DataFrame, system: System) -> bool:
    """Whether both contexts and both truth values occur in a tenth of the rows at least."""
    shares = [
        table[name].mean()
        for name, kind in zip((*NAMES, "R"), (*system.kinds, "truth"), strict=True)
        if kind == "truth"
    ]
    return min(min(share, 1 - share) for share in shares) >= 0.1


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + np.exp(-x))


def _value(kind: str, pull: float, random: np.random.Generator) -> float:
    if kind == "number":
        return pull + random.normal()
    if kind == "truth":
        return float(random.random() < _logistic(pull))
    return float(random.poisson(np.exp(np.clip(0.7 + pull, -2.0, 3.0))))


def _standard(kind: str, value: float) -> float:
    """About mean 0 and variance 1."""
    return (
        value if kind == "number" else 2.0 * value - 1.0 if kind == "truth" else (value - 2.0) / 1.5
    )


def searched(table: pd.DataFrame, system: System, method: str) -> cc.ContextGraphs:
    """A method with the kinds of columns, or score-ac on plain numbers."""
    if method == "numbers":
        return cc.discover(
            table.astype(dict.fromkeys(NAMES, float)), context="R", lags=1, method="score-ac"
        )
    counts = {
        name: "count" for name, kind in zip(NAMES, system.kinds, strict=True) if kind == "count"
    }
    return cc.discover(table, context="R", lags=1, method=method, alpha=0.01, kinds=counts)


def compared(system: System, result: cc.ContextGraphs) -> np.ndarray:
    """(hits, true, false, absent) of lagged, contemporaneous, and changed links, and of readers of
    R.
    """
    d, found = len(KINDS), np.zeros((2, 2, len(KINDS), len(KINDS)), dtype=bool)
    for r in range(2):
        for lag in range(2):
            for i in range(d):
                for j in range(d):
                    found[r, lag, i, j] = (lag or i != j) and result.graphs[r].mark(
                        at(NAMES[i], lag), NAMES[j]
                    ) != ""
    truth = system.weights != 0
    now = [x[:, 0] | x[:, 0].swapaxes(1, 2) for x in (truth, found)]
    upper, other = np.triu(np.ones((d, d), dtype=bool), 1), ~np.eye(d, dtype=bool)
    changed = [x[0] != x[1] for x in (truth, found)]
    changed = [np.stack([np.triu(x[0] | x[0].T), x[1]]) for x in changed]
    read = np.array([result.reads[name] is not None for name in NAMES])
    rates = [
        (truth[:, 1], found[:, 1], other),
        (*now, upper),
        (*changed, np.ones((d, d), dtype=bool)),
        (system.reads >= 0, read, np.ones(d, dtype=bool)),
    ]
    return np.array([_counts(*rate) for rate in rates])


def _counts(truth: np.ndarray, found: np.ndarray, where: np.ndarray) -> list[int]:
    wide = np.broadcast_to(where, truth.shape)
    return [
        int(x.sum())
        for x in (truth & found & wide, truth & wide, ~truth & found & wide, ~truth & wide)
    ]


def row(method: str, rows: int, models: int, seed: int) -> list[str]:
    """The rates of one method."""
    total, spent = np.zeros((4, 4)), []
    for number in range(models):
        system = drawn(np.random.default_rng([seed, number]))
        table = sampled(system, rows, np.random.default_rng([seed, number, 1]))
        if not _moves(table, system):
            continue
        start = time.process_time()
        result = searched(table, system, method)
        spent.append(time.process_time() - start)
        total += compared(system, result)
    lagged, now, changes, readers = total
    return [
        method,
        str(rows),
        str(len(spent)),
        _rate(lagged, 4),
        _rate(now, 4),
        f"{changes[0] / changes[1]:.2f}/{changes[2] / len(spent):.2f}",
        _rate(readers, 3),
        f"{np.median(spent):.2f}",
    ]


def _rate(counts: np.ndarray, digits: int) -> str:
    return f"{counts[0] / counts[1]:.3f}/{counts[2] / counts[3]:.{digits}f}"


HEADER = [
    "method",
    "T",
    "systems",
    "lagged TPR/FPR",
    "contemporaneous",
    "changes found/false",
    "readers of R",
    "CPU s",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000])
    parser.add_argument(
        "--methods",
        default="score-ac,numbers,pc-ac,pc-p,pc-m",
        help="numbers: score-ac on plain numbers",
    )
    parser.add_argument("--seed", type=int, default=2026)
    arguments = parser.parse_args()
    print(machine())
    found = [
        row(method, rows, arguments.models, arguments.seed)
        for rows in arguments.rows
        for method in arguments.methods.split(",")
    ]
    print(markdown_table(HEADER, found))


if __name__ == "__main__":
    main()
