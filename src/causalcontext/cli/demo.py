"""The commands that need no table: `demo`, an example; `simulate`, a table with known graphs; `warmup`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from causalcontext.cli.inputs import OutputOption, ReportOption
from causalcontext.cli.terminal import say, show_page
from causalcontext.data.files import check_writable, write_whole
from causalcontext.discover import discover
from causalcontext.errors import FileError, OptionError
from causalcontext.graphs.graph import LabeledUnion
from causalcontext.methods.ahead import compile_ahead, is_warm, warm_up
from causalcontext.progress import duration
from causalcontext.report.text import summary
from causalcontext.simulate.examples import soil_moisture
from causalcontext.simulate.linear import random_model

STORY = """Daily weather over land, simulated: rain and radiation determine whether the soil is dry or wet, and the
state of the soil determines where the rain goes. The context is an effect of the system."""


def demo(output: OutputOption = None, report: ReportOption = None) -> None:
    """The main job on an example that ships with the library: soil that is dry or wet."""
    for file in (output, report):
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            check_writable(file)
    compile_ahead(("orders", "scores", "levels"))
    result = discover(soil_moisture(2000, seed=1), context="soil")
    masked = discover(soil_moisture(2000, seed=1), context="soil", alpha=0.01, method="pc-m")
    show_page(f"{STORY}\n\n{summary(result)}\n\nWhy are rain and runoff linked on wet soil only?\n"
              f"{result.explain('precipitation', 'runoff')}\n\nWhat would each context by itself (pc-m) claim?\n"
              f"{masked.labeled_union}")  # fmt: skip
    if output is not None:
        result.save(output)
        show_page(f"\nsaved to {output}")
    if report is not None:
        result.report(report)
        show_page(f"\nthe report is in {report}: open it in a browser")


def simulate(
    output: Annotated[Path, typer.Argument(metavar="TABLE", help="A .csv file to write.")],
    rows: Annotated[int, typer.Option(metavar="N", help="Rows of the table.")] = 1000,
    nodes: Annotated[int, typer.Option(metavar="N", help="Variables, the context R included.")] = 8,
    density: Annotated[float, typer.Option(metavar="NUMBER", help="Share of the possible links.")] = 0.4,
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
    model = random_model(nodes=nodes, density=density, contexts=contexts, changes=changes, seed=seed)
    write_whole(output, model.sample(rows, seed).to_csv(index=False))
    truth = LabeledUnion({value: model.context_graph(value) for value in range(contexts)})
    show_page(f"true links, [...] for a link in these contexts only\n{truth}")
    say(f"saved to {output}")


def warmup() -> None:
    """Compile everything for this machine ahead, so that no search has to."""
    done, begin = is_warm(), time.perf_counter()
    folder = warm_up()
    kept = f"kept in {folder}" if folder is not None else "not kept, since no folder can be written"
    took = "everything is compiled already" if done else f"compiled in {duration(time.perf_counter() - begin)}"
    show_page(f"{took}, {kept}")
