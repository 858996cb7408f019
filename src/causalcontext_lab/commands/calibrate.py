"""`causalcontext calibrate`: size and power of a test on a file, as a table, as JSON, as a
picture.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from causalcontext.cli import inputs
from causalcontext.cli.pipes import is_stdout, write_json
from causalcontext.cli.settings import INTERRUPTED
from causalcontext.cli.terminal import say, show_page, show_table
from causalcontext.drawing.strokes import check_picture_path
from causalcontext.errors import InterruptedSearch
from causalcontext.options import made
from causalcontext_lab.calibration.calibrate import CalibrationOptions
from causalcontext_lab.calibration.calibrate import calibrate as calibrated
from causalcontext_lab.calibration.report import Calibration, shown


@inputs.with_options(CalibrationOptions, searches=False)
def calibrate(
    data: inputs.TableArgument,
    context: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that names the context.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", metavar="COLUMN", help="A column to condition on. Repeatable."),
    ] = None,
    kind: inputs.KindOption = None,
    output: inputs.JsonOption = None,
    picture: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Save a picture here: .png, .svg, .pdf."),
    ] = None,
    progress: inputs.ProgressOption = True,
    **options: Any,
) -> None:
    """How often a test rejects on tables like this one: without a dependence (size), and with one
    (power).
    """
    options |= {"given": given or None, "kinds": inputs.parsed_kinds(kind)}
    check_picture_path(picture)
    inputs.check_outputs({"--json": output, "--plot": picture}, inputs=[data])
    made(CalibrationOptions, options, "calibrate")  # refused before the table is read
    try:
        report = calibrated(
            inputs.read_whole(data), context, progress=progress and sys.stderr.isatty(), **options
        )
    except InterruptedSearch as stop:
        saved = _save(stop.result, output, picture)
        say(
            f"interrupted: what was done so far is in {' and '.join(saved)}"
            if saved
            else "interrupted: nothing is saved; --json FILE keeps what was done so far"
        )
        raise typer.Exit(INTERRUPTED) from stop
    if not is_stdout(output):
        header, *rows = shown(report.table)
        show_table(report.heading(), header, rows)
        show_page(
            "\n".join(["what it says", *(f"  {sentence}" for sentence in report.sentences())])
        )
    for file in _save(report, output, picture):
        say(f"saved to {file}")


def _save(report: Calibration, output: Path | None, picture: Path | None) -> Sequence[str]:
    """The report is in the files that were asked for; returned are their names."""
    if output is not None:
        write_json(output, report.to_dict())
    if picture is not None:
        import matplotlib

        matplotlib.use("Agg")
        report.plot(picture)
    return [str(file) for file in (output, picture) if file is not None and not is_stdout(file)]
