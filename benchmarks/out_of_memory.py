"""What does it take to read a table that does not fit into memory, beside reading the file and
doing nothing?

    python benchmarks/out_of_memory.py --rows 2000000 --columns 10

The file is written first, in row groups, to a temporary folder. Then it is read by processes of
their own: once with the same options and nothing else, once by `cc.scan`, and once by
`cc.discover(path)`, search included: in turns, and the median of several turns is printed, since
other programs slow one or the other. `--older` names the root of another checkout, which scans the
same file in the same turns.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from measuring import machine, markdown_table

HERE = Path(__file__).parent
ROWS_PER_GROUP = 500_000
SCRIPT = """
import json, resource, sys, time
path, small = sys.argv[1:]
{before}
begin = time.process_time()
{work}
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps(dict(cpu=time.process_time() - begin, peak_mb=used.ru_maxrss / 1024, said=str(said))))
"""
READ = SCRIPT.format(
    before="from pyarrow.parquet import ParquetFile",
    work="""
with ParquetFile(path, pre_buffer=False, buffer_size=2**13, page_checksum_verification=True) as content:
    rows = 3 * 2**18 // len(content.schema_arrow.names) // 512 * 512
    said = sum(batch.num_rows for batch in content.iter_batches(rows, use_threads=False))
""",
)
READ_TEXT = SCRIPT.format(
    before="from pyarrow import csv",
    work="""
with csv.open_csv(path, csv.ReadOptions(use_threads=False, block_size=2**20)) as content:
    said = sum(batch.num_rows for batch in content)
""",
)
LOADED = """
import causalcontext as cc
small = cc.scan(small, "R")
"""
SCAN = SCRIPT.format(before=LOADED, work="said = cc.scan(path, 'R')")
DISCOVER = SCRIPT.format(
    before=LOADED + 'cc.discover(small, test="partial-correlation")',
    work="""
result = cc.discover(cc.scan(path, "R"), test="partial-correlation")
said = f"{len(result.union.edges)} edges"
""",
)


def main() -> None:
    """Write the file and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument(
        "--compression", default="snappy", help="of the file: snappy, as pandas writes it, or none"
    )
    parser.add_argument("--text", action="store_true", help="a text file rather than Parquet")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--older", type=Path, help="the root of another checkout")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, small = (
            Path(folder) / (name + (".csv" if chosen.text else ".parquet"))
            for name in ("table", "small")
        )
        write_apart(path, chosen.rows, chosen.columns, chosen.compression)
        write_apart(
            small, 300, 4, chosen.compression
        )  # with which kernels are loaded before the clock starts
        print(
            f"{machine('pyarrow')}\n\n{chosen.rows:,} x {chosen.columns},"
            f" {path.stat().st_size / 1e6:,.0f} MB\n"
        )
        here = HERE.parent
        scripts = {
            "reading alone": (READ_TEXT if chosen.text else READ, here),
            "`cc.scan`": (SCAN, here),
            "`cc.discover`": (DISCOVER, here),
        }
        if chosen.older is not None:
            scripts["`cc.scan` of the older version"] = (SCAN, chosen.older)
        turns = [
            {what: _run(script, root, path, small) for what, (script, root) in scripts.items()}
            for _ in range(chosen.turns)
        ]
    found = {what: _middle([turn[what] for turn in turns]) for what in scripts}
    rows = [[what, *_figures(one, found["reading alone"])] for what, one in found.items()]
    print(markdown_table(["", "processor s", "times reading", "peak MB", "found"], rows))


def write_apart(*arguments: Any) -> None:
    """Write a table by a process of its own: what this one has held counts as the peak of those
    that it starts.
    """
    writer = multiprocessing.get_context("spawn").Process(target=write, args=arguments)
    writer.start()
    writer.join()


def write(path: Path, rows: int, columns: int, compression: str) -> None:
    """A table of linear mechanisms, two of which change with the context "R", in row groups."""
    generator, writer = np.random.default_rng(1), None
    for begin in range(0, rows, ROWS_PER_GROUP):
        count = min(ROWS_PER_GROUP, rows - begin)
        values = generator.standard_normal((columns - 1, count))
        context = (values[0] + generator.standard_normal(count) > 0).astype(np.int8)
        for j in range(1, columns - 1):
            values[j] += (0.4 * context if j < 3 else 0.4) * values[j - 1]
        arrays = {f"X{j}": values[j] for j in range(columns - 1)} | {"R": context}
        part = pa.table(arrays)
        writer = writer or _writer(path, part.schema, compression)
        writer.write_table(part)
    assert writer is not None
    writer.close()


def _writer(path: Path, schema: pa.Schema, compression: str) -> Any:
    if path.suffix == ".csv":
        return csv.CSVWriter(path, schema)
    return pq.ParquetWriter(
        path, schema, compression=compression, use_dictionary=compression != "none"
    )


def _run(script: str, root: Path, path: Path, small: Path) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", script, str(path), str(small)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        return {
            "cpu": float("nan"),
            "peak_mb": float("nan"),
            "said": f"ended with {run.returncode}",
        }
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def _middle(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of the times, the largest peak."""
    peak = max(turn["peak_mb"] for turn in turns)
    return turns[0] | {"cpu": float(np.median([turn["cpu"] for turn in turns])), "peak_mb": peak}


def _figures(one: dict[str, Any], reading: dict[str, Any]) -> tuple[str, ...]:
    ratio = one["cpu"] / reading["cpu"]
    return f"{one['cpu']:.2f}", f"{ratio:.2f}", f"{one['peak_mb']:,.0f}", one["said"]


if __name__ == "__main__":
    main()
