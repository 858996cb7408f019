"""`causalcontext simulate`: a table from a random system whose graphs are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from causalcontext import LabeledUnion
from causalcontext.cli.terminal import say, show_page
from causalcontext.data.files import check_writable, write_whole
from causalcontext.errors import FileError, OptionError
from causalcontext_lab.simulate.linear import random_model


def simulate(
    output: Annotated[Path, typer.Argument(metavar="TABLE", help="A .csv file to write.")],
    rows: Annotated[int, typer.Option(metavar="N", help="Rows of the table.")] = 1000,
    nodes: Annotated[int, typer.Option(metavar="N", help="Variables, the context R included.")] = 8,
    density: Annotated[
        float, typer.Option(metavar="NUMBER", help="Share of the possible links.")
    ] = 0.4,
    contexts: Annotated[int, typer.Option(metavar="K", help="Values of the context.")] = 2,
    changes: Annotated[int, typer.Option(metavar="N", help="Links that each context loses.")] = 1,
    seed: Annotated[int, typer.Option(metavar="N", help="Same seed, same system and table.")] = 0,
) -> None:
    """A table from a random linear system as in the paper; its true links are printed."""
    if output.suffix != ".csv":
        raise FileError(f"cannot write {output}: its name must end with .csv")
    if rows < 1:
        raise OptionError(f"rows is {rows}, expected a whole number from 1")
    check_writable(output)
    model = random_model(
        nodes=nodes, density=density, contexts=contexts, changes=changes, seed=seed
    )
    write_whole(output, model.sample(rows, seed).to_csv(index=False))
    truth = LabeledUnion({value: model.context_graph(value) for value in range(contexts)})
    show_page(f"true links, [...] for a link in these contexts only\n{truth}")
    say(f"saved to {output}")
