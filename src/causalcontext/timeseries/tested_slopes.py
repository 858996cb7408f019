"""Who reads which copy of the context, and the slopes of links, after a search over time by tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.moments import CellRegression, Moments
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed
from causalcontext.results.series_facts import Copy, SlopeRow
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.views import View


def copies_read(plan: LaggedPlan, endpoints: Endpoints, names: Sequence[str], context: str | None) -> dict[str, Copy]:
    """By variable, the copy of the context that points at it; several where tests do not tell which."""
    arrows = np.asarray(directed(endpoints).any(axis=0))
    found: dict[str, Copy] = {}
    for y in plan.window.now:
        if plan.window.is_context(y):
            continue
        lags = tuple(sorted(plan.window.lag(copy) for copy in plan.context_columns if arrows[copy, y]))
        found[names[y]] = None if not lags or context is None else (context, lags if len(lags) > 1 else lags[0])
    return found


@dataclass(frozen=True, eq=False)
class Slopes:
    """Least squares of every number on its parents, on the rows of the copy that it reads.

    `endpoints` are those of all contexts, shape (contexts, nodes, nodes).
    """

    plan: LaggedPlan
    data: Dataset
    moments: Moments
    endpoints: Endpoints
    values: tuple[Any, ...]

    def rows(self, reads: dict[str, Copy]) -> tuple[SlopeRow, ...]:
        """A row for every link from a number to a number, in every context."""
        now = [y for y in self.plan.window.now if self.data.kinds[y] is Kind.CONTINUOUS]
        return tuple(row for y in now for row in self._into(y, reads.get(self.data.names[y])))

    def _into(self, y: int, copy: Copy) -> list[SlopeRow]:
        parents = self._parents(y)
        members = np.flatnonzero(parents.any(axis=0)).tolist()
        if not members:
            return []
        found = []
        for r, value in enumerate(self.values):
            own = self._fit(y, members, self._cells(y, copy, r, parents))
            here = [u for u in members if parents[r, u]]
            model = self._fit(y, here, self._cells(y, copy, r, parents)) if here else None
            for place, u in enumerate(members):
                present = bool(parents[r, u])
                slope, error = _at(model, here.index(u)) if present else (0.0, np.nan)
                alone, alone_error = _at(own, place)
                found.append(SlopeRow(self.data.names[u], self.data.names[y], value, present, slope, error, alone,
                                      alone_error, 0 if own is None else own.df))  # fmt: skip
        return found

    def _parents(self, y: int) -> np.ndarray:
        """Numbers that point at y, or are next to it without a direction and come before it; by context."""
        nodes = np.arange(self.plan.window.nodes)
        points, back = directed(self.endpoints)[:, :, y], directed(self.endpoints)[:, y, :]
        open_end = adjacent(self.endpoints)[:, :, y] & ~points & ~back & (nodes < y)
        numbers = np.array([self.data.kinds[u].is_number for u in nodes])
        return np.asarray((points | open_end) & numbers)

    def _cells(self, y: int, copy: Copy, r: int, parents: np.ndarray) -> tuple[int, ...]:
        """The cells of the copy that y reads, at one value; all cells for a variable whose parents never differ."""
        contexts = self.data.contexts
        if not contexts.positions or (copy is None and (parents == parents[0]).all()):
            return contexts.members(0)
        lag = 0 if copy is None else copy[1] if isinstance(copy[1], int) else copy[1][0]
        position = next(p for p in contexts.positions if self.plan.window.lag(p) == lag)
        view: View = ((position, r),)
        return contexts.members(contexts.number(view))

    def _fit(self, y: int, columns: list[int], cells: tuple[int, ...]) -> CellRegression | None:
        found = self.moments.merged(cells).regression(y, columns)
        return None if found is None or found.df < 1 else found


def _at(fit: CellRegression | None, place: int) -> tuple[float, float]:
    return (np.nan, np.nan) if fit is None else (float(fit.slopes[place]), float(fit.errors[place]))
