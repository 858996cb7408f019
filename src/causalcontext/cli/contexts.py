"""`causalcontext contexts`: columns and cuts by which mechanisms change.

    causalcontext contexts weather.csv
    causalcontext contexts weather.csv --json contexts.json

Every column is asked in turn, with the options of a search by scores (`find_contexts`). A row of
the table has the evidence of a column in nats beside the evidence that is required; the last line
is the command that searches with the columns that were found. Nothing is chosen for the reader: a
column by which mechanisms change need not be the context that they want.
"""

from __future__ import annotations

import shlex
from typing import Any

from causalcontext.cli.inputs import JsonOption, opened, with_options
from causalcontext.cli.pipes import is_stdout, write_json
from causalcontext.cli.terminal import show_page, show_table
from causalcontext.data.columns import number_text
from causalcontext.diagnostics.find_contexts import (
    NONE_FOUND,
    UNUSED,
    find_contexts,
    named_options,
)
from causalcontext.errors import listed
from causalcontext.options import Options


@with_options(Options, without=("context", *UNUSED))
def contexts(
    output: JsonOption = None,
    **asked: Any,
) -> None:
    """Columns and cuts by which mechanisms change, the clearest first, and the command to run
    next.
    """
    table, _, chosen = opened(asked, {"--json": output}, progress=False, once=False)
    suggestions = find_contexts(table, **chosen)
    if output is not None:
        write_json(output, suggestions)
    if is_stdout(output):
        return
    if suggestions.empty:
        show_page(NONE_FOUND)
        return
    rows = []
    columns_and_cuts = []
    for row in suggestions.to_dict("records"):
        cut = (
            ""
            if row["kind"] == "category"
            else f"{number_text(row['cut'])} ({row['low']:.4g} to {row['high']:.4g})"
        )
        evidence = f"{row['evidence']:.1f}"
        required = f"{row['required']:.1f}"
        rows.append([str(row["column"]), cut, evidence, required, listed(row["changed"])])
        columns_and_cuts.append(
            row["column"]
            if row["kind"] == "category"
            else f"{row['column']} > {number_text(row['cut'])}"
        )
    show_table(
        "contexts", ["column", "cut (95 %)", "evidence", "required", "changed mechanisms"], rows
    )
    same = ", with the same options" if named_options(chosen) else ""
    options = [part for name in columns_and_cuts for part in ("--context", name)]
    show_page(
        "next:"
        f" {shlex.join(['causalcontext', 'discover', *map(str, asked['data']), *options])}{same}"
    )
