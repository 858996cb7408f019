"""`causalcontext stability`: the shares of bootstrap samples in which edges and marks are found
again.

    causalcontext stability soil.csv --context soil --samples 200
    causalcontext stability soil.csv --context soil --csv shares.csv --report page.html
    causalcontext stability "year-*.parquet" --context soil --samples 50

The table is searched once as `discover` does, then `--samples` times on rows that are drawn with
replacement inside every context, with the same options and seed.

A share is one of samples, 0 to 1: of those with an edge, and of those with each mark. The table on
the terminal begins with the most stable edges and leaves out marks that no sample has; `--csv` has
the order of the result, and names that a spreadsheet cannot take for a formula (`harmless`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from causalcontext.cli.inputs import (
    JsonOption,
    ProgressOption,
    ReportOption,
    opened,
    with_options,
)
from causalcontext.cli.pipes import is_stdout, write_json, write_text
from causalcontext.cli.terminal import show_table
from causalcontext.data.files import harmless
from causalcontext.discover import discover
from causalcontext.errors import check_whole
from causalcontext.options import Options
from causalcontext.report.advice import on_the_command_line
from causalcontext.report.html import report_text


@with_options(Options)
def stability(
    samples: Annotated[
        int, typer.Option(metavar="N", help="Bootstrap samples, drawn in every context.")
    ] = 200,
    table_file: Annotated[
        Path | None,
        typer.Option(
            "--csv", metavar="FILE", help="Save the table of shares here; - is standard output."
        ),
    ] = None,
    output: JsonOption = None,
    report: ReportOption = None,
    progress: ProgressOption = True,
    **asked: Any,
) -> None:
    """The shares of bootstrap samples of the table in which each edge and mark is found again."""
    check_whole("samples", samples, 1)
    outputs = {"--csv": table_file, "--json": output, "--report": report}
    shown = progress and sys.stderr.isatty()
    table, read_context, chosen = opened(asked, outputs, shown)
    result = discover(table, read_context, progress=shown, **chosen)
    stability_of_result = result.stability(samples, seed=chosen.get("seed", 0), progress=shown)
    edges = stability_of_result.edges()
    if report is not None:
        write_text(
            report,
            report_text(result, stability=stability_of_result, spoken=on_the_command_line),
        )
    if output is not None:
        write_json(output, edges)
    if table_file is not None:
        named = {name: edges[name].map(harmless) for name in ("x", "y", "context")}
        write_text(
            table_file,
            edges.assign(**named).to_csv(index=False, float_format="%.4g", lineterminator="\n"),
        )
    if any(map(is_stdout, outputs.values())):
        return
    shares = [name for name in edges.columns if name not in ("x", "y", "context", "found")]
    used = [name for name in shares if name == "present" or edges[name].any()]
    rows = [
        [
            str(row["x"]),
            row["found"] or "-",
            str(row["y"]),
            str(row["context"]),
            *(f"{row[name]:.2f}" for name in used),
        ]
        for row in edges.sort_values("present", ascending=False, kind="stable").to_dict("records")
    ]
    show_table(f"{samples} bootstrap samples", ["", "found", "", "context", *used], rows, "edges")
