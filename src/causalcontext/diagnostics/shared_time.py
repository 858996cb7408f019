"""Trends and cycles that several columns of a series share: time itself then looks like a hidden
driver.

Every number is regressed on the past of all columns, the context, and covariates. A trend is a
slope over time beside these, a cycle a sine and a cosine, of many frequencies: the p-value of the
best one is that of its F-test times the number of frequencies. One column with a trend misleads
nobody; two do.

The level `SHARED_TIME_LEVEL` is divided by the number of columns, so that a clean series seldom has
a finding. `FEWEST_CYCLES` keeps slow cycles out, which are trends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.diagnostics.settings import (
    CYCLE_STEP,
    FEWEST_CYCLES,
    FEWEST_TIMES,
    MOST_TIMES,
    SHARED_TIME_LEVEL,
)
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import COLLINEAR_BELOW, SAME_COLUMN_BELOW

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs
    from causalcontext.timeseries.windows import SeriesWindows

TOPIC = "shared time"


class Regressions(NamedTuple):
    """Numbers at time t, shape (rows, numbers), and what they are regressed on, shape (rows,
    columns).
    """

    names: tuple[str, ...]
    numbers: Floats
    past: Floats


def shared_time(result: ContextGraphs) -> Iterator[Finding]:
    """Trends and cycles that two columns or more share; not of panels, or where the rows are not at
    hand.
    """
    windows = result.windowed
    if windows is None or windows.of_all is not None or windows.series.units.max(initial=0) > 0:
        return
    asked = regressions(windows)
    if len(asked.numbers) < FEWEST_TIMES + asked.past.shape[1] or not np.isfinite(asked.past).all():
        return
    level = SHARED_TIME_LEVEL / max(len(asked.names), 1)
    trending = [name for name, p in zip(asked.names, trends(asked), strict=True) if p < level]
    like = "beside their own past, which links them as a hidden driver would"
    if len(trending) > 1:
        yield Finding(
            TOPIC,
            Severity.CAUTION,
            f"{listed(trending)} share a trend over time {like}",
            "add a column of the time and name it in covariates=, or take the trend away",
            {"columns": tuple(trending)},
        )
    p, count = cycles(asked)
    for number in sorted(set(count[p < level].tolist())):
        together = [
            name
            for name, p_of_cycle, its in zip(asked.names, p, count, strict=True)
            if p_of_cycle < level and abs(its - number) <= 1
        ]
        if len(together) > 1:
            period = len(asked.numbers) / number
            message = f"{listed(together)} share a cycle of about {period:.3g} steps {like}"
            yield Finding(
                TOPIC,
                Severity.CAUTION,
                message,
                f"pass covariates=[cc.cycle(column, period)], the column of times and {period:.3g}"
                " steps",
                {"columns": tuple(together), "period": period},
            )
            return


def regressions(windows: SeriesWindows) -> Regressions:
    """The regressions of the last run of windows without a gap, at most `MOST_TIMES` of them.

    Columns are 1, the values at all lags, indicators of the context at lags 0 and 1, and
    covariates.
    """
    series = windows.series
    data = windows.data
    lags = windows.options.lags
    ends = windows.all_windows.row
    breaks = np.flatnonzero((np.diff(ends) != 1) | (np.diff(series.steps[ends]) != 1))
    ends = ends[breaks[-1] + 1 if breaks.size else 0 :][-MOST_TIMES:]
    now = [j for j, name in enumerate(series.names) if data.kinds[data.position(name)].is_number]
    codes = np.concatenate([series.codes[ends - lag, None] for lag in (0, 1)], axis=1)
    levels = [codes[:, [k]] == np.unique(codes[:, k])[None, 1:] for k in range(2)]
    past = [series.values[ends - lag] for lag in range(1, lags + 1)]
    columns = [np.ones((len(ends), 1)), *past, *levels, series.covariates[ends]]
    return Regressions(
        tuple(series.names[j] for j in now),
        series.values[ends][:, now],
        np.concatenate(columns, axis=1).astype(np.float64),
    )


def trends(asked: Regressions) -> Floats:
    """The p-value of a slope over time beside the past, shape (numbers,)."""
    time = np.linspace(-1.0, 1.0, len(asked.numbers))[:, None]
    return np.asarray(_f_tests(asked, asked.past, time[:, :, None])[:, 0])


def cycles(asked: Regressions) -> tuple[Floats, Floats]:
    """The p-value of the best cycle of every number beside a trend, and how often it comes round.

    Both have shape (numbers,). With k cycles in n rows the columns are sin and cos of 2 pi k t / n,
    k going from `FEWEST_CYCLES` to half the rows in steps of `CYCLE_STEP`; p is multiplied by the
    number of these.
    """
    rows = len(asked.numbers)
    time = np.arange(rows)
    counts = np.arange(FEWEST_CYCLES, (rows - 1) / 2, CYCLE_STEP)
    angle = 2.0 * np.pi * time[:, None] * counts / rows
    beside = np.column_stack([asked.past, np.linspace(-1.0, 1.0, rows)])
    p = _f_tests(asked, beside, np.stack([np.sin(angle), np.cos(angle)], axis=1))
    best = p.argmin(axis=1)
    return np.minimum(p.min(axis=1) * len(counts), 1.0), counts[best]


def _f_tests(asked: Regressions, beside: Floats, added: Floats) -> Floats:
    """The p-values of sets of columns added to a regression, shape (numbers, sets).

    `beside` has shape (rows, columns), `added` shape (rows, width, sets). All sets are tested at
    once: with the columns and the numbers projected off `beside`, a set explains b' G^-1 b of a
    number, and F = (explained / width) / (left / degrees of freedom).
    """
    vectors, sizes, _ = np.linalg.svd(beside, full_matrices=False)
    basis: Floats = vectors[:, sizes > COLLINEAR_BELOW * sizes[0]]
    left = asked.numbers - basis @ (basis.T @ asked.numbers)
    rows = len(added)
    flat = added.reshape(rows, -1)
    more = (flat - basis @ (basis.T @ flat)).reshape(added.shape)
    width = added.shape[1]
    freedom = rows - basis.shape[1] - added.shape[1]
    gram = np.einsum("rik,rjk->kij", more, more)
    both = np.einsum("rik,rn->kin", more, left)
    size = np.trace(gram, axis1=1, axis2=2)
    gram += (1e-12 * size + (size < SAME_COLUMN_BELOW * rows))[:, None, None] * np.eye(width)
    both[size < SAME_COLUMN_BELOW * rows] = (
        0.0  # a cycle that covariates have explains nothing more
    )
    explained = np.einsum("kin,kin->nk", both, np.linalg.solve(gram, both))
    total = (left**2).sum(axis=0)[:, None]
    ratio = (explained / width) / np.maximum((total - explained) / freedom, 1e-300)
    return np.asarray(scipy.special.fdtrc(width, freedom, ratio))
