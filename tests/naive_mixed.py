"""Slow, obvious twins of the tests for columns of any kinds: likelihoods by scipy.optimize, tables
by counting rows.

Columns come as (kind, values) with the kinds "number", "category", "ordered", "count". Nothing is
imported from the package.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import optimize, special, stats

import naive

Floats = NDArray[np.float64]
Column = tuple[str, Floats]


def dummies(values: Floats) -> Floats:
    """A column of 0 and 1 for every value but the first."""
    return np.column_stack([values == value for value in np.unique(values)[1:]]).astype(float)


def regressors(columns: Sequence[Column], as_conditions: bool = True) -> Floats:
    """Standardised numbers, indicators, and for a count that is a condition its logarithm too."""
    parts: list[Floats] = []
    for kind, values in columns:
        if kind in ("category", "ordered"):
            parts.append(dummies(values))
        else:
            parts.append(naive.standardised(values)[:, None])
        if kind == "count" and as_conditions:
            parts.append(naive.standardised(np.log1p(values))[:, None])
    return np.column_stack(parts) if parts else np.zeros((len(columns[0][1]) if columns else 0, 0))


def maximum(log_likelihood: Callable[[Floats], float], start: Floats) -> float:
    """The largest value, by BFGS with numerical derivatives, then once more from there."""
    found = start
    for _ in range(2):
        found = optimize.minimize(
            lambda b: -log_likelihood(b), found, method="BFGS", options={"gtol": 1e-6}
        ).x
    return log_likelihood(found)


def logit(values: Floats, design: Floats) -> float:
    """The largest log-likelihood of a multinomial logit; `design` is without intercept."""
    classes, codes = np.unique(values, return_inverse=True)
    full = np.column_stack([np.ones(len(values)), design])

    def log_likelihood(coefficients: Floats) -> float:
        slopes = np.vstack([np.zeros(full.shape[1]), coefficients.reshape(len(classes) - 1, -1)])
        scores = full @ slopes.T
        return float(
            scores[np.arange(len(codes)), codes].sum() - np.logaddexp.reduce(scores, axis=1).sum()
        )

    return maximum(log_likelihood, np.zeros((len(classes) - 1) * full.shape[1]))


def proportional_odds(values: Floats, design: Floats) -> float:
    """The largest log-likelihood of P(class <= j) = F(cut_j - x b), cuts as a first one and log
    increments.
    """
    classes, codes = np.unique(values, return_inverse=True)
    free = len(classes) - 1

    def log_likelihood(coefficients: Floats) -> float:
        steps = np.concatenate([coefficients[:1], np.exp(coefficients[1:free])])
        cuts = np.concatenate([[-np.inf], np.cumsum(steps), [np.inf]])
        shift = design @ coefficients[free:]
        probability = special.expit(cuts[codes + 1] - shift) - special.expit(cuts[codes] - shift)
        return float(np.log(np.maximum(probability, 1e-300)).sum())

    start = np.concatenate([[-1.0], np.zeros(free - 1), np.zeros(design.shape[1])])
    return maximum(log_likelihood, start)


def poisson(values: Floats, design: Floats) -> tuple[float, float]:
    """The largest log-likelihood of a Poisson regression without log(count!), and Pearson's
    chi-squared there.
    """
    full = np.column_stack([np.ones(len(values)), design])
    start = np.concatenate([[math.log(values.mean())], np.zeros(design.shape[1])])

    def log_likelihood(b: Floats) -> float:
        return float(values @ (full @ b) - np.exp(np.clip(full @ b, -50, 50)).sum())

    found = optimize.minimize(
        lambda b: -log_likelihood(b), start, method="BFGS", options={"gtol": 1e-7}
    ).x
    mean = np.exp(full @ found)
    return log_likelihood(found), float(((values - mean) ** 2 / mean).sum())


def regression_p(
    response: Column, other: Column, given: Sequence[Column]
) -> tuple[float, float, float]:
    """Statistic, df and p-value of adding `other` to the regression of `response` on the
    conditions.
    """
    kind, values = response
    before = regressors(given) if given else np.zeros((len(values), 0))
    after = np.column_stack([before, regressors([other], as_conditions=False)])
    added = rank(after) - rank(before)
    if kind == "number":
        left = [
            float(naive.fit(values, design)[0] @ naive.fit(values, design)[0])
            for design in (before, after)
        ]
        spare = len(values) - rank(after)
        f = (left[0] - left[1]) / added / (left[1] / spare)
        return f, added, float(stats.f.sf(f, added, spare))
    if kind == "count":
        (small, _), (large, pearson) = poisson(values, before), poisson(values, after)
        spare = len(values) - rank(after)
        f = 2 * (large - small) / added / (pearson / spare)
        return f, added, float(stats.f.sf(f, added, spare))
    model = proportional_odds if kind == "ordered" else logit
    ratio = 2 * (model(values, after) - model(values, before))
    df = added if kind == "ordered" else added * (len(np.unique(values)) - 1)
    return ratio, df, float(stats.chi2.sf(ratio, df))


def rank(design: Floats) -> int:
    """Coefficients of a regression on an intercept and these columns."""
    return int(np.linalg.matrix_rank(np.column_stack([np.ones(len(design)), design])))


def tsagris(x: Column, y: Column, given: Sequence[Column]) -> float:
    """min(2 min(p1, p2), max(p1, p2))."""
    first, second = regression_p(x, y, given)[2], regression_p(y, x, given)[2]
    return min(2 * min(first, second), max(first, second))


def g_squared(x: Floats, y: Floats, given: Sequence[Floats]) -> tuple[float, int]:
    """2 Σ O log(O / E) over the strata where both columns have two values and repeat one, and its
    df.
    """
    strata = list(zip(*given, strict=True)) if given else [()] * len(x)
    total, df = 0.0, 0
    for stratum in sorted(set(strata)):
        pairs = [(a, b) for a, b, s in zip(x, y, strata, strict=True) if s == stratum]
        rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
        if not (1 < len(rows) < len(pairs) and 1 < len(columns) < len(pairs)):
            continue
        df += (len(rows) - 1) * (len(columns) - 1)
        for (a, b), count in Counter(pairs).items():
            total += 2 * count * math.log(count * len(pairs) / rows[a] / columns[b])
    return total, df


def strata_that_count(x: Floats, y: Floats, given: Sequence[Floats]) -> list[NDArray[np.int64]]:
    """The tables of x and y in the strata where both columns have two values and repeat one."""
    frame = pd.DataFrame({"x": x, "y": y})
    keys = pd.Series(list(zip(*given, strict=True)) if given else [()] * len(x))
    tables = [pd.crosstab(rows["x"], rows["y"]).to_numpy() for _, rows in frame.groupby(keys)]
    return [
        table
        for table in tables
        if 1 < table.shape[0] < table.sum() and 1 < table.shape[1] < table.sum()
    ]


def table_test(
    x: Floats, y: Floats, given: Sequence[Floats], of: str, rows_per_cell: int
) -> tuple[float, float, float]:
    """The statistic, df and p of G² ("log-likelihood") or chi-squared ("pearson"), by scipy in
    every stratum.

    With fewer rows a cell, chi-squared with the gamma law of its mean and variance over all tables
    that have the margins.
    """
    tables = strata_that_count(x, y, given)
    thin = sum(table.sum() for table in tables) < rows_per_cell * sum(map(np.size, tables))
    which = "pearson" if thin else of
    found = [stats.chi2_contingency(table, correction=False, lambda_=which) for table in tables]
    statistic = sum(each.statistic for each in found)
    df = sum(each.dof for each in found)
    if not thin:
        return statistic, df, float(stats.chi2.sf(statistic, df))
    moments = np.array([chi_squared_moments(table) for table in tables])
    mean, variance = moments.sum(axis=0)
    if variance < 1e-9 * mean**2:
        return statistic, df, 1.0
    law = stats.gamma(mean**2 / variance, scale=variance / mean)
    return statistic, df, float(law.sf(statistic))


def chi_squared_moments(table: NDArray[np.int64]) -> tuple[float, float]:
    """The mean and variance of chi-squared over all tables with these margins, each as likely as
    permutations of the rows make it.
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / table.sum()
    values, weights = [], []
    margins = special.gammaln(np.concatenate([rows, columns]) + 1).sum()
    for other in tables_with(tuple(rows.tolist()), tuple(columns.tolist())):
        counts = np.array(other)
        values.append(((counts - expected) ** 2 / expected).sum())
        log_weight = margins - special.gammaln(table.sum() + 1)
        weights.append(math.exp(log_weight - special.gammaln(counts + 1).sum()))
    assert sum(weights) == pytest.approx(1.0)
    mean = float(np.dot(weights, values))
    return mean, float(np.dot(weights, np.square(values))) - mean**2


def tables_with(rows: tuple[int, ...], columns: tuple[int, ...]) -> Iterator[list[list[int]]]:
    """All tables of counts with these margins."""
    if not rows:
        if not any(columns):
            yield []
        return
    for first in itertools.product(*(range(min(rows[0], column) + 1) for column in columns)):
        if sum(first) == rows[0]:
            left = tuple(column - count for column, count in zip(columns, first, strict=True))
            for rest in tables_with(rows[1:], left):
                yield [list(first), *rest]


def stratified(
    x: Floats, y: Floats, numbers: Sequence[Floats], categories: Sequence[Floats]
) -> tuple[float, int, int]:
    """Σ (n - q - 3) atanh(r)² over strata with spare rows, their number, and the rows in them."""
    data = np.column_stack([x, y, *numbers])
    strata = list(zip(*categories, strict=True))
    total, used, inside = 0.0, 0, 0
    for stratum in sorted(set(strata)):
        rows = data[[s == stratum for s in strata]]
        found = naive.residual_correlation(rows, 0, 1, range(2, data.shape[1]))
        if found is not None and (weight := len(rows) - found[1] - 3) > 0:
            total, used, inside = (
                total + weight * math.atanh(found[0]) ** 2,
                used + 1,
                inside + len(rows),
            )
    return total, used, inside


def sandwich(x: Floats, y: Floats, design: Floats) -> tuple[float, int, float]:
    """Σ e_x e_y / sqrt(Σ e_x² e_y² / (1 - h) - (Σ e_x e_y)² / n), n - rank - 1, and the p-value of
    Student's t.
    """
    n = len(x)
    full = np.column_stack([np.ones(n), design])
    hat = full @ np.linalg.pinv(full)
    e, f = x - hat @ x, y - hat @ y
    total = sum(e[i] * f[i] for i in range(n))
    spread = sum(e[i] ** 2 * f[i] ** 2 / (1 - hat[i, i]) for i in range(n))
    df = n - rank(design) - 1
    t = total / math.sqrt(spread - total**2 / n)
    return t, df, float(2 * stats.t.sf(abs(t), df))


def wilks(x: Floats, y: Floats, design: Floats) -> float:
    """Wilks' lambda of two sets of columns given a third: the determinant of what is left, over the
    product of both.
    """
    left = [np.column_stack([naive.fit(column, design)[0] for column in part.T]) for part in (x, y)]
    both = np.column_stack(left)
    return float(
        np.linalg.det(both.T @ both) / np.prod([np.linalg.det(part.T @ part) for part in left])
    )
