"""The tables of commands: a file in memory; a large one, a folder, a pattern or several files in batches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causalcontext.cli.choosing import ColumnChoice
from causalcontext.cli.terminal import say
from causalcontext.data.file_streams import files_of, spoken
from causalcontext.data.files import read_file, words_for_missing
from causalcontext.data.open_stream import is_out_of_memory, open_stream
from causalcontext.data.scan import Scan
from causalcontext.data.streams import is_index
from causalcontext.discovery.reading import check_scannable, scanned_table
from causalcontext.errors import FileError
from causalcontext.options import Options, made

if TYPE_CHECKING:
    import pandas as pd


def opened(
    paths: Sequence[Path],
    choice: ColumnChoice,
    outputs: Sequence[Path | None],
    *,
    progress: bool = False,
    **options: Any,
) -> tuple[pd.DataFrame | Scan, Any]:
    """The table of a command and its context; of what is not read into memory, what one pass over it found.

    Everything that can be refused is refused before that pass.

    Parameters
    ----------
    paths : sequence of Path
    choice : Choice
    outputs : sequence of Path or None
        Files that the command is going to write.
    progress : bool
        Whether a bar shows the bytes that were read.
    options
        Arguments of `discover`.
    """
    asked = made(Options, options, "discover")
    check_apart(outputs, paths)
    source: Any = paths[0] if len(paths) == 1 else list(paths)
    if not is_out_of_memory(source):
        table, context = choice.applied(read_file(source))
        say_words_for_missing(table)
        return table, context
    names = [name for name in open_stream(source, choice.context).schema.names if not is_index(name)]
    kept, context = choice.among(names)
    check_scannable(context, asked)
    files = files_of(source)
    check_apart(outputs, files)
    say(f"{spoken(files)} {'is' if len(files) == 1 else 'are'} read once, in batches")
    found = scanned_table(source, context, asked, progress, kept)
    assert found is not None
    return found, context


def read_whole(path: Path) -> pd.DataFrame:
    """The table of a file for a command that needs its rows; a sentence comes before one that may not fit."""
    if path.is_file() and is_out_of_memory(path):
        say(f"{path} has {path.stat().st_size / 2**20:,.0f} MB and is read into memory, where it takes several times "
            "as much; discover and stability read it in batches")  # fmt: skip
    return read_file(path)


def check_apart(outputs: Sequence[Path | None], inputs: Sequence[Path | None]) -> None:
    """Return if no file that is going to be written is one that is read."""
    for file in outputs:
        if file is not None and any(other is not None and _same(other, file) for other in inputs):
            raise FileError(f"cannot write {file}: it is an input of the same command")


def _same(first: Path, second: Path) -> bool:
    return os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second)


def say_words_for_missing(table: pd.DataFrame) -> None:
    """One sentence for every column of text whose levels may have been meant as missing values."""
    for column, words in words_for_missing(table).items():
        say(f"note: {' and '.join(map(repr, words))} in column {column!r} is read as a level like any other; if it "
            "means a missing value, leave the field empty")  # fmt: skip
