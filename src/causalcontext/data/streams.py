"""What a table is that does not fit into memory: a stream of Arrow record batches, one input for all of them.

Nothing is read before the first batch is asked for, and a batch is small: memory does not grow with the rows.
`open_stream.py` makes streams of whatever there is, `file_streams.py` of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causalcontext.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa

VALUES_PER_BATCH = 3 * 2**18
"""6 MB of numbers: every batch costs some calls for every column, and larger ones gain nothing."""
ROWS_TOGETHER = 512
"""Batches have a multiple of so many rows, as blocks have; see `totals.py`."""
_PANDAS_INDEX = "__index_level_"


@dataclass(frozen=True, eq=False)
class Stream:
    """A table that is read once, from beginning to end.

    Attributes
    ----------
    schema : pyarrow.Schema
    batches : function of the column names that are wanted
        An iterator of (record batch, bytes read so far).
    size : int or None
        How many bytes there are to read, where that is known.
    source : str
        What it is, in words.
    rows : int or None
        How many rows there are, where that is known.
    """

    schema: pa.Schema
    batches: Callable[[Sequence[str]], Iterator[tuple[pa.RecordBatch, int]]]
    size: int | None
    source: str
    rows: int | None = None


def gathered(batches: Iterator[tuple[pa.RecordBatch, int]], rows: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    """The same rows in batches of so many at least, but for the last one: every batch costs something."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    done = 0
    for batch, done in batches:
        if waiting and waiting[0].schema != batch.schema:
            yield pa.concat_batches(waiting), done
            waiting = []
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= rows:
            yield pa.concat_batches(waiting) if len(waiting) > 1 else batch, done
            waiting = []
    if waiting:
        yield pa.concat_batches(waiting), done


def cut(batch: pa.RecordBatch, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """A batch in parts that are small enough."""
    rows = rows_per_batch(columns)
    for begin in range(0, batch.num_rows, rows):
        yield batch.slice(begin, rows)


def rows_per_batch(columns: Sequence[str]) -> int:
    """How many rows of so many columns are read at a time."""
    rows = max(1024, VALUES_PER_BATCH // max(len(columns), 1))
    return rows - rows % ROWS_TOGETHER


def check_columns(file: Path | str, found: pa.Schema, first: pa.Schema, wanted: Sequence[str]) -> None:
    """Return if a file has all columns of the first one, with values of the same sort."""
    lacking = [repr(name) for name in wanted if name not in found.names]
    if lacking:
        raise FileError(f"{file} has no column {', '.join(lacking)}, which the first file has")
    for name in wanted:
        here, there = found.field(name).type, first.field(name).type
        if _sort_of(here) not in (_sort_of(there), "null"):
            raise FileError(f"column {name!r} holds {there} in the first file and {here} in {file}; convert one")


def _sort_of(dtype: pa.DataType) -> str:
    """What values are in common: decimals and whole numbers may follow each other, text and numbers not."""
    import pyarrow as pa

    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    if is_number(plain):
        return "number"
    text = pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain)
    return "text" if text else str(plain)


def is_number(dtype: pa.DataType) -> bool:
    """Whether values are numbers: whole ones, decimals with a binary or a decimal point."""
    import pyarrow as pa

    return bool(pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype))


def is_index(name: str) -> bool:
    """Whether a column is the index of a pandas table that nobody asked for."""
    return name.startswith(_PANDAS_INDEX)
