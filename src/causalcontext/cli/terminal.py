"""Output on the terminal: pages and tables on stdout, one sentence on stderr when a command ends
early.

Three rules hold for all commands. Standard output holds answers and nothing else, so that it can be
piped; notes and errors go to stderr, one line each. Text of a table (names, levels) is data: its
control characters are spelled out, and its brackets are no markup. A sentence of the library speaks
of Python's options, and `spoken` turns them into those of the command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from causalcontext.cli.settings import (
    BAD_INPUT,
    INTERRUPTED,
    MOST_TERMINAL_ROWS,
    NO_READER,
    SHORT_CELL,
)
from causalcontext.errors import CausalContextError
from causalcontext.report.advice import on_the_command_line


@contextmanager
def one_sentence() -> Iterator[None]:
    """End the command as its error says: a refusal with one sentence and exit code 2, Ctrl-C with
    130.

    It is a context manager around every command (`app.py`). Errors that are no `CausalContextError`
    are bugs, and pass with their traceback.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        say("interrupted")
        raise typer.Exit(INTERRUPTED) from error
    except BrokenPipeError as error:
        close_stdout()
        raise typer.Exit(NO_READER) from error
    except CausalContextError as error:
        say(f"error: {error}")
        raise typer.Exit(BAD_INPUT) from error


def close_stdout() -> None:
    """Send to nowhere what Python writes to standard output once more when it ends.

    It flushes the stream at exit, which would fail again where the reader has gone.
    """
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Page(Console):
    """Standard output, where a reader who has read enough is no error of ours."""

    def on_broken_pipe(self) -> None:
        """End as other programs do."""
        raise BrokenPipeError


def say(sentence: str) -> None:
    """Write the sentence to stderr, on one line."""
    sys.stderr.write(spoken(sentence).replace("\n", " ") + "\n")


def print_line(text: str) -> None:
    """Write the text to stdout as it is, tabs included, for other programs to read."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def show_page(page: str) -> None:
    """Write paragraphs to stdout, the first line of each in bold; lines keep their length in a
    pipe.

    Paragraphs are separated by an empty line, as the library's own texts are.
    """
    text = Text()
    for number, paragraph in enumerate(page.split("\n\n")):
        heading, _, rest = spoken(paragraph).partition("\n")
        text.append("\n\n" if number else "")
        text.append(heading, style="bold")
        text.append(f"\n{rest}" if rest else "")
    Page().print(text, soft_wrap=True)


def show_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], what: str = "rows"
) -> None:
    """Write a table to stdout; its cells are data, so that `[bold]` in one of them shows as itself.

    Every row has as many cells as the header. Columns of short cells are never broken into lines
    (`SHORT_CELL`), and rows beyond `MOST_TERMINAL_ROWS` are counted in a last line, in words by
    `what`.
    """
    table = Table(
        title=Text(printable(title), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for position, name in enumerate(header):
        short = all(len(row[position]) <= SHORT_CELL for row in rows)
        table.add_column(Text(name), overflow="fold", no_wrap=short)
    for row in rows[:MOST_TERMINAL_ROWS]:
        table.add_row(*(Text(spoken(cell)) for cell in row))
    console = Page()
    console.print(table)
    if len(rows) > MOST_TERMINAL_ROWS:
        console.print(Text(f"... and {len(rows) - MOST_TERMINAL_ROWS} more {what}\n"))


def spoken(text: str) -> str:
    """The text as a terminal shows it, with options as the command line takes them."""
    return printable(on_the_command_line(text))


def printable(text: str) -> str:
    """The text with control characters spelled out: a column name must not steer the terminal."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text
    )
