"""`causalcontext example`: a table that ships with the library, on standard output.

    causalcontext example                  the list, with a sentence on each table
    causalcontext example soil > soil.csv  one of them
    causalcontext example soil | causalcontext check - --context soil

The text of the file is written as it is, without a page around it: it is read by other programs.
`examples/tables.py` has the tables and where they come from.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from causalcontext.cli.terminal import show_page
from causalcontext.examples import TABLES, path


def example(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="soil or wages; without a name, a list.")
    ] = None,
) -> None:
    """A table to try things on, as CSV on standard output: causalcontext example soil >
    soil.csv.
    """
    if name is None:
        lines = [f"  {known}: {words}" for known, words in TABLES.items()]
        show_page(
            "\n".join(
                [
                    "tables that ship with the library",
                    *lines,
                    "next: causalcontext example soil > soil.csv",
                ]
            )
        )
        return
    sys.stdout.write(path(name).read_text(encoding="utf-8"))
