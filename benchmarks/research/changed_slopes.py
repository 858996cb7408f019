"""One context of three or four values: which slopes change with it.

    python benchmarks/research/changed_slopes.py [--models 20] [--seed 0]

Six numbers with continuous weights; the context is a noisy function of the first. Three in ten
links change at one value of it, where their slope is 0 or has the other sign. True and false rates
of links and of changed links, the share of tables with exactly the right changes, and processor
time a table.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import causalcontext as cc

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import markdown_table
from readers import slope_of

NAMES = tuple(f"X{j}" for j in range(6))
Pairs = set[tuple[str, str]]


def drawn(values: int, rows: int, seed: int) -> tuple[pd.DataFrame, Pairs, Pairs]:
    """A table, its links, and those that change."""
    random = np.random.default_rng([seed, values, 17])
    columns: dict[str, np.ndarray] = {}
    links: Pairs = set()
    changed: Pairs = set()
    context = np.zeros(rows, dtype=int)
    for place, name in enumerate(NAMES):
        total = random.normal(size=rows)
        for cause in NAMES[:place]:
            if random.random() < 0.5:
                continue
            weight = random.choice([-1.0, 1.0]) * random.uniform(0.5, 1.1)
            slope = np.full(rows, weight)
            if place >= 2 and random.random() < 0.3:
                slope = np.where(
                    context == random.integers(values), random.choice([0.0, -weight]), weight
                )
                changed.add((cause, name))
            links.add((cause, name))
            total = total + slope * columns[cause]
        columns[name] = total
        if place == 0:
            noisy = total / total.std() + 0.5 * random.logistic(size=rows)
            context = np.searchsorted(np.quantile(noisy, np.arange(1, values) / values), noisy)
    return pd.DataFrame({**columns, "R": context}), links, changed


def found_in(table: pd.DataFrame) -> tuple[Pairs, Pairs]:
    """The links that score-ac finds, and those whose slope it lets change; directions are not what
    is measured here.
    """
    result = cc.discover(table, "R", method="score-ac", curves="never", transform="none")
    slopes = {
        (one, other): {slope_of(result, one, other, value) for value in result.contexts}
        for place, one in enumerate(NAMES)
        for other in NAMES[place + 1 :]
    }
    return {pair for pair, own in slopes.items() if any(own)}, {
        pair for pair, own in slopes.items() if len(own) > 1
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="number of the first table")
    models, first = vars(parser.parse_args()).values()
    pairs, lines = len(NAMES) * (len(NAMES) - 1) // 2, []
    for values, rows in ((3, 600), (3, 1500), (4, 800), (4, 2000)):
        counts, exact, spent = np.zeros(8), 0, 0.0
        for seed in range(first, first + models):
            table, *truth = drawn(values, rows, seed)
            start = time.process_time()
            found = found_in(table)
            spent += time.process_time() - start
            exact += found[1] == truth[1]
            counts += [
                number
                for own, true in zip(found, truth, strict=True)
                for number in (len(own & true), len(true), len(own - true), pairs - len(true))
            ]
        rates = [
            f"{hit / there:.3f}/{false / free:.3f}"
            for hit, there, false, free in counts.reshape(2, 4)
        ]
        lines.append(
            [values, rows, *rates, f"{exact / models:.2f}", f"{1e3 * spent / models:.0f} ms"]
        )
    header = ["values", "rows", "links", "changes", "exactly right", "processor"]
    print(markdown_table(header, lines))


if __name__ == "__main__":
    main()
