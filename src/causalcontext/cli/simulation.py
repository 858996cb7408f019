"""`causalcontext simulate`: a table from a random system whose graphs are known."""

from __future__ import annotations

from pathlib import Path

from causalcontext.cli.terminal import say, show_page
from causalcontext.data.files import check_writable, write_whole
from causalcontext.errors import FileError, OptionError
from causalcontext.graphs.union import LabeledUnion
from causalcontext.simulate.linear import random_model


def simulate_file(output: Path, rows: int, nodes: int, density: float, contexts: int, changes: int, seed: int) -> None:
    """The table is in `output`, and the true links are on stdout."""
    if output.suffix != ".csv":
        raise FileError(f"cannot write {output}: its name must end with .csv")
    if rows < 1:
        raise OptionError(f"rows is {rows}, expected a whole number from 1")
    check_writable(output)
    model = random_model(nodes=nodes, density=density, contexts=contexts, changes=changes, seed=seed)
    write_whole(output, model.sample(rows, seed).to_csv(index=False))
    truth = LabeledUnion({value: model.context_graph(value) for value in range(contexts)})
    show_page(f"true links, [...] for a link in these contexts only\n{truth}")
    say(f"saved to {output}")
