"""Marks of score-ac: directions that are right and wrong, edges left open, and graphs that no
directed graph fits.

    python benchmarks/research/score_marks.py [--models 40] [--first-seed 0] [--cells linear-500 ...]

"right" and "wrong" are shares of the edges found, in any context, between variables that are
linked; the rest is left open. "no graph": rows of `mechanisms()` that say that no directed acyclic
graph has the directions that were found. `--noise-column` counts the tables of 8 variables on which
a column of noise more changes the marks of the others.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.graphs.endpoints import directed, marked
from causalcontext_lab.simulate import random_model

sys.path.insert(0, str(Path(__file__).parents[1]))

import readers
from curved_models import Bools, Design, Floats, draw_model
from measuring import markdown_table

CONTEXT_NAMES = ["R", "S"]
WEAK = (-0.6, -0.4, 0.4, 0.6)
CELLS: dict[str, tuple[int, dict[str, Any] | Design]] = {
    "linear-200": (200, {}),
    "linear-500": (500, {}),
    "linear-2000": (2000, {}),
    "weak-500": (500, {"coefficients": WEAK}),
    "dense-500": (500, {"nodes": 7, "density": 0.6}),
    "ten-500": (500, {"nodes": 10, "density": 0.5}),
    "thirty-500": (500, {"nodes": 30, "density": 0.1}),
    "cycles-500": (500, {"edits": ("add", "remove", "flip"), "cycles": "enforce"}),
    "three-contexts-600": (600, {"contexts": 3, "changes": 2}),
    "two-variables-500": (500, {}),
    "exponential-500": (500, Design(curves=("linear",), noise="exponential")),
    "curved-500": (500, Design()),
    "categories-500": (500, Design(curves=("linear",), categorical=0.3)),
}


def drawn(name: str, seed: int) -> tuple[pd.DataFrame, Bools]:
    """A table, and its links in every context (or in all), numbered as the columns."""
    rows, design = CELLS[name]
    if name.startswith("two-variables"):
        table, truth = readers.drawn(rows, seed)
        links = {*truth.system, *truth.readers, ("A", "R"), ("B", "S")}
        return table, np.array(
            [[[(cause, effect) in links for effect in table] for cause in table]]
        )
    if isinstance(design, Design):
        curved = draw_model(design, seed)
        return curved.sample(rows, np.random.default_rng([seed, 9])), curved.truth()
    model = random_model(seed=seed, **design)
    return model.sample(rows, seed=50_000 + seed), model.adjacency


def counts(name: str, seed: int) -> Floats:
    """Right, wrong, open, right and wrong at contexts, rows of mechanisms, rows without a graph,
    ms.
    """
    table, truth = drawn(name, seed)
    contexts = [column for column in table if column in CONTEXT_NAMES]
    start = time.process_time()
    result = cc.discover(table, contexts if len(contexts) > 1 else contexts[0], method="score-ac")
    spent = 1000.0 * (time.process_time() - start)
    endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
    arrows, linked = directed(endpoints), truth | truth.swapaxes(1, 2)
    named = np.isin(result.names, contexts)
    at_context = named | named[:, None]
    found = result.mechanisms()
    lost = found["note"].str.contains("no directed acyclic graph")
    right, wrong = arrows & truth, arrows & linked & ~truth
    shown = (
        right,
        wrong,
        np.triu(marked(endpoints, "o-o") & linked),
        right & at_context,
        wrong & at_context,
    )
    return np.array([*(one.sum() for one in shown), len(found), lost.sum(), spent])


def count_noise_columns(seeds: range) -> str:
    """How many tables have other marks with a column of noise, and the sum of the best scores of
    all searches.
    """
    changed, score = 0, 0.0
    for seed in seeds:
        rows = (300, 1000)[seed // 2 % 2]
        table = random_model(8, 0.5, seed=seed, contexts=2 + seed % 2).sample(rows, seed)
        noise = np.random.default_rng([seed, 1]).standard_normal(rows)
        found, other = (
            cc.discover(one, "R", method="score-ac") for one in (table, table.assign(noise=noise))
        )
        pairs = list(combinations(found.names, 2))
        marks = [
            [graph.mark(*pair) for graph in one.graphs.values() for pair in pairs]
            for one in (found, other)
        ]
        changed += marks[0] != marks[1]
        score += sum(one.evidence.score for one in (found, other) if one.evidence is not None)
    return (
        f"{changed} of {len(seeds)} tables have other marks with a column of noise; sum of best"
        f" scores {score:.3f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--cells", nargs="+", default=list(CELLS), choices=list(CELLS))
    parser.add_argument(
        "--noise-column", action="store_true", help="count tables that a column of noise changes"
    )
    chosen = parser.parse_args()
    if chosen.noise_column:
        print(count_noise_columns(range(chosen.first_seed, chosen.first_seed + chosen.models)))
        return
    lines = []
    for name in chosen.cells:
        seeds = range(chosen.first_seed, chosen.first_seed + chosen.models)
        total = np.sum([counts(name, seed) for seed in seeds], axis=0)
        edges = total[:3].sum()
        at_context = f"{total[3]:.0f} / {total[4]:.0f}"
        lines.append(
            [
                name,
                *(f"{share:.3f}" for share in total[:3] / edges),
                f"{total[1] / total[:2].sum():.3f}",
                at_context,
                f"{total[6]:.0f} of {total[5]:.0f}",
                f"{total[7] / chosen.models:.0f}",
            ]
        )
    columns = [
        "cell",
        "right",
        "wrong",
        "open",
        "wrong of directed",
        "at R: right / wrong",
        "no graph",
        "ms",
    ]
    print(markdown_table(columns, lines))


if __name__ == "__main__":
    main()
