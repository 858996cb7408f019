"""How do time and memory of PC-AC grow with the number of variables, and beside another version of
the library?

    python benchmarks/width.py --variables 500 1643 5000 --before ../older-checkout

Every table is searched in a process of its own, with one BLAS thread. `--before` names the root of
another checkout of the repository; the same tables are searched there in the same run. Marks and
numbers of tests must be the same, and up to 2,000 variables all entries of the log to nine digits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from measuring import machine, markdown_table

HERE = Path(__file__).parent
ALPHA = 0.001
HEADER = [
    "variables",
    "processor s",
    "peak MB",
    "edges",
    "before: s",
    "MB",
    "edges",
    "times faster",
    "same",
]
COLUMNS = ("p", "statistic", "df", "n", "view")
LARGEST_LOG = 2_000
"""Up to so many variables all entries of the log are compared: to make them takes memory."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variables", type=int, nargs="+", default=[500, 1643])
    parser.add_argument("--rows", type=int, default=850)
    parser.add_argument("--before", type=Path, help="the root of another checkout")
    parser.add_argument(
        "--measure", metavar="FILE", help="search one table in this process, its log goes to a file"
    )
    chosen = parser.parse_args()
    if chosen.measure:
        print(json.dumps(measure(chosen.variables[0], chosen.rows, chosen.measure)))
        return
    rows = []
    for variables in chosen.variables:
        now = _measured(HERE.parent, variables, chosen.rows)
        before = None if chosen.before is None else _measured(chosen.before, variables, chosen.rows)
        beside = ("", "", "") if before is None else _figures(before)
        rows.append([f"{variables:,}", *_figures(now), *beside, *_ratio(now, before)])
    print(machine(), end="\n\n")
    print(markdown_table(HEADER, rows))


def measure(variables: int, rows: int, log: str) -> dict[str, Any]:
    """Processor seconds, peak memory, and a hash of what was found, by whatever version of the
    library is there.
    """
    import causalcontext as cc
    from workloads import wide_table

    options = {"alpha": ALPHA, "test": "partial-correlation", "method": "pc-ac"}
    cc.discover(wide_table(8, 200, seed=1), "R", **options)  # loads the kernels
    table, begin = wide_table(variables, rows, seed=7), time.process_time()
    result = cc.discover(table, "R", **options)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    marks = [f"{value}: {edge}" for value, graph in result.graphs.items() for edge in graph.edges]
    if variables <= LARGEST_LOG:
        np.save(
            log,
            np.stack([np.asarray(getattr(result.log, name), dtype=np.float64) for name in COLUMNS]),
        )
    return {
        "cpu": seconds,
        "peak_mb": peak,
        "edges": len(result.union.edges),
        "tests": dict(result.tests_run),
        "marks": hashlib.sha256("\n".join(marks).encode()).hexdigest(),
    }


def _measured(root: Path, variables: int, rows: int) -> dict[str, Any]:
    """One search in a process of its own, by the library of a checkout."""
    environment = os.environ | {"PYTHONPATH": f"{root / 'src'}:{HERE}", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.npy")
        command = [
            sys.executable,
            __file__,
            "--variables",
            variables,
            "--rows",
            rows,
            "--measure",
            log,
        ]
        run = subprocess.run(
            map(str, command), env=environment, capture_output=True, text=True, check=True
        )
        found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
        return found | {"log": np.load(log) if log.exists() else np.empty(0)}


def _figures(found: dict[str, Any]) -> tuple[str, str, str]:
    return f"{found['cpu']:.2f}", f"{found['peak_mb']:,.0f}", f"{found['edges']:,}"


def _ratio(now: dict[str, Any], before: dict[str, Any] | None) -> tuple[str, str]:
    if before is None:
        return "", ""
    same = all(now[key] == before[key] for key in ("marks", "tests"))
    same &= bool(np.allclose(now["log"], before["log"], rtol=1e-9, atol=0.0, equal_nan=True))
    return f"{before['cpu'] / now['cpu']:.1f}", "yes" if same else "NO"


if __name__ == "__main__":
    main()
