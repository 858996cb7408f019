"""`causalcontext changes`: the differences between contexts of a saved result, as a table.

    causalcontext changes result.json            all contexts, two at a time
    causalcontext changes result.json dry        dry with every other one
    causalcontext changes result.json dry wet    these two
    causalcontext changes result.json --json changes.json

The verdicts are those of `result.changes`: a row is claimed, or a candidate with the reason.
`effect there` is the slope in the context that has the edge, `elsewhere` that in the other one; `q`
is adjusted for the number of differences that are compared.

A file that was saved without rows knows the claims that were made before it was saved; cells that
take rows are empty then. Without any difference the command says why there is none.
"""

from __future__ import annotations

import math
import sys
from typing import Annotated, cast

import typer

from causalcontext.cli.inputs import (
    JsonOption,
    ProgressOption,
    ResultArgument,
    check_outputs,
    context_text,
    context_value,
)
from causalcontext.cli.pipes import is_stdout, loaded, write_json
from causalcontext.cli.terminal import show_page, show_table
from causalcontext.results.empty import REASON
from causalcontext.results.levels_and_spreads import KINDS
from causalcontext.results.violations import by_ranks, is_curved
from causalcontext.results.words import p_text


def changes(
    file: ResultArgument,
    first: Annotated[
        str | None,
        typer.Argument(metavar="A", help="A context value; without it, all are compared."),
    ] = None,
    second: Annotated[str | None, typer.Argument(metavar="B", help="Another one.")] = None,
    output: JsonOption = None,
    progress: ProgressOption = True,
) -> None:
    """The differences between two contexts, with effect sizes, and which of them may be claimed."""
    check_outputs({"--json": output}, inputs=[file])
    result = loaded(file)
    compared = (
        None if text is None else context_value(result.contexts, text) for text in (first, second)
    )
    table = result.changes(*compared, progress=progress and sys.stderr.isatty())
    if output is not None:
        write_json(output, table)
    if is_stdout(output):
        return
    if table.empty:
        show_page(table.attrs[REASON])
        return
    rows = [
        [
            f"{row.source} {row.mark} {row.target}"
            + (f": {row.kind!s}" if row.kind in KINDS else ""),
            context_text(row.present),
            _size(cast(float, row.effect_present)),
            _size(cast(float, row.effect_absent)),
            p_text(cast(float, row.q)),
            "yes" if row.claimed else f"no{row.reason and ': '}{row.reason}",
        ]
        for row in table.itertuples()
    ]
    show_table("changes", ["edge", "found in", "effect there", "elsewhere", "q", "claimed"], rows)
    if by_ranks(result) and table["kind"].isin(KINDS).any():
        show_page("levels and spreads are in normal scores, by which the search went")
    if is_curved(result) and table["kind"].isin(("edge", "slope")).any():
        show_page(
            "effects of curves are shares of the whole curve of the context that the edge was"
            " found in"
        )


def _size(effect: float) -> str:
    """The effect in two decimals; empty where the file has no rows to tell it from.

    The unit is that of the effect over that of its cause, as in the table of the search.
    """
    return "" if math.isnan(effect) else f"{effect:.2f}"
