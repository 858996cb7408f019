"""How long `causalcontext app` takes to show a table: from the command to the columns with their
histograms.

Beside the seconds by the clock stand those of the processor, which other programs on the machine do
not lengthen much.

python benchmarks/app_start.py                 # 200,000 rows x 30 columns, CSV and Parquet
python benchmarks/app_start.py --rows 20000
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import numpy as np
import pandas as pd


def table(rows: int, columns: int) -> pd.DataFrame:
    """Numbers with six digits, two categories and some missing cells."""
    rng = np.random.default_rng(0)
    found = pd.DataFrame(
        rng.standard_normal((rows, columns)).round(6), columns=[f"V{i}" for i in range(columns)]
    )
    found["V0"] = np.where(found["V0"] > 0, "wet", "dry")
    found["V1"] = rng.integers(5, size=rows)
    found.loc[:: rows // 10, "V2"] = np.nan
    return found


def times(file: Path) -> dict[str, float]:
    """Seconds from the start of the command to its address, from there to the columns, and to what
    `check` says.
    """
    command = [sys.executable, "-m", "causalcontext", "app", "--no-browser", str(file)]
    begin = time.perf_counter()
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    address = ""
    while not address:
        line = server.stderr.readline()
        assert line, "the app ended"
        address = next(iter(re.findall(r"http://\S+", line)), "")
    started = time.perf_counter()
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    browser.open(address).read()
    base = address.partition("/?")[0]
    browser.open(f"{base}/api/state").read()
    columns = json.loads(browser.open(f"{base}/api/columns").read())
    shown = time.perf_counter()
    assert len(columns) >= 2
    used = processor_time()
    server.kill()
    server.wait()
    server.stderr.close()
    return {
        "command to address": started - begin,
        "address to columns": shown - started,
        "in all": shown - begin,
        "processor time": processor_time() - used,
    }


def processor_time() -> float:
    """Seconds of the processors that processes have used which this one started and that have
    ended.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare() -> tuple[float, float]:
    """Seconds that `causalcontext --version` takes, Python and the imports, by the clock and of the
    processor.
    """
    begin, used = time.perf_counter(), processor_time()
    subprocess.run(
        [sys.executable, "-m", "causalcontext", "--version"], check=True, capture_output=True
    )
    return time.perf_counter() - begin, processor_time() - used


def main() -> None:
    """Print the median of some starts for each kind of file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    clock, processor = np.median([bare() for _ in range(chosen.repeats)], axis=0)
    print(f"--version alone: in all {clock:.2f} s, processor time {processor:.2f} s")
    made = table(chosen.rows, chosen.columns)
    for ending in ("csv", "parquet"):
        found = []
        for _ in range(chosen.repeats):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / f"table.{ending}"
                made.to_csv(file, index=False) if ending == "csv" else made.to_parquet(file)
                found.append(times(file))
        medians = {name: float(np.median([one[name] for one in found])) for name in found[0]}
        print(
            f"{chosen.rows:,} x {chosen.columns}, {ending}: "
            + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in medians.items())
        )


if __name__ == "__main__":
    main()
