"""`causalcontext study paper` and `causalcontext study run`: simulation studies, the paper's or one
of your own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from causalcontext.cli.inputs import ProgressOption
from causalcontext.cli.terminal import one_sentence, print_line, show_table
from causalcontext.data.frames import pd
from causalcontext.errors import OptionError, check_choice, install

if TYPE_CHECKING:
    from causalcontext_lab.study.designs import Design

study_app = typer.Typer(
    help="Simulation studies: the paper's, or one of your own.", no_args_is_help=True
)

Folder = Annotated[
    Path,
    typer.Option(
        "--out", metavar="FOLDER", help="Records, tables, figures; a study resumes there."
    ),
]
Repeats = Annotated[
    int | None, typer.Option(metavar="N", help="Models per setting; the paper has 100.")
]
Jobs = Annotated[int, typer.Option(metavar="N", help="Processes; -1 for all cores.")]


@study_app.command()
@one_sentence()
def paper(
    out: Folder = Path("study"),
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published", help="The generator, tests and metrics behind the published figures."
        ),
    ] = False,
    compare: Annotated[
        Path | None, typer.Option(metavar="CSV", help="The published figures, to compare with.")
    ] = None,
    baselines: Annotated[
        bool,
        typer.Option("--baselines", help="FCI-JCI0 and CD-NOD too; needs the extra 'compare'."),
    ] = False,
    nonparametric: Annotated[
        bool,
        typer.Option(
            "--nonparametric", help="The panel with the nonparametric test too; takes longer."
        ),
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="DESIGN", help="Some designs only. Repeatable.")
    ] = None,
    repeats: Repeats = None,
    jobs: Jobs = -1,
    progress: ProgressOption = True,
) -> None:
    """Every configuration of the paper, one table, one figure per figure of the paper, and a
    comparison.
    """
    from causalcontext_lab.study.designs import DEFAULT_TEST, NONPARAMETRIC, paper_designs
    from causalcontext_lab.study.output import run_designs, write_paper_pages
    from causalcontext_lab.study.reports import read_published

    published = None if compare is None else read_published(compare)
    slow = nonparametric or not {NONPARAMETRIC.name, DEFAULT_TEST.name}.isdisjoint(only or ())
    designs = paper_designs(as_published, baselines, slow)
    for name in only or ():
        check_choice("--only", name, designs)
    designs = {
        name: _repeated(design, repeats)
        for name, design in designs.items()
        if not only or name in only
    }
    if not slow and not as_published and not only:
        print_line(
            f"left out: {NONPARAMETRIC.name}, which takes longer than all the rest; --nonparametric"
            " adds it"
        )
    if baselines and find_spec("causallearn") is None:
        raise OptionError(
            f"--baselines needs causal-learn, which is not installed; {install('compare')}"
        )
    tables = run_designs(designs, out, jobs, progress and sys.stderr.isatty(), print_line)
    for line in write_paper_pages(out, tables, as_published, published):
        print_line(line)
    _show(tables)


@study_app.command()
@one_sentence()
def run(
    file: Annotated[Path, typer.Argument(metavar="DESIGN", help="A TOML file.")],
    out: Folder = Path("study"),
    repeats: Repeats = None,
    jobs: Jobs = -1,
    progress: ProgressOption = True,
) -> None:
    """A study of your own, from a TOML file."""
    from causalcontext_lab.study.designs import Design
    from causalcontext_lab.study.output import run_designs
    from causalcontext_lab.study.runner import runs_of

    design = Design.from_toml(file)
    runs_of(design)  # it knows the methods: a wrong one is refused before a folder is made
    designs = {design.name: _repeated(design, repeats)}
    _show(run_designs(designs, out, jobs, progress and sys.stderr.isatty(), print_line))


def _repeated(design: Design, repeats: int | None) -> Design:
    if repeats is not None and repeats < 1:
        raise OptionError(f"--repeats is {repeats}, expected a whole number from 1")
    return design if repeats is None else replace(design, repeats=repeats)


def _show(tables: Mapping[str, pd.DataFrame]) -> None:
    """TPR and FPR of every method at the largest number of rows are on the terminal."""
    from causalcontext_lab.study.runner import SETTING_COLUMNS

    table = tables["summary"]
    wanted = table[
        table["metric"].isin(["tpr", "fpr"]) & (table["samples"] == table["samples"].max())
    ]
    varying = [
        name for name in SETTING_COLUMNS if wanted.groupby("design")[name].nunique().max() > 1
    ]
    keys = ["design", *varying, "knowledge", "graph", "method"]
    rows = []
    for cell, part in wanted.groupby(keys, sort=False):
        by_metric = part.set_index("metric")
        values = [
            f"{by_metric.loc[name, 'value']:.3f} ± {by_metric.loc[name, 'bootstrap_std']:.3f}"
            for name in ("tpr", "fpr")
        ]
        rows.append([*map(str, cell), *values, str(part["runs"].iloc[0])])
    show_table(f"n = {table['samples'].max()}", [*keys, "TPR", "FPR", "runs"], rows)
