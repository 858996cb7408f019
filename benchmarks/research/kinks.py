"""Is a kink of a cause told from a slope that changes with a context which follows that cause?

    python benchmarks/research/kinks.py --models 40 --methods score-ac pc-ac
    python benchmarks/research/kinks.py --models 40 --lags 1

Z --> X --> Y --> V, W --> Y; the context R is a threshold of X with noise: 1[X + softness * noise >
0]. X acts on Y by one mechanism in all rows: a kink at 0, a saturation at +-.7, an exponential or a
square; in the last lines by a straight line in one context alone, which is a change. With lags X
--> Z inside the time step, X(t-1) --> Y, every variable follows its own past, and Y depends on
R(t-1) where there is a change. "R - Y" is the share of tables in which Y is found to depend on the
context, "without a note" of those in which it is and no note says that rows do not tell this from a
bend, "claims" of those in which `changes()` claims something.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import causalcontext as cc
from causalcontext.results.notes import About, about

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import machine, markdown_table, with_second_opinion

Floats = NDArray[np.float64]
SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "kink": lambda x: 1.5 * np.maximum(x, 0.0),
    "saturation": lambda x: 1.95 * np.clip(x, -0.7, 0.7),
    "exponential": lambda x: 0.7 * np.exp(0.8 * np.clip(x, -3.0, 3.0)),
    "square": lambda x: 0.8 * (x * x - 1.0),
    "a change": lambda x: 1.2 * x,
}


def rows_apart(shape: str, softness: float, rows: int, random: np.random.Generator) -> pd.DataFrame:
    """A table whose rows do not follow each other."""
    z, w, soft, own, late, first = random.standard_normal((6, rows))
    x = 0.8 * z + 0.6 * first
    high = x + softness * soft > 0.0
    y = SHAPES[shape](x) * (high if shape == "a change" else 1.0) + 0.8 * w + 0.8 * own
    return pd.DataFrame(
        {
            "Z": z,
            "X": x,
            "W": w,
            "Y": y,
            "V": 0.9 * y + 0.7 * late,
            "R": np.where(high, "high", "low"),
        }
    )


def series(shape: str, softness: float, rows: int, random: np.random.Generator) -> pd.DataFrame:
    """A table of consecutive times, after 100 that are left out."""
    noise = random.standard_normal((4, rows + 100))
    x, y, z, high = np.zeros((4, rows + 100))
    for t in range(1, rows + 100):
        x[t] = 0.5 * x[t - 1] + 0.8 * noise[0, t]
        high[t] = x[t] + softness * noise[1, t] > 0.0
        z[t] = 0.3 * z[t - 1] + 0.5 * x[t] + 0.8 * noise[2, t]
        effect = float(SHAPES[shape](x[t - 1])) * (high[t - 1] if shape == "a change" else 1.0)
        y[t] = 0.3 * y[t - 1] + effect + 0.8 * noise[3, t]
    table = pd.DataFrame({"X": x, "Y": y, "Z": z, "R": np.where(high > 0.0, "high", "low")})
    return table.iloc[100:].reset_index(drop=True)


def line(
    shape: str, softness: float, rows: int, method: str, chosen: argparse.Namespace
) -> list[str]:
    """One line of the table."""
    linked, unmarked, claimed, spent = [], [], [], []
    for seed in range(chosen.first_seed, chosen.first_seed + chosen.models):
        table = (series if chosen.lags else rows_apart)(
            shape, softness, rows, np.random.default_rng([seed, rows])
        )
        start = time.process_time()
        result = cc.discover(table, "R", method=method, lags=chosen.lags or None)
        spent.append(time.process_time() - start)
        ends = [{edge.source.split("(")[0], edge.target} for edge in result.union.edges]
        linked.append({"R", "Y"} in ends)
        unmarked.append(
            linked[-1] and not any(about(note) is About.UNDECIDED for note in result.notes)
        )
        claimed.append(bool(with_second_opinion(result).changes("high", "low")["claimed"].any()))
    shares = [f"{np.mean(some):.2f}" for some in (linked, unmarked, claimed)]
    return [shape, str(softness), str(rows), method, *shares, f"{1000.0 * np.median(spent):.0f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=710_000)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--softness", type=float, nargs="+", default=[0.7, 0.2])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--methods", nargs="+", default=["score-ac"])
    parser.add_argument("--lags", type=int, default=0)
    chosen = parser.parse_args()
    lines = []
    for method in chosen.methods:
        for rows in chosen.rows:
            for softness in chosen.softness:
                for shape in chosen.shapes:
                    lines.append(line(shape, softness, rows, method, chosen))
                    print(" | ".join(lines[-1]), flush=True)
    header = (
        "X acts by",
        "softness",
        "rows",
        "method",
        "R - Y",
        "without a note",
        "claims",
        "CPU ms",
    )
    print(f"\n{markdown_table(header, lines)}")
    print(
        f"\n{machine()}; {chosen.models} models a line, seeds from {chosen.first_seed}, lags"
        f" {chosen.lags}"
    )


if __name__ == "__main__":
    main()
