"""Speed of `cmi-knn` beside tigramite's `CMIknn` and `CMIknnMixed`, in the same run, and whether
the statistics agree.

The peer needs `pip install tigramite` beside causalcontext; without it only our own times are
printed. Every query is x against y given two numbers, with 20 % of the rows as neighbours. The race
draws all permutations; the second table has early stopping, too. Tables alternate between
an x that acts on y and one that does not. Columns are ranks, so that the noise of 1e-6 which the
peer adds against ties changes no rank. A time is the median over tables of the median over repeats,
after a call that does not count; the peer runs once a table. For a binary x the peer counts 20 % of
all rows as neighbours, we 20 % of those with the same code, so the statistics differ by design.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from causalcontext.ci_tests.cmi_knn import CmiKnn
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable
from causalcontext.data.columns import Kind
from measuring import Duration, machine, markdown_table, median, median_duration, spoken_time, timed
from peers import tigramite_information, tigramite_mixed_information

Floats = NDArray[np.float64]
TARGET = 20


@dataclass(frozen=True)
class Race:
    """A peer, whether x is binary for it, and how it is called."""

    peer: str
    binary: bool
    call: Callable[[Floats, int], tuple[float, float]]


def _mixed(columns: Floats, permutations: int) -> tuple[float, float]:
    return tigramite_mixed_information(columns, np.arange(len(columns)) == 0, permutations)


RACES = (Race("CMIknn", False, tigramite_information), Race("CMIknnMixed, x binary", True, _mixed))


@dataclass(frozen=True)
class Lap:
    """Both sides on one table: durations, statistics and p-values."""

    ours: Duration
    theirs: Duration
    answer: Comparison
    expected: tuple[float, float]


def main() -> None:
    """Print the race against tigramite, then the times of the tests as they are used."""
    options = _options()
    print(f"{machine('tigramite')}\n")
    if find_spec("tigramite"):
        print(
            f"x against y given two numbers, {options.rows} rows, all {options.permutations}"
            " permutations\n"
        )
        print(markdown_table(_HEADER, (_race_row(race, options) for race in RACES)), end="\n\n")
    print(
        "Our own: all 100 permutations or early stopping, on tables where x acts on y and where it"
        " does not\n"
    )
    tests = (CmiKnn(enough=None), CmiKnn())
    rows = (
        _own_row(test, size, binary)
        for size in options.sizes
        for binary in (False, True)
        for test in tests
    )
    print(markdown_table(["test", "rows", "x", "permutations", "dependent", "independent"], rows))


_HEADER = [
    "peer",
    "tables",
    "ours",
    "theirs",
    "ratio",
    "by processor time (range over tables)",
    "target",
    "largest difference of statistics",
    "p-values, ours / theirs",
]


def _race_row(race: Race, options: argparse.Namespace) -> list[str]:
    laps = [_lap(race, seed, options) for seed in range(options.tables)]
    ours, theirs = median(lap.ours for lap in laps), median(lap.theirs for lap in laps)
    ratios = [lap.theirs.cpu / lap.ours.cpu for lap in laps]
    apart = max(abs(lap.answer.statistic - lap.expected[0]) for lap in laps)
    return [
        race.peer,
        str(options.tables),
        spoken_time(ours.wall),
        spoken_time(theirs.wall),
        f"{theirs.wall / ours.wall:,.0f}x",
        f"{theirs.cpu / ours.cpu:,.0f}x ({min(ratios):,.0f}x to {max(ratios):,.0f}x)",
        f"{TARGET}x",
        f"{apart:.1e}",
        ", ".join(f"{lap.answer.p:.2f} / {lap.expected[1]:.2f}" for lap in laps),
    ]


def _lap(race: Race, seed: int, options: argparse.Namespace) -> Lap:
    """Both sides on one table; the peer sees a small one before, which pays for its imports and its
    compiler.
    """
    race.call(query_columns(100, seed, race.binary), 2)
    columns = query_columns(options.rows, seed, race.binary)
    ours = partial(
        answer, CmiKnn(permutations=options.permutations, enough=None), columns, race.binary
    )
    duration, expected = timed(partial(race.call, columns, options.permutations))
    return Lap(median_duration(ours, options.repeats), duration, ours(), expected)


def _own_row(test: RowTest, rows: int, binary: bool) -> list[str]:
    """The median times on dependent and on independent tables, which early stopping makes
    faster.
    """
    times: tuple[list[Duration], list[Duration]] = ([], [])
    for seed in range(6):
        call = partial(answer, test, query_columns(rows, seed, binary), binary)
        times[seed % 2].append(median_duration(call, 1 if rows > 2000 else 3))
    drawn = "all" if test == CmiKnn(enough=None) else "until clear"
    return [
        test.name,
        str(rows),
        "binary" if binary else "number",
        drawn,
        *(spoken_time(median(column).wall) for column in times),
    ]


def query_columns(rows: int, seed: int, binary: bool) -> Floats:
    """Ranks of x (or 0 and 1), y and two conditions; x acts on y where the seed is even; shape (4,
    rows).
    """
    random = np.random.default_rng(seed)
    z = random.standard_normal((2, rows))
    x = z.sum(axis=0) + random.standard_normal(rows)
    acting = x > 0 if binary else np.abs(x)
    y = z[0] - z[1] + random.standard_normal(rows) + (acting if seed % 2 == 0 else 0.0)
    ranks: Floats = np.array([x, y, *z]).argsort(axis=1).argsort(axis=1).astype(np.float64)
    if binary:
        ranks[0] = x > 0
    return ranks


def answer(test: RowTest, columns: Floats, binary: bool) -> Comparison:
    """What our test says about the first two columns given the others."""
    x, *others = columns
    first = Variable(x, Kind.CATEGORICAL, 2) if binary else Variable(x, Kind.CONTINUOUS)
    rest: Sequence[Variable] = [Variable(column, Kind.CONTINUOUS) for column in others]
    return test.compare(first, rest[0], rest[1:], np.random.default_rng(0))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1000, help="rows of the race")
    parser.add_argument("--permutations", type=int, default=100, help="permutations of the race")
    parser.add_argument("--tables", type=int, default=4, help="tables of the race")
    parser.add_argument(
        "--repeats", type=int, default=7, help="timed calls a table, of our own test"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[200, 1000, 5000], help="rows of our own times"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
