"""How the benchmarks measure and report: medians of repeated calls, Markdown tables, and the machine they ran on."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

Result = TypeVar("Result")


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """The median duration of a call, after one that does not count."""
    call()
    return statistics.median(timed(call)[0] for _ in range(repeats))


def medians_side_by_side(calls: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """The median duration of every call, taken in turns, so that a busy machine slows all of them alike."""
    for call in calls:
        call()
    rounds = [[timed(call)[0] for call in calls] for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """The duration of one call in seconds, and what it returned."""
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; numbers stand as they are given."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def spoken_time(duration: float) -> str:
    """A duration with three digits and a unit: "4.21 ms", "12.3 s"."""
    return f"{1000 * duration:.3g} ms" if duration < 1 else f"{duration:.3g} s"


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
