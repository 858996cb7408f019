"""Rich display in Jupyter: the picture of the labeled union and a table of its edges; names are escaped."""

from __future__ import annotations

import html
import io
from typing import TYPE_CHECKING

from causalcontext.drawing.names import printable
from causalcontext.drawing.plot import Picture, figure_of, graph_picture, paint_figure, result_picture

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph
    from causalcontext.graphs.union import LabeledUnion
    from causalcontext.results.contexts import ContextGraphs

MOST_VARIABLES = 60
"""Larger graphs are shown as tables only."""
MOST_ROWS = 100


def result_html(result: ContextGraphs, about: str) -> str:
    """A result: one line about the run, the labeled union as a picture, its edges as a table."""
    picture = _svg(result_picture(result, "union")) if len(result.names) <= MOST_VARIABLES else ""
    return f"<div><p>{html.escape(about)}</p>{picture}{union_html(result.labeled_union)}</div>"


def union_html(union: LabeledUnion) -> str:
    """The labeled union as a table."""
    rows = [
        (f"{edge.source} {edge.mark} {edge.target}", "all" if edge.contexts == union.all_contexts else
         ", ".join(str(value) for value in edge.contexts))
        for edge in union.edges[:MOST_ROWS]
    ]  # fmt: skip
    cells = "".join(f"<tr><td>{_escaped(edge)}</td><td>{_escaped(contexts)}</td></tr>" for edge, contexts in rows)
    more = f"<p>and {len(union) - MOST_ROWS} more edges</p>" if len(union) > MOST_ROWS else ""
    return f"<table><thead><tr><th>edge</th><th>contexts</th></tr></thead><tbody>{cells}</tbody></table>{more}"


def graph_svg(graph: Graph) -> str | None:
    """A graph as a picture, if it is small enough for one."""
    return _svg(graph_picture(graph)) if 0 < len(graph.names) <= MOST_VARIABLES else None


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _svg(picture: Picture) -> str:
    """The SVG element of a picture; the figures of the caller and the state of pyplot stay as they are."""
    import matplotlib
    from matplotlib.figure import Figure

    content = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "causalcontext", "svg.fonttype": "path"}):
        axes = paint_figure(picture, Figure)
        figure_of(axes).savefig(content, format="svg", metadata={"Date": None})
    text = content.getvalue()
    return text[text.index("<svg") :]
