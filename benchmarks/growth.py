"""How time and memory of PC-AC grow with variables and with rows.

Every table is measured in a process of its own: generated there (sparse, linear, two contexts, about three
neighbours a variable), then searched. Peak memory is that of the whole process, the table included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from measuring import machine, markdown_table, spoken_time

MANY_VARIABLES = (1000, 10_000)
MANY_ROWS = (100, 2_000_000)
BY_VARIABLES = tuple((variables, 10_000) for variables in (50, 100, 200, 500, 1000))
BY_ROWS = tuple((100, rows) for rows in (1000, 10_000, 100_000, 1_000_000, 2_000_000))


def main() -> None:
    """Print the stages of the two large problems, then the tables of growth."""
    options = _options()
    if options.measure:
        from growth_of_one import measure

        variables, rows = options.measure
        json.dump(measure(variables, rows, options.jobs, options.changes, options.test), sys.stdout)
        return
    print(f"{machine()}\n")
    sizes = dict.fromkeys((MANY_VARIABLES, MANY_ROWS, *BY_VARIABLES, *BY_ROWS))
    found = {size: _in_own_process(size, options) for size in sizes}
    print(f"PC-AC, 2 contexts, alpha .01, {options.test}, n_jobs={options.jobs}")
    print(f"{options.changes} links differ in each context\n")
    for size, target in ((MANY_VARIABLES, "under 20 s and 1 GB"), (MANY_ROWS, "dominated by one pass over the rows")):
        print(f"{size[0]:,} variables, {size[1]:,} rows (target: {target})\n\n{_stages(found[size])}\n")
    print(f"Time against variables\n\n{_growth(found[size] for size in BY_VARIABLES)}\n")
    print(f"Time against rows\n\n{_growth(found[size] for size in BY_ROWS)}")


def _in_own_process(size: tuple[int, int], options: argparse.Namespace) -> dict[str, Any]:
    """What `measure` reports for one table. This process stays small, since a child's peak starts at its parent's."""
    settings = ["--jobs", str(options.jobs), "--changes", str(options.changes), "--test", options.test]
    command = [sys.executable, __file__, "--measure", *map(str, size), *settings]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


def _stages(report: Mapping[str, Any]) -> str:
    """Where the time of one run went."""
    total = report["staged_total"]
    rows = [[stage, spoken_time(duration), f"{duration / total:.0%}"] for stage, duration in report["stages"].items()]
    rows.append(["all, in this run", spoken_time(total), "100%"])
    rows.append([f"median of {report['repeats']} more runs", spoken_time(report["seconds"]), ""])
    rows.append(["their processor time, all threads", spoken_time(report["cpu_seconds"]), ""])
    peak = f"{report['peak_mb']:.0f} MB, of which {report['before_mb']:.0f} MB before the search"
    return markdown_table(["stage", "time", "share"], rows) + f"\n\nPeak memory of the process: {peak}."


def _growth(reports: Iterable[Mapping[str, Any]]) -> str:
    """One row a table."""
    header = ["variables", "rows", "time", "processor time", "one pass", "share of it", "tests", "edges", "peak memory"]
    return markdown_table(header, map(_growth_row, reports))


def _growth_row(report: Mapping[str, Any]) -> list[str]:
    one_pass = report["stages"]["one pass over the rows"]
    return [f"{report['variables']:,}", f"{report['rows']:,}", spoken_time(report["seconds"]),
            spoken_time(report["cpu_seconds"]), spoken_time(one_pass),
            f"{one_pass / report['staged_total']:.0%}", f"{report['tests']:,}", f"{report['edges']:,}",
            f"{report['peak_mb']:.0f} MB"]  # fmt: skip


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--changes", type=int, default=3, help="links that each context loses")
    parser.add_argument("--test", default="partial-correlation", help="auto asks the rows about pairs at the context")
    parser.add_argument("--measure", type=int, nargs=2, metavar=("VARIABLES", "ROWS"),
                        help="measure one table in this process and print JSON")  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    main()
