"""Are effects over time, their intervals and their differences between contexts right?

Run as `python benchmarks/lagged_effects.py [--models 40] [--rows 500,1000] [--steps 4]`. Random
systems (those of `simulate.random_series_model`): 6 variables, 2 lags, a context caused by the
system, two mechanisms that change. The truth is the response to a unit of X in the equations of the
system with the context held. Coverage is that of 95 % intervals of effects that are not 0: with the
true graphs, and with those that were found, where an effect that was missed counts as not covered.
Differences are those between the two contexts; false ones are significant at .05 where nothing
differs.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field

import numpy as np

import causalcontext as cc
from causalcontext.graphs.graph import Graph
from causalcontext_lab.simulate import SeriesDesign, SeriesModel, random_series_model
from measuring import machine, markdown_table

SAME = 1e-9


@dataclass
class ScanTotals:
    """Answers of one kind: whether the truth was inside, estimates and truths."""

    inside: list[bool] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    false: list[bool] = field(default_factory=list)

    def covered(self) -> str:
        """The share that was covered, with how many."""
        return f"{np.mean(self.inside):.3f} ({len(self.inside):,})" if self.inside else "-"

    def wrong(self, models: int) -> str:
        """How many differences a system are none and significant all the same."""
        return f"{sum(self.false) / models:.2f}"


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--rows", default="500,1000")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--autocorrelation", default=".3,.6,.9")
    parser.add_argument("--noise", default="normal")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rows = []
    for level in map(float, asked.autocorrelation.split(",")):
        design = SeriesDesign(autocorrelation=level, noise=asked.noise)
        for length in map(int, asked.rows.split(",")):
            rows += measured(design, length, asked)
    print(machine(), "\n")
    header = [
        "a",
        "T",
        "graph",
        "effects covered",
        "differences covered",
        "mean error",
        "false ones a system",
        "CPU s",
    ]
    print(markdown_table(header, rows))


def measured(design: SeriesDesign, length: int, asked: argparse.Namespace) -> list[list[str]]:
    """One row with the true graphs, one with those that were found."""
    effects = {"true": ScanTotals(), "found": ScanTotals()}
    differences = {"true": ScanTotals(), "found": ScanTotals()}
    spent = {"true": 0.0, "found": 0.0}
    for number in range(asked.models):
        model = random_series_model(design, np.random.default_rng([asked.seed, number]))
        table = model.sample(length, np.random.default_rng([asked.seed, number, 1]))
        found = cc.discover(table, context=model.context, lags=design.lags, method="score-ac")
        known = {
            value: Graph.from_edges(found.names, list(model.truth[value].edges))
            for value in found.contexts
        }
        for kind, result in (("found", found), ("true", found.with_graphs(known))):
            start = time.process_time()
            take(model, result, asked.steps, effects[kind], differences[kind])
            spent[kind] += time.process_time() - start
    return [
        [
            f"{design.autocorrelation:g}",
            str(length),
            kind,
            effects[kind].covered(),
            differences[kind].covered(),
            f"{np.mean(effects[kind].error):.3f}",
            differences[kind].wrong(asked.models),
            f"{spent[kind] / asked.models:.2f}",
        ]
        for kind in ("true", "found")
    ]


def take(
    model: SeriesModel,
    result: cc.ContextGraphs,
    steps: int,
    effects: ScanTotals,
    differences: ScanTotals,
) -> None:
    """Compare all effects of a result with those of the system."""
    truth = np.stack([responses(model.slopes[r], steps) for r in range(len(model.labels))])
    place = {name: i for i, name in enumerate(model.names)}
    told = set()
    for row in result.effects(steps=steps).itertuples():
        x, y, lag = place[row.x], place[row.y], row.lag
        g = model.labels.index(row.context)
        told.add((x, y, lag))
        if row.versus is None:
            note(effects, row, truth[g, lag, y, x])
        else:
            note(
                differences,
                row,
                truth[g, lag, y, x] - truth[model.labels.index(row.versus), lag, y, x],
            )
    effects.inside += missed(np.abs(truth) > SAME, told)
    differences.inside += missed(np.abs(truth[1:] - truth[:1]) > SAME, told)


def missed(there: np.ndarray, told: set[tuple[int, int, int]]) -> list[bool]:
    """One `False` for everything that is there and was not told of; `there[g, lag, effect,
    cause]`.
    """
    return [
        False
        for _, lag, y, x in np.argwhere(there).tolist()
        if (x, y, lag) not in told and (lag or x != y)
    ]


def note(totals: ScanTotals, row: object, truth: float) -> None:
    """Write one answer down."""
    low, high, p = (getattr(row, name) for name in ("low", "high", "p"))
    if abs(truth) > SAME:
        totals.inside.append(bool(low - SAME <= truth <= high + SAME))
        if getattr(row, "identified", False):
            totals.error.append(abs(getattr(row, "effect", np.nan) - truth))
    elif p == p:
        totals.false.append(p < 0.05)


def responses(slopes: np.ndarray, steps: int) -> np.ndarray:
    """`[k, effect, cause]`: what a unit of every variable does k steps later; `slopes[effect, lag,
    cause]`.
    """
    d, lags = len(slopes), slopes.shape[1] - 1
    present = np.linalg.inv(np.eye(d) - slopes[:, 0])
    moved = [present]
    for k in range(1, steps + 1):
        moved.append(
            present @ sum(slopes[:, lag] @ moved[k - lag] for lag in range(1, min(k, lags) + 1))
        )
    return np.stack(moved)


if __name__ == "__main__":
    main()
