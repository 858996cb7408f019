"""Curves over time: what score-ac with lags finds where links bend, beside straight lines alone.

    python benchmarks/curved_series.py [--models 40] [--rows 500] [--seed 0]

Six variables, one lag, autocorrelation .3; every variable has up to two causes, in the same time
step (earlier in a random order) or one step before, each through x^2, |x|, tanh(3x), sin(2x) or a
step, of x between -2.5 and 2.5. A context of two values is a noisy threshold of the first variable
of the order. Two links exist in one context only; their effects depend on R(t), or on R(t-1). True
and false rates over the links of both window graphs; changed links found, and false ones a system.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.graphs.lag_names import at
from measuring import machine, markdown_table

SHAPES: tuple[Callable[[float], float], ...] = (
    lambda x: 0.8 * (x * x - 1.0),
    lambda x: 1.6 * (abs(x) - 0.8),
    lambda x: 1.2 * np.tanh(3.0 * x),
    lambda x: 1.4 * np.sin(2.0 * x),
    lambda x: 1.1 * (1.0 if x > 0.3 else -1.0),
)
VARIABLES = 6


class System(NamedTuple):
    """Links [lag, cause, effect] with a shape, -1 for none; the value of R in which each lives; who
    reads which R.
    """

    shape: np.ndarray
    lives: np.ndarray
    reads: np.ndarray
    order: np.ndarray


def drawn(random: np.random.Generator) -> System:
    """A random system."""
    d, order = VARIABLES, random.permutation(VARIABLES)
    place = np.argsort(order)
    shape, lives, reads = np.full((2, d, d), -1), np.full((2, d, d), -1), np.full(d, -1)
    for j in order[1:].tolist():
        for i in random.choice(
            [i for i in range(d) if i != j], size=int(random.integers(1, 3)), replace=False
        ):
            shape[0 if place[i] < place[j] and random.random() < 0.5 else 1, i, j] = (
                random.integers(len(SHAPES))
            )
    for j in random.permutation(order[1:])[:2].tolist():
        lag, i = (int(value) for value in random.permutation(np.argwhere(shape[:, :, j] >= 0))[0])
        lives[lag, i, j], reads[j] = random.integers(2), random.integers(2)
    return System(shape, lives, reads, order)


def sample(system: System, rows: int, random: np.random.Generator) -> pd.DataFrame:
    """A table of consecutive times."""
    x, r, burn = np.zeros((rows + 100, VARIABLES)), np.zeros(rows + 100, dtype=np.int64), 100
    links = [
        [
            (lag, i, SHAPES[system.shape[lag, i, j]], system.lives[lag, i, j])
            for lag, i in np.argwhere(system.shape[:, :, j] >= 0).tolist()
        ]
        for j in range(VARIABLES)
    ]
    for t in range(1, len(x)):
        for place, j in enumerate(system.order.tolist()):
            context = r[t - system.reads[j]] if system.reads[j] >= 0 else -1
            x[t, j] = 0.3 * x[t - 1, j] + random.normal()
            x[t, j] += sum(
                act(float(np.clip(x[t - lag, i], -2.5, 2.5)))
                for lag, i, act, lives in links[j]
                if lives in (-1, context)
            )
            if place == 0:
                r[t] = int(x[t, j] + 0.5 * random.logistic() > 0.0)
    table = pd.DataFrame(x[burn:], columns=[f"X{j + 1}" for j in range(VARIABLES)])
    return table.assign(R=np.where(r[burn:], "high", "low"))


def compared(system: System, result: cc.ContextGraphs) -> np.ndarray:
    """(hits, true, false, absent) of lagged and of contemporaneous links, and of changed ones."""
    d, names = VARIABLES, [f"X{j + 1}" for j in range(VARIABLES)]
    found, truth = np.zeros((2, 2, d, d), dtype=bool), np.zeros((2, 2, d, d), dtype=bool)
    for r, value in enumerate(("low", "high")):
        for lag, i, j in np.argwhere(np.ones((2, d, d))).tolist():
            found[r, lag, i, j] = (lag or i != j) and result.graphs[value].mark(
                at(names[i], lag), names[j]
            ) != ""
        truth[r] = (system.shape >= 0) & ((system.lives < 0) | (system.lives == r))
    truth[:, 0] |= truth[:, 0].swapaxes(1, 2)
    other, upper = ~np.eye(d, dtype=bool), np.triu(np.ones((d, d), dtype=bool), 1)
    changed = [(one[0] != one[1]) & np.stack([upper, other]) for one in (truth, found)]
    pairs = [
        (truth[:, 1] & other, found[:, 1] & other, 2 * d * (d - 1)),
        (truth[:, 0] & upper, found[:, 0] & upper, d * (d - 1)),
        (*changed, 1),
    ]
    return np.array(
        [[(t & f).sum(), t.sum(), (f & ~t).sum(), max(size - t.sum(), 1)] for t, f, size in pairs]
    )


def row(name: str, options: dict[str, str], models: int, rows: int, seed: int) -> list[str]:
    """The rates of a method."""
    total, spent = np.zeros((3, 4)), []
    for number in range(seed, seed + models):
        system = drawn(np.random.default_rng([number, 41]))
        table = sample(system, rows, np.random.default_rng([number, 42]))
        start = time.process_time()
        total += compared(system, cc.discover(table, "R", lags=1, **options))
        spent.append(time.process_time() - start)
    lagged, now = (
        f"{hits / true:.3f}/{false / absent:.4f}" for hits, true, false, absent in total[:2]
    )
    hits, true, false, _ = total[2]
    return [
        name,
        str(rows),
        lagged,
        now,
        f"{hits / true:.3f}/{false / models:.2f}",
        f"{np.median(spent):.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1000])
    parser.add_argument("--seed", type=int, default=0, help="number of the first system")
    arguments = parser.parse_args()
    print(machine())
    methods = {
        "score-ac": {"method": "score-ac"},
        "score-ac, lines": {"method": "score-ac", "curves": "never"},
        "pc-ac": {"method": "pc-ac", "alpha": 0.01},
    }
    found = [
        row(name, options, arguments.models, rows, arguments.seed)
        for rows in arguments.rows
        for name, options in methods.items()
    ]
    print(
        markdown_table(
            ["method", "T", "lagged", "contemporaneous", "changes found/false", "CPU s"], found
        )
    )


if __name__ == "__main__":
    main()
