"""How long does a fresh user wait? First calls with an empty cache of compiled kernels.

    python benchmarks/first_minute.py --before ../older-checkout

Every call runs in a process of its own with `NUMBA_CACHE_DIR` set to an empty folder. `--before`
names the root of another checkout, whose calls are made in the same run, in turns. On a busy
machine processor time says more than the clock: that of the process itself, and that of those it
starts, which compile.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import machine, markdown_table

HERE = Path(__file__).parent
TABLE = "import causalcontext as cc; table = cc.examples.soil_moisture(2000, seed=1); "
WIDER = (
    "import numpy as np, pandas as pd, causalcontext as cc; "
    "numbers = np.random.default_rng(3).normal(size=(1500, 15)); "
    "chain = np.cumsum(numbers, axis=1); table = pd.DataFrame(chain).add_prefix('X'); "
    "table['R'] = np.where(chain[:, 4] + numbers[::-1, 0] > 0.0, 'on', 'off'); "
)
SERIES = "import causalcontext as cc; table = cc.examples.land_surface(1500, seed=1); "
CLINIC = "import causalcontext as cc; table = cc.examples.clinic(1000, seed=1); "
CALLS = {
    "pc-ac, tests on moments": TABLE
    + 'cc.discover(table, "soil", method="pc-ac", test="partial-correlation")',
    "pc-ac": TABLE + 'cc.discover(table, "soil", method="pc-ac")',
    "score-ac": TABLE + 'cc.discover(table, "soil", method="score-ac")',
    "score-ac, 15 variables": WIDER + 'cc.discover(table, "R")',
    "score-ac, columns of all kinds": (
        CLINIC + 'cc.discover(table, "status", kinds={"visits": "count"})'
    ),
    "pc-ac, columns of all kinds": (
        CLINIC + 'cc.discover(table, "status", method="pc-ac", kinds={"visits": "count"})'
    ),
    "pc-ac, a threshold": (
        TABLE + 'cc.discover(table.drop(columns="soil"), cc.threshold("precipitation", 0.0),'
        ' method="pc-ac")'
    ),
    "fci-ac": TABLE + 'cc.discover(table, "soil", method="fci-ac")',
    "score-ac with lags": SERIES + 'cc.discover(table, "regime", lags=2)',
    "pc-ac with lags": SERIES + 'cc.discover(table, "regime", lags=1, method="pc-ac")',
    "`causalcontext demo`": "from causalcontext.cli.demo import demo; demo()",
}
WARM_UP = {
    "everything: `causalcontext warmup`": (
        "from causalcontext.methods.ahead import warm_up; warm_up()"
    )
}

SPENT = (
    "; import time, resource as r; c = r.getrusage(r.RUSAGE_CHILDREN); "
    "print('spent', time.process_time(), c.ru_utime + c.ru_stime)"
)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="the root of another checkout")
    parser.add_argument("--only", type=int, nargs="*", help="which of the calls, by number")
    chosen = parser.parse_args()
    print(f"{machine()}\n")
    roots = [HERE.parent, *([chosen.before] if chosen.before else [])]
    calls = CALLS if chosen.before else CALLS | WARM_UP
    for root in roots:  # byte code is written before anything is timed
        _cold("import causalcontext, pandas, numba.np.linalg", root)
    rows = []
    for number, (what, call) in enumerate(calls.items()):
        if not chosen.only or number in chosen.only:
            found = [_cold(call, root) for root in roots]
            rows.append([what, *(f"{seconds:.1f}" for spent in found for seconds in spent)])
    columns = ["clock s", "processor s, here", "other processes"]
    header = [
        "first call",
        *columns,
        *([f"before: {name}" for name in columns] if chosen.before else []),
    ]
    print(markdown_table(header, rows))


def _cold(call: str, root: Path) -> tuple[float, float, float]:
    """Seconds on the clock, and of processor time here and beside."""
    with tempfile.TemporaryDirectory() as folder:
        return _run(call, root, folder)


def _run(call: str, root: Path, folder: str) -> tuple[float, float, float]:
    written = {"PYTHONDONTWRITEBYTECODE": ""}  # an installed package has its byte code
    environment = (
        os.environ | written | {"PYTHONPATH": str(root / "src"), "NUMBA_CACHE_DIR": folder}
    )
    begin, command = time.perf_counter(), [sys.executable, "-c", call + SPENT]
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    here, beside = run.stdout.split("spent")[-1].split()
    return time.perf_counter() - begin, float(here), float(beside)


if __name__ == "__main__":
    main()
