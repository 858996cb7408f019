"""The commands that show a saved result: `explain`, `changes`, `effects`, `plot`, `report`, `export`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from causalcontext.cli.inputs import ResultArgument, check_apart, check_outputs, context_text, context_value
from causalcontext.cli.terminal import print_json, print_line, say, show_page, show_table
from causalcontext.data.files import write_whole
from causalcontext.drawing.strokes import KINDS, TIME_KINDS, check_picture_path
from causalcontext.errors import check_choice
from causalcontext.graphs.lag_names import at
from causalcontext.interop import to_dagitty, to_dot, to_gml, to_graphml, to_tetrad
from causalcontext.report.html import write_report
from causalcontext.report.payload import presentable, stories
from causalcontext.results.files import load
from causalcontext.results.levels_and_spreads import KINDS as MOVED

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph

FORMATS: dict[str, Callable[[Graph], str]] = {"dagitty": to_dagitty, "dot": to_dot, "gml": to_gml,
                                              "graphml": to_graphml, "tetrad": to_tetrad}  # fmt: skip


def explain(
    file: ResultArgument,
    x: Annotated[str, typer.Argument(metavar="X", help="A variable.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="Another one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the marks, explanations and tests as JSON.")] = False,
) -> None:
    """Why two variables are linked or not, context by context."""
    result = load(file)
    if not as_json:
        show_page(result.explain(x, y).replace("\n", "\n\n"))
        return
    told = stories(presentable(result), result.position(x), result.position(y))
    tests = result.tests()
    chosen = tests[tests["x"].isin((x, y)) & tests["y"].isin((x, y))]
    found = json.loads(chosen.drop(columns=["x", "y"]).to_json(orient="records"))
    marks = [{"context": value, "mark": graph.mark(x, y)} for value, graph in result.graphs.items()]
    print_json({"x": x, "y": y, "marks": marks, "stories": told, "tests": found})


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
        show_page(f"no edge differs between {first} and {second}")
        return
    rows = [
        [f"{row.source} {row.mark} {row.target}" + (f": {row.kind!s}" if row.kind in MOVED else ""),
         context_text(row.present), f"{row.effect_present:.2f}", f"{row.effect_absent:.2f}", f"{row.q:.2g}",
         "yes" if row.claimed else f"no{row.reason and ': '}{row.reason}"]
        for row in found.itertuples()
    ]  # fmt: skip
    show_table("changes", ["edge", "found in", "effect there", "elsewhere", "q", "claimed"], rows)


def effects(
    file: ResultArgument,
    x: Annotated[str | None, typer.Argument(metavar="X", help="The cause; the context may be one.")] = None,
    y: Annotated[str | None, typer.Argument(metavar="Y", help="The effect; without X and Y, all pairs.")] = None,
    by_path: Annotated[bool, typer.Option("--by-path", help="One row for every directed path.")] = False,
    level: Annotated[float, typer.Option(metavar="NUMBER", help="The coverage of the intervals.")] = 0.95,
    reference: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="If X is a category: the level that others are compared with.")
    ] = None,
    of_level: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="If Y is a category: the level whose probability is meant.")
    ] = None,
    intervals: Annotated[
        str, typer.Option(metavar="WORD", help='"auto", "mixture" (the graph may be wrong) or "graph" (it is right).')
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the effects as JSON.")] = False,
) -> None:
    """What a change of X does to Y in each context, and how the contexts differ."""
    result = load(file)
    found = result.effects(x, y, by_path=by_path, level=level, reference=reference, of_level=of_level,
                           intervals=intervals)  # fmt: skip
    if as_json:
        print_json(found)
        return
    if found.empty:
        show_page("no variable has an effect on another one" if x is None and y is None else "there is no such path")
        return
    header = ["path" if by_path else "effect of", "context", "effect", f"{100 * level:g} % interval", "p", "note"]
    rows = [_shown(row, by_path) for row in found.to_dict("records")]
    show_table(f"effects ({result.context or 'no context'})", header, rows)
    if "mixture" in set(found.get("intervals", ())):
        say("intervals average over graphs drawn by their score; --intervals graph takes the graph as given")
    else:
        say("standard errors are classical, since the file holds no rows; result.effects() after discover() has "
            "sandwich (HC3) errors")  # fmt: skip


def _shown(row: Mapping[Any, Any], by_path: bool) -> list[str]:
    import pandas as pd

    where = "" if row["context"] is None else context_text(row["context"])
    if row.get("versus") is not None:
        where = f"{where} minus {context_text(row['versus'])}"
    cause = at(row["x"], row["lag"]) if "lag" in row else row["x"]
    name = row["path"] if by_path else f"{cause} on {row['y']}"
    if row["x_level"] is not None:
        name = f"{name}: {row['x_level']} instead of {row['reference']}"
    if row["identified"]:
        effect = f"{row['effect']:.3g}"
    else:
        values = row["values"]
        effect = f"{values[0]:.3g} ... {values[-1]:.3g}" if values else "not identified"
    no_interval = pd.isna(row["low"]) or row["low"] == row["high"]
    interval = "" if no_interval else f"{row['low']:.3g} ... {row['high']:.3g}"
    return [name, where, effect, interval, "" if pd.isna(row["p"]) else f"{row['p']:.2g}", row["note"]]


def plot(
    file: ResultArgument,
    output: Annotated[Path, typer.Argument(metavar="PICTURE", help="A .png, .svg or .pdf file to write.")],
    kind: Annotated[str, typer.Option(metavar="NAME", help="contexts, union or difference.")] = "contexts",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="VALUE", help="Contexts to show, or two to compare. Repeatable."),
    ] = None,
) -> None:
    """A picture of a saved result: its contexts side by side, the labeled union, or two contexts compared."""
    import matplotlib

    check_choice("kind", kind, (*KINDS, *TIME_KINDS))
    check_picture_path(output)
    check_apart([output], [file])
    result = load(file)
    matplotlib.use("Agg")
    result.plot(kind, contexts=[context_value(result.contexts, text) for text in only or ()] or None, path=output)
    say(f"saved to {output}")


def report(
    file: ResultArgument,
    output: Annotated[
        Path | None, typer.Argument(metavar="PAGE", help="The .html file to write; by default beside the result.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="A title for the page.")] = None,
) -> None:
    """An interactive report on a saved result, in one HTML file that needs no network."""
    page = file.with_suffix(".html") if output is None else output
    check_outputs({"PAGE": page}, inputs=[file])
    write_report(load(file), page, title=title)
    say(f"saved to {page}")


def export(
    file: ResultArgument,
    to: Annotated[str, typer.Option(metavar="FORMAT", help="dagitty, dot, gml, graphml or tetrad.")] = "dot",
    only: Annotated[str | None, typer.Option(metavar="VALUE", help="The graph of this context, not the union.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="A file to write, not stdout.")] = None,
) -> None:
    """A graph of a saved result in the format of another tool."""
    check_choice("format", to, FORMATS)
    check_outputs({"--output": output}, inputs=[file])
    result = load(file)
    text = FORMATS[to](result.union if only is None else result.graphs[context_value(result.contexts, only)])
    if output is None:
        print_line(text)
    else:
        write_whole(output, text + "\n")
        say(f"saved to {output}")
