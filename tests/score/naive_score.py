"""Slow, obvious versions of the score and its searches, on rows instead of moments."""

import itertools
import math

import numpy as np
from scipy.optimize import minimize


def log_likelihood(residual):
    """Gaussian log-likelihood at the fitted variance."""
    n = len(residual)
    return -0.5 * n * (math.log(np.mean(residual**2)) + 1.0 + math.log(2.0 * math.pi))


def regression_residual(y, design):
    slopes, *_ = np.linalg.lstsq(design, y, rcond=None)
    return y - design @ slopes


def local_score(values, node, parents, penalty):
    """One regression on some rows: intercept, slopes and variance are paid for."""
    n = len(values)
    design = np.column_stack([np.ones(n), values[:, list(parents)]])
    residual = regression_residual(values[:, node], design)
    return log_likelihood(residual) - 0.5 * penalty * math.log(n) * (len(parents) + 2)


def shifted_score(values, codes, node, parents, penalty):
    """One regression on all rows with an intercept for every context."""
    n, levels = len(values), np.unique(codes)
    design = np.column_stack([(codes[:, None] == levels).astype(float), values[:, list(parents)]])
    residual = regression_residual(values[:, node], design)
    return log_likelihood(residual) - 0.5 * penalty * math.log(n) * (len(parents) + 1 + len(levels))


def context_score(values, codes, parents, penalty, ridge=1e-2):
    """A multinomial logit by a general optimiser."""
    n, k = len(values), int(codes.max()) + 1
    design = np.column_stack([np.ones(n), values[:, list(parents)]])

    def log_likelihoods(slopes):
        eta = np.column_stack([design @ slopes.reshape(k - 1, -1).T, np.zeros(n)])
        return eta[np.arange(n), codes] - np.log(np.sum(np.exp(eta), axis=1))

    def loss(slopes):
        return -log_likelihoods(slopes).sum() + 0.5 * ridge * np.sum(
            slopes.reshape(k - 1, -1)[:, 1:] ** 2
        )

    best = minimize(
        loss,
        np.zeros((k - 1) * design.shape[1]),
        method="BFGS",
        options={"gtol": 1e-8, "maxiter": 5000},
    )
    likelihood = log_likelihoods(best.x).sum()
    return likelihood - 0.5 * penalty * math.log(n) * (k - 1) * design.shape[1]


def logit_likelihood(columns, codes, ridge=1e-2):
    """The log-likelihood of a multinomial logit with many classes, by a general optimiser that
    knows the gradient.
    """
    n, k = len(columns), int(codes.max()) + 1
    design, own = np.column_stack([np.ones(n), columns]), np.eye(k)[codes]

    def parts(slopes):
        eta = np.column_stack([design @ slopes.reshape(k - 1, -1).T, np.zeros(n)])
        odds = np.exp(eta - eta.max(axis=1, keepdims=True))
        return eta, odds / odds.sum(axis=1, keepdims=True)

    def likelihood(slopes):
        return np.log(parts(slopes)[1][np.arange(n), codes]).sum()

    def loss(slopes):
        free = slopes.reshape(k - 1, -1) * (np.arange(design.shape[1]) > 0)
        gradient = (own - parts(slopes)[1])[:, : k - 1].T @ design - ridge * free
        return 0.5 * ridge * np.sum(free**2) - likelihood(slopes), -gradient.ravel()

    start = np.zeros((k - 1) * design.shape[1])
    best = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 3000, "ftol": 1e-14, "gtol": 1e-6},
    )
    return likelihood(best.x)


def wilks_gain(values, codes, parents):
    """The log-likelihood ratio of a linear discriminant: -n/2 log(|within| / |total|)."""
    chosen = values[:, list(parents)]
    centred = chosen - chosen.mean(axis=0)
    inside = np.vstack(
        [chosen[codes == r] - chosen[codes == r].mean(axis=0) for r in np.unique(codes)]
    )
    return (
        -0.5
        * len(values)
        * math.log(np.linalg.det(inside.T @ inside) / np.linalg.det(centred.T @ centred))
    )


def partitions(items):
    """Every way to split items into blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [item for item in rest if item not in others]
            for tail in partitions(left):
                yield [(first, *others), *tail]


def subsets(items):
    return [
        chosen for size in range(len(items) + 1) for chosen in itertools.combinations(items, size)
    ]


class SmallProblem:
    """Every model of a small table: orders per context with the same beginning up to the context,
    best subsets.
    """

    def __init__(self, values, codes, penalty, context_parent_score):
        self.values, self.codes, self.penalty = values, codes, penalty
        self.p, self.k = values.shape[1], int(codes.max()) + 1
        self.context_parent_score = context_parent_score
        self._memory = {}

    def best_regression(self, node, contexts, candidates):
        """Best score and parents of a node on the rows of some contexts; `contexts` None means
        shifted.
        """
        key = (node, contexts, candidates)
        if key not in self._memory:
            self._memory[key] = max(
                (self._score(node, contexts, chosen), chosen) for chosen in subsets(candidates)
            )
        return self._memory[key]

    def _score(self, node, contexts, chosen):
        key = (node, contexts, "set", chosen)
        if key not in self._memory:
            if contexts is None:
                score = shifted_score(self.values, self.codes, node, chosen, self.penalty)
            else:
                score = local_score(
                    self.values[np.isin(self.codes, contexts)], node, chosen, self.penalty
                )
            self._memory[key] = score
        return self._memory[key]

    def best_node(self, node, before, after_context):
        """Best score of a node, and its parents by context; `before[r]` are the nodes before it in
        context r.
        """
        everything = tuple(range(self.k))

        def candidates(contexts):
            return tuple(sorted(set.intersection(*(set(before[r]) for r in contexts))))

        score, parents = self.best_regression(node, everything, candidates(everything))
        options = [(score, False, (parents,) * self.k)]
        if after_context:
            score, parents = self.best_regression(node, None, candidates(everything))
            options.append((score, True, (parents,) * self.k))
            for blocks in partitions(list(everything)):
                if len(blocks) > 1:
                    fits = {
                        block: self.best_regression(node, block, candidates(block))
                        for block in blocks
                    }
                    of = {r: fits[block][1] for block in blocks for r in block}
                    total = sum(score for score, _ in fits.values())
                    options.append((total, True, tuple(of[r] for r in everything)))
        return max(options)

    def models(self):
        """(score, context parents, children of the context, parents by node and context) for all
        orders.
        """
        for prefix_size in range(self.p + 1):
            for prefix in itertools.permutations(range(self.p), prefix_size):
                rest = [node for node in range(self.p) if node not in prefix]
                total, parents_of_context = self.context_parent_score(prefix)
                for tails in itertools.product(itertools.permutations(rest), repeat=self.k):
                    yield self._model(prefix, tails, total, parents_of_context)

    def _model(self, prefix, tails, total, parents_of_context):
        children, parents = [], []
        for node in range(self.p):
            early = node in prefix
            orders = [prefix if early else (*prefix, *tail) for tail in tails]
            before = [order[: order.index(node)] for order in orders]
            score, changes, chosen = self.best_node(node, before, not early)
            total += score
            children.append(changes)
            parents.append(chosen)
        return total, parents_of_context, tuple(children), tuple(parents)
