"""What a calibration found: a small table, sentences about it, a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.frames import frame_of
from causalcontext.diagnostics.calibration.sizes import RIGHT, TOO_OFTEN, TOO_RARELY, UNTESTABLE, compatible

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

ADVICE = {
    TOO_OFTEN: "expect links that are not there, and take another test",
    TOO_RARELY: "links that are found can be believed, but more are missed than need be",
}


@dataclass(frozen=True, eq=False)
class Calibration:
    """Size and power of a test on a table of the user.

    Attributes
    ----------
    table : DataFrame
        One row for every class of pair and number of conditions, or for the query that was named: the tests that
        answered, the rows they used (the median), the share of null tables that were rejected (`size`) with its 99 %
        Wilson interval, the verdict, the share that was rejected under the alternative (`power`), how many repeats
        there were and how many could not be tested.
    queries : DataFrame
        Every repeat: columns that were drawn, p-values of the null table (`p`) and of the changed one.
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
        """Sizes with their intervals beside powers, row by row; saved to `path`, a .png, .svg or .pdf file."""
        from causalcontext.diagnostics.calibration.figure import plot

        return plot(self, path, dpi)

    def to_dict(self) -> dict[str, Any]:
        """The table, settings and notes as plain lists, mappings, numbers and text; None where there is no number."""
        rows = json.loads(self.table.to_json(orient="records", double_precision=15))
        return {"settings": dict(self.settings), "complete": self.complete, "notes": list(self.notes), "table": rows,
                "sentences": list(self.sentences())}  # fmt: skip

    def sentences(self) -> Iterator[str]:
        """What the table says: how many rows are right, which are not and what to do, what was left out."""
        verdicts = self.table["verdict"]
        tested = int((verdicts != UNTESTABLE).sum())
        if tested:
            right = int((verdicts == RIGHT).sum())
            yield f"size is right in {right} of {tested} rows, where its interval contains {self.settings['alpha']:g}"
            yield self._sharpness()
        for row in rows_of(self.table[verdicts.isin([TOO_OFTEN, TOO_RARELY])]):
            yield f"{row_name(row)}: {self._finding(row)}"
        untested = self.table[self.table["untested"] > 0]
        for (pair, reason), rows in untested.groupby(["pair", "reason"], sort=False):
            yield _untested(str(pair), str(reason), rows)
        yield from self.notes
        if not self.complete:
            yield f"interrupted after {self.table['repeats'].min()} of {self.settings['repeats']} repeats"

    def heading(self) -> str:
        """What was calibrated, in one line."""
        asked = self.settings
        return (f"{asked['test']}: {asked['repeats']} repeats of a {asked['null']} null at alpha {asked['alpha']:g}, "
                f"power against {asked['alternative']} with effect {asked['effect']:g}")  # fmt: skip

    def __str__(self) -> str:
        header, *rows = shown(self.table)
        frame = frame_of(rows, columns=header)
        return "\n".join([self.heading(), "", frame.to_string(index=False), "", *self.sentences()])

    def _sharpness(self) -> str:
        """Which sizes so many repeats cannot tell from the right one."""
        repeats = int((self.table["repeats"] - self.table["untested"]).max())
        low, high = compatible(self.settings["alpha"], repeats)
        return f"{repeats} repeats do not tell a size between {low:.3f} and {high:.3f} from the right one"

    def _finding(self, row: Any) -> str:
        """A verdict with its numbers, and for wrong rejections the column that has most of them."""
        found = f"{row.verdict} ({row.size:.3f}, interval {row.size_low:.3f} to {row.size_high:.3f})"
        if row.verdict == TOO_RARELY:
            return f"{found}; {ADVICE[row.verdict]}"
        queries = self.queries[(self.queries["pair"] == row.pair) & (self.queries["given"] == row.given)]
        queries = queries[queries["p"].notna()]
        return f"{found}{_worst_response(queries, self.settings['alpha'])}; {ADVICE[row.verdict]}"


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
        [row.pair, str(row.given), row.test or "-", f"{row.rows:,}", _number(row.size), _interval(row), row.verdict,
         _number(row.power)]
        for row in rows_of(table)
    ]  # fmt: skip
    return [header, *rows]


def _untested(pair: str, reason: str, rows: pd.DataFrame) -> str:
    """How many repeats of a pair had no p-value, for one reason."""
    asked = f"{pair}{_given(rows['given'].tolist())}"
    if (rows["verdict"] == UNTESTABLE).all():
        return f"{asked}: untestable ({reason}); such pairs keep their edge"
    return f"{asked}: {rows['untested'].sum()} of {rows['repeats'].sum()} repeats could not be tested ({reason})"


def _given(sizes: list[int]) -> str:
    """` given 1 or 2 columns`; nothing without conditions."""
    if sizes == [0]:
        return ""
    listed = " or ".join(filter(None, [", ".join(map(str, sizes[:-1])), str(sizes[-1])]))
    return f" given {listed} column{'' if sizes == [1] else 's'}"


def _worst_response(queries: pd.DataFrame, alpha: float) -> str:
    """The response that is rejected most often, if there are several."""
    shares = (queries["p"] <= alpha).groupby(queries["response"]).mean()
    return "" if len(shares) < 2 else f", most often for {shares.idxmax()} ({shares.max():.2f})"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _interval(row: Any) -> str:
    return "-" if np.isnan(row.size_low) else f"{row.size_low:.3f}-{row.size_high:.3f}"
