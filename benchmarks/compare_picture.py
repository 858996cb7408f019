"""The picture of README: the default beside other libraries, from the tables that `make compare`
printed.

    python benchmarks/compare_picture.py            # reads docs/compare.md, writes docs/compare.svg

A row is a problem of docs/compare.md, a dot the arrow F1 of a method there: twice the right arrows
divided by true and found ones. Of several peers the best one is named.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
PROBLEMS = {
    "NOTEARS ER4, 20, standardised": "lines, 20 variables, dense",
    "NOTEARS ER2, 100, standardised": "lines, 100 variables",
    "NOTEARS ER2, 20, exponential noise, standardised": "lines, skewed noise",
    "BOSS law, 8 variables, degree 3, n = 500": "lines, weak links",
    "CAM, 20 variables, n = 500, standardised": "curves",
    "5 environments, 20 variables, n = 2000": "five environments",
    "the context is an effect, 10 variables, n = 1000": "the context is an effect",
    "PCMCI+, 10 variables, T = 500, 5 lags": "series, 5 lags",
    "child (20), n = 2000": "child, 20 categories",
    "asia (8), n = 2000": "asia, 8 categories",
    "alarm (37), n = 2000": "alarm, 37 categories",
    "cancer (5), n = 2000": "cancer, 5 categories",
}
"""The problems that are shown, in order, and what they are called: every family, and where peers
are ahead.
"""
OURS, PC = "causalcontext", "PC"
INK, OURS_COLOUR, PC_COLOUR, PEER_COLOUR = "#222222", "#0b6e4f", "#9aa0a6", "#d1642b"


def arrow_f1(page: str) -> dict[str, dict[str, float]]:
    """The arrow F1 of every method, by problem; methods without an answer are left out."""
    found: dict[str, dict[str, float]] = {}
    column = -1
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "arrow F1" in cells:
            column = cells.index("arrow F1")
        elif column > 0 and len(cells) > column and cells[0] in PROBLEMS:
            try:
                found.setdefault(cells[0], {})[cells[1]] = float(cells[column])
            except ValueError:
                continue
    return found


def best_peer(scores: dict[str, float]) -> tuple[str, float]:
    """The best method of another library, without its maker's name, and its score."""
    peers = {
        name: score for name, score in scores.items() if not name.startswith((OURS, "the true"))
    }
    name = max(peers, key=lambda peer: peers[peer])
    return name.replace("causal-learn ", "").replace("tigramite ", "").split(",")[0], peers[name]


def picture(found: dict[str, dict[str, float]]) -> plt.Figure:
    """One row a problem: the default, causal-learn's PC where it was run, and the best peer with
    its name.
    """
    figure, axes = plt.subplots(figsize=(7.2, 4.3), layout="constrained")
    for row, (problem, words) in enumerate(PROBLEMS.items()):
        scores = found[problem]
        name, peer = best_peer(scores)
        ours = scores[OURS]
        pc = [score for method, score in scores.items() if method.startswith("causal-learn PC")]
        axes.plot(
            [min(ours, peer), max(ours, peer)], [row, row], color="#dddddd", linewidth=2, zorder=1
        )
        if pc and not name.startswith(PC):
            axes.scatter(
                pc[0],
                row,
                s=26,
                color=PC_COLOUR,
                zorder=2,
                label="PC (causal-learn)" if row == 0 else None,
            )
        axes.scatter(
            peer,
            row,
            s=36,
            color=PEER_COLOUR,
            zorder=3,
            marker="D",
            label="best peer" if row == 0 else None,
        )
        axes.scatter(
            ours,
            row,
            s=58,
            color=OURS_COLOUR,
            zorder=4,
            label="causalcontext" if row == 0 else None,
        )
        axes.annotate(
            name,
            (peer, row),
            xytext=(0, -9),
            textcoords="offset points",
            ha="center",
            fontsize=7,
            color=PEER_COLOUR,
        )
        axes.text(-0.05, row, words, ha="right", va="center", fontsize=9, color=INK)
    axes.set(
        xlim=(-0.02, 1.04),
        ylim=(len(PROBLEMS) - 0.4, -0.8),
        yticks=[],
        xlabel="arrow F1 (1 is best)",
    )
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.grid(axis="x", color="#eeeeee", zorder=0)
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=3, frameon=False, fontsize=9)
    return figure


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tables",
        type=Path,
        default=ROOT / "docs" / "compare.md",
        help="what make compare printed",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "compare.svg")
    asked = parser.parse_args()
    mpl.rcParams |= {
        "svg.hashsalt": "causalcontext",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
    }
    figure = picture(arrow_f1(asked.tables.read_text()))
    figure.savefig(
        asked.out, metadata={"Date": None} if asked.out.suffix == ".svg" else None, dpi=130
    )


if __name__ == "__main__":
    main()
