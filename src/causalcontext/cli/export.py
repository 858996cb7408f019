"""`causalcontext export`: a graph of a saved result in the format of another tool.

    causalcontext export result.json --to gml --only wet --output wet.gml
    causalcontext export result.json --to dot | dot -Tsvg > union.svg

The graph is the union of all contexts, or with `--only` that of one. A graph with marks or names
that the format cannot hold is refused in one sentence, never changed.

`FORMATS` has the exporters that return text; `docs/interop.md` has the others as well, which Python
alone can hand over. A new one is entered there and in `interop/` (CONTRIBUTING.md, "Add an
exporter").
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from causalcontext.cli.inputs import ResultArgument, check_outputs, context_value
from causalcontext.cli.pipes import loaded
from causalcontext.cli.terminal import print_line, say
from causalcontext.data.files import write_whole
from causalcontext.errors import check_choice
from causalcontext.interop import to_dot, to_gml, to_graphml, to_tetrad

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph

FORMATS: dict[str, Callable[[Graph], str]] = {
    "dot": to_dot,
    "gml": to_gml,
    "graphml": to_graphml,
    "tetrad": to_tetrad,
}
"""The formats that are text, by the name that `--to` takes."""
FORMAT_HELP = f"{', '.join(list(FORMATS)[:-1])} or {list(FORMATS)[-1]}."


def export(
    file: ResultArgument,
    to: Annotated[str, typer.Option(metavar="FORMAT", help=FORMAT_HELP)] = "dot",
    only: Annotated[
        str | None, typer.Option(metavar="VALUE", help="The graph of this context, not the union.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file to write, not stdout.")
    ] = None,
) -> None:
    """A graph of a saved result in the format of another tool."""
    check_choice("format", to, FORMATS)
    check_outputs({"--output": output}, inputs=[file])
    result = loaded(file)
    graph = result.union
    if only is not None:
        graph = result.graphs[context_value(result.contexts, only)]
    text = FORMATS[to](graph)
    if output is None:
        print_line(text)
    else:
        write_whole(output, text + "\n")
        say(f"saved to {output}")
