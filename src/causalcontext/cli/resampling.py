"""`causalcontext stability`: what is found again in bootstrap samples of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from causalcontext.cli.choosing import ColumnChoice
from causalcontext.cli.opening import opened
from causalcontext.cli.terminal import show_table
from causalcontext.data.files import check_writable, write_whole
from causalcontext.data.scan import Scan
from causalcontext.diagnostics.stability import check_before_search
from causalcontext.discover import discover
from causalcontext.errors import check_whole
from causalcontext.knowledge import Knowledge
from causalcontext.options import Options, made


def stability_file(
    paths: Sequence[Path], choice: ColumnChoice, knowledge: Path | None, samples: int, output: Path | None,
    report: Path | None, **options: Any,
) -> None:  # fmt: skip
    """The shares of samples with each edge and mark are on the terminal, and in `output` and `report` if asked for."""
    check_whole("samples", samples, 1)
    for file in (output, report):
        if file is not None:
            check_writable(file)
    options["knowledge"] = None if knowledge is None else Knowledge.from_toml(knowledge)
    asked = made(Options, {name: value for name, value in options.items() if name != "progress"}, "discover")
    table, context = opened(paths, choice, outputs=[output, report], **options)
    if isinstance(table, Scan):
        check_before_search(table, asked)
    result = discover(table, context, **options)
    stable = result.stability(samples, seed=options.get("seed", 0), progress=options.get("progress", False))
    found = stable.edges()
    if report is not None:
        result.report(report, stability=stable)
    if output is not None:
        write_whole(output, found.to_csv(index=False, float_format="%.4g", lineterminator="\n"))
    shares = [name for name in found.columns if name not in ("x", "y", "context", "found")]
    used = [name for name in shares if name == "present" or found[name].any()]
    rows = [
        [str(row["x"]), row["found"] or "-", str(row["y"]), str(row["context"]), *(f"{row[name]:.2f}" for name in used)]
        for row in found.sort_values("present", ascending=False, kind="stable").to_dict("records")
    ]
    show_table(f"{samples} bootstrap samples", ["", "found", "", "context", *used], rows, "edges")
