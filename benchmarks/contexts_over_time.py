"""Lags with two contexts, and with a context made out of a column: links, and in which contexts
they are there.

    python benchmarks/contexts_over_time.py [--series 20] [--rows 1000] [--methods pc-ac,pc-m,pc-p]
    [--alpha 0.01]

"found": links, also at contexts, that are adjacent in some context, of those that are true; "false"
are those that are not, a series. "changes": true links that are missing in some contexts and are
found in exactly the right ones, of those that are found. "false changes": links that are everywhere
and are said to be missing somewhere, a series.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from measuring import markdown_table

NUMBERS = ("X", "Y", "Z", "W")
Links = dict[tuple[str, str], set[Any]]


def two_contexts(seed: int = 0, rows: int = 2000) -> pd.DataFrame:
    """X drives Y where R(t) = 1, and Z where S(t) is high; Y(t-1) drives Z where R(t-1) = 1; S(t-1)
    shifts W.
    """
    random = np.random.default_rng(seed)
    noise, chance = random.normal(size=(rows, 4)), random.random((rows, 2))
    r, s, x = np.zeros(rows, dtype=int), np.zeros(rows, dtype=int), np.zeros((rows, 4))
    for t in range(1, rows):
        r[t] = chance[t, 0] < 1.0 / (1.0 + np.exp(1.5 - 3.0 * r[t - 1] - 0.8 * x[t - 1, 0]))
        s[t] = chance[t, 1] < (0.85 if s[t - 1] else 0.15)
        x[t, 0] = 0.5 * x[t - 1, 0] + noise[t, 0]
        x[t, 1] = 0.4 * x[t - 1, 1] + 0.8 * r[t] * x[t, 0] + noise[t, 1]
        x[t, 2] = (
            0.4 * x[t - 1, 2] + 0.7 * r[t - 1] * x[t - 1, 1] + 0.7 * s[t] * x[t, 0] + noise[t, 2]
        )
        x[t, 3] = 0.4 * x[t - 1, 3] + 0.6 * x[t, 2] + 0.9 * s[t - 1] + noise[t, 3]
    table = pd.DataFrame(x, columns=list(NUMBERS))
    table.insert(2, "R", r)
    table["S"] = np.where(s == 1, "high", "low")
    return table


def a_threshold(seed: int = 0, rows: int = 2000) -> pd.DataFrame:
    """Y(t-1) drives Z where X(t-1) > 0.2, and Z drives W where X(t) > 0.2; S, a column of its own,
    shifts W.
    """
    random = np.random.default_rng(seed)
    noise, chance = random.normal(size=(rows, 4)), random.random(rows)
    s, x = np.zeros(rows, dtype=int), np.zeros((rows, 4))
    for t in range(1, rows):
        s[t] = chance[t] < (0.85 if s[t - 1] else 0.15)
        x[t, 0] = 0.6 * x[t - 1, 0] + noise[t, 0]
        x[t, 1] = 0.4 * x[t - 1, 1] + 0.6 * x[t, 0] + noise[t, 1]
        x[t, 2] = (
            0.4 * x[t - 1, 2]
            + 0.8 * (x[t - 1, 0] > 0.2) * x[t - 1, 1]
            + 0.5 * x[t - 1, 0]
            + noise[t, 2]
        )
        x[t, 3] = (
            0.4 * x[t - 1, 3]
            + 0.7 * (x[t, 0] > 0.2) * x[t, 2]
            + 0.6 * x[t, 0]
            + 0.9 * s[t]
            + noise[t, 3]
        )
    table = pd.DataFrame(x, columns=list(NUMBERS))
    table.insert(2, "S", s)
    return table


def labels(result: cc.ContextGraphs) -> Links:
    """The contexts of every link, by its ends."""
    return {(edge.source, edge.target): set(edge.contexts) for edge in result.labeled_union}


def truth(which: str) -> Links:
    """The true links and their contexts."""
    two = which == "two contexts"
    every = {(0, "high"), (0, "low"), (1, "high"), (1, "low")} if two else {"<= 0.2", "> 0.2"}
    always = (
        "Z W, X(t-1) R, R(t-1) R, S(t-1) S, R Y, R(t-1) Z, S Z, S(t-1) W"
        if two
        else "X Y, X(t-1) Z, X W"
    )
    found: Links = {(f"{name}(t-1)", name): every for name in NUMBERS}
    for first, second in (pair.split() for pair in always.split(", ")):
        found[first, second] = every
    if two:
        wet, high = {(1, "high"), (1, "low")}, {(0, "high"), (1, "high")}
        return found | {("X", "Y"): wet, ("Y(t-1)", "Z"): wet, ("X", "Z"): high}
    step = "X > 0.2"
    made = {("X", step): every, (f"{step}(t-1)", "Z"): every, (step, "W"): every}
    return found | made | {("Y(t-1)", "Z"): {"> 0.2"}, ("Z", "W"): {"> 0.2"}}


def rates(which: str, method: str, series: int, rows: int, alpha: float) -> list[str]:
    """The figures of one row of the table."""
    wanted = {frozenset(pair): contexts for pair, contexts in truth(which).items()}
    size = max(map(len, wanted.values()))
    found = false = changed = right = wrong = 0
    for seed in range(100, 100 + series):
        two = which == "two contexts"
        table = two_contexts(seed, rows) if two else a_threshold(seed, rows).drop(columns="S")
        context = ["R", "S"] if two else cc.threshold("X", 0.2)
        level = {} if method == "score-ac" else {"alpha": alpha}
        here = {
            frozenset(pair): some
            for pair, some in labels(
                cc.discover(table, context=context, method=method, lags=1, **level)
            ).items()
        }
        false += len(here.keys() - wanted.keys())
        for pair, contexts in wanted.items():
            found += pair in here
            changed += pair in here and len(contexts) < size
            right += len(contexts) < size and here.get(pair) == contexts
            wrong += len(contexts) == size and 0 < len(here.get(pair, ())) < size
    return [
        which,
        method,
        f"{found / (series * len(wanted)):.3f}",
        f"{false / series:.2f}",
        f"{right / max(changed, 1):.2f}",
        f"{wrong / series:.2f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--series", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--methods", default="pc-ac,pc-m,pc-p")
    parser.add_argument("--alpha", type=float, default=0.01)
    asked = parser.parse_args()
    found = [
        rates(which, method, asked.series, asked.rows, asked.alpha)
        for which in ("two contexts", "threshold")
        for method in asked.methods.split(",")
    ]
    print(markdown_table(["", "method", "found", "false", "changes", "false changes"], found))


if __name__ == "__main__":
    main()
