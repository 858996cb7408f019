"""`result.plot_mechanism("Y")`: the effect of every cause on Y; `result.plot("cut")`: the score
over places of a cut.

A panel of a mechanism has one cause on its horizontal axis, and the partial curve of the effect:
its expected value where all other causes are at their averages (`results/equations.py`). Contexts
that share the mechanism share a line. Rows of a table can be put beside it: each at the curve's
value for its cause, plus its own residual from the whole equation.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from causalcontext.drawing.names import printable, shortened
from causalcontext.drawing.paint import writable
from causalcontext.drawing.plot import axes_for, save_picture
from causalcontext.drawing.settings import (
    CUT_FIGURE,
    LONGEST_CURVE_LABEL,
    MECHANISM_PANEL,
    MOST_DOTS,
)
from causalcontext.drawing.strokes import INK, check_picture_path, context_colour, contexts_title
from causalcontext.errors import DataError, OptionError, did_you_mean
from causalcontext.kernels.arrays import Floats
from causalcontext.results.cut import CUT
from causalcontext.results.equations import PartialCurve, causes_of, mechanisms_of, partial_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causalcontext.results.contexts import ContextGraphs

_DASHES = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D")


def plot_mechanism(
    result: ContextGraphs,
    effect: str,
    table: Any = None,
    *,
    axes: Axes | Sequence[Axes] | None = None,
    path: str | FilePath | None = None,
    dpi: float = 150,
) -> tuple[Axes, ...]:
    """The axes with a panel for every cause of the effect; see `ContextGraphs.plot_mechanism`.

    With `table`, the rows are drawn as dots where the effect is a number. Results with lags have no
    rows to draw, since a row of the table is none of their windows.
    """
    check_picture_path(path)
    causes = causes_of(result, effect)
    if not causes:
        raise OptionError(
            f"{effect!r} has no causes among the system variables, so there is no curve to draw"
        )
    curves = list(partial_curves(result, effect))
    chosen = axes_for(len(causes), "causes", axes, MECHANISM_PANEL)
    if table is not None and result.series is not None:
        raise OptionError(
            "plot_mechanism cannot draw the rows of a result with lags; leave out `table`"
        )
    rows = None if table is None else pd.DataFrame(table)
    for cause, panel in zip(causes, chosen, strict=True):
        _paint(panel, result, cause, effect, [curve for curve in curves if curve.cause == cause])
        if rows is not None and mechanisms_of(result).scales[result.position(effect)].is_number:
            _paint_rows(panel, result, cause, effect, rows)
    save_picture(chosen, path, dpi)
    return chosen


def _paint(
    axes: Axes, result: ContextGraphs, cause: str, effect: str, curves: Sequence[PartialCurve]
) -> None:
    """Draw the panel of a cause: its curves, the names of both variables, and a legend.

    Of an effect with levels, the vertical axis has their probabilities, a curve for each.
    """
    levels = list(dict.fromkeys(curve.level for curve in curves))
    groups = list(dict.fromkeys(curve.contexts for curve in curves))
    is_number = all(curve.numeric for curve in curves)
    for curve in curves:
        colour = _colour(result, curve, levels)
        group = groups.index(curve.contexts)
        has_own_colour = levels == [None] and colour != INK
        style = _style(is_number, 0 if has_own_colour else group, group)
        _paint_curve(axes, curve, is_number, colour, {"label": _label(result, curve), **style})
    if not is_number and curves:
        axes.set_xticks(range(len(curves[0].at)), [_shown(level) for level in curves[0].at])
    axes.set_xlabel(_shown(cause), parse_math=False)
    effect_text = _shown(effect)
    if levels != [None]:
        effect_text = f"probability of {effect_text}"
    axes.set_ylabel(effect_text, parse_math=False)
    if any(_label(result, curve) for curve in curves):
        axes.legend(frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)


def _style(is_number: bool, dash: int, marker: int) -> dict[str, Any]:
    """The line of a curve, as matplotlib takes it.

    Over numbers it is a line whose dashes tell groups of contexts apart; over levels, markers on a
    dotted line, since there is nothing between two levels.
    """
    if is_number:
        return {"linestyle": _DASHES[dash % len(_DASHES)]}
    return {"linestyle": ":", "marker": _MARKERS[marker % len(_MARKERS)]}


def _paint_curve(
    axes: Axes, curve: PartialCurve, is_number: bool, colour: str, style: dict[str, Any]
) -> None:
    """Draw one curve, and one standard deviation of the noise around it where its spread is
    known.
    """
    at = np.array(curve.at, dtype=float) if is_number else np.arange(len(curve.at))
    axes.plot(at, curve.values, color=colour, zorder=3, **style)
    if curve.spread is not None:
        low = curve.values - curve.spread
        high = curve.values + curve.spread
        axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0, zorder=2)


def _colour(result: ContextGraphs, curve: PartialCurve, levels: Sequence[Any]) -> str:
    """The colour of a line: that of its level, else of its only context, else ink."""
    if list(levels) != [None]:
        return context_colour(levels, levels.index(curve.level))
    if len(curve.contexts) == 1 < len(result.contexts):
        return context_colour(result.contexts, curve.contexts[0])
    return INK


def _label(result: ContextGraphs, curve: PartialCurve) -> str:
    """The label of a line: the level whose probability it is, and its contexts if it is not that of
    all.

    It is empty where one line stands for everything.
    """
    parts = [] if curve.level is None else [str(curve.level)]
    if len(curve.contexts) < len(result.contexts):
        parts.append(contexts_title(result, [result.contexts[r] for r in curve.contexts]))
    return _shown(shortened(", ".join(parts), LONGEST_CURVE_LABEL))


def _shown(text: object) -> str:
    """The text as matplotlib can draw it, on one line."""
    return writable(printable(str(text))) if str(text) else ""


def _paint_rows(
    axes: Axes, result: ContextGraphs, cause: str, effect: str, rows: pd.DataFrame
) -> None:
    """Draw every complete row where the curve puts it, plus its residual.

    For a row with cause x and effect y in a context, the height of the dot is f(x) + y - E(y), f
    being the partial curve and E the equation with all causes. Rows of a context are thinned to
    `MOST_DOTS`; dots over a category are spread by at most .2, in the order of the rows, and not at
    random.
    """
    mechanisms = mechanisms_of(result)
    response = result.position(effect)
    known = {
        result.position(name): _column(rows, name) for name in (effect, *causes_of(result, effect))
    }
    names = [result.names[position] for position in result.cells.positions]
    made = [name for name in names if name not in rows.columns and name in result.made_of]
    if made:
        raise DataError(
            f"{made[0]!r} is made out of a column; to draw rows, pass a table with a column of that"
            " name"
        )
    columns = [_column(rows, name) for name in names]
    for context, value in enumerate(result.contexts):
        fixed = zip(columns, value if len(names) > 1 else (value,), strict=False)
        in_context = np.logical_and.reduce(
            [
                np.ones(len(rows), dtype=bool),
                *(np.asarray(column == level, dtype=bool) for column, level in fixed),
            ]
        )
        complete = in_context & np.logical_and.reduce(
            [pd.notna(column) for column in known.values()]
        )
        thin = np.flatnonzero(complete)[:: max(1, -(-int(complete.sum()) // MOST_DOTS))]
        if not thin.size:
            continue
        part = {position: column[thin] for position, column in known.items()}
        curve = mechanisms.partial_curve(
            response, result.position(cause), part[result.position(cause)], context
        )
        rest = np.asarray(part[response], dtype=float) - mechanisms.expected(
            response, part, context
        )
        x: Floats | Any = part[result.position(cause)]
        levels = mechanisms.scales[result.position(cause)].levels
        if levels:
            x = np.array([levels.index(value) for value in x]) + np.linspace(-0.2, 0.2, len(thin))
        colour = context_colour(result.contexts, context)
        axes.plot(x, curve + rest, ".", color=colour, markersize=2, alpha=0.35, zorder=1)


def _column(rows: pd.DataFrame, name: str) -> Any:
    """The values of a column of the caller's table, shape (rows,); an unknown name is refused."""
    if name not in rows.columns:
        raise DataError(
            f"the table has no column {name!r}{did_you_mean(name, list(map(str, rows.columns)))}"
        )
    return rows[name].to_numpy()


CUT_COLOUR = "#b5532a"
SMOOTH_COLOUR = "#2a6f97"


def plot_cut(
    result: ContextGraphs,
    axes: Axes | Sequence[Axes] | None = None,
    path: str | FilePath | None = None,
    dpi: float = 150,
) -> tuple[Axes, ...]:
    """The axes with the profile of every cut that was looked for.

    The vertical axis has the log score above that without any change, in nats: a line over the
    places of a cut, and flat ones for the best smooth change and for what a cut needs. The interval
    and the place are drawn where a cut was found alone.
    """
    if not result.cuts:
        raise OptionError(
            'there is no cut to show: pass context=cc.threshold("X", "best") to discover'
        )
    check_picture_path(path)
    chosen = axes_for(len(result.cuts), "cuts", axes, CUT_FIGURE)
    for cut, panel in zip(result.cuts, chosen, strict=True):
        panel.plot(cut.places, cut.scores, color=INK, label="with a cut there", zorder=3)
        panel.axhline(
            cut.smooth, color=SMOOTH_COLOUR, linestyle="--", label="best smooth change", zorder=2
        )
        panel.axhline(
            cut.needed, color=CUT_COLOUR, linestyle=":", label="needed for a cut", zorder=2
        )
        panel.axhline(0.0, color="#999999", linewidth=0.8, label="no change", zorder=1)
        if cut.verdict == CUT:
            assert cut.low is not None
            assert cut.high is not None
            panel.axvspan(
                cut.low,
                cut.high,
                color=CUT_COLOUR,
                alpha=0.25,
                linewidth=0,
                label="95 % interval",
                zorder=0,
            )
            panel.axvline(cut.value, color=CUT_COLOUR, linewidth=1.2, zorder=2)
        panel.set_title(_shown(f"{cut.column}: {cut.verdict}"), parse_math=False, fontsize="medium")
        panel.set_xlabel(writable(printable(cut.column)), parse_math=False)
        panel.set_ylabel("log score above that\nwithout a change (nats)")
        panel.set_ylim(top=1.1 * max(*cut.scores, cut.smooth, cut.needed, 1.0))
        panel.legend(
            frameon=False, fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2)
        )
        panel.spines[["top", "right"]].set_visible(False)
    save_picture(chosen, path, dpi)
    return chosen
