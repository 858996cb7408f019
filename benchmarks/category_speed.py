"""Speed of pc-ac on tables of categories beside causal-learn's PC, in the same run, with G² and with
chi-squared.

Random sparse systems with conditional probability tables: three neighbours on average, two to four
levels a column. Both take turns on every table, after a call that does not count; ours goes from a
pandas table to the result with its log of tests and with votes on colliders, theirs from an array of
codes to the graph. A time is the median over tables of the least of the repeats, since other work on
the machine only adds to it. The last columns say how many pairs of the
skeletons differ (degrees of freedom and thin tables are treated differently by the two), and which
share of our time is spent in the kernel that counts.

Without causal-learn only our own times are printed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import causalcontext as cc
from causalcontext.kernels.levels import contingency
from measuring import Duration, machine, markdown_table, median, spoken_time, timed
from peers import causal_learn_categories
from workloads import category_table

TARGET = 10
ALPHA = 0.05
TESTS = {"g-squared": "gsq", "chi-squared": "chisq"}
HEADER = [
    "variables",
    "rows",
    "test",
    "ours",
    "theirs",
    "ratio",
    "by processor time (range over tables)",
    "target",
    "pairs that differ / our edges",
    "share of ours in tests",
]


class Lap(NamedTuple):
    """Both sides on one table."""

    ours: Duration
    theirs: Duration
    differing: int
    edges: int
    in_tests: float


def main() -> None:
    """Print a row for every number of variables and rows, and both tests."""
    options = _options()
    print(f"{machine('causal-learn')}\n")
    rows = (
        _row(variables, size, test, options)
        for variables in options.variables
        for size in options.rows
        for test in TESTS
    )
    print(markdown_table(HEADER, rows))


def _row(variables: int, rows: int, test: str, options: argparse.Namespace) -> list[str]:
    laps = [
        _lap(category_table(variables, rows, seed), test, options.collider_rule, options.repeats)
        for seed in range(options.first_seed, options.first_seed + options.tables)
    ]
    ours = median(lap.ours for lap in laps)
    theirs = median(lap.theirs for lap in laps)
    ratios = [lap.theirs.cpu / lap.ours.cpu for lap in laps]
    return [
        str(variables),
        f"{rows:,}",
        test,
        spoken_time(ours.wall),
        spoken_time(theirs.wall),
        f"{theirs.wall / ours.wall:.1f}x",
        f"{theirs.cpu / ours.cpu:.1f}x ({min(ratios):.1f}x to {max(ratios):.1f}x)",
        f"{TARGET}x",
        f"{sum(lap.differing for lap in laps)} / {sum(lap.edges for lap in laps)}",
        f"{np.median([lap.in_tests for lap in laps]):.0%}",
    ]


def _lap(table: pd.DataFrame, test: str, rule: str, repeats: int) -> Lap:
    """Both sides on one table, in turns."""
    search = _search(table, test, rule)
    result = search()
    in_tests = _share_in_tests(search)
    ours = []
    theirs = []
    differing = 0
    adjacency = result.graphs["all"].adjacency
    for _ in range(repeats):
        ours.append(timed(search)[0])
        if not find_spec("causallearn"):
            theirs.append(Duration(np.nan, np.nan))
            continue
        duration, skeleton = timed(
            lambda: causal_learn_categories(_codes(table), ALPHA, TESTS[test])
        )
        theirs.append(duration)
        differing = int((skeleton != adjacency).sum()) // 2
    return Lap(least(ours), least(theirs), differing, int(adjacency.sum()) // 2, in_tests)


def least(durations: Sequence[Duration]) -> Duration:
    """The least on the clock, and the least of processor time."""
    return Duration(*map(min, zip(*durations, strict=True)))


def _search(table: pd.DataFrame, test: str, rule: str) -> Callable[[], cc.ContextGraphs]:
    """Our search of a table, of which every column is kept."""
    names = list(table)

    def search() -> cc.ContextGraphs:
        return cc.discover(
            table, method="pc-ac", test=test, alpha=ALPHA, keep=names, collider_rule=rule
        )

    return search


def _codes(table: pd.DataFrame) -> NDArray[np.int64]:
    return np.column_stack([table[name].cat.codes for name in table]).astype(np.int64)


def _share_in_tests(search: Callable[[], object]) -> float:
    """The share of the time of a search that it spends in the kernels that count."""
    spent = 0.0
    kernels = {name: getattr(contingency, name) for name in ("search_tables", "vote_on_tables")}

    def measured(kernel: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            nonlocal spent
            begin = time.perf_counter()
            kernel(*arguments)
            spent += time.perf_counter() - begin

        return call

    for name, kernel in kernels.items():
        setattr(contingency, name, measured(kernel))
    try:
        whole = timed(search)[0].wall
    finally:
        for name, kernel in kernels.items():
            setattr(contingency, name, kernel)
    return spent / whole


def _options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2_000, 20_000])
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--collider-rule", default="majority", help="'first' asks no votes, as they"
    )
    parser.add_argument("--first-seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
