"""Graphs of the paper's main setting by masked_scope and orientation: adjacencies, arrows, tests,
time.

Run as `python benchmarks/orientation.py [models] [first seed]`. Models as in Sec. 5.1 of the paper
(8 nodes, density .4, one removed link, 2 contexts), n = 200 and 1000, and the same with added,
removed and flipped links and cycles.
"""

from __future__ import annotations

import sys
import time
from itertools import product

import numpy as np

import causalcontext as cc
from causalcontext.graphs.endpoints import directed
from causalcontext_lab.simulate import random_model

COLUMNS = (
    "TPR",
    "FPR",
    "arrow precision",
    "arrow recall",
    "at R: precision",
    "at R: recall",
    "tests",
    "ms",
)
DESIGNS = {
    "one removed link": {},
    "enforced union cycles": {"edits": ("add", "remove", "flip"), "cycles": "enforce"},
}


def run(design: dict, n: int, options: dict, seeds: range) -> np.ndarray:
    """Mean scores over models, contexts counted together."""
    totals = np.zeros(12)
    for seed in seeds:
        model = random_model(seed=seed, **design)
        table = model.sample(n, seed=10_000 + seed)
        start = time.perf_counter()
        result = cc.discover(table, context="R", method="pc-ac", **options)
        spent = time.perf_counter() - start
        endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
        totals += _counts(
            endpoints, model.adjacency, model.context, sum(result.tests_run.values()), spent
        )
    hit, true, false, absent, right, arrows, links, right_r, arrows_r, links_r, tests, spent = (
        totals
    )
    return np.array(
        [
            hit / true,
            false / absent,
            right / arrows,
            right / links,
            right_r / max(arrows_r, 1),
            right_r / max(links_r, 1),
            tests / len(seeds),
            1000 * spent / len(seeds),
        ]
    )


def _counts(
    endpoints: np.ndarray, truth: np.ndarray, context: int, tests: int, spent: float
) -> list[float]:
    adjacent, true = endpoints != 0, truth | truth.swapaxes(1, 2)
    arrows, at_context = directed(endpoints), np.zeros_like(truth)
    at_context[:, context, :] = at_context[:, :, context] = True
    return [
        (adjacent & true).sum(),
        true.sum(),
        (adjacent & ~true).sum(),
        (~true).sum(),
        (arrows & truth).sum(),
        arrows.sum(),
        truth.sum(),
        (arrows & truth & at_context).sum(),
        (arrows & at_context).sum(),
        (truth & at_context).sum(),
        tests,
        spent,
    ]


def main() -> None:
    models = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"{models} models, seeds from {first}")
    for (title, design), n in product(DESIGNS.items(), (200, 1000)):
        print(f"\n{title}, n = {n}\n{'':28}" + "".join(f"{name:>17}" for name in COLUMNS))
        for scope, orientation in product(("adaptive", "cycle", "always"), ("within", "across")):
            scores = run(
                design,
                n,
                {"masked_scope": scope, "orientation": orientation},
                range(first, first + models),
            )
            print(
                f"{scope + ', ' + orientation:28}" + "".join(f"{score:17.3f}" for score in scores)
            )


if __name__ == "__main__":
    main()
