"""The picture of a calibration: sizes with intervals beside powers, one line for every row of the table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.diagnostics.calibration.report import (
    RIGHT,
    TOO_OFTEN,
    TOO_RARELY,
    UNTESTABLE,
    Calibration,
    compatible,
    row_name,
    rows_of,
)
from causalcontext.drawing.paint import writable
from causalcontext.drawing.plot import save_picture
from causalcontext.drawing.strokes import INK, SOFT, check_picture_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = {RIGHT: ("#0072b2", "o"), TOO_OFTEN: ("#d55e00", "^"), TOO_RARELY: ("#8c4b7e", "v")}
"""Colour and marker of every verdict."""
BAND, DIM = "#e8e8e8", "#6b6b6b"
WIDTH, ROW_HEIGHT, MARGIN = 8.0, 0.27, 1.15


def plot(report: Calibration, path: str | Path | None, dpi: float) -> tuple[Axes, ...]:
    """The picture on new axes, saved if there is a path; see `Calibration.plot`."""
    from matplotlib import pyplot

    if path is not None:
        check_picture_path(path)
    rows = len(report.table)
    figure = pyplot.figure(figsize=(WIDTH, ROW_HEIGHT * rows + MARGIN), layout="constrained")
    sizes, powers = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _paint_sizes(sizes, report)
    _paint_powers(powers, report)
    sizes.set_yticks(range(rows), [writable(row_name(row)) for row in rows_of(report.table)], parse_math=False)
    sizes.set_ylim(rows - 0.4, -0.6)
    for axes in (sizes, powers):
        axes.tick_params(labelsize=8, length=2)
        axes.grid(axis="x", linewidth=0.4, alpha=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
    powers.tick_params(left=False, labelleft=False)
    if path is not None:
        save_picture(figure, path, dpi)
    return sizes, powers


def _paint_sizes(axes: Axes, report: Calibration) -> None:
    alpha, table = report.settings["alpha"], report.table
    axes.axvline(alpha, color=INK, linewidth=0.9)
    for place, row in enumerate(rows_of(table)):
        if row.verdict == UNTESTABLE:
            axes.text(alpha, place, " untestable", fontsize=7.5, color=DIM, va="center")
            continue
        band = compatible(alpha, row.repeats - row.untested)
        axes.fill_betweenx([place - 0.5, place + 0.5], *band, color=BAND, linewidth=0)
        colour, marker = LOOKS[str(row.verdict)]
        axes.plot([row.size_low, row.size_high], [place, place], color=colour, linewidth=1.4)
        axes.plot(row.size, place, color=colour, marker=marker, markersize=5, linestyle="none")
    widest = float(np.nanmax([table["size_high"].max(), 3 * alpha]))  # the band is seen, too
    axes.set_xlim(0.0, min(1.02, 1.05 * widest))
    axes.set_xlabel(f"size with 99 % interval, line at {alpha:g}", fontsize=8.5)
    _add_legend(axes, [verdict for verdict in LOOKS if (table["verdict"] == verdict).any()])


def _paint_powers(axes: Axes, report: Calibration) -> None:
    table, settings = report.table, report.settings
    for place, row in enumerate(rows_of(table)):
        if np.isnan(row.power):
            axes.text(0.0, place, " none", fontsize=7.5, color=DIM, va="center")
            continue
        axes.plot([0.0, row.power], [place, place], color=SOFT, linewidth=0.8)
        axes.plot(row.power, place, color=INK, marker="D", markersize=4, linestyle="none", clip_on=False)
    axes.set_xlim(0.0, 1.02)
    axes.set_xlabel(f"power, {settings['alternative']} {settings['effect']:g}", fontsize=8.5)


def _add_legend(axes: Axes, verdicts: list[str]) -> None:
    from matplotlib.lines import Line2D

    handles: list[Any] = [
        Line2D([], [], color=LOOKS[verdict][0], marker=LOOKS[verdict][1], markersize=5, linewidth=1.4, label=verdict)
        for verdict in verdicts
    ]
    if handles:
        axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, fontsize=8, frameon=False,
                    borderaxespad=0.2, handlelength=1.6)  # fmt: skip
