"""Speed from table to graph: against causal-learn and tigramite in the same run, and PC-AC against
our own pooled PC.

The peers need `pip install causal-learn tigramite` beside causalcontext; a peer that is not there
is left out. Every table is a random sparse linear Gaussian system with 1,000 rows. A time is the
median over tables of the median over repeats, after a call that does not count. A peer that needs seconds runs once a table. Ratios are given by the
clock and by processor time: on a machine that is busy with other work, the clock favours short
calls. With `--before`, the root of another checkout, the tables of these searches are given to both
versions instead of the peers, in turns, and the processor time of each is compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import causalcontext as cc
from measuring import (
    BESIDE,
    Duration,
    Versions,
    add_before,
    machine,
    markdown_table,
    median,
    median_duration,
    medians_in_turns,
    spoken_time,
    timed,
)
from peers import causal_learn_skeleton, tigramite_skeleton
from workloads import context_table, paper_table, plain_table

Bools = NDArray[np.bool_]
ROWS = 1000
ALPHA = 0.01
CHANGES = 3
"""Links that each context loses in the larger tables with a context."""


@dataclass(frozen=True)
class Race:
    """One peer at one size: how many tables, how often the peer runs on each, and the ratio that is
    aimed at.
    """

    peer: str
    package: str
    skeleton: Callable[[pd.DataFrame, float], Bools]
    variables: int
    tables: int
    repeats: int
    target: int


RACES = (
    Race("causal-learn", "causallearn", causal_learn_skeleton, 8, 10, 5, 10),
    Race("causal-learn", "causallearn", causal_learn_skeleton, 100, 3, 1, 100),
    Race("causal-learn", "causallearn", causal_learn_skeleton, 200, 2, 1, 300),
    Race("tigramite", "tigramite", tigramite_skeleton, 8, 10, 3, 200),
)


@dataclass(frozen=True)
class Lap:
    """Both sides on one table: durations, our number of edges, and in how many pairs the skeletons
    differ.
    """

    ours: Duration
    theirs: Duration
    edges: int
    differing: int


def main() -> None:
    """Print the races against the peers, PC-AC on the paper's setting, and PC-AC against pooled
    PC.
    """
    options = _options()
    print(f"{machine('causal-learn', 'tigramite')}\n")
    if options.before is not None:
        print(_version_table(options))
        return
    races = [
        race
        for race in RACES
        if race.variables <= options.most_variables and find_spec(race.package)
    ]
    print(f"Plain PC (`context=None`), {ROWS} rows, Fisher's z, alpha {ALPHA}\n")
    print(_race_table(races, options.repeats), end="\n\n")
    print(f"PC-AC on the paper's setting (8 nodes, 2 contexts, {ROWS} rows; target: under 10 ms)\n")
    print(_paper_table(options.repeats), end="\n\n")
    print(
        f"PC-AC against our own pooled PC on the same table ({ROWS} rows, alpha {ALPHA}; target: at"
        " most 3x)\n"
    )
    sizes = [size for size in (8, 50, 100, 200) if size <= options.most_variables]
    print(_method_table(sizes, options.repeats))


def _race_table(races: Sequence[Race], repeats: int) -> str:
    header = [
        "peer",
        "variables",
        "tables",
        "ours (processor)",
        "theirs (processor)",
        "ratio",
        "by processor time (range over tables)",
        "target",
        "pairs that differ / edges",
    ]
    return markdown_table(header, (_race_row(race, repeats) for race in races))


def _race_row(race: Race, repeats: int) -> list[str]:
    laps = [_lap(race, seed, repeats) for seed in range(race.tables)]
    ours, theirs = median(lap.ours for lap in laps), median(lap.theirs for lap in laps)
    differing, edges = sum(lap.differing for lap in laps), sum(lap.edges for lap in laps)
    times = [f"{spoken_time(side.wall)} ({spoken_time(side.cpu)})" for side in (ours, theirs)]
    return [
        race.peer,
        str(race.variables),
        str(race.tables),
        *times,
        _times(theirs.wall / ours.wall),
        _ratio(theirs, ours, [lap.theirs.cpu / lap.ours.cpu for lap in laps]),
        f"{race.target}x",
        f"{differing} / {edges}",
    ]


def _lap(race: Race, seed: int, repeats: int) -> Lap:
    """Both sides on one table; the peer sees a small one before, which pays for its imports."""
    race.skeleton(plain_table(4, ROWS, seed), ALPHA)
    table = plain_table(race.variables, ROWS, seed)
    ours, theirs = partial(_our_skeleton, table), partial(race.skeleton, table, ALPHA)
    runs = [timed(theirs) for _ in range(race.repeats)]
    found, expected = ours(), runs[0][1]
    return Lap(
        median_duration(ours, repeats),
        median(duration for duration, _ in runs),
        edges=int(np.triu(found).sum()),
        differing=int(np.triu(found != expected).sum()),
    )


def _our_skeleton(table: pd.DataFrame) -> Bools:
    return cc.discover(table, test="fisher-z", alpha=ALPHA, method="pc-ac").graphs["all"].adjacency


def _paper_table(repeats: int, models: int = 20) -> str:
    """Median, fastest and slowest model of the paper's setting."""
    tables = [paper_table(ROWS, seed) for seed in range(models)]
    rows = []
    for test in ("partial-correlation", "auto"):
        durations = medians_in_turns(
            [partial(cc.discover, table, "R", method="pc-ac", test=test) for table in tables],
            repeats,
        )
        middle = median(durations)
        times = [middle.wall, min(durations).wall, max(durations).wall, middle.cpu]
        rows.append([test, str(models), *map(spoken_time, times)])
    header = [
        "test",
        "models",
        "median",
        "fastest model",
        "slowest model",
        "median of processor time",
    ]
    return markdown_table(header, rows)


def _method_table(sizes: Sequence[int], repeats: int, tables: int = 3) -> str:
    header = [
        "variables",
        "tables",
        "pc-ac",
        "pc-p",
        "ratio",
        "by processor time (range over tables)",
    ]
    return markdown_table(header, (_method_row(size, tables, repeats) for size in sizes))


def _method_row(variables: int, tables: int, repeats: int) -> list[str]:
    laps = [_method_durations(variables, seed, repeats) for seed in range(tables)]
    adaptive, pooled = (median(side) for side in zip(*laps, strict=True))
    ratios = [lap[0].cpu / lap[1].cpu for lap in laps]
    return [
        str(variables),
        str(tables),
        spoken_time(adaptive.wall),
        spoken_time(pooled.wall),
        _times(adaptive.wall / pooled.wall),
        _ratio(adaptive, pooled, ratios),
    ]


def _method_durations(variables: int, seed: int, repeats: int) -> list[Duration]:
    table = (
        paper_table(ROWS, seed) if variables == 8 else context_table(variables, ROWS, seed, CHANGES)
    )
    level = {"alpha": ALPHA, "test": "partial-correlation"}
    calls = [
        partial(cc.discover, table, "R", method=method, **level) for method in ("pc-ac", "pc-p")
    ]
    return medians_in_turns(calls, repeats)


def _version_table(options: argparse.Namespace, tables: int = 10) -> str:
    """Searches of this script by both versions."""
    versions, rows, seeds = Versions(options.before, options.python), [], range(tables)
    plain = {"test": "fisher-z", "alpha": ALPHA, "method": "pc-ac"}
    for size in (size for size in (8, 100, 200) if size <= options.most_variables):
        found = versions.row(
            (plain_table(size, ROWS, seed) for seed in seeds), options.repeats, **plain
        )
        rows.append(["plain PC", size, *found])
    for test in ("partial-correlation", "auto"):
        found = versions.row(
            (paper_table(ROWS, seed) for seed in seeds),
            options.repeats,
            context="R",
            method="pc-ac",
            test=test,
        )
        rows.append([f"PC-AC, {test}", 8, *found])
    for size in (size for size in (50, 100, 200) if size <= options.most_variables):
        drawn = [context_table(size, ROWS, seed, CHANGES) for seed in seeds]
        for method in ("pc-ac", "pc-p"):
            settings = {"alpha": ALPHA, "test": "partial-correlation", "method": method}
            rows.append(
                [method, size, *versions.row(drawn, options.repeats, context="R", **settings)]
            )
    versions.close()
    return markdown_table(["search", "variables", *BESIDE], rows)


def _ratio(slower: Duration, faster: Duration, ratios: Sequence[float]) -> str:
    """The ratio of processor times, and its range over tables."""
    return f"{_times(slower.cpu / faster.cpu)} ({_times(min(ratios))} to {_times(max(ratios))})"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:,.0f}x"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeats", type=int, default=11, help="timed calls a table, of the fast ones"
    )
    parser.add_argument("--most-variables", type=int, default=200, help="leave larger systems out")
    add_before(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
