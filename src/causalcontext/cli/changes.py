"""`causalcontext changes`: what differs between two contexts of a saved result."""

from __future__ import annotations

import math
from typing import Annotated, cast

import typer

from causalcontext.cli.inputs import (
    JsonOption,
    ResultArgument,
    check_outputs,
    context_text,
    context_value,
)
from causalcontext.cli.pipes import is_stdout, loaded, write_json
from causalcontext.cli.terminal import show_page, show_table
from causalcontext.results.levels_and_spreads import KINDS
from causalcontext.results.words import p_text


def changes(
    file: ResultArgument,
    first: Annotated[
        str | None,
        typer.Argument(metavar="A", help="A context value; without it, all are compared."),
    ] = None,
    second: Annotated[str | None, typer.Argument(metavar="B", help="Another one.")] = None,
    output: JsonOption = None,
) -> None:
    """What differs between two contexts, with effect sizes, and which differences may be
    claimed.
    """
    check_outputs({"--json": output}, inputs=[file])
    result = loaded(file)
    asked = (
        None if text is None else context_value(result.contexts, text) for text in (first, second)
    )
    found = result.changes(*asked)
    if output is not None:
        write_json(output, found)
    if is_stdout(output):
        return
    if found.empty:
        show_page(found.attrs["reason"])
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
        for row in found.itertuples()
    ]
    show_table("changes", ["edge", "found in", "effect there", "elsewhere", "q", "claimed"], rows)


def _size(effect: float) -> str:
    """An effect as a cell; empty where the file has no rows to tell it from."""
    return "" if math.isnan(effect) else f"{effect:.2f}"
