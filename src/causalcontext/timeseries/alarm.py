"""The lag alarm: does the score rise with two more lags on the same rows?

If it does, lags are too few, or a persistent driver is hidden, or persistent columns are noisy; all three invent links.
"""

from __future__ import annotations

from collections.abc import Callable

from causalcontext.data.series import Series
from causalcontext.data.windows import lagged_table
from causalcontext.timeseries.known import extended
from causalcontext.timeseries.local_models import LocalModel, LocalModels
from causalcontext.timeseries.order_search import Searched
from causalcontext.timeseries.problem import LaggedProblem

MORE_LAGS = 2
WINDOWS_A_COLUMN = 5
"""With fewer windows than this for every column of the longer ones, scores of sets are compared with too little."""
LEAST_RISE = 1e-6


def rise_with_more_lags(series: Series, problem: LaggedProblem, found: Searched,
                        heard: Callable[[], None] | None = None) -> float | None:  # fmt: skip
    """By how much the score rises, in the order that was found; None where the rows are too few to tell."""
    lags = problem.table.lags
    wide = lagged_table(series, lags + MORE_LAGS, problem.contexts)
    if len(wide.row) < WINDOWS_A_COLUMN * wide.width:
        return None
    wider = LaggedProblem(wide, extended(problem.allowed, lags + MORE_LAGS), problem.copies, problem.penalty,
                    problem.has_context)  # fmt: skip
    few, more = LocalModels(wider, lags), LocalModels(wider, heard=heard)
    before, rise = 0, 0.0
    for node in found.order:
        longer = more.watched(node, before)
        if _reaches_beyond(longer, problem.variables, lags):
            rise += max(0.0, longer.score - few.best(node, before).score)
        before |= 1 << node
    return rise


def sentence(rise: float | None, lags: int) -> tuple[str, ...]:
    """What must be said about the lags."""
    if rise is None or rise <= LEAST_RISE:
        return ()
    return (f"lag alarm: with {lags + MORE_LAGS} lags the score rises by {rise:.1f}, so {lags} lags are too few, or a "
            "driver that persists is not in the table, or columns that persist are measured with noise; links may be "
            "false: pass more lags, and if the alarm stays, do not trust weak links",)  # fmt: skip


def not_asked(rise: float | None, lags: int) -> tuple[str, ...]:
    """What must be known where the question was not asked."""
    if rise is not None:
        return ()
    return (f"too few windows are whole with {lags + MORE_LAGS} lags to ask whether more lags raise the score",)


def _reaches_beyond(model: LocalModel, variables: int, lags: int) -> bool:
    first = variables * (lags + 1)
    last = variables * (lags + MORE_LAGS + 1)
    return bool(model.parents[:, first:last].any()) or any(lag > lags for lag in model.own_past)
