"""The command line of simulation studies: `causalcontext study paper` and `causalcontext study run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from causalcontext.cli.terminal import one_sentence

study_app = typer.Typer(help="Simulation studies: the paper's, or one of your own.", no_args_is_help=True)

Folder = Annotated[
    Path, typer.Option("--out", metavar="FOLDER", help="Records, tables, figures; a study resumes there.")
]
Repeats = Annotated[int | None, typer.Option(metavar="N", help="Models per setting; the paper has 100.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Processes; -1 for all cores.")]
Progress = Annotated[bool, typer.Option(help="A progress bar, on terminals only.")]


@study_app.command()
def paper(
    out: Folder = Path("study"),
    as_published: Annotated[
        bool, typer.Option("--as-published", help="The generator, tests and metrics behind the published figures.")
    ] = False,
    compare: Annotated[Path | None, typer.Option(metavar="CSV", help="The published figures, to compare with.")] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="FCI-JCI0 and CD-NOD too; needs the extra 'compare'.")
    ] = False,
    nonparametric: Annotated[
        bool, typer.Option("--nonparametric", help="The panel with the nonparametric test too; takes longer.")
    ] = False,
    only: Annotated[list[str] | None, typer.Option(metavar="DESIGN", help="Some designs only. Repeatable.")] = None,
    repeats: Repeats = None,
    jobs: Jobs = -1,
    progress: Progress = True,
) -> None:
    """Every configuration of the paper, one table, one figure per figure of the paper, and a comparison."""
    with one_sentence():
        from causalcontext.cli.studying import study_paper

        study_paper(out, as_published=as_published, baselines=baselines, nonparametric=nonparametric, only=only or (),
                    repeats=repeats, published=compare, n_jobs=jobs,
                    progress=progress and sys.stderr.isatty())  # fmt: skip


@study_app.command()
def run(
    design: Annotated[Path, typer.Argument(metavar="DESIGN", help="A TOML file.")],
    out: Folder = Path("study"),
    repeats: Repeats = None,
    jobs: Jobs = -1,
    progress: Progress = True,
) -> None:
    """A study of your own, from a TOML file."""
    with one_sentence():
        from causalcontext.cli.studying import study_file

        study_file(design, out, repeats, jobs, progress and sys.stderr.isatty())
