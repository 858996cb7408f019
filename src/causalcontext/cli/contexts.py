"""`causalcontext contexts`: the columns of a table by which mechanisms change."""

from __future__ import annotations

from typing import Annotated

import typer

from causalcontext.cli.inputs import (
    ColumnsOption,
    DropOption,
    KindOption,
    KnowledgeOption,
    TableArgument,
    chosen_columns,
    parsed_kinds,
    read_whole,
)
from causalcontext.cli.terminal import print_json, show_page, show_table
from causalcontext.data.columns import number_text
from causalcontext.diagnostics.find_contexts import find_contexts
from causalcontext.errors import listed
from causalcontext.knowledge import Knowledge


def contexts(
    data: TableArgument,
    columns: ColumnsOption = None,
    drop: DropOption = None,
    knowledge: KnowledgeOption = None,
    kind: KindOption = None,
    lags: Annotated[int | None, typer.Option(metavar="N", help="Rows are a time series: the largest lag.")] = None,
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="With lags: the column that orders rows.")] = None,
    missing: Annotated[str, typer.Option(metavar="MODE", help="Missing values: raise or listwise.")] = "raise",
    as_json: Annotated[bool, typer.Option("--json", help="Print the columns as JSON.")] = False,
) -> None:
    """Columns and cuts by which mechanisms change, the clearest first, and the call to make next."""
    known = None if knowledge is None else Knowledge.from_toml(knowledge)
    table, _ = chosen_columns(read_whole(data), None, columns, drop)
    found = find_contexts(table, knowledge=known, lags=lags, time=time, kinds=parsed_kinds(kind), missing=missing)
    if as_json:
        print_json(found)
        return
    if found.empty:
        show_page("no column was found by which mechanisms change")
        return
    rows = []
    for row in found.to_dict("records"):
        cut = "" if row["kind"] == "category" else f"{number_text(row['cut'])} ({row['low']:.4g} to {row['high']:.4g})"
        told = f"{row['evidence']:.1f}", f"{row['required']:.1f}", listed(row["changed"])
        rows.append([str(row["column"]), cut, *told])
    show_table("contexts", ["column", "cut (95 %)", "evidence", "required", "changed mechanisms"], rows)
    show_page(f"next: {found['call'].iloc[-1]}")
