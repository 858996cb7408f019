"""Tables as streams of Arrow record batches: one input for whatever does not fit into memory.

`open_stream` knows Parquet files and folders of them, text files, anything with `__arrow_c_stream__` (a DuckDB
relation, a pyarrow reader), polars LazyFrames and iterators of tables. Nothing is read before the first batch is asked
for, and a batch is small: memory does not grow with the rows.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causalcontext.data.files import DELIMITERS, as_path
from causalcontext.errors import DataError, FileError, NotYetError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

VALUES_PER_BATCH = 2**19
"""4 MB of numbers: a batch stays in the cache."""
LARGE_FILE = 256 * 2**20
"""A file of more bytes is read in batches; in memory it would take several times as much."""
_TEXT_BLOCK = 2**20
_BUFFER = 2**15
"""Bytes of every column that are read ahead: without a limit, whole row groups are in memory."""
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


def is_out_of_memory(table: Any) -> bool:
    """Whether a table has to be read in batches: a large file, a folder or pattern, a reader, a Spark table, chunks."""
    if isinstance(table, str | os.PathLike):
        place = as_path(table)
        pattern = glob.has_magic(str(table)) and not place.exists()
        return pattern or place.is_dir() or (place.is_file() and place.stat().st_size > LARGE_FILE)
    library, name = type(table).__module__.partition(".")[0], type(table).__name__
    reader = library == "pyarrow" and name == "RecordBatchReader"
    return reader or library == "pyspark" or hasattr(table, "__next__")


def is_lazy(table: Any) -> bool:
    """Whether a table may be read in batches, or into memory: a polars LazyFrame, a DuckDB relation, a Dask table."""
    library = type(table).__module__.partition(".")[0]
    return (library == "polars" and type(table).__name__ == "LazyFrame") or library in (
        "duckdb", "_duckdb", "dask", "dask_expr"
    )  # fmt: skip


def open_stream(source: Any, context: str | Sequence[str] | None = None) -> Stream:
    """The stream of a path, a pattern such as `"folder/*.parquet"`, or an object with `__arrow_c_stream__`.

    In text files, columns other than the context are decimals where their first rows are whole numbers or empty.

    Raises
    ------
    FileError, DataError
        There is no such file, or the object is nothing that can be read in batches.
    """
    _need_pyarrow()
    if isinstance(source, str | os.PathLike):
        return _stream_of_path(source, [context] if isinstance(context, str) else list(context or ()))
    if type(source).__module__.startswith("polars") and type(source).__name__ == "LazyFrame":
        return _stream_of_lazy_frame(source)
    if hasattr(source, "__arrow_c_stream__"):
        return _stream_of_capsule(source)
    if hasattr(source, "__next__"):
        return _stream_of_tables(source)
    raise DataError(f"the table is of type {type(source).__name__}, expected a path, or something that can be read as "
                    "a stream of Arrow batches")  # fmt: skip


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise FileError("reading a table in batches needs pyarrow: pip install 'causalcontext[parquet]'") from error


def _stream_of_path(path: str | os.PathLike[str], contexts: Sequence[str]) -> Stream:
    files = _files(path)
    endings = {_ending(file) for file in files}
    if len(endings) > 1:
        raise FileError(f"{path} holds files with the endings {', '.join(sorted(endings))}; expected one of them")
    return _stream_of_parquet(files) if endings == {".parquet"} else _stream_of_text(files, contexts)


def _files(path: str | os.PathLike[str]) -> list[Path]:
    """The files that a path, a folder or a pattern means, sorted by name; those that begin with . or _ are left out."""
    place = as_path(path)
    if place.is_dir():
        found = [file for file in sorted(place.rglob("*")) if file.is_file() and _known(file)]
        found = [file for file in found if not any(p[0] in "._" for p in file.relative_to(place).parts)]
    elif glob.has_magic(str(path)) and not place.exists():
        found = [Path(file) for file in sorted(glob.glob(str(path), recursive=True)) if Path(file).is_file()]
    else:
        found = [place] if place.exists() else []
    if not found:
        raise FileError(
            f"there is no file {path}"
            if not place.is_dir()
            else f"{path} is a folder, expected a file, or a folder that holds tables"
        )
    return found


def _known(file: Path) -> bool:
    return any(file.name.lower().endswith(ending) for ending in (".parquet", *DELIMITERS))


def _ending(file: Path) -> str:
    endings = (".parquet", *DELIMITERS)
    ending = next((ending for ending in endings if file.name.lower().endswith(ending)), None)
    if ending is None:
        raise FileError(f"cannot read {file}: its name must end with one of {', '.join(endings)}")
    return ending


def _stream_of_parquet(files: list[Path]) -> Stream:
    from pyarrow.parquet import ParquetFile

    sizes = [file.stat().st_size for file in files]
    with _reading(files[0]), ParquetFile(files[0]) as first:
        schema, rows_of_first = first.schema_arrow, first.metadata.num_rows

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        for file, size in zip(files, sizes, strict=True):
            with _reading(file), _opened(file) as content:
                _check_columns(file, content.schema_arrow, schema, columns)
                rows, total = 0, max(content.metadata.num_rows, 1)
                for batch in content.iter_batches(rows_per_batch(columns), columns=list(columns), use_threads=False):
                    rows += batch.num_rows
                    yield batch, done + size * rows // total
            done += size

    return Stream(schema, batches, sum(sizes), _spoken(files), rows_of_first if len(files) == 1 else None)


def _opened(file: Path) -> ParquetFile:
    """A reader that takes its memory from jemalloc, where Arrow has it.

    Of 100 columns the usual pool holds 60 MB more, and empties and fills its pages anew again and again.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    usual = pa.default_memory_pool()
    with suppress(NotImplementedError):
        pa.set_memory_pool(pa.jemalloc_memory_pool())
    try:
        return ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER)
    finally:
        pa.set_memory_pool(usual)


def _stream_of_text(files: list[Path], contexts: Sequence[str]) -> Stream:
    import pyarrow as pa
    from pyarrow import csv

    sizes = [file.stat().st_size for file in files]
    decimals: dict[str, pa.DataType] = {}

    def opened(file: Path) -> Any:
        options = csv.ParseOptions(delimiter=DELIMITERS[_ending(file)])
        reading = csv.ReadOptions(use_threads=False, block_size=_TEXT_BLOCK)
        return csv.open_csv(file, reading, options, csv.ConvertOptions(column_types=decimals))

    with _reading(files[0]), opened(files[0]) as first:
        schema = first.schema
    for place, field in enumerate(schema):
        if field.name not in contexts and (pa.types.is_integer(field.type) or pa.types.is_null(field.type)):
            decimals[field.name] = pa.float64()
            schema = schema.set(place, field.with_type(pa.float64())) if pa.types.is_null(field.type) else schema

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        for file, size in zip(files, sizes, strict=True):
            read = 0
            with _reading(file), opened(file) as content:
                _check_columns(file, content.schema, schema, columns)
                for block in content:
                    read = min(read + _TEXT_BLOCK, size)
                    yield from ((batch, done + read) for batch in _cut(block.select(list(columns)), columns))
            done += size

    return Stream(schema, batches, sum(sizes), _spoken(files))


def _stream_of_capsule(source: Any) -> Stream:
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(source)

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        for batch in reader:
            for part in _cut(batch.select(list(columns)), columns):
                done += part.nbytes
                yield part, done

    return Stream(reader.schema, batches, None, f"a stream from {type(source).__module__.partition('.')[0]}")


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
            _check_columns(f"a table of the {name}", reader.schema, schema, columns)
            for batch in reader:
                for part in _cut(batch.select(list(columns)), columns):
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
                for cut in _cut(batch, columns):
                    done += cut.nbytes
                    yield cut, done

    return Stream(empty.schema, batches, None, "a polars LazyFrame")


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


def _cut(batch: pa.RecordBatch, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """A batch in parts that are small enough."""
    rows = rows_per_batch(columns)
    for begin in range(0, batch.num_rows, rows):
        yield batch.slice(begin, rows)


def rows_per_batch(columns: Sequence[str]) -> int:
    return max(1024, VALUES_PER_BATCH // max(len(columns), 1))


def _check_columns(file: Path | str, found: pa.Schema, first: pa.Schema, wanted: Sequence[str]) -> None:
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
    if pa.types.is_integer(plain) or pa.types.is_floating(plain):
        return "number"
    text = pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain)
    return "text" if text else str(plain)


class _reading:
    """Errors of pyarrow in one sentence of ours."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from pyarrow import ArrowException

        if isinstance(error, ArrowException | OSError):
            line = next(iter(str(error).splitlines()), type(error).__name__)
            raise FileError(f"cannot read {self.file}: {line}") from error


def _spoken(files: list[Path]) -> str:
    return str(files[0]) if len(files) == 1 else f"{len(files)} files in {files[0].parent}"


def is_index(name: str) -> bool:
    """Whether a column is the index of a pandas table that nobody asked for."""
    return name.startswith(_PANDAS_INDEX)
