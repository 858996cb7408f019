"""Slow, obvious twins of mechanisms and effects: raw rows, loops, numerical derivatives; nothing
from the package.

A graph is a mapping from context to a mapping from effect to the list of its causes; `table` is a
DataFrame whose column R is the context.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy import optimize, special


def least_squares(table, effect, causes, errors=True):
    """Intercept and slopes, their HC3 covariance and the classical one, from the rows; the slopes
    alone are faster.

    Columns are fitted in units of their spread around their mean: normal equations of a column with
    mean -7 and spread .001 lose the digits that tests look at, and how many depends on the
    processor.
    """
    y, x = table[effect].to_numpy(float), table[list(causes)].to_numpy(float)
    mean, spread = x.mean(axis=0), x.std(axis=0)
    design = np.column_stack([np.ones(len(table)), (x - mean) / spread])
    to_columns = np.diag(np.append(1.0, 1.0 / spread))  # from these units to those of the table
    to_columns[0, 1:] = -mean / spread
    inverse = np.linalg.inv(design.T @ design)
    fitted = inverse @ design.T @ (y - y.mean())
    slopes = to_columns @ fitted
    slopes[0] += y.mean()
    if not errors:
        return slopes, None, None
    residual = y - y.mean() - design @ fitted
    meat = np.zeros_like(inverse)
    for row, e in zip(design, residual, strict=True):
        leverage = row @ inverse @ row
        meat += np.outer(row, row) * (e / (1.0 - leverage)) ** 2
    robust = inverse @ meat @ inverse
    classical = inverse * (residual @ residual) / (len(y) - len(slopes))
    return slopes, to_columns @ robust @ to_columns.T, to_columns @ classical @ to_columns.T


def weighted_least_squares(table, effect, causes, weights):
    """Intercept and slopes, and their HC3 covariance, of rows that count by their weights: rows
    times their root.
    """
    y, x = table[effect].to_numpy(float), table[list(causes)].to_numpy(float)
    root = np.sqrt(weights)
    design, response = np.column_stack([np.ones(len(y)), x]) * root[:, None], y * root
    slopes = np.linalg.lstsq(design, response, rcond=None)[0]
    inverse = np.linalg.inv(design.T @ design)
    meat = np.zeros_like(inverse)
    for row, e in zip(design, response - design @ slopes, strict=True):
        meat += np.outer(row, row) * (e / (1.0 - row @ inverse @ row)) ** 2
    return slopes, inverse @ meat @ inverse


def rows_of(table, graph, context, effect):
    """All rows, unless R is a cause of the effect: then those of the context."""
    return table[table["R"] == context] if "R" in graph[context][effect] else table


def mechanisms(table, graph, errors=True):
    """{(context, effect): (causes, intercept and slopes, HC3 covariance)}; fits on the same rows
    are one object.
    """
    found, made = {}, {}
    for context, causes_of in graph.items():
        for effect in causes_of:
            if effect == "R":
                continue
            causes = tuple(c for c in causes_of[effect] if c != "R")
            key = (effect, causes, context if "R" in causes_of[effect] else "all")
            if key not in made:
                rows = rows_of(table, graph, context, effect)
                made[key] = (causes, *least_squares(rows, effect, causes, errors)[:2])
            found[context, effect] = made[key]
    return found


def paths(causes_of, x, y):
    """All directed paths between system variables."""
    if x == y:
        return [[x]]
    return [
        [*path, y] for cause in causes_of[y] if cause != "R" for path in paths(causes_of, x, cause)
    ]


def along(fits, context, path):
    """The product of the slopes along a path."""
    steps = (
        fits[context, b][1][1 + fits[context, b][0].index(a)] for a, b in itertools.pairwise(path)
    )
    return float(np.prod(list(steps)))


def total_effect(fits, graph, context, x, y):
    """The sum of products along all paths."""
    return sum(along(fits, context, path) for path in paths(graph[context], x, y))


def mean_under(fits, graph, context, y, means, fixed=()):
    """The mean of y if everyone is put in a context and some variables are set."""
    fixed = dict(fixed)
    if y in fixed:
        return fixed[y]
    if not moved(graph[context], y, fixed):
        return means[y]
    causes, slopes, _ = fits[context, y]
    return slopes[0] + sum(
        b * mean_under(fits, graph, context, c, means, fixed)
        for c, b in zip(causes, slopes[1:], strict=True)
    )


def moved(causes_of, y, fixed):
    """Whether R or something that is set leads to y."""
    return any(c == "R" or c in fixed or moved(causes_of, c, fixed) for c in causes_of[y])


def standard_error(number, fits, step=1e-5):
    """The delta method with numerical derivatives: `number` is a function of fits."""
    variance, done = 0.0, []
    for fit in fits.values():
        if any(fit is other for other in done):
            continue
        done.append(fit)
        gradient = np.zeros(len(fit[1]))
        for place in range(len(gradient)):
            at = []
            for sign in (1.0, -1.0):
                slopes = fit[1].copy()
                slopes[place] += sign * step
                at.append(
                    number({k: (f[0], slopes, f[2]) if f is fit else f for k, f in fits.items()})
                )
            gradient[place] = (at[0] - at[1]) / (2.0 * step)
        variance += gradient @ fit[2] @ gradient
    return float(np.sqrt(variance))


def likelihood_fit(kind, y, columns):
    """The mean of a category or a count by maximum likelihood with a general optimiser, intercept
    first.
    """
    design = np.column_stack([np.ones(len(y)), columns])

    def loss(slopes):
        fitted = design @ slopes
        if kind == "categorical":
            return float(np.sum(np.logaddexp(0.0, fitted) - y * fitted))
        return float(np.sum(np.exp(fitted) - y * fitted))

    slopes = optimize.minimize(
        loss, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-7}
    ).x
    return lambda some: (special.expit if kind == "categorical" else np.exp)(
        np.column_stack([np.ones(len(some)), some]) @ slopes
    )
