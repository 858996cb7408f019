"""What missing cells cost: links, false links and claims by every way to treat them, and links that
selection invents.

    python benchmarks/missing.py --models 40
    python benchmarks/missing.py --models 40 --designs mixed curves --shares 0.2
    python benchmarks/missing.py --models 40 --selected
    python benchmarks/missing.py --models 12 --lagged --shares 0.1 0.2

Systems of eight variables as in `curved_models`, 600 rows. Cells of all columns but R are missing
completely at random (`--context` also of R). "complete" is the table without holes, "imputer" fills
them by scikit-learn's IterativeImputer (predictions) and searches the table as if it were complete.
TPR and FPR are those of pairs over all context graphs; "claims" are rows of `changes()` that may be
claimed: how many are right, of how many.

`--selected`: X and Y are independent, and the larger their sum, the more often W is missing, and A
in other rows. Keeping the rows that have W links X and Y, which nothing in the table explains: in
how many tables is X - Y there?

`--lagged`: series of five variables and 500 rows, one lagged link of which is there in one regime
only; TPR and FPR of pairs at lags 0 and 1.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from curved_models import CurvedModel, Design, count, draw_model
from measuring import machine, markdown_table, with_second_opinion

DESIGNS = {
    "linear": Design(("linear",)),
    "exponential": Design(("linear",), "exponential"),
    "curves": Design(),
    "mixed": Design(("linear",), categorical=0.3),
    "0/1": Design(("linear",), coarse=("0/1",)),
}
WAYS = ("complete", "model", "listwise", "testwise", "imputer")


def with_holes(
    table: pd.DataFrame, share: float, generator: np.random.Generator, context: bool = False
) -> pd.DataFrame:
    """The table without a share of its cells."""
    hit = generator.random(table.shape) < share
    if not context:
        hit[:, table.columns.get_loc("R")] = False
    return table.mask(pd.DataFrame(hit, index=table.index, columns=table.columns))


def imputed(table: pd.DataFrame) -> pd.DataFrame:
    """The table with predictions in its holes; of text the most frequent value."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    numbers = table.select_dtypes("number").columns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled = IterativeImputer(random_state=0).fit_transform(table[numbers])
    table = table.assign(**dict(zip(numbers, filled.T, strict=True)))
    table["R"] = table["R"].round()
    return table.fillna({name: table[name].mode()[0] for name in table if name not in numbers})


def search(
    table: pd.DataFrame, whole: pd.DataFrame, way: str, method: str
) -> cc.ContextGraphs | None:
    """The result of one way; None if it refuses the table."""
    if way == "complete":
        return cc.discover(whole, "R", method=method)
    if way == "imputer":
        return cc.discover(imputed(table), "R", method=method)
    try:
        return cc.discover(table, "R", method=method, missing=way)
    except cc.CausalContextError:
        return None


def claims(model: CurvedModel, result: cc.ContextGraphs) -> tuple[int, int]:
    """Claimed changes of links, and those that are right."""
    truth = model.truth()
    links = (truth | truth.transpose(0, 2, 1))[:2]
    names = [f"V{i}" if i != model.context else "R" for i in range(model.design.nodes)]
    found = with_second_opinion(result).changes(*result.contexts[:2])
    own = {
        frozenset(pair)
        for pair in found.loc[
            found["claimed"] & (found["kind"] == "edge"), ["source", "target"]
        ].itertuples(index=False)
    }
    right = {
        frozenset((names[i], names[j]))
        for i, j in zip(*np.nonzero(links[0] != links[1]), strict=True)
    }
    return len(own), len(own & right)


def measured(
    design: str, share: float, way: str, method: str, options: argparse.Namespace
) -> list[Any]:
    """A row of the table."""
    total, rows, claimed, ended, spent = np.zeros(4), 0, np.zeros(2, dtype=int), 0, 0.0
    for seed in range(options.first_seed, options.first_seed + options.models):
        model = draw_model(DESIGNS[design], seed)
        generator = np.random.default_rng([seed, 31])
        whole = model.sample(options.rows, generator)
        table = with_holes(whole, share, generator, options.context)
        start = time.process_time()
        result = search(table, whole, way, method)
        spent += time.process_time() - start
        if result is None or len(result.contexts) < 2:
            continue
        ended, rows = ended + 1, rows + len(table.dropna())
        own = count(model, result)
        total += np.array(own[:4], dtype=float) + own[4:8]
        claimed += claims(model, result) if options.claims else (0, 0)
    hits, links, extra, pairs = total
    said = f"{claimed[1]} of {claimed[0]}" if options.claims else "-"
    return [
        design,
        f"{100 * share:.0f} %",
        method,
        way,
        ended,
        f"{hits / max(links, 1):.3f}",
        f"{extra / max(pairs, 1):.3f}",
        said,
        f"{rows / max(ended, 1):.0f}",
        f"{spent / options.models:.1f}",
    ]


def selected_table(rows: int, generator: np.random.Generator) -> pd.DataFrame:
    """Whether W and A are missing depends on X and Y, which are always there."""
    x, y, w, a = generator.standard_normal((4, rows))
    gone = generator.random((2, rows)) < 1.0 / (1.0 + np.exp(-2.0 * (x + y)))
    table = pd.DataFrame(
        {"X": x, "Y": y, "A": a + x, "W": w + 0.5 * a, "R": generator.integers(2, size=rows)}
    )
    return table.assign(W=table["W"].mask(gone[0]), A=table["A"].mask(gone[1]))


def invented(way: str, method: str, options: argparse.Namespace) -> list[Any]:
    """In how many tables X - Y is there."""
    there = 0
    for seed in range(options.first_seed, options.first_seed + options.models):
        table = selected_table(options.rows, np.random.default_rng([seed, 32]))
        result = cc.discover(table, "R", method=method, missing=way)
        there += any(graph.mark("X", "Y") != "" for graph in result.graphs.values())
    return [method, way, f"{there} of {options.models}"]


def series(generator: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A series, and `links[r, lag, i, j]`."""
    now, past = np.zeros((5, 5)), 0.4 * np.eye(5)
    for j in range(1, 5):
        now[generator.integers(j), j] = generator.choice([-0.7, 0.7])
    for _ in range(4):
        i, j = generator.choice(5, 2, replace=False)
        past[i, j] = generator.choice([-0.5, 0.5])
    regime = np.cumsum(generator.random(500) < 0.02) % 2
    both = np.array([past, past])
    both[1][tuple(np.argwhere(past * (1 - np.eye(5)))[0])] = 0.0
    values = np.zeros((500, 5))
    for t in range(1, 500):
        values[t] = (
            values[t - 1] @ both[regime[t]] + generator.standard_normal(5)
        ) @ np.linalg.inv(np.eye(5) - now)
    links = np.array([[now != 0.0, own != 0.0] for own in both])
    return pd.DataFrame(values, columns=list("ABCDE")).assign(R=regime), links


def over_time(share: float, way: str, method: str, options: argparse.Namespace) -> list[Any]:
    """A row of the table of series."""
    total = np.zeros(4)
    for seed in range(options.first_seed, options.first_seed + options.models):
        generator = np.random.default_rng([seed, 33])
        whole, links = series(generator)
        if whole.abs().to_numpy().max() > 30.0:  # not stationary
            continue
        table = whole if way == "complete" else with_holes(whole, share, generator)
        result = cc.discover(
            table, "R", lags=1, method=method, missing="raise" if way == "complete" else way
        )
        for r, graph in result.graphs.items():
            for lag, i, j in np.ndindex(2, 5, 5):
                if lag or i < j:
                    there = bool(links[r, lag, i, j])
                    found = graph.mark("ABCDE"[i] + ("(t-1)" if lag else ""), "ABCDE"[j]) != ""
                    total += [found and there, there, found and not there, not there]
    return [
        method,
        f"{100 * share:.0f} %",
        way,
        f"{total[0] / total[1]:.3f}",
        f"{total[2] / total[3]:.3f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=310_000)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.2, 0.3])
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=["linear"])
    parser.add_argument("--methods", nargs="+", default=["pc-ac", "auto"])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument(
        "--claims", action="store_true", help="also count claims of change, which takes longer"
    )
    parser.add_argument("--context", action="store_true", help="R is missing, too")
    parser.add_argument(
        "--selected", action="store_true", help="count links that selection invents"
    )
    parser.add_argument("--lagged", action="store_true", help="search series")
    options = parser.parse_args()
    print(machine("scikit-learn"), flush=True)
    if options.lagged:
        cells = [
            (share, way, method)
            for method in options.methods
            for share in options.shares
            for way in ("complete", "model", "windows")[share != options.shares[0] :]
        ]
        rows = [over_time(share, way, method, options) for share, way, method in cells]
        print(markdown_table(["method", "missing", "way", "TPR", "FPR"], rows))
        return
    if options.selected:
        ways: list[tuple[str, str]] = [
            (method, way)
            for method in options.methods
            for way in options.ways
            if way in ("model", "listwise", "testwise")
        ]
        print(
            markdown_table(
                ["method", "missing", "X - Y"],
                [invented(way, method, options) for method, way in ways],
            )
        )
        return
    rows = []
    for design in options.designs:
        for share in options.shares:
            for method in options.methods:
                for way in options.ways:
                    if way == "complete" and share != options.shares[0]:
                        continue
                    rows.append(measured(design, share, way, method, options))
                    print(*rows[-1], flush=True)
    header = [
        "design",
        "missing",
        "method",
        "way",
        "tables",
        "TPR",
        "FPR",
        "claims right",
        "complete rows",
        "s a table",
    ]
    print(markdown_table(header, rows))


if __name__ == "__main__":
    main()
