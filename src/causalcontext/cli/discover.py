"""The commands that search a table: `discover`, `stability` in bootstrap samples, `contexts` that change mechanisms."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import narwhals as nw
import typer

from causalcontext.cli.inputs import OutputOption, ProgressOption, ReportOption, opened, with_options
from causalcontext.cli.terminal import INTERRUPTED, print_json, say, show_page, show_table
from causalcontext.data.columns import Column, number_text
from causalcontext.data.files import harmless, write_whole
from causalcontext.data.frames import pd
from causalcontext.data.scan import Scan
from causalcontext.diagnostics.find_contexts import UNUSED, find_contexts, named_options
from causalcontext.discover import discover as search
from causalcontext.errors import InterruptedSearch, OptionError, check_whole, listed
from causalcontext.options import Options
from causalcontext.report.html import write_report
from causalcontext.report.text import summary

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


@with_options(Options)
def discover(
    output: OutputOption = None,
    report: ReportOption = None,
    keep_rows: Annotated[
        bool, typer.Option("--keep-rows", help="With --json: also keep the rows, so that the file answers everything.")
    ] = False,
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help="Also print the diagnosis: how far to trust the result.")
    ] = False,
    progress: ProgressOption = True,
    **asked: Any,
) -> None:
    """One causal graph per value of the context; without --context, one graph for all rows."""
    if keep_rows and output is None:
        raise OptionError("--keep-rows is about the file of --json, which is missing")
    outputs, shown = {"--json": output, "--report": report}, progress and sys.stderr.isatty()
    table, read_context, chosen = opened(asked, outputs, shown)
    stopped = None
    try:
        result = search(table, read_context, progress=shown, **chosen)
    except InterruptedSearch as stop:
        result, stopped = stop.result, stop
    if output is not None:
        try:
            result.save(output, rows=keep_rows)
        except OptionError as reason:  # rows that cannot be kept are no reason to lose the result
            result.save(output)
            say(f"{output} has no rows: {reason}")
    if report is not None:
        write_report(result, report)
    if stopped is not None:
        kept = f"what was decided so far is in {report}, which says so"
        if output is not None:
            kept = f'what was decided so far is in {output}, with "complete": false'
        elif report is None:
            kept = "nothing is saved; --json FILE keeps what was decided so far"
        say(f"interrupted: {kept}")
        raise typer.Exit(INTERRUPTED) from stopped
    _show_columns(table, result)
    show_page(summary(result))
    if diagnose:
        show_page(f"diagnosis\n{result.diagnose()}")
    if report is not None:
        say(f"the report is in {report}: open it in a browser")


def _show_columns(table: pd.DataFrame | Scan, result: ContextGraphs) -> None:
    """What was inferred about the columns, one line for all that are alike."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    named = [result.names[position] for position in result.cells.positions]
    names, kinds = result.names, dict(zip(result.names, result.data.kinds, strict=True))
    if result.series is not None and not isinstance(table, Scan):
        names = tuple(str(name) for name in table.columns)
    if isinstance(table, Scan):
        dtypes = list(table.data.dtypes)
    else:
        columns = nw.from_native(table, eager_only=True).iter_columns()
        dtypes = [Column(series.name, series.dtype, series).dtype_name for series in columns]
    for name, dtype in zip(names, dtypes, strict=False):  # one may be made
        role = "context" if name in named else "system" if name in kinds else "time or unit"
        alike.setdefault((role, kinds.get(name, "order of rows"), dtype), []).append(name)
    rows = [[*what, str(len(names)), listed(names)] for what, names in sorted(alike.items())]
    show_table("columns", ["role", "kind", "dtype", "number", "names"], rows)


@with_options(Options)
def stability(
    samples: Annotated[int, typer.Option(metavar="N", help="Bootstrap samples, drawn in every context.")] = 200,
    output: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Save the table of shares here.")] = None,
    report: ReportOption = None,
    progress: ProgressOption = True,
    **asked: Any,
) -> None:
    """How often each edge and mark is found again in bootstrap samples of the table."""
    check_whole("samples", samples, 1)
    outputs, shown = {"--csv": output, "--report": report}, progress and sys.stderr.isatty()
    table, read_context, chosen = opened(asked, outputs, shown)
    result = search(table, read_context, progress=shown, **chosen)
    stable = result.stability(samples, seed=chosen.get("seed", 0), progress=shown)
    found = stable.edges()
    if report is not None:
        write_report(result, report, stability=stable)
    if output is not None:
        named = {name: found[name].map(harmless) for name in ("x", "y", "context")}
        write_whole(output, found.assign(**named).to_csv(index=False, float_format="%.4g", lineterminator="\n"))
    shares = [name for name in found.columns if name not in ("x", "y", "context", "found")]
    used = [name for name in shares if name == "present" or found[name].any()]
    rows = [
        [str(row["x"]), row["found"] or "-", str(row["y"]), str(row["context"]), *(f"{row[name]:.2f}" for name in used)]
        for row in found.sort_values("present", ascending=False, kind="stable").to_dict("records")
    ]
    show_table(f"{samples} bootstrap samples", ["", "found", "", "context", *used], rows, "edges")


@with_options(Options, without=("context", *UNUSED))
def contexts(
    as_json: Annotated[bool, typer.Option("--json", help="Print the columns as JSON.")] = False,
    **asked: Any,
) -> None:
    """Columns and cuts by which mechanisms change, the clearest first, and the command to run next."""
    table, _, chosen = opened(asked, {}, progress=False)
    found = find_contexts(table, **chosen)
    if as_json:
        print_json(found)
        return
    if found.empty:
        show_page("no column was found by which mechanisms change")
        return
    rows, named = [], []
    for row in found.to_dict("records"):
        cut = "" if row["kind"] == "category" else f"{number_text(row['cut'])} ({row['low']:.4g} to {row['high']:.4g})"
        told = f"{row['evidence']:.1f}", f"{row['required']:.1f}", listed(row["changed"])
        rows.append([str(row["column"]), cut, *told])
        named.append(row["column"] if row["kind"] == "category" else f"{row['column']} > {number_text(row['cut'])}")
    show_table("contexts", ["column", "cut (95 %)", "evidence", "required", "changed mechanisms"], rows)
    same = ", with the same options" if named_options(chosen) else ""
    options = [part for name in named for part in ("--context", name)]
    show_page(f"next: {shlex.join(['causalcontext', 'discover', *map(str, asked['data']), *options])}{same}")
