"""Is a scan the same whatever the batches, files, partitions and workers, and are its marks those
of memory?

    python benchmarks/partitions.py --rows 100000 --columns 12

One table, with means up to 1e6 times the spread, is scanned from a file, from folders of unequal
files, from readers and chunks, by DuckDB and polars, by two worker processes of Dask, and by a
local Spark; what is not installed is left out, and the table says so. Cross products are compared
with those of 80-bit numbers, relative to the diagonal; sample, fingerprint, moments of blocks and
marks with those of the file and of the table in memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import causalcontext as cc
from measuring import machine, markdown_table
from workloads import wide_table

SAMPLE = 5_000
SEARCH = {"method": "pc-ac", "test": "partial-correlation", "alpha": 0.001}
HEADER = [
    "table",
    "marks of memory",
    "fingerprint of memory",
    "sample of the file",
    "blocks of the file",
    "error of cross products",
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=12)
    chosen = parser.parse_args()
    table = wide_table(chosen.columns, chosen.rows, seed=3)
    for place, name in enumerate(table.columns[:-1]):
        table[name] += 10.0 ** (place % 7)
    inside, exact = cc.discover(table, "R", **SEARCH), _exact_products(table)
    rows, file = [], None
    with tempfile.TemporaryDirectory() as name:
        for what, source in _sources(table, Path(name)):
            if source is None:
                rows.append([what, "not installed", *[""] * 4])
                continue
            found = cc.scan(source, "R", sample=SAMPLE)
            file = file or found
            rows.append([what, *_compared(found, file, inside, exact)])
    print(
        f"{machine('pyarrow', 'dask', 'pyspark', 'duckdb', 'polars')}\n\n{chosen.rows:,} x"
        f" {chosen.columns}\n"
    )
    print(markdown_table(HEADER, rows))


def _compared(
    found: cc.Scan, file: cc.Scan, inside: cc.ContextGraphs, exact: list[Any]
) -> list[str]:
    same = {True: "yes", False: "no"}
    marks = dict(cc.discover(found, **SEARCH).graphs) == dict(inside.graphs)
    sample = all(
        np.array_equal(a, b) for a, b in zip(found.data.columns, file.data.columns, strict=True)
    )
    blocks = all(
        np.array_equal(a.rows, b.rows) for a, b in zip(found.blocks, file.blocks, strict=True)
    )
    error = max(
        _error(mine, products)
        for mine, products in zip(found.statistics.moments.scatter, exact, strict=True)
    )
    fingerprint = found.statistics.fingerprint == inside.data.fingerprint
    return [same[marks], same[fingerprint], same[sample], same[blocks], f"{error:.0e}"]


def _exact_products(table: pd.DataFrame) -> list[Any]:
    """Centred cross products of every context, in 80-bit numbers."""
    products = []
    for _, part in table.groupby("R"):
        values = part.drop(columns="R").to_numpy().astype(np.longdouble)
        away = values - values.mean(axis=0)
        products.append(away.T @ away)
    return products


def _error(mine: Any, exact: Any) -> float:
    scale = np.sqrt(np.diag(exact))
    return float(np.abs((mine - exact) / scale / scale[:, None]).max())


def _sources(table: pd.DataFrame, folder: Path) -> Iterator[tuple[str, Any]]:
    """What is scanned, one after the other; None for what is not installed."""
    rows = len(table)
    table.to_parquet(folder / "table.parquet", index=False, row_group_size=rows // 7)
    parts = folder / "parts"
    parts.mkdir()
    endpoints = [0, 1, rows // 50, rows // 3, rows - 2, rows]
    for k in range(len(endpoints) - 1):
        table.iloc[endpoints[k] : endpoints[k + 1]].to_parquet(parts / f"{k}.parquet", index=False)
    whole = pa.Table.from_pandas(table, preserve_index=False)
    yield "Parquet file", folder / "table.parquet"
    yield "folder of 5 unequal files", parts
    yield "list of them, reversed", sorted(parts.iterdir(), reverse=True)
    for size in (1_000, 333_333):
        yield f"reader of batches of {size:,}", whole.to_reader(max_chunksize=size)
    yield "chunks of pandas", (table.iloc[k : k + 7_777] for k in range(0, rows, 7_777))
    yield "rows sorted by a column", whole.sort_by("X0").to_reader()
    yield "rows reversed", pa.Table.from_pandas(table.iloc[::-1], preserve_index=False).to_reader()
    yield (
        "polars LazyFrame",
        _of("polars", lambda polars: polars.scan_parquet(folder / "table.parquet")),
    )
    yield (
        "DuckDB relation",
        _of("duckdb", lambda duckdb: duckdb.read_parquet(str(folder / "table.parquet"))),
    )
    yield from _of_dask(table)
    yield from _of_spark(folder)


def _of(library: str, made: Any) -> Any:
    try:
        return made(__import__(library))
    except ImportError:
        return None


def _of_dask(table: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    try:
        import dask.dataframe as dataframe
        import distributed
    except ImportError:
        yield "Dask, 2 worker processes", None
        return
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster):
        for partitions in (1, 5, 23):
            parted = dataframe.from_pandas(table, npartitions=partitions, sort=False)
            yield f"Dask, 2 worker processes, {partitions} partitions", parted


def _of_spark(folder: Path) -> Iterator[tuple[str, Any]]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        yield "Spark, local[2]", None
        return
    if shutil.which("java") is None:
        yield "Spark, local[2]: no Java", None
        return
    with _spark(SparkSession) as session:
        for partitions in (1, 5, 23):
            parted = session.read.parquet(str(folder / "table.parquet")).coalesce(1)
            rows = parted.rdd.zipWithIndex().sortBy(lambda pair: pair[1], numPartitions=partitions)
            ordered = session.createDataFrame(rows.map(lambda pair: pair[0]), parted.schema)
            yield f"Spark, local[2], {partitions} partitions", ordered
        yield (
            "Spark, local[2], folder of 5 unequal files",
            session.read.parquet(str(folder / "parts")),
        )


@contextmanager
def _spark(session_class: Any) -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        session_class.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


if __name__ == "__main__":
    main()
