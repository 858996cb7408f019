"""Standard input and output in place of files: `-`, `/dev/stdin`, `/dev/stdout` and pipes, as other
programs do.

Readers of tables go through a file several times: for the delimiter, the encoding, the kinds. So
what comes through a pipe is copied to a file first (`_spooled`), in a private folder that is
removed when the command ends. Since a pipe has no name, its bytes say what kind of table it is.
"""

from __future__ import annotations

import atexit
import gzip
import json
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

from causalcontext.cli.settings import HEAD_BYTES
from causalcontext.data.files import write_whole
from causalcontext.data.table_files import DELIMITERS, PARQUET
from causalcontext.errors import FileError
from causalcontext.results.content import result_text
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.files import load

STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_stdout(path: Path | None) -> bool:
    """True if a file to write is standard output, where nothing but its content may then be
    written.
    """
    return path is not None and str(path) in STDOUT


def write_text(path: Path, text: str) -> None:
    """Write the text to the file, as a whole or not at all, or to standard output."""
    if not is_stdout(path):
        write_whole(path, text)
        return
    sys.stdout.write(text)
    sys.stdout.flush()


def write_json(path: Path, content: Any) -> None:
    """Write the content to the file as JSON.

    The content is made of plain lists, mappings, numbers and text; a table becomes a list with one
    object a row.
    """
    if hasattr(content, "to_json"):
        content = json.loads(content.to_json(orient="records", force_ascii=False))
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def save_result(result: ContextGraphs, path: Path, rows: bool = False) -> None:
    """Write the result to the file, or to standard output; with `rows`, together with its table."""
    write_text(path, result_text(result, rows))


def loaded(path: Path) -> ContextGraphs:
    """The result in a file, or in what comes through a pipe."""
    return load(_spooled(path, "result.json") if is_pipe(path) else path)


def table_file(path: Path) -> Path:
    """The path of a table that can be read several times.

    A file is itself; what comes through a pipe is copied to a file with the ending that its path,
    or its first bytes, call for. The copy is there for the time of the command.
    """
    if not is_pipe(path):
        return path
    content = _spooled(path, "table")
    known = next(
        (ending for ending in (*DELIMITERS, PARQUET) if path.name.lower().endswith(ending)), None
    )
    return content.rename(
        content.with_name(f"standard-input{known or _ending_of_content(content)}")
    )


def is_pipe(path: Path) -> bool:
    """True if a path means standard input, a pipe or a device rather than a file or a folder."""
    if str(path) in STDIN:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _spooled(path: Path, name: str) -> Path:
    """A file with all that comes through a pipe; it is deleted when the command ends.

    An empty stream is refused here, since no reader could say what is missing.
    """
    folder = tempfile.mkdtemp(prefix="causalcontext-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    content = Path(folder, name)
    try:
        with content.open("wb") as copy:
            if str(path) in STDIN:
                shutil.copyfileobj(sys.stdin.buffer, copy)
            else:
                with path.open("rb") as pipe:
                    shutil.copyfileobj(pipe, copy)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error
    if not content.stat().st_size:
        raise FileError(
            f"nothing came through {'standard input' if str(path) in STDIN else path}, expected a"
            " table or a result"
        )
    return content


def _ending_of_content(file: Path) -> str:
    """The ending that a table would have as a file: Parquet, or text with commas or tabs, gzipped
    or not.

    Parquet begins with `PAR1`, gzip with `1f 8b`. The first line tells tabs from commas; one with
    neither or both is a `.csv`, whose reader finds its delimiter by itself.
    """
    with file.open("rb") as content:
        head = content.read(HEAD_BYTES)
    if head.startswith(b"PAR1"):
        return PARQUET
    packed = head.startswith(b"\x1f\x8b")
    if packed:
        try:
            with gzip.open(file) as content_of_archive:
                head = content_of_archive.read(HEAD_BYTES)
        except (OSError, EOFError):
            return ".csv.gz"
    first_line = head.splitlines()[0] if head.splitlines() else b""
    ending = ".tsv" if b"\t" in first_line and b"," not in first_line else ".csv"
    return f"{ending}.gz" if packed else ending
