"""The lag alarm of a model with lags, and its sentence: does the past beyond the lags still tell something?

The statistic and its level are those of a search by tests (`search/lagged/lag_alarm.py`): a variable is regressed on
its causes and its own past, on the rows of every value of the context lag that its mechanism changes with, and partial
correlations say whether a column beyond the lags adds to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from causalcontext.data.series import Series
from causalcontext.data.windows import lagged_table
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.results.words import p_words
from causalcontext.search.lagged.context_lags import fisher
from causalcontext.search.lagged.lag_alarm import LEVEL, MORE_LAGS, LagAlarm, combined
from causalcontext.timeseries.order_search import Searched
from causalcontext.timeseries.problem import LaggedProblem

WINDOWS_A_COLUMN = 5
"""With fewer windows than this for every column of the longer ones, there is too little to compare."""
SPARE_ROWS = 10
"""A value of the context takes part with at least so many windows more than coefficients."""


def past_beyond_lags(series: Series, problem: LaggedProblem, found: Searched,
                     heard: Callable[[], None] | None = None) -> LagAlarm | None:  # fmt: skip
    """The column beyond the lags that tells most, by its number in longer windows; None where these are too few."""
    lags, d = problem.table.lags, problem.variables
    wide = lagged_table(series, lags + MORE_LAGS, problem.contexts)
    if len(wide.row) < WINDOWS_A_COLUMN * wide.width:
        return None
    inside, beyond = d * (lags + 1), np.arange(d * (lags + 1), d * (lags + 1 + MORE_LAGS))
    p_values: dict[tuple[int, int], float] = {}
    for y in range(d):
        if heard is not None:
            heard()
        model = found.models[y]
        causes = np.flatnonzero(model.parents.any(axis=0))
        given = np.union1d(np.where(causes < inside, causes, causes + beyond.size), [d + y])
        codes = wide.codes[:, model.copy] if model.copy >= 0 else np.zeros(len(wide.row), dtype=np.int64)
        parts = np.array([_partial(wide.values[codes == r], y, given, beyond) for r in np.unique(codes)])
        p_values |= {(inside + k, y): fisher(parts[:, k].tolist()) for k in range(beyond.size)}
    return combined(p_values)


def _partial(values: Floats, y: int, given: Ints, others: Ints) -> Floats:
    """The p-values of the partial correlations of y with other columns; NaN where there are too few rows."""
    design = np.column_stack([np.ones(len(values)), values[:, given]])
    df = len(values) - design.shape[1] - 1
    if df < SPARE_ROWS:
        return np.full(others.size, np.nan)
    basis, columns = np.linalg.qr(design)[0], values[:, np.append(others, y)]
    left = columns - basis @ (basis.T @ columns)
    squares = np.einsum("ij,ij->j", left, left)
    nothing = squares <= 1e-9 * len(values)
    correlation = left[:, :-1].T @ left[:, -1] / np.sqrt(np.where(nothing, np.nan, squares)[:-1] * squares[-1])
    statistic = np.abs(correlation) * np.sqrt(df / np.maximum(1.0 - correlation**2, 1e-12))
    return np.asarray(2.0 * scipy.special.stdtr(df, -statistic))


def lag_warnings(alarm: LagAlarm | None, names: Sequence[str], lags: int) -> tuple[str, ...]:
    """What must be said about the lags; `names` are those of the columns of longer windows."""
    if alarm is None or alarm.p > LEVEL:
        return ()
    what = f"{names[alarm.column]} still tells something about {names[alarm.y]} ({p_words(alarm.p)})"
    return (f"lag alarm: given all that was found, {what}, so {lags} lags are too few, or a driver that persists is "
            "not in the table, or columns that persist are measured with noise; links may be false: pass more lags, "
            "and if the alarm stays, do not trust weak links",)  # fmt: skip


def not_asked(alarm: LagAlarm | None, lags: int) -> tuple[str, ...]:
    """What must be known where the past beyond the lags was not tested."""
    if alarm is not None:
        return ()
    return (f"too few windows are whole with {lags + MORE_LAGS} lags to test the past beyond {lags} lags",)
