"""Noise, mechanisms and columns that are not linear and Gaussian: score-ac beside pc-ac, and what
its warnings say.

8 nodes, acyclic union, no knowledge. Noise: every noise term has the law that is named. Mechanism:
a parent x of standard deviation s acts as s g(x / s) instead of x. Warp: the finished column, in
units of its standard deviation, is bent by a monotone function. FPR is the published rate; "at R"
are links at the context, "right at R" the share of the true links there that are directed and
directed rightly among those directed. "ranks": tables on which the likelihood chose normal scores.
The next three columns are the share of tables with each warning, then what method="auto" chose.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

import causalcontext as cc
from causalcontext.examples import NoiseLaw, exponential, normal, student_t5, uniform
from causalcontext.graphs.endpoints import directed as directed_endpoints
from causalcontext.graphs.paths import ancestors
from causalcontext_lab.simulate import ContextSCM, random_model
from causalcontext_lab.simulate.linear import cut_at_quantiles
from measuring import machine, markdown_table

Floats = NDArray[np.float64]
Shape = Callable[[Floats], Floats]
KINDS = {"nonlinear": "depend on earlier", "skewed": "skewed", "heavy tails": "heavy tails"}


def student_t3(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Student draws with three degrees of freedom, of variance 1."""
    return np.asarray(generator.standard_t(3, shape) / math.sqrt(3.0))


def straight(x: Floats) -> Floats:
    """No bend at all."""
    return x


NOISE: Mapping[str, NoiseLaw] = {
    "Gaussian": normal,
    "t5": student_t5,
    "t3": student_t3,
    "uniform": uniform,
    "exponential": exponential,
}
MECHANISMS: Mapping[str, Shape] = {
    "3 tanh(x / 3)": lambda x: 3.0 * np.tanh(x / 3.0),
    "tanh": np.tanh,
    "x + .15 x^2": lambda x: x + 0.15 * x**2,
    "x^2": lambda x: x**2,
    "abs": np.abs,
}
WARPS: Mapping[str, Shape] = {
    "sign abs^1.5": lambda x: np.sign(x) * np.abs(x) ** 1.5,
    "tanh": np.tanh,
    "exp": np.exp,
    "cube": lambda x: x**3,
}
CONDITIONS = (
    [("noise " + name, density, straight, straight) for name, density in NOISE.items()]
    + [("mechanism " + name, normal, shape, straight) for name, shape in MECHANISMS.items()]
    + [("warp " + name, normal, straight, warp) for name, warp in WARPS.items()]
)


def main() -> None:
    """Print the table."""
    options = _options()
    print(
        f"{machine()}\n\n{options.models} models a row, seeds from {options.first_seed}, n ="
        f" {options.rows}\n"
    )
    header = [
        "condition",
        "score-ac TPR / FPR",
        "FPR at R",
        "right at R",
        "pc-ac TPR / FPR",
        "FPR at R",
        "right at R",
        "ranks",
        *KINDS,
        "auto: pc-ac",
    ]
    lines = []
    for place, (name, _, _, _) in enumerate(CONDITIONS):
        seeds = range(options.first_seed, options.first_seed + options.models)
        found = Parallel(n_jobs=options.jobs)(
            delayed(facts)(place, seed, options.rows) for seed in seeds
        )
        mean = np.ma.masked_invalid(np.array(found)).mean(axis=0)
        rates = [
            f"{mean[i]:.3f} / {mean[i + 1]:.3f}" if i in (0, 4) else f"{mean[i]:.2f}"
            for i in (0, 2, 3, 4, 6, 7)
        ]
        lines.append([name, *rates, *(f"{value:.2f}" for value in mean[8:])])
    print(markdown_table(header, lines))


def facts(place: int, seed: int, rows: int) -> list[float]:
    """Rates of both methods, and what was warned and chosen, on one table."""
    _, density, shape, warp = CONDITIONS[place]
    model = random_model(seed=seed, noise=density)
    table = warped(bent_sample(model, rows, np.random.default_rng([seed, place]), shape), warp)
    score, pc, auto = (
        cc.discover(table, "R", method=method) for method in ("score-ac", "pc-ac", "auto")
    )
    fired = [float(any(words in note for note in score.notes)) for words in KINDS.values()]
    ranks = float(score.evidence is not None and score.evidence.transform == "ranks")
    return [
        *rates(model, score),
        *rates(model, pc),
        ranks,
        *fired,
        float(auto.settings.method == "pc-ac"),
    ]


def bent_sample(
    model: ContextSCM, rows: int, generator: np.random.Generator, shape: Shape
) -> pd.DataFrame:
    """A table of a model whose parents act through a bend; otherwise as `ContextSCM.sample`."""
    values = model.noise(generator, (len(model.names), rows))
    context, upstream = model.context, ancestors(model.adjacency[0], model.context)
    if model.context_parents:
        values[context] *= model.context_noise
    for node in [*(node for node in model.orders[0] if upstream[node]), context]:
        values[node] += _pull(values, model.coefficients[0, :, node], shape, np.arange(rows))
    levels = cut_at_quantiles(values[context], model.contexts, model.balance)
    for place in range(len(model.names)):
        for level, order in enumerate(model.orders):
            node, inside = order[place], np.flatnonzero(levels == level)
            if not upstream[node] and node != context:
                values[node, inside] += _pull(
                    values, model.coefficients[level, :, node], shape, inside
                )
    columns = {name: values[node] for node, name in enumerate(model.names)}
    return pd.DataFrame(columns | {model.context_name: levels})


def _pull(values: Floats, coefficients: Floats, shape: Shape, rows: NDArray[np.int64]) -> Floats:
    """What the parents of a node add to it in some rows."""
    total = np.zeros(len(rows))
    for parent in np.flatnonzero(coefficients):
        spread = values[parent, rows].std()
        total += coefficients[parent] * spread * shape(values[parent, rows] / spread)
    return total


def warped(table: pd.DataFrame, warp: Shape) -> pd.DataFrame:
    """The table with every system column bent."""
    if warp is straight:
        return table
    return table.assign(
        **{name: warp(table[name] / table[name].std()) for name in table if name != "R"}
    )


def rates(model: ContextSCM, result: cc.ContextGraphs) -> list[float]:
    """TPR, FPR, FPR at R, and the share of rightly directed links at R among those directed; over
    contexts.
    """
    found = []
    context, others = model.context, np.arange(len(model.names)) != model.context
    for level in result.contexts:
        links, graph = model.adjacency[level], result.graphs[level]
        truth, arrows = links | links.T, directed_endpoints(graph.endpoints)
        at_context = np.zeros_like(links)
        at_context[context] = at_context[:, context] = True
        directed = links & at_context & (arrows | arrows.T)
        absent = ~truth[context, others]
        found.append(
            [
                graph.adjacency[truth].mean(),
                graph.adjacency[~truth].mean(),
                graph.adjacency[context, others][absent].mean() if absent.any() else math.nan,
                arrows[directed].mean() if directed.any() else math.nan,
            ]
        )
    return np.ma.filled(np.ma.masked_invalid(np.array(found)).mean(axis=0), np.nan).tolist()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first-seed", type=int, default=160_000)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
