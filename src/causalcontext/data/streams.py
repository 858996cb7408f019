"""Tables as streams of Arrow record batches: one input for whatever does not fit into memory.

`open_stream` knows Parquet files and folders of them, text files, anything with `__arrow_c_stream__` (a DuckDB
relation, a pyarrow reader) and polars LazyFrames. Nothing is read before the first batch is asked for, and a batch is
small: memory does not grow with the rows.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
_TEXT_BLOCK = 2**22
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
    """Whether a table has to be read in batches: a large file, a folder or pattern, a reader, a Spark table."""
    if isinstance(table, str | os.PathLike):
        place = as_path(table)
        pattern = glob.has_magic(str(table)) and not place.exists()
        return pattern or place.is_dir() or (place.is_file() and place.stat().st_size > LARGE_FILE)
    library, name = type(table).__module__.partition(".")[0], type(table).__name__
    return library == "pyspark" or (library == "pyarrow" and name == "RecordBatchReader")


def is_lazy(table: Any) -> bool:
    """Whether a table may be read in batches, or into memory: a polars LazyFrame, a DuckDB relation, a Dask table."""
    library = type(table).__module__.partition(".")[0]
    return (library == "polars" and type(table).__name__ == "LazyFrame") or library in (
        "duckdb", "_duckdb", "dask", "dask_expr"
    )  # fmt: skip


def open_stream(source: Any) -> Stream:
    """The stream of a path, a pattern such as `"folder/*.parquet"`, or an object with `__arrow_c_stream__`.

    Raises
    ------
    FileError, DataError
        There is no such file, or the object is nothing that can be read in batches.
    """
    _need_pyarrow()
    if isinstance(source, str | os.PathLike):
        return _stream_of_path(source)
    if type(source).__module__.startswith("polars") and type(source).__name__ == "LazyFrame":
        return _stream_of_lazy_frame(source)
    if hasattr(source, "__arrow_c_stream__"):
        return _stream_of_capsule(source)
    raise DataError(f"the table is of type {type(source).__name__}, expected a path, or something that can be read as "
                    "a stream of Arrow batches")  # fmt: skip


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise FileError("reading a table in batches needs pyarrow: pip install 'causalcontext[parquet]'") from error


def _stream_of_path(path: str | os.PathLike[str]) -> Stream:
    files = _files(path)
    endings = {_ending(file) for file in files}
    if len(endings) > 1:
        raise FileError(f"{path} holds files with the endings {', '.join(sorted(endings))}; expected one of them")
    return _stream_of_parquet(files) if endings == {".parquet"} else _stream_of_text(files)


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
                _check_columns(file, content.schema_arrow.names, columns)
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


def _stream_of_text(files: list[Path]) -> Stream:
    from pyarrow import csv

    sizes = [file.stat().st_size for file in files]

    def opened(file: Path) -> Any:
        options = csv.ParseOptions(delimiter=DELIMITERS[_ending(file)])
        return csv.open_csv(file, csv.ReadOptions(use_threads=False, block_size=_TEXT_BLOCK), options)

    with _reading(files[0]), opened(files[0]) as first:
        schema = first.schema

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        for file, size in zip(files, sizes, strict=True):
            read = 0
            with _reading(file), opened(file) as content:
                _check_columns(file, content.schema.names, columns)
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


def _check_columns(file: Path, found: Sequence[str], wanted: Sequence[str]) -> None:
    """Return if a file has all columns of the first one."""
    lacking = [repr(name) for name in wanted if name not in found]
    if lacking:
        raise FileError(f"{file} has no column {', '.join(lacking)}, which the first file has")


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
