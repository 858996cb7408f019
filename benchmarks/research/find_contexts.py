"""Is there a cut, where is it, and by which column? `cc.threshold("X", "best")` and
`cc.find_contexts`, beside others.

    python benchmarks/research/find_contexts.py [--tables 40] [--seed 700000] [--rows 300,600,2000]
                                       [--parts cuts,series,columns,peers]

Y depends on X and Z by a shape whose size, steepness and place are drawn anew for every table, and
on V; X and Z share a cause, and W is an effect of Y. Smooth shapes have no cut: "cut" is the share
of tables in which one is found all the same; nothing was tuned on the unseen ones. Of true cuts it
is the power; "error" is the median distance from the true place and "covered" how many intervals
have it, both of tables in which a cut was found. Series have Y(t) depend on X(t-1) and Z(t-1).

"columns": tables of eight columns; null ones have no context (lines, curves, exponential noise),
the others one, a category or a cut of a number. Any suggestion; the true column first; other
columns per table.

"peers" see the true parents alone, in the same tables: segmented regression on X of Y less lines of
its other parents (package `piecewise-regression`, Davies' test), the first split of a regression
tree on the parents (a tree always splits), and, of the residuals of Y on its parents in the order
of X, CUSUM and, at the median of X, Chow's test, at the level .05.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

import causalcontext as cc

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import machine, markdown_table

Shape = Callable[[np.ndarray, np.ndarray, np.random.Generator, float], np.ndarray]
SMOOTH: dict[str, Shape] = {
    "tanh": lambda x, z, r, c: r.uniform(1.2, 2.2) * np.tanh(r.uniform(0.7, 2.0) * (x - c)) + z,
    "square": lambda x, z, r, c: r.uniform(0.5, 1.0) * (x - c) ** 2 + z,
    "sine": lambda x, z, r, c: r.uniform(1.0, 1.6) * np.sin(r.uniform(1.0, 3.0) * (x - c)) + z,
    "saturation": lambda x, z, r, c: (
        4.0 * (1.0 - np.exp(-r.uniform(0.4, 1.0) * np.maximum(x + 3.0, 0.0))) + z
    ),
    "product": lambda x, z, r, c: r.uniform(0.6, 1.2) * (x - c) * z,
    "softplus": lambda x, z, r, c: np.logaddexp(0.0, r.uniform(1.0, 3.0) * (x - c)) + z,
    "bump": lambda x, z, r, c: 2.0 * np.exp(-0.5 * ((x - c) / r.uniform(0.5, 1.0)) ** 2) + z,
    "slowly varying slope": lambda x, z, r, c: (
        (1.0 + np.tanh(r.uniform(0.5, 1.5) * (x - c))) * r.uniform(0.5, 0.9) * z
    ),
    "cubic": lambda x, z, r, c: r.uniform(0.2, 0.5) * (x - c) ** 3 + z,
    "wavy slope": lambda x, z, r, c: np.sin(r.uniform(1.0, 2.0) * (x - c)) * z,
    "lines": lambda x, z, r, c: r.uniform(0.4, 1.0) * x + r.uniform(0.4, 1.0) * z,
}
UNSEEN: dict[str, Shape] = {
    "arctan": lambda x, z, r, c: r.uniform(1.0, 2.0) * np.arctan(r.uniform(0.7, 2.5) * (x - c)) + z,
    "logistic slope": lambda x, z, r, c: (
        r.uniform(1.0, 1.6) * z / (1.0 + np.exp(-r.uniform(1.5, 3.5) * (x - c)))
    ),
    "rounded V": lambda x, z, r, c: (
        r.uniform(0.8, 1.6) * np.sqrt((x - c) ** 2 + r.uniform(0.3, 0.8) ** 2) + z
    ),
    "Gompertz": lambda x, z, r, c: 3.0 * np.exp(-np.exp(-r.uniform(1.0, 2.5) * (x - c))) + z,
    "wavelet": lambda x, z, r, c: (
        2.0 * (x - c) * np.exp(-0.5 * ((x - c) / r.uniform(0.5, 1.0)) ** 2) + z
    ),
    "chirp": lambda x, z, r, c: (
        1.3 * np.sin(r.uniform(0.8, 1.6) * (x - c) + 0.4 * (x - c) ** 2) + z
    ),
    "squared slope": lambda x, z, r, c: r.uniform(0.3, 0.6) * (x - c) ** 2 * z + 0.4 * x,
    "exponential": lambda x, z, r, c: np.exp(r.uniform(0.4, 0.9) * (x - c)) + z,
    "level and slope": lambda x, z, r, c: (
        (1.0 + np.tanh((x - c) / r.uniform(0.6, 1.2))) * (0.7 * z + 0.5)
    ),
}
CUTS: dict[str, Shape] = {
    "change of mechanism": lambda x, z, r, c: np.where(
        x > c, r.uniform(0.8, 1.3) * z + 0.8, -r.uniform(0.3, 0.8) * z
    ),
    "link on one side": lambda x, z, r, c: np.where(x > c, r.uniform(1.0, 1.5), 0.0) * z + 0.4 * x,
    "slope": lambda x, z, r, c: np.where(x > c, 1.3, 0.4) * z,
    "level step": lambda x, z, r, c: r.uniform(1.0, 1.8) * (x > c) + z,
    "kink": lambda x, z, r, c: r.uniform(1.0, 2.0) * np.maximum(x - c, 0.0) + z,
}


def static(shape: Shape, rows: int, seed: tuple[int, ...]) -> tuple[pd.DataFrame, float]:
    """A table, and the place of the cut."""
    random = np.random.default_rng(seed)
    cut, draw = random.uniform(-0.6, 0.6), random.normal
    a, v = draw(size=rows), draw(size=rows)
    x, z = 0.6 * a + 0.8 * draw(size=rows), 0.5 * a + 0.87 * draw(size=rows)
    y = shape(x, z, random, cut) + 0.5 * v + draw(size=rows)
    return (
        pd.DataFrame({"A": a, "X": x, "Z": z, "V": v, "Y": y, "W": 0.8 * y + draw(size=rows)}),
        cut,
    )


def series(shape: Shape, rows: int, seed: tuple[int, ...]) -> tuple[pd.DataFrame, float]:
    """The same over time."""
    random = np.random.default_rng((*seed, 1))
    cut, noise = random.uniform(-0.6, 0.6), random.normal(size=(rows + 50, 4))
    x, z, v, y = (np.zeros(rows + 50) for _ in range(4))
    for t in range(1, rows + 50):
        z[t] = 0.5 * z[t - 1] + 0.87 * noise[t, 0]
        v[t] = 0.6 * v[t - 1] + 0.8 * noise[t, 1]
        x[t] = 0.5 * x[t - 1] + 0.3 * z[t - 1] + 0.75 * noise[t, 2]
    drive = np.concatenate([[0.0], shape(x[:-1], z[:-1], random, cut)])
    for t in range(1, rows + 50):
        y[t] = 0.3 * y[t - 1] + drive[t] + 0.5 * v[t] + noise[t, 3]
    return pd.DataFrame({"X": x, "Z": z, "V": v, "Y": y}).iloc[50:].reset_index(drop=True), cut


def cuts(tables: int, rows: int, seed: int, lagged: bool) -> Iterator[list[str]]:
    """The shares of verdicts by shape, errors and coverage."""
    made, false, asked, found_in, all_found = series if lagged else static, 0, 0, 0, 0
    for number, (name, shape) in enumerate((SMOOTH | UNSEEN | CUTS).items()):
        verdicts, errors, covered, began = [], [], [], time.process_time()
        for k in range(tables):
            table, true = made(shape, rows, (seed + k, number, rows))
            found = cc.discover(
                table, cc.threshold("X", "best"), lags=1 if lagged else None, method="score-ac"
            ).cut
            verdicts.append(found.verdict)
            if found.verdict == "cut":
                errors.append(abs(found.value - true))
                covered.append(found.low <= true <= found.high)
        shares = [
            f"{verdicts.count(verdict) / tables:.2f}"
            for verdict in ("cut", "smooth change", "undecided")
        ]
        right = ["", ""]
        if name in CUTS:
            found_in, all_found = found_in + sum(covered), all_found + len(covered)
            right = (
                [f"{np.median(errors):.3f}", f"{sum(covered)} of {len(covered)}"]
                if errors
                else right
            )
        else:
            false, asked = false + verdicts.count("cut"), asked + tables
        label = f"{name} (unseen)" if name in UNSEEN else name
        yield [label, str(rows), *shares, *right, f"{(time.process_time() - began) / tables:.2f}"]
    yield ["**all smooth shapes**", str(rows), f"{false} of {asked}", "", "", "", "", ""]
    yield ["**all cuts**", str(rows), "", "", "", "", f"{found_in} of {all_found}", ""]


def peers(tables: int, rows: int, seed: int) -> Iterator[list[str]]:
    """How often others see a cut, and how far it is from the true one."""
    import piecewise_regression
    import statsmodels.api as sm
    from sklearn.tree import DecisionTreeRegressor
    from statsmodels.stats.diagnostic import breaks_cusumolsresid

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    for number, (name, shape) in enumerate((SMOOTH | UNSEEN | CUTS).items()):
        seen: dict[str, list[bool]] = {"segmented": [], "tree on X": [], "CUSUM": [], "Chow": []}
        errors: dict[str, list[float]] = {"segmented": [], "tree on X": []}
        for k in range(tables):
            table, true = static(shape, rows, (seed + k, number, rows))
            x, y, order = (
                table["X"].to_numpy(),
                table["Y"].to_numpy(),
                np.argsort(table["X"].to_numpy()),
            )
            parents = sm.add_constant(table[["X", "Z", "V"]].to_numpy())
            rest = y - parents[:, 2:] @ sm.OLS(y, parents).fit().params[2:]
            with suppress(Exception):
                fit = piecewise_regression.Fit(
                    x.tolist(), rest.tolist(), n_breakpoints=1, n_boot=10
                )
                found = fit.get_results()
                seen["segmented"].append(bool(found["davies"] < 0.05))
                if found["estimates"] and seen["segmented"][-1]:
                    errors["segmented"].append(
                        abs(found["estimates"]["breakpoint1"]["estimate"] - true)
                    )
            tree = (
                DecisionTreeRegressor(max_depth=1).fit(table[["X", "Z", "V"]].to_numpy(), y).tree_
            )
            seen["tree on X"].append(bool(tree.feature[0] == 0))
            if tree.feature[0] == 0:
                errors["tree on X"].append(abs(float(tree.threshold[0]) - true))
            whole = sm.OLS(y[order], parents[order]).fit()
            seen["CUSUM"].append(bool(breaks_cusumolsresid(whole.resid, ddof=4)[1] < 0.05))
            halves = [sm.OLS(y[part], parents[part]).fit().ssr for part in np.array_split(order, 2)]
            ratio = (whole.ssr - sum(halves)) / 4 / (sum(halves) / (rows - 8))
            seen["Chow"].append(bool(sm.stats.stattools.stats.f.sf(ratio, 4, rows - 8) < 0.05))
        shares = [f"{np.mean(found):.2f}" for found in seen.values()]
        far = [
            f"{np.median(found):.2f}" if name in CUTS and found else "" for found in errors.values()
        ]
        yield [name, str(rows), shares[0], far[0], shares[1], far[1], *shares[2:]]


def drawn(kind: str, rows: int, seed: tuple[int, ...]) -> tuple[pd.DataFrame, str]:
    """A table of eight columns, and the column that is its context; "" for none."""
    random = np.random.default_rng(seed)
    names, values = list("ABCDEFGH"), {}
    group = random.integers(0, 2, size=rows)
    source, cut = "C", random.uniform(-0.5, 0.5)
    targets = set(random.choice(["E", "F", "G", "H"], size=2, replace=False).tolist())
    for place, name in enumerate(names):
        noise = (
            random.exponential(size=rows) - 1.0
            if kind == "exponential"
            else random.normal(size=rows)
        )
        if name == "D" and kind == "category":
            values[name] = group.astype(float)
            continue
        side = group == 1 if kind == "category" else values.get(source, np.zeros(rows)) > cut
        total, chosen = noise, [other for other in names[:place] if random.random() < 0.35]
        if name in targets and kind in ("category", "cut") and not set(chosen) - {"D", source}:
            chosen.append("A")
        for other in chosen:
            slope, x = random.choice([-1.0, 1.0]) * random.uniform(0.5, 1.1), values[other]
            curve = (
                random.choice([np.tanh, np.sin, np.square, np.abs]) if kind == "curves" else None
            )
            part = slope * (x if curve is None else 0.9 * curve(1.2 * x))
            if name in targets and kind in ("category", "cut") and other not in ("D", source):
                part = np.where(side, part, random.choice([0.0, -0.7]) * part)
            total = total + part
        values[name] = total / np.std(total)
    table = pd.DataFrame(values)
    if kind == "category":
        table["D"] = np.where(group == 1, "wet", "dry")
    return table, {"category": "D", "cut": source}.get(kind, "")


def columns(tables: int, rows: int, seed: int) -> Iterator[list[str]]:
    """Which columns are suggested as contexts."""
    for number, kind in enumerate(("lines", "curves", "exponential", "category", "cut")):
        some = first = others = 0
        began = time.process_time()
        for k in range(tables):
            table, true = drawn(kind, rows, (seed + k, number, rows, 3))
            found = cc.find_contexts(table)["column"].tolist()
            some, first = some + bool(found), first + bool(true and found[:1] == [true])
            others += len([name for name in found if name != true])
        yield [
            kind,
            str(rows),
            f"{some / tables:.2f}",
            f"{first / tables:.2f}",
            f"{others / tables:.2f}",
            f"{(time.process_time() - began) / tables:.2f}",
        ]


PARTS: dict[str, tuple[list[str], Callable[..., Iterator[list[str]]]]] = {
    "cuts": (
        ["shape", "rows", "cut", "smooth", "undecided", "error", "covered", "s"],
        lambda *asked: cuts(*asked, lagged=False),
    ),
    "series": (
        ["shape, series", "rows", "cut", "smooth", "undecided", "error", "covered", "s"],
        lambda *asked: cuts(*asked, lagged=True),
    ),
    "columns": (
        ["context", "rows", "any suggestion", "the true one first", "others a table", "s"],
        columns,
    ),
    "peers": (
        ["shape", "rows", "segmented", "error", "tree splits X", "error", "CUSUM", "Chow"],
        peers,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--seed", type=int, default=700_000)
    parser.add_argument("--rows", default="300,600,2000")
    parser.add_argument("--parts", default="cuts,series,columns,peers")
    options = parser.parse_args()
    print(machine("piecewise-regression", "statsmodels", "scikit-learn"))
    for part in options.parts.split(","):
        header, run = PARTS[part]
        print(
            f"\n{part}, {options.tables} tables a cell, processor seconds a table, seed"
            f" {options.seed}\n",
            flush=True,
        )
        print("\n".join(markdown_table(header, []).splitlines()[:2]), flush=True)
        for rows in map(int, options.rows.split(",")):
            for line in run(options.tables, rows, options.seed):
                print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
