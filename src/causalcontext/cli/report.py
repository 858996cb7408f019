"""`causalcontext report`: a page about a saved result.

    causalcontext report result.json              writes result.html beside it
    causalcontext report result.json page.html --diagnose
    causalcontext discover soil.csv --context soil --json - | causalcontext report - page.html

The page asks nothing of a network and holds all answers that the file can give. Diagnoses that
search again are asked with `--diagnose` alone, since they take longer than reading the file. A
result that comes through a pipe has no name that the page could take.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from causalcontext.cli.inputs import ResultArgument, check_outputs
from causalcontext.cli.pipes import is_pipe, is_stdout, loaded, write_text
from causalcontext.cli.terminal import say
from causalcontext.errors import OptionError
from causalcontext.report.advice import on_the_command_line
from causalcontext.report.html import check_page, report_text


def report(
    file: ResultArgument,
    output: Annotated[
        Path | None,
        typer.Argument(
            metavar="PAGE",
            help="The .html file to write, - for standard output; by default beside the result.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="A title for the page.")] = None,
    diagnose: Annotated[
        bool,
        typer.Option(
            "--diagnose", help="First ask what the file can still tell of how far to trust it."
        ),
    ] = False,
) -> None:
    """An interactive report on a saved result, in one HTML file that needs no network."""
    if output is None and is_pipe(file):
        raise OptionError(
            "the result comes through a pipe, so its page has no name; say which: report -"
            " page.html"
        )
    page = file.with_suffix(".html") if output is None else output
    check_outputs({"PAGE": page}, inputs=[file])
    if not is_stdout(page):
        check_page(page)
    text = report_text(loaded(file), title=title, diagnose=diagnose, spoken=on_the_command_line)
    write_text(page, text)
    if not is_stdout(page):
        say(f"saved to {page}")
