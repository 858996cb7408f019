"""The command line: `causalcontext discover`, `check`, `explain`, `changes` and the rest.

Options are read here; the other modules of `cli/` do the work. What the library refuses endpoints with one sentence on
stderr and exit code 2, Ctrl-C with exit code 130.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from causalcontext.cli.answering import effects_file
from causalcontext.cli.calibrating import calibrate_file
from causalcontext.cli.checking import check_file
from causalcontext.cli.choosing import ColumnChoice
from causalcontext.cli.demo import show_demo
from causalcontext.cli.discovery import discover_file, parsed_kinds
from causalcontext.cli.keywords import with_options
from causalcontext.cli.resampling import stability_file
from causalcontext.cli.showing import changes_file, explain_file, export_file, plot_file, report_file
from causalcontext.cli.simulation import simulate_file
from causalcontext.cli.study_app import study_app
from causalcontext.cli.terminal import BAD_INPUT, one_sentence, say
from causalcontext.cli.warming import show_warmup
from causalcontext.diagnostics.calibration.options import CalibrationOptions
from causalcontext.options import Options
from causalcontext.version import __version__

app = typer.Typer(
    help="Causal graphs from data whose mechanisms change with a context.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(study_app, name="study")

Table = Annotated[Path, typer.Argument(metavar="DATA", help="A .csv, .tsv (both also .gz) or .parquet file.")]
Tables = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA...",
        help='A .csv, .tsv (both also .gz) or .parquet file; or a folder of them, a pattern such as "year-*.parquet", '
        "several files: these are read once, in batches, and so is a file of more than 256 MB.",
    ),
]
Context = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the context.")]
KindList = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="Overrides the dtype: R=categorical; also continuous, ordered, count. Repeatable.",
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="MODE", help="Missing values: raise, listwise (drop rows) or testwise (drop them test by test)."
    ),
]
ResultFile = Annotated[Path, typer.Argument(metavar="RESULT", help="A file that discover --json has written.")]
Output = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Save the whole result here.")]
Report = Annotated[Path | None, typer.Option(metavar="FILE", help="Write an interactive HTML report here.")]
Progress = Annotated[bool, typer.Option(help="A progress bar, on terminals only.")]
KnowledgeFile = Annotated[Path | None, typer.Option(metavar="FILE", help="What is known about links, as TOML.")]
Diagnose = Annotated[bool, typer.Option("--diagnose", help="Also print what to know before believing the result.")]
Contexts = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        metavar="COLUMN",
        help='The column that names the context (repeatable: combinations), "VPD > 0.6", "VPD bins 0.3,0.6" or '
        '"VPD bins 4".',
    ),
]
Columns = Annotated[
    list[str] | None, typer.Option("--columns", metavar="NAMES", help="Search these columns alone: a,b. Repeatable.")
]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="NAMES", help="Leave these columns out. Repeatable.")]


@app.command()
@with_options(Options)
def discover(
    data: Tables,
    context: Contexts = None,
    columns: Columns = None,
    drop: Drop = None,
    knowledge: KnowledgeFile = None,
    kind: KindList = None,
    json: Output = None,
    report: Report = None,
    diagnose: Diagnose = False,
    progress: Progress = True,
    **options: Any,
) -> None:
    """One causal graph per value of the context; without --context, one graph for all rows."""
    with one_sentence():
        choice = ColumnChoice(context or (), columns or (), drop or ())
        discover_file(data, choice, knowledge, json, report, diagnose, kinds=parsed_kinds(kind or ()),
                      progress=progress and sys.stderr.isatty(), **options)  # fmt: skip


@app.command()
@with_options(Options)
def stability(
    data: Tables,
    context: Contexts = None,
    columns: Columns = None,
    drop: Drop = None,
    knowledge: KnowledgeFile = None,
    kind: KindList = None,
    samples: Annotated[int, typer.Option(metavar="N", help="Bootstrap samples, drawn in every context.")] = 200,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Save the table of shares here.")] = None,
    report: Report = None,
    progress: Progress = True,
    **options: Any,
) -> None:
    """How often each edge and mark is found again in bootstrap samples of the table."""
    with one_sentence():
        choice = ColumnChoice(context or (), columns or (), drop or ())
        stability_file(data, choice, knowledge, samples, csv, report, kinds=parsed_kinds(kind or ()),
                       progress=progress and sys.stderr.isatty(), **options)  # fmt: skip


@app.command()
def check(
    data: Table,
    context: Contexts = None,
    columns: Columns = None,
    drop: Drop = None,
    kind: KindList = None,
    missing: Missing = "raise",
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Kinds, rows by context and everything that stands in the way of a search, without one.

    Exit code 0: discover takes the table; 1: it refuses it; 2: the input cannot be read.
    """
    with one_sentence():
        choice = ColumnChoice(context or (), columns or (), drop or ())
        check_file(data, choice, parsed_kinds(kind or ()), missing, json)


@app.command()
@with_options(CalibrationOptions)
def calibrate(
    data: Table,
    context: Context = None,
    given: Annotated[
        list[str] | None, typer.Option("--given", metavar="COLUMN", help="A condition of that pair. Repeatable.")
    ] = None,
    kind: KindList = None,
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Save the answer here.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Save a picture here: .png, .svg, .pdf.")
    ] = None,
    progress: Progress = True,
    **options: Any,
) -> None:
    """How often a test rejects on tables like this one: without a dependence (size), and with one (power)."""
    with one_sentence():
        calibrate_file(data, context, json, plot, given=given or None, kinds=parsed_kinds(kind or ()),
                       progress=progress and sys.stderr.isatty(), **options)  # fmt: skip


@app.command()
def demo(json: Output = None, report: Report = None) -> None:
    """The main job on an example that ships with the library: soil that is dry or wet."""
    with one_sentence():
        show_demo(json, report)


@app.command()
def warmup() -> None:
    """Compile everything for this machine ahead, so that no search has to."""
    with one_sentence():
        show_warmup()


@app.command()
def explain(
    result: ResultFile,
    x: Annotated[str, typer.Argument(metavar="X", help="A variable.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="Another one.")],
    json: Annotated[bool, typer.Option("--json", help="Print the marks, stories and tests as JSON.")] = False,
) -> None:
    """Why two variables are linked or not, context by context."""
    with one_sentence():
        explain_file(result, x, y, json)


@app.command()
def changes(
    result: ResultFile,
    first: Annotated[str, typer.Argument(metavar="A", help="A context value.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    json: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
) -> None:
    """What differs between two contexts, with effect sizes, and which differences may be claimed."""
    with one_sentence():
        changes_file(result, first, second, json)


@app.command()
def effects(
    result: ResultFile,
    x: Annotated[str | None, typer.Argument(metavar="X", help="The cause; the context is one too.")] = None,
    y: Annotated[str | None, typer.Argument(metavar="Y", help="The effect; without both, all pairs.")] = None,
    by_path: Annotated[bool, typer.Option("--by-path", help="What every directed path carries.")] = False,
    level: Annotated[float, typer.Option(metavar="NUMBER", help="Of the intervals.")] = 0.95,
    json: Annotated[bool, typer.Option("--json", help="Print the effects as JSON.")] = False,
) -> None:
    """What a change of X does to Y in each context, and how the contexts differ."""
    with one_sentence():
        effects_file(result, x, y, by_path, level, json)


@app.command()
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
    with one_sentence():
        simulate_file(output, rows, nodes, density, contexts, changes, seed)


@app.command()
def plot(
    result: ResultFile,
    output: Annotated[Path, typer.Argument(metavar="PICTURE", help="A .png, .svg or .pdf file to write.")],
    kind: Annotated[str, typer.Option(metavar="NAME", help="contexts, union or difference.")] = "contexts",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="VALUE", help="Contexts to show, or two to compare. Repeatable."),
    ] = None,
) -> None:
    """A picture of a saved result: its contexts side by side, the labeled union, or two contexts compared."""
    with one_sentence():
        plot_file(result, output, kind, only or ())


@app.command()
def report(
    result: ResultFile,
    output: Annotated[
        Path | None, typer.Argument(metavar="PAGE", help="The .html file to write; by default beside the result.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="A title for the page.")] = None,
) -> None:
    """An interactive report on a saved result, in one HTML file that needs no network."""
    with one_sentence():
        report_file(result, output, title)


@app.command()
def export(
    result: ResultFile,
    to: Annotated[str, typer.Option(metavar="FORMAT", help="dagitty, dot, gml, graphml or tetrad.")] = "dot",
    only: Annotated[str | None, typer.Option(metavar="VALUE", help="The graph of this context, not the union.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="A file to write, not stdout.")] = None,
) -> None:
    """A graph of a saved result in the format of another tool."""
    with one_sentence():
        export_file(result, to, only, output)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"causalcontext {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A name that the terminal cannot show is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app(prog_name="causalcontext")
        finally:
            sys.stdout.flush()
    except OSError as error:  # a full disk; files that the library reads and writes have errors of their own
        # Python writes what is left once more when it ends; that goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        say(f"error: cannot write to standard output: {error.strerror}")
        raise SystemExit(BAD_INPUT) from error
