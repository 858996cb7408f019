"""The context as an effect: a multinomial logit on columns of the past and the present, and on its own past.

Every set of parents is fitted once, on the rows. Score tests at a fit say what any further column would gain, about, so
only the most promising additions and swaps are fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.lagged.subsets import CLOSED, FORCED, MOST_PARENTS, OPEN, SMALLEST_GAIN
from causalcontext.kernels.limits import SAME_COLUMN_BELOW
from causalcontext.kernels.rows.glm import RIDGE, fit_glm, probabilities
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.timeseries.problem import LaggedProblem

MOST_LOGIT_ROWS = 100_000
"""Longer tables score the context on every m-th row."""
SLACK = 3.0
"""A swap is fitted if its score test says that it falls short by no more than this."""
Groups = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _SetScore:
    """The score of a set, and what every other group would gain, less its price, by a score test."""

    score: float
    gains: Floats


class ContextModels:
    """Models of the context by the nodes before it.

    Candidates come in groups: a column of the table each, and the dummies of every lag of the context itself.
    """

    def __init__(self, problem: LaggedProblem, lags: int | None = None) -> None:
        self.problem = problem
        table, k = problem.table, problem.contexts
        self.lags = table.lags if lags is None else lags
        past = [_dummies(table.codes[:, lag], k) for lag in range(1, table.lags + 1)]
        values = np.column_stack([table.values, *past])
        edges = [*range(table.width), *range(table.width, values.shape[1] + 1, k - 1)]
        self.groups: Ints = np.array(list(pairwise(edges)), dtype=np.int64)
        every = max(1, -(-len(values) // MOST_LOGIT_ROWS))
        self.weight = len(values) / len(values[::every])
        self.values = np.ascontiguousarray(values[::every])
        self.squares: Floats = np.asarray(self.values**2)
        self.codes = np.ascontiguousarray(table.codes[::every, 0])
        self.cost = problem.cost(problem.rows) * (k - 1)
        self.price: Floats = np.asarray(self.cost * (self.groups[:, 1] - self.groups[:, 0]), dtype=np.float64)
        self._fits: dict[Groups, _SetScore] = {}

    def best(self, system: int) -> tuple[float, Bools, tuple[int, ...]]:
        """The score, the columns, and the lags of the context itself."""
        status = self.status(system)
        found: Groups = tuple(np.flatnonzero(status == FORCED).tolist())
        while (better := self._better(found, status)) is not None:
            found = better
        width = self.problem.table.width
        columns = np.zeros(width, dtype=bool)
        columns[[g for g in found if g < width]] = True
        return self.fit(found).score, columns, tuple(g - width + 1 for g in found if g >= width)

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

    def fit(self, groups: Groups) -> _SetScore:
        """The logit on these groups, fitted once."""
        if groups not in self._fits:
            columns = [column for g in groups for column in range(*self.groups[g])]
            design = np.ones((len(columns) + 1, len(self.codes)))
            design[1:] = self.values[:, columns].T
            slopes = np.zeros((self.problem.contexts - 1) * len(design))
            likelihood = fit_glm(LOGIT, design, self.codes, self.problem.contexts, slopes, RIDGE, 1e-7)
            score = self.weight * likelihood - float(self.price[list(groups)].sum()) - self.cost
            self._fits[groups] = _SetScore(score, self._gains(design, slopes))
        return self._fits[groups]

    def _gains(self, design: Floats, slopes: Floats) -> Floats:
        """Half the score statistic of every group, summed over values of the context, less its price."""
        share = probabilities(LOGIT, design, self.problem.contexts, slopes)
        gain = np.zeros(self.values.shape[1])
        for c in range(self.problem.contexts - 1):
            curvature = share[:, c] * (1.0 - share[:, c])
            surplus = self.values.T @ ((self.codes == c) - share[:, c])
            weighted = design * curvature
            across = weighted @ self.values
            own = self.squares.T @ curvature
            left = own - (across * np.linalg.solve(weighted @ design.T + 1e-9 * np.eye(len(design)), across)).sum(0)
            gain += np.where(left > SAME_COLUMN_BELOW * own, 0.5 * surplus**2 / np.maximum(left, 1e-300), 0.0)
        return np.asarray(self.weight * np.add.reduceat(gain, self.groups[:, 0]) - self.price)

    def _better(self, groups: Groups, status: Ints) -> Groups | None:
        """The best set that one addition, removal or swap leads to, if it scores higher."""
        here = self.fit(groups)
        free = [g for g in groups if status[g] != FORCED]
        trials = [tuple(other for other in groups if other != g) for g in free]
        trials += [
            set_ for g, rest in zip(free, trials, strict=True) for set_ in self._swaps(g, rest, status, here.score)
        ]
        if len(groups) < MOST_PARENTS:
            trials += self._additions(groups, status, 0.0)
        best = max(trials, key=lambda trial: self.fit(trial).score, default=groups)
        return best if self.fit(best).score > here.score + SMALLEST_GAIN else None

    def _additions(self, groups: Groups, status: Ints, least: float, without: int = -1) -> list[Groups]:
        """The set with the most promising further group, if that promises more than `least`."""
        gains = np.where(status == CLOSED, -np.inf, self.fit(groups).gains)
        gains[[*groups, *([without] if without >= 0 else [])]] = -np.inf
        best = int(np.argmax(gains))
        return [tuple(sorted((*groups, best)))] if gains[best] > least else []

    def _swaps(self, g: int, rest: Groups, status: Ints, score: float) -> list[Groups]:
        return self._additions(rest, status, score - self.fit(rest).score - SLACK, g)


def _dummies(codes: Ints, contexts: int) -> Floats:
    """One column for every value but the first, standardised."""
    columns = (codes[:, None] == np.arange(1, contexts)).astype(np.float64)
    scale = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(scale > 0.0, scale, 1.0))
