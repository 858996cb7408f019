"""`causalcontext discover`: a file in, graphs on the terminal and in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import typer

from causalcontext.cli.choosing import ColumnChoice
from causalcontext.cli.opening import check_apart, opened
from causalcontext.cli.terminal import INTERRUPTED, say, show_page, show_table
from causalcontext.data.files import check_writable
from causalcontext.data.kinds import Column
from causalcontext.data.scan import Scan
from causalcontext.discover import discover
from causalcontext.errors import FileError, InterruptedSearch, OptionError, listed
from causalcontext.knowledge import Knowledge
from causalcontext.report.text import summary
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.lagged import LaggedGraphs

if TYPE_CHECKING:
    import pandas as pd


def discover_file(
    paths: Sequence[Path], choice: ColumnChoice, knowledge: Path | None, output: Path | None, report: Path | None,
    findings: bool, **options: Any,
) -> None:  # fmt: skip
    """The result is in `output`, if that was asked for, and a summary is on the terminal.

    Outputs are checked before the search. After Ctrl-C the file holds what was decided so far.

    Parameters
    ----------
    paths : sequence of Path
        The table: a file, or what is read in batches, a folder, a pattern or several files.
    choice : Choice
        The context, and which columns.
    knowledge : Path or None
        A TOML file.
    output : Path or None
        The JSON file to write.
    report : Path or None
        The HTML file to write.
    findings : bool
        Whether a diagnosis follows the summary.
    options
        Arguments of `discover`.
    """
    _check_outputs(output, report, inputs=[*paths, knowledge])
    options["knowledge"] = None if knowledge is None else Knowledge.from_toml(knowledge)
    table, context = opened(paths, choice, outputs=[output, report], **options)
    try:
        result = discover(table, context, **options)
    except InterruptedSearch as stop:
        _keep(stop.result, output, report)
        raise typer.Exit(INTERRUPTED) from stop
    if output is not None:
        result.save(output)
    if report is not None:
        result.report(report)
    _show_columns(table, result)
    show_page(summary(result))
    if findings:
        show_page(f"diagnosis\n{result.diagnose()}")
    if report is not None:
        say(f"the report is in {report}: open it in a browser")


def parsed_kinds(declarations: Iterable[str]) -> dict[str, str]:
    """Kinds by column from `column=kind` declarations.

    Examples
    --------
    >>> parsed_kinds(["R=categorical", "a=b=continuous"])
    {'R': 'categorical', 'a=b': 'continuous'}
    """
    kinds = {}
    for declaration in declarations:
        column, equals, kind = declaration.rpartition("=")
        if not equals:
            raise OptionError(f"kind is {declaration!r}, expected column=KIND, such as R=categorical")
        kinds[column] = kind
    return kinds


def _check_outputs(output: Path | None, report: Path | None, inputs: Sequence[Path | None]) -> None:
    """Return if the files that are asked for can be written, and none of them is an input."""
    for file in (output, report):
        if file is not None:
            check_writable(file)
    check_apart((output, report), inputs)
    if output is not None and report is not None and output.resolve() == report.resolve():
        raise FileError(f"cannot write {report}: it is asked for twice, as --json and as --report")


def _keep(result: ContextGraphs, output: Path | None, report: Path | None) -> None:
    """What an interrupted search decided is saved where a file was asked for, and one sentence says so."""
    if report is not None:
        result.report(report)
    if output is None and report is not None:
        say(f"interrupted: what was decided so far is in {report}, which says so")
        return
    if output is None:
        say("interrupted: nothing is saved; --json FILE keeps what was decided so far")
        return
    result.save(output)
    say(f'interrupted: what was decided so far is in {output}, with "complete": false')


def _show_columns(table: pd.DataFrame | Scan, result: ContextGraphs) -> None:
    """What was inferred about the columns, one line for all that are alike."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    named = [result.names[position] for position in result.cells.positions]
    names, kinds = result.names, dict(zip(result.names, result.data.kinds, strict=True))
    if isinstance(result, LaggedGraphs) and not isinstance(table, Scan):
        names = tuple(str(name) for name in table.columns)
    for name, dtype in zip(names, _dtypes(table), strict=False):  # one may be made
        role = "context" if name in named else "system" if name in kinds else "time or unit"
        alike.setdefault((role, kinds.get(name, "order of rows"), dtype), []).append(name)
    rows = [[*what, str(len(names)), listed(names)] for what, names in sorted(alike.items())]
    show_table("columns", ["role", "kind", "dtype", "number", "names"], rows)


def _dtypes(table: pd.DataFrame | Scan) -> Sequence[str]:
    """The dtype of every column."""
    if isinstance(table, Scan):
        return table.data.dtypes
    columns = nw.from_native(table, eager_only=True).iter_columns()
    return [Column(series.name, series.dtype, series).dtype_name for series in columns]
