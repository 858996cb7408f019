"""Tables in files, Parquet or text: one file in memory, or any number of files, folders and
patterns in batches.

pyarrow reads Parquet, and text in batches. Text in memory is read by pandas, which finds a quote
that never ends and needs no pyarrow. What these libraries say about a file that they cannot read
becomes one sentence here.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import json
import os
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import IO, Any, cast

from causalcontext.data.files import as_path
from causalcontext.data.frames import pa, pd
from causalcontext.errors import CausalContextError, FileError, install

DELIMITERS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
OTHER_DELIMITERS = ";\t,|"
"""Separators of columns in files whose name says otherwise, the commonest first."""
PARQUET = ".parquet"
SPREADSHEETS = (".xlsx", ".xls", ".ods")
WORDS_FOR_MISSING = frozenset({"NA", "N/A", "None", "null", "NULL", "nan", "NaN", "n/a", "<NA>"})
"""Words that mean a missing value among numbers, and may mean one among words."""
IN_UTF8 = (
    'save it in that encoding, or pass pandas.read_csv(path, encoding="latin-1"), if that is'
    " its own"
)
"""Advice about a text in another encoding."""
_DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""Errors of the reader of Parquet files where it finds nonsense, besides errors of its own."""
_NOT_TEXT = (csv.Error, gzip.BadGzipFile, zlib.error, EOFError)
_HEAD = 64
_TEXT_BLOCK = 2**20
_BUFFER = 2**13
"""Bytes of every column of a Parquet file that are read ahead: without a limit, whole row groups
are in memory.
"""
_WRONG_VALUE = re.compile(
    r"In CSV column #(?P<column>\d+): (?:Row #(?P<row>\d+): )?"
    r"CSV conversion error to (?P<type>\w+).*?: invalid (?:value '(?P<value>.*)'|UTF8 data)"
)
_WRONG_WIDTH = re.compile(
    r"Row #(?P<row>\d+): Expected (?P<expected>\d+) columns, got (?P<found>\d+)"
)

TablePath = str | os.PathLike[str]
Batches = Callable[[Sequence[str], int], Iterator[tuple["pa.RecordBatch", int]]]
"""`batches(columns, rows)`: about so many rows at a time, each with the bytes of the file that are
read by then.
"""


def read_file(path: TablePath) -> pd.DataFrame:
    """The table in a `.csv`, `.tsv` (both also gzipped) or `.parquet` file, with the names of its
    header.
    """
    file = as_path(path)
    with reading(file):
        if file.is_dir():
            raise FileError(f"{file} is a folder, expected a file")
        if not file.exists():
            raise FileError(f"there is no file {file}")
        if ending_of(file) != PARQUET:
            return _read_text(file)
        with _parquet_file(file) as content:
            table = content.read()
        _check_header(file, table.column_names)
        # an index that has a name is a column again, as in a text file
        frame: pd.DataFrame = table.to_pandas()
        return frame.reset_index() if any(name is not None for name in frame.index.names) else frame


@contextmanager
def opened(
    file: Path, types: Mapping[str, pa.DataType], names: Sequence[str] = ()
) -> Iterator[tuple[pa.Schema, int | None, Batches]]:
    """The columns of a file, its number of rows where it says so, and a function of columns that
    makes its batches.
    """
    # Whatever is wrong with it is a `FileError`. `types` are those of columns of a text file whose
    # first rows may say too little about them; errors name `names`.
    from pyarrow import csv as arrow

    with reading(file, names):
        size = file.stat().st_size
        if ending_of(file) == PARQUET:
            with _parquet_file(file, pre_buffer=False, buffer_size=_BUFFER) as content:
                total = content.metadata.num_rows

                def row_batches(
                    columns: Sequence[str], rows: int
                ) -> Iterator[tuple[pa.RecordBatch, int]]:
                    done = 0
                    for batch in content.iter_batches(
                        rows, columns=list(columns), use_threads=False
                    ):
                        done += batch.num_rows
                        yield batch, size * done // max(total, 1)

                yield content.schema_arrow, total, row_batches
        else:
            delimiter = delimiter_of(file)
            check_text(file, delimiter)
            how = arrow.ConvertOptions(column_types=types)
            how.null_values = [*how.null_values, *WORDS_FOR_MISSING]
            blocks = arrow.ReadOptions(use_threads=False, block_size=_TEXT_BLOCK)
            with arrow.open_csv(
                file, blocks, arrow.ParseOptions(delimiter=delimiter), how
            ) as content:

                def text_batches(
                    columns: Sequence[str], rows: int
                ) -> Iterator[tuple[pa.RecordBatch, int]]:
                    for count, block in enumerate(content, start=1):
                        yield (
                            _without_empty_text(block.select(list(columns))),
                            min(count * _TEXT_BLOCK, size),
                        )

                _ = content.schema.names  # read as text only now, and that may fail
                yield content.schema, None, text_batches


@contextmanager
def reading(file: Path, names: Sequence[str] = ()) -> Iterator[None]:
    """Errors of the libraries that read a file, in one sentence of ours; `names` are its columns,
    if it is text.
    """
    try:
        yield
    except CausalContextError:
        raise
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise FileError(
            f"{file} is not a text file in UTF-8 (byte {byte:#x}); {IN_UTF8}"
        ) from error
    except _NOT_TEXT as error:
        raise FileError(f"{file} is not a text file in UTF-8: {_first_line(error)}") from error
    except (OSError, *_DAMAGE) as error:
        line = _first_line(error)
        if isinstance(error, OSError) and error.strerror:
            raise FileError(f"cannot read {file}: {error.strerror}") from error
        if file.name.lower().endswith(PARQUET):
            raise FileError(
                f"cannot read {file}: it is not a Parquet file, or damaged ({line})"
            ) from error
        if isinstance(error, OSError) or type(error).__module__.startswith("pyarrow"):
            raise FileError(about_text(file, line, names)) from error
        raise


def about_text(file: Path, line: str, names: Sequence[str] = ()) -> str:
    """The error of pyarrow about a text file, in one sentence with the names of columns and what to
    do.

    >>> about_text(Path("a.csv"), "CSV parse error: Row #7: Expected 4 columns, got 2: 1,2")
    'a.csv has 2 fields in row 7, expected 4 as in the header'
    """
    if match := _WRONG_WIDTH.search(line):
        return _wrong_width(file, int(match["found"]), int(match["row"]), int(match["expected"]))
    match = _WRONG_VALUE.search(line)
    if match is None or int(match["column"]) >= len(names):
        return f"cannot read {file}: {line}"
    name = names[int(match["column"])]
    row = f" in row {match['row']}" if match["row"] else ""
    if match["value"] is None:
        return (
            f"{file} has bytes{row} of column {name!r} that are not UTF-8 text; save it in that"
            ' encoding, or pass pandas.read_csv(path, encoding="latin-1", chunksize=100_000), if'
            " that is its own"
        )
    expected = {"double": "a number", "int64": "a whole number"}.get(match["type"], match["type"])
    advice = (
        "leave the field empty"
        if match["type"] == "double"
        else (
            f"pass pandas.read_csv(path, dtype={{{name!r}: str}}, chunksize=100_000) if the column"
            " is text"
        )
    )
    return (
        f"{file} has {match['value']!r}{row} of column {name!r}, expected {expected} as in its"
        f" first rows; correct it, or {advice}"
    )


def _wrong_width(file: Path, found: int, row: int, expected: int) -> str:
    return f"{file} has {found} fields in row {row}, expected {expected} as in the header"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def ending_of(file: Path) -> str:
    """The ending of a file that is said to be a table."""
    endings = (*DELIMITERS, PARQUET)
    found = next((ending for ending in endings if file.name.lower().endswith(ending)), None)
    if found is None:
        remedy = "; save the sheet as CSV" if file.suffix.lower() in SPREADSHEETS else ""
        raise FileError(
            f"cannot read {file}: its name must end with one of {', '.join(endings)}{remedy}"
        )
    return found


def delimiter_of(file: Path) -> str:
    """The separator of the columns of a text file: by its name, or, where that leaves a single
    column, another mark that its first two rows have equally often, as spreadsheets write `;`.
    """
    usual = DELIMITERS[ending_of(file)]
    if _first_widths(file, usual)[:1] != [1]:
        return usual
    for mark in OTHER_DELIMITERS:
        widths = _first_widths(file, mark)
        if mark != usual and len(widths) == 2 and widths[0] == widths[1] > 1:
            return mark
    return usual


def _first_widths(file: Path, delimiter: str) -> list[int]:
    """The fields of the first two rows, of any text; none where no table of text can be seen."""
    with (
        suppress(csv.Error),
        io.TextIOWrapper(_bytes_of(file), "utf-8-sig", errors="replace", newline="") as text,
    ):
        rows = (row for row in csv.reader(text, delimiter=delimiter) if row)
        return [len(row) for row in islice(rows, 2)]
    return []


def is_list_of_paths(source: Any) -> bool:
    """True if something is a list of paths, one at least."""
    return (
        isinstance(source, list | tuple)
        and bool(source)
        and all(isinstance(p, str | os.PathLike) for p in source)
    )


def files_of(places: TablePath | Sequence[TablePath]) -> list[Path]:
    """The files of one or several places, sorted as those of a folder are: rows have the same
    numbers in any order.
    """
    # A place is a file, a folder or a pattern. Files and folders that begin with . or _ are left
    # out.
    if isinstance(places, str | os.PathLike):
        return _files(places)
    found = sorted(file for place in places for file in _files(place))
    twice = next((file for file, following in pairwise(found) if file == following), None)
    if twice is not None:
        raise FileError(f"{twice} is listed twice; its rows would count twice")
    return found


def _files(path: TablePath) -> list[Path]:
    place = as_path(path)
    found = list[Path]()
    if os.path.isdir(place):
        for here, folders, names in os.walk(place, onerror=_refuse):
            folders[:] = [name for name in folders if name[0] not in "._"]
            tables = (
                name
                for name in names
                if name[0] not in "._" and name.lower().endswith((*DELIMITERS, PARQUET))
            )
            found += [Path(here, name) for name in tables if Path(here, name).is_file()]
        if not found:
            raise FileError(f"{path} is a folder, expected a file, or a folder that holds tables")
        return sorted(found)
    if glob.has_magic(str(path)) and not os.path.exists(place):
        found = [
            Path(file)
            for file in sorted(glob.glob(str(path), recursive=True))
            if Path(file).is_file()
        ]
    else:
        with reading(place):
            found = [place] if place.exists() else []
    if not found:
        raise FileError(f"there is no file {path}")
    return found


def _refuse(error: OSError) -> None:
    raise FileError(f"cannot read {error.filename}: {error.strerror}") from error


def spoken(files: Sequence[Path]) -> str:
    """Files in words."""
    if len(files) == 1:
        return str(files[0])
    absolute = any(file.is_absolute() for file in files)
    folder = os.path.commonpath(
        [file.parent.absolute() if absolute else file.parent for file in files]
    )
    return f"{len(files)} files in {folder or '.'}"


def columns_of_folders(
    files: Sequence[Path], place: object
) -> tuple[pa.Schema, list[dict[str, Any]]]:
    """Columns in the names of folders, `R=dry/year=2020/part-0.parquet`, and what they say about
    every file.

    pyarrow reads them as it reads its data sets, which Spark and Dask write alike. The path to a
    file, or to a list of files, says nothing.

    >>> part = Path("all/R=very%20dry/year=2020/part.parquet")
    >>> schema, values = columns_of_folders([part], "all/*/*/*.parquet")
    >>> schema.names, values
    (['R', 'year'], [{'R': 'very dry', 'year': 2020}])
    """
    nothing: list[dict[str, Any]] = [{} for _ in files]
    if not isinstance(place, str | os.PathLike) or Path(place) in files:
        return pa.schema([]), nothing
    root = Path(
        *takewhile(lambda part: os.path.isdir(place) or not glob.has_magic(part), Path(place).parts)
    )
    if not any("=" in str(file.relative_to(root).parent) for file in files):
        return pa.schema([]), nothing
    from pyarrow import dataset, fs

    hive = dataset.HivePartitioning.discover()
    options = dataset.FileSystemFactoryOptions(partition_base_dir=str(root), partitioning=hive)
    places = fs.LocalFileSystem(), [str(file) for file in files]
    factory = dataset.FileSystemDatasetFactory(*places, dataset.ParquetFileFormat(), options)
    schema = factory.inspect(fragments=0)  # the names of folders alone: no file is opened
    fragments = factory.finish(schema).get_fragments()
    values = [dataset.get_partition_keys(fragment.partition_expression) for fragment in fragments]
    for file, found in zip(files, values, strict=True):
        if found.keys() != values[0].keys():
            raise FileError(
                f"the folders of {files[0]} and of {file} name other columns; expected the same"
                " ones"
            )
    return schema, [{name: found[name] for name in schema.names} for found in values]


def _parquet_file(file: Path, **options: Any) -> Any:
    try:
        import pyarrow  # noqa: F401
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise FileError(f"reading {file} needs pyarrow: {install('parquet')}") from error
    return ParquetFile(file, page_checksum_verification=True, **options)


def _without_empty_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with nothing in place of text without letters, as in a table in memory."""
    from pyarrow import compute

    for place, field in enumerate(batch.schema):
        if pa.types.is_string(field.type):
            column = batch.column(place)
            lettered = compute.binary_length(column).cast(pa.bool_())
            batch = batch.set_column(
                place, field, compute.if_else(lettered, column, pa.nulls(len(column), field.type))
            )
    return batch


def check_text(file: Path, delimiter: str, index: bool = False) -> list[str]:
    """The names in the first row of a text file, if that is one in UTF-8 with a name for every
    column.

    With `index` the first column may have none, as the index that pandas writes.
    """
    with reading(file):
        with _bytes_of(file) as content:
            head = content.read(_HEAD)
        if head.startswith(b"PAR1"):
            raise FileError(f"{file} holds a Parquet file; let its name end with {PARQUET}")
        if (encoding := wide_encoding(head)) is not None:
            raise FileError(
                f"{file} is text in {encoding}, expected UTF-8; save it in that encoding, or pass "
                f'pandas.read_csv(path, encoding="{encoding.lower()}", sep=...)'
            )
        with closing(_rows(file, delimiter)) as rows:
            header = next(rows, [])
    _check_header(
        file,
        header[1:] if index and len(header) > 1 and not header[0].strip() else header,
        delimiter,
    )
    return header


def wide_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32, by the mark that a text begins with or by the zeros in its first letters;
    None for any other.

    >>> starts = ("A,B".encode("utf-16"), "A,B".encode("utf-32-le"), b"A,B")
    >>> tuple(wide_encoding(start) for start in starts)
    ('UTF-16', 'UTF-32-LE', None)
    """
    found = json.detect_encoding(head)
    letters = head.decode(found, "ignore")  # zeros may be anything but text
    text = all(letter.isprintable() or letter.isspace() for letter in letters)
    return found.upper() if text and not found.startswith("utf-8") else None


def _bytes_of(file: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file)) if file.suffix.lower() == ".gz" else file.open("rb")


def _rows(file: Path, delimiter: str) -> Generator[list[str], None, None]:
    """The rows of a text file, the header included, blank lines left out."""
    with io.TextIOWrapper(_bytes_of(file), encoding="utf-8-sig", newline="") as text:
        yield from (row for row in csv.reader(text, delimiter=delimiter) if row)


def _read_text(file: Path) -> pd.DataFrame:
    delimiter = delimiter_of(file)
    width = len(check_text(file, delimiter, index=True))
    how: dict[str, Any] = {"sep": delimiter, "encoding": "utf-8-sig", "index_col": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame: pd.DataFrame = pd.read_csv(file, low_memory=False, **how)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        _check_widths(file, delimiter, width)
        raise FileError(f"{file} is not a table: {_first_line(error)}") from error
    # Columns of text are read again with every word in them: `NA` is missing among numbers, and a
    # level among words.
    doubtful = [
        name
        for name, column in frame.items()
        if column.isna().any() and all(isinstance(value, str) for value in column.dropna())
    ]
    if doubtful:
        again = pd.read_csv(
            file, usecols=doubtful, dtype=str, keep_default_na=False, na_values=[""], **how
        )
        frame = frame.assign(**{str(name): again[name] for name in doubtful})
    # Rows that are too short end with missing values, so only then is it worth reading the file
    # again.
    if frame.iloc[:, -1].isna().any():
        _check_widths(file, delimiter, width)
    return frame


def words_for_missing(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Levels that may have been meant as missing values, by column of text."""
    found: dict[str, tuple[str, ...]] = {}
    for name, column in frame.items():
        if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
            words = tuple(sorted(WORDS_FOR_MISSING.intersection(column.dropna().unique())))
            found |= {str(name): words} if words else {}
    return found


def _check_header(file: Path, header: list[str], delimiter: str = ",") -> None:
    """Return if the file starts with one name for every column, each of them once."""
    if not header:
        raise FileError(f"{file} is empty")
    other = next(
        (mark for mark in OTHER_DELIMITERS if mark != delimiter and mark in header[0]), None
    )
    if len(header) == 1 and other is not None:
        raise FileError(
            f"{file} has a single column {header[0]!r}; are its columns separated by {other!r}?"
            f" Save it with {delimiter!r}, or pass pandas.read_csv(path, sep={other!r})"
        )
    unnamed = [str(place + 1) for place, name in enumerate(header) if not name.strip()]
    if unnamed:
        raise FileError(
            f"{file} has no name for column {', '.join(unnamed)} (an index?); name or remove it"
        )
    repeated = [repr(name) for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise FileError(
            f"{file} has several columns called {' and '.join(repeated)}; rename or remove some"
        )


def _check_widths(file: Path, delimiter: str, width: int) -> None:
    """Return if every row has as many fields as the header."""
    with closing(_rows(file, delimiter)) as rows:
        for place, row in enumerate(rows, start=1):
            if len(row) != width:
                raise FileError(_wrong_width(file, len(row), place, width))
