"""How time and memory of PC-AC grow with variables and with rows.

Every table is measured in a process of its own: generated there (sparse, linear, two contexts,
about three neighbours a variable), then searched. Peak memory is that of the whole process, the
table included.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from measuring import machine, markdown_table, median_duration, spoken_time

MANY_VARIABLES = (1000, 10_000)
MANY_ROWS = (100, 2_000_000)
BY_VARIABLES = tuple((variables, 10_000) for variables in (50, 100, 200, 500, 1000))
BY_ROWS = tuple((100, rows) for rows in (1000, 10_000, 100_000, 1_000_000, 2_000_000))
BEFORE = {
    "read_table": "reading the table",
    "gather_statistics": "one pass over the rows",
    "prepared_test": "preparing the test",
}
AFTER = {
    "judge_triples": "votes on colliders",
    "orient_edges": "orientation",
    "from_sepsets": "log of deciding tests",
    "_result": "making the result",
}
"""Functions of the library, none of which calls another, and what they are for; the skeleton is
between them.
"""


def main() -> None:
    """Print the stages of the two large problems, then the tables of growth."""
    options = _options()
    if options.measure:
        json.dump(_measure(*options.measure, options), sys.stdout)
        return
    print(f"{machine()}\n")
    sizes = dict.fromkeys((MANY_VARIABLES, MANY_ROWS, *BY_VARIABLES, *BY_ROWS))
    found = {size: _in_own_process(size, options) for size in sizes}
    print(f"PC-AC, 2 contexts, alpha .01, {options.test}, n_jobs={options.jobs}")
    print(f"{options.changes} links differ in each context\n")
    for size, target in (
        (MANY_VARIABLES, "under 20 s and 1 GB"),
        (MANY_ROWS, "dominated by one pass over the rows"),
    ):
        print(
            f"{size[0]:,} variables, {size[1]:,} rows (target:"
            f" {target})\n\n{_stages(found[size])}\n"
        )
    print(f"Time against variables\n\n{_growth(found[size] for size in BY_VARIABLES)}\n")
    print(f"Time against rows\n\n{_growth(found[size] for size in BY_ROWS)}")


def _in_own_process(size: tuple[int, int], options: argparse.Namespace) -> dict[str, Any]:
    """What `measure` reports for one table. This process stays small, since a child's peak starts
    at its parent's.
    """
    settings = [
        "--jobs",
        str(options.jobs),
        "--changes",
        str(options.changes),
        "--test",
        options.test,
    ]
    command = [sys.executable, __file__, "--measure", *map(str, size), *settings]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


def _measure(variables: int, rows: int, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds, stages, and peak memory of PC-AC on a fresh table; kernels are loaded before."""
    import causalcontext as cc
    from workloads import context_table

    def search(progress: Any = False, some: Any = None) -> cc.ContextGraphs:
        return cc.discover(
            table if some is None else some,
            "R",
            alpha=0.01,
            n_jobs=options.jobs,
            test=options.test,
            progress=progress,
            method="pc-ac",
        )

    def peak_mb() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    search(some=context_table(8, 200, seed=1, changes=1))
    table = context_table(variables, rows, seed=7, changes=options.changes)
    before, result, peak = peak_mb(), search(), peak_mb()
    stages, total = _timed_stages(search)
    repeats = 5 if total < 10 else 1
    more = median_duration(search, repeats)
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


def _timed_stages(search: Callable[[Any], object]) -> tuple[dict[str, float], float]:
    """The seconds of every stage of a search, as they follow each other, and of all of them.

    The levels are timed by the last report of progress of the level before, the other stages by a
    profiler, which makes Python code look somewhat slower than it is.
    """
    ends: dict[int, float] = {}
    profiler, begin = cProfile.Profile(), time.perf_counter()
    profiler.enable()
    search(lambda size, done, total: ends.update({size: time.perf_counter()}))
    profiler.disable()
    total, named = time.perf_counter() - begin, dict[str, float]()
    profile: Any = pstats.Stats(profiler)
    for (path, _, function), (_, _, _, cumulative, _) in profile.stats.items():
        if function in BEFORE | AFTER and "causalcontext" in path:
            named[function] = named.get(function, 0.0) + cumulative
    if missing := sorted((BEFORE | AFTER).keys() - named.keys()):
        raise SystemExit(f"the library has no functions of these names any more: {missing}")
    starts = [begin + sum(named[function] for function in BEFORE), *ends.values()]
    levels = {
        f"sets of {size}": end - start
        for (size, end), start in zip(ends.items(), starts, strict=False)
    }
    before, after = (
        {name: named[function] for function, name in some.items()} for some in (BEFORE, AFTER)
    )
    return before | levels | after, total


def _stages(report: Mapping[str, Any]) -> str:
    """Where the time of one run went."""
    total = report["staged_total"]
    rows = [
        [stage, spoken_time(duration), f"{duration / total:.0%}"]
        for stage, duration in report["stages"].items()
    ]
    rows.append(["all, in this run", spoken_time(total), "100%"])
    rows.append([f"median of {report['repeats']} more runs", spoken_time(report["seconds"]), ""])
    rows.append(["their processor time, all threads", spoken_time(report["cpu_seconds"]), ""])
    peak = f"{report['peak_mb']:.0f} MB, of which {report['before_mb']:.0f} MB before the search"
    return (
        markdown_table(["stage", "time", "share"], rows)
        + f"\n\nPeak memory of the process: {peak}."
    )


def _growth(reports: Iterable[Mapping[str, Any]]) -> str:
    """One row a table."""
    header = [
        "variables",
        "rows",
        "time",
        "processor time",
        "one pass",
        "share of it",
        "tests",
        "edges",
        "peak memory",
    ]
    return markdown_table(header, map(_growth_row, reports))


def _growth_row(report: Mapping[str, Any]) -> list[str]:
    one_pass = report["stages"]["one pass over the rows"]
    return [
        f"{report['variables']:,}",
        f"{report['rows']:,}",
        spoken_time(report["seconds"]),
        spoken_time(report["cpu_seconds"]),
        spoken_time(one_pass),
        f"{one_pass / report['staged_total']:.0%}",
        f"{report['tests']:,}",
        f"{report['edges']:,}",
        f"{report['peak_mb']:.0f} MB",
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--changes", type=int, default=3, help="links that each context loses")
    parser.add_argument(
        "--test",
        default="partial-correlation",
        help="auto asks the rows about pairs at the context",
    )
    parser.add_argument(
        "--measure",
        type=int,
        nargs=2,
        metavar=("VARIABLES", "ROWS"),
        help="measure one table in this process and print JSON",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
