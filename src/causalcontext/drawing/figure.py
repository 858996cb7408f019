"""Panels and a legend on a figure: how large, in which grid, and saved to a file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.files import write_whole
from causalcontext.drawing.layout import Layout
from causalcontext.drawing.legend import LegendEntry
from causalcontext.drawing.paint import legend_height, paint_boxes, paint_legend, paint_stroke, prepare, writable
from causalcontext.drawing.strokes import Panel
from causalcontext.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 9.0
WIDEST = 17.0
TALLEST = 30.0
SMALLEST_POINTS = 4.5
TITLE = 2.2


@dataclass(frozen=True)
class Picture:
    """All that is to be painted: panels in one layout, the legend, and which variables name the context."""

    panels: tuple[Panel, ...]
    samples: tuple[LegendEntry, ...]
    layout: Layout
    contexts: tuple[int, ...]


def paint_figure(picture: Picture, make_figure: Callable[..., Figure]) -> tuple[Axes, ...]:
    """A figure with the panels in a grid and the legend below, as large as its contents at a readable size."""
    shared, samples = picture.layout, picture.samples
    rows, columns = _grid(len(picture.panels), shared)
    wide, tall = max(shared.width, 34.0), shared.height + TITLE
    below = legend_height(samples, wide * columns - 2) + 1.0
    width, height = wide * columns, tall * rows + below
    points = max(SMALLEST_POINTS, min(POINTS, 72 * WIDEST / width, 72 * TALLEST / height))
    figure = make_figure(figsize=(width * points / 72, height * points / 72))
    chosen = []
    for number, panel in enumerate(picture.panels):
        row, column = divmod(number, columns)
        bottom = (below + tall * (rows - 1 - row)) / height
        one = figure.add_axes((column / columns, bottom, 1 / columns, tall / height))
        _paint_panel(one, panel, shared, picture.contexts, ())
        chosen.append(one)
    foot = figure.add_axes((0.0, 0.0, 1.0, below / height), label="legend")
    paint_legend(foot, samples, 1.0, 0.5, width - 2, prepare(foot, width, below))
    return tuple(chosen)


def paint_axes(picture: Picture, axes: Axes | Sequence[Axes]) -> tuple[Axes, ...]:
    """The panels on axes of the caller, the legend below the last one."""
    chosen: tuple[Axes, ...] = tuple(np.atleast_1d(np.asarray(axes, dtype=object)).ravel().tolist())
    if len(chosen) != len(picture.panels):
        raise OptionError(f"got {len(chosen)} axes for {len(picture.panels)} panels")
    for panel, one in zip(picture.panels, chosen, strict=True):
        _paint_panel(one, panel, picture.layout, picture.contexts, picture.samples if one is chosen[-1] else ())
    return chosen


def figure_of(axes: Sequence[Axes]) -> Figure:
    """The figure that the axes are on."""
    figure = axes[0].get_figure(root=True)
    assert figure is not None
    return figure


def save_picture(figure: Figure, path: str | FilePath, dpi: float) -> None:
    """Write the figure to a file, whole or not at all; the same picture gives the same file."""
    import matplotlib

    ending = FilePath(path).suffix.lower().removeprefix(".")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "causalcontext", "pdf.fonttype": 42}):
        figure.savefig(content, format=ending, dpi=dpi, metadata=metadata)
    write_whole(path, content.getvalue())


def _grid(count: int, shared: Layout) -> tuple[int, int]:
    """Rows and columns of panels, so that the figure is neither a ribbon nor a tower."""
    ratio = max(shared.width, 34.0) / (shared.height + TITLE)
    options = range(1, count + 1)
    columns = min(options, key=lambda c: (abs(np.log(c * ratio / -(-count // c) / 1.5)), c))
    return -(-count // columns), columns


def _paint_panel(
    axes: Axes, panel: Panel, shared: Layout, contexts: tuple[int, ...], samples: Sequence[LegendEntry]
) -> None:
    below = legend_height(samples, shared.width - 2) if samples else 0.0
    width = max(shared.width, 20.0)
    points = prepare(axes, width, shared.height + TITLE + below)
    offset = np.array([(width - shared.width) / 2, TITLE])
    moved = Layout(shared.lines, shared.centre + offset, shared.size, {}, shared.width, shared.height)
    axes.text(width / 2, TITLE / 2 + 0.2, writable(panel.title), ha="center", va="center", parse_math=False,
              fontsize=1.1 * points, weight="bold")  # fmt: skip
    for stroke in panel.strokes:
        paint_stroke(axes, stroke, shared.routes[stroke.pair] + offset, points)
    paint_boxes(axes, moved, contexts, points)
    paint_legend(axes, samples, 1.0, shared.height + TITLE, width - 2, points)
