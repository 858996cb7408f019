"""Hidden causes and two contexts: fci-ac on both, on the joined column, and pc-ac.

    python benchmarks/hidden_several_contexts.py [--models 40] [--rows 2000] [--hidden 0 4]

Six numbers in a random linear system, and hidden causes of two of them each. R and T are noisy
thresholds of earlier numbers, in half of the models of hidden causes too; links of later numbers
change with R, with T or with both. With "cut", T is the third number above its 60 % quantile,
without noise: declared as cc.threshold, or taken as a column. Pairs of numbers and their ends are
compared with the true graph of every combination; alpha .01.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent
from causalcontext.graphs.paths import mag_adjacency, reach
from causalcontext.kernels.arrays import Bools
from measuring import markdown_table

NUMBERS, CELLS, ALPHA = 6, tuple(product((0, 1), repeat=2)), 0.01
R, T = NUMBERS, NUMBERS + 1
NAMES = (*(f"X{place}" for place in range(NUMBERS)), "R", "T")


class Drawn(NamedTuple):
    """A table, and the true graph of every combination over all variables, hidden ones last; (4, N,
    N).
    """

    table: pd.DataFrame
    truth: Bools


def drawn(rows: int, hidden: int, seed: int, cut: bool) -> Drawn:
    """A random table; R follows the second number, T the third."""
    random = np.random.default_rng([seed, hidden, 28])
    truth = np.zeros((4, NUMBERS + 2 + hidden, NUMBERS + 2 + hidden), dtype=bool)
    noise = random.normal(size=(rows, hidden))
    values, codes = np.zeros((rows, NUMBERS)), np.zeros((rows, 2), dtype=int)
    pairs = [random.choice(NUMBERS, size=2, replace=False) for _ in range(hidden)]
    for place in range(NUMBERS):
        total = random.normal(size=rows)
        for k, pair in enumerate(pairs):
            if place in pair:
                total += _slope(random) * noise[:, k]
                truth[:, NUMBERS + 2 + k, place] = True
        for cause in range(place):
            if random.random() < 0.45:
                total += _link(random, truth, codes, cause, place) * values[:, cause]
        values[:, place] = total
        if place in (1, 2):
            _context(random, truth, (values, noise), codes, place - 1, cut)
    if cut:  # what T does, the number does that it is made of
        truth[:, 2] |= truth[:, T]
        truth[:, T] = truth[:, :, T] = False
    return Drawn(
        pd.DataFrame(np.c_[values, codes], columns=list(NAMES)).astype({"R": int, "T": int}), truth
    )


def _slope(random: np.random.Generator) -> float:
    return float(random.choice([-1.0, 1.0]) * random.uniform(0.6, 1.4))


def _link(
    random: np.random.Generator, truth: Bools, codes: np.ndarray, cause: int, effect: int
) -> np.ndarray:
    """The weight of a link in every row; it may be there for some values of the contexts only."""
    slope, known = _slope(random), [0] if effect == 2 else [0, 1]
    if effect < 2 or random.random() > 0.4:
        truth[:, cause, effect] = True
        return np.full(len(codes), slope)
    reads = [known, known[:1], known[-1:]][int(random.integers(3))]
    truth[:, [R + j for j in reads], effect] = True
    for cell, code in enumerate(CELLS):
        truth[cell, cause, effect] |= all(code[j] == 1 for j in reads)
    return np.where((codes[:, reads] == 1).all(axis=1), slope, 0.0)


def _context(
    random: np.random.Generator,
    truth: Bools,
    sampled: tuple[np.ndarray, np.ndarray],
    codes: np.ndarray,
    j: int,
    cut: bool,
) -> None:
    """Fill in one of the two contexts: a noisy threshold of earlier numbers, or a cut of the
    third.
    """
    values, noise = sampled
    if cut and j == 1:
        codes[:, 1] = values[:, 2] > np.quantile(values[:, 2], 0.6)
        truth[:, 2, T] = True
        return
    total = random.logistic(size=len(codes))
    for cause in range(j + 2):
        if random.random() < 0.5:
            total += 1.5 * _slope(random) * values[:, cause] / values[:, cause].std()
            truth[:, cause, R + j] = True
    if noise.shape[1] > j and random.random() < 0.5:
        total += 1.5 * _slope(random) * noise[:, j]
        truth[:, NUMBERS + 2 + j, R + j] = True
    codes[:, j] = total > np.median(total)


def found_by(method: str, table: pd.DataFrame, cut: bool) -> Endpoints:
    """The ends of every combination over numbers, R and T, shape (4, 8, 8); none at joined
    contexts, nor at a cut.
    """
    if method.endswith("joined"):
        joined = table.assign(RT=[f"{r}{t}" for r, t in zip(table["R"], table["T"], strict=True)])
        result = cc.discover(joined.drop(columns=["R", "T"]), "RT", method="fci-ac", alpha=ALPHA)
        graphs = [result.graphs[f"{r}{t}"] for r, t in CELLS]
    elif cut and not method.endswith("as a column"):
        cc_cut = cc.threshold("X2", float(table.loc[table["T"] == 0, "X2"].max()))
        result = cc.discover(table.drop(columns="T"), ["R", cc_cut], method=method, alpha=ALPHA)
        graphs = list(result.graphs.values())
    else:
        result = cc.discover(table, ["R", "T"], method=method.split(",")[0], alpha=ALPHA)
        graphs = list(result.graphs.values())
    kept = [name for name in NAMES if name in result.names and not (cut and name == "T")]
    ends = np.zeros((4, len(NAMES), len(NAMES)), dtype=np.int8)
    places, own = [NAMES.index(name) for name in kept], [result.position(name) for name in kept]
    for cell, graph in enumerate(graphs):
        ends[cell][np.ix_(places, places)] = graph.endpoints[np.ix_(own, own)]
    return ends


def counts(ends: Endpoints, truth: Bools) -> Counter[str]:
    """What is right and wrong, by name."""
    observed, system = range(len(NAMES)), np.zeros((len(NAMES), len(NAMES)), dtype=bool)
    system[:NUMBERS, :NUMBERS] = True
    there, here, pairs = mag_adjacency(truth, observed), adjacent(ends), np.triu(system, 1)
    causes = reach(truth)[:, : len(NAMES), : len(NAMES)].swapaxes(1, 2)
    arrows, tails = ends == Endpoint.ARROW, ends == Endpoint.TAIL
    vary, true = ((which != which[0]).any(axis=0) & pairs for which in (here, there))
    return Counter(
        {
            "hit": (here & there & pairs).sum(),
            "there": (there & pairs).sum(),
            "false": (here & ~there & pairs).sum(),
            "free": (~there & pairs).sum(),
            "arrows": (arrows & system).sum(),
            "arrows right": (arrows & system & ~causes).sum(),
            "tails": (tails & system).sum(),
            "tails right": (tails & system & causes).sum(),
            "context tails": (tails & ~system).sum(),
            "context tails right": (tails & ~system & causes).sum(),
            "vary": vary.sum(),
            "vary right": (vary & (here == there).all(axis=0)).sum(),
            "truly": true.sum(),
        }
    )


def main() -> None:
    """Print a table for every setting."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="+", default=[2000])
    parser.add_argument("--hidden", type=int, nargs="+", default=[0, 4])
    asked = parser.parse_args()
    lines = []
    for cut, hidden, rows in product((False, True), asked.hidden, asked.rows):
        for method in (
            "fci-ac",
            "fci-ac, joined",
            "pc-ac",
            *(["fci-ac, as a column"] if cut else []),
        ):
            total: Counter[str] = Counter()
            for seed in range(asked.first_seed, asked.first_seed + asked.models):
                table, truth = drawn(rows, hidden, seed, cut)
                total.update(counts(found_by(method, table, cut), truth))
            share = {
                name: total[f"{name} right"] / max(total[name], 1)
                for name in ("arrows", "tails", "context tails")
            }
            lines.append(
                [
                    "cut" if cut else "noisy",
                    hidden,
                    rows,
                    method,
                    f"{total['hit'] / total['there']:.3f} / {total['false'] / total['free']:.3f}",
                    *(f"{value:.3f} ({total[name]})" for name, value in share.items()),
                    (
                        f"{total['vary right'] / max(total['vary'], 1):.2f} / "
                        f"{total['vary right'] / max(total['truly'], 1):.2f}"
                    ),
                ]
            )
            print(lines[-1], flush=True)
    head = [
        "T",
        "hidden",
        "rows",
        "method",
        "TPR / FPR",
        "arrowheads",
        "tails",
        "tails at contexts",
        "changes",
    ]
    print(markdown_table(head, lines))


if __name__ == "__main__":
    main()
