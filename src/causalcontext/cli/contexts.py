"""`causalcontext contexts`: the columns of a table by which mechanisms change."""

from __future__ import annotations

import shlex
from typing import Any

from causalcontext.cli.inputs import JsonOption, opened, with_options
from causalcontext.cli.pipes import is_stdout, write_json
from causalcontext.cli.terminal import show_page, show_table
from causalcontext.data.columns import number_text
from causalcontext.diagnostics.find_contexts import UNUSED, find_contexts, named_options
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
    found = find_contexts(table, **chosen)
    if output is not None:
        write_json(output, found)
    if is_stdout(output):
        return
    if found.empty:
        show_page("no column was found by which mechanisms change")
        return
    rows = []
    named = []
    for row in found.to_dict("records"):
        cut = (
            ""
            if row["kind"] == "category"
            else f"{number_text(row['cut'])} ({row['low']:.4g} to {row['high']:.4g})"
        )
        told = f"{row['evidence']:.1f}", f"{row['required']:.1f}", listed(row["changed"])
        rows.append([str(row["column"]), cut, *told])
        named.append(
            row["column"]
            if row["kind"] == "category"
            else f"{row['column']} > {number_text(row['cut'])}"
        )
    show_table(
        "contexts", ["column", "cut (95 %)", "evidence", "required", "changed mechanisms"], rows
    )
    same = ", with the same options" if named_options(chosen) else ""
    options = [part for name in named for part in ("--context", name)]
    show_page(
        "next:"
        f" {shlex.join(['causalcontext', 'discover', *map(str, asked['data']), *options])}{same}"
    )
