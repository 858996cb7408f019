"""One table of `width.py`: made, searched and measured in this process, by whatever version of the library is found."""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from typing import Any

import numpy as np

import causalcontext as cc
from workloads import wide_table

COLUMNS = ("p", "statistic", "df", "n", "view")
LARGEST_LOG = 2_000
"""Up to so many variables all entries of the log are compared: to make them takes memory."""


def measure(variables: int, rows: int, alpha: float, log: str) -> dict[str, Any]:
    """Processor seconds, peak memory, and a hash of what was found; the entries of the log go to a file."""
    cc.discover(
        wide_table(8, 200, seed=1), "R", alpha=alpha, test="partial-correlation", method="pc-ac"
    )  # loads the kernels
    table = wide_table(variables, rows, seed=7)
    begin = time.process_time()
    result = cc.discover(table, "R", alpha=alpha, test="partial-correlation", method="pc-ac")
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    marks = [f"{value}: {edge}" for value, graph in result.graphs.items() for edge in graph.edges]
    if variables <= LARGEST_LOG:
        np.save(log, np.stack([np.asarray(getattr(result.log, name), dtype=np.float64) for name in COLUMNS]))
    return {
        "cpu": seconds,
        "peak_mb": peak,
        "edges": len(result.union.edges),
        "marks": hashlib.sha256("\n".join(marks).encode()).hexdigest(),
        "tests": dict(result.tests_run),
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])))
