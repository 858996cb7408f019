"""Slow, obvious twins of the tests for a change between contexts: whole design matrices, one column
for every term.

`columns` are the conditions (dummies for categories), `context` one level for every row. Nothing is
imported from the package.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

Floats = NDArray[np.float64]
WEIGHTS = (5, 1, 1)


def large_contexts(columns: Floats, context: NDArray[Any]) -> NDArray[np.bool_]:
    """True for the rows of contexts with at least as many rows as conditions, and six more."""
    levels = [
        level for level in np.unique(context) if (context == level).sum() >= columns.shape[1] + 6
    ]
    return np.isin(context, levels)


def indicators(context: NDArray[Any]) -> Floats:
    """A column of zeros and ones for every level."""
    return (context[:, None] == np.unique(context)).astype(float)


def by_context(columns: Floats, context: NDArray[Any]) -> Floats:
    """Every column once for every context, zero elsewhere."""
    one_hot = indicators(context)
    return np.column_stack([one_hot[:, [r]] * columns for r in range(one_hot.shape[1])])


def scaled(columns: Floats) -> Floats:
    """Columns of mean 0 and variance 1; constant ones become 0."""
    columns = columns - columns.mean(axis=0)
    spread = columns.std(axis=0)
    return columns / np.where(spread > 1e-12, spread, np.inf)


def least_squares(target: Floats, design: Floats) -> tuple[Floats, int]:
    """Residuals, and the rank of the design."""
    coefficients, _, rank, _ = np.linalg.lstsq(design, target, rcond=1e-10)
    return target - design @ coefficients, int(rank)


def f_of_nested(target: Floats, small: Floats, large: Floats) -> tuple[float, int, float]:
    """F of two nested designs, its degrees of freedom, its p-value; NaN where they span the same
    space.
    """
    (left_small, rank_small), (left_large, rank_large) = (
        least_squares(target, small),
        least_squares(target, large),
    )
    df, df_left = rank_large - rank_small, len(target) - rank_large
    if df == 0:
        return math.nan, 0, math.nan
    before, after = left_small @ left_small, left_large @ left_large
    f = (before - after) / df / (after / df_left)
    return float(f), df, float(stats.f.sf(f, df, df_left))


def designs(columns: Floats, context: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """One line for all contexts; shifts by context; a line for every context."""
    conditions = scaled(columns)
    one = np.ones((len(context), 1))
    shifts = np.column_stack([conditions, indicators(context)])
    return (
        np.column_stack([one, conditions]),
        shifts,
        by_context(np.column_stack([one, conditions]), context),
    )


def mean_part(columns: Floats, y: Floats, context: NDArray[Any]) -> tuple[float, int, float]:
    """Shifts of the mean, slopes in common."""
    common, shifts, _ = designs(columns, context)
    return f_of_nested(y - y.mean(), common, shifts)


def slope_part(columns: Floats, y: Floats, context: NDArray[Any]) -> tuple[float, int, float]:
    """Slopes by context, beside shifts of the mean."""
    _, shifts, every = designs(columns, context)
    return f_of_nested(y - y.mean(), shifts, every)


def chow(columns: Floats, y: Floats, context: NDArray[Any]) -> tuple[float, int, float]:
    """Both at once."""
    common, _, every = designs(columns, context)
    return f_of_nested(y - y.mean(), common, every)


def brown_forsythe(columns: Floats, y: Floats, context: NDArray[Any]) -> tuple[float, float]:
    """One-way analysis of variance of distances from the median, for residuals of the common
    line.
    """
    residuals, _ = least_squares(y - y.mean(), designs(columns, context)[0])
    parts = [residuals[context == level] for level in np.unique(context)]
    f, p = stats.f_oneway(*[np.abs(part - np.median(part)) for part in parts])
    return float(f), float(p)


def bartlett(columns: Floats, y: Floats, context: NDArray[Any]) -> float:
    """Bartlett's test with the residual degrees of freedom of every context."""
    variances, dfs = [], []
    for level in np.unique(context):
        rows = context == level
        residuals, rank = least_squares(
            y[rows] - y.mean(), np.column_stack([np.ones(rows.sum()), columns[rows]])
        )
        dfs.append(rows.sum() - rank)
        variances.append(residuals @ residuals / dfs[-1])
    total = sum(dfs)
    pooled = sum(df * v for df, v in zip(dfs, variances, strict=True)) / total
    statistic = total * math.log(pooled) - sum(
        df * math.log(v) for df, v in zip(dfs, variances, strict=True)
    )
    correction = 1 + (sum(1 / df for df in dfs) - 1 / total) / (3 * (len(dfs) - 1))
    return float(stats.chi2.sf(statistic / correction, len(dfs) - 1))


def curvature(columns: Floats, y: Floats, context: NDArray[Any]) -> float:
    """Squares of conditions, second and third power of the common fit, beside a line for every
    context.
    """
    common, _, every = designs(columns, context)
    fitted = y - y.mean() - least_squares(y - y.mean(), common)[0]
    powers = scaled(
        np.column_stack([scaled(columns) ** 2, fitted**2, (fitted / max(fitted.std(), 1e-12)) ** 3])
    )
    p = f_of_nested(y - y.mean(), every, np.column_stack([every, powers]))[2]
    return 1.0 if math.isnan(p) else p


def uneven_spread(columns: Floats, y: Floats, context: NDArray[Any]) -> float:
    """Absolute residuals of the lines by context, in units of their spread, on conditions and
    squares.
    """
    sizes = np.empty(len(y))
    for level in np.unique(context):
        rows = context == level
        residuals, rank = least_squares(
            y[rows] - y.mean(), np.column_stack([np.ones(rows.sum()), columns[rows]])
        )
        sizes[rows] = np.abs(residuals) / math.sqrt(residuals @ residuals / (rows.sum() - rank))
    conditions = scaled(columns)
    shifts = indicators(context)
    p = f_of_nested(sizes, shifts, np.column_stack([shifts, conditions, scaled(conditions**2)]))[2]
    return 1.0 if math.isnan(p) else p


def logit_likelihood(design: Floats, context: NDArray[Any], ridge: float = 1e-2) -> float:
    """The log-likelihood of a multinomial logit at its ridge estimate; the first column, of ones,
    is not penalised.

    The most frequent context is the one without slopes of its own.
    """
    hot = indicators(context)
    hot = hot[:, np.argsort(hot.sum(axis=0), kind="stable")]
    free = hot.shape[1] - 1

    def likelihood(slopes: Floats) -> float:
        scores = np.column_stack([design @ slopes.reshape(free, -1).T, np.zeros(len(design))])
        return float((hot * (scores - np.logaddexp.reduce(scores, axis=1)[:, None])).sum())

    def loss(slopes: Floats) -> float:
        return ridge / 2 * float((slopes.reshape(free, -1)[:, 1:] ** 2).sum()) - likelihood(slopes)

    def gradient(slopes: Floats) -> Floats:
        scores = np.column_stack([design @ slopes.reshape(free, -1).T, np.zeros(len(design))])
        shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
        penalty = ridge * slopes.reshape(free, -1)
        penalty[:, 0] = 0
        return (penalty - ((hot - shares).T @ design)[:free]).ravel()

    best = optimize.minimize(
        loss, np.zeros(free * design.shape[1]), jac=gradient, method="BFGS", options={"gtol": 1e-7}
    )
    return likelihood(best.x)


def logit(columns: Floats, y: Floats, context: NDArray[Any]) -> float:
    """What a logit of the context on the conditions gains from the residual of y, its products and
    its square.
    """
    residuals, _ = least_squares(y - y.mean(), designs(columns, context)[0])
    conditions = scaled(columns)
    terms = [residuals[:, None], residuals[:, None] * conditions, residuals[:, None] ** 2]
    design = np.column_stack([np.ones(len(y)), conditions])
    before, parts = logit_likelihood(design, context), []
    for term in terms:
        design = np.column_stack([design, scaled(term)])
        after = logit_likelihood(design, context)
        parts.append(
            float(
                stats.chi2.sf(2 * (after - before), (len(np.unique(context)) - 1) * term.shape[1])
            )
        )
        before = after
    return combine(*parts)


def combine(*parts: float) -> float:
    """How often the smallest of independent p-values, each divided by its weight, is as small as
    this one.
    """
    used = [(p, weight) for p, weight in zip(parts, WEIGHTS, strict=True) if not math.isnan(p)]
    smallest = min(p / weight for p, weight in used)
    return 1 - math.prod(1 - min(1, smallest * weight) for _, weight in used)


def robust_change(columns: Floats, y: Floats, context: NDArray[Any]) -> float | None:
    """The whole test; None where it is undefined."""
    rows = large_contexts(columns, context)
    columns, y, context = columns[rows], y[rows], context[rows]
    if len(np.unique(context)) < 2:
        return None
    spread = max(brown_forsythe(columns, y, context)[1], bartlett(columns, y, context))
    p = combine(mean_part(columns, y, context)[2], slope_part(columns, y, context)[2], spread)
    if (
        columns.shape[1]
        and min(curvature(columns, y, context), uneven_spread(columns, y, context)) < 0.05
    ):
        return max(p, logit(columns, y, context))
    return p
