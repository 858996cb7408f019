"""Slow, obvious twins of effects over time: windows by shifting, all paths one by one, numerical
derivatives.

A graph is a mapping from effect to the list of its (cause, lag); `reads` maps a variable to the lag
of the copy of R that selects its rows.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from naive_effects import least_squares


def windows(table, lags):
    """Every column at every lag, without the first rows."""
    shifted = {f"{name}@{lag}": table[name].shift(lag) for name in table for lag in range(lags + 1)}
    return pd.DataFrame(shifted).iloc[lags:]


def mechanisms(table, graph, reads, context, lags):
    """{effect: (its (cause, lag)s, intercept and slopes, HC3 covariance)} in one context."""
    wide, found = windows(table, lags), {}
    for effect, causes in graph.items():
        rows = wide if reads.get(effect) is None else wide[wide[f"R@{reads[effect]}"] == context]
        slopes, robust, _ = least_squares(
            rows, f"{effect}@0", [f"{cause}@{lag}" for cause, lag in causes]
        )
        found[effect] = (causes, slopes, robust)
    return found


def paths(graph, x, lag, y):
    """All directed paths from x so many steps ago to y now, as lists of (variable, steps ago)."""
    if (x, lag) == (y, 0):
        return [[(x, 0)]]
    found = []
    for cause, ago in graph[y]:
        if ago <= lag:
            found += [
                [*((v, k + ago) for v, k in path), (y, 0)]
                for path in paths(graph, x, lag - ago, cause)
            ]
    return found


def along(slopes, graph, path):
    """The product of the slopes along a path."""
    product = 1.0
    for (cause, before), (effect, after) in pairwise(path):
        product *= slopes[effect][1 + graph[effect].index((cause, before - after))]
    return product


def effect(fits, graph, x, lag, y):
    """The sum over all paths and its standard error by numerical derivatives."""
    all_paths = paths(graph, x, lag, y)

    def total(slopes):
        return sum(along(slopes, graph, path) for path in all_paths)

    slopes = {name: fit[1] for name, fit in fits.items()}
    variance = 0.0
    for name, (_, own, covariance) in fits.items():
        gradient = np.zeros(len(own))
        for place in range(len(own)):
            step = np.zeros(len(own))
            step[place] = 1e-6
            up, down = slopes | {name: own + step}, slopes | {name: own - step}
            gradient[place] = (total(up) - total(down)) / 2e-6
        variance += gradient @ covariance @ gradient
    return total(slopes), np.sqrt(variance)


def mean_under(rows, fits, reads, name, lag, values, lags, everyone):
    """The mean of a variable so many steps ago, over windows, if `values` at (variable, lag) are
    set.

    With `everyone`, the context is set for what happens at time t; what is earlier keeps its mean
    but for `values`.
    """

    def mean(cause, ago):
        return rows[f"{cause}@{ago if ago <= lags else 0}"].mean()

    if (name, lag) in values:
        return values[name, lag]
    if lag > lags:
        return mean(name, lag)
    causes, slopes, _ = fits[name]
    now = [
        mean_under(rows, fits, reads, cause, ago + lag, values, lags, everyone)
        for cause, ago in causes
    ]
    before = [mean(cause, ago + lag) for cause, ago in causes]
    if everyone and lag == 0 and (reads[name] is not None or now != before):
        return slopes[0] + np.dot(slopes[1:], now)
    return mean(name, lag) + np.dot(slopes[1:], np.array(now) - before)
