"""Parquet and text files, folders and lists of them, as streams of record batches."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causalcontext.data.files import DELIMITERS, IN_UTF8, as_path, check_text
from causalcontext.data.folder_columns import values_of_folders, with_folder_columns
from causalcontext.data.parse_errors import about_text
from causalcontext.data.streams import Stream, check_columns, cut, rows_per_batch
from causalcontext.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

_TEXT_BLOCK = 2**20
_BUFFER = 2**13
"""Bytes of every column that are read ahead: without a limit, whole row groups are in memory."""


Place = str | os.PathLike[str]


def is_list_of_paths(source: Any) -> bool:
    """Whether something is a list of paths, one at least."""
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(p, str | os.PathLike) for p in source)


def stream_of_files(places: Place | Sequence[Place], contexts: Sequence[str]) -> Stream:
    """The stream of a file, a folder, a pattern, or a list of them; the order of a list does not matter.

    Raises
    ------
    FileError
        There is no such file, it is listed twice, or its name says nothing about what it holds.
    """
    files = files_of(places)
    endings = {_ending(file) for file in files}
    if len(endings) > 1:
        raise FileError(f"{spoken(files)} have the endings {', '.join(sorted(endings))}; expected one of them")

    def opened(some: list[Path]) -> Stream:
        return _stream_of_parquet(some) if endings == {".parquet"} else _stream_of_text(some, contexts)

    values = values_of_folders(files, places)
    return with_folder_columns(files, values, opened, spoken(files)) if any(values) else opened(files)


def files_of(places: Place | Sequence[Place]) -> list[Path]:
    """The files of one or several places, sorted as those of a folder are: rows have the same numbers in any order."""
    if isinstance(places, str | os.PathLike):
        return _files(places)
    found = sorted(file for place in places for file in _files(place))
    twice = next((file for file, following in pairwise(found) if file == following), None)
    if twice is not None:
        raise FileError(f"{twice} is listed twice; its rows would count twice")
    return found


def _files(path: Place) -> list[Path]:
    """The files that a path, a folder or a pattern means, sorted by name; those that begin with . or _ are left out."""
    place = as_path(path)
    if os.path.isdir(place):
        found = sorted(_tables_in(place))
    elif glob.has_magic(str(path)) and not os.path.exists(place):
        found = [Path(file) for file in sorted(glob.glob(str(path), recursive=True)) if Path(file).is_file()]
    else:
        with _reading(place):
            found = [place] if place.exists() else []
    if not found:
        raise FileError(
            f"there is no file {path}"
            if not os.path.isdir(place)
            else f"{path} is a folder, expected a file, or a folder that holds tables"
        )
    return found


def _tables_in(folder: Path) -> Iterator[Path]:
    """The tables in a folder and in those that it holds; one that cannot be looked into is an error."""
    with _reading(folder):
        for here, folders, names in os.walk(folder, onerror=_raised):
            folders[:] = [name for name in folders if name[0] not in "._"]
            files = (Path(here, name) for name in names if name[0] not in "._")
            yield from (file for file in files if file.is_file() and _known(file))


def _raised(error: OSError) -> None:
    raise FileError(f"cannot read {error.filename}: {error.strerror}") from error


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
                check_columns(file, content.schema_arrow, schema, columns)
                rows, total = 0, max(content.metadata.num_rows, 1)
                for batch in content.iter_batches(rows_per_batch(columns), columns=list(columns), use_threads=False):
                    rows += batch.num_rows
                    yield batch, done + size * rows // total
            done += size
        _give_back_memory()

    return Stream(schema, batches, sum(sizes), spoken(files), rows_of_first if len(files) == 1 else None)


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
        return ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True)
    finally:
        pa.set_memory_pool(usual)


def _give_back_memory() -> None:
    """Have pages that readers no longer need given back now, rather than after some time: others are made soon."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(NotImplementedError):
        pa.jemalloc_memory_pool().release_unused()


def _stream_of_text(files: list[Path], contexts: Sequence[str]) -> Stream:
    import pyarrow as pa
    from pyarrow import csv

    sizes = [file.stat().st_size for file in files]
    decimals: dict[str, pa.DataType] = {}

    def opened(file: Path) -> Any:
        check_text(file, DELIMITERS[_ending(file)])
        options = csv.ParseOptions(delimiter=DELIMITERS[_ending(file)])
        reading = csv.ReadOptions(use_threads=False, block_size=_TEXT_BLOCK)
        return csv.open_csv(file, reading, options, csv.ConvertOptions(column_types=decimals))

    with _reading(files[0]), opened(files[0]) as first:
        schema = first.schema
        _ = schema.names  # read as text only now, and that may fail
    if all(pa.types.is_null(field.type) for field in schema):
        raise FileError(f"{files[0]} has no rows, or none with a value")
    for place, field in enumerate(schema):
        if field.name not in contexts and (pa.types.is_integer(field.type) or pa.types.is_null(field.type)):
            decimals[field.name] = pa.float64()
            schema = schema.set(place, field.with_type(pa.float64())) if pa.types.is_null(field.type) else schema

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        for file, size in zip(files, sizes, strict=True):
            read = 0
            with _reading(file, schema.names), opened(file) as content:
                check_columns(file, content.schema, schema, columns)
                for block in content:
                    read = min(read + _TEXT_BLOCK, size)
                    yield from ((batch, done + read) for batch in cut(block.select(list(columns)), columns))
            done += size

    return Stream(schema, batches, sum(sizes), spoken(files))


class _reading:
    """Errors of pyarrow in one sentence of ours; `names` are those of the columns of a text file."""

    def __init__(self, file: Path, names: Sequence[str] = ()) -> None:
        self.file, self.names = file, names

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from pyarrow import ArrowException

        if isinstance(error, UnicodeDecodeError):
            raise FileError(f"{self.file} is not a text file in UTF-8; {IN_UTF8}") from error
        if isinstance(error, OSError) and error.strerror:
            raise FileError(f"cannot read {self.file}: {error.strerror}") from error
        if isinstance(error, ArrowException | OSError):
            line = next(iter(str(error).splitlines()), type(error).__name__)
            raise FileError(about_text(self.file, line, self.names)) from error


def spoken(files: list[Path]) -> str:
    """Files in words."""
    if len(files) == 1:
        return str(files[0])
    folder = files[0].parent
    here = all(folder in file.parents for file in files)
    return f"{len(files)} files in {folder}" if here else f"{len(files)} files from {files[0]} to {files[-1]}"
