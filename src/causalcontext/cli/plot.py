"""`causalcontext plot`: a picture of a saved result.

    causalcontext plot result.json graphs.svg
    causalcontext plot result.json union.pdf --kind union
    causalcontext plot result.json difference.png --kind difference --only dry --only wet

The ending of the file says the format. Paths and kinds are checked before the result is read, and
drawing needs no screen (`Agg`). Results with lags have kinds of their own (`TIME_KINDS`), which are
refused for others by the drawing itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from causalcontext.cli.inputs import ResultArgument, check_apart, context_value
from causalcontext.cli.pipes import loaded
from causalcontext.cli.terminal import say
from causalcontext.drawing.strokes import KINDS, TIME_KINDS, check_picture_path
from causalcontext.errors import check_choice


def plot(
    file: ResultArgument,
    output: Annotated[
        Path, typer.Argument(metavar="PICTURE", help="A .png, .svg or .pdf file to write.")
    ],
    kind: Annotated[
        str, typer.Option(metavar="NAME", help="contexts, union or difference.")
    ] = "contexts",
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="VALUE", help="Contexts to show, or two to compare. Repeatable."
        ),
    ] = None,
) -> None:
    """A picture of a saved result: its contexts side by side, the labeled union, or two contexts
    compared.
    """
    import matplotlib

    check_choice("kind", kind, (*KINDS, *TIME_KINDS))
    check_picture_path(output)
    check_apart([output], [file])
    result = loaded(file)
    matplotlib.use("Agg")
    result.plot(
        kind,
        contexts=[context_value(result.contexts, text) for text in only or ()] or None,
        path=output,
    )
    say(f"saved to {output}")
