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
from causalcontext.graphs.dags import Family
from causalcontext.graphs.endpoints import directed, may_cause
from causalcontext.graphs.lag_names import window_names
from causalcontext.kernels.levels.gaussian import STUDENT
from causalcontext.results.effects.mechanics import Mechanics
from causalcontext.results.mechanism_difference import (
    SHOWN,
    STILL_THERE,
    UNCHANGED,
    SlopeComparison,
    compare,
    compare_curves,
    conditions,
    moments_at,
    possible_causes,
)
from causalcontext.results.series import SlopeRow, context_nodes, series_of
from causalcontext.results.slopes import Slope, heterogeneity, slope
from causalcontext.results.violations import by_ranks, has_levels, is_curved
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
    def mechanics(self) -> Mechanics:
        """The links of windows and the moments of their columns."""
        return Mechanics(self.result, "classical")

    def moved(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Links that both contexts have and whose slopes differ in the model."""
        for pair, rows in self._rows.items():
            if rows[a].present and rows[b].present and rows[a].slope != rows[b].slope:
                yield pair

    def slopes(self, x: int, y: int, a: int, b: int) -> tuple[Slope, Slope, float]:
        """Regressions inside either context alone, on the parents of all contexts."""
        rows = self._rows.get((x, y))
        none = (Slope(np.nan, np.nan, np.nan, 0),) * 2
        here, there = (
            none
            if rows is None
            else (Slope(rows[place].own, rows[place].own_error, np.nan, int(rows[place].df)) for place in (a, b))
        )
        known = all(one.error > 0.0 and one.df > 0 for one in (here, there))
        return here, there, heterogeneity((here, there))[1] if known else np.nan

    def compare(self, x: int, y: int, present: int, absent: int) -> SlopeComparison:
        """By slopes, or by shares of a curve."""
        if is_curved(self.result):
            return compare_curves(self.result, x, y, present, absent)
        found, levels = self._compare_slopes(x, y, present, absent), has_levels(self.result)
        return compare_curves(self.result, x, y, present, absent) if np.isnan(found.p) and levels else found

    def _compare_slopes(self, x: int, y: int, present: int, absent: int) -> SlopeComparison:
        """Inside a time step both ways, where the direction or the rows are in doubt."""
        here, there, p = self.slopes(x, y, present, absent)
        if there.error > 0.0 and there.p < STILL_THERE:
            return SlopeComparison(here, there, p, SHOWN)
        if self.result.window_moments is None or not self.result.complete:
            return SlopeComparison(here, there, p, "")
        if not {x, y}.issubset(self.mechanics.window.now):
            return SlopeComparison(here, there, p, "")
        endpoints = self.result.graphs[self.result.contexts[present]].endpoints
        copies, found = list(context_nodes(self.result)), bool(directed(endpoints)[x, y])
        if not found or not may_cause(endpoints)[copies, y].any() or endpoints[copies, x].any():
            back = [self._fit(y, x, self._moments(y, place))[0] for place in (present, absent)]
            p = float(np.max([p, heterogeneity(back)[1]]))
        doubt = "no change if it points the other way" if found and self._unchanged(x, y, present, absent) else ""
        return SlopeComparison(here, there, p, doubt)

    def inside(self, x: int, y: int, place: int) -> tuple[Slope, int, int]:
        """Given the causes of all contexts."""
        return self._fit(x, y, self._moments(y, place))

    def _fit(self, x: int, y: int, moments: Moments) -> tuple[Slope, int, int]:
        given = sorted(self._causes(y) - {x, y})
        return slope(moments, 0, x, y, given), int(moments.rows[0]), len(given)

    def _causes(self, y: int) -> set[int]:
        """What causes a variable in some context, with what is open settled in one way."""
        mechanics, family = self.mechanics, self._family(y)
        return {cause for g in mechanics.cells for cause in mechanics.parents(family, g, y)}

    def _family(self, y: int) -> Family:
        graphs = self.mechanics.graphs
        found = graphs.families(graphs.touching([(g, y) for g in self.mechanics.cells]))
        return found[0] if found else Family(graphs.settled)

    def _fixed(self, y: int, place: int) -> tuple[int, ...]:
        """The context lags that select the windows of a variable."""
        return self.mechanics.rows_for(self._family(y), place, y).fixed

    def _moments(self, y: int, place: int) -> Moments:
        """The moments of the windows in which these have the value of a context."""
        return self.mechanics.moments.merged(self.mechanics.rows_of(place, self._fixed(y, place)))

    def _unchanged(self, x: int, y: int, present: int, absent: int) -> bool:
        """Whether one regression of x on y and its causes, its variance included, holds in both contexts."""
        if not self._fixed(y, present):
            return False
        here, there = (self._moments(y, place) for place in (present, absent))
        two = Moments(*(np.concatenate([getattr(part, name) for part in (here, there)])
                        for name in ("rows", "mean", "scatter")))  # fmt: skip
        context = self.result.cells.positions[0]  # a column without moments of its own
        test = PreparedGaussian(two, Contexts((context,), ((0,), (1,))), STUDENT)
        query = CIQuery(context, x, tuple(sorted({y, *self._causes(x)} - {x})))
        return float(test.answer([query]).p[0]) > UNCHANGED
