"""The painter for matplotlib: boxes, strokes and legends on axes whose units are the font size; no
graphviz.

`strokes.py` says what is to be drawn and `layout.py` where; nothing here knows a result. All
lengths are in font sizes, but for line widths and letters, which matplotlib takes in points:
`points` is the number of them in a unit.

What covers what, from below: lines (2), ends of lines (2.5), labels (2.8), boxes (3) and their text
(4).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path

from causalcontext.drawing.layout import Layout
from causalcontext.drawing.names import text_width
from causalcontext.drawing.settings import (
    ARROW_HEAD,
    BOX_FONT,
    LABEL_FONT,
    LEGEND_LINE,
    LEGEND_SAMPLE,
)
from causalcontext.drawing.strokes import (
    BOX_FILL,
    CONTEXT_FILL,
    INK,
    LegendEntry,
    Stroke,
    text_colour,
)
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.kernels.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rectangle = tuple[float, float, float, float]
"""The middle, the width and the height."""
_ROOM = {
    Endpoint.ARROW: ARROW_HEAD * 0.8,
    Endpoint.MIXED: ARROW_HEAD * 0.8,
    Endpoint.CIRCLE: 0.62,
    Endpoint.CONFLICT: 0.4,
    Endpoint.TAIL: 0.0,
}
"""The room that an end takes of its line (letters)."""


def prepare(axes: Axes, width: float, height: float) -> float:
    """The number of points in a unit, after the axes were given units of the font size, y down.

    The unit is as large as the width and the height of the axes in their figure allow.
    """
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="box", anchor="C")
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    figure = axes.get_figure(root=True)
    assert figure is not None
    inches = figure.get_size_inches()
    box = axes.get_position()
    return float(72 * min(box.width * inches[0] / width, box.height * inches[1] / height))


def paint_boxes(axes: Axes, layout: Layout, contexts: tuple[int, ...], points: float) -> None:
    """Draw every variable in its box; the context dark, with square corners.

    Text that is wider than its box, since the font is wider than `text_width` thinks, is made
    smaller. Variables with a box of size 0 are not shown.
    """
    for variable in np.flatnonzero(layout.size.all(axis=1)).tolist():
        lines = layout.lines[variable]
        centre = layout.centre[variable]
        size = layout.size[variable]
        is_context = variable in contexts
        corner = centre - size / 2
        text = [writable(line) for line in lines]
        fit = min(1.0, float(size[0] - 0.4) / max(text_width(line) for line in text))
        style = "square,pad=0" if is_context else "round,pad=0,rounding_size=0.7"
        axes.add_patch(
            FancyBboxPatch(
                tuple(corner.tolist()),
                float(size[0]),
                float(size[1]),
                boxstyle=style,
                zorder=3,
                facecolor=CONTEXT_FILL if is_context else BOX_FILL,
                edgecolor=INK,
                linewidth=0.09 * points,
            )
        )
        axes.text(
            centre[0],
            centre[1],
            "\n".join(text),
            ha="center",
            va="center",
            zorder=4,
            parse_math=False,
            fontsize=BOX_FONT * fit * points,
            color=BOX_FILL if is_context else INK,
            linespacing=1.1,
        )


def paint_strokes(
    axes: Axes, strokes: Sequence[Stroke], layout: Layout, offset: Floats, points: float
) -> None:
    """Draw all edges of a panel, each with its label where that covers neither a box nor another
    label.

    `offset`, shape (2,), is the place of the layout's corner in the panel.
    """
    taken = [
        (*(centre + offset), *size) for centre, size in zip(layout.centre, layout.size, strict=True)
    ]
    for stroke in strokes:
        route = layout.routes[stroke.pair] + offset
        paint_stroke(axes, stroke, route, points)
        if words := label_of(stroke):
            taken.append(label_place(route, words, taken))
            _paint_label(axes, stroke, words, taken[-1][:2], points)


def paint_stroke(axes: Axes, stroke: Stroke, route: Floats, points: float) -> None:
    """Draw one edge along its route, from the first to the second variable of the pair.

    The route has shape (1 + 3 m, 2), as `curve` makes it. The line is shortened by the room of its
    two ends, along the horizontal. It is .13 wide, or .08 + .3 s for a strength s. A double arrow
    is a wide line with a white one inside.
    """
    body = route.copy()  # without the room of its ends, where it runs horizontally
    for tip, beside, end in ((0, 1, stroke.endpoints[0]), (-1, -2, stroke.endpoints[1])):
        body[tip, 0] += np.sign(route[beside, 0] - route[tip, 0]) * _ROOM[end]
    width = points * (0.13 if stroke.strength is None else 0.08 + 0.3 * stroke.strength)
    codes = [Path.MOVETO] + [Path.CURVE4] * (len(body) - 1)
    count = len(stroke.colours)
    for number, colour in enumerate(stroke.colours):
        dashes = _dashes(stroke, number, count, points / width)
        alpha = 0.75 if stroke.uncertain or stroke.untested else 1.0
        axes.add_patch(
            PathPatch(
                Path(body, codes),
                fill=False,
                edgecolor=colour,
                linewidth=width,
                linestyle=dashes,
                capstyle="butt",
                zorder=2,
                alpha=alpha,
            )
        )
    if stroke.mark == "<=>":
        axes.add_patch(
            PathPatch(
                Path(body, codes), fill=False, edgecolor="white", linewidth=width * 0.35, zorder=2.1
            )
        )
    for tip, end in zip((0, -1), stroke.endpoints, strict=True):
        shape = Endpoint.ARROW if stroke.mark == "<=>" else end
        _paint_end(axes, shape, route[tip], body[tip], stroke.colours[tip], points)


def label_of(stroke: Stroke) -> str:
    """The text beside an edge: its label, then "not tested" or a question mark where it is in
    doubt.
    """
    doubt = "not tested" if stroke.untested else "?" if stroke.uncertain else ""
    return " ".join(part for part in (stroke.label, doubt) if part)


def _paint_label(
    axes: Axes, stroke: Stroke, words: str, where: Sequence[float], points: float
) -> None:
    """Write the words at a place on a patch of white, in the colour of their line if it is dark
    enough.
    """
    patch = {"facecolor": "white", "edgecolor": "none", "pad": 0.08 * points, "alpha": 0.9}
    axes.text(
        where[0],
        where[1],
        writable(words),
        ha="center",
        va="center",
        zorder=2.8,
        parse_math=False,
        fontsize=LABEL_FONT * points,
        color=text_colour(stroke.colours),
        bbox=patch,
    )


def paint_legend(
    axes: Axes, samples: Sequence[LegendEntry], left: float, top: float, width: float, points: float
) -> None:
    """Draw the samples in rows, each with its words; `left` and `top` are the corner of the
    legend.
    """
    for sample, (x, y) in zip(samples, legend_places(samples, width), strict=True):
        route = np.array([(left + x + LEGEND_SAMPLE * third / 3, top + y) for third in range(4)])
        paint_stroke(axes, sample.stroke, route, points)
        # the words would hide the dots
        words = "" if sample.stroke.untested else label_of(sample.stroke)
        if words:
            _paint_label(
                axes, sample.stroke, words, (left + x + LEGEND_SAMPLE / 2, top + y), points
            )
        axes.text(
            left + x + LEGEND_SAMPLE + 0.6,
            top + y,
            writable(sample.words),
            ha="left",
            va="center",
            parse_math=False,
            fontsize=BOX_FONT * points,
            color=INK,
        )


def legend_places(samples: Sequence[LegendEntry], width: float) -> list[tuple[float, float]]:
    """The start of every sample, (x, y) from the corner of the legend, in rows no wider than
    `width`.

    A sample that is wider than a row has a row of its own.
    """
    places = []
    x = 0.0
    y = LEGEND_LINE / 2
    for sample in samples:
        wide = LEGEND_SAMPLE + 2.4 + 0.84 * text_width(sample.words)
        if x > 0 and x + wide > width:
            x = 0.0
            y = y + LEGEND_LINE
        places.append((x, y))
        x += wide
    return places


def legend_height(samples: Sequence[LegendEntry], width: float) -> float:
    """The height that the legend takes; 0 without samples."""
    return (
        max((y for _, y in legend_places(samples, width)), default=-LEGEND_LINE / 2)
        + LEGEND_LINE / 2
    )


def writable(text: str) -> str:
    """The text with characters that no font at hand can draw written as their number, `⟨1F600⟩`."""
    glyphs = _glyphs()
    return "".join(
        letter if letter == "\n" or ord(letter) in glyphs else f"⟨{ord(letter):X}⟩"
        for letter in text
    )


@lru_cache(maxsize=1)
def _glyphs() -> frozenset[int]:
    """The characters of the font that matplotlib uses."""
    file = fontManager.findfont(FontProperties())
    return frozenset(get_font(file).get_charmap())


def _dashes(
    stroke: Stroke, number: int, count: int, unit: float
) -> str | tuple[float, tuple[float, ...]]:
    """The line style of one of the `count` colours of a line, as matplotlib takes it.

    Colours take turns along the line, .8 each: colour `number` is drawn where it is its turn. With
    one colour, an uncertain line is dotted, an untested one sparsely, a conflict in short dashes,
    and a hidden common cause in long ones. `unit` is the font size in line widths.
    """
    if count > 1:
        return -0.8 * unit * number, (0.8 * unit, 0.8 * unit * (count - 1))
    if Endpoint.CONFLICT in stroke.endpoints:
        return 0.0, (0.5 * unit, 0.3 * unit)
    if stroke.untested:
        return 0.0, (0.12 * unit, 0.6 * unit)
    if stroke.uncertain:
        return 0.0, (0.18 * unit, 0.3 * unit)
    return (0.0, (1.1 * unit, 0.35 * unit)) if stroke.mark == "<->" else "solid"


def _paint_end(
    axes: Axes, end: Endpoint, tip: Floats, base: Floats, colour: str, points: float
) -> None:
    """Draw one end of a line: an arrow, a hollow arrow (mixed), a circle, a cross (conflict), or
    nothing.

    `tip`, shape (2,), touches the box, and `base` is where the line ends: their order says which
    way the end points.
    """
    away = float(np.sign(base[0] - tip[0]))
    if end is Endpoint.ARROW:
        outline = np.array(
            [[0.0, 0.0], [ARROW_HEAD, 0.4], [ARROW_HEAD * 0.8, 0.0], [ARROW_HEAD, -0.4]]
        ) * [away, 1.0]
        axes.add_patch(
            Polygon(tip + outline, closed=True, facecolor=colour, edgecolor="none", zorder=2.5)
        )
    elif end is Endpoint.MIXED:
        outline = np.array([[0.06, 0.0], [ARROW_HEAD * 0.8, 0.36], [ARROW_HEAD * 0.8, -0.36]]) * [
            away,
            1.0,
        ]
        axes.add_patch(
            Polygon(
                tip + outline,
                facecolor="white",
                edgecolor=colour,
                linewidth=0.1 * points,
                zorder=2.5,
            )
        )
    elif end is Endpoint.CIRCLE:
        middle = (float(tip[0] + away * 0.31), float(tip[1]))
        axes.add_patch(
            Circle(
                middle,
                0.27,
                facecolor="white",
                edgecolor=colour,
                linewidth=0.1 * points,
                zorder=2.5,
            )
        )
    elif end is Endpoint.CONFLICT:
        middle_x = tip[0] + away * 0.4
        reach = 0.28
        for sign in (1, -1):
            axes.plot(
                [middle_x - reach, middle_x + reach],
                [tip[1] - sign * reach, tip[1] + sign * reach],
                color=colour,
                linewidth=0.12 * points,
                zorder=2.5,
                solid_capstyle="round",
            )


def label_place(route: Floats, words: str, taken: Sequence[Rectangle]) -> Rectangle:
    """The place of a label: the first one on its line that is free, else the middle.

    Seven shares of the line are tried, from its middle outwards. A place is free if its rectangle
    overlaps none that is taken: |x - x'| < (w + w') / 2 and the same of heights.
    """
    rectangles = [_label_at(route, share, words) for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)]

    def is_free(label: Rectangle) -> bool:
        return not any(
            all(
                abs(label[axis] - other[axis]) < (label[axis + 2] + other[axis + 2]) / 2
                for axis in (0, 1)
            )
            for other in taken
        )

    return next(filter(is_free, rectangles), rectangles[0])


def _label_at(route: Floats, share: float, words: str) -> Rectangle:
    """The rectangle of a label at a share t of the middle curve of its route.

    With control points a, b, c, d that is (1 - t)^3 a + 3 (1 - t)^2 t b + 3 (1 - t) t^2 c + t^3 d.
    A label stands above a line that it would hide, and beside a vertical one.
    """
    middle = 3 * ((len(route) - 1) // 3 // 2)
    a, b, c, d = route[middle : middle + 4]
    rest = 1.0 - share
    x, y = rest**3 * a + 3 * rest**2 * share * b + 3 * rest * share**2 * c + share**3 * d
    wide = LABEL_FONT * text_width(words)
    high = LABEL_FONT * 1.3
    if a[0] == d[0]:
        return x + max(0.0, wide / 2 - high), y, wide, high
    above = 0.95 if wide > 0.6 * abs(route[-1, 0] - route[0, 0]) else 0.0
    return x, y - above, wide, high
