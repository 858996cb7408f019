"""Effects in PAGs over time without noise: linear models with hidden processes, whose covariances
are known exactly.

The graphs are found from exact answers, the adjusted coefficient is that of the exact covariances
of the window, and it is compared with the total effect in the model. `python
tests/timeseries/hidden_effects.py` counts many models.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import scipy
from hidden_chains import every_model, plan_of, random_models, search, unrolled

from causalcontext.graphs.paths import adjustment, is_d_separated
from causalcontext.results.effects.unrolled import UnrolledGraphs
from causalcontext.results.effects.window_pags import window_pag
from causalcontext.search.lagged.plan import Window, pairs_now
from causalcontext.views import Contexts, Outcomes

BEFORE = 5
SAME, LARGEST_RADIUS = 1e-8, 0.95


class Separations:
    """Answers by separation in the unrolled graph, remembered."""

    def __init__(self, graph, nodes):
        self.graph, self.nodes, self.known = graph, nodes, {}

    def answer(self, queries):
        p = np.array([self.separates(q.x, q.y, q.given) for q in queries], dtype=float)
        nothing = np.zeros(len(p), dtype=np.int64)
        return Outcomes(1 - p, np.full(len(p), np.nan), p, nothing, nothing.astype(np.int8))

    def found(self, x, y):
        known = self.sought.sepsets.separating_set(0, x, y)
        return None if known is None else known[0]

    def separates(self, x, y, given):
        key = (min(x, y), max(x, y), frozenset(given))
        if key not in self.known:
            chosen = [self.nodes[z] for z in given]
            self.known[key] = is_d_separated(self.graph, self.nodes[x], self.nodes[y], chosen)
        return self.known[key]


class LinearModel:
    """x(t) = inside' x(t) + lagged' x(t-1) + noise, with random coefficients, stationary."""

    def __init__(self, lagged, inside, random):
        size = len(inside)
        signs = random.choice((-1.0, 1.0), size=(2, size, size))
        weights = random.uniform(0.3, 0.9, size=(2, size, size)) * signs
        self.now = np.linalg.inv(np.eye(size) - (weights[0] * inside).T)
        self.step = self.now @ (weights[1] * lagged).T
        radius = np.abs(np.linalg.eigvals(self.step)).max()
        self.step *= min(1.0, LARGEST_RADIUS / max(radius, 1e-12))
        noise = self.now @ np.diag(random.uniform(0.5, 1.5, size)) @ self.now.T
        self.covariance = scipy.linalg.solve_discrete_lyapunov(self.step, noise)

    def window_covariance(self, window):
        """The covariances of the columns of a window, of the first processes."""
        places = list(map(window.place, range(window.nodes)))
        found = np.empty((window.nodes, window.nodes))
        for (a, (v, before)), (b, (w, after)) in (
            (i, j) for i in enumerate(places) for j in enumerate(places)
        ):
            later = self.power(abs(before - after)) @ self.covariance
            found[a, b] = later[w, v] if before >= after else later[v, w]
        return found

    def effect(self, cause, effect, lag):
        """What one unit more of a process does to another so many steps later."""
        return (self.power(lag) @ self.now)[effect, cause]

    def power(self, steps):
        return np.linalg.matrix_power(self.step, steps)


def coefficient(covariance, x, y, given):
    columns = [x, *given]
    return np.linalg.solve(covariance[np.ix_(columns, columns)], covariance[columns, y])[0]


def count_model(lagged, inside, observed, lags, random, coefficients=2):
    """Effects of one graph: how many are asked, answered by adjustment, answered by 0, and
    wrong.
    """
    window, size, times = Window(observed, lags, beyond=0), len(inside), lags + 1 + BEFORE
    nodes = [(times - 1 - lag) * size + v for v, lag in map(window.place, range(window.nodes))]
    exact = Separations(unrolled(lagged[None], inside[None], times)[0], nodes)
    found = exact.sought = search(exact, plan_of(window, Contexts()))
    shown = np.where(pairs_now(window), found.endpoints, 0)
    graphs = UnrolledGraphs(shown, window, frozenset())
    known = window_pag(graphs, 0, exact)
    models = [LinearModel(lagged, inside, random) for _ in range(coefficients)]
    covariances, counts = [model.window_covariance(window) for model in models], Counter(models=1)
    for x in range(window.nodes):
        v, lag = window.place(x)
        for y in (y for y in window.now if y != x):
            answer = adjustment(known.endpoints, x, y, sure=known.sure)
            reached = graphs.reach[0][x, y]
            counts.update(asked=1, none=not reached, adjusted=reached and answer.given is not None)
            if reached and answer.given is None:
                continue
            for model, covariance in zip(models, covariances, strict=True):
                told = coefficient(covariance, x, y, answer.given) if reached else 0.0
                truth = model.effect(v, window.place(y)[0], lag)
                counts.update(wrong=abs(told - truth) > SAME, nonzero=abs(truth) > SAME and reached)
    return counts


def count_models(observed, lags, models, seed):
    """The same of many graphs, each with random coefficients."""
    total, random = Counter(), np.random.default_rng(seed)
    for lagged, inside in zip(*models, strict=True):
        total.update(count_model(lagged, inside, observed, lags, random))
    return {name: int(count) for name, count in total.items()}


if __name__ == "__main__":
    for observed, hidden, lags, models, share in (
        (2, 1, 3, 1000, 0.4),
        (2, 2, 3, 500, 0.35),
        (3, 1, 2, 1000, 0.3),
        (3, 2, 2, 500, 0.3),
        (4, 1, 2, 100, 0.25),
    ):
        drawn = random_models(observed + hidden, models, [7, observed, hidden, lags], share)
        found = count_models(observed, lags, drawn, 7)
        print(f"{observed} observed, {hidden} hidden, lags={lags}, random:", found, flush=True)
    print("2 observed, 1 hidden, lags=2, all:", count_models(2, 2, every_model(3), 7))
