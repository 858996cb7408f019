"""How often are arrows right that the graphs of the contexts give to each other? By rule, on noisy tables.

    python benchmarks/rules_across.py --models 60

Linear systems of 8 nodes with Gaussian noise (`curved_models`), pc-ac with 200, 500 and 2000 rows. An arrow is right if
the link is there in that context and points so. On exact models every one of these rules is right.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

import causalcontext as cc
from causalcontext.graphs.ends import directed
from curved_models import Design, draw_model
from measuring import machine, markdown_table

RULES = ("A1", "A2", "A3", "V1", "V4", "F", "T1")
ROWS = (200, 500, 2000)


def arrows(seed: int, rows: int) -> Counter[tuple[str, bool]]:
    """Right and wrong arrows of one table by rule."""
    model = draw_model(Design(("linear",)), seed)
    result = cc.discover(model.sample(rows, np.random.default_rng([seed, rows])), "R")
    found = directed(np.stack([result.graphs[value].ends for value in result.contexts]))
    names = ["R" if node == model.context else f"V{node}" for node in range(model.design.nodes)]
    place = np.array([names.index(name) for name in result.names])
    truth = model.truth()[:, place][:, :, place]
    count: Counter[tuple[str, bool]] = Counter()
    for (g, a, b), origin in result.origins.items():
        if origin.rule in RULES and found[g, a, b]:
            count[origin.rule, bool(truth[g, a, b] and not truth[g, b, a])] += 1
    return count


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--first-seed", type=int, default=820_000)
    chosen = parser.parse_args()
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.models)
    totals = {rows: sum((arrows(seed, rows) for seed in seeds), Counter()) for rows in ROWS}
    print(f"{machine()}; {chosen.models} models, seeds from {chosen.first_seed}; right of all arrows\n")
    lines = [(rule, *(f"{totals[rows][rule, True]} of {totals[rows][rule, True] + totals[rows][rule, False]}"
                      for rows in ROWS)) for rule in RULES]  # fmt: skip
    print(markdown_table(("rule", *(f"{rows} rows" for rows in ROWS)), lines))


if __name__ == "__main__":
    main()
