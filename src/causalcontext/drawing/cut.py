"""`result.plot("cut")`: the score over the places of a cut, the smooth change beside it, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from causalcontext.drawing.names import printable
from causalcontext.drawing.paint import writable
from causalcontext.drawing.plot import axes_for, figure_of, save_picture
from causalcontext.drawing.strokes import INK, check_picture_path
from causalcontext.errors import OptionError
from causalcontext.results.cut import CUT, Cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causalcontext.results.contexts import ContextGraphs

SIZE = (5.6, 3.7)
CUT_COLOUR, SMOOTH_COLOUR = "#b5532a", "#2a6f97"


def plot_cut(
    result: ContextGraphs, axes: Axes | Sequence[Axes] | None = None, path: str | FilePath | None = None,
    dpi: float = 150,
) -> tuple[Axes, ...]:  # fmt: skip
    """One panel for every cut that was looked for; see `ContextGraphs.plot`."""
    if not result.cuts:
        raise OptionError('there is no cut to show: pass context=cc.threshold("X", "best") to discover')
    if path is not None:
        check_picture_path(path)
    chosen = axes_for(len(result.cuts), "cuts", axes, SIZE)
    for cut, one in zip(result.cuts, chosen, strict=True):
        paint_cut(one, cut)
    if path is not None:
        save_picture(figure_of(chosen), path, dpi)
    return chosen


def paint_cut(axes: Axes, cut: Cut) -> None:
    """The profile of a cut on some axes; the interval and the place are drawn of a cut alone."""
    axes.plot(cut.places, cut.scores, color=INK, label="with a cut there", zorder=3)
    axes.axhline(cut.smooth, color=SMOOTH_COLOUR, linestyle="--", label="best smooth change", zorder=2)
    axes.axhline(cut.needed, color=CUT_COLOUR, linestyle=":", label="needed for a cut", zorder=2)
    axes.axhline(0.0, color="#999999", linewidth=0.8, label="no change", zorder=1)
    if cut.verdict == CUT:
        assert cut.low is not None
        assert cut.high is not None
        axes.axvspan(cut.low, cut.high, color=CUT_COLOUR, alpha=0.25, linewidth=0, label="95 % interval", zorder=0)
        axes.axvline(cut.value, color=CUT_COLOUR, linewidth=1.2, zorder=2)
    title = f"{cut.column}: {cut.verdict}"
    axes.set_title(writable(printable(title)), parse_math=False, fontsize="medium")
    axes.set_xlabel(writable(printable(cut.column)), parse_math=False)
    axes.set_ylabel("log score above that\nwithout a change (nats)")
    axes.set_ylim(top=1.1 * max(*cut.scores, cut.smooth, cut.needed, 1.0))
    axes.legend(frameon=False, fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    axes.spines[["top", "right"]].set_visible(False)
