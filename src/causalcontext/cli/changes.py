"""`causalcontext changes`: what differs between two contexts of a saved result."""

from __future__ import annotations

from typing import Annotated

import typer

from causalcontext.cli.inputs import ResultArgument, context_text, context_value
from causalcontext.cli.terminal import print_line, show_page, show_table
from causalcontext.graphs.lag_names import at
from causalcontext.results.files import load


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
        print_line(found.to_json(orient="records", force_ascii=False, indent=2))
        return
    if found.empty:
        show_page(f"no edge differs between {first} and {second}")
        return
    if result.series is not None:
        header = ["link", f"slope in {first}", f"in {second}", "q", "claimed"]
        rows = [
            [f"{at(row['source'], row['lag'])} --> {row['target']}", f"{row['slope_first']:.2f}",
             f"{row['slope_second']:.2f}", f"{row['q']:.2g}", "yes" if row["claimed"] else "no"]
            for row in found.to_dict("records")
        ]  # fmt: skip
    else:
        header = ["edge", "found in", "effect there", "elsewhere", "q", "claimed"]
        rows = [
            [f"{row.source} {row.mark} {row.target}", context_text(row.present), f"{row.effect_present:.2f}",
             f"{row.effect_absent:.2f}", f"{row.q:.2g}", "yes" if row.claimed else f"no{row.doubt and ': '}{row.doubt}"]
            for row in found.itertuples()
        ]  # fmt: skip
    show_table("changes", header, rows)
