"""score-ac beside pc-ac, pc-m and pc-b on random models, against the truth; and the order search
against the optimum.

Models are those of the paper's generator with no knowledge; all settings of `discover` are the
defaults. A rate is computed in every context graph, averaged over the contexts of a model, then
over models. FPR is the published rate (all absent ordered pairs count, the diagonal included);
"off" leaves the diagonal out. "directed" is the share of the true links that were found with a
direction, "right" the share of these whose direction is the true one. Large designs have moderate
effects (.5 to .9 in size, drawn anew): with the paper's 1.2 to 1.8 variances explode along long
paths.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

import causalcontext as cc
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.graphs.endpoints import directed as directed_endpoints
from causalcontext.knowledge import Knowledge
from causalcontext.score.data import score_data
from causalcontext.score.design import ScoreDesign
from causalcontext.score.options import Clock, ScoreOptions
from causalcontext.score.search import Effort, search
from causalcontext_lab.simulate import ContextSCM, random_model
from measuring import machine, markdown_table

Bools = NDArray[np.bool_]
METHODS = ("score-ac", "pc-ac", "pc-m", "pc-b")
EVERY_EDIT = ("add", "remove", "flip")
RATES = ("TPR", "FPR", "FPR off", "TPR at R", "FPR at R", "directed", "right")
SAME_SCORE = 1e-3


@dataclass(frozen=True)
class Setting:
    """A row of the table: what is drawn, how many rows, and what the issue asks for."""

    name: str
    rows: int
    design: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""
    moderate: bool = False
    few: bool = False


CYCLIC = {"cycles": "enforce", "edits": EVERY_EDIT}
SETTINGS = {
    "main": [
        Setting("8 nodes", 200, target=">= .96 / <= .015"),
        Setting("8 nodes", 500, target=">= .98 / <= .006"),
        Setting("8 nodes", 1000, target=">= .985 / <= .005"),
        Setting("8 nodes, union cycles", 500, CYCLIC, ">= .96 / <= .015"),
        Setting("8 nodes, union cycles", 1000, CYCLIC, ">= .975 / <= .01"),
    ],
    "variants": [
        Setting("3 contexts", 500, {"contexts": 3}),
        Setting("4 contexts", 500, {"contexts": 4}),
        Setting("6 contexts (merge trees)", 900, {"contexts": 6}, few=True),
        Setting("balance 1.5", 500, {"balance": 1.5}),
        Setting("2 changed links", 500, {"changes": 2}),
        Setting("3 changed links", 500, {"changes": 3}),
        Setting("density .6", 500, {"density": 0.6}),
        Setting("12 nodes", 500, {"nodes": 12}),
    ],
    "large": [
        Setting(
            "20 nodes",
            1000,
            {"nodes": 20, "density": 3.5 / 19, "changes": 2},
            moderate=True,
            few=True,
        ),
        Setting(
            "20 nodes, union cycles",
            1000,
            {"nodes": 20, "density": 3.5 / 19, "changes": 2, **CYCLIC},
            moderate=True,
            few=True,
        ),
        Setting(
            "50 nodes",
            1000,
            {"nodes": 50, "density": 3.5 / 49, "changes": 3},
            moderate=True,
            few=True,
        ),
        Setting(
            "100 nodes",
            1000,
            {"nodes": 100, "density": 3.5 / 99, "changes": 5},
            moderate=True,
            few=True,
        ),
        Setting(
            "20 nodes, the paper's effects",
            1000,
            {"nodes": 20, "density": 3.5 / 19, "changes": 2},
            few=True,
        ),
        Setting(
            "50 nodes, the paper's effects",
            1000,
            {"nodes": 50, "density": 3.5 / 49, "changes": 3},
            few=True,
        ),
    ],
}


def main() -> None:
    """Print the chosen tables."""
    options = _options()
    print(f"{machine()}\n")
    for group in options.tables:
        if group == "exact":
            _print_exact(options)
            continue
        print(
            f"{options.models} models a row ({options.few} where marked *), seeds from"
            f" {options.first_seed}\n"
        )
        rows = [line for setting in SETTINGS[group] for line in _lines(setting, options)]
        print(markdown_table(["setting", "n", "method", *RATES, "target"], rows), end="\n\n")


def _lines(setting: Setting, options: argparse.Namespace) -> list[list[str]]:
    models = options.few if setting.few else options.models
    seeds = range(options.first_seed, options.first_seed + models)
    methods = [
        method for method in METHODS if not setting.moderate or method in ("score-ac", "pc-ac")
    ]
    found = Parallel(n_jobs=options.jobs)(
        delayed(rates_of_model)(setting, seed, methods) for seed in seeds
    )
    table = np.array(found)
    lines = []
    for place, method in enumerate(methods):
        name = setting.name + (" *" if setting.few else "")
        cells = [_mean(table[:, place, column]) for column in range(table.shape[2])]
        lines.append(
            [
                name,
                str(setting.rows),
                method,
                *cells,
                setting.target if method == "score-ac" else "",
            ]
        )
    return lines


def drawn_model(setting: Setting, seed: int) -> ContextSCM:
    """The model of a setting and a seed."""
    model = random_model(seed=seed, **setting.design)
    if not setting.moderate:
        return model
    size = np.random.default_rng([seed, 1]).uniform(0.5, 0.9, model.coefficients.shape[1:])
    return replace(model, coefficients=np.sign(model.coefficients) * size)


def rates_of_model(setting: Setting, seed: int, methods: list[str]) -> list[list[float]]:
    """The rates of every method on one table of one model."""
    model = drawn_model(setting, seed)
    table = model.sample(setting.rows, np.random.default_rng([seed, setting.rows]))
    return [mean_rates(model, cc.discover(table, "R", method=method)) for method in methods]


def mean_rates(model: ContextSCM, result: cc.ContextGraphs) -> list[float]:
    """TPR, FPR, FPR off the diagonal, TPR and FPR at R, shares directed and rightly directed; over
    contexts.
    """
    rates = [
        context_rates(model.adjacency[level], result.graphs[level], model.context)
        for level in result.contexts
    ]
    table = np.ma.masked_invalid(np.array(rates))
    return np.ma.filled(table.mean(axis=0), np.nan).tolist()


def context_rates(links: Bools, graph: cc.Graph, context: int) -> list[float]:
    """The same in one context graph."""
    truth, found = links | links.T, graph.adjacency
    others = np.arange(len(truth)) != context
    off = ~np.eye(len(truth), dtype=bool)
    arrows = directed_endpoints(graph.endpoints)
    there, directed = links & found, links & (arrows | arrows.T)
    return [
        _share(found, truth),
        _share(found, ~truth),
        _share(found, ~truth & off),
        _share(found[context, others], truth[context, others]),
        _share(found[context, others], ~truth[context, others]),
        directed.sum() / max(there.sum(), 1),
        _share(arrows, directed),
    ]


def _share(found: Bools, among: Bools) -> float:
    return float(found[among].mean()) if among.any() else math.nan


def _mean(values: NDArray[np.float64]) -> str:
    known = values[~np.isnan(values)]
    return f"{known.mean():.3f}" if known.size else ""


def _print_exact(options: argparse.Namespace) -> None:
    """How often the order search with default starts reaches the optimum of the dynamic program, 8
    nodes.
    """
    rows = []
    for name, design in (("acyclic union", {}), ("union cycles", CYCLIC)):
        for n in (200, 1000):
            seeds = range(options.first_seed, options.first_seed + options.exact // 4)
            hits = np.array(
                Parallel(n_jobs=options.jobs)(
                    delayed(reaches_optimum)(design, n, seed) for seed in seeds
                )
            )
            rows.append(
                [name, n, len(hits), f"{hits[:, 0].mean():.3f}", f"{hits[:, 1].mean():.3f}"]
            )
    print("order search against the exact optimum, 8 nodes\n")
    header = ["models", "n", "number", "reached, default starts", "reached, a single start"]
    print(markdown_table(header, rows), end="\n\n")


def reaches_optimum(design: Mapping[str, Any], rows: int, seed: int) -> tuple[bool, float]:
    """Whether the best start reaches the optimum, and the share of starts that do."""
    table = random_model(seed=seed, **design).sample(rows, np.random.default_rng([seed, rows]))
    return reached(table, curves=False)


def reached(table: pd.DataFrame, curves: bool) -> tuple[bool, float]:
    """The same for a table, with straight lines or with curves."""
    rows = read_table(table, "R")
    data = score_data(rows, gather_statistics(rows), Knowledge().links(rows.names))
    effort = Effort(0, 1, lambda size, done, total: None, Clock())
    exact, order = (
        search(ScoreDesign(data, ScoreOptions(search=how), curves), curves, effort)
        for how in ("exact", "order")
    )
    scores = [model.score for model in order.models]
    floor = exact.best.score - SAME_SCORE
    return max(scores) > floor, float(np.mean([score > floor for score in scores]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tables",
        nargs="+",
        default=["main", "variants", "large", "exact"],
        choices=["main", "variants", "large", "exact"],
    )
    parser.add_argument("--first-seed", type=int, default=150_000)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--few", type=int, default=20, help="models of the rows that take long")
    parser.add_argument(
        "--exact", type=int, default=200, help="models for the comparison with the optimum"
    )
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
