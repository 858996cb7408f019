"""What do curves and noise laws cost where nothing is curved? score-ac on linear tables, beside an older version.

    python benchmarks/linear_speed.py --before ../older-checkout --python ../older-checkout/.venv/bin/python

Tables of `score_speed.py` (two contexts; 8 nodes of the paper's generator, beyond with effects of .5 to .9 and an
average degree of 3.5). `--before` names the root of another checkout, `--python` the interpreter that has what it
needs, by default this one. Both versions run one thread each, in processes of their own, and take turns table by
table. Kernels are compiled before the first time that counts. Processor time counts: the least of `--repeats` searches
of a table, since other work on the machine only adds to it, then medians over tables.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import score_speed
from measuring import machine, markdown_table, spoken_time

HERE = Path(__file__).parent
WORKER = """
import sys, time
import pandas as pd
import causalcontext as cc
for path in sys.stdin:
    table = pd.read_csv(path.strip())
    begin = time.process_time()
    cc.discover(table, "R", method="score-ac", n_jobs=1)
    print(time.process_time() - begin, flush=True)
"""


class Version:
    """The library of a checkout in a process of its own."""

    def __init__(self, root: Path, python: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(root / "src"), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen([python, "-c", WORKER], env=environment, text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)  # fmt: skip

    def seconds(self, table: Path) -> float:
        """Processor time of one search."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{table}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main() -> None:
    """Print the table."""
    options = _options()
    print(f"{machine()}\n")
    versions = [Version(HERE.parent, sys.executable)]
    if options.before:
        versions.append(Version(options.before, options.python))
    with tempfile.TemporaryDirectory() as folder:
        rows = [_row(size, n, options, versions, Path(folder, "table.csv"))
                for n in options.rows for size in options.sizes]  # fmt: skip
    for version in versions:
        version.close()
    header = ["nodes", "rows", "score-ac", *(["before", "ratio", "ratio of single tables"] if options.before else [])]
    print(markdown_table(header, rows))


def _row(size: int, n: int, options: argparse.Namespace, versions: list[Version], path: Path) -> list[str]:
    score_speed.ROWS = n
    found = []
    for seed in range(70_000, 70_000 + options.tables):
        score_speed.sample(size, seed).to_csv(path, index=False)
        if seed == 70_000:
            for version in versions:
                version.seconds(path)
        times = [[version.seconds(path) for version in versions] for _ in range(options.repeats)]
        found.append([min(each) for each in zip(*times, strict=True)])
    medians = [statistics.median(column) for column in zip(*found, strict=True)]
    cells = [str(size), f"{n:,}", *map(spoken_time, medians)]
    if len(versions) == 1:
        return cells
    ratios = [now / before for now, before in found]
    return [*cells, f"{medians[0] / medians[1]:.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}"]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 20, 50], help="nodes, the context included")
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--tables", type=int, default=7, help="of every kind")
    parser.add_argument("--repeats", type=int, default=3, help="of every table")
    parser.add_argument("--before", type=Path, help="the root of another checkout")
    parser.add_argument("--python", default=sys.executable, help="the interpreter for that")
    return parser.parse_args()


if __name__ == "__main__":
    main()
