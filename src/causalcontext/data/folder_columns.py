"""Columns that stand in the names of folders, `R=dry/part-0.parquet`: so Spark, Dask and others write them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from causalcontext.data.streams import Stream, check_columns
from causalcontext.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa

Values = tuple[tuple[str, str | None], ...]
_NOTHING = "__HIVE_DEFAULT_PARTITION__"
_NUMBER = re.compile(r"-?\d{1,18}")


def values_of_folders(files: Sequence[Path], place: object) -> list[Values]:
    """What the folders between a place and every file in it say; nothing where the place is a file or a list.

    Examples
    --------
    >>> values_of_folders([Path("all/R=very%20dry/year=2020/part.parquet")], "all/*/*/*.parquet")
    [(('R', 'very dry'), ('year', '2020'))]
    """
    if not isinstance(place, str | os.PathLike) or Path(place) in files:
        return [() for _ in files]
    fixed = takewhile(lambda part: os.path.isdir(place) or not glob.has_magic(part), Path(place).parts)
    root = Path(*fixed)
    found = [_values(file.relative_to(root).parts[:-1]) for file in files]
    for file, values in zip(files, found, strict=True):
        if [name for name, _ in values] != [name for name, _ in found[0]]:
            raise FileError(f"the folders of {files[0]} and of {file} name other columns; expected the same ones")
    return found


def _values(folders: Sequence[str]) -> Values:
    named = [folder.partition("=") for folder in folders if "=" in folder.strip("=")]
    return tuple((unquote(name), None if value == _NOTHING else unquote(value)) for name, _, value in named)


def with_folder_columns(
    files: Sequence[Path], values: Sequence[Values], opened: Callable[[list[Path]], Stream], source: str
) -> Stream:
    """The stream of files in folders that have values in their names; `opened` makes that of some of the files."""
    import pyarrow as pa

    beside = list(zip(files, values, strict=True))
    parts = [(dict(folder), opened([file for file, _ in group])) for folder, group in groupby(beside, lambda b: b[1])]
    stored = parts[0][1].schema
    types = {name: _type_of([part[name] for part, _ in parts])
             for name, _ in values[0] if name not in stored.names}  # fmt: skip
    schema = pa.schema([*stored, *(pa.field(name, dtype) for name, dtype in types.items())])

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        kept = [name for name in columns if name not in types]
        for folder, stream in parts:
            check_columns(stream.source, stream.schema, stored, kept)
            for batch, read in stream.batches(kept):
                added = {name: _repeated(folder[name], types[name], batch.num_rows) for name in types}
                arrays = [added[name] if name in added else batch.column(name) for name in columns]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns)), done + read
            done += stream.size or 0

    return Stream(schema, batches, sum(stream.size or 0 for _, stream in parts), source)


def _type_of(values: Sequence[str | None]) -> pa.DataType:
    """Whole numbers where all are, else text."""
    import pyarrow as pa

    there = [value for value in values if value is not None]
    return pa.int64() if there and all(_NUMBER.fullmatch(value) for value in there) else pa.string()


def _repeated(value: str | None, dtype: pa.DataType, rows: int) -> pa.Array:
    import pyarrow as pa

    if value is None:
        return pa.nulls(rows, dtype)
    scalar: Any = pa.scalar(int(value) if pa.types.is_integer(dtype) else value, dtype)
    return pa.repeat(scalar, rows)
