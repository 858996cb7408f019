"""The context as an effect: a multinomial logit on columns of the past and the present, and on its own past.

Wilks' lambda finds the parents on moments; likelihoods of logits then drop what does not pay and move a parent to
another lag where that is better, each set of parents fitted once.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.lagged.subsets import CLOSED, FORCED, OPEN
from causalcontext.kernels.lagged.wilks import best_groups, wilks_score
from causalcontext.kernels.rows.newton import logit_likelihood
from causalcontext.timeseries.problem import Problem

HOPELESS = 10.0
"""A set whose score by Wilks' lambda is lower by so much is not worth a fit."""
MOST_LOGIT_ROWS = 100_000
"""Longer tables score the context on every m-th row."""


class ContextModels:
    """Models of the context by the nodes before it.

    Candidates come in groups: a column of the table each, and the dummies of every lag of the context itself.
    """

    def __init__(self, problem: Problem, lags: int | None = None) -> None:
        self.problem = problem
        table, k = problem.table, problem.contexts
        self.lags = table.lags if lags is None else lags
        past = [_dummies(table.codes[:, lag], k) for lag in range(1, table.lags + 1)]
        values = np.column_stack([table.values, *past])
        edges = [*range(table.width), *range(table.width, values.shape[1] + 1, k - 1)]
        self.groups: Ints = np.array(list(pairwise(edges)), dtype=np.int64)
        codes = table.codes[:, 0]
        self.total: Floats = np.asarray(_within(values, np.zeros_like(codes), 1))
        self.within: Floats = _within(values, codes, k)
        every = max(1, -(-len(codes) // MOST_LOGIT_ROWS))
        self.weight = len(codes) / len(codes[::every])
        self.values = np.ascontiguousarray(values[::every])
        self.codes = np.ascontiguousarray(codes[::every])
        sizes = self.groups[:, 1] - self.groups[:, 0]
        self.price: Floats = np.asarray(problem.cost(problem.rows) * (k - 1) * sizes, dtype=np.float64)
        self._scores: dict[tuple[int, ...], float] = {}

    def best(self, system: int) -> tuple[float, Bools, tuple[int, ...]]:
        """The score, the columns, and the lags of the context itself."""
        status = self.status(system)
        chosen = np.zeros(len(self.groups), dtype=bool)
        best_groups(self.total, self.within, self.problem.rows, status, self.groups, self.price, chosen)
        found = self._polished(tuple(np.flatnonzero(chosen).tolist()), status)
        width = self.problem.table.width
        columns = np.zeros(width, dtype=bool)
        columns[[g for g in found if g < width]] = True
        return self.score(found), columns, tuple(g - width + 1 for g in found if g >= width)

    def status(self, system: int) -> Ints:
        """Which groups are closed, open or forced."""
        problem = self.problem
        table, d, allowed = problem.table, problem.variables, problem.allowed
        status = np.full(len(self.groups), OPEN, dtype=np.int64)
        for lag in range(table.lags + 1):
            for cause in range(d):
                reachable = lag <= self.lags and (lag > 0 or bool(system >> cause & 1))
                status[lag * d + cause] = (
                    CLOSED if not reachable
                    else FORCED if allowed.must[lag, cause, d]
                    else OPEN if allowed.may[lag, cause, d] else CLOSED
                )  # fmt: skip
            if lag > 0:
                own = table.width + lag - 1
                status[own] = CLOSED if lag > self.lags or not allowed.may[lag, d, d] else OPEN
        status[: table.width][table.scale <= 0.0] = CLOSED
        return status

    def score(self, groups: tuple[int, ...]) -> float:
        """The penalised likelihood of a logit on these groups."""
        if groups not in self._scores:
            columns = [column for g in groups for column in range(*self.groups[g])]
            design = np.ones((len(self.codes), len(columns) + 1))
            design[:, 1:] = self.values[:, columns]
            likelihood = self.weight * logit_likelihood(design, self.codes, self.problem.contexts)
            constant = self.problem.cost(self.problem.rows) * (self.problem.contexts - 1)
            self._scores[groups] = float(likelihood - self.price[list(groups)].sum() - constant)
        return self._scores[groups]

    def _polished(self, groups: tuple[int, ...], status: Ints) -> tuple[int, ...]:
        """The set after every removal, and every move of a parent to another lag, that raises the score."""
        while True:
            least = self.quick_score(groups) - HOPELESS
            trials = [other for other in self._neighbours(groups, status) if self.quick_score(other) >= least]
            best = max([groups, *trials], key=self.score)
            if best == groups:
                return groups
            groups = best

    def quick_score(self, groups: tuple[int, ...]) -> float:
        """The score by Wilks' lambda, up to a constant."""
        chosen = np.zeros(len(self.groups), dtype=bool)
        chosen[list(groups)] = True
        return float(wilks_score(self.total, self.within, self.problem.rows, self.groups, chosen, self.price))

    def _neighbours(self, groups: tuple[int, ...], status: Ints) -> list[tuple[int, ...]]:
        width, d = self.problem.table.width, self.problem.variables
        lagged = d * (self.problem.table.lags + 1)
        found = []
        for g in groups:
            if status[g] == FORCED:
                continue
            rest = tuple(other for other in groups if other != g)
            found.append(rest)
            near = range(g % d, lagged, d) if g < lagged else range(width, len(self.groups)) if g >= width else ()
            found += [tuple(sorted((*rest, other))) for other in near
                      if other not in groups and status[other] != CLOSED]  # fmt: skip
        return found


def _dummies(codes: Ints, contexts: int) -> Floats:
    """One column for every value but the first, standardised."""
    columns = (codes[:, None] == np.arange(1, contexts)).astype(np.float64)
    scale = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(scale > 0.0, scale, 1.0))


def _within(values: Floats, codes: Ints, contexts: int) -> Floats:
    rest = values.copy()
    for r in range(contexts):
        rest[codes == r] -= values[codes == r].mean(axis=0)
    return np.asarray(rest.T @ rest / len(values))
