"""The lag alarm of a model with lags, and its sentence: does the past beyond the lags still tell
something?

The statistic and its level are those of a search by tests (`search/lagged/algorithm.py`): a
variable is regressed on its causes and its own past, on the rows of every value of the context lag
that its mechanism changes with, and partial correlations say whether a column beyond the lags adds
to that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import scipy

from causalcontext.data.windows import MORE_LAGS, LaggedTable, lagged_table, levels_of
from causalcontext.graphs.lag_names import at
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.results.series import Copy, copies_in
from causalcontext.results.words import p_words
from causalcontext.search.lagged.algorithm import LEVEL, LagAlarm, combined
from causalcontext.search.lagged.plan import fisher
from causalcontext.timeseries.windows import SeriesWindows

WINDOWS_A_COLUMN = 5
"""With fewer windows than this for every column of the longer ones, there is too little to compare.
"""
KNOTS = (0.25, 0.5, 0.75)
"""Where curves of causes bend, as quantiles."""
SPARE_ROWS = 10
"""A value of the context takes part with at least so many windows more than coefficients."""


def past_beyond_lags(
    windows: SeriesWindows, causes: Bools, reads: Mapping[str, Copy], curved: bool
) -> LagAlarm | None:
    """The column beyond the lags that tells most, by its number in longer windows; None where these
    are too few.
    """
    # Numbers are asked about; `causes[u, v]`: node u is a cause of v in some context. Where
    # mechanisms are curved, causes offer squares and hinges as well.
    series = windows.series
    lags = windows.options.lags
    window = windows.window
    wide = lagged_table(series, lags + MORE_LAGS, max(len(windows.data.values), 1))
    if len(wide.row) < WINDOWS_A_COLUMN * wide.width:
        return None
    d = wide.variables
    kinds = [windows.data.kinds[windows.data.position(name)] for name in series.names]
    inside = d * (lags + 1)
    numbers = np.array([kind.is_number for kind in kinds], dtype=bool)
    beyond = inside + np.flatnonzero(np.tile(numbers, MORE_LAGS))
    column = {
        name: lag * d + i
        for i, base in enumerate(series.names)
        for lag in range(lags + 1)
        for name in [at(base, lag)]
    }
    column |= {
        name: d * (lags + 1 + MORE_LAGS) + i for i, name in enumerate(series.covariate_names)
    }
    plain = {j for j, yes in enumerate(numbers) if yes}
    moments: dict[Copy, list[tuple[Ints, Floats]]] = {}
    p_values: dict[tuple[int, int], float] = {}
    for y in np.flatnonzero(numbers).tolist():
        here = windows.nodes.index(series.names[y])
        own = {
            column[windows.nodes[u]]
            for u in np.flatnonzero(causes[:, here])
            if not window.is_context(int(u))
        }
        given, extra = _design(wide, sorted({*own, d + y}), plain, curved)
        read = reads.get(series.names[y])
        if read not in moments:
            contexts = windows.data.contexts
            place = windows.data.position
            levels = [
                levels_of(contexts, place(name), wide.codes[:, lags[0]])
                for name, lags in copies_in(read)
            ]
            values = np.column_stack([np.zeros(len(wide.row), dtype=np.int64), *levels])
            # of what the variable reads
            codes = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
            groups = [np.flatnonzero(codes == r) for r in np.unique(codes)]
            moments[read] = [
                (rows, _cross_products(wide.values[rows], wide.values[rows])) for rows in groups
            ]
        parts = np.array(
            [
                _partial(wide.values[rows], scatter, extra[rows], given, y, beyond)
                for rows, scatter in moments[read]
            ]
        )
        p_values |= {
            (int(other), y): fisher(parts[:, k].tolist()) for k, other in enumerate(beyond)
        }
    return combined(p_values) if p_values else None


def _design(
    wide: LaggedTable, columns: Sequence[int], numbers: Collection[int], curved: bool
) -> tuple[Ints, Floats]:
    """What a variable is regressed on: columns of numbers; curves and indicators of classes as
    further columns.
    """
    extra = [np.empty((len(wide.row), 0))]
    past = wide.variables * (wide.lags + 1)
    plain = [place for place in columns if place >= past or place % wide.variables in numbers]
    for place in columns:
        values = wide.values[:, place]
        if place not in plain:
            extra += [(values == level).astype(float)[:, None] for level in np.unique(values)[1:]]
        elif curved:
            extra += [
                (values**2)[:, None],
                np.maximum(values[:, None] - np.quantile(values, KNOTS), 0.0) ** 2,
            ]
    return np.array(plain, dtype=np.int64), np.hstack(extra)


def _cross_products(one: Floats, other: Floats) -> Floats:
    """Cross products of the columns of two tables around their means."""
    return np.asarray((one - one.mean(axis=0)).T @ (other - other.mean(axis=0)))


def _partial(
    values: Floats, scatter: Floats, extra: Floats, given: Ints, y: int, others: Ints
) -> Floats:
    """The p-values of the partial correlations of y with other columns; NaN for too few rows, or
    nothing left.
    """
    asked = np.append(others, y)
    left = scatter[np.ix_(asked, asked)]
    inside = scatter[np.ix_(given, given)]
    across = scatter[np.ix_(given, asked)]
    if extra.size:
        more = _cross_products(extra, np.column_stack([values[:, given], values[:, asked], extra]))
        mine = more[:, : len(given)]
        inside = np.block([[inside, mine.T], [mine, more[:, len(given) + len(asked) :]]])
        across = np.vstack([across, more[:, len(given) : len(given) + len(asked)]])
    df = len(values) - len(inside) - 2
    if df < SPARE_ROWS:
        return np.full(others.size, np.nan)
    left = left - across.T @ np.linalg.pinv(inside, hermitian=True) @ across
    squares = np.diagonal(left)
    # nothing is left, of y perhaps
    squares = np.where(squares <= 1e-9 * len(values), np.nan, squares)
    correlation = left[:-1, -1] / np.sqrt(squares[:-1] * squares[-1])
    statistic = np.abs(correlation) * np.sqrt(df / np.maximum(1.0 - correlation**2, 1e-12))
    return np.asarray(2.0 * scipy.special.stdtr(df, -statistic))


def lag_warnings(alarm: LagAlarm | None, names: Sequence[str], lags: int) -> tuple[str, ...]:
    """What must be said about the lags; `names` are those of the columns of longer windows."""
    if alarm is None or alarm.p > LEVEL:
        return ()
    what = (
        f"{names[alarm.column]} still tells something about {names[alarm.y]} ({p_words(alarm.p)})"
    )
    few = f"{lags} {'lag is' if lags == 1 else 'lags are'} too few"
    return (
        (
            f"lag alarm: given all that was found, {what}, so {few}, or a driver that persists is"
            " not in the table, or columns that persist are measured with noise; links may be"
            " false: pass more lags, and if the alarm stays, do not trust weak links"
        ),
    )
