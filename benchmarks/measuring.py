"""How the benchmarks measure and report: medians of repeated calls, Markdown tables, and the
machine they ran on.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

Result = TypeVar("Result")
WORKER = """
import json, sys, time
import pandas as pd
import causalcontext as cc
for line in sys.stdin:
    path, options = json.loads(line)
    table = pd.read_csv(path)
    begin = time.process_time()
    cc.discover(table, **options)
    print(time.process_time() - begin, flush=True)
"""
BESIDE = ["now", "before", "ratio", "ratio of single tables"]
"""The header of what `Versions.row` returns."""


class Duration(NamedTuple):
    """Seconds on the clock, and seconds of processor time; on a busy machine only the second can be
    compared.
    """

    wall: float
    cpu: float


def timed(call: Callable[[], Result]) -> tuple[Duration, Result]:
    """The duration of one call in this process, and what it returned."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return Duration(time.perf_counter() - wall, time.process_time() - cpu), result


def median(durations: Iterable[Duration]) -> Duration:
    """The median on the clock, and the median of processor time."""
    return Duration(*map(statistics.median, zip(*durations, strict=True)))


def median_duration(call: Callable[[], object], repeats: int) -> Duration:
    """The median duration of a call, after one that does not count."""
    return medians_in_turns([call], repeats)[0]


def medians_in_turns(calls: Sequence[Callable[[], object]], repeats: int) -> list[Duration]:
    """The median duration of every call, taken in turns, so that a busy machine slows all of them
    alike.
    """
    for call in calls:
        call()
    rounds = [[timed(call)[0] for call in calls] for _ in range(repeats)]
    return [median(column) for column in zip(*rounds, strict=True)]


def add_before(parser: argparse.ArgumentParser) -> None:
    """The options that name another version of the library."""
    parser.add_argument("--before", type=Path, help="compare with another checkout: its root")
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter that has what that needs"
    )


class Versions:
    """The library of this checkout and of another one, each in a process of its own, which search
    tables in turns.

    Processor time counts: the least of the searches of a table, since other work on the machine
    only adds to it.
    """

    def __init__(self, before: Path | None, python: str) -> None:
        checkouts = [
            (Path(__file__).parents[1], sys.executable),
            *([(before, python)] if before else []),
        ]
        self._processes = [self._process(*each) for each in checkouts]

    @staticmethod
    def _process(root: Path, python: str) -> subprocess.Popen[str]:
        environment = os.environ | {"PYTHONPATH": str(root / "src"), "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.Popen(
            [python, "-c", WORKER],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def row(self, tables: Iterable[pd.DataFrame], repeats: int, **options: Any) -> list[str]:
        """Medians over tables of every version, then their ratio and its range; `options` are those
        of `discover`.
        """
        found: list[list[float]] = []
        with tempfile.TemporaryDirectory() as folder:
            for table in tables:
                path = Path(folder, "table.csv")
                table.to_csv(path, index=False)
                if not found:  # modules are imported, files are in the disk cache
                    self._seconds(path, options)
                rounds = [self._seconds(path, options) for _ in range(repeats)]
                found.append([min(each) for each in zip(*rounds, strict=True)])
        medians = [statistics.median(column) for column in zip(*found, strict=True)]
        times = [spoken_time(each) for each in medians]
        if len(times) == 1:
            return times
        ratios = [now / before for now, before in found]
        return [*times, f"{medians[0] / medians[1]:.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}"]

    def _seconds(self, table: Path, options: dict[str, Any]) -> list[float]:
        """The processor time of one search by every version."""
        found = []
        for process in self._processes:
            assert process.stdin
            assert process.stdout
            print(json.dumps([str(table), options]), file=process.stdin, flush=True)
            found.append(float(process.stdout.readline()))
        return found

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.communicate()


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; the cells stand as they are given."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def spoken_time(seconds: float) -> str:
    """A duration with three digits and a unit.

    Examples
    --------
    >>> spoken_time(0.00421), spoken_time(12.34)
    ('4.21 ms', '12.3 s')
    """
    return f"{1000 * seconds:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def machine(*packages: str) -> str:
    """One line about the machine, its load and the versions of some packages."""
    found = ", ".join(f"{package} {_version(package)}" for package in ("numpy", *packages))
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, load {load:.1f} at the start, Python {platform.python_version()},"
        f" {found}"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def with_second_opinion(result: Any) -> Any:
    """The result; after a search by tests, score-ac is asked about its changes, where it can be."""
    if not result.settings.score and len(result.contexts) > 1:
        with suppress(ValueError):
            result.second_opinion()
    return result
