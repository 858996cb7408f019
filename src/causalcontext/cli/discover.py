"""`causalcontext discover`: a file in, graphs on the terminal and in a file.

    causalcontext discover soil.csv --context soil
    causalcontext discover soil.csv --context soil --json result.json --report page.html
    causalcontext discover "year-*.parquet" --context soil --json - | causalcontext explain - X Y

In order: everything that can be refused is refused before a file is read as a whole (`opened`), the
table is searched, files are written, and the terminal shows columns and graphs. With `--json -`
standard output holds the result and nothing else; sentences then go to stderr alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from causalcontext.cli.inputs import (
    OutputOption,
    ProgressOption,
    ReportOption,
    opened,
    with_options,
)
from causalcontext.cli.pipes import is_stdout, save_result, write_text
from causalcontext.cli.settings import INTERRUPTED
from causalcontext.cli.terminal import say, show_page, show_table
from causalcontext.data.columns import Column
from causalcontext.data.frames import nw, pd
from causalcontext.data.scan import Scan
from causalcontext.discover import discover as search
from causalcontext.errors import InterruptedSearch, OptionError, listed
from causalcontext.options import Options
from causalcontext.report.advice import on_the_command_line
from causalcontext.report.html import ask_for_report, report_text
from causalcontext.report.text import summary

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


@with_options(Options)
def discover(
    output: OutputOption = None,
    report: ReportOption = None,
    keep_rows: Annotated[
        bool,
        typer.Option(
            "--keep-rows",
            help="With --json: also keep the rows, so that the file answers everything.",
        ),
    ] = False,
    diagnose: Annotated[
        bool,
        typer.Option(
            "--diagnose",
            help="Also ask how far to trust the result: print it, and keep it in the files.",
        ),
    ] = False,
    progress: ProgressOption = True,
    **asked: Any,
) -> None:
    """One causal graph per value of the context; without --context, one graph for all rows."""
    if keep_rows and output is None:
        raise OptionError("--keep-rows is about the file of --json, which is missing")
    outputs = {"--json": output, "--report": report}
    shown = progress and sys.stderr.isatty()
    table, read_context, chosen = opened(asked, outputs, shown)
    try:
        result = search(table, read_context, progress=shown, **chosen)
    except InterruptedSearch as stop:
        _keep(stop.result, output, report, keep_rows)
        raise typer.Exit(INTERRUPTED) from stop
    if diagnose:
        ask_for_report(result, shown)
    if output is not None:
        _save(result, output, keep_rows)
    if report is not None:
        write_text(report, report_text(result, spoken=on_the_command_line))
    if not is_stdout(output) and not is_stdout(report):
        _show_columns(table, result)
        show_page(summary(result))
        if diagnose:
            show_page(f"diagnosis\n{result.diagnose()}")
    if report is not None and not is_stdout(report):
        say(f"the report is in {report}: open it in a browser")


def _keep(result: ContextGraphs, output: Path | None, report: Path | None, rows: bool) -> None:
    """Save the graphs that an interrupted search decided, where a file was asked for, and say so.

    The page and the file are marked as incomplete. The exit code is that of Ctrl-C, whatever was
    saved.
    """
    if report is not None:
        write_text(report, report_text(result, spoken=on_the_command_line))
    if output is not None:
        _save(result, output, rows)
        say(f'interrupted: what was decided so far is in {output}, with "complete": false')
    elif report is not None:
        say(f"interrupted: what was decided so far is in {report}, which says so")
    else:
        say("interrupted: nothing is saved; --json FILE keeps what was decided so far")


def _save(result: ContextGraphs, output: Path, rows: bool) -> None:
    """Save the result; rows that cannot be kept are no reason to lose it.

    A table that was read in batches has no rows to keep: the file is written without them, and the
    reason is told.
    """
    try:
        save_result(result, output, rows)
    except OptionError as reason:
        save_result(result, output)
        say(f"{output} has no rows: {reason}")


def _show_columns(table: pd.DataFrame | Scan, result: ContextGraphs) -> None:
    """Print a table of the columns: role, kind, dtype, and the names of all that are alike in
    these.

    The roles are context, system, left out of the search, and the columns that order rows or name
    units.
    """
    alike: dict[tuple[str, str, str], list[str]] = {}
    names = result.names
    alone = () if result.thin is None else result.thin.untested
    roles = {left.column: "left out" for left in result.left_out} | {
        name: "context" for name, _ in alone
    }
    result = result.searched
    roles |= {result.names[position]: "context" for position in result.cells.positions}
    kinds = dict.fromkeys(roles, "") | dict.fromkeys((name for name, _ in alone), "categorical")
    kinds |= dict(zip(result.names, result.data.kinds, strict=True))
    names = (
        table.data.names if isinstance(table, Scan) else tuple(str(name) for name in table.columns)
    )
    for name, dtype in zip(names, _dtypes(table), strict=True):
        role = roles.get(name, "system" if name in kinds else "time or unit")
        alike.setdefault((role, kinds.get(name, "order of rows"), dtype), []).append(name)
    rows = [
        [*description, str(len(names)), listed(names)]
        for description, names in sorted(alike.items())
    ]
    show_table("columns", ["role", "kind", "dtype", "number", "names"], rows)


def _dtypes(table: pd.DataFrame | Scan) -> Sequence[str]:
    """The dtype of every column, in the order of the table; a scan knows those of its files."""
    if isinstance(table, Scan):
        return table.data.dtypes
    columns = nw.from_native(table, eager_only=True).iter_columns()
    return [Column(series.name, series.dtype, series).dtype_name for series in columns]
