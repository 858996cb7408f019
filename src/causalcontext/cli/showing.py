"""`causalcontext explain`, `changes`, `plot`, `report`, `export`: what a saved result says, without a new search."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causalcontext import interop
from causalcontext.cli.terminal import print_line, say, show_page, show_table
from causalcontext.data.files import check_writable, write_whole
from causalcontext.drawing.strokes import KINDS, TIME_KINDS, check_picture_path
from causalcontext.errors import FileError, OptionError, check_choice, did_you_mean
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import at
from causalcontext.report.html import write_report
from causalcontext.report.payload import presentable, stories
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.files import load
from causalcontext.results.lagged import LaggedGraphs

if TYPE_CHECKING:
    import pandas as pd

FORMATS: dict[str, Callable[[Graph], str]] = {
    "dagitty": interop.to_dagitty,
    "dot": interop.to_dot,
    "gml": interop.to_gml,
    "graphml": interop.to_graphml,
    "tetrad": interop.to_tetrad,
}


def explain_file(file: Path, x: str, y: str, as_json: bool) -> None:
    """The story of a pair is on stdout."""
    result = load(file)
    if as_json:
        print_line(json.dumps(_pair(result, x, y), ensure_ascii=False, indent=2))
    else:
        show_page(result.explain(x, y).replace("\n", "\n\n"))


def changes_file(file: Path, first: str, second: str, as_json: bool) -> None:
    """What differs between two contexts is on stdout, with what may be claimed."""
    result = load(file)
    found = result.changes(context_value(result, first), context_value(result, second))
    if as_json:
        print_line(found.to_json(orient="records", force_ascii=False, indent=2))
        return
    if found.empty:
        show_page(f"no edge differs between {first} and {second}")
        return
    if isinstance(result, LaggedGraphs):
        _show_lagged_changes(found, first, second)
        return
    rows = [
        [f"{row.source} {row.mark} {row.target}", context_text(row.present), f"{row.effect_present:.2f}",
         f"{row.effect_absent:.2f}", f"{row.q:.2g}", "yes" if row.claimed else f"no{row.doubt and ': '}{row.doubt}"]
        for row in found.itertuples()
    ]  # fmt: skip
    header = ["edge", "found in", "effect there", "elsewhere", "q", "claimed"]
    show_table("changes", header, rows)


def _show_lagged_changes(found: pd.DataFrame, first: str, second: str) -> None:
    rows = [
        [f"{at(row['source'], row['lag'])} --> {row['target']}", f"{row['slope_first']:.2f}",
         f"{row['slope_second']:.2f}", f"{row['q']:.2g}", "yes" if row["claimed"] else "no"]
        for row in found.to_dict("records")
    ]  # fmt: skip
    show_table("changes", ["link", f"slope in {first}", f"in {second}", "q", "claimed"], rows)


def plot_file(file: Path, output: Path, kind: str, contexts: Sequence[str]) -> None:
    """The picture of a saved result is in `output`."""
    import matplotlib

    check_choice("kind", kind, (*KINDS, *TIME_KINDS))
    check_picture_path(output)
    check_other(file, output)
    result = load(file)
    matplotlib.use("Agg")
    result.plot(kind, contexts=[context_value(result, text) for text in contexts] or None, path=output)
    say(f"saved to {output}")


def report_file(file: Path, output: Path | None, title: str | None) -> None:
    """The report on a saved result is in `output`, by default beside the result."""
    page = file.with_suffix(".html") if output is None else output
    check_writable(page)
    check_other(file, page)
    write_report(load(file), page, title=title)
    say(f"saved to {page}")


def export_file(file: Path, form: str, context: str | None, output: Path | None) -> None:
    """One graph of a saved result, or the union, is on stdout or in `output`, in the format of another tool."""
    check_choice("format", form, FORMATS)
    if output is not None:
        check_writable(output)
        check_other(file, output)
    result = load(file)
    graph = result.union if context is None else result.graphs[context_value(result, context)]
    text = FORMATS[form](graph)
    if output is None:
        print_line(text)
    else:
        write_whole(output, text + "\n")
        say(f"saved to {output}")


def context_text(value: Any) -> str:
    """A context value as it is written."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def context_value(result: ContextGraphs, text: str) -> Any:
    """The context value that is written so; a combination of values is written with commas."""
    written = {
        ",".join(map(str, value)) if isinstance(value, tuple) else str(value): value for value in result.contexts
    }
    if text in written:
        return written[text]
    expected = ", ".join(list(written)[:8])
    raise OptionError(f"there is no context {text!r}{did_you_mean(text, tuple(written))} (expected one of {expected})")


def check_other(source: Path, output: Path) -> None:
    """Return if the file to write is not the one to read."""
    if source.exists() and output.exists() and source.samefile(output):
        raise FileError(f"cannot write {output}: it is an input of the same command")


def _pair(result: ContextGraphs, x: str, y: str) -> dict[str, Any]:
    """The deciding tests of a pair and their story, context by context."""
    told = stories(presentable(result), result.position(x), result.position(y))
    tests = result.tests()
    chosen = tests[tests["x"].isin((x, y)) & tests["y"].isin((x, y))]
    found = json.loads(chosen.drop(columns=["x", "y"]).to_json(orient="records"))
    marks = [{"context": value, "mark": graph.mark(x, y)} for value, graph in result.graphs.items()]
    return {"x": x, "y": y, "marks": marks, "stories": told, "tests": found}
