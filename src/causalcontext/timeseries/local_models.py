"""The best model of one variable given what may come before it: pooled, shifted, partitioned or with interactions.

A system variable *reads* one copy of the context, R(t) or R(t-1), or none. Its past needs no order, so every lagged
column is always a candidate; the columns of the present are candidates where they come before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, log, pi

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.lagged.patterns import best_patterns
from causalcontext.kernels.lagged.subsets import best_subset
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.timeseries.context_model import ContextModels
from causalcontext.timeseries.problem import LaggedProblem

NO_COPY = -1


@dataclass(frozen=True, eq=False)
class LocalModel:
    """One variable's model.

    Attributes
    ----------
    score : float
    kind : {"pooled", "shifted", "partitioned", "mixed", "context"}
    copy : int
        The lag of the copy of the context that is read; -1 for none.
    parents : array of bool, shape (K, p)
        The columns in every context; those of the context's own model are `groups` as well.
    blocks : array of int, shape (K, p)
        The contexts that share the slope of a column in a context, as a bit mask; 0 where it is no parent.
    mechanism : tuple of int
        The contexts that share the whole mechanism of a context, as a bit mask.
    used : int
        The contemporaneous nodes that the model uses, as a bit mask.
    own_past : tuple of int
        For the context: the lags of its own that are parents.
    """

    score: float
    kind: str
    copy: int
    parents: Bools
    blocks: Ints
    mechanism: tuple[int, ...]
    used: int
    own_past: tuple[int, ...] = ()


class LocalModels:
    """Local models by node and by the nodes before it, each found once; `heard` is called before each in a search."""

    def __init__(
        self, problem: LaggedProblem, lags: int | None = None, heard: Callable[[], None] | None = None
    ) -> None:
        self.problem = problem
        self.lags = lags
        self._heard = heard
        self._pooled: dict[tuple[int, int], LocalModel] = {}
        self._reading: dict[tuple[int, int, int], LocalModel] = {}
        self._context = ContextModels(problem, lags) if problem.has_context else None

    def watched(self, node: int, before: int) -> LocalModel:
        """The same as `best`, where a search may be stopped."""
        if self._heard is not None:
            self._heard()
        return self.best(node, before)

    def best(self, node: int, before: int) -> LocalModel:
        """The best model of a node whose contemporaneous parents are among `before`."""
        if node == self.problem.variables:
            return self._of_context(before)
        return max(self.all_of(node, before), key=lambda model: model.score)

    def all_of(self, node: int, before: int) -> list[LocalModel]:
        """The best model without the context, and the best one for every copy that may be read."""
        problem, d = self.problem, self.problem.variables
        system = before & ((1 << d) - 1)
        may, must = problem.allowed.may, problem.allowed.must
        found = []
        missing = any(must[0, cause, node] and not before >> cause & 1 for cause in range(problem.nodes))
        forced = [lag for lag in problem.copies if problem.has_context and must[lag, d, node]]
        if missing:
            return [_nothing(problem)]
        if not forced:
            found.append(self.pooled(node, system))
        if problem.has_context:
            for place, lag in enumerate(problem.copies):
                allowed = may[lag, d, node] and (lag > 0 or before >> d & 1)
                if allowed and (not forced or lag in forced):
                    found.append(self.reading(node, system, place))
        return found or [_nothing(problem)]

    def pooled(self, node: int, system: int) -> LocalModel:
        """One regression on all rows."""
        if (node, system) not in self._pooled:
            self._pooled[node, system] = self._regression(node, system)
        return self._pooled[node, system]

    def reading(self, node: int, system: int, place: int) -> LocalModel:
        """The best model that reads one copy of the context."""
        key = (node, system, place)
        if key not in self._reading:
            shifted = self._shifted(node, system, place)
            found = [shifted, self._partitioned(node, system, place), self._interaction(node, system, place, shifted)]
            self._reading[key] = max(found, key=lambda model: model.score)
        return self._reading[key]

    def _regression(self, node: int, system: int) -> LocalModel:
        problem, n = self.problem, self.problem.rows
        cost = problem.cost(n)
        score, columns = _subset(problem.pooled, n, node, problem.status(node, system, self.lags), cost)
        return self._made(score + _constant(n) - 2.0 * cost, "pooled", NO_COPY, [(columns, self._everything)])

    def _shifted(self, node: int, system: int, place: int) -> LocalModel:
        problem, n = self.problem, self.problem.rows
        cost = problem.cost(n)
        status = problem.status(node, system, self.lags)
        score, columns = _subset(problem.blocks[place].within[-1], n, node, status, cost)
        score += _constant(n) - (1.0 + problem.contexts) * cost
        return self._made(score, "shifted", problem.copies[place], [(columns, self._everything)])

    def _partitioned(self, node: int, system: int, place: int) -> LocalModel:
        """The best division of the contexts into two blocks or more, each with a regression of its own."""
        problem, blocks = self.problem, self.problem.blocks[place]
        status, everything = problem.status(node, system, self.lags), self._everything
        fits: dict[int, tuple[float, Bools]] = {}
        for mask in range(1, everything):
            n = float(blocks.rows[mask])
            cost = problem.cost(n)
            if n < SPARE_ROWS + 2:
                fits[mask] = (-inf, np.zeros(status.size, dtype=bool))
                continue
            score, columns = _subset(blocks.own[mask], n, node, status, cost)
            fits[mask] = (score + _constant(n) - 2.0 * cost, columns)
        score, division = _best_division({mask: fit[0] for mask, fit in fits.items()}, everything)
        return self._made(score, "partitioned", problem.copies[place], [(fits[mask][1], mask) for mask in division])

    def _interaction(self, node: int, system: int, place: int, shifted: LocalModel) -> LocalModel:
        """Intercepts by context, one variance, and a slope for every block of the pattern of a parent."""
        problem, blocks, n = self.problem, self.problem.blocks[place], self.problem.rows
        status = problem.status(node, system, self.lags)
        price = np.array([problem.cost(rows) for rows in blocks.rows])
        pattern = shifted.parents[0].astype(np.int64)
        score = best_patterns(blocks.within, n, node, status, price, problem.patterns, pattern)
        parts = [
            (pattern == number, int(mask)) for number in np.unique(pattern) for mask in problem.patterns[number] if mask
        ]
        score += _constant(n) - (1.0 + problem.contexts) * problem.cost(n)
        return self._made(score, "mixed", problem.copies[place], parts)

    def _made(self, score: float, kind: str, copy: int, parts: list[tuple[Bools, int]]) -> LocalModel:
        """A model of columns and the contexts that share their slopes."""
        problem, d = self.problem, self.problem.variables
        parents = np.zeros((problem.contexts, problem.table.width), dtype=bool)
        blocks = np.zeros(parents.shape, dtype=np.int64)
        for columns, mask in parts:
            for r in range(problem.contexts):
                if mask >> r & 1:
                    parents[r] |= columns
                    blocks[r, columns] = mask
        used = sum(1 << cause for cause in range(d) if parents[:, cause].any())
        if copy == 0:
            used |= 1 << d
        division = [mask for _, mask in parts] if kind == "partitioned" else [self._everything]
        mechanism = tuple(mask for r in range(problem.contexts) for mask in division if mask >> r & 1)
        return LocalModel(float(score), kind, copy, parents, blocks, mechanism, used)

    def _of_context(self, before: int) -> LocalModel:
        problem, d = self.problem, self.problem.variables
        assert self._context is not None
        if any(problem.allowed.must[0, cause, d] and not before >> cause & 1 for cause in range(d)):
            return _nothing(problem)
        score, columns, past = self._context.best(before & ((1 << d) - 1))
        made = self._made(score, "context", NO_COPY, [(columns, self._everything)])
        return replace(made, own_past=past)

    @property
    def context(self) -> ContextModels:
        """The models of the context itself."""
        assert self._context is not None
        return self._context

    @property
    def _everything(self) -> int:
        return (1 << self.problem.contexts) - 1


def _subset(covariance: Floats, rows: float, node: int, status: Ints, cost: float) -> tuple[float, Bools]:
    """The score of the best regression, and its columns."""
    columns = np.zeros(status.size, dtype=bool)
    return best_subset(covariance, rows, node, status, cost, int(rows) - SPARE_ROWS, columns), columns


def _constant(rows: float) -> float:
    return -0.5 * rows * (1.0 + log(2.0 * pi))


def _nothing(problem: LaggedProblem) -> LocalModel:
    """What no order may have."""
    shape = (problem.contexts, problem.table.width)
    return LocalModel(-inf, "pooled", NO_COPY, np.zeros(shape, dtype=bool), np.zeros(shape, dtype=np.int64), (), 0)


def _best_division(score: dict[int, float], everything: int) -> tuple[float, tuple[int, ...]]:
    """The best division of all contexts into at least two blocks, by dynamic programming over sets."""
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for rest in range(1, everything + 1):
        lowest = rest & -rest
        found: tuple[float, tuple[int, ...]] = (-inf, ())
        some = rest
        while some:
            if some & lowest and some != everything:
                more = best[rest ^ some]
                if score[some] + more[0] > found[0]:
                    found = (score[some] + more[0], (some, *more[1]))
            some = (some - 1) & rest
        best[rest] = found
    return best[everything]
