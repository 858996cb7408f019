"""Which false links does score-ac find between system variables of curved mechanisms, and in which
models?

    python benchmarks/false_links.py [--models 40] [--rows 2000] [--noise normal]
    python benchmarks/false_links.py --at-context [--models 40] [--rows 2000]

A false link may be there in the other context, join effects of a common cause, or an ancestor and
its descendant. With `--at-context`, false links at the context are counted by the kind of curve and
the noise: some curves are in the dictionary of the score, others it comes near to.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from numpy.typing import NDArray

import causalcontext as cc
from curved_models import CURVES, CurvedModel, Design, count, draw_model
from measuring import machine, markdown_table


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--noise", default="normal")
    parser.add_argument("--first-seed", type=int, default=730_000)
    parser.add_argument("--at-context", action="store_true")
    chosen = parser.parse_args()
    if chosen.at_context:
        at_context(chosen)
        return
    found: Counter[tuple[str, str]] = Counter()
    for seed in range(chosen.first_seed, chosen.first_seed + chosen.models):
        model = draw_model(Design(noise=chosen.noise), seed)
        table = model.sample(chosen.rows, np.random.default_rng([seed, chosen.rows]))
        found.update(false_links(model, cc.discover(table, "R", method="score-ac")))
    rows = [(*key, number) for key, number in found.most_common()]
    print(markdown_table(("false link", "model of the effect", "links"), rows))
    print(
        f"\n{machine()}; {chosen.models} models, seeds from {chosen.first_seed}, n = {chosen.rows}"
    )


def at_context(chosen: argparse.Namespace) -> None:
    """Print the shares of pairs with the context that have a false link, by curve and noise."""
    rows = []
    for curve in [name for name in CURVES if name != "linear"]:
        shares = []
        for noise in ("normal", "exponential"):
            counts = []
            for seed in range(chosen.first_seed, chosen.first_seed + chosen.models):
                model = draw_model(Design(curves=("linear", curve), noise=noise), seed)
                table = model.sample(chosen.rows, np.random.default_rng([seed, chosen.rows]))
                counts.append(count(model, cc.discover(table, "R", method="score-ac")))
            extra, pairs = (
                sum(one.context_extra for one in counts),
                sum(one.context_pairs for one in counts),
            )
            shares.append(f"{extra / pairs:.3f}")
        rows.append((curve, *shares))
    print(markdown_table(("curves", "normal noise", "exponential noise"), rows))
    print(
        f"\n{machine()}; {chosen.models} models a cell, seeds from {chosen.first_seed}, n ="
        f" {chosen.rows}"
    )


def false_links(model: CurvedModel, result: cc.ContextGraphs) -> list[tuple[str, str]]:
    """What every false link between system variables is, and the model of its effect, one entry a
    context.
    """
    anywhere = model.links.any(axis=0)
    evidence, names, found = result.evidence, result.names, []
    for context, value in enumerate(result.contexts):
        graph, truth = result.graphs[value], model.links[context] | model.links[context].T
        for i, j in np.argwhere(np.triu(graph.adjacency & ~truth)).tolist():
            if model.context not in (i, j):
                effect = i if graph.mark(names[i], names[j]) == "<--" else j
                found.append((_kind(anywhere, i, j), evidence.model[effect]))
    return found


def _kind(links: NDArray[np.bool_], i: int, j: int) -> str:
    reach = links.copy()
    for k in range(len(links)):
        reach |= reach[:, [k]] & reach[[k], :]
    if links[i, j] or links[j, i]:
        return "there in the other context"
    if reach[i, j] or reach[j, i]:
        return "an ancestor"
    return "a common cause" if (reach[:, i] & reach[:, j]).any() else "other"


if __name__ == "__main__":
    main()
