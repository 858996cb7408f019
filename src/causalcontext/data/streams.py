"""A table that does not fit into memory: a stream of Arrow record batches, one input for
all of them.

`open_stream` makes one of Parquet and text files, folders, patterns and lists of them, of anything
with `__arrow_c_stream__` (a DuckDB relation, a pyarrow reader), of data sets of pyarrow, polars
LazyFrames and iterators of tables. No rows are read before the first batch is asked for, and a
batch is small: memory does not grow with the rows.

The levels of a column of a stream are which values occur, in what order, and a number for each: a
hash of the value, so that moments, sample and fingerprint depend neither on which value came first
nor on how a stream is cut. Once all rows are in, numbers become places in the order.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from causalcontext.data import table_files
from causalcontext.data.checks import MOST_CELLS
from causalcontext.data.columns import (
    Kind,
    check_levels_repeat,
    check_no_dates,
    check_no_typing_error,
)
from causalcontext.data.files import as_path
from causalcontext.data.frames import brings_rows_by, nw, pa
from causalcontext.data.sufficient_statistics import level_number
from causalcontext.data.table_files import PARQUET, TablePath, spoken
from causalcontext.errors import (
    CausalContextError,
    DataError,
    FileError,
    NotYetError,
    install,
    listed,
    shortly,
)
from causalcontext.kernels.arrays import Floats, Values

LARGE_FILE = 256 * 2**20
"""A file of more bytes is read in batches; in memory it would take several times as much."""
VALUES_PER_BATCH = 3 * 2**18
"""6 MB of numbers: every batch costs some calls for every column, and larger ones gain nothing."""
WHERE_RAISED = "look at the code that makes it"
ROWS_TOGETHER = 512
"""Batches have a multiple of so many rows, as blocks have; see `moments.py`."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A table that is read once, from beginning to end."""

    schema: pa.Schema
    # function of the column names that are wanted; an iterator of (record batch, bytes read so far)
    batches: Callable[[Sequence[str]], Iterator[tuple[pa.RecordBatch, int]]]
    size: int | None  # how many bytes there are to read, where that is known
    source: str  # what it is, in words
    rows: int | None = None  # how many rows there are, where that is known


def is_out_of_memory(table: Any) -> bool:
    """True if a table is read in batches: a large file, a folder, pattern or list, a reader, a
    cluster, chunks.
    """
    if isinstance(table, str | os.PathLike):
        place = as_path(table)  # os.path, since a Path raises errors where it cannot look
        pattern = glob.has_magic(str(table)) and not os.path.exists(place)
        return (
            pattern
            or os.path.isdir(place)
            or (os.path.isfile(place) and os.path.getsize(place) > LARGE_FILE)
        )
    library = type(table).__module__.partition(".")[0]
    name = type(table).__name__
    reader = name == "RecordBatchReader" or _is_of("pyarrow", table, "scanner", "projected_schema")
    reader = reader and library == "pyarrow"
    listed_files = table_files.is_list_of_paths(table)
    return reader or brings_rows_by(table) is not None or listed_files or hasattr(table, "__next__")


def is_lazy(table: Any) -> bool:
    """True if a table may be read in batches, or into memory: a polars LazyFrame or a DuckDB
    relation.
    """
    library = type(table).__module__.partition(".")[0]
    return nw.dependencies.is_polars_lazyframe(table) or library in ("duckdb", "_duckdb")


def _is_of(library: str, table: Any, *attributes: str) -> bool:
    """True if a table is of a library, and has one of some attributes."""
    return type(table).__module__.startswith(library) and any(
        hasattr(table, name) for name in attributes
    )


def open_stream(source: Any, whole: Sequence[Any] = ()) -> Stream:
    """The stream of a path, a pattern such as `"folder/*.parquet"`, a list, or an object with
    `__arrow_c_stream__`.
    """
    # In text files, columns are decimals where their first rows are whole numbers or empty, but for
    # those named `whole`.
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise FileError(
            f"reading a table in batches needs pyarrow: {install('parquet')}"
        ) from error
    if isinstance(source, str | os.PathLike) or table_files.is_list_of_paths(source):
        return _stream_of_files(source, whole)
    with made_elsewhere(f"a {type(source).__name__} cannot be read", WHERE_RAISED):
        schema, made, words = _batches_of(source)

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        with made_elsewhere(f"{words} cannot be read", WHERE_RAISED):
            for batch in made(list(columns)):
                for part in cut(batch, columns):
                    done += part.nbytes
                    yield part, done

    return Stream(schema, batches, None, words)


def _stream_of_files(places: TablePath | Sequence[TablePath], whole: Sequence[Any]) -> Stream:
    """The stream of a file, a folder, a pattern, or a list of them; columns of folders come after
    those of files.
    """
    files = table_files.files_of(places)
    endings = {table_files.ending_of(file) for file in files}
    if len(endings) > 1:
        raise FileError(
            f"{spoken(files)} have the endings {', '.join(sorted(endings))}; expected one of them"
        )
    with table_files.opened(files[0], {}) as (stored, rows, _):
        pass
    # decimals whatever the first rows hold: whole numbers, or nothing
    types: dict[str, pa.DataType] = {}
    if endings != {PARQUET}:
        if all(pa.types.is_null(field.type) for field in stored):
            raise FileError(f"{files[0]} has no rows, or none with a value")
        few = (
            field
            for field in stored
            if pa.types.is_integer(field.type) or pa.types.is_null(field.type)
        )
        types = {field.name: pa.float64() for field in few if field.name not in whole}
    for name in types:
        if pa.types.is_null(stored.field(name).type):
            stored = stored.set(stored.get_field_index(name), pa.field(name, types[name]))
    folders, values = table_files.columns_of_folders(files, places)
    added = [field for field in folders if field.name not in stored.names]
    sizes = [file.stat().st_size for file in files]

    def batches(columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        done = 0
        wanted = [name for name in columns if name in stored.names]
        for file, size, said in zip(files, sizes, values, strict=True):
            with table_files.opened(file, types, stored.names) as (schema, _, parts):
                check_columns(file, schema, stored, wanted)
                for batch, read in parts(wanted, rows_per_batch(columns)):
                    for field in added:
                        column = pa.repeat(pa.scalar(said[field.name], field.type), len(batch))
                        batch = batch.append_column(field, column)
                    yield from (
                        (part, done + read) for part in cut(batch.select(list(columns)), columns)
                    )
            done += size

    return Stream(
        pa.schema([*stored, *added]),
        batches,
        sum(sizes),
        spoken(files),
        rows if len(files) == 1 else None,
    )


@contextmanager
def made_elsewhere(what: str, advice: str) -> Iterator[None]:
    """The errors of another library, or of the caller's code, that makes a table, in one
    sentence of ours.
    """
    try:
        yield
    except CausalContextError:
        raise
    except Exception as error:
        said = next(iter(str(error).splitlines()), "no reason")
        raise DataError(f"{what} ({type(error).__name__}: {said}); {advice}") from error


MadeBatches = Callable[[list[str]], Iterator["pa.RecordBatch"]]


def _batches_of(source: Any) -> tuple[pa.Schema, MadeBatches, str]:
    """The columns of an object, a function that makes the batches of some of them, and what it is
    in words.
    """
    if nw.dependencies.is_polars_lazyframe(source):
        if not hasattr(source, "collect_batches"):
            raise NotYetError(
                "not yet: a LazyFrame in batches with this version of polars; update it, or"
                " collect it"
            )

        def collected(columns: list[str]) -> Iterator[pa.RecordBatch]:
            for part in source.select(columns).collect_batches(chunk_size=rows_per_batch(columns)):
                yield from part.to_arrow().to_batches()

        return source.head(0).collect().to_arrow().schema, collected, "a polars LazyFrame"
    if _is_of("pyarrow", source, "scanner"):
        # a data set; its scanner is asked to read little ahead
        ahead: dict[str, Any] = {
            "batch_readahead": 1,
            "fragment_readahead": 1,
            "use_threads": False,
        }

        def scanned(columns: list[str]) -> Iterator[pa.RecordBatch]:
            yield from source.scanner(
                columns=columns, batch_size=rows_per_batch(columns), **ahead
            ).to_batches()

        return source.schema, scanned, "a data set of pyarrow"
    scanner = _is_of("pyarrow", source, "projected_schema")
    if hasattr(source, "__arrow_c_stream__") or scanner:
        words = f"a stream from {type(source).__module__.partition('.')[0]}"
        reader = pa.RecordBatchReader.from_stream(source.to_reader() if scanner else source)
        return reader.schema, lambda columns: (batch.select(columns) for batch in reader), words
    if hasattr(source, "__next__"):
        return _batches_of_tables(source, type(source).__name__)
    raise DataError(
        f"the table is of type {type(source).__name__}, expected a path, a list of paths, or"
        " something that can be read as a stream of Arrow batches"
    )


def _batches_of_tables(source: Iterator[Any], name: str) -> tuple[pa.Schema, MadeBatches, str]:
    """The same of an iterator of tables, such as `pandas.read_csv(..., chunksize=...)`."""

    def reader_of(table: Any) -> pa.RecordBatchReader:
        if not hasattr(table, "__arrow_c_stream__"):
            raise DataError(
                f"the {name} holds a {type(table).__name__}, expected tables of pandas, polars or"
                " pyarrow"
            )
        return pa.RecordBatchReader.from_stream(table)

    first = next(source, None)
    if first is None:
        raise DataError(f"the {name} has no tables left")
    schema = reader_of(first).schema

    def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
        for reader in map(reader_of, chain([first], source)):
            check_columns(f"a table of the {name}", reader.schema, schema, columns)
            yield from (batch.select(columns) for batch in reader)

    return schema, batches, f"a {name}"


def gathered(
    batches: Iterator[tuple[pa.RecordBatch, int]], rows: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """The same rows in batches of so many at least, but for the last one: every batch costs
    something.
    """
    waiting: list[pa.RecordBatch] = []
    done = 0
    for batch, done in batches:
        if waiting and not _alike(waiting[0], batch):
            yield pa.concat_batches(waiting), done
            waiting = []
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= rows:
            yield pa.concat_batches(waiting) if len(waiting) > 1 else batch, done
            waiting = []
    if waiting:
        yield pa.concat_batches(waiting), done


def _alike(one: pa.RecordBatch, other: pa.RecordBatch) -> bool:
    """True if batches have the same columns, with the same dictionaries: these may say an order."""
    coded = (field.name for field in one.schema if pa.types.is_dictionary(field.type))
    return one.schema == other.schema and all(
        one.column(name).dictionary.equals(other.column(name).dictionary) for name in coded
    )


def cut(batch: pa.RecordBatch, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """A batch in parts that are small enough."""
    rows = rows_per_batch(columns)
    for begin in range(0, batch.num_rows, rows):
        yield batch.slice(begin, rows)


def rows_per_batch(columns: Sequence[str]) -> int:
    """The number of rows of so many columns that are read at a time."""
    rows = max(1024, VALUES_PER_BATCH // max(len(columns), 1))
    return rows - rows % ROWS_TOGETHER


def check_columns(
    file: Path | str, found: pa.Schema, first: pa.Schema, wanted: Sequence[str]
) -> None:
    """Return if a file has all columns of the first one, with values of the same sort."""
    lacking = [repr(name) for name in wanted if name not in found.names]
    if lacking:
        raise FileError(f"{file} has no column {', '.join(lacking)}, which the first file has")
    for name in wanted:
        here = found.field(name).type
        there = first.field(name).type
        if _sort_of(here) not in (_sort_of(there), "null"):
            raise FileError(
                f"column {name!r} holds {there} in the first file and {here} in {file}; convert one"
            )


def _sort_of(dtype: pa.DataType) -> str:
    """The common sort of values: decimals and whole numbers may follow each other, text and numbers
    not.
    """
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    if is_number(plain):
        return "number"
    return "text" if is_text(plain) else str(plain)


def is_text(dtype: pa.DataType) -> bool:
    """True if values are text."""
    return bool(
        pa.types.is_string(dtype)
        or pa.types.is_large_string(dtype)
        or pa.types.is_string_view(dtype)
    )


def is_number(dtype: pa.DataType) -> bool:
    """True if values are numbers: whole ones, decimals with a binary or a decimal point."""
    return bool(
        pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
    )


MOST_ORDERED = 20
"""Levels of an ordered column: the moments of each are kept, as of a column of its own."""
FAMILIES: dict[str, Callable[[Any], Any]] = {"bool": bool, "int": int, "float": float, "str": str}


@dataclass(eq=False)
class StreamLevels:
    """The levels of a column that have been met so far."""

    name: str
    kind: Kind  # categorical or ordered
    family: str  # the type that all values have
    numbers: dict[Any, float] = field(default_factory=dict)
    # those that follow each other in a dictionary
    neighbours: set[tuple[Any, Any]] = field(default_factory=set)

    def numbered(
        self, codes: Values, values: Sequence[Any], dictionary: Sequence[Any] = ()
    ) -> Floats:
        """The number of every row's level, NaN where there is none; `codes` are places in `values`,
        -1 for none.
        """
        # `dictionary` has levels in their order, where the column says one.
        own = [self._own(value) for value in values]
        used = np.zeros(len(own) + 1, dtype=np.bool_)
        used[codes] = True
        self.add(
            value
            for value, met in zip(own, used[:-1].tolist(), strict=True)
            if met and value is not None
        )
        if len(dictionary) > MOST_CELLS and self.kind is Kind.ORDERED:
            raise self._too_many(MOST_CELLS)
        note_order(self.neighbours, [self._own(value) for value in dictionary])
        return np.array([*(self.numbers.get(value, np.nan) for value in own), np.nan])[codes]

    def add(self, levels: Iterable[Any]) -> None:
        """Note levels, new ones among them."""
        most = MOST_ORDERED if self.kind is Kind.ORDERED else MOST_CELLS
        for level in levels:
            if level not in self.numbers:
                self.numbers[level] = level_number(level)
                if len(self.numbers) > most:
                    raise self._too_many(most)

    def placed(self, numbers: Floats, levels: Sequence[Any]) -> Floats:
        """The places of levels among all, in order, instead of their numbers."""
        known = np.array([self.numbers[level] for level in levels])
        order = np.argsort(known)
        found = numbers.copy()
        there = ~np.isnan(numbers)
        found[there] = order[np.searchsorted(known[order], numbers[there])]
        return found

    def in_order(self, rows: int) -> tuple[Any, ...]:
        """The levels: sorted, or in the order of the dictionaries; `rows` have one."""
        levels = sorted(self.numbers)
        if self.family == "str":
            check_no_typing_error(self.name, levels)
        check_levels_repeat(self.name, "column", rows, levels)
        order, unclear = in_dictionaries(levels, self.neighbours)
        if unclear and self.kind is Kind.ORDERED:
            raise DataError(
                f"the dictionaries of column {self.name!r} do not say one order of its levels:"
                f" {listed([shortly(level) for level in unclear], what='level')} have no order;"
                " give all parts of the table the same dictionary"
            )
        return order

    def _own(self, value: Any) -> Any:
        """A value in the type that all have; None for NaN."""
        if value is None or value != value:
            return None
        own = FAMILIES[self.family](value)
        if own != value:
            raise DataError(
                f"column {self.name!r} holds {shortly(value)} after whole numbers; convert it to"
                " one type"
            )
        return own + 0.0 if self.family == "float" else own  # -0.0 is 0.0

    def _too_many(self, most: int) -> Exception:
        if self.kind is Kind.ORDERED:
            return NotYetError(
                f"not yet: column {self.name!r} is ordered and has more than {most} levels, which a"
                " table that is read in batches cannot have; declare its numbers continuous or"
                " count, or read the table into memory"
            )
        check_no_dates(self.name, list(self.numbers))
        return NotYetError(
            f"not yet: column {self.name!r} has more than {most:,} levels, which looks like an "
            "identifier; leave it out, or read the table into memory"
        )


def note_order(neighbours: set[tuple[Any, Any]], dictionary: Sequence[Any]) -> None:
    """Add what follows what in a dictionary; one that is too long for levels says nothing."""
    if len(dictionary) <= MOST_CELLS:
        neighbours.update(pairwise(value for value in dictionary if value is not None))


def in_dictionaries(
    levels: Iterable[Any], neighbours: set[tuple[Any, Any]]
) -> tuple[tuple[Any, ...], list[Any]]:
    """Levels in the one order that dictionaries say together, else sorted; and levels whose order
    they leave open.

    >>> in_dictionaries(["a", "b", "c"], {("c", "a"), ("a", "b")})
    (('c', 'a', 'b'), [])
    >>> in_dictionaries(["b", "a", "c"], {("a", "c"), ("b", "c")})
    (('a', 'b', 'c'), ['a', 'b'])
    """
    own = set(levels)
    before = set(neighbours)
    order = list[Any]()
    left = {level for pair in before for level in pair} | own if before else set()
    while left:
        first = left - {after for _, after in before}
        if len(first) != 1:
            return tuple(sorted(own)), sorted(first or left)
        order += first
        left -= first
        before = {pair for pair in before if pair[0] not in first}
    return tuple(level for level in order or sorted(own) if level in own), []


def dictionary_of_batch(batch: pa.RecordBatch, name: str) -> list[Any]:
    """The levels of a column in the order that its maker gave them; none where it has no
    dictionary.
    """
    # A `Categorical` of polars has no order of its own: that of its dictionary depends on what else
    # the process read.
    place = batch.schema.get_field_index(name)
    field = batch.schema.field(place)
    made_by_reading = any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or ())
    if made_by_reading or not pa.types.is_dictionary(field.type):
        return []
    return list(batch.column(place).dictionary.to_pylist())


def family_of(dtype: pa.DataType) -> str | None:
    """The type of the values of a column as levels; None for what can be no level."""
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    if pa.types.is_boolean(plain):
        return "bool"
    if pa.types.is_integer(plain):
        return "int"
    if pa.types.is_floating(plain):
        return "float"
    return "str" if is_text(plain) else None
