"""Linear models with exact moments for the graphs of the exact enumeration, and their effects by
matrix inverse.

R is 1 where a normal variable, the sum of its causes and a noise, is positive. So everything
upstream of R is normal and cut in half, and the moments of every context are known in closed form:
no noise of a sample stands between a graph and its effects. The context is node 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import causalcontext as cc
from causalcontext.data.moments import Moments
from causalcontext.graphs.paths import ancestors, causal_order

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ROWS = 10**6
HALF_MEAN, HALF_VARIANCE = np.sqrt(2.0 / np.pi), 1.0 - 2.0 / np.pi


@dataclass(frozen=True)
class LinearTwin:
    """Slopes and levels of every context, shape (2, N, N) and (2, N), and the moments that they
    give.
    """

    truth: Bools
    slopes: Floats
    levels: Floats
    moments: Moments

    def effects(self) -> Floats:
        """The effect of every variable on every other one, the context held: shape (2, N, N)."""
        return np.linalg.inv(np.eye(self.truth.shape[1]) - self.slopes)

    def means_under(self, level: int) -> Floats:
        """The means if the context is set."""
        held = self.slopes[level].copy()
        held[:, 0] = 0.0
        return np.linalg.solve(np.eye(len(held)) - held.T, self.levels[level])


def linear_twin(truth: Bools, seed: int) -> LinearTwin:
    """A twin with random slopes and levels; mechanisms of children of R differ between contexts."""
    generator = np.random.default_rng(seed)
    nodes = truth.shape[1]
    size = generator.uniform(0.4, 1.6, (2, nodes, nodes)) * generator.choice(
        [-1.0, 1.0], (2, nodes, nodes)
    )
    levels = generator.uniform(-2.0, 2.0, (2, nodes))
    kept = ~truth[0, 0]
    size[1][:, kept], levels[1, kept] = size[0][:, kept], levels[0, kept]
    slopes = np.where(truth, size, 0.0)
    slopes[:, 0, :] = 0.0
    levels[:, 0] = 0.0
    return LinearTwin(truth, slopes, levels, _moments(truth, slopes, levels))


def result_of(
    graphs: dict[int, cc.Graph], moments: Moments, names: str = "RXYZ"
) -> cc.ContextGraphs:
    """A result with these graphs and moments, as if it had been loaded."""
    generator = np.random.default_rng(0)
    table = {name: generator.normal(size=40) for name in names} | {"R": np.arange(40) % 2}
    found = cc.discover(table, context="R", method="pc-ac")
    return replace(found, graphs=graphs, moments=moments, rows=None, origins={}, doubts=())


def naive_effects(links: Bools, moments: Moments) -> Floats:
    """The effects that moments give if these are the graphs: children of R by context, the rest on
    all rows.
    """
    nodes = links.shape[1]
    slopes = np.zeros(links.shape)
    for r in (0, 1):
        for v in range(1, nodes):
            causes = [c for c in range(1, nodes) if links[r, c, v]]
            scatter = moments.scatter[r] if links[0, 0, v] else moments.merged().scatter[0]
            slopes[r, causes, v] = np.linalg.solve(
                scatter[np.ix_(causes, causes)], scatter[causes, v]
            )
    return np.linalg.inv(np.eye(nodes) - slopes)


def naive_context_effects(links: Bools, moments: Moments) -> Floats:
    """The means under R = 1 minus those under R = 0 that moments give if these are the graphs."""
    nodes, pooled, means = links.shape[1], moments.merged(), []
    for r in (0, 1):
        found = np.zeros(nodes)
        for v in causal_order(links[r], range(nodes)):
            causes = [c for c in range(1, nodes) if links[r, c, v]]
            of, cell = (moments, r) if links[0, 0, v] else (pooled, 0)
            b = np.linalg.solve(
                of.scatter[cell][np.ix_(causes, causes)], of.scatter[cell][causes, v]
            )
            found[v] = of.mean[cell, v] + b @ (found[causes] - of.mean[cell, causes])
        means.append(found)
    means = np.array(means)
    means[:, 0] = 0.0
    return means[1] - means[0]


def _moments(truth: Bools, slopes: Floats, levels: Floats) -> Moments:
    """Means and cross products of both contexts."""
    nodes = truth.shape[1]
    upstream = ancestors(truth[0], 0)
    first = slopes[0] * upstream[None, :]
    first[:, 0] = slopes[0][:, 0]
    onto = np.linalg.inv(np.eye(nodes) - first)  # noise of i -> variable j, upstream and R
    onto *= (upstream | (np.arange(nodes) == 0))[:, None]
    covariance = onto.T @ onto
    mean = onto.T @ np.where(upstream, levels[0], 0.0)
    with_r = covariance[0] / np.sqrt(covariance[0, 0])
    found = []
    for sign, r in ((-1.0, 0), (1.0, 1)):
        # R is cut at its own mean, so that both contexts have half of the rows.
        inside = covariance - np.outer(with_r, with_r) * (1.0 - HALF_VARIANCE)
        found.append(
            _downstream(mean + sign * HALF_MEAN * with_r, inside, upstream, slopes[r], levels[r])
        )
    means, covariances = (np.array([one[place] for one in found]) for place in (0, 1))
    means[:, 0], covariances[:, 0, :], covariances[:, :, 0] = 0.0, 0.0, 0.0
    return Moments(np.array([ROWS, ROWS]), means, covariances * ROWS)


def _downstream(
    mean: Floats, covariance: Floats, upstream: Bools, slopes: Floats, levels: Floats
) -> tuple[Floats, Floats]:
    """Moments of everything in a context, from those of what lies upstream of R there."""
    rest = ~upstream
    rest[0] = False
    onto = np.linalg.inv(np.eye(len(slopes)) - slopes * rest[None, :])
    start = np.where(np.outer(upstream, upstream), covariance, 0.0) + np.diag(rest.astype(float))
    return onto.T @ np.where(upstream, mean, np.where(rest, levels, 0.0)), onto.T @ start @ onto
