"""The command line: `causalcontext discover`, `check`, `explain`, `changes` and the rest, one
module each.

A command is a function with the type hints of typer, whose docstring is its `--help`. The list
below says which there are; commands of the lab and of the app are looked up by name
(`satellites.COMMANDS`), since the core imports neither.

A command ends in one of five ways. What the library refuses ends with one sentence on stderr and
exit code 2, Ctrl-C with exit code 130, a reader of a pipe who has read enough with 141; `check`
ends with 1 where a search would refuse the table; everything else with 0. `one_sentence` does this
for all commands alike, so that none of them catches an error itself.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated

import typer

from causalcontext import satellites
from causalcontext.cli.changes import changes
from causalcontext.cli.check import check
from causalcontext.cli.contexts import contexts
from causalcontext.cli.demo import demo
from causalcontext.cli.discover import discover
from causalcontext.cli.effects import effects
from causalcontext.cli.example import example
from causalcontext.cli.explain import explain
from causalcontext.cli.export import export
from causalcontext.cli.plot import plot
from causalcontext.cli.report import report
from causalcontext.cli.settings import BAD_INPUT, NO_READER
from causalcontext.cli.stability import stability
from causalcontext.cli.terminal import close_stdout, one_sentence, say
from causalcontext.version import __version__

app = typer.Typer(
    help="Causal graphs from data whose mechanisms change with a context.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _help_text(command: Callable[..., None]) -> str:
    """The docstring of a command with every paragraph on one line, which the terminal breaks."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


app.add_typer(satellites.command("study"), name="study")
for command in (
    discover,
    contexts,
    stability,
    check,
    satellites.command("calibrate"),
    demo,
    example,
    explain,
    changes,
    effects,
    satellites.command("simulate"),
    plot,
    report,
    export,
):
    app.command(help=_help_text(command))(one_sentence()(command))
browser = satellites.command("app")
app.command("app", help=_help_text(browser))(one_sentence()(browser))


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """The flags of `causalcontext` itself, before any command."""
    if version:
        typer.echo(f"causalcontext {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and leave with its exit code.

    Errors of a command are sentences by then. Left are those of standard output itself: a full
    disk, or a reader who has gone.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A name that the terminal cannot show is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app(prog_name="causalcontext")
        finally:
            sys.stdout.flush()
    except OSError as error:
        # a full disk; files that the library reads and writes have errors of their own
        close_stdout()
        if isinstance(error, BrokenPipeError):
            raise SystemExit(NO_READER) from None
        say(f"error: cannot write to standard output: {error.strerror}")
        raise SystemExit(BAD_INPUT) from error
