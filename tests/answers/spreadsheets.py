"""More accidents of the same families, as spreadsheets make them.

Quarters, a second header, rows of summaries, percentage changes, scores, trees and clusters beside
their columns, one thing measured twice, other units in some rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from cases import Case

from accidents import REFUSED, SAME, TOLD, WARNED, Allowed, accident, in_units, with_noise

Cells = Callable[[Case, np.random.Generator], Any]


def beside(name: str, says: str, cells: Cells, of: tuple[str, ...] = (), family: str = "") -> None:
    """Register a column beside the others that stands for columns with some roles."""

    def change(case: Case, rng: np.random.Generator) -> Case | None:
        found = cells(case, rng)
        if found is None:
            return None
        roles = tuple(getattr(case, role) for role in of)
        return case.beside(of=roles, **{name: np.asarray(found)})

    accident(f"beside: {says}", SAME, name=f"sheet_{name}", family=family)(change)


def in_column(
    name: str, says: str, cells: Cells, allowed: Allowed, family: str, role: str = "middle"
) -> None:
    """Register other cells of the column with a role."""

    def change(case: Case, rng: np.random.Generator) -> Case | None:
        found = cells(case, rng)
        return None if found is None else case.with_cells(getattr(case, role), found)

    accident(f"in a column: {says}", allowed, name=f"sheet_{name}", family=family)(change)


def positive(cells: pd.Series) -> pd.Series:
    """A column in standard units, made positive."""
    return in_units(cells) + 6.0


def middle(case: Case) -> pd.Series:
    """The column with a cause and an effect."""
    return case.column(case.middle)


def sink(case: Case) -> pd.Series:
    """The column that causes nothing."""
    return case.column(case.sink)


def cause(case: Case) -> pd.Series:
    """The column without a cause."""
    return case.column(case.cause)


def three(case: Case) -> np.ndarray:
    """A cause, the middle and the sink in standard units, shape (3, rows)."""
    return np.array([in_units(cells(case)) for cells in (cause, middle, sink)])


ALL = ("cause", "middle", "sink")
TWO = ("middle", "sink")

# --------------------------------------------------------------- identifiers, clocks and text

CLOCKS = "identifiers and clocks"
TEXT = "numbers as text"
beside(
    "key_with_gaps",
    "keys such as P-1004, with gaps",
    lambda case, rng: [f"P-{key}" for key in 1000 + np.cumsum(rng.integers(1, 5, len(case.table)))],
    family=CLOCKS,
)
beside(
    "order_with_gaps",
    "whole numbers with gaps, in any order",
    lambda case, rng: rng.permutation(5000 + np.cumsum(rng.integers(1, 6, len(case.table)))),
    family=CLOCKS,
)
beside(
    "padded_key",
    "zero-padded numbers as text",
    lambda case, rng: [f"{key:06d}" for key in rng.permutation(len(case.table))],
    family=CLOCKS,
)
beside(
    "visit_date",
    "a date as days of a spreadsheet",
    lambda case, rng: 44197 + rng.integers(0, 900, len(case.table)),
    family=CLOCKS,
)
for _name, _words, _write in (
    ("quarter", "quarters such as '2020Q1'", lambda year, part: f"{year}Q{part}"),
    ("quarter_first", "quarters such as 'Q1 2020'", lambda year, part: f"Q{part} {year}"),
):

    def _quarters(case: Case, rng: np.random.Generator, write: Any = _write) -> list[str]:
        drawn = rng.integers(0, 24, len(case.table))
        return [write(2015 + place // 4, place % 4 + 1) for place in drawn.tolist()]

    beside(_name, _words, _quarters, family=CLOCKS)
in_column(
    "double_quotes",
    "numbers in double quotes",
    lambda case, rng: [f'"{value:.2f}"' for value in sink(case)],
    REFUSED,
    TEXT,
    "sink",
)
in_column(
    "french",
    "numbers such as '1 234,5'",
    lambda case, rng: [
        f"{1000 * value:,.1f}".replace(",", " ").replace(".", ",") for value in sink(case)
    ],
    REFUSED,
    TEXT,
    "sink",
)
in_column(
    "error_cells",
    "'#DIV/0!' and '#N/A' among numbers",
    lambda case, rng: [
        "#DIV/0!" if draw < 0.01 else "#N/A" if draw < 0.03 else f"{value:.2f}"
        for value, draw in zip(sink(case), rng.random(len(case.table)), strict=True)
    ],
    REFUSED,
    TEXT,
    "sink",
)


def _words_in_row(cell: Callable[[str], str], place: float) -> Any:
    def change(case: Case, rng: np.random.Generator) -> Case:
        row = pd.DataFrame([{name: cell(name) for name in case.table}])
        at = int(place * len(case.table))
        parts = [case.table[:at], row, case.table[at:]]
        return case.with_table(pd.concat(parts, ignore_index=True), "words")

    return change


accident("the header again in the middle", TOLD, name="sheet_header_again", family=TEXT)(
    _words_in_row(lambda name: name, 0.5)
)
accident("a row of units below the header", TOLD, name="sheet_row_of_units", family=TEXT)(
    _words_in_row(lambda name: "kg", 0.0)
)

# ------------------------------------------------------------------------ functions of columns

FUNCTIONS = "functions of columns"


def _tree(case: Case) -> np.ndarray:
    """The predictions of a tree of two levels."""
    leaf = 2 * (in_units(middle(case)) > 0.0) + (in_units(cause(case)) > 0.0)
    return sink(case).groupby(leaf).transform("mean").to_numpy()


def _squares(case: Case) -> np.ndarray:
    """The predictions of a regression with squares."""
    parts = three(case)[:2]
    design = np.vstack([np.ones(len(case.table)), parts, parts**2]).T
    return design @ np.linalg.lstsq(design, sink(case).to_numpy(), rcond=None)[0]


def _clusters(case: Case) -> np.ndarray:
    """Three clusters of three columns, by some steps of k-means."""
    points = three(case).T
    centres = points[:3]
    for _ in range(10):
        nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([points[nearest == cluster].mean(axis=0) for cluster in range(3)])
    return nearest


for _name, _words, _of, _cells in (
    (
        "change",
        "the percentage change from one column to another",
        TWO,
        lambda case, rng: 100.0 * (positive(sink(case)) / positive(middle(case)) - 1.0),
    ),
    (
        "log_change",
        "the difference of two logarithms",
        TWO,
        lambda case, rng: np.log(positive(sink(case))) - np.log(positive(middle(case))),
    ),
    (
        "larger",
        "the larger of two columns",
        TWO,
        lambda case, rng: np.maximum(positive(sink(case)), positive(middle(case))),
    ),
    (
        "score_rounded",
        "a weighted score of three columns, with two digits",
        ALL,
        lambda case, rng: (np.array([0.2, 0.5, 0.3]) @ three(case)).round(2),
    ),
    (
        "min_max_rounded",
        "a column from 0 to 1, with two digits",
        ("middle",),
        lambda case, rng: (
            (middle(case) - middle(case).min()) / np.ptp(middle(case).to_numpy())
        ).round(2),
    ),
    (
        "high_risk",
        "'high' where two columns are above limits, else 'low'",
        ("cause", "middle"),
        lambda case, rng: np.where((three(case)[:2] > 0.2).all(axis=0), "high", "low"),
    ),
    (
        "flag_of_sum",
        "whether a sum of two columns is above a limit",
        TWO,
        lambda case, rng: (three(case)[1:].sum(axis=0) > 0.3).astype(int),
    ),
    ("leaf", "the predictions of a tree", ("sink",), lambda case, rng: _tree(case)),
    ("with_squares", "predictions with squares", ("sink",), lambda case, rng: _squares(case)),
    ("cluster", "a cluster of three columns", ALL, lambda case, rng: _clusters(case)),
    (
        "band",
        "fifths as text such as '10 to 20'",
        ("middle",),
        lambda case, rng: [
            f"{part.left:.0f} to {part.right:.0f}" for part in pd.qcut(middle(case), 5)
        ],
    ),
    (
        "again",
        "a column measured a second time",
        ("middle",),
        lambda case, rng: with_noise(middle(case), 0.01, rng),
    ),
    (
        "rank_inside",
        "the rank of a column within contexts",
        ("middle",),
        lambda case, rng: (
            None
            if case.context is None
            else middle(case).groupby(case.is_second).rank(method="first")
        ),
    ),
    (
        "times_code",
        "a column times the code of the context",
        ("middle",),
        lambda case, rng: None if case.context is None else middle(case) * case.is_second,
    ),
):
    beside(_name, _words, _cells, _of, FUNCTIONS)

# -------------------------------------------------------------------------------------- damage

DAMAGE = "damage"
for _name, _words, _allowed, _cells in (
    (
        "own_code",
        "-1000 in 3 % of the cells",
        WARNED,
        lambda case, rng: middle(case).mask(rng.random(len(case.table)) < 0.03, -1000.0),
    ),
    (
        "winsorised",
        "values beyond 5 % at both ends are set to these",
        WARNED,
        lambda case, rng: middle(case).clip(*middle(case).quantile([0.05, 0.95])),
    ),
    (
        "other_unit",
        "5 % of the cells in grams, not kilograms",
        WARNED,
        lambda case, rng: middle(case).where(
            rng.random(len(case.table)) > 0.05, 1000.0 * middle(case)
        ),
    ),
    (
        "median_imputed",
        "the median in place of 10 % missing cells",
        WARNED,
        lambda case, rng: middle(case).mask(
            rng.random(len(case.table)) < 0.1, middle(case).median()
        ),
    ),
):
    in_column(_name, _words, _cells, _allowed, DAMAGE)


def _below(summaries: Callable[[pd.Series], list[float]]) -> Any:
    def change(case: Case, rng: np.random.Generator) -> Case:
        numbers = {
            name: summaries(case.table[name])
            for name in case.table
            if pd.api.types.is_numeric_dtype(case.table[name])
        }
        count = len(next(iter(numbers.values())))
        words = {
            name: [case.table[name].iloc[0]] * count for name in case.table if name not in numbers
        }
        below = pd.DataFrame({**numbers, **words})[list(case.table)]
        table = pd.concat([case.table, below], ignore_index=True)
        return case.with_table(table, "row", "rows", *map(str, case.kinds))

    return change


for _name, _words, _summaries in (
    ("means", "a row of means with a digit", lambda column: [round(column.mean(), 1)]),
    (
        "means_and_deviations",
        "a row of means and one of standard deviations",
        lambda column: [column.mean(), column.std()],
    ),
):
    accident(f"at the end: {_words}", REFUSED, name=f"sheet_{_name}", family=DAMAGE)(
        _below(_summaries)
    )


@accident("-9 in all numbers of 4 % of the rows", TOLD, "sheet_codes_in_rows", DAMAGE)
def codes_in_rows(case: Case, rng: np.random.Generator) -> Case:
    lost = rng.random(len(case.table)) < 0.04
    return case.with_numbers(
        lambda cells: cells.mask(lost, -9.0), *(str(case.now(name)) for name in case.numbers())
    )
