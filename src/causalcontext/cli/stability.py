"""`causalcontext stability`: what is found again in bootstrap samples of a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from causalcontext.cli.inputs import ProgressOption, ReportOption, opened, with_options
from causalcontext.cli.pipes import is_stdout, write_text
from causalcontext.cli.terminal import show_table
from causalcontext.data.files import harmless
from causalcontext.discover import discover
from causalcontext.errors import check_whole
from causalcontext.options import Options
from causalcontext.report.html import write_report


@with_options(Options)
def stability(
    samples: Annotated[
        int, typer.Option(metavar="N", help="Bootstrap samples, drawn in every context.")
    ] = 200,
    output: Annotated[
        Path | None,
        typer.Option(
            "--csv", metavar="FILE", help="Save the table of shares here; - is standard output."
        ),
    ] = None,
    report: ReportOption = None,
    progress: ProgressOption = True,
    **asked: Any,
) -> None:
    """How often each edge and mark is found again in bootstrap samples of the table."""
    check_whole("samples", samples, 1)
    outputs = {"--csv": output, "--report": report}
    shown = progress and sys.stderr.isatty()
    table, read_context, chosen = opened(asked, outputs, shown)
    result = discover(table, read_context, progress=shown, **chosen)
    stable = result.stability(samples, seed=chosen.get("seed", 0), progress=shown)
    found = stable.edges()
    if report is not None:
        write_report(result, report, stability=stable)
    if output is not None:
        named = {name: found[name].map(harmless) for name in ("x", "y", "context")}
        write_text(
            output,
            found.assign(**named).to_csv(index=False, float_format="%.4g", lineterminator="\n"),
        )
    if is_stdout(output):
        return
    shares = [name for name in found.columns if name not in ("x", "y", "context", "found")]
    used = [name for name in shares if name == "present" or found[name].any()]
    rows = [
        [
            str(row["x"]),
            row["found"] or "-",
            str(row["y"]),
            str(row["context"]),
            *(f"{row[name]:.2f}" for name in used),
        ]
        for row in found.sort_values("present", ascending=False, kind="stable").to_dict("records")
    ]
    show_table(f"{samples} bootstrap samples", ["", "found", "", "context", *used], rows, "edges")
