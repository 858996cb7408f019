"""Slow and obvious twins: windows by looking at every row, scores by least squares on the rows."""

from itertools import permutations

import numpy as np


def windows(units, steps, complete, lags):
    """The rows that end a whole window, found one by one."""
    found = []
    for row in range(len(units)):
        past = [row - lag for lag in range(lags + 1)]
        if past[-1] < 0:
            continue
        same = all(units[p] == units[row] for p in past)
        follow = all(steps[row] - steps[p] == row - p for p in past)
        if same and follow and all(complete[p] for p in past):
            found.append(row)
    return found


def residual_variance(y, columns):
    """Of least squares with an intercept."""
    design = np.column_stack([np.ones(len(y)), *columns])
    return float(np.mean((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2))


def likelihood(variance, rows):
    return -0.5 * rows * (np.log(2 * np.pi * variance) + 1.0)


def pooled_score(values, node, columns, cost):
    """One regression on all rows."""
    variance = residual_variance(values[:, node], [values[:, c] for c in columns])
    return likelihood(variance, len(values)) - cost(len(values)) * (len(columns) + 2)


def partitioned_score(values, codes, node, parents, cost):
    """A regression for every context."""
    return sum(
        pooled_score(values[codes == r], node, np.flatnonzero(parents[r]), cost)
        for r in range(len(parents))
    )


def interaction_score(values, codes, node, blocks, cost):
    """Intercepts by context, one variance, a slope for every block of contexts of every column."""
    contexts = blocks.shape[0]
    dummies = [(codes == r).astype(float) for r in range(1, contexts)]
    terms = sorted({(int(c), int(blocks[r, c])) for r, c in np.argwhere(blocks)})
    members = [[r for r in range(contexts) if mask >> r & 1] for _, mask in terms]
    inside = [np.isin(codes, chosen) for chosen in members]
    columns = [values[:, c] * rows for (c, _), rows in zip(terms, inside, strict=True)]
    variance = residual_variance(values[:, node], [*dummies, *columns])
    prices = sum(cost(rows.sum()) for rows in inside)
    return likelihood(variance, len(values)) - cost(len(values)) * (contexts + 1) - prices


def best_order(score, nodes):
    """The best total over all orders; `score(node, before)` with a bit mask of the nodes before."""

    def total(order):
        return sum(
            score(node, sum(1 << other for other in order[:place]))
            for place, node in enumerate(order)
        )

    return max(total(order) for order in permutations(range(nodes)))
