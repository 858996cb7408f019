"""Are effects, their intervals and differences right, with the true graph and with a graph that was
found?

Run as `python benchmarks/effects.py {true,found,mixture,context,speed} [--models 300] [--first-seed
7000]`. Random linear models of the paper's main setting (8 nodes, two contexts, R may have
parents); every part prints a Markdown table. `mixture` compares intervals that take the graph as
given with those over draws of graphs, cell by cell (`--cells`), and says how often the
probabilities of edges and directions are right.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.examples import NOISE_LAWS
from causalcontext.graphs.paths import ancestors, reach
from causalcontext.results.effects.table import asked_pairs
from causalcontext_lab.simulate.linear import ContextSCM, add_effects, random_model
from measuring import machine, markdown_table, spoken_time, timed

SIZES = (300, 1000, 5000)
SAME = 1e-12


def main() -> None:
    """Print one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("true", "found", "mixture", "context", "speed"))
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--first-seed", type=int, default=7000)
    parser.add_argument("--noise", default="normal", choices=sorted(NOISE_LAWS))
    parser.add_argument("--rows", type=int, default=1000, help="of the graphs that are found")
    parser.add_argument(
        "--samples", type=int, default=100, help="bootstrap samples of `found`; 0 for none"
    )
    parser.add_argument(
        "--cells", nargs="*", default=list(CELLS), choices=list(CELLS), help="of `mixture`"
    )
    asked = parser.parse_args()
    print(machine(), "\n")
    parts = {
        "true": true_graph,
        "found": found_graph,
        "mixture": over_draws,
        "context": setting_the_context,
        "speed": speed,
    }
    parts[asked.part](asked)


def models(asked: argparse.Namespace) -> Iterator[tuple[int, ContextSCM]]:
    """The models, each with a seed for its table."""
    for seed in range(asked.first_seed, asked.first_seed + asked.models):
        yield seed, random_model(nodes=8, density=0.4, seed=seed, noise=NOISE_LAWS[asked.noise])


# With the true graph: errors beside masked and pooled fits, coverage, false differences.


def true_graph(asked: argparse.Namespace) -> None:
    """Coefficients and total effects with the true graph."""
    rows, covered = [], []
    for n in SIZES:
        direct, whole, differences = [], [], []
        for seed, model in models(asked):
            table = model.sample(n, seed=seed)
            result = cc.discover(
                table, context=model.context_name, max_given=0, method="pc-ac"
            ).with_graphs(model.truth().descriptive)
            direct.append(coefficients(model, result, table))
            found, differing = totals(model, result)
            whole.append(found)
            differences.append(differing)
        rows += [error_row(n, pd.concat(direct), above) for above in (True, False)]
        covered.append(
            (
                n,
                *coverage(pd.concat(direct)),
                *coverage(pd.concat(whole)),
                *coverage(pd.concat(differences)),
                *false_positives(pd.concat(differences)),
            )
        )
    header = ["n", "variables", "coefficients", "adaptive", "masked", "pooled"]
    print("Mean absolute error of direct coefficients.\n")
    print(markdown_table(header, rows), "\n")
    print(
        "Coverage of 95 % intervals, in brackets how many; differences at .05 where nothing"
        " differs.\n"
    )
    header = [
        "n",
        "coefficients",
        "",
        "total effects",
        "",
        "differences",
        "",
        "false differences",
        "",
    ]
    print(markdown_table(header, covered))


def coefficients(model: ContextSCM, result: cc.ContextGraphs, table: pd.DataFrame) -> pd.DataFrame:
    """One row for every coefficient and fit: the truth, the estimate, and those of masked and
    pooled fits.
    """
    found = result.mechanisms()
    found = found[[row["shared by"][0] == row["context"] for _, row in found.iterrows()]].copy()
    upstream = ancestors(model.adjacency[0], model.context)
    place = {name: i for i, name in enumerate(model.names)}
    found["truth"] = [
        model.coefficients[r, place[c], place[e]]
        for r, c, e in found[["context", "cause", "effect"]].to_numpy()
    ]
    found["above"] = [bool(upstream[place[e]]) for e in found["effect"]]
    for name in ("masked", "pooled"):
        found[name] = [
            plain_slope(model, table, place[e], place[c], r, name == "masked")
            for r, c, e in found[["context", "cause", "effect"]].to_numpy()
        ]
    return found.rename(columns={"coefficient": "estimate"})


def plain_slope(
    model: ContextSCM, table: pd.DataFrame, effect: int, cause: int, level: int, masked: bool
) -> float:
    """The coefficient in a regression on the true causes, inside the context or on all rows."""
    causes = np.flatnonzero(model.coefficients[level, :, effect])
    rows = table.to_numpy(float)
    rows = rows[rows[:, model.context] == level] if masked else rows
    design = np.column_stack([np.ones(len(rows)), rows[:, causes]])
    found: np.ndarray = np.linalg.lstsq(design, rows[:, effect], rcond=None)[0]
    return float(found[1 + int(np.flatnonzero(causes == cause)[0])])


def totals(model: ContextSCM, result: cc.ContextGraphs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Total effects, and their differences between contexts, with the truth; those without a path
    are left out.
    """
    found = result.effects()
    found = found[(found["x"] != model.context_name) & (found["se"] > 0)].copy()
    truth = true_effects(model)
    place = {name: i for i, name in enumerate(model.names)}
    found["truth"] = [
        truth[row["context"], place[row["x"]], place[row["y"]]]
        - (0.0 if row["versus"] is None else truth[row["versus"], place[row["x"]], place[row["y"]]])
        for _, row in found.iterrows()
    ]
    found = found.rename(columns={"effect": "estimate"})
    alone = found["versus"].isna()
    return found[alone], found[~alone]


def true_effects(model: ContextSCM) -> np.ndarray:
    """The effect of everything on everything with the context held, shape (contexts, nodes,
    nodes).
    """
    held = model.coefficients.copy()
    held[:, :, model.context] = 0.0
    return np.linalg.inv(np.eye(len(model.names)) - held)


def error_row(n: int, direct: pd.DataFrame, above: bool) -> tuple[object, ...]:
    """Mean absolute errors of ancestors of R, or of other variables."""
    chosen = direct[direct["above"] == above]
    errors = [
        f"{(chosen[name] - chosen['truth']).abs().mean():.3f}"
        for name in ("estimate", "masked", "pooled")
    ]
    return n, "ancestors of R" if above else "others", len(chosen), *errors


def coverage(found: pd.DataFrame) -> tuple[str, str]:
    """The share of intervals with the truth inside, and how many there are."""
    inside = (found["low"] <= found["truth"]) & (found["truth"] <= found["high"])
    return f"{inside.mean():.3f}", f"({len(found)})"


def false_positives(differences: pd.DataFrame) -> tuple[str, str]:
    """The share of differences with p <= .05 where the truth is 0."""
    same = differences[differences["truth"].abs() < SAME]
    return f"{(same['p'] <= 0.05).mean():.3f}", f"({len(same)})"


# With a graph that was found.


def found_graph(asked: argparse.Namespace) -> None:
    """The same with graphs of score-ac and pc-ac: what the graph costs, and what resampling makes
    of it.
    """
    rows = []
    for method in ("true graph", "score-ac", "pc-ac"):
        found = pd.concat([answers(asked, method, seed, model) for seed, model in models(asked)])
        rows.append((method, *spent(found)))
    header = [
        "graph",
        "one number",
        "a set",
        "not identified",
        "missed",
        "mean error",
        "median error",
        "covered, one number",
        "covered, a set",
        "width",
        "covered, resampled",
        "width, resampled",
    ]
    print(
        f"n = {asked.rows}, {asked.models} models; all pairs, each context, that have an effect or"
        " were given one.\n"
    )
    print(markdown_table(header, rows))


def answers(asked: argparse.Namespace, method: str, seed: int, model: ContextSCM) -> pd.DataFrame:
    """One row for every pair and context with an effect, in truth or by the graph."""
    table = model.sample(asked.rows, seed=seed)
    known = method == "true graph"
    test = {} if method == "score-ac" else {"test": "partial-correlation"}
    result = cc.discover(
        table, context=model.context_name, method="pc-ac" if known else method, seed=seed, **test
    )
    result = result.with_graphs(model.truth().descriptive) if known else result
    keys = ["x", "y", "context"]
    found = result.effects()
    found = found[found["versus"].isna() & (found["x"] != model.context_name)].set_index(keys)
    truth, names = true_effects(model), [name for name in model.names if name != model.context_name]
    place = {name: i for i, name in enumerate(model.names)}
    pairs = pd.MultiIndex.from_product([names, names, range(model.contexts)], names=keys)
    found = found.reindex(pairs[pairs.get_level_values("x") != pairs.get_level_values("y")])
    absent = found["identified"].isna()
    found.loc[absent, ["effect", "low", "high"]], found["identified"] = (
        0.0,
        absent | (found["identified"] == True),  # noqa: E712
    )
    found["truth"] = [truth[r, place[x], place[y]] for x, y, r in found.index]
    found = found[(found["truth"].abs() > SAME) | (found["low"] != 0.0) | (found["high"] != 0.0)]
    if asked.samples and not known:
        drawn = result.effects(graph="resampled", samples=asked.samples, seed=seed)
        drawn = drawn[drawn["versus"].isna()].set_index(keys)[["low", "high"]].add_prefix("drawn ")
        found = found.join(drawn)
    return found


def spent(found: pd.DataFrame) -> tuple[str, ...]:
    """Shares, errors, coverage and widths."""
    none, without = found["low"].isna(), (found["low"] == 0.0) & (found["high"] == 0.0)
    single, several = found["identified"] & ~without, ~found["identified"] & ~none
    error = (found.loc[single, "effect"] - found.loc[single, "truth"]).abs()
    drawn = "drawn low" in found
    asked = found[found["drawn low"].notna()] if drawn else found
    shares = [f"{part.mean():.2f}" for part in (single, several, none, without)]
    width = f"{(found['high'] - found['low'])[single | several].median():.3f}"
    wider = f"{(asked['drawn high'] - asked['drawn low']).median():.3f}" if drawn else ""
    errors = [f"{error.mean():.3f}", f"{error.median():.3f}"]
    covered = [inside(found[single]), inside(found[several])]
    return (*shares, *errors, *covered, width, inside(asked, "drawn ") if drawn else "", wider)


def inside(found: pd.DataFrame, prefix: str = "") -> str:
    """The share of intervals with the truth in them, and how many there are."""
    if not len(found):
        return "-"
    covered = (found[prefix + "low"] <= found["truth"] + SAME) & (
        found["truth"] - SAME <= found[prefix + "high"]
    )
    return f"{covered.mean():.3f} ({len(found)})"


# Intervals over draws of graphs.

WEAK = (-0.3, -0.2, -0.1, 0.1, 0.2, 0.3)
CELLS: dict[str, tuple[int, dict[str, Any]]] = {
    "linear": (500, {}),
    "90/10": (600, {"balance": float(np.log(0.9) / np.log(0.5))}),
    "weak 500": (500, {"coefficients": WEAK}),
    "weak 1000": (1000, {"coefficients": WEAK}),
    "nothing changes": (500, {}),
    "exponential": (500, {"noise": NOISE_LAWS["exponential"]}),
}
"""Rows, and what is special about the models."""
CLEAR = 0.05
"""True effects above this count for coverage and signs; all pairs count for false signs."""
BINS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)


def over_draws(asked: argparse.Namespace) -> None:
    """Coverage, widths and signs of both kinds of intervals; then what became of probabilities of
    edges.
    """
    rows, cells = [], []
    for cell in asked.cells:
        found = pd.concat(
            [
                one_table(cell, seed)
                for seed in range(asked.first_seed, asked.first_seed + asked.models)
            ]
        )
        found["cell"] = cell
        cells.append(found)
        alone, differing = found[found["h"] < 0], found[found["h"] >= 0]
        clear, apart = (
            alone[alone["truth"].abs() > CLEAR],
            differing[differing["truth"].abs() > CLEAR],
        )
        shares = [f"{within(clear, name).mean():.3f}" for name in ("true", "graph", "mixture")]
        width = (clear["mixture high"] - clear["mixture low"]) / (
            clear["true high"] - clear["true low"]
        )
        claimed, false = (
            [f"{some(alone, clear, name):.3f}" for name in ("graph", "mixture")]
            for some in (signs_claimed, false_signs)
        )
        rows.append(
            (
                f"{cell} ({asked.models})",
                *shares,
                f"{width.median():.1f}",
                " -> ".join(claimed),
                " -> ".join(false),
                *(f"{within(apart, name).mean():.3f}" for name in ("graph", "mixture")),
                f"{alone['drawn'].mean():.2f}",
                f"{found['seconds'].mean():.2f} s",
            )
        )
        print(rows[-1], flush=True)
    header = [
        "cell (tables)",
        "covered, true graph",
        "given the found graph",
        "mixture",
        "width / true graph",
        "signs claimed",
        "false among them",
        "differences, graph",
        "differences, mixture",
        "drawn",
        "processor time",
    ]
    print(markdown_table(header, rows), "\n")
    whole = pd.concat(cells)
    whole = whole[(whole["h"] < 0) & (whole["drawn"] == 1.0)]
    for title, shown in (
        ("edge", whole[whole["first"]]),
        ("direction", whole[whole["linked"]]),
        ("ancestor", whole),
    ):
        print(f"{title}: mean probability, share that is true, how many\n")
        print(
            markdown_table(
                ["", *(f"up to {high}" for high in (*BINS, 1))], calibration(shown, title)
            ),
            "\n",
        )


def one_table(cell: str, seed: int) -> pd.DataFrame:
    """One row for every pair, in each context, and for the difference between the two."""
    n, design = CELLS[cell]
    model = random_model(nodes=8, density=0.4, seed=seed, **design)
    if cell == "nothing changes":
        model = replace(model, coefficients=np.stack([model.coefficients[0]] * 2))
    result = cc.discover(
        model.sample(n, seed=seed), context=model.context_name, method="score-ac", seed=seed
    )
    known, truth = result.with_graphs(model.truth().descriptive), true_effects(model)
    spent, drawn = timed(
        lambda: (
            result._effect_draws() if isinstance(result._effect_draws(), str) else result.edges()
        )
    )
    causes, above = model.adjacency, np.stack([reach(links) for links in model.adjacency])
    chances = result.probabilities().set_index(["context", "x", "y"])
    found = []
    for x, y in permutations([v for v in range(8) if v != model.context], 2):
        names = model.names[x], model.names[y]
        tables = [
            known.effects(*names),
            result.effects(*names, intervals="graph"),
            result.effects(*names),
        ]
        for place, (g, h) in enumerate(((0, -1), (1, -1), (1, 0))):
            row = {
                "g": g,
                "h": h,
                "first": x < y,
                "linked": bool(causes[g, x, y] or causes[g, y, x]),
                "truth": truth[g, x, y] - (0.0 if h < 0 else truth[h, x, y]),
                "seconds": spent.cpu,
                "drawn": float(not isinstance(drawn, str)),
            }
            for name, some in zip(("true", "graph", "mixture"), tables, strict=True):
                row |= {
                    f"{name} low": some["low"].iloc[place],
                    f"{name} high": some["high"].iloc[place],
                }
            if len(chances) and h < 0:
                edge, cause, ancestor = chances.loc[(g, *names)]
                row |= {
                    "edge": edge,
                    "direction": cause / max(edge, 1e-9),
                    "ancestor": ancestor,
                    "is edge": row["linked"],
                    "is direction": bool(causes[g, x, y]),
                    "is ancestor": bool(above[g, x, y]),
                }
            found.append(row)
    return pd.DataFrame(found)


def within(found: pd.DataFrame, name: str) -> pd.Series:
    """Whether the truth is inside; an effect that is not identified has no interval, and is
    missed.
    """
    return (found[f"{name} low"] <= found["truth"] + SAME) & (
        found["truth"] - SAME <= found[f"{name} high"]
    )


def signs_claimed(alone: pd.DataFrame, clear: pd.DataFrame, name: str) -> float:
    """The share of clear effects whose interval lies on one side of 0."""
    return float((clear[f"{name} low"] * clear[f"{name} high"] > 0.0).mean())


def false_signs(alone: pd.DataFrame, clear: pd.DataFrame, name: str) -> float:
    """Of all intervals on one side of 0, the share with the truth at 0 or on the other one."""
    claimed = alone[alone[f"{name} low"] * alone[f"{name} high"] > 0.0]
    return float((claimed["truth"] * claimed[f"{name} low"] <= SAME).mean())


def calibration(found: pd.DataFrame, name: str) -> list[tuple[str, ...]]:
    """By bins of a probability: its mean, the share that is true, and how many."""
    bins = np.digitize(found[name], BINS)
    parts = [found[bins == place] for place in range(len(BINS) + 1)]
    return [
        ("probability", *(f"{part[name].mean():.2f}" if len(part) else "" for part in parts)),
        ("true", *(f"{part[f'is {name}'].mean():.2f}" if len(part) else "" for part in parts)),
        ("number", *(str(len(part)) for part in parts)),
    ]


# The effect of the context.


def setting_the_context(asked: argparse.Namespace) -> None:
    """do(R = 1) minus do(R = 0) by the true graph, beside a simulation and beside the means of the
    table.
    """
    rows = []
    for n in SIZES:
        found = pd.concat([one_setting(n, seed, model) for seed, model in models(asked)])
        truth = found["truth"]
        rows.append(
            (
                n,
                len(found),
                f"{truth.abs().mean():.2f}",
                f"{(found['effect'] - truth).abs().mean():.3f}",
                f"{(found['table'] - truth).abs().mean():.3f}",
                *coverage(found),
            )
        )
    print(
        "Mean differences of what R leads to; intercepts from U(-2, 2); the truth is the mean of"
        " 200,000 rows each.\n"
    )
    header = ["n", "effects", "mean size", "error", "error of the table's means", "coverage", ""]
    print(markdown_table(header, rows))


def one_setting(n: int, seed: int, model: ContextSCM) -> pd.DataFrame:
    """The effects of the context in one model with intercepts."""
    levels = np.random.default_rng([seed, 1]).uniform(-2.0, 2.0, len(model.names))
    law = model.noise
    shifted = replace(model, noise=lambda generator, shape: law(generator, shape) + levels[:, None])
    table = shifted.sample(n, seed=seed)
    result = cc.discover(
        table, context=model.context_name, max_given=0, method="pc-ac"
    ).with_graphs(model.truth().descriptive)
    found = result.effects(model.context_name)
    if not len(found):
        return found.assign(truth=0.0, table=0.0)
    inside = table.groupby(model.context_name).mean()
    wet, dry = (simulated_means(shifted, level, seed) for level in (1, 0))
    place = {name: i for i, name in enumerate(model.names)}
    return found.assign(
        truth=[wet[place[y]] - dry[place[y]] for y in found["y"]],
        table=[inside.loc[1, y] - inside.loc[0, y] for y in found["y"]],
    )


def simulated_means(model: ContextSCM, level: int, seed: int, rows: int = 200_000) -> np.ndarray:
    """The means of all variables if every case is put in a context, with the same noises for all
    contexts.
    """
    values = model.noise(np.random.default_rng([seed, 2]), (len(model.names), rows))
    held = model.coefficients[level].copy()
    held[:, model.context] = 0.0
    add_effects(values, held, model.orders[level])
    return np.asarray(values.mean(axis=1))


# Speed.


def speed(asked: argparse.Namespace) -> None:
    """200 pairs of a result with 50 variables, asked one by one and at once."""
    model = random_model(nodes=50, density=0.08, seed=asked.first_seed)
    found = cc.discover(
        model.sample(2000, seed=1), context=model.context_name, alpha=0.01, method="pc-ac"
    )
    rows = []
    for name, result in (
        ("true graph", found.with_graphs(model.truth().descriptive)),
        ("pc-ac", found),
    ):
        pairs = asked_pairs(result._mechanics("classical"), None, None)[:200]
        one_by_one = timed(
            lambda r=result, p=pairs: [r.effects(r.names[x], r.names[y]) for x, y in p]
        )[0]
        fresh = result.with_graphs(dict(result.graphs))
        rows.append(
            (
                name,
                len(pairs),
                spoken_time(one_by_one.cpu),
                spoken_time(timed(fresh.effects)[0].cpu),
            )
        )
    print(markdown_table(["graph", "pairs", "one by one", "effects(), all pairs"], rows))


if __name__ == "__main__":
    main()
