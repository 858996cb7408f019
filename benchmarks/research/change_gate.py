"""What the gate of `robust-change` costs in a search, and what it buys in size, by its level.

Run as `python benchmarks/research/change_gate.py [models] [data sets] [first seed]`. First PC-AC on random
models of the paper's setting with n = 500: TPR and FPR of links at R. Then the null designs of
`which_change_test.py` whose size at .05 is above .085.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from change_designs import HALVES, draw, half_of, null_cells

import causalcontext as cc
from causalcontext.ci_tests.change import RobustChange
from causalcontext.examples import NOISE_LAWS
from causalcontext.kernels.rows.robust_change import robust_change
from causalcontext_lab.simulate import random_model

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import markdown_table

LEVELS = (0.0, 0.001, 0.003, 0.01, 0.05)
NAMES = ("LR*", "no gate", *(f"gate at {level}" for level in LEVELS[1:]))


def rates_at_context(noise: str, models: int, first: int) -> list[str]:
    """TPR (FPR) of links at R for LR* and every level of the gate."""
    tests = ["partial-correlation", *(RobustChange(gate=level) for level in LEVELS)]
    counts = np.zeros((len(tests), 4))
    for seed in range(first, first + models):
        model = random_model(seed=seed, noise=NOISE_LAWS[noise])
        table = model.sample(500, seed=10_000 + seed)
        for place, test in enumerate(tests):
            counts[place] += _counts(
                cc.discover(table, context="R", test=test, method="pc-ac"), model
            )
    return [f"{hit / true:.2f} ({false / absent:.3f})" for hit, true, false, absent in counts]


def _counts(result: cc.ContextGraphs, model: object) -> list[int]:
    adjacency = np.stack([result.graphs[value].adjacency for value in result.contexts])
    found, true = (
        adjacency[:, model.context],
        (model.adjacency | model.adjacency.swapaxes(1, 2))[:, model.context],
    )
    others = np.arange(true.shape[1]) != model.context
    found, true = found[:, others], true[:, others]
    return [(found & true).sum(), true.sum(), (found & ~true).sum(), (~true).sum()]


def cells_too_large(half: str, repeats: int) -> list[str]:
    """How many null cells have a size above .085, for every level of the gate."""
    too_large = np.zeros(len(LEVELS), dtype=int)
    for cell in half_of(null_cells(), half):
        tables = (
            draw(cell, np.random.default_rng([cell.seed, repeat, 0])) for repeat in range(repeats)
        )
        rejected = [
            [robust_change(*table, cell.k, 0.05, gate).p < 0.05 for gate in LEVELS]
            for table in tables
        ]
        too_large += np.mean(rejected, axis=0) > 0.085
    return ["", *map(str, too_large)]


def main() -> None:
    defaults = ((1, 40), (2, 200), (3, 0))
    models, repeats, first = (
        int(sys.argv[k]) if len(sys.argv) > k else default for k, default in defaults
    )
    rows = [
        [noise, *rates_at_context(noise, models, first)]
        for noise in ("normal", "student-t5", "exponential")
    ]
    rows += [[f"cells above .085, {half}", *cells_too_large(half, repeats)] for half in HALVES]
    print(markdown_table(["", *NAMES], rows))


if __name__ == "__main__":
    main()
