"""How long it takes until the library is ready: its import, and the command line on a small table.

Everything runs in fresh processes, after one that does not count: files are in the disk
cache by then. Targets: the import under .25 s, the command line under 4 s. Processor time is what a process takes on an idle machine with one core.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from measuring import Duration, machine, markdown_table, median, spoken_time, timed

COMMAND_LINE = "import sys; from causalcontext.cli.app import main; sys.exit(main())"


def main() -> None:
    """Print the medians as a table."""
    repeats = _options().repeats
    print(f"{machine()}\n")
    rows = [
        _row("`python -c pass`", _process(["pass"], repeats), ""),
        _row(
            "`python -c 'import causalcontext'`",
            _process(["import causalcontext"], repeats),
            "0.25 s",
        ),
    ]
    if find_spec("causalcontext.cli.app"):
        rows.append(
            _row("`causalcontext discover`, 1,000 rows, 8 columns", _command_line(repeats), "4 s")
        )
    print(
        markdown_table(
            ["process", "median time", "median of processor time", "target: under"], rows
        )
    )


def _row(process: str, found: Duration, target: str) -> list[str]:
    return [process, spoken_time(found.wall), spoken_time(found.cpu), target]


def _process(arguments: Sequence[str], repeats: int) -> Duration:
    """The median duration of a Python process that runs `arguments[0]`."""
    command = [sys.executable, "-c", *arguments]
    subprocess.run(command, check=True, capture_output=True)
    return median(_one_process(command) for _ in range(repeats))


def _one_process(command: Sequence[str]) -> Duration:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = timed(lambda: subprocess.run(command, check=True, capture_output=True))[0].wall
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Duration(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _command_line(repeats: int) -> Duration:
    """The median duration of `causalcontext discover` on a small CSV file."""
    from workloads import paper_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        paper_table(1000, seed=1).to_csv(path, index=False)
        return _process([COMMAND_LINE, "discover", str(path), "--context", "R"], repeats)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
