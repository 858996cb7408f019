"""`causalcontext changes`: what differs between two contexts of a saved result."""

from __future__ import annotations

from typing import Annotated

import typer

from causalcontext.cli.inputs import ResultArgument, context_text, context_value
from causalcontext.cli.terminal import print_json, show_page, show_table
from causalcontext.results.files import load
from causalcontext.results.levels_and_spreads import KINDS


def changes(
    file: ResultArgument,
    first: Annotated[str, typer.Argument(metavar="A", help="A context value.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
) -> None:
    """What differs between two contexts, with effect sizes, and which differences may be claimed."""
    result = load(file)
    found = result.changes(context_value(result.contexts, first), context_value(result.contexts, second))
    if as_json:
        print_json(found)
        return
    if found.empty:
        show_page(found.attrs.get("reason", f"no edge differs between {first} and {second}"))
        return
    rows = [
        [f"{row.source} {row.mark} {row.target}" + (f": {row.kind!s}" if row.kind in KINDS else ""),
         context_text(row.present), f"{row.effect_present:.2f}", f"{row.effect_absent:.2f}", f"{row.q:.2g}",
         "yes" if row.claimed else f"no{row.reason and ': '}{row.reason}"]
        for row in found.itertuples()
    ]  # fmt: skip
    show_table("changes", ["edge", "found in", "effect there", "elsewhere", "q", "claimed"], rows)
