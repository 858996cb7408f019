"""Files at the door: tables in, whole files out or none at all."""

from __future__ import annotations

import contextlib
import csv
import gzip
import os
import secrets
import stat
import tomllib
import warnings
import zlib
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from causalcontext.errors import FileError, shortly

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_PARQUET = ".parquet"
_ENDINGS = (*DELIMITERS, _PARQUET)
WORDS_FOR_MISSING = frozenset({"NA", "N/A", "None", "null", "NULL", "nan", "NaN", "n/a", "<NA>"})
"""Words that mean a missing value among numbers, and may mean one among words."""
_DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""What else the reader of Parquet files raises where it finds nonsense."""
IN_UTF8 = 'save it in that encoding, or pass pandas.read_csv(path, encoding="latin-1"), if that is its own'
"""What to do about a text in another encoding."""
_NOT_TEXT = (csv.Error, gzip.BadGzipFile, zlib.error, EOFError)
_HEAD = 64
_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
"""What texts in wide encodings begin with, the longer marks first."""
_ZEROS = {
    "UTF-32-LE": (False, True, True, True),
    "UTF-32-BE": (True, True, True, False),
    "UTF-16-LE": (False, True),
    "UTF-16-BE": (True, False),
}
"""Which bytes of a letter are zeros in Latin script."""


def read_file(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The table in a `.csv`, `.tsv` (both also gzipped) or `.parquet` file, with the names of its header.

    Raises
    ------
    FileError
        No such file, another ending, or a content that is no table; one sentence says which.
    """
    file = as_path(path)
    try:
        ending = _checked_ending(file)
        return _read_parquet(file) if ending == _PARQUET else _read_text(file, DELIMITERS[ending])
    except OSError as error:
        raise FileError(f"cannot read {file}: {error.strerror or _first_line(error)}") from error


def as_path(path: object) -> Path:
    """The path that is meant; anything but text or a path is refused, and so is what no file can be called."""
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise FileError(f"a file is called {shortly(path)}, expected a path, as text or as a Path")
    return Path(path)


def read_toml(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """The content of a TOML file; `what` it is meant to be stands in the error."""
    try:
        return tomllib.loads(as_path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{what} file {str(path)!r} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{what} file {str(path)!r} is not valid TOML: {error}") from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Return if `write_whole` can be expected to succeed; to be called before long work."""
    file = as_path(path)
    try:
        is_folder, folder = file.is_dir(), file.resolve().parent
        writable = os.access(file, os.W_OK) if file.exists() else os.access(folder, os.W_OK | os.X_OK)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot write {file}: {error}") from error
    if is_folder:
        raise FileError(f"cannot write {file}: it is a folder")
    if not folder.is_dir():
        raise FileError(f"cannot write {file}: there is no folder {file.parent}")
    if not writable:
        raise FileError(f"cannot write {file}: permission denied")


def write_whole(path: str | os.PathLike[str], text: str | bytes) -> None:
    """The file holds `text`, all of it; or it is as it was before, and an error says why.

    It goes to a new file in the same folder, which then takes the place of the old one.
    """
    check_writable(path)
    file = Path(path).resolve()
    content = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    try:
        if file.exists() and not stat.S_ISREG(file.stat().st_mode):
            file.write_bytes(content)  # a device or a pipe: replacing it would destroy it
        else:
            _replace(file, content)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error


def _replace(file: Path, content: bytes) -> None:
    """Write a new file beside `file`, down to the disk, and rename it."""
    draft = file.with_name(f".{file.name[:40]}.{secrets.token_hex(6)}.tmp")
    try:
        with draft.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if file.exists():
            draft.chmod(stat.S_IMODE(file.stat().st_mode))
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _checked_ending(file: Path) -> str:
    """The ending of a file that exists and is said to be a table."""
    if file.is_dir():
        raise FileError(f"{file} is a folder, expected a file")
    if not file.exists():
        raise FileError(f"there is no file {file}")
    ending = next((ending for ending in _ENDINGS if file.name.lower().endswith(ending)), None)
    if ending is None:
        raise FileError(f"cannot read {file}: its name must end with one of {', '.join(_ENDINGS)}")
    return ending


def _read_parquet(file: Path) -> pd.DataFrame:
    """A Parquet file as a table; an index that has a name is a column again, as in a text file."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise FileError(f"reading {file} needs pyarrow: pip install 'causalcontext[parquet]'") from error
    try:
        with ParquetFile(file) as content:
            table = content.read()
        _check_header(file, table.column_names)
        frame: pd.DataFrame = table.to_pandas()
    except FileError:
        raise
    except (ArrowException, *_DAMAGE) as error:
        raise FileError(f"{file} is not a Parquet file: {_first_line(error)}") from error
    return frame.reset_index() if any(name is not None for name in frame.index.names) else frame


def check_text(file: Path, delimiter: str) -> list[str]:
    """The names in the first row of a text file, if that is one in UTF-8 with a name for every column.

    Raises
    ------
    FileError
        It is in another encoding, is no text, or its columns are divided by something else.
    """
    try:
        with contextlib.closing(_bytes(file)) as content:
            head = content.read(_HEAD)
        if head.startswith(b"PAR1"):
            raise FileError(f"{file} holds a Parquet file; let its name end with {_PARQUET}")
        encoding = wide_encoding(head)
        if encoding is not None:
            raise FileError(f"{file} is text in {encoding}, expected UTF-8; save it in that encoding, or pass "
                            f'pandas.read_csv(path, encoding="{encoding.lower()}", sep=...)')  # fmt: skip
        with contextlib.closing(_rows(file, delimiter)) as rows:
            header = next(rows, [])
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise FileError(f"{file} is not a text file in UTF-8 (byte {byte:#x}); {IN_UTF8}") from error
    except _NOT_TEXT as error:
        raise FileError(f"{file} is not a text file in UTF-8: {_first_line(error)}") from error
    _check_header(file, header, delimiter)
    return header


def wide_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32, by the mark that a text begins with or by the zeros in its first line; None for any other.

    Examples
    --------
    >>> wide_encoding("A,B".encode("utf-16")), wide_encoding("A,B".encode("utf-32-le")), wide_encoding(b"A,B")
    ('UTF-16', 'UTF-32-LE', None)
    """
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    for name, zeros in _ZEROS.items():
        width = len(zeros)
        line = head[: len(head) // width * width][: 8 * width]
        if len(line) >= 2 * width and all((byte == 0) == zeros[k % width] for k, byte in enumerate(line)):
            return name
    return None


def _bytes(file: Path) -> IO[bytes] | gzip.GzipFile:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rb")
    return file.open("rb")


def _read_text(file: Path, delimiter: str) -> pd.DataFrame:
    header = check_text(file, delimiter)
    try:
        frame = _with_words(_parsed(file, delimiter, len(header)), file, delimiter)
        # Rows that are too short end with missing values, so only then is it worth reading the file again.
        if frame.iloc[:, -1].isna().any():
            _check_widths(file, delimiter, len(header))
        return frame
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise FileError(f"{file} is not a text file in UTF-8 (byte {byte:#x}); {IN_UTF8}") from error
    except _NOT_TEXT as error:
        raise FileError(f"{file} is not a text file in UTF-8: {_first_line(error)}") from error


def _parsed(file: Path, delimiter: str, width: int) -> pd.DataFrame:
    import pandas as pd

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(file, sep=delimiter, encoding="utf-8-sig", index_col=False, low_memory=False)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        _check_widths(file, delimiter, width)
        raise FileError(f"{file} is not a table: {_first_line(error)}") from error


def _with_words(frame: pd.DataFrame, file: Path, delimiter: str) -> pd.DataFrame:
    """Columns of text with every word in them: `NA` or `None` is missing among numbers, and a level among words."""
    import pandas as pd

    doubtful = [name for name, column in frame.items() if column.isna().any() and _is_words(column)]
    if not doubtful:
        return frame
    again = pd.read_csv(file, sep=delimiter, encoding="utf-8-sig", index_col=False, usecols=doubtful, dtype=str,
                        keep_default_na=False, na_values=[""])  # fmt: skip
    return frame.assign(**{str(name): again[name] for name in doubtful})


def _is_words(column: pd.Series[Any]) -> bool:
    """Whether all that is there is text; a column where nothing is there may have been text."""
    present = column.dropna()
    return present.empty or all(isinstance(value, str) for value in present)


def words_for_missing(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Levels that may have been meant as missing values, by column of text."""
    import pandas as pd

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
    other = next((mark for mark in ";\t," if mark != delimiter and mark in header[0]), None)
    if len(header) == 1 and other is not None:
        raise FileError(f"{file} has a single column {header[0]!r}; are its columns separated by {other!r}? Save it "
                        f"with {delimiter!r}, or pass pandas.read_csv(path, sep={other!r})")  # fmt: skip
    unnamed = [str(place + 1) for place, name in enumerate(header) if not name.strip()]
    if unnamed:
        raise FileError(f"{file} has no name for column {', '.join(unnamed)} (an index?); name or remove it")
    repeated = [repr(name) for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise FileError(f"{file} has several columns called {' and '.join(repeated)}; rename or remove some")


def _check_widths(file: Path, delimiter: str, width: int) -> None:
    """Return if every row has as many fields as the header."""
    with contextlib.closing(_rows(file, delimiter)) as rows:
        for place, row in enumerate(rows, start=1):
            if len(row) != width:
                raise FileError(f"{file} has {len(row)} fields in row {place}, expected {width} as in the header")


def _rows(file: Path, delimiter: str) -> Generator[list[str], None, None]:
    """The rows of a text file, the header included, blank lines left out."""
    with _opened(file) as stream:
        yield from (row for row in csv.reader(stream, delimiter=delimiter) if row)


def _opened(file: Path) -> IO[str]:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
