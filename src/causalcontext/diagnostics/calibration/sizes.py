"""From repeats to a table: shares of rejections with intervals, and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.frames import frame_of
from causalcontext.diagnostics.calibration.alternatives import NONE
from causalcontext.diagnostics.calibration.questions import QueryClass
from causalcontext.diagnostics.calibration.repeats import Repeat
from causalcontext.views import REASON_TEXT, Reason

if TYPE_CHECKING:
    import pandas as pd

QUANTILE = 2.5758293035489004
"""Of the normal law, for intervals of 99 %: a table has a dozen rows, and few of them should be wrong by chance."""
RIGHT, TOO_OFTEN, TOO_RARELY, UNTESTABLE = "right", "rejects too often", "rejects too rarely", "untestable"
COLUMNS = ("pair", "given", "test", "rows", "size", "size_low", "size_high", "verdict", "power", "repeats", "untested",
           "alternative", "reason")  # fmt: skip


def queries_frame(questions: Sequence[QueryClass], repeats: Sequence[Repeat]) -> pd.DataFrame:
    """Every repeat, question by question."""
    ordered = sorted(repeats, key=_place)
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
    """The interval of shares that `rejected` out of `tested` do not contradict (Wilson 1927).

    Examples
    --------
    >>> low, high = wilson(10, 200)
    >>> round(low, 3), round(high, 3)
    (0.023, 0.106)
    """
    if tested == 0:
        return np.nan, np.nan
    share, weight = rejected / tested, QUANTILE**2 / tested
    centre = (share + weight / 2) / (1 + weight)
    half = np.sqrt(weight * (share * (1 - share) + weight / 4)) / (1 + weight)
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def compatible(alpha: float, tested: int) -> tuple[float, float]:
    """The sizes whose Wilson interval contains `alpha`."""
    half = QUANTILE * np.sqrt(alpha * (1 - alpha) / max(tested, 1))
    return float(max(alpha - half, 0.0)), float(min(alpha + half, 1.0))


def _row(part: pd.DataFrame, alpha: float) -> tuple[Any, ...]:
    tested = part[part["p"].notna()]
    rejected, total = int((tested["p"] <= alpha).sum()), len(tested)
    low, high = wilson(rejected, total)
    first = part.iloc[0]
    rows = int((tested if total else part)["rows"].median())
    return (first["pair"], first["given"], _joined(part["test"]), rows, _share(rejected, total),
            low, high, _verdict(low, high, alpha), _power(part["p_alternative"], alpha), len(part), len(part) - total,
            _joined(part["alternative"], NONE) or NONE, _reason(part["reason"]))  # fmt: skip


def _verdict(low: float, high: float, alpha: float) -> str:
    if np.isnan(low):
        return UNTESTABLE
    return TOO_OFTEN if low > alpha else TOO_RARELY if high < alpha else RIGHT


def _power(p: pd.Series[float], alpha: float) -> float:
    return _share(int((p <= alpha).sum()), int(p.notna().sum()))


def _share(count: int, total: int) -> float:
    return count / total if total else np.nan


def _joined(names: pd.Series[str], ignored: str = "") -> str:
    return ", ".join(sorted(set(names) - {"", ignored}))


def _reason(reasons: pd.Series[int]) -> str:
    """Why most of the repeats without a p-value have none."""
    counts = Counter(Reason(reason) for reason in reasons if reason != Reason.TESTABLE)
    return REASON_TEXT[counts.most_common(1)[0][0]] if counts else ""


def _place(found: Repeat) -> tuple[int, int]:
    return found.question, found.repeat
