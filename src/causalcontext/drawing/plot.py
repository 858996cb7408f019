"""`result.plot()`: one panel per context, the labeled union, two contexts compared, or a summary
over lags.

A picture is made in two steps. `result_picture` decides what is drawn, as plain values; `painted`
draws that on axes of matplotlib, new ones or the caller's. All panels of a picture share one
layout, so that a reader can compare them by place.

In Jupyter a result is the picture of its labeled union and a table of its edges; names are escaped.
"""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.files import write_whole
from causalcontext.drawing import strokes as drawn
from causalcontext.drawing.layout import Layout, layout
from causalcontext.drawing.names import printable
from causalcontext.drawing.paint import (
    legend_height,
    paint_boxes,
    paint_legend,
    paint_strokes,
    prepare,
    writable,
)
from causalcontext.drawing.settings import (
    LETTER_POINTS,
    MOST_DRAWN_VARIABLES,
    MOST_TABLE_COLUMNS,
    MOST_TABLE_ROWS,
    SMALLEST_LETTER,
    TALLEST_FIGURE,
    TITLE_HEIGHT,
    WIDEST_FIGURE,
)
from causalcontext.drawing.strokes import (
    LegendEntry,
    Panel,
    Stroke,
    check_picture_path,
    graph_legend,
    legend,
)
from causalcontext.drawing.time_layout import result_layout
from causalcontext.errors import OptionError, check_choice
from causalcontext.graphs.endpoints import endpoints_of_mark
from causalcontext.results.few_rows import ThinLevels, thin_words
from causalcontext.results.series import SummaryEdge, context_nodes, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from causalcontext.graphs.graph import Graph, LabeledUnion
    from causalcontext.results.contexts import ContextGraphs

BOTH_WAYS = "each causes the other, at different lags"


@dataclass(frozen=True)
class Picture:
    """All that is to be painted: panels in one layout, the legend, and which variables name the
    context.
    """

    panels: tuple[Panel, ...]
    samples: tuple[LegendEntry, ...]
    layout: Layout
    contexts: tuple[int, ...]


def result_picture(
    result: ContextGraphs,
    kind: str,
    contexts: Sequence[Any] | None = None,
    probabilities: bool = False,
) -> Picture:
    """The picture of a result, of one of the kinds that it has.

    Parameters
    ----------
    kind : "contexts", "union" or "difference"; with lags also "time-series" and "summary"
    contexts : those that are shown, or the two that are compared; by default all, and the first two
    probabilities : whether labels say how probable an edge is, from draws of graphs by their score
    """
    thin = result.thin
    result = result.searched
    time_kinds = () if result.series is None else drawn.TIME_KINDS
    check_choice("kind", kind, (*drawn.KINDS, *time_kinds))
    if probabilities and kind != "contexts":
        raise OptionError(f"probabilities is True, which is for kind='contexts', not {kind!r}")
    if kind == "summary":
        return _summary_picture(result)
    places = result_layout(result)
    compared = None
    if kind == "union":
        panels = [drawn.union_panel(result)]
    elif kind == "difference":
        compared = _compared_contexts(result, thin, contexts)
        panels = [drawn.difference_panel(result, *compared, places.centre[:, 0].tolist())]
    else:
        everything = result.contexts if thin is None else thin.contexts
        chosen = tuple(everything if contexts is None else contexts)
        if not chosen:
            raise OptionError("contexts is empty, expected at least one context to show")
        panels = [_context_panel(result, thin, value, probabilities) for value in chosen]
    entries = legend(result, panels, compared)
    return Picture(tuple(panels), entries, places, tuple(sorted(context_nodes(result))))


def _compared_contexts(
    result: ContextGraphs, thin: ThinLevels | None, contexts: Sequence[Any] | None
) -> tuple[Any, Any]:
    """The two contexts of a difference: the chosen ones, else the first two.

    A context with too few rows has no graph of its own, and is refused.
    """
    chosen = tuple(result.contexts[:2] if contexts is None else contexts)
    if thin is not None and (len(result.contexts) < 2 or set(chosen) & set(thin.values)):
        raise OptionError(f"kind is 'difference', but {thin.warning}: there is nothing to compare")
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise OptionError(
            f"contexts is {list(chosen)!r}, expected two different contexts to compare"
        )
    return chosen[0], chosen[1]


def _context_panel(
    result: ContextGraphs, thin: ThinLevels | None, value: Any, probabilities: bool
) -> Panel:
    """The graph of one context; of one with too few rows the pooled graph, and its title says
    so.
    """
    if thin is None:
        return drawn.context_panel(result, value, probabilities)
    name = drawn.shown(thin.context)
    for few, count in thin.rows:
        if few == value:
            return replace(
                drawn.union_panel(result),
                title=f"{name} = {drawn.shown(value)}   ({thin_words(count)})",
            )
    panel = drawn.context_panel(result, value, probabilities)
    if result.context is not None:
        return panel
    rows = result.data.rows[result.contexts.index(value)]
    return replace(panel, title=f"{name} = {drawn.shown(value)}   ({rows:,} rows)")


def graph_picture(graph: Graph) -> Picture:
    """The picture of a graph by itself: one panel without a title, and the marks in its legend."""
    panel = drawn.graph_panel(graph)
    return Picture((panel,), graph_legend([panel], graph.kind), layout(graph), ())


def painted(
    picture: Picture,
    axes: Axes | Sequence[Axes] | None,
    path: str | FilePath | None,
    dpi: float = 150,
) -> tuple[Axes, ...]:
    """The axes with the picture, the legend below the last panel, and a file if there is a path.

    `axes` of the caller are one for each panel; they keep their place and size, and the letters
    become as small as that asks.
    """
    from matplotlib import pyplot

    check_picture_path(path)
    if axes is None:
        chosen = paint_figure(picture, pyplot.figure)
    else:
        chosen = given_axes(axes, len(picture.panels), "panels")
        for panel, ax in zip(picture.panels, chosen, strict=True):
            samples = picture.samples if ax is chosen[-1] else ()
            _paint_panel(ax, panel, picture.layout, picture.contexts, samples)
    save_picture(chosen, path, dpi)
    return chosen


def _summary_picture(result: ContextGraphs) -> Picture:
    """The picture of all lags in one: a label has the lags of a link, a box those of a variable on
    itself.

    Links of all lags between two variables are one stroke, which carries the colours of the
    contexts that have any of them. Where each causes the other, at different lags, its mark is
    `<=>`, and the legend says what that means here.
    """
    names = (*series_of(result).variables, *series_of(result).covariates)
    pairs: dict[tuple[int, int], list[SummaryEdge]] = {}
    for edge in result.summary:
        if edge.source != edge.target:
            i = names.index(edge.source)
            j = names.index(edge.target)
            pairs.setdefault((min(i, j), max(i, j)), []).append(edge)
    made = type(result.union)  # not imported: a graph draws itself by this module
    graph = made.from_edges(names, [_summary_mark(edges) for edges in pairs.values()])
    strokes = []
    for pair, edges in pairs.items():
        with_edge = {value for edge in edges for value in edge.contexts}
        colours = drawn.colours_of(
            result, [value for value in result.contexts if value in with_edge]
        )
        lags = " / ".join(_listed(edge.lags) for edge in edges)
        endpoints = drawn.endpoints_of(graph, pair)
        strokes.append(Stroke(pair, endpoints, colours, label=f"lag {lags}"))
    past = {name: result.summary.lags(name, name) for name in names}
    boxes = {name: f"own lag {_listed(lags)}" for name, lags in past.items() if lags}
    places = layout(graph, boxes)
    panel = Panel("summary over all lags", tuple(strokes))
    contexts = tuple(names.index(result.names[position]) for position in result.cells.positions)
    samples = []
    for entry in legend(result, [panel], None):
        both_ways = entry.stroke.endpoints == endpoints_of_mark("<=>")
        samples.append(replace(entry, words=BOTH_WAYS) if both_ways else entry)
    return Picture((panel,), tuple(samples), places, contexts)


def _summary_mark(edges: Sequence[SummaryEdge]) -> tuple[str, str, str]:
    """The ends and the mark of a pair over all lags: `<=>` if each causes the other at some lag."""
    first = edges[0]
    arrows = {(edge.source, edge.target) for edge in edges if edge.mark == "-->"}
    if len(arrows) == 2:
        return first.source, first.target, "<=>"
    return first.source, first.target, "-->" if arrows else first.mark


def _listed(lags: Sequence[int]) -> str:
    """Lags in words: `1, 3`, or `1-4` where they follow each other."""
    if len(lags) > 2 and all(b - a == 1 for a, b in pairwise(lags)):
        return f"{lags[0]}-{lags[-1]}"
    return ", ".join(map(str, lags))


def paint_figure(picture: Picture, make_figure: Callable[..., Figure]) -> tuple[Axes, ...]:
    """The axes of a new figure with the panels in a grid and the legend below.

    The figure is as large as its contents at a readable size: `LETTER_POINTS`, or less where it
    would be too large, down to `SMALLEST_LETTER`. Of all numbers of columns it takes the one with
    the smallest |log(r / 1.5)| + 1.1 log(cells / panels), r being the ratio of width to height:
    neither a ribbon nor a tower, with few empty places.
    """
    shared = picture.layout
    samples = picture.samples
    # so that the figure is neither a ribbon nor a tower, and has few empty places
    count = len(picture.panels)
    ratio = max(shared.width, 34.0) / (shared.height + TITLE_HEIGHT)
    high = {columns: -(-count // columns) for columns in range(1, count + 1)}
    columns = min(
        high,
        key=lambda c: abs(np.log(c * ratio / high[c] / 1.5)) + 1.1 * np.log(c * high[c] / count),
    )
    rows = high[columns]
    wide = max(shared.width, 34.0)
    tall = shared.height + TITLE_HEIGHT
    below = legend_height(samples, wide * columns - 2) + 1.0
    width = wide * columns
    height = tall * rows + below
    points = max(
        SMALLEST_LETTER,
        min(LETTER_POINTS, 72 * WIDEST_FIGURE / width, 72 * TALLEST_FIGURE / height),
    )
    figure = make_figure(figsize=(width * points / 72, height * points / 72))
    chosen = []
    for number, panel in enumerate(picture.panels):
        row, column = divmod(number, columns)
        bottom = (below + tall * (rows - 1 - row)) / height
        panel_axes = figure.add_axes((column / columns, bottom, 1 / columns, tall / height))
        _paint_panel(panel_axes, panel, shared, picture.contexts, ())
        chosen.append(panel_axes)
    foot = figure.add_axes((0.0, 0.0, 1.0, below / height), label="legend")
    paint_legend(foot, samples, 1.0, 0.5, width - 2, prepare(foot, width, below))
    return tuple(chosen)


def given_axes(axes: Axes | Sequence[Axes], count: int, what: str) -> tuple[Axes, ...]:
    """The axes of the caller as a tuple; refused if there is not one for each of `count` things."""
    chosen: tuple[Axes, ...] = tuple(np.atleast_1d(np.asarray(axes, dtype=object)).ravel().tolist())
    if len(chosen) != count:
        raise OptionError(f"got {len(chosen)} axes for {count} {what}")
    return chosen


def axes_for(
    count: int, what: str, axes: Axes | Sequence[Axes] | None, size: tuple[float, float]
) -> tuple[Axes, ...]:
    """The axes of the caller, or those of a new figure of panels, up to `MOST_TABLE_COLUMNS` in a
    row.

    `size` is the width and height of a panel in inches; `what` names the panels if there are too
    few axes.
    """
    if axes is not None:
        return given_axes(axes, count, what)
    from matplotlib import pyplot

    columns = min(count, MOST_TABLE_COLUMNS)
    rows = -(-count // columns)
    figure, grid = pyplot.subplots(
        rows,
        columns,
        squeeze=False,
        layout="constrained",
        figsize=(size[0] * columns, size[1] * rows),
    )
    chosen: list[Axes] = list(grid.ravel())
    for unused in chosen[count:]:
        figure.delaxes(unused)
    return tuple(chosen[:count])


def figure_of(axes: Sequence[Axes]) -> Figure:
    """The figure that the axes are on."""
    figure = axes[0].get_figure(root=True)
    assert figure is not None
    return figure


def save_picture(axes: Sequence[Axes], path: str | FilePath | None, dpi: float) -> None:
    """Write the figure to a file, if there is a path, whole or not at all.

    The same picture gives the same file: dates are left out, and names inside an SVG depend on its
    contents alone.
    """
    if path is None:
        return
    import matplotlib

    ending = FilePath(path).suffix.lower().removeprefix(".")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "causalcontext", "pdf.fonttype": 42}):
        figure_of(axes).savefig(content, format=ending, dpi=dpi, metadata=metadata)
    write_whole(path, content.getvalue())


def _paint_panel(
    axes: Axes,
    panel: Panel,
    shared: Layout,
    contexts: tuple[int, ...],
    samples: Sequence[LegendEntry],
) -> None:
    """Draw a panel on its axes: title, strokes, boxes, and the samples of a legend, if any,
    below.
    """
    below = legend_height(samples, shared.width - 2) if samples else 0.0
    width = max(shared.width, 20.0)
    points = prepare(axes, width, shared.height + TITLE_HEIGHT + below)
    offset = np.array([(width - shared.width) / 2, TITLE_HEIGHT])
    moved = replace(shared, centre=shared.centre + offset)
    axes.text(
        width / 2,
        TITLE_HEIGHT / 2 + 0.2,
        writable(panel.title),
        ha="center",
        va="center",
        parse_math=False,
        fontsize=1.1 * points,
        weight="bold",
    )
    paint_strokes(axes, panel.strokes, shared, offset, points)
    paint_boxes(axes, moved, contexts, points)
    paint_legend(axes, samples, 1.0, shared.height + TITLE_HEIGHT, width - 2, points)


def result_html(result: ContextGraphs, about: str, warnings: Sequence[str] = ()) -> str:
    """The HTML of a result in a notebook.

    It has one line about the run, the warnings, the labeled union as a picture, where that is small
    enough (`MOST_DRAWN_VARIABLES`), and its edges as a table.
    """
    picture = (
        _svg(result_picture(result, "union")) if len(result.names) <= MOST_DRAWN_VARIABLES else ""
    )
    sentences = "".join(f"<li>{html.escape(printable(sentence))}</li>" for sentence in warnings)
    careful = (
        f"<p><strong>What to be careful about</strong></p><ul>{sentences}</ul>" if sentences else ""
    )
    table = union_html(result.labeled_union)
    return f"<div><p>{html.escape(about)}</p>{careful}{picture}{table}</div>"


def union_html(union: LabeledUnion) -> str:
    """The labeled union as an HTML table of at most `MOST_TABLE_ROWS` edges, with their
    contexts.
    """
    rows = [
        (
            f"{edge.source} {edge.mark} {edge.target}",
            (
                "all"
                if edge.contexts == union.all_contexts
                else ", ".join(str(value) for value in edge.contexts)
            ),
        )
        for edge in union.edges[:MOST_TABLE_ROWS]
    ]
    shown = ([html.escape(printable(text)) for text in row] for row in rows)
    cells = "".join(f"<tr><td>{edge}</td><td>{contexts}</td></tr>" for edge, contexts in shown)
    more = (
        f"<p>and {len(union) - MOST_TABLE_ROWS} more edges</p>"
        if len(union) > MOST_TABLE_ROWS
        else ""
    )
    head = "<thead><tr><th>edge</th><th>contexts</th></tr></thead>"
    return f"<table>{head}<tbody>{cells}</tbody></table>{more}"


def graph_svg(graph: Graph) -> str | None:
    """The SVG of a graph, or None if it is too large for a picture."""
    return _svg(graph_picture(graph)) if 0 < len(graph.names) <= MOST_DRAWN_VARIABLES else None


def _svg(picture: Picture) -> str:
    """The SVG element of a picture; the figures of the caller and the state of pyplot stay as they
    are.
    """
    import matplotlib
    from matplotlib.figure import Figure

    content = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "causalcontext", "svg.fonttype": "path"}):
        axes = paint_figure(picture, Figure)
        figure_of(axes).savefig(content, format="svg", metadata={"Date": None})
    text = content.getvalue()
    return text[text.index("<svg") :]
