"""What a calibration found: shares of rejections with intervals and verdicts, sentences about them,
a picture.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.drawing.strokes import INK, SOFT, check_picture_path
from causalcontext.views import REASON_TEXT, Reason
from causalcontext_lab.calibration.tables import NONE, QueryClass

if TYPE_CHECKING:
    from matplotlib.axes import Axes


QUANTILE = 2.5758293035489004
"""Of the normal law, for intervals of 99 %: a table has a dozen rows, and few of them should be
wrong by chance.
"""
RIGHT = "right"
TOO_OFTEN = "rejects too often"
TOO_RARELY = "rejects too rarely"
UNTESTABLE = "untestable"
COLUMNS = (
    "pair",
    "given",
    "test",
    "rows",
    "size",
    "size_low",
    "size_high",
    "verdict",
    "power",
    "repeats",
    "untested",
    "alternative",
    "reason",
)
ADVICE = {
    TOO_OFTEN: "expect false links, and use another test",
    TOO_RARELY: "links that are found are reliable, but more are missed than necessary",
}


class Repeat(NamedTuple):
    """What one repeat of a question found; p-values are NaN where a query could not be tested."""

    question: int
    repeat: int
    x: str
    y: str
    given: tuple[str, ...]
    response: str
    test: str
    rows: int
    p: float
    reason: int
    alternative: str
    p_alternative: float


def queries_frame(questions: Sequence[QueryClass], repeats: Sequence[Repeat]) -> pd.DataFrame:
    """Every repeat, question by question."""
    ordered = sorted(repeats, key=lambda found: (found.question, found.repeat))
    frame = frame_of(ordered, columns=list(Repeat._fields))
    frame = frame.rename(columns={"given": "conditions"}).drop(columns="repeat")
    frame.insert(1, "pair", [questions[place].pair for place in frame["question"]])
    frame.insert(2, "given", [questions[place].size for place in frame["question"]])
    return frame


def calibration_table(queries: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """One row for every question that has a repeat."""
    rows = [_row(part, alpha) for _, part in queries.groupby("question", sort=True)]
    return frame_of(rows, columns=list(COLUMNS))


def wilson(rejected: int, tested: int) -> tuple[float, float]:
    """The interval of shares that `rejected` out of `tested` do not contradict (Wilson 1927)."""
    if tested == 0:
        return np.nan, np.nan
    share = rejected / tested
    weight = QUANTILE**2 / tested
    centre = (share + weight / 2) / (1 + weight)
    half = np.sqrt(weight * (share * (1 - share) + weight / 4)) / (1 + weight)
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def compatible(alpha: float, tested: int) -> tuple[float, float]:
    """The sizes whose Wilson interval contains `alpha`."""
    half = QUANTILE * np.sqrt(alpha * (1 - alpha) / max(tested, 1))
    return float(max(alpha - half, 0.0)), float(min(alpha + half, 1.0))


def _row(part: pd.DataFrame, alpha: float) -> tuple[Any, ...]:
    tested = part["p"].dropna()
    changed = part["p_alternative"].dropna()
    low, high = wilson(int((tested <= alpha).sum()), len(tested))
    verdict = (
        UNTESTABLE
        if np.isnan(low)
        else TOO_OFTEN
        if low > alpha
        else TOO_RARELY
        if high < alpha
        else RIGHT
    )
    rows = int(part.loc[tested.index if len(tested) else part.index, "rows"].median())
    size, power = ((p <= alpha).mean() if len(p) else np.nan for p in (tested, changed))
    names, alternatives = (sorted(set(part[name]) - {"", NONE}) for name in ("test", "alternative"))
    reasons = Counter(
        Reason(reason) for reason in part["reason"] if reason != Reason.TESTABLE
    ).most_common(1)
    first = part.iloc[0]
    return (
        first["pair"],
        first["given"],
        ", ".join(names),
        rows,
        size,
        low,
        high,
        verdict,
        power,
        len(part),
        len(part) - len(tested),
        ", ".join(alternatives) or NONE,
        REASON_TEXT[reasons[0][0]] if reasons else "",
    )


@dataclass(frozen=True, eq=False)
class Calibration:
    """Size and power of a test on a table of the user.

    Attributes
    ----------
    table : DataFrame
        One row for every class of pair and number of conditions, or for the query that was named:
        the tests that answered, the rows they used (the median), the share of null tables that were
        rejected (`size`) with its 99 % Wilson interval, the verdict, the share that was rejected
        under the alternative (`power`), how many repeats there were and how many could not be
        tested.
    queries : DataFrame
        Every repeat: columns that were drawn, p-values of the null table (`p`) and of the changed
        one.
    settings : mapping
        The arguments of `calibrate`.
    notes : tuple of str
        What was done to the table before.
    complete : bool
        False after Ctrl-C.
    """

    table: pd.DataFrame
    queries: pd.DataFrame
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    complete: bool = True

    def plot(self, path: str | Path | None = None, *, dpi: float = 150) -> tuple[Axes, ...]:
        """Sizes with their intervals beside powers, row by row; saved to `path`, a .png, .svg or
        .pdf file.
        """
        from matplotlib import pyplot

        from causalcontext.drawing.paint import writable
        from causalcontext.drawing.plot import save_picture

        check_picture_path(path)
        rows = len(self.table)
        figure = pyplot.figure(figsize=(WIDTH, ROW_HEIGHT * rows + MARGIN), layout="constrained")
        sizes, powers = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        _paint_sizes(sizes, self)
        _paint_powers(powers, self)
        sizes.set_yticks(
            range(rows), [writable(row_name(row)) for row in rows_of(self.table)], parse_math=False
        )
        sizes.set_ylim(rows - 0.4, -0.6)
        for axes in (sizes, powers):
            axes.tick_params(labelsize=8, length=2)
            axes.grid(axis="x", linewidth=0.4, alpha=0.5)
            axes.set_axisbelow(True)
            axes.spines[["top", "right", "left"]].set_visible(False)
        powers.tick_params(left=False, labelleft=False)
        save_picture((sizes, powers), path, dpi)
        return sizes, powers

    def to_dict(self) -> dict[str, Any]:
        """The table, settings and notes as plain lists, mappings, numbers and text; None where
        there is no number.
        """
        rows = json.loads(self.table.to_json(orient="records", double_precision=15))
        return {
            "settings": dict(self.settings),
            "complete": self.complete,
            "notes": list(self.notes),
            "table": rows,
            "sentences": list(self.sentences()),
        }

    def sentences(self) -> Iterator[str]:
        """What the table says: how many rows are right, which are not and what to do, what was left
        out.
        """
        verdicts = self.table["verdict"]
        tested = int((verdicts != UNTESTABLE).sum())
        if tested:
            right = int((verdicts == RIGHT).sum())
            yield (
                f"size is right in {right} of {tested} rows, where its interval contains"
                f" {self.settings['alpha']:g}"
            )
            repeats = int((self.table["repeats"] - self.table["untested"]).max())
            low, high = compatible(self.settings["alpha"], repeats)
            yield (
                f"{repeats} repeats do not tell a size between {low:.3f} and {high:.3f} from the"
                " right one"
            )
        for row in rows_of(self.table[verdicts.isin([TOO_OFTEN, TOO_RARELY])]):
            yield f"{row_name(row)}: {self._finding(row)}"
        for (pair, reason), rows in self.table[self.table["untested"] > 0].groupby(
            ["pair", "reason"], sort=False
        ):
            asked = f"{pair}{_given(rows['given'].tolist())}"
            if (rows["verdict"] == UNTESTABLE).all():
                yield f"{asked}: untestable ({reason}); such pairs keep their edge"
            else:
                total = rows["repeats"].sum()
                yield (
                    f"{asked}: {rows['untested'].sum()} of {total} repeats could not be tested"
                    f" ({reason})"
                )
        yield from self.notes
        if not self.complete:
            yield (
                f"interrupted after {self.table['repeats'].min()} of {self.settings['repeats']}"
                " repeats"
            )

    def heading(self) -> str:
        """What was calibrated, in one line."""
        asked = self.settings
        return (
            f"{asked['test']}: {asked['repeats']} repeats of a {asked['null']} null at alpha"
            f" {asked['alpha']:g}, power against {asked['alternative']} with effect"
            f" {asked['effect']:g}"
        )

    def __str__(self) -> str:
        header, *rows = shown(self.table)
        frame = frame_of(rows, columns=header)
        return "\n".join([self.heading(), "", frame.to_string(index=False), "", *self.sentences()])

    def _finding(self, row: Any) -> str:
        """A verdict with its numbers, and for wrong rejections the column that has most of them."""
        found = (
            f"{row.verdict} ({row.size:.3f}, interval {row.size_low:.3f} to {row.size_high:.3f})"
        )
        if row.verdict == TOO_RARELY:
            return f"{found}; {ADVICE[row.verdict]}"
        queries = self.queries.query("pair == @row.pair and given == @row.given and p.notna()")
        shares = (queries["p"] <= self.settings["alpha"]).groupby(queries["response"]).mean()
        worst = (
            "" if len(shares) < 2 else f", most often for {shares.idxmax()} ({shares.max():.2f})"
        )
        return f"{found}{worst}; {ADVICE[row.verdict]}"


def rows_of(table: pd.DataFrame) -> list[Any]:
    """The rows of a table, with the columns as attributes."""
    return list(table.itertuples(index=False))


def row_name(row: Any) -> str:
    """`two numbers given 1 column`."""
    return f"{row.pair}{_given([row.given])}"


def shown(table: pd.DataFrame) -> list[list[str]]:
    """A header and rows of text, for terminals."""
    header = ["pair", "given", "test", "rows", "size", "interval", "verdict", "power"]
    rows = [
        [
            row.pair,
            str(row.given),
            row.test or "-",
            f"{row.rows:,}",
            _number(row.size),
            "-" if np.isnan(row.size_low) else f"{row.size_low:.3f}-{row.size_high:.3f}",
            row.verdict,
            _number(row.power),
        ]
        for row in rows_of(table)
    ]
    return [header, *rows]


def _given(sizes: list[int]) -> str:
    """` given 1 or 2 columns`; nothing without conditions."""
    if sizes == [0]:
        return ""
    listed = " or ".join(filter(None, [", ".join(map(str, sizes[:-1])), str(sizes[-1])]))
    return f" given {listed} column{'' if sizes == [1] else 's'}"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


LOOKS = {RIGHT: ("#0072b2", "o"), TOO_OFTEN: ("#d55e00", "^"), TOO_RARELY: ("#8c4b7e", "v")}
"""Colour and marker of every verdict."""
BAND = "#e8e8e8"
DIM = "#6b6b6b"
WIDTH = 8.0
ROW_HEIGHT = 0.27
MARGIN = 1.15


def _paint_sizes(axes: Axes, report: Calibration) -> None:
    from matplotlib.lines import Line2D

    alpha = report.settings["alpha"]
    table = report.table
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
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=5, linewidth=1.4, label=verdict)
        for verdict, (colour, marker) in LOOKS.items()
        if (table["verdict"] == verdict).any()
    ]
    if handles:
        axes.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=3,
            fontsize=8,
            frameon=False,
            borderaxespad=0.2,
            handlelength=1.6,
        )


def _paint_powers(axes: Axes, report: Calibration) -> None:
    table = report.table
    settings = report.settings
    for place, row in enumerate(rows_of(table)):
        if np.isnan(row.power):
            axes.text(0.0, place, " none", fontsize=7.5, color=DIM, va="center")
            continue
        axes.plot([0.0, row.power], [place, place], color=SOFT, linewidth=0.8)
        axes.plot(
            row.power, place, color=INK, marker="D", markersize=4, linestyle="none", clip_on=False
        )
    axes.set_xlim(0.0, 1.02)
    axes.set_xlabel(f"power, {settings['alternative']} {settings['effect']:g}", fontsize=8.5)
