"""Adjacencies found by the four methods on random models, against the truth.

The models are those of the paper's main setting (8 nodes, density .4, one removed link in each of
two contexts, no union cycles); nothing is known in advance, and all settings of `discover` are the
defaults. A rate is computed in every context graph, averaged over the contexts of a model, then
over models; in brackets its standard error over models. The false-positive rate is the published
one: all absent ordered pairs count, the diagonal included. For links at R alone the diagonal is
left out.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

import causalcontext as cc
from causalcontext_lab.simulate import ContextSCM, random_model
from measuring import machine, markdown_table

Bools = NDArray[np.bool_]
METHODS = ("pc-ac", "pc-m", "pc-p", "pc-b")
TARGETS = {
    1000: "pc-ac: TPR >= .84 at FPR <= .03, links at R TPR >= .88 at FPR <= .06",
    200: "pc-ac: TPR >= .69 at FPR <= .03",
}


class Rates(NamedTuple):
    """Shares of the true links that were found, and of the absent ones that were found all the
    same.
    """

    tpr: float
    fpr: float
    context_tpr: float
    context_fpr: float


def main() -> None:
    """Print one table for every number of rows."""
    options = _options()
    print(f"{machine()}\n")
    seeds = range(options.first_seed, options.first_seed + options.models)
    print(f"{options.models} models, seeds {seeds[0]} to {seeds[-1]}, alpha {options.alpha}\n")
    for rows in options.rows:
        results = Parallel(n_jobs=options.jobs)(
            delayed(rates_of_model)(seed, rows, options.alpha) for seed in seeds
        )
        print(
            f"n = {rows}" + (f" (target for {TARGETS[rows]})" if rows in TARGETS else ""),
            end="\n\n",
        )
        print(_table(np.array(results)), end="\n\n")


def rates_of_model(seed: int, rows: int, alpha: float) -> list[Rates]:
    """The rates of every method on one table of one model, averaged over contexts."""
    model = random_model(seed=seed)
    table = model.sample(rows, np.random.default_rng([seed, rows]))
    return [
        _mean_rates(model, cc.discover(table, "R", method=method, alpha=alpha))
        for method in METHODS
    ]


def _mean_rates(model: ContextSCM, result: cc.ContextGraphs) -> Rates:
    """The rates averaged over contexts; the level in the table is the place of the context in the
    model.
    """
    rates = [
        context_rates(
            model.context_graph(level).adjacency, result.graphs[level].adjacency, model.context
        )
        for level in result.contexts
    ]
    return Rates(*np.mean(rates, axis=0))


def context_rates(truth: Bools, found: Bools, context: int) -> Rates:
    """The rates in one context graph, over all ordered pairs and over the links at the context."""
    others = np.arange(len(truth)) != context
    at_context, found_there = truth[context, others], found[context, others]
    return Rates(
        _share(found, truth),
        _share(found, ~truth),
        _share(found_there, at_context),
        _share(found_there, ~at_context),
    )


def _share(found: Bools, among: Bools) -> float:
    """The share of `among` that was found; NaN where there is nothing to find."""
    return float(found[among].mean()) if among.any() else math.nan


def _table(results: NDArray[np.float64]) -> str:
    """Means and standard errors over models, from an array of shape (models, methods, rates)."""
    header = ["method", "TPR", "FPR", "TPR at R", "FPR at R (off the diagonal)"]
    rows = [
        [method, *map(_mean_and_error, results[:, place].T)] for place, method in enumerate(METHODS)
    ]
    return markdown_table(header, rows)


def _mean_and_error(values: Sequence[float]) -> str:
    known = np.asarray(values)[~np.isnan(values)]
    return f"{known.mean():.3f} ({known.std(ddof=1) / math.sqrt(known.size):.3f})"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 500, 1000])
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
