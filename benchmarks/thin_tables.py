"""Size and power of the tests of categories where rows are few for the cells: the chi-squared law of
G² and X² beside what `g-squared` does there, X² with its exact mean and variance given the margins.

x and y have their own distribution, drawn from Dirichlet(2), for every combination of the
conditions; for power a share of the rows of y repeats x.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from causalcontext.ci_tests.contingency import ChiSquared, GSquared, PreparedTables
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.views import CIQuery
from measuring import markdown_table

DESIGNS = ((500, 3, 1), (500, 3, 2), (500, 3, 3), (500, 3, 4), (100, 2, 3), (100, 3, 2), (60, 4, 1))
"""Rows, levels of a column, conditions."""
LEVELS = (0.05, 0.01)


def main() -> None:
    """Print a row for every design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--repeated", type=float, default=0.2, help="share of y that repeats x")
    options = parser.parse_args()
    header = ["rows", "levels", "given", "size at .05 / .01: G², χ² law", "X², χ² law"]
    header += ["g-squared", "power of g-squared at .05"]
    rows = []
    for design in DESIGNS:
        sizes = _rejected(*design, 0.0, options.tables)
        power = _rejected(*design, options.repeated, options.tables)
        cells = [" / ".join(f"{share:.3f}" for share in shares) for shares in sizes]
        rows.append([*map(str, design), *cells, f"{power[2][0]:.2f}"])
    print(markdown_table(header, rows))


def _rejected(
    rows: int, levels: int, given: int, repeated: float, tables: int
) -> list[tuple[float, ...]]:
    """The share of tables in which each of the tests rejects, at every level."""
    found: list[list[float]] = []
    for seed in range(tables):
        table = _table(rows, levels, given, repeated, np.random.default_rng([seed, rows, given]))
        data = read_table(table, None)
        statistics = gather_statistics(data)
        plain: list[PreparedTables] = []
        for test in (GSquared(), ChiSquared()):
            prepared = test.prepare(data, statistics)
            prepared.codes = prepared.codes._replace(rows_per_cell=0)
            plain.append(prepared)
        query = [CIQuery(0, 1, tuple(range(2, 2 + given)))]
        answers = [*plain, GSquared().prepare(data, statistics)]
        found.append([float(each.answer(query).p[0]) for each in answers])
    p = np.array(found)
    return [tuple(float(np.mean(column <= level)) for level in LEVELS) for column in p.T]


def _table(
    rows: int, levels: int, given: int, repeated: float, random: np.random.Generator
) -> pd.DataFrame:
    conditions = random.integers(0, levels, (given, rows))
    stratum = np.zeros(rows, dtype=np.int64)
    for codes in conditions:
        stratum = stratum * levels + codes
    pair = []
    for _ in range(2):
        shares = random.dirichlet(np.full(levels, 2.0), levels**given)
        steps = np.cumsum(shares, axis=1)[stratum, :-1]
        pair.append((random.random(rows)[:, None] > steps).sum(axis=1))
    pair[1] = np.where(random.random(rows) < repeated, pair[0], pair[1])
    return pd.DataFrame(
        {f"V{j}": pd.Categorical(codes) for j, codes in enumerate([*pair, *conditions])}
    )


if __name__ == "__main__":
    main()
