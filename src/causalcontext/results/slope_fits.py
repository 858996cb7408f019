"""Slopes inside contexts, for changes and labels: from the rows of a table, or from windows of one.

A link from the past has its direction from time. Inside a time step it has that of the graph, so that a difference is
asked about both ways where the direction is in doubt, as in tables without lags.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.data.dataset import with_normal_scores
from causalcontext.data.moments import Moments
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.errors import NotYetError, OptionError
from causalcontext.graphs.endpoints import directed, may_cause
from causalcontext.graphs.lag_names import window_names
from causalcontext.kernels.levels.gaussian import STUDENT
from causalcontext.results.effects.lagged_mechanics import LaggedMechanics, LinkChoice
from causalcontext.results.mechanism_difference import (
    SHOWN,
    STILL_THERE,
    UNCHANGED,
    SlopeComparison,
    compare,
    conditions,
    moments_at,
    possible_causes,
)
from causalcontext.results.series import SlopeRow, context_nodes, series_of
from causalcontext.results.slopes import Slope, heterogeneity, slope
from causalcontext.results.violations import by_ranks
from causalcontext.views import CIQuery, Contexts

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


class SlopeFits(Protocol):
    """Where slopes inside contexts come from; variables and contexts are numbered as in the result."""

    def compare(self, x: int, y: int, present: int, absent: int) -> SlopeComparison:
        """Whether the slope of y on x differs between a context that has x - y and one that has not."""

    def inside(self, x: int, y: int, place: int) -> tuple[Slope, int, int]:
        """The slope in one context, given what may matter; the rows, and the number of conditions."""

    def moved(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Links that both contexts have and whose slopes differ."""

    def slopes(self, x: int, y: int, a: int, b: int) -> tuple[Slope, Slope, float]:
        """The slopes in two contexts, and the p-value of "they are the same"."""


def fits_of(result: ContextGraphs) -> SlopeFits:
    """The slopes of a result, which must have contexts."""
    if result.context is None:
        raise OptionError("there is only one graph; pass context=... to discover to compare contexts")
    return RowFits(result) if result.series is None else WindowFits(result)


class RowFits:
    """Slopes by the moments of every context: of normal scores, where the search used these."""

    def __init__(self, result: ContextGraphs) -> None:
        if result.moments is None:
            raise NotYetError(
                "not yet: changes and labels need moments of every context, which this result does not have"
            )
        self.result, self.moments = result, result.moments
        if by_ranks(result) and result.rows is not None:
            scores = with_normal_scores(result.rows)
            self.moments = gather_statistics(scores, "listwise").of_columns(scores)

    def compare(self, x: int, y: int, present: int, absent: int) -> SlopeComparison:
        """By slopes, or by shares of a curve."""
        return compare(self.result, self.moments, x, y, present, absent)

    def inside(self, x: int, y: int, place: int) -> tuple[Slope, int, int]:
        """Given the set that decided about the pair."""
        result, contexts = self.result, self.result.cells.positions
        given = conditions(result, x, y, place)
        near = {*given, *possible_causes(result, y, x, (place,)), *possible_causes(result, x, y, (place,))}
        fixed = contexts if len(contexts) == 1 else [z for z in contexts if z in near]
        chosen = moments_at(result, self.moments, [place], fixed)
        system = [z for z in given if z not in contexts]
        return slope(chosen, 0, x, y, system), int(chosen.rows[0]), len(system)

    def moved(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """None: a slope that differs is no difference between graphs."""
        yield from ()

    def slopes(self, x: int, y: int, a: int, b: int) -> tuple[Slope, Slope, float]:
        """Those of the comparison."""
        found = self.compare(x, y, a, b)
        return found.here, found.there, found.p


class WindowFits:
    """Slopes on the windows with one value of the context lag that the effect reads."""

    def __init__(self, result: ContextGraphs) -> None:
        self.result, series = result, series_of(result)
        nodes = [*window_names(series.variables, series.lags), *series.covariates]  # names may be shown otherwise
        self._rows: dict[tuple[int, int], list[SlopeRow]] = {}
        for row in series.slopes:  # those of a link are in the order of the contexts
            self._rows.setdefault((nodes.index(row.source), nodes.index(row.target)), []).append(row)

    @cached_property
    def mechanics(self) -> LaggedMechanics:
        """The links of windows and the moments of their columns."""
        return LaggedMechanics(self.result, "classical")

    def moved(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Links that both contexts have and whose slopes differ in the model."""
        for pair, rows in self._rows.items():
            if rows[a].present and rows[b].present and rows[a].slope != rows[b].slope:
                yield pair

    def slopes(self, x: int, y: int, a: int, b: int) -> tuple[Slope, Slope, float]:
        """Regressions inside either context alone, on the parents of all contexts."""
        rows = self._rows.get((x, y))
        here, there = (_slope_of(None if rows is None else rows[place]) for place in (a, b))
        known = all(one.error > 0.0 and one.df > 0 for one in (here, there))
        return here, there, heterogeneity((here, there))[1] if known else np.nan

    def compare(self, x: int, y: int, present: int, absent: int) -> SlopeComparison:
        """By these slopes; inside a time step both ways, where the direction or the rows are in doubt."""
        here, there, p = self.slopes(x, y, present, absent)
        if there.error > 0.0 and there.p < STILL_THERE:
            return SlopeComparison(here, there, p, SHOWN)
        if not (self._is_now(x) and self._is_now(y)) or self.result.window_moments is None or not self.result.complete:
            return SlopeComparison(here, there, p, "")
        endpoints = self.result.graphs[self.result.contexts[present]].endpoints
        copies, found = list(context_nodes(self.result)), bool(directed(endpoints)[x, y])
        if not found or not may_cause(endpoints)[copies, y].any() or endpoints[copies, x].any():
            back = [self._fit(y, x, *self._cell(y, place))[0] for place in (present, absent)]
            p = float(np.max([p, heterogeneity(back)[1]]))
        doubt = "no change if it points the other way" if found and self._unchanged(x, y, present, absent) else ""
        return SlopeComparison(here, there, p, doubt)

    def inside(self, x: int, y: int, place: int) -> tuple[Slope, int, int]:
        """Given the causes of all contexts."""
        return self._fit(x, y, *self._cell(y, place))

    def _fit(self, x: int, y: int, moments: Moments, cell: int) -> tuple[Slope, int, int]:
        cause, effect = self._column(x), self._column(y)
        given = sorted(self._causes(y) - {cause, effect})
        return slope(moments, cell, cause, effect, given), int(moments.rows[cell]), len(given)

    def _causes(self, y: int) -> set[int]:
        """The columns that cause a variable in some context, with what is open settled in one way."""
        mechanics, v = self.mechanics, self._variable(y)
        return {column for g in mechanics.cells for column in mechanics.causes(self._choice(v), g, v)}

    def _choice(self, v: int) -> LinkChoice:
        return (self.mechanics.choices([v]) or (LinkChoice(),))[0]

    def _cell(self, y: int, place: int) -> tuple[Moments, int]:
        """The moments by the context lags that a variable reads, and the cell where all have the value of a context."""
        mechanics, v = self.mechanics, self._variable(y)
        copies = mechanics.windows_for(self._choice(v), place, v).copies
        return mechanics.by_copies(copies), sum(place * len(mechanics.cells) ** k for k in range(len(copies)))

    def _unchanged(self, x: int, y: int, present: int, absent: int) -> bool:
        """Whether one regression of x on y and its causes, its variance included, holds in both contexts."""
        (moments, here), (_, there) = self._cell(y, present), self._cell(y, absent)
        if here == there:
            return False
        given, effect = {self._column(y), *self._causes(x)}, self._column(x)
        context = moments.mean.shape[1]  # a column of its own, which is constant in either context
        two = Moments(moments.rows[[here, there]], np.pad(moments.mean[[here, there]], ((0, 0), (0, 1))),
                      np.pad(moments.scatter[[here, there]], ((0, 0), (0, 1), (0, 1))))  # fmt: skip
        test = PreparedGaussian(two, Contexts((context,), ((0,), (1,))), STUDENT)
        query = CIQuery(context, effect, tuple(sorted(given - {effect})))
        return float(test.answer([query]).p[0]) > UNCHANGED

    def _is_now(self, node: int) -> bool:
        series = series_of(self.result)
        return 0 <= self._variable(node) < len(series.variables)

    def _variable(self, node: int) -> int:
        """The number of a variable at time t among those of the series."""
        series = series_of(self.result)
        return node - series.lags * len(series.variables)

    def _column(self, node: int) -> int:
        """The column of a node that is no copy of the context."""
        mechanics = self.mechanics
        v, lags = mechanics.variables, mechanics.lags
        if node >= v * (lags + 1):
            return len(mechanics.system) * (lags + 1) + node - v * (lags + 1)
        return mechanics.column(node % v, lags - node // v)


def _slope_of(row: SlopeRow | None) -> Slope:
    return Slope(np.nan, np.nan, np.nan, 0) if row is None else Slope(row.own, row.own_error, np.nan, int(row.df))
