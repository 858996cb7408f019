"""Seconds and memory of windows that are made batch by batch: `python benchmarks/scanned_windows.py
--rows 5000000`.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.signal import lfilter

import causalcontext as cc


def write(path: Path, rows: int, columns: int) -> None:
    """A chain X0(t-1) -> X1, X1(t-1) -> X2, ..., each of which persists, and X0 -> R."""
    random, found, last = np.random.default_rng(1), {}, np.zeros(rows)
    for j in range(columns):
        last = lfilter([1.0], [1.0, -0.5], random.normal(size=rows) + 0.4 * np.roll(last, 1))
        found[f"X{j}"] = last
    found["R"] = np.where(found["X0"] + random.normal(size=rows) > 0, "wet", "dry")
    pq.write_table(pa.table(found), path)


def peak() -> int:
    """Megabytes of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def measure(path: Path, lags: int) -> None:
    """Scan and search; what importing takes comes before."""
    cc.scan(
        iter([pa.table({name: np.random.default_rng(0).normal(size=300) for name in "XY"})]),
        lags=lags,
    )
    before, begin = peak(), time.process_time()
    scanned = cc.scan(path, "R", lags=lags)
    read = time.process_time() - begin
    cc.discover(scanned, "R", lags=lags, method="pc-ac", test="partial-correlation")
    search = time.process_time() - begin - read
    print(
        f"{scanned}: {read:.1f} s, search {search:.1f} s, {before} MB before, {peak()} MB at the"
        " peak"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--lags", type=int, default=2)
    parser.add_argument("--path", type=Path)
    asked = parser.parse_args()
    if asked.path is None:  # the peak of a process counts what the one that started it had
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "rows.parquet")
            for _ in ("write", "measure"):
                subprocess.run([sys.executable, *sys.argv, "--path", file], check=True)
    elif not asked.path.exists():
        write(asked.path, asked.rows, asked.columns)
    else:
        measure(asked.path, asked.lags)
