"""What is the mixed model of score-ac worth, in which only slopes that change cost a second
parameter?

    python benchmarks/mixed_models.py [--models 40] [--first-seed 880000]

Linear systems of `curved_models.py` with weak, moderate and strong effects, searched without the
mixed model and with it.
"""

from __future__ import annotations

import argparse

import numpy as np

import causalcontext as cc
from causalcontext.score import design as score_design
from curved_models import Design, count, draw_model, summary
from measuring import machine, markdown_table

EFFECTS = {
    "weak, .2 to .5": (0.2, 0.35, 0.5),
    "moderate, .3 to .5": (0.3, 0.4, 0.5),
    "moderate, .5 to .9": (0.5, 0.7, 0.9),
    "strong, 1.2 to 1.8": (1.2, 1.5, 1.8),
}
CONTEXTS = {"without": 1, "with": score_design.MOST_VALUES_MIXED}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=880_000)
    chosen = parser.parse_args()
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.models)
    rows = [
        (name, size, how, *measured(weights, size, how, seeds).split())
        for name, weights in EFFECTS.items()
        for size in (200, 500)
        for how in CONTEXTS
    ]
    header = (
        "effects",
        "n",
        "mixed model",
        "system TPR/FPR",
        "at R",
        "directions",
        "at R",
        "false changes",
    )
    print(markdown_table(header, rows))
    print(f"\n{machine()}; seeds from {chosen.first_seed}, {chosen.models} models a row")


def measured(weights: tuple[float, ...], size: int, how: str, seeds: range) -> str:
    """Rates over some models."""
    score_design.MOST_VALUES_MIXED = CONTEXTS[how]
    counts = []
    for seed in seeds:
        model = draw_model(Design(("linear",), weights=weights), seed)
        table = model.sample(size, np.random.default_rng([seed, size]))
        counts.append(count(model, cc.discover(table, "R", method="score-ac")))
    return summary(counts)


if __name__ == "__main__":
    main()
