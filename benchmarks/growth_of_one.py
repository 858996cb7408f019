"""One table of `growth.py`: made, searched and measured in this process."""

from __future__ import annotations

import cProfile
import pstats
import resource
import time
from typing import Any

import pandas as pd

import causalcontext as cc
from measuring import median_duration
from workloads import context_table

ALPHA = 0.01
STAGES = {
    "read_table": "reading the table",
    "gather_statistics": "one pass over the rows",
    "prepared_test": "preparing the test",
    "judge_triples": "votes on colliders",
    "orient_edges": "orientation",
    "from_sepsets": "log of deciding tests",
    "_result": "making the result",
}
"""Functions of the library, none of which calls another, and what they are for."""


def measure(variables: int, rows: int, n_jobs: int, changes: int, test: str) -> dict[str, Any]:
    """Seconds, stages, and peak memory of PC-AC on a fresh table; kernels are loaded before."""
    cc.discover(context_table(8, 200, seed=1, changes=1), "R", alpha=ALPHA, n_jobs=n_jobs, test=test, method="pc-ac")
    table = context_table(variables, rows, seed=7, changes=changes)
    before = _peak_mb()
    result = _search(table, n_jobs, test)
    peak = _peak_mb()
    stages, total = _stages(table, n_jobs, test)
    repeats = 5 if total < 10 else 1
    more = median_duration(lambda: _search(table, n_jobs, test), repeats)
    return {
        "variables": variables,
        "rows": rows,
        "seconds": more.wall,
        "cpu_seconds": more.cpu,
        "repeats": repeats,
        "stages": stages,
        "staged_total": total,
        "tests": sum(result.tests_run.values()),
        "edges": len(result.union.edges),
        "before_mb": before,
        "peak_mb": peak,
    }


def _search(table: pd.DataFrame, n_jobs: int, test: str, progress: Any = False) -> cc.ContextGraphs:
    return cc.discover(table, "R", alpha=ALPHA, n_jobs=n_jobs, test=test, progress=progress, method="pc-ac")


def _stages(table: pd.DataFrame, n_jobs: int, test: str) -> tuple[dict[str, float], float]:
    """The seconds of every stage of a search, and of all of them.

    The levels are timed by the last report of progress of the level before, the other stages by a profiler, which
    makes Python code look somewhat slower than it is.
    """
    endpoints: dict[int, float] = {}
    profiler = cProfile.Profile()
    begin = time.perf_counter()
    profiler.enable()
    _search(table, n_jobs, test, lambda size, done, total: endpoints.update({size: time.perf_counter()}))
    profiler.disable()
    total = time.perf_counter() - begin
    named = _named_stages(profiler)
    first = begin + sum(named[stage] for stage in ("read_table", "gather_statistics", "prepared_test"))
    return _in_order(named, _levels(first, endpoints)), total


def _named_stages(profiler: cProfile.Profile) -> dict[str, float]:
    """Cumulative seconds of the functions in `STAGES`."""
    found: dict[str, float] = {}
    profile: Any = pstats.Stats(profiler)
    for (path, _, function), (_, _, _, cumulative, _) in profile.stats.items():
        if function in STAGES and "causalcontext" in path:
            found[function] = found.get(function, 0.0) + cumulative
    if found.keys() != STAGES.keys():
        raise SystemExit(
            f"the library has no functions of these names any more: {sorted(STAGES.keys() - found.keys())}"
        )
    return found


def _levels(begin: float, endpoints: dict[int, float]) -> dict[str, float]:
    """Seconds of every level of the skeleton, from the end of the one before."""
    starts = [begin, *endpoints.values()]
    return {f"sets of {size}": end - start for (size, end), start in zip(endpoints.items(), starts, strict=False)}


def _in_order(named: dict[str, float], levels: dict[str, float]) -> dict[str, float]:
    """Stages as they follow each other, the levels of the skeleton in the middle."""
    data = {STAGES[name]: named[name] for name in ("read_table", "gather_statistics", "prepared_test")}
    after = {STAGES[name]: named[name] for name in ("judge_triples", "orient_edges", "from_sepsets", "_result")}
    return data | levels | after


def _peak_mb() -> float:
    """The peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
