"""Contexts that are made out of a column (`cc.threshold`): what score-ac and pc-ac find, with and
without lags.

    python benchmarks/research/thresholds.py [--models 40] [--rows 1000]

Static tables have five numbers with continuous weights; the context is whether the second one lies
above its median, and links among the last three may change with it. "system": links between numbers
in any context. "changes": links that only one context has, or whose slope turns its sign.
"readers": numbers that the context points at. True and false rates, and the share of tables in
which links and changes are exactly right. "claims": false ones of all that `changes()` makes, and
the share of the true changes that is claimed.

The land surface of `cc.examples` has a regime that is moisture above 0 and nothing else: the graphs
with the regime as a column beside those with `cc.threshold("moisture", 0.0)`, score-ac with two
lags.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.examples import land_surface_model

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import machine, markdown_table, with_second_opinion

NUMBERS = ("A", "B", "C", "D", "E")
KINDS = ("system", "changes", "readers")


def drawn(rows: int, seed: int) -> tuple[pd.DataFrame, float, dict[str, set[tuple[str, str]]]]:
    """A table, the threshold of B, and what is true."""
    random = np.random.default_rng([seed, 23])
    values: dict[str, np.ndarray] = {}
    truth: dict[str, set[tuple[str, str]]] = {kind: set() for kind in KINDS}
    cut, above = 0.0, np.zeros(rows, dtype=bool)
    for place, name in enumerate(NUMBERS):
        total = random.normal(size=rows)
        for cause in NUMBERS[:place]:
            if random.random() < 0.5:
                continue
            slope = random.choice([-1.0, 1.0]) * random.uniform(0.6, 1.4)
            other = slope
            if place >= 2 and random.random() < 0.4:
                other = random.choice([0.0, -slope])
                truth["changes"].add((cause, name))
                truth["readers"].add(("B", name))
            truth["system"].add((cause, name))
            total += np.where(above, slope, other) * values[cause]
        values[name] = total
        if name == "B":
            cut = float(np.round(np.median(total), 2))
            above = total > cut
    return pd.DataFrame(values), cut, truth


def found_by(
    table: pd.DataFrame, cut: float, method: str
) -> tuple[dict[str, set[tuple[str, str]]], list[tuple[str, str]]]:
    """What a method says, and the changed links that it claims."""
    result = cc.discover(table, cc.threshold("B", cut), method=method)
    low, high = (result.graphs[value] for value in result.contexts)
    found: dict[str, set[tuple[str, str]]] = {kind: set() for kind in KINDS}
    slopes = result.mechanisms()[["cause", "effect", "context", "coefficient"]].itertuples(
        index=False
    )
    signs = {(cause, effect, value): np.sign(slope) for cause, effect, value, slope in slopes}
    for place, y in enumerate(NUMBERS):
        for x in NUMBERS[:place]:
            here = [graph.mark(x, y) != "" for graph in (low, high)]
            if any(here):
                found["system"].add((x, y))
            turned = {
                signs.get((*pair, value), 0.0)
                for pair in ((x, y), (y, x))
                for value in result.contexts
            }
            if any(here) and (here[0] != here[1] or {-1.0, 1.0} <= turned):
                found["changes"].add((x, y))
    made = next(name for name in result.names if name not in NUMBERS)
    found["readers"] = {("B", y) for y in NUMBERS if low.mark(made, y) == "-->"}
    changes = with_second_opinion(result).changes(*result.contexts).query("claimed")
    claims = [
        (x, y) if x < y else (y, x)
        for x, y in zip(changes["source"], changes["target"], strict=True)
    ]
    return found, claims


def static(models: int, rows: int, method: str) -> list[str]:
    """The rates of a method."""
    totals, right, claimed, wrong = dict.fromkeys(KINDS, np.zeros(4)), 0, 0, 0
    for seed in range(models):
        table, cut, truth = drawn(rows, seed)
        found, claims = found_by(table, cut, method)
        false = [pair for pair in claims if pair not in truth["changes"]]
        claimed, wrong = claimed + len(claims), wrong + len(false)
        for kind in KINDS:
            absent = {"system": 10, "changes": len(truth["system"]), "readers": 3}[kind] - len(
                truth[kind]
            )
            totals[kind] = totals[kind] + [
                len(truth[kind] & found[kind]),
                len(truth[kind]),
                len(found[kind] - truth[kind]),
                absent,
            ]
        right += truth["system"] == found["system"] and truth["changes"] == found["changes"]
    rates = [
        f"{hits / max(true, 1):.3f}/{false / max(absent, 1):.3f}"
        for hits, true, false, absent in totals.values()
    ]
    power = (claimed - wrong) / max(totals["changes"][1], 1)
    return [
        method,
        str(rows),
        *rates,
        f"{right / models:.2f}",
        f"{wrong} of {claimed}, {power:.2f}",
    ]


def land(models: int, rows: int) -> str:
    """In how many tables the graphs are those with the regime as a column."""
    model, same = land_surface_model(), 0
    weights = np.zeros_like(model.into_context)
    weights[0, model.names.index("moisture")] = 1.0
    model = replace(model, into_context=weights, context_noise=0.0)
    for number in range(models):
        table = model.sample(rows, seed=[2026, number])  # type: ignore[arg-type]
        by_column = cc.discover(table, "regime", lags=2, method="score-ac")
        made = cc.discover(
            table.drop(columns="regime"), cc.threshold("moisture", 0.0), lags=2, method="score-ac"
        )
        same += _links(by_column, "regime") == _links(made, made.series.variables[-1])
    return (
        f"land surface, T = {rows}: the same graphs with the threshold and with the column in"
        f" {same} of {models}"
    )


def _links(result: cc.ContextGraphs, context: str) -> set[frozenset[tuple[str, str, str]]]:
    """The links of both contexts, but for those into the context; which of the two is which is left
    open.
    """
    return {
        frozenset(
            (edge.source.replace(context, "R"), edge.target, edge.mark)
            for edge in graph.edges
            if not edge.target.startswith(context)
        )
        for graph in result.graphs.values()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--methods", default="score-ac,pc-ac")
    arguments = parser.parse_args()
    print(machine())
    found = [
        static(arguments.models, arguments.rows, method) for method in arguments.methods.split(",")
    ]
    print(markdown_table(["method", "n", *KINDS, "exactly right", "claims"], found))
    print(land(arguments.models // 2, 1500))


if __name__ == "__main__":
    main()
