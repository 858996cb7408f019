"""`result.plot()`: contexts side by side in one layout, the labeled union, or two contexts compared."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.files import write_whole
from causalcontext.drawing.layout import Layout, layout
from causalcontext.drawing.paint import legend_height, paint_boxes, paint_legend, paint_stroke, prepare, writable
from causalcontext.drawing.pictures import KINDS, check_picture_path
from causalcontext.drawing.strokes import (
    Panel,
    Sample,
    context_panel,
    difference_panel,
    graph_panel,
    legend,
    union_panel,
)
from causalcontext.errors import OptionError, check_choice
from causalcontext.graphs.graph import Graph
from causalcontext.results.contexts import ContextGraphs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 9.0
WIDEST = 17.0
TALLEST = 30.0
SMALLEST_POINTS = 4.5
TITLE = 2.2


def plot(
    result: ContextGraphs,
    kind: str = "contexts",
    *,
    contexts: Sequence[Any] | None = None,
    axes: Axes | Sequence[Axes] | None = None,
    path: str | FilePath | None = None,
    dpi: float = 150,
) -> tuple[Axes, ...]:
    """The picture, on new axes or on those given; see `ContextGraphs.plot`."""
    check_choice("kind", kind, KINDS)
    if path is not None:
        check_picture_path(path)
    panels, compared = _panels(result, kind, contexts)
    context = None if result.context is None else result.position(result.context)
    return _painted(panels, legend(result, panels, compared), layout(result.union), context, axes, path, dpi)


def plot_graph(graph: Graph, *, axes: Axes | None = None, path: str | FilePath | None = None, dpi: float = 150
               ) -> tuple[Axes, ...]:  # fmt: skip
    """The picture of one graph; see `Graph.plot`."""
    if path is not None:
        check_picture_path(path)
    panels = [graph_panel(graph)]
    return _painted(panels, legend(None, panels), layout(graph), None, axes, path, dpi)


def save_picture(figure: Figure, path: str | FilePath, dpi: float) -> None:
    """Write the figure to a file, whole or not at all; the same picture gives the same file."""
    import matplotlib

    ending = FilePath(path).suffix.lower().removeprefix(".")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "causalcontext", "pdf.fonttype": 42}):
        figure.savefig(content, format=ending, dpi=dpi, metadata=metadata)
    write_whole(path, content.getvalue())


def _panels(result: ContextGraphs, kind: str, contexts: Sequence[Any] | None
            ) -> tuple[list[Panel], tuple[Any, Any] | None]:  # fmt: skip
    if kind == "union":
        return [union_panel(result)], None
    if kind == "contexts":
        return [context_panel(result, value) for value in (result.contexts if contexts is None else contexts)], None
    chosen = tuple(result.contexts[:2] if contexts is None else contexts)
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise OptionError(f"contexts is {list(chosen)!r}, expected two different contexts to compare")
    return [difference_panel(result, *chosen)], (chosen[0], chosen[1])


def _painted(panels: Sequence[Panel], samples: Sequence[Sample], shared: Layout, context: int | None,
             axes: Axes | Sequence[Axes] | None, path: str | FilePath | None, dpi: float
             ) -> tuple[Axes, ...]:  # fmt: skip
    if axes is None:
        chosen = _on_new_figure(panels, samples, shared, context)
    else:
        chosen = _given_axes(axes, len(panels))
        for panel, one in zip(panels, chosen, strict=True):
            _paint_panel(one, panel, shared, context, samples if one is chosen[-1] else ())
    if path is not None and chosen:
        figure = chosen[0].get_figure(root=True)
        assert figure is not None
        save_picture(figure, path, dpi)
    return chosen


def _given_axes(axes: Axes | Sequence[Axes], count: int) -> tuple[Axes, ...]:
    chosen: tuple[Axes, ...] = tuple(np.atleast_1d(np.asarray(axes, dtype=object)).ravel().tolist())
    if len(chosen) != count:
        raise OptionError(f"got {len(chosen)} axes for {count} panels")
    return chosen


def _on_new_figure(panels: Sequence[Panel], samples: Sequence[Sample], shared: Layout, context: int | None
                   ) -> tuple[Axes, ...]:  # fmt: skip
    """A figure with the panels in a grid and the legend below, as large as its contents at a readable size."""
    from matplotlib import pyplot

    rows, columns = _grid(len(panels), shared)
    wide, tall = max(shared.width, 34.0), shared.height + TITLE
    below = legend_height(samples, wide * columns - 2) + 1.0
    width, height = wide * columns, tall * rows + below
    points = max(SMALLEST_POINTS, min(POINTS, 72 * WIDEST / width, 72 * TALLEST / height))
    figure = pyplot.figure(figsize=(width * points / 72, height * points / 72))
    chosen = []
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        bottom = (below + tall * (rows - 1 - row)) / height
        one = figure.add_axes((column / columns, bottom, 1 / columns, tall / height))
        _paint_panel(one, panel, shared, context, ())
        chosen.append(one)
    foot = figure.add_axes((0.0, 0.0, 1.0, below / height), label="legend")
    paint_legend(foot, samples, 1.0, 0.5, width - 2, prepare(foot, width, below))
    return tuple(chosen)


def _grid(count: int, shared: Layout) -> tuple[int, int]:
    """Rows and columns of panels, so that the figure is neither a ribbon nor a tower."""
    ratio = max(shared.width, 34.0) / (shared.height + TITLE)
    options = range(1, count + 1)
    columns = min(options, key=lambda c: (abs(np.log(c * ratio / -(-count // c) / 1.5)), c))
    return -(-count // columns), columns


def _paint_panel(axes: Axes, panel: Panel, shared: Layout, context: int | None, samples: Sequence[Sample]) -> None:
    below = legend_height(samples, shared.width - 2) if samples else 0.0
    width = max(shared.width, 20.0)
    points = prepare(axes, width, shared.height + TITLE + below)
    offset = np.array([(width - shared.width) / 2, TITLE])
    moved = Layout(shared.lines, shared.centre + offset, shared.size, {}, shared.width, shared.height)
    axes.text(width / 2, TITLE / 2 + 0.2, writable(panel.title), ha="center", va="center", parse_math=False,
              fontsize=1.1 * points, weight="bold")  # fmt: skip
    for stroke in panel.strokes:
        paint_stroke(axes, stroke, shared.routes[stroke.pair] + offset, points)
    paint_boxes(axes, moved, context, points)
    paint_legend(axes, samples, 1.0, shared.height + TITLE, width - 2, points)
