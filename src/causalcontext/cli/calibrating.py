"""`causalcontext calibrate`: size and power of a test on a file, as a table, as JSON, as a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from causalcontext.cli.opening import read_whole
from causalcontext.cli.showing import check_other
from causalcontext.cli.terminal import INTERRUPTED, say, show_page, show_table
from causalcontext.data.files import check_writable, write_whole
from causalcontext.diagnostics.calibration.calibrate import calibrate
from causalcontext.diagnostics.calibration.options import CalibrationOptions
from causalcontext.diagnostics.calibration.report import Calibration, shown
from causalcontext.drawing.strokes import check_picture_path
from causalcontext.errors import FileError, InterruptedSearch
from causalcontext.options import made


def calibrate_file(path: Path, context: str | None, output: Path | None, picture: Path | None, **options: Any) -> None:
    """The calibration is on the terminal, and in the files that were asked for.

    Outputs and options are checked before the table is read. After Ctrl-C the files hold what was done so far.

    Parameters
    ----------
    path : Path
        The table.
    context : str or None
    output, picture : Path or None
        The JSON file and the picture to write.
    options
        Arguments of `calibrate`.
    """
    _check_outputs(path, output, picture)
    made(CalibrationOptions, {name: value for name, value in options.items() if name != "progress"}, "calibrate")
    try:
        report = calibrate(read_whole(path), context, **options)
    except InterruptedSearch as stop:
        saved = _save(stop.result, output, picture)
        say(f"interrupted: what was done so far is in {' and '.join(saved)}" if saved
            else "interrupted: nothing is saved; --json FILE keeps what was done so far")  # fmt: skip
        raise typer.Exit(INTERRUPTED) from stop
    header, *rows = shown(report.table)
    show_table(report.heading(), header, rows)
    show_page("\n".join(["what it says", *(f"  {sentence}" for sentence in report.sentences())]))
    for file in _save(report, output, picture):
        say(f"saved to {file}")


def _check_outputs(path: Path, output: Path | None, picture: Path | None) -> None:
    """Return if the files that are asked for can be written, and none of them is the table."""
    if output is not None:
        check_writable(output)
        check_other(path, output)
    if picture is not None:
        check_picture_path(picture)
        check_other(path, picture)
    if output is not None and picture is not None and output.resolve() == picture.resolve():
        raise FileError(f"cannot write {picture}: it is asked for twice, as --json and as --plot")


def _save(report: Calibration, output: Path | None, picture: Path | None) -> Sequence[str]:
    """The report is in the files that were asked for; returned are their names."""
    if output is not None:
        write_whole(output, json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if picture is not None:
        import matplotlib

        matplotlib.use("Agg")
        report.plot(picture)
    return [str(file) for file in (output, picture) if file is not None]
