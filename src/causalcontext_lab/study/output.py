"""A study in a folder: records, tables, pages and the paper's figures.

The figures are metrics against the number of rows, a line per method, a line style per link
assumption.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from causalcontext.data.files import write_whole
from causalcontext.errors import FileError
from causalcontext_lab.study import reports
from causalcontext_lab.study.designs import Design
from causalcontext_lab.study.runner import run_study

LOOKS: Mapping[str, tuple[str, str, str]] = {
    "pc-ac": ("PC-AC", "#0072B2", "o"),
    "pc-m": ("PC-M", "#D55E00", "s"),
    "pc-b": ("PC-B", "#009E73", "^"),
    "pc-p": ("PC-P", "#8C4B7E", "D"),
    "score-ac": ("score-ac", "#000000", "X"),
    "fci": ("FCI-JCI0", "#E69F00", "v"),
    "cd-nod": ("CD-NOD", "#56B4E9", "P"),
}
"""Name, colour (Okabe and Ito's, told apart by colour-blind readers) and marker of every method."""

KNOWLEDGE_WORDS = {"none": "adj. none", "r-children": "adj. R-ch.", "r-all": "adj. R-all"}
METRIC_WORDS = {
    "tpr": "TPR",
    "fpr": "FPR",
    "edge_prec": "edge mark precision",
    "edge_rec": "edge mark recall",
    "tpr_at_context": "TPR at R",
    "fpr_at_context": "FPR at R",
}
LineStyle = Literal["-", "--", ":"]
GRAPH_WORDS = {"union": "union graph", "context": "context graphs"}
SOLID_DASHED_DOTTED: Mapping[str, LineStyle] = {"none": "-", "r-children": "--", "r-all": ":"}
PANEL_WIDTH = 3.4
ROW_HEIGHT = 1.75
MARGIN = 0.75


@dataclass(frozen=True)
class FigureSpec:
    """A figure of the paper."""

    name: str  # the name of its file
    # plots of these designs side by side, left to right; those without any data are left out
    panels: Mapping[str, tuple[str, ...]]
    # metrics, graphs: columns and rows of the plots of a panel
    metrics: tuple[str, ...] = ("tpr", "fpr")
    graphs: tuple[str, ...] = ("union", "context")
    # what is shown, and how
    styles: Mapping[str, LineStyle] = field(default_factory=lambda: SOLID_DASHED_DOTTED)


NOTHING_KNOWN: Mapping[str, LineStyle] = {"none": "-"}
EDGE_MARKS = ("edge_prec", "edge_rec")
PAPER_FIGURES: tuple[FigureSpec, ...] = (
    FigureSpec(
        "main",
        {"parametric test": ("main",), "nonparametric test": ("nonparametric",)},
        styles={"none": "-", "r-children": ":"},
    ),
    FigureSpec("all-links-known", {"": ("main",)}, styles={"r-all": "-"}),
    FigureSpec("edge-marks", {"": ("main",)}, EDGE_MARKS),
    FigureSpec("cycles", {"": ("cycles",)}),
    FigureSpec(
        "union-methods",
        {
            "no union cycles": ("main", "baselines-main"),
            "enforced union cycles": ("cycles", "baselines-cycles"),
        },
        graphs=("union",),
        styles=NOTHING_KNOWN,
    ),
    FigureSpec(
        "union-methods-edge-marks",
        {"": ("main", "baselines-main")},
        EDGE_MARKS,
        ("union",),
        NOTHING_KNOWN,
    ),
    FigureSpec(
        "changed-links", {"2 changed links": ("changes-2",), "3 changed links": ("changes-3",)}
    ),
    FigureSpec("density", {"density 0.6": ("density-0.6",)}),
    FigureSpec("nodes", {"6 nodes": ("nodes-6",), "12 nodes": ("nodes-12",)}),
    FigureSpec("balance", {"balance 1.5": ("balance-1.5",)}),
    FigureSpec(
        "links-at-context",
        {"": ("main",)},
        ("tpr_at_context", "fpr_at_context"),
        ("union",),
        NOTHING_KNOWN,
    ),
)
"""One per figure of the paper, and one of ours: links at the context apart."""

PUBLISHED_FIGURES: tuple[FigureSpec, ...] = (
    FigureSpec(
        "main-as-published", {"": ("as-published",)}, styles={"none": "-", "r-children": ":"}
    ),
    FigureSpec("all-links-known-as-published", {"": ("as-published",)}, styles={"r-all": "-"}),
    FigureSpec("edge-marks-as-published", {"": ("as-published",)}, EDGE_MARKS),
    FigureSpec(
        "union-methods-as-published",
        {"": ("as-published", "as-published-baselines")},
        graphs=("union",),
        styles=NOTHING_KNOWN,
    ),
)


def draw_figure(spec: FigureSpec, table: pd.DataFrame) -> Figure | None:
    """The figure, or None if the table holds nothing of it."""
    method = table["method"].str.removeprefix("published ")
    error = table["bootstrap_std"].fillna(0.0)
    table = table.assign(method=method, bootstrap_std=error)
    kept = table["metric"].isin(spec.metrics) & table["graph"].isin(spec.graphs)
    table = table[kept & table["knowledge"].isin(list(spec.styles))]
    panels = {title: table[table["design"].isin(designs)] for title, designs in spec.panels.items()}
    panels = {title: rows for title, rows in panels.items() if len(rows)}
    if not panels:
        return None
    height = ROW_HEIGHT * len(spec.graphs) + MARGIN + 0.25 * any(panels)
    figure = Figure(figsize=(PANEL_WIDTH * len(panels) + 0.3, height), layout="constrained")
    blocks = figure.subfigures(1, len(panels), squeeze=False)[0]
    shown = pd.concat(panels.values())
    limits = {}
    for metric in spec.metrics:  # one range for all plots, so that they can be compared
        some = shown[shown["metric"] == metric]
        low = some["value"].min()
        high = (some["value"] + some["bootstrap_std"]).max()
        floor = 0.0 if "fpr" in metric else max(0.0, np.floor(low * 10 - 0.5) / 10)
        floor -= 0.03 * high * (floor == 0.0)  # so that a line at zero is seen
        limits[metric] = (floor, high * 1.06 + 1e-3)
    for block, (title, rows) in zip(blocks, panels.items(), strict=True):
        if title:
            block.suptitle(title, fontsize=9)
        _draw_block(block, spec, rows, limits)
    _add_legend(figure, spec, shown)
    return figure


def _draw_block(
    block: Any, spec: FigureSpec, rows: pd.DataFrame, limits: Mapping[str, tuple[float, float]]
) -> None:
    axes = block.subplots(len(spec.graphs), len(spec.metrics), squeeze=False, sharex=True)
    for place, graph in enumerate(spec.graphs):
        for column, metric in enumerate(spec.metrics):
            shown = rows[(rows["graph"] == graph) & (rows["metric"] == metric)]
            _draw_plot(axes[place, column], shown, spec.styles)
            axes[place, column].set_ylim(*limits[metric])
            if place == 0:
                axes[place, column].set_title(METRIC_WORDS[metric], fontsize=8.5)
        axes[place, 0].set_ylabel(GRAPH_WORDS[graph], fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("number of rows", fontsize=8)


def _draw_plot(axis: Axes, rows: pd.DataFrame, styles: Mapping[str, LineStyle]) -> None:
    """One line per method and kind of knowledge, side-stepped a little so that error bars stay
    apart.
    """
    samples = sorted(rows["samples"].unique())
    methods = [method for method in LOOKS if method in set(rows["method"])]
    for step, method in enumerate(methods):
        _, colour, marker = LOOKS[method]
        shift = 0.07 * (step - (len(methods) - 1) / 2)
        for kind, style in styles.items():
            line = rows[(rows["method"] == method) & (rows["knowledge"] == kind)].sort_values(
                "samples"
            )
            places = np.array([samples.index(n) for n in line["samples"]], dtype=float) + shift
            axis.errorbar(
                places,
                line["value"],
                yerr=line["bootstrap_std"],
                color=colour,
                linestyle=style,
                marker=marker,
                markersize=3.2,
                linewidth=1.1,
                elinewidth=0.9,
                capsize=1.8,
            )
    axis.set_xticks(range(len(samples)), [str(n) for n in samples])
    axis.tick_params(labelsize=7, length=2)
    axis.grid(axis="y", linewidth=0.4, alpha=0.5)
    axis.spines[["top", "right"]].set_visible(False)


def _add_legend(figure: Figure, spec: FigureSpec, rows: pd.DataFrame) -> None:
    """Methods by colour and marker, and under them link assumptions by line style, below the
    plots.
    """
    present = set(rows["method"])
    known = set(rows["knowledge"])
    methods = [
        Line2D([], [], color=colour, marker=marker, markersize=4, linewidth=1.2, label=label)
        for method, (label, colour, marker) in LOOKS.items()
        if method in present
    ]
    styles = [
        Line2D([], [], color="0.45", linestyle=style, linewidth=1.2, label=KNOWLEDGE_WORDS[kind])
        for kind, style in spec.styles.items()
        if kind in known
    ]
    most = 4 if figure.get_figwidth() < 5 else 8
    columns = len(methods) if len(methods) <= most else -(-len(methods) // 2)
    rows_of_methods = [
        methods[begin : begin + columns] for begin in range(0, len(methods), columns)
    ]
    # a legend fills its entries column by column
    nothing = Line2D([], [], linestyle="none", label=" ")
    handles = [
        one for column in zip_longest(*rows_of_methods, styles, fillvalue=nothing) for one in column
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=len(handles) // (len(rows_of_methods) + 1),
        fontsize=7.5,
        frameon=False,
        handlelength=2.4,
        columnspacing=1.2,
    )


def run_designs(
    designs: Mapping[str, Design],
    folder: Path,
    n_jobs: int,
    progress: bool,
    tell: Callable[[str], None],
) -> dict[str, pd.DataFrame]:
    """Every design is run or resumed; its tables "runs", "summary", "times" and "failures" are
    written and returned.
    """
    records_folder = _made(folder / "records")
    tables_of = {
        "runs": reports.run_table,
        "summary": reports.summary_table,
        "times": reports.time_table,
        "failures": reports.failure_table,
    }
    parts: dict[str, list[pd.DataFrame]] = {key: [] for key in tables_of}
    for name, design in designs.items():
        begin = time.perf_counter()
        records = run_study(
            design, records_folder / f"{name}.jsonl", n_jobs=n_jobs, progress=progress
        )
        failed = sum(record["kind"] == "run" and "reason" in record for record in records)
        tell(
            f"{name}: {len(design.jobs())} tables in {time.perf_counter() - begin:.1f} s, {failed}"
            " failed runs"
        )
        for key, made in tables_of.items():
            parts[key].append(made(design, records))
    tables = {
        key: pd.concat([part for part in found if len(part)] or found[:1], ignore_index=True)
        for key, found in parts.items()
    }
    for key, table in tables.items():
        reports.save_table(table, folder / f"{key}.csv")
    return tables


def write_paper_pages(
    folder: Path,
    tables: Mapping[str, pd.DataFrame],
    as_published: bool,
    published: pd.DataFrame | None,
) -> Iterator[str]:
    """The figures of the paper and the comparisons are in the folder; a line says where each of
    them is.
    """
    runs = tables["runs"]
    summary = tables["summary"]
    specs = PUBLISHED_FIGURES if as_published else PAPER_FIGURES
    pages = {}
    figures = _made(folder / "figures")
    for spec in specs:
        if (figure := draw_figure(spec, summary)) is not None:
            figure.savefig(figures / f"{spec.name}.pdf", dpi=200, metadata={"CreationDate": None})
            figure.savefig(figures / f"{spec.name}.png", dpi=200)
            yield f"figure: {figures / spec.name}.png"
    with_main = "main" in set(summary["design"])
    if not as_published:
        pages["ordering.md"] = reports.ordering_report(runs)
        if with_main:
            pages["runtimes.md"] = reports.runtime_report(pd.read_csv(folder / "times.csv"))
    if as_published and published is not None:
        reports.save_table(reports.compare(summary, published), folder / "comparison.csv")
        pages["comparison.md"] = reports.replication_report(summary, published)
    elif with_main and published is not None:
        pages["comparison.md"] = reports.correction_report(summary, published)
    for name, page in pages.items():
        write_whole(folder / name, page)
        yield f"page: {folder / name}"


def _made(folder: Path) -> Path:
    """The folder, made if its parent is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder
