"""How long does a fresh user wait? The first call of a process, and the next one.

    python benchmarks/first_minute.py --before ../older-checkout/.venv/bin/python

Every call runs in a process of its own, twice: printed are the seconds of `import causalcontext`,
of the first call with all that it imports, and of the second. `--before` names the Python of an
environment with another version, whose calls are made in the same run, in turns, with
`NUMBA_CACHE_DIR` set to an empty folder, as versions up to 0.2 compiled their kernels then.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import machine, markdown_table

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
TIMED = """
import sys, time
begin = time.perf_counter()
import causalcontext
imported = time.perf_counter() - begin
{setup}
seconds = []
for turn in range(2):
    begin = time.perf_counter()
    {call}
    seconds.append(time.perf_counter() - begin)
print("spent", imported, *seconds)
"""
COLUMNS = ("import s", "first call s", "second call s")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="the Python of another environment")
    parser.add_argument("--only", type=int, nargs="*", help="which of the calls, by number")
    asked = parser.parse_args()
    print(f"{machine()}\n")
    pythons = [Path(sys.executable), *([asked.before] if asked.before else [])]
    for python in pythons:  # byte code is written before anything is timed
        _fresh("import causalcontext, pandas, scipy.stats", python)
    rows = []
    for number, (what, call) in enumerate(CALLS.items()):
        if not asked.only or number in asked.only:
            spent = [_fresh(call, python) for python in pythons]
            rows.append([what, *(f"{seconds:.2f}" for one in spent for seconds in one)])
    header = ["what", *COLUMNS, *(f"before: {name}" for name in COLUMNS if asked.before)]
    print(markdown_table(header, rows))


def _fresh(statements: str, python: Path) -> tuple[float, ...]:
    """The seconds of the import, of the first and of the second call of the last of some
    statements, in a new process; versions that compiled their kernels find none compiled.
    """
    setup, _, call = statements.rpartition("; ")
    code = TIMED.format(setup=setup, call=call)
    with tempfile.TemporaryDirectory() as folder:
        written = {"PYTHONDONTWRITEBYTECODE": ""}  # an installed package has its byte code
        run = subprocess.run(
            [str(python), "-c", code],
            env=os.environ | written | {"NUMBA_CACHE_DIR": folder},
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
        )
    return tuple(map(float, run.stdout.split("spent")[-1].split()))


if __name__ == "__main__":
    main()
