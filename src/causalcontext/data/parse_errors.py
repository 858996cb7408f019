"""What pyarrow says about a text file, in words of ours: columns by name, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_VALUE = re.compile(
    r"In CSV column #(?P<column>\d+): (?:Row #(?P<row>\d+): )?"
    r"CSV conversion error to (?P<type>\w+).*?: invalid (?:value '(?P<value>.*)'|UTF8 data)"
)
_FIELDS = re.compile(r"Row #(?P<row>\d+): Expected (?P<expected>\d+) columns, got (?P<found>\d+)")
_NUMBERS = {"double": "a number", "int64": "a whole number"}


def about_text(file: Path, line: str, names: Sequence[str] = ()) -> str:
    """One sentence about what could not be read.

    Parameters
    ----------
    file : Path
    line : str
        What pyarrow says.
    names : sequence of str
        The columns of the file, where they are known.

    Examples
    --------
    >>> about_text(Path("a.csv"), "CSV parse error: Row #7: Expected 4 columns, got 2: 1,2")
    'a.csv has 2 fields in row 7, expected 4 as in the header'
    """
    if match := _FIELDS.search(line):
        return (
            f"{file} has {match['found']} fields in row {match['row']}, expected {match['expected']} as in the header"
        )
    match = _VALUE.search(line)
    if match is None or int(match["column"]) >= len(names):
        return f"cannot read {file}: {line}"
    name, row = names[int(match["column"])], f" in row {match['row']}" if match["row"] else ""
    if match["value"] is None:
        return (f"{file} has bytes{row} of column {name!r} that are no text in UTF-8; save it in that encoding, or "
                'pass pandas.read_csv(path, encoding="latin-1", chunksize=100_000), if that is its own')  # fmt: skip
    expected = _NUMBERS.get(match["type"], match["type"])
    advice = "leave the field empty" if match["type"] == "double" else (
        f"pass pandas.read_csv(path, dtype={{{name!r}: str}}, chunksize=100_000) if the column is text"
    )  # fmt: skip
    return (f"{file} has {match['value']!r}{row} of column {name!r}, expected {expected} as in its first rows; correct "
            f"it, or {advice}")  # fmt: skip
