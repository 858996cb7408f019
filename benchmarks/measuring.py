"""How the benchmarks measure and report: medians of repeated calls, Markdown tables, and the machine they ran on."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")


class Duration(NamedTuple):
    """Seconds on the clock, and seconds of processor time; on a busy machine only the second can be compared."""

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
    """The median duration of every call, taken in turns, so that a busy machine slows all of them alike."""
    for call in calls:
        call()
    rounds = [[timed(call)[0] for call in calls] for _ in range(repeats)]
    return [median(column) for column in zip(*rounds, strict=True)]


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
    found = ", ".join(f"{package} {_version(package)}" for package in ("numpy", "numba", *packages))
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, load {load:.1f} at the start, Python {platform.python_version()}, {found}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
