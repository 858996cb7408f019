"""`causalcontext demo`: the main job on an example that ships with the library.

    causalcontext demo
    causalcontext demo --report demo.html --json demo.json

It searches 2,000 rows of simulated weather twice: by the default method, and by masking (pc-m), so
that a reader sees what pooling adds. Folders of the files are made where they are missing, since a
first command should not fail for that.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from causalcontext.cli.inputs import OutputOption, ReportOption
from causalcontext.cli.pipes import is_stdout, save_result, write_text
from causalcontext.cli.terminal import say, show_page
from causalcontext.data.files import check_writable
from causalcontext.discover import discover
from causalcontext.examples import soil_moisture
from causalcontext.report.advice import on_the_command_line
from causalcontext.report.html import report_text
from causalcontext.report.text import summary

STORY = (
    "Daily weather over land, simulated: rain and radiation determine whether the soil is dry or "
    "wet, and the\nstate of the soil determines where the rain goes. The context is an effect of "
    "the system."
)


def demo(
    output: OutputOption = None,
    report: ReportOption = None,
    next_steps: Annotated[
        bool, typer.Option("--next/--no-next", help="Print what to do next.")
    ] = True,
) -> None:
    """The main job on an example that ships with the library: soil that is dry or wet."""
    for file in (output, report):
        if file is not None and not is_stdout(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            check_writable(file)
    result = discover(soil_moisture(2000, seed=1), context="soil")
    masked = discover(soil_moisture(2000, seed=1), context="soil", alpha=0.01, method="pc-m")
    if output is not None:
        save_result(result, output)
    if report is not None:
        write_text(report, report_text(result, spoken=on_the_command_line))
    piped = is_stdout(output) or is_stdout(report)
    if not piped:
        show_page(
            f"{STORY}\n\n{summary(result)}\n\nWhy are rain and runoff linked on wet soil"
            f" only?\n{result.explain('precipitation', 'runoff')}\n\nWhat would each context by"
            f" itself (pc-m) claim?\n{masked.labeled_union}"
        )
    if output is not None and not is_stdout(output):
        say(f"the result is in {output}")
    if report is not None and not is_stdout(report):
        say(f"the report is in {report}: open it in a browser")
    if next_steps and not piped:
        show_page(next_words(output, report))


def next_words(output: Path | None, report: Path | None) -> str:
    """The steps to take after the example, line by line, as they are typed where it was run.

    A step is a command and, indented below it, its reason. The first one activates the environment,
    if the library runs in one; those about files are left out where no file was asked for.
    """
    folder = Path(sys.executable).parent
    windows = os.name == "nt"
    activate = (
        str(folder / "activate")
        if windows
        else f"source {shlex.quote(os.path.relpath(folder / 'activate'))}"
    )
    steps = []
    if sys.prefix != sys.base_prefix:
        steps.append((activate, "so that causalcontext and python are those of this environment"))
    if report is not None:
        steps.append(
            (
                f"open {report} in a browser",
                "switch contexts, click an edge, or two variables without one",
            )
        )
    if output is not None and not is_stdout(output):
        asked = f"causalcontext explain {output} precipitation radiation"
        steps.append((asked, "why two variables are linked or not"))
    steps += [
        ("causalcontext example soil > soil.csv", "this table as a CSV file"),
        (
            "causalcontext discover soil.csv --context soil --report report.html",
            "the same with a CSV file: yours, and its column that names the context",
        ),
    ]
    return "\n".join(["\nnext", *(f"  {command}\n      {why}" for command, why in steps)])
