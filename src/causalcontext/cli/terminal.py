"""Output on the terminal: pages and tables on stdout, one sentence on stderr when a command ends
early.
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
    """What the library refuses ends the command with one sentence and exit code 2, Ctrl-C with
    130.
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
    """What Python writes to standard output once more when it ends goes nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Page(Console):
    """Standard output, where a reader who has read enough is no error of ours."""

    def on_broken_pipe(self) -> None:
        """End as other programs do."""
        raise BrokenPipeError


def say(sentence: str) -> None:
    """The sentence is on stderr, on one line."""
    sys.stderr.write(spoken(sentence).replace("\n", " ") + "\n")


def print_line(text: str) -> None:
    """The text is on stdout as it is, for other programs to read."""
    Page().out(text, highlight=False)


def show_page(page: str) -> None:
    """Paragraphs are on stdout, the first line of each in bold; lines keep their length in a
    pipe.
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
    """A table is on stdout; its cells are data, so that `[bold]` in one of them shows as itself."""
    table = Table(
        title=Text(printable(title), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for place, name in enumerate(header):
        short = all(len(row[place]) <= SHORT_CELL for row in rows)
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
