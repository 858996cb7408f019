"""Tables of any kind as streams of record batches.

`open_stream` knows Parquet and text files, folders and lists of them, anything with `__arrow_c_stream__` (a DuckDB
relation, a pyarrow reader), polars LazyFrames and iterators of tables.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from causalcontext.data.file_streams import is_list_of_paths, stream_of_files
from causalcontext.data.files import as_path
from causalcontext.data.streams import Stream, check_columns, cut, rows_per_batch
from causalcontext.errors import CausalContextError, DataError, FileError, NotYetError

if TYPE_CHECKING:
    import pyarrow as pa

LARGE_FILE = 256 * 2**20
"""A file of more bytes is read in batches; in memory it would take several times as much."""


def is_out_of_memory(table: Any) -> bool:
    """Whether a table has to be read in batches: a large file, a folder, pattern or list, a reader, Spark, chunks."""
    if isinstance(table, str | os.PathLike):
        place = as_path(table)  # os.path, since a Path raises errors where it cannot look
        pattern = glob.has_magic(str(table)) and not os.path.exists(place)
        return pattern or os.path.isdir(place) or (os.path.isfile(place) and os.path.getsize(place) > LARGE_FILE)
    library, name = type(table).__module__.partition(".")[0], type(table).__name__
    reader = library == "pyarrow" and (name == "RecordBatchReader" or _is_dataset(table) or _is_scanner(table))
    return reader or library == "pyspark" or is_list_of_paths(table) or hasattr(table, "__next__")


def is_lazy(table: Any) -> bool:
    """Whether a table may be read in batches, or into memory: a polars LazyFrame, a DuckDB relation, a Dask table."""
    library = type(table).__module__.partition(".")[0]
    return (library == "polars" and type(table).__name__ == "LazyFrame") or library in (
        "duckdb", "_duckdb", "dask", "dask_expr"
    )  # fmt: skip


def open_stream(source: Any, context: str | Sequence[str] | None = None) -> Stream:
    """The stream of a path, a pattern such as `"folder/*.parquet"`, a list, or an object with `__arrow_c_stream__`.

    In text files, columns other than the context are decimals where their first rows are whole numbers or empty.

    Raises
    ------
    FileError, DataError
        There is no such file, or the object is nothing that can be read in batches.
    """
    _need_pyarrow()
    if isinstance(source, str | os.PathLike) or is_list_of_paths(source):
        return stream_of_files(source, [context] if isinstance(context, str) else list(context or ()))
    with _made_elsewhere(f"a {type(source).__name__}"):
        stream = _stream_of_object(source)

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        with _made_elsewhere(stream.source):
            yield from stream.batches(columns)

    return replace(stream, batches=batches)


class _made_elsewhere:
    """What another library, or the caller's own code, raises while it makes a table, in one sentence of ours."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CausalContextError):
            said = next(iter(str(error).splitlines()), "no reason")
            what = f"{self.source} cannot be read ({type(error).__name__}: {said})"
            raise DataError(f"{what}; look at what makes it, where that was raised") from error


def _stream_of_object(source: Any) -> Stream:
    if type(source).__module__.startswith("polars") and type(source).__name__ == "LazyFrame":
        return _stream_of_lazy_frame(source)
    if hasattr(source, "__arrow_c_stream__"):
        return _stream_of_capsule(source)
    if _is_dataset(source):
        return _stream_of_dataset(source)
    if _is_scanner(source):
        return _stream_of_capsule(source.to_reader())
    if hasattr(source, "__next__"):
        return _stream_of_tables(source)
    raise DataError(f"the table is of type {type(source).__name__}, expected a path, a list of paths, or something "
                    "that can be read as a stream of Arrow batches")  # fmt: skip


def _is_dataset(table: Any) -> bool:
    return type(table).__module__.startswith("pyarrow") and hasattr(table, "scanner")


def _is_scanner(table: Any) -> bool:
    return type(table).__module__.startswith("pyarrow") and hasattr(table, "projected_schema")


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise FileError("reading a table in batches needs pyarrow: pip install 'causalcontext[parquet]'") from error


def _stream_of_capsule(source: Any) -> Stream:
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(source)

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        for batch in reader:
            for part in cut(batch.select(list(columns)), columns):
                done += part.nbytes
                yield part, done

    return Stream(reader.schema, batches, None, f"a stream from {type(source).__module__.partition('.')[0]}")


def _stream_of_dataset(source: Any) -> Stream:
    """A data set of pyarrow, whose scanner is asked to read little ahead."""

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        scanner = source.scanner(columns=list(columns), batch_size=rows_per_batch(columns), batch_readahead=1,
                                 fragment_readahead=1, use_threads=False)  # fmt: skip
        for batch in scanner.to_batches():
            for part in cut(batch, columns):
                done += part.nbytes
                yield part, done

    return Stream(source.schema, batches, None, "a data set of pyarrow")


def _stream_of_tables(source: Iterator[Any]) -> Stream:
    """An iterator of tables, such as `pandas.read_csv(..., chunksize=...)`: every one in batches."""
    name = type(source).__name__
    first = next(source, None)
    if first is None:
        raise DataError(f"the {name} has no tables left")
    schema = _reader_of(first, name).schema

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        for table in chain([first], source):
            reader = _reader_of(table, name)
            check_columns(f"a table of the {name}", reader.schema, schema, columns)
            for batch in reader:
                for part in cut(batch.select(list(columns)), columns):
                    done += part.nbytes
                    yield part, done

    return Stream(schema, batches, None, f"a {name}")


def _reader_of(table: Any, name: str) -> pa.RecordBatchReader:
    import pyarrow as pa

    if not hasattr(table, "__arrow_c_stream__"):
        raise DataError(f"the {name} holds a {type(table).__name__}, expected tables of pandas, polars or pyarrow")
    return pa.RecordBatchReader.from_stream(table)


def _stream_of_lazy_frame(frame: Any) -> Stream:
    if not hasattr(frame, "collect_batches"):
        raise NotYetError("not yet: a LazyFrame in batches with this version of polars; update it, or collect it")
    empty = frame.head(0).collect().to_arrow()

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        for part in frame.select(list(columns)).collect_batches(chunk_size=rows_per_batch(columns)):
            for batch in part.to_arrow().to_batches():
                for piece in cut(batch, columns):
                    done += piece.nbytes
                    yield piece, done

    return Stream(empty.schema, batches, None, "a polars LazyFrame")
