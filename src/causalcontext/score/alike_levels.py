"""Levels of a context that nothing in the table tells apart.

A clerk may split one level into three that behave the same. The logit of the context would then pay
for three slopes of every cause in place of one, lose its causes, and turn their arrows around. A
level that is independent of all columns given the group of levels it belongs to is a label drawn
inside that group: then log p(level | causes) is log p(group | causes) plus a constant that is the
same for all causes, so the logit of the groups compares models as the logit of the levels would,
without the price of slopes that are equal.

What the mechanisms of other variables do in every level is not touched: only the context as an
effect has groups in place of levels.
"""

from __future__ import annotations

from math import log

import numpy as np

from causalcontext.data.dataset import gaussian_ranks
from causalcontext.kernels.arrays import Floats, Ints

MOST_PRODUCTS = 60
"""Columns whose products are compared as well; with more columns, means and squares alone. Half of
it or double changes no answer of `tests/answers`: chosen for time, 60 columns have 1,830 products.
"""


def alike_levels(columns: Floats, codes: Ints, levels: int) -> Ints:
    """The group of every level, shape (levels,); groups are numbered by their first level.

    Groups are merged two at a time, first those that differ least, as long as no feature of the
    columns differs between the two by more than its price in nats: half the logarithm of the rows,
    as a slope of the logit, and the logarithm of the number of features that were compared.
    Features are the columns in normal scores, and their squares and products. If everything would
    be one group, every level stays by itself: nothing then says which of them belong together.

    Parameters
    ----------
    columns : array of float, shape (q, rows)
        Numbers, and indicators of the levels of categories, of all other variables.
    codes : array of int, shape (rows,)
        The level of every row.
    levels : int
        How many levels there are.
    """
    apart = np.arange(levels)
    varying = columns[columns.std(axis=1) > 0.0] if columns.size else columns
    if levels < 3 or not len(varying):
        return apart
    features = _features(gaussian_ranks(varying.T).T)
    count = np.bincount(codes, minlength=levels).astype(np.float64)
    sums = np.stack([features[:, codes == level].sum(axis=1) for level in range(levels)])
    means = sums / np.maximum(count, 1.0)[:, None]
    variance = np.var(features - means[codes].T, axis=1)
    price = 0.5 * log(len(codes)) + log(len(features))
    group = apart.copy()
    while len(left := np.unique(group)) > 1:
        nearest, difference = _nearest(count[left], sums[left], variance)
        if difference > price:
            break
        first, second = left[list(nearest)]
        group[group == second] = first
        count[first] += count[second]
        sums[first] += sums[second]
    _, first_level, number = np.unique(group, return_index=True, return_inverse=True)
    return np.asarray(number) if len(first_level) > 1 else apart


def _features(scores: Floats) -> Floats:
    """Columns in normal scores, their squares, and their products unless there are too many."""
    if len(scores) > MOST_PRODUCTS:
        return np.vstack([scores, scores**2])
    one, other = np.triu_indices(len(scores))
    return np.vstack([scores, scores[one] * scores[other]])


def _nearest(count: Floats, sums: Floats, variance: Floats) -> tuple[tuple[int, int], float]:
    """The two groups that differ least, and by how many nats in the feature that differs most.

    Half the square of a difference of means in units of its standard error, which is about what the
    feature would add to the log likelihood of a logit between the two.
    """
    means = sums / np.maximum(count, 1.0)[:, None]
    best = (0, 1)
    least = np.inf
    for a in range(len(count)):
        for b in range(a + 1, len(count)):
            error = variance * (1.0 / max(count[a], 1.0) + 1.0 / max(count[b], 1.0))
            gap = (means[a] - means[b]) ** 2
            most = float(np.max(0.5 * gap / np.maximum(error, 1e-300)))
            if most < least:
                best = (a, b)
                least = most
    return best, least
