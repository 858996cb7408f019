"""The table as a page shows it: every column with its kind, what is missing, and a small histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from causalcontext.app.question import Question
from causalcontext.data.columns import Column
from causalcontext.data.frames import pd
from causalcontext.data.table_files import words_for_missing
from causalcontext.diagnostics.check import SystemReading, check, level_text, read_system_column
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats

BARS = 24
"""Bars of a histogram of numbers."""
LEVELS_SHOWN = 12
"""Levels of a category that are shown, the most frequent ones first."""
LEVELS_OF_A_MENU = 50
"""A column with more levels is not offered as a context without a threshold."""


def described_columns(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """What is known about every column by itself."""
    words = words_for_missing(frame)
    series = {column.name: column for column in nw.from_native(frame, eager_only=True).iter_columns()}
    columns = {name: Column(name, column.dtype, column) for name, column in series.items()}
    readings = {name: read_system_column(column, None, len(frame)) for name, column in columns.items()}
    return [_described(frame[name], readings[name], words.get(name, ())) for name in frame.columns]


def _described(column: pd.Series[Any], reading: SystemReading, words: tuple[str, ...]) -> dict[str, Any]:
    missing = int(column.isna().sum())
    warnings = [reading.problem] if reading.problem else []
    if words:
        warnings.append(f"{listed(map(repr, words))} is read as a level like any other; if it means a missing value, "
                        "leave the field empty")  # fmt: skip
    return {
        "name": reading.name,
        "dtype": reading.dtype,
        "kind": reading.kind,
        "usable": reading.values is not None,
        "missing": missing,
        "warnings": warnings,
        **_distribution(column),
    }


def _distribution(column: pd.Series[Any]) -> dict[str, Any]:
    """A histogram of numbers, else the most frequent levels and how many there are."""
    if column.dtype.kind in "fiu":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        finite = values[np.isfinite(values)]
        numbers = _histogram(finite) | {"median": float(np.median(finite)) if finite.size else None}
        few = np.unique(finite[:5000]).size <= LEVELS_OF_A_MENU
        levels = int(np.unique(finite).size) if few else LEVELS_OF_A_MENU + 1
        return {"histogram": numbers, "levels": None, "level_count": levels}
    counts = column.astype(str).where(column.notna()).value_counts()
    shown = [[str(level), int(count)] for level, count in counts.head(LEVELS_SHOWN).items()]
    return {"histogram": None, "levels": shown, "level_count": len(counts)}


def _histogram(finite: Floats) -> dict[str, Any]:
    """Counts between the smallest and the largest value; nothing of a column without numbers."""
    if not finite.size:
        return {"counts": [], "low": None, "high": None}
    low, high = float(finite.min()), float(finite.max())
    if not math.isfinite(high - low):
        return {"counts": [], "low": low, "high": high}
    counts, _ = np.histogram(finite, bins=BARS, range=(low, high) if high > low else None)
    return {"counts": counts.tolist(), "low": low, "high": high}


def checked(frame: pd.DataFrame, question: Question) -> dict[str, Any]:
    """What `check` says about the table and the question: problems, notes and advice, one sentence each."""
    question.check([str(name) for name in frame.columns])
    options = question.options
    taken = [options[name] for name in ("time", "units") if name in options]
    table = question.of_frame(frame).drop(columns=taken)
    kinds = {name: kind for name, kind in question.kinds.items() if name not in taken}
    # With lags rows are not dropped but windows left out, which the search itself says.
    missing = "listwise" if "lags" in options else str(options.get("missing", "raise"))
    found = check(table, question.asked_context(), kinds=kinds, missing=missing)
    rows = [[level_text(level), int(count)] for level, count in zip(found.context.levels, found.rows, strict=True)]
    holes = bool(table.isna().to_numpy().any())
    problems = [text.replace("--missing ", "missing: ") for text in found.problems]  # as the page calls it
    return {
        "problems": problems,
        "notes": list(found.notes),
        "advice": list(found.advice),
        "rows": rows,
        "holes": holes,
    }


def option_fields(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of `discover` as the page offers them: name, default, what a value is called, a text."""
    return [
        {"name": name, "default": entry.default, "shown": entry.metadata["shown"], "text": entry.metadata["text"]}
        for name, entry in options.items()
    ]
