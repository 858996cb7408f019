"""`causalcontext app`: the app in the browser. (`cli/app.py` is the command line as a whole.)"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from causalcontext.cli.terminal import say
from causalcontext.errors import OptionError, install


def app_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="A .csv, .tsv (both also .gz) or .parquet file, or a project file.",
        ),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(
            "--project",
            metavar="FILE",
            help="The file to save your work in; by default next to the table.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="N", help="The port to listen on; by default any that is free.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the address in the browser.")] = True,
) -> None:
    """The app in the browser, on this machine alone: look at a table, ask, say what is known, run,
    compare.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise OptionError(f"the app needs starlette and uvicorn: {install('app')}")
    from causalcontext_app.server import serve

    serve(file, project, port, browser, say)
