"""How long does a fresh user wait? First calls with an empty cache of compiled kernels.

    python benchmarks/first_minute.py --before ../older-checkout

Every call runs in a process of its own with `NUMBA_CACHE_DIR` set to an empty folder. `--before` names the root of
another checkout, whose calls are made in the same run, in turns. Processor time is what counts on a busy machine.

A second table has the parts that the command line compiles in two processes, one after the other and each with what was
compiled before it at hand. On two quiet cores a round takes as long as the longer one of its parts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import machine, markdown_table

HERE = Path(__file__).parent
TABLE = "import causalcontext as cc; table = cc.examples.soil_moisture(2000, seed=1); "
CALLS = {
    "`discover`, tests on moments": TABLE + 'cc.discover(table, "soil", test="partial-correlation")',
    "`discover`, pc-ac": TABLE + 'cc.discover(table, "soil", method="pc-ac")',
    "`discover`, which takes score-ac here": TABLE + 'cc.discover(table, "soil", method="score-ac")',
    "`causalcontext demo`": "import sys; from causalcontext.cli.app import main; sys.argv[1:] = ['demo']; main()",
}

PARTS = ("numbers", "classes", "scores", "levels", "changes")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the root of another checkout")
    parser.add_argument("--only", type=int, nargs="*", help="which of the calls, by number")
    chosen = parser.parse_args()
    print(f"{machine()}\n")
    roots = [HERE.parent, *([chosen.before] if chosen.before else [])]
    rows = []
    for number, (what, call) in enumerate(CALLS.items()):
        if not chosen.only or number in chosen.only:
            found = [_cold(call, root) for root in roots]
            rows.append([what, *(f"{seconds:.0f}" for both in found for seconds in both)])
    header = ["first call", "clock s", "processor s", *(["before: clock s", "processor s"] if chosen.before else [])]
    print(markdown_table(header, rows))
    if not chosen.only:
        print(f"\n{markdown_table(['part', 'processor s'], _parts())}")


def _cold(call: str, root: Path) -> tuple[float, float]:
    """Seconds on the clock and of processor time, of the process and all that it started."""
    with tempfile.TemporaryDirectory() as folder:
        return _run(call, root, folder)


def _parts() -> list[list[str]]:
    """Processor time of what the command line compiles beforehand, part by part."""
    with tempfile.TemporaryDirectory() as folder:
        calls = {part: f"from causalcontext.cli.warming import compile_{part} as compile_it; compile_it()"
                 for part in PARTS}  # fmt: skip
        return [[part, f"{_run(call, HERE.parent, folder)[1]:.0f}"] for part, call in calls.items()]


def _run(call: str, root: Path, folder: str) -> tuple[float, float]:
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "NUMBA_CACHE_DIR": folder}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", call], env=environment, check=True, capture_output=True)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - begin
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
