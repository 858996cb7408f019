"""Tables that lie on a cluster: the same accumulator on every partition, merged in a tree."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from inspect import signature
from itertools import accumulate
from math import isqrt
from typing import Any

from causalcontext.data.accumulate import Accumulator, unpacked
from causalcontext.data.frames import pa, pd
from causalcontext.data.streams import gathered, made_elsewhere, rows_per_batch
from causalcontext.errors import DataError, listed

PACKAGE = __name__.partition(".")[0]
"""Packages that scheduler and workers must be able to import."""
CAN_IMPORT = f"__import__('importlib.util').util.find_spec({PACKAGE!r}) is not None"
"""What a worker is asked: is the library there?"""

MOST_AT_ONCE = 16
"""More partitions of a Spark table are merged by its workers first."""


def partitions_of(source: Any) -> DaskPartitions | SparkPartitions | None:
    """The partitions of a Dask or Spark table; None for anything else."""
    library = type(source).__module__.partition(".")[0]
    if library.startswith("dask") and hasattr(source, "columns") and source.ndim == 2:
        return DaskPartitions(source)
    if library == "pyspark" and hasattr(source, "mapInArrow"):
        return SparkPartitions(source)
    return None


class DaskPartitions:
    """A Dask table. It runs on the cluster whose client is active, or in this process."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.source = f"a Dask table of {table.npartitions} partitions"

    @property
    def schema(self) -> pa.Schema:
        """The columns, as Dask believes them to be."""
        advice = "convert columns of objects before: table.astype({'name': 'string'})"
        with made_elsewhere("the columns that the Dask table declares cannot be read", advice):
            return pa.Schema.from_pandas(self.table._meta_nonempty, preserve_index=False)

    def accumulated(self, names: tuple[str, ...], start: Accumulator) -> Accumulator:
        """The totals of all partitions; the number of their rows is asked for first, to number
        them.
        """
        from dask.delayed import delayed

        check_workers()
        native = {str(name): name for name in self.table.columns}
        # Dask may join partitions when columns are chosen: those that are counted have to be those
        # that are added up.
        partitions = self.table[[native[name] for name in names]].to_delayed()
        lengths = _computed([delayed(len)(part) for part in partitions])
        begins = accumulate([0, *lengths[:-1]])
        start.sample.expect(sum(lengths))
        numbered = zip(partitions, begins, strict=True)
        parts = [delayed(accumulated_frame)(part, start, begin) for part, begin in numbered]
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [delayed(merged_all)(pair) if len(pair) > 1 else pair[0] for pair in pairs]
        whole: Accumulator = _computed(parts[0])
        _check_rows(whole.rows, sum(lengths))
        return whole


def check_workers() -> None:
    """Return if the scheduler and every worker of the active client of Dask can import this
    library.

    Workers that cannot are shut down by what they are sent, and the client would wait for others
    without end.
    """
    client = _active_client()
    if client is None:
        return
    # Text and a function of Python itself travel to a worker that has nothing of ours, and a truth
    # value back: the specification of a module would bring its loader along, which may not travel.
    found = client.run(eval, CAN_IMPORT)
    without = [address for address, can_import in found.items() if not can_import]
    if not client.run_on_scheduler(eval, CAN_IMPORT):
        without.append("the scheduler")
    if without:
        raise DataError(
            f"{listed(without)} of the Dask cluster cannot import {PACKAGE}: install it, in the"
            " same version as here, where the scheduler and all workers run"
        )


def _active_client() -> Any:
    """The client of Dask that is active; None without one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()  # type: ignore[no-untyped-call]
    except ValueError:
        return None


def _computed(what: Any) -> Any:
    """The answer of Dask; errors of the table's own graph in one sentence of ours."""
    from dask.base import compute

    advice = "look at its partitions: do they hold the columns that the table declares?"
    with made_elsewhere("Dask could not add up the table", advice):
        return compute(what)[0]  # type: ignore[no-untyped-call]


class SparkPartitions:
    """A Spark table. It runs on the session that made it, whose workers need this library.

    What travels is bytes (`Accumulator.packed`), in the rows of tables that `mapInArrow` makes.
    """

    source = "a Spark table"

    def __init__(self, table: Any) -> None:
        self.table = table

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        from pyspark.sql.pandas.types import to_arrow_schema

        if "timezone" in signature(to_arrow_schema).parameters:
            # some versions know no time without one
            return to_arrow_schema(self.table.schema, timezone="UTC")
        return to_arrow_schema(self.table.schema)

    def accumulated(self, names: tuple[str, ...], start: Accumulator) -> Accumulator:
        """The totals of all partitions; the number of their rows is asked for first, to number
        them.
        """
        table = self.table.select(*("`" + name.replace("`", "``") + "`" for name in names))
        # mapInArrow stumbles over dots in names
        table = table.toDF(*(f"column{place}" for place in range(len(names))))
        counted = _collected(table.mapInArrow(_count_rows, "part long, rows long"))
        lengths = {row["part"]: row["rows"] for row in counted}
        ends = accumulate(lengths[part] for part in sorted(lengths))
        begins = {
            part: end - lengths[part] for part, end in zip(sorted(lengths), ends, strict=True)
        }
        start.sample.expect(sum(lengths.values()))
        found = table.mapInArrow(_SparkPart(start.packed(), names, begins), "found binary")
        if len(lengths) > MOST_AT_ONCE:
            found = found.repartition(isqrt(len(lengths))).mapInArrow(_merge_rows, "found binary")
        whole = merged_all([start, *(unpacked(bytes(row["found"])) for row in _collected(found))])
        _check_rows(whole.rows, sum(lengths.values()))
        return whole


def _collected(table: Any) -> list[Any]:
    """The rows of a small Spark table; errors of its workers in one sentence of ours."""
    from pyspark.errors import PySparkException

    try:
        return list(table.collect())
    except PySparkException as error:
        lines = [line.strip() for line in str(error).splitlines()]
        reason = next(
            (line for line in reversed(lines) if "Error: " in line),
            lines[0] if lines else "no reason",
        )
        if reason.startswith(DataError.__module__):
            raise DataError(reason.partition("Error: ")[2]) from error
        raise DataError(
            f"Spark could not add up the table ({reason}); every worker needs causalcontext and"
            " pyarrow, and PYSPARK_PYTHON says which Python they run"
        ) from error


class _SparkPart:
    """The totals of one partition of a Spark table."""

    def __init__(self, start: bytes, names: tuple[str, ...], begins: dict[int, int]) -> None:
        self.start = start
        self.names = list(names)
        self.begins = begins

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        found = unpacked(self.start)
        named = (
            (pa.RecordBatch.from_arrays(batch.columns, names=self.names), 0) for batch in batches
        )
        first_row = self.begins.get(TaskContext.get().partitionId(), 0)
        for batch, _ in gathered(named, rows_per_batch(self.names) // 2):
            found.add(batch, first_row + found.rows)
        yield _packed_row(found)


def _count_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The number of a partition of a Spark table, and how many rows it has."""
    from pyspark import TaskContext

    rows = sum(batch.num_rows for batch in batches)
    yield pa.record_batch(
        {"part": pa.array([TaskContext.get().partitionId()], pa.int64()), "rows": [rows]}
    )


def _merge_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The totals of several partitions."""
    parts = [unpacked(found) for batch in batches for found in batch.column(0).to_pylist()]
    if parts:
        yield _packed_row(merged_all(parts))


def _packed_row(found: Accumulator) -> pa.RecordBatch:
    return pa.record_batch({"found": pa.array([found.packed()], pa.binary())})


def _check_rows(found: int, counted: int) -> None:
    """Return if the table did not change between counting and adding up."""
    if found != counted:
        raise DataError(
            f"the partitions had {counted:,} rows when they were counted and {found:,} when they"
            " were read: cache the table, or write it to files first"
        )


def accumulated_frame(frame: pd.DataFrame, start: Accumulator, first_row: int) -> Accumulator:
    """The totals of one partition; it begins with this row of the table."""
    found = unpacked(start.packed())  # a partition in the same process must not change it
    rows = rows_per_batch(list(frame.columns))
    for begin in range(0, len(frame), rows):
        # Text of pandas may lie in several chunks, as joined partitions leave it.
        part = pa.Table.from_pandas(
            frame.iloc[begin : begin + rows], preserve_index=False
        ).combine_chunks()
        for batch in part.to_batches():
            found.add(batch, first_row + found.rows)
    return found


def merged_all(parts: Sequence[Accumulator]) -> Accumulator:
    """The totals of several parts."""
    found = parts[0]
    for part in parts[1:]:
        found = found.merged(part)
    return found
