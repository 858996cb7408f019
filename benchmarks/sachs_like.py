"""How long does the default take on a table like that of Sachs et al. (2005), where every variable
touches the context?

The table is drawn, not theirs: 7,466 rows in 9 experiments of the sizes of theirs, 11 proteins, the
17 links of their network with saturating mechanisms, skewed noise, and in every experiment another
level and another slope of every protein. No link at the context can be removed, so every set of
proteins is asked about: 11 x 1,024 questions, whose answers differ in nothing but their conditions.
Processor time counts. `--method score-ac` asks the score instead.

With `--table`, a table of your own is searched instead, as it is and in logarithms (its numbers
have to be above 0):

    python benchmarks/sachs_like.py --table sachs.csv --context condition --alpha 0.01

With `--compare`, tables with a tenth of the rows and six proteins are searched with the test on
rows alone, too; the second table says in how many of them marks, or lines of the log with p above
1e-6, are different.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.ci_tests.change import RobustChange
from causalcontext.ci_tests.rows import PreparedRows
from causalcontext.data.tables import read_table
from causalcontext.views import CIQuery
from measuring import machine, markdown_table, spoken_time, timed

PROTEINS = ("PKC", "PKA", "Plcg", "PIP3", "Raf", "Mek", "Erk", "Akt", "Jnk", "P38", "PIP2")
LINKS = {
    "PKA": ("PKC",),
    "Raf": ("PKC", "PKA"),
    "Mek": ("PKC", "PKA", "Raf"),
    "Erk": ("PKA", "Mek"),
    "Akt": ("PKA", "Erk", "PIP3"),
    "Jnk": ("PKC", "PKA"),
    "P38": ("PKC", "PKA"),
    "PIP3": ("Plcg",),
    "PIP2": ("Plcg", "PIP3"),
}
"""The causes of every protein."""
ROWS = (853, 902, 911, 723, 810, 799, 848, 913, 707)


def sachs_like(
    seed: int, scale: str = "log", share: float = 1.0, proteins: int = len(PROTEINS)
) -> pd.DataFrame:
    """A table with the columns `PROTEINS` and the context "experiment"; `share` of the rows of
    every experiment.

    `scale` is "log", or "raw" for the exponentials of the columns: all of them skewed.
    """
    generator = np.random.default_rng(seed)
    sizes = [max(int(share * rows), 2) for rows in ROWS]
    experiment = np.repeat(np.arange(len(ROWS)), sizes)
    columns: dict[str, np.ndarray] = {}
    for protein in PROTEINS[:proteins]:
        value = generator.normal(0.0, 0.6, len(ROWS))[experiment] + 0.5 * generator.gumbel(
            size=experiment.size
        )
        for cause in LINKS.get(protein, ()):
            slope = generator.choice((-1.0, 1.0)) * generator.uniform(0.4, 0.9)
            value = value + (slope + generator.normal(0.0, 0.2, len(ROWS)))[experiment] * np.tanh(
                columns[cause]
            )
        columns[protein] = value
    table = pd.DataFrame(columns)
    if scale == "raw":
        table = np.exp(table)
    return table.assign(experiment=experiment)


class OnRows(RobustChange):
    """The same test without a look at moments first."""

    def prepare(self, data, statistics):  # type: ignore[no-untyped-def]
        """The test for this table."""
        return PreparedRows(self, data)


def differs(table: pd.DataFrame) -> bool:
    """Whether the default and the test on rows alone give other marks, or another log where p is
    not tiny.
    """
    quick, slow = (
        cc.discover(table, "experiment", method="pc-ac"),
        cc.discover(table, "experiment", test=OnRows(), method="pc-ac"),
    )
    same = all(
        np.array_equal(quick.graphs[value].endpoints, slow.graphs[value].endpoints)
        for value in slow.contexts
    )
    mine, theirs = quick.tests(), slow.tests()
    clear = (mine.p <= 1e-6) & (theirs.p <= 1e-6)
    return not (same and mine[~clear].equals(theirs[~clear]))


def on_rows(table: pd.DataFrame, queries: int) -> float:
    """Seconds of processor time of one query on rows alone, on average over random sets of
    conditions.
    """
    data = read_table(table, "experiment")
    prepared, generator = OnRows().prepare(data, None), np.random.default_rng(0)
    context, asked = data.names.index("experiment"), []
    for _ in range(queries):
        x, *given = generator.permutation(context)[
            : generator.binomial(context - 1, 0.5) + 1
        ].tolist()
        asked.append(CIQuery(x, context, tuple(given), 0))
    return timed(lambda: prepared.answer(asked))[0].cpu / queries


def tables(chosen: argparse.Namespace) -> dict[str, pd.DataFrame]:
    """The tables to be searched, by their scale: drawn, or the caller's."""
    if not chosen.table:
        return {s: sachs_like(chosen.seed, s, chosen.share, chosen.proteins) for s in chosen.scales}
    table = pd.read_csv(chosen.table)
    numbers = table.columns.drop(chosen.context)
    return {
        s: table.assign(**np.log(table[numbers])) if s == "log" else table for s in chosen.scales
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", default="", help="a CSV file of your own")
    parser.add_argument("--context", default="experiment")
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--root", action="store_true", help="say that nothing causes the context")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--method", default="pc-ac")
    parser.add_argument("--scales", nargs="+", default=["log", "raw"])
    parser.add_argument("--share", type=float, default=1.0, help="of the rows")
    parser.add_argument("--proteins", type=int, default=len(PROTEINS))
    parser.add_argument(
        "--trials", type=int, default=0, help="random trials on rows alone, to be timed"
    )
    parser.add_argument("--compare", type=int, default=0, metavar="TABLES")
    chosen = parser.parse_args()
    print(machine() + "\n")
    options = {"context": chosen.context, "method": chosen.method}
    if chosen.method.startswith("pc"):
        options |= {"alpha": chosen.alpha}
    if chosen.root:
        options |= {"knowledge": cc.Knowledge(roots=[chosen.context])}
    cc.discover(
        sachs_like(0, share=0.05, proteins=3).rename(columns={"experiment": chosen.context}),
        **options,
    )
    lines = []
    for scale, table in tables(chosen).items():
        duration, result = timed(lambda table=table: cc.discover(table, **options))
        endpoints = result.graphs[result.contexts[0]].endpoints[
            table.columns.get_loc(chosen.context)
        ]
        lines.append(
            (
                scale,
                len(table),
                spoken_time(duration.cpu),
                spoken_time(duration.wall),
                sum(result.tests_run.values()),
                int((endpoints != 0).sum()),
            )
        )
    print(
        markdown_table(
            ("scale", "rows", "processor time", "clock", "tests", "links at the context"), lines
        )
    )
    if chosen.queries:
        times = [
            (scale, spoken_time(on_rows(sachs_like(chosen.seed, scale), chosen.queries)))
            for scale in chosen.scales
        ]
        print("\n" + markdown_table(("scale", "processor time of a trial on rows alone"), times))
    if chosen.compare:
        seeds = range(chosen.compare)
        counts = [
            (scale, len(seeds), sum(differs(sachs_like(seed, scale, 0.1, 6)) for seed in seeds))
            for scale in chosen.scales
        ]
        print("\n" + markdown_table(("scale", "tables compared", "tables that differ"), counts))


if __name__ == "__main__":
    main()
