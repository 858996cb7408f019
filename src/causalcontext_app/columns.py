"""The table as a page shows it: every column with its kind, what is missing, and a small
histogram.
"""

from __future__ import annotations

import math
from typing import Any

import narwhals as nw
import numpy as np

from causalcontext import check
from causalcontext.data.columns import Column
from causalcontext.data.frames import pd
from causalcontext.data.table_files import words_for_missing
from causalcontext.diagnostics.check import level_text, read_system_column
from causalcontext.errors import listed
from causalcontext.report.advice import in_the_app
from causalcontext.screening.screen import Asked, screened
from causalcontext_app.question import Question

BARS = 24
"""Bars of a histogram of numbers."""
LEVELS_SHOWN = 12
"""Levels of a category that are shown, the most frequent ones first."""
SAME = ("na_values", "keep", "strict", "decimal", "convert")
"""Options of a search that say how its table is read."""
LEVELS_OF_A_MENU = 50
"""A column with more levels is not offered as a context without a threshold."""


def described_columns(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """What is known about every column by itself."""
    words = words_for_missing(frame)
    screening = screened(frame, Asked())[2]
    left_out = {left.column: str(left) for left in screening.left_out}
    unread = dict(zip(screening.unread, screening.problems, strict=True))
    series = {
        column.name: column for column in nw.from_native(frame, eager_only=True).iter_columns()
    }
    found = []
    for name in frame.columns:
        reading = read_system_column(
            Column(name, series[name].dtype, series[name]), None, len(frame)
        )
        problem = left_out.get(name) or unread.get(name) or reading.problem
        warnings = [in_the_app(problem)] if problem else []
        if words.get(name):
            warnings.append(
                f"{listed(map(repr, words[name]))} is read as a level like any other; if it means a"
                " missing value, leave the field empty"
            )
        found.append(
            {
                "name": reading.name,
                "dtype": reading.dtype,
                "kind": reading.kind,
                "usable": reading.values is not None,
                "left_out": name in left_out,
                "missing": int(frame[name].isna().sum()),
                "warnings": warnings,
                **_distribution(frame[name]),
            }
        )
    return found


def _distribution(column: pd.Series[Any]) -> dict[str, Any]:
    """A histogram of numbers, else the most frequent levels and how many there are."""
    if column.dtype.kind in "fiu":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        finite = values[np.isfinite(values)]
        counts = []  # between the smallest and the largest value, where there are numbers
        low = None
        high = None
        if finite.size:
            low = float(finite.min())
            high = float(finite.max())
            if math.isfinite(high - low):
                counts = np.histogram(finite, bins=BARS, range=(low, high) if high > low else None)[
                    0
                ].tolist()
        median = float(np.median(finite)) if finite.size else None
        few = np.unique(finite[:5000]).size <= LEVELS_OF_A_MENU
        levels = int(np.unique(finite).size) if few else LEVELS_OF_A_MENU + 1
        histogram = {"counts": counts, "low": low, "high": high, "median": median}
        return {"histogram": histogram, "levels": None, "level_count": levels}
    frequent = column.astype(str).where(column.notna()).value_counts()
    shown = [[str(level), int(count)] for level, count in frequent.head(LEVELS_SHOWN).items()]
    return {"histogram": None, "levels": shown, "level_count": len(frequent)}


def checked(frame: pd.DataFrame, question: Question) -> dict[str, Any]:
    """What `check` says about the table and the question: problems, notes and advice, one sentence
    each.
    """
    question.check([str(name) for name in frame.columns])
    options = question.options
    taken = [options[name] for name in ("time", "units") if name in options]
    table = question.of_frame(frame).drop(columns=taken)
    kinds = {name: kind for name, kind in question.kinds.items() if name not in taken}
    # With lags rows are not dropped but windows left out, which the search itself says.
    missing = "listwise" if "lags" in options else str(options.get("missing", "raise"))
    same: dict[str, Any] = {name: options[name] for name in SAME if name in options}
    found = check(table, question.asked_context(), kinds=kinds, missing=missing, **same)
    rows = [
        [level_text(level), int(count)]
        for level, count in zip(found.context.levels, found.rows, strict=True)
    ]
    problems, notes, advice = (
        list(map(in_the_app, part)) for part in (found.problems, found.notes, found.advice)
    )
    return {
        "problems": problems,
        "notes": notes,
        "advice": advice,
        "rows": rows,
        "left_out": [[left.column, in_the_app(left.reason)] for left in found.left_out],
        "holes": bool(table.isna().to_numpy().any()),
    }
