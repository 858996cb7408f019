"""Tables that lie on a cluster: the same accumulator on every partition, merged in a tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

from causalcontext.data.accumulate import Accumulator
from causalcontext.data.streams import VALUES_PER_BATCH

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Partitions(Protocol):
    """A table in parts."""

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        ...

    @property
    def source(self) -> str:
        """What it is, in words."""
        ...

    def accumulated(self, system: tuple[str, ...], contexts: tuple[str, ...], sample: int) -> Accumulator:
        """What all parts say together."""
        ...


def partitions_of(source: Any) -> Partitions | None:
    """The partitions of a Dask table; None for anything else."""
    if type(source).__module__.startswith("dask") and hasattr(source, "to_delayed"):
        return DaskPartitions(source)
    return None


class DaskPartitions:
    """A Dask table. It runs on the cluster whose client is active, or in this process.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
    """

    def __init__(self, table: Any) -> None:
        self.table, self.source = table, f"a Dask table of {table.npartitions} partitions"

    @property
    def schema(self) -> pa.Schema:
        """The columns, as Dask believes them to be."""
        import pyarrow as pa

        return pa.Schema.from_pandas(self.table._meta_nonempty, preserve_index=False)

    def accumulated(self, system: tuple[str, ...], contexts: tuple[str, ...], sample: int) -> Accumulator:
        """What all partitions say together; the number of their rows is asked for first, to number them."""
        from dask.base import compute
        from dask.delayed import delayed

        table = self.table[[*system, *contexts]]
        lengths = table.map_partitions(len).compute().tolist()
        begins = accumulate([0, *lengths[:-1]])
        parts = [
            delayed(accumulated_frame)(part, Accumulator(system, contexts, sample), begin)
            for part, begin in zip(table.to_delayed(), begins, strict=True)
        ]
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [delayed(merged_all)(pair) if len(pair) > 1 else pair[0] for pair in pairs]
        found: Accumulator = compute(parts[0])[0]  # type: ignore[no-untyped-call]
        return found


def accumulated_frame(frame: pd.DataFrame, found: Accumulator, first_row: int) -> Accumulator:
    """What one partition says; it begins with this row of the table."""
    import pyarrow as pa

    rows = max(1024, VALUES_PER_BATCH // frame.shape[1])
    for begin in range(0, len(frame), rows):
        part = frame.iloc[begin : begin + rows]
        found.add(pa.RecordBatch.from_pandas(part, preserve_index=False), first_row + begin)
    return found


def merged_all(parts: Sequence[Accumulator]) -> Accumulator:
    """What several parts say together."""
    found = parts[0]
    for part in parts[1:]:
        found = found.merged(part)
    return found
