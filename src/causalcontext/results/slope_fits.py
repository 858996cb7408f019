"""Does a mechanism differ between two contexts? Slopes side by side, and what speaks against a
change.

A slope is that of a mechanism only given the right causes and in the right direction. So a
difference is asked about given every set that could be right, both ways where the direction is in
doubt, and it does not count where the edge that is missing shows there all the same, or where the
other direction needs no change at all. Of a curved mechanism, and of one with categories among its
causes, which have no slopes, it is asked how much of it is left (`results.curve_difference`). A
link from the past has its direction from time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import with_normal_scores
from causalcontext.data.moments import Moments
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.errors import NotYetError, OptionError
from causalcontext.graphs.dags import Family
from causalcontext.graphs.endpoints import Endpoints, GraphKind, as_written, directed, may_cause
from causalcontext.graphs.lag_names import window_names
from causalcontext.graphs.paths import descendants
from causalcontext.kernels.levels.gaussian import STUDENT
from causalcontext.results.curve_difference import (
    UNKNOWN_SLOPE,
    compared_rows,
    curve_shares,
    proxy,
    scale_doubt,
)
from causalcontext.results.effects.fits import stacked
from causalcontext.results.effects.mechanics import Mechanics
from causalcontext.results.series import SlopeRow, context_nodes, series_of
from causalcontext.results.settings import DESPITE_ERRORS, STILL_THERE, UNCHANGED
from causalcontext.results.slopes import (
    BY_ERRORS,
    Slope,
    corrected_slope,
    heterogeneity,
    shares_of_errors,
    slope,
)
from causalcontext.results.violations import bends_in, by_ranks, has_levels, is_curved
from causalcontext.views import CIQuery, Contexts, adaptive

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

SHOWN = "the slope differs from 0 there too"


class SlopeComparison(NamedTuple):
    """The slopes where the edge is found and where it is not, the p-value of "they are the same",
    and a doubt.

    `shares` says that the slopes are shares of the mechanism: 1 is all of it.
    """

    present_slope: Slope
    absent_slope: Slope
    p: float
    doubt: str
    shares: bool = False


def fits_of(result: ContextGraphs) -> RowFits | WindowFits:
    """The slopes of a result, which must have contexts."""
    if result.context is None:
        raise OptionError(
            "there is only one graph; pass context=... to discover to compare contexts"
        )
    return RowFits(result) if result.series is None else WindowFits(result)


def compare(
    fits: RowFits | WindowFits, x: int, y: int, present: int, absent: int
) -> SlopeComparison:
    """The comparison of the slopes of y on x in a context that has x - y and in one that has not.

    Curves have a direction by themselves: there the slopes are shares of the curve, and so they are
    where categories leave no slope to compare.
    """
    if is_curved(fits.result):
        return _compare_curves(fits.result, x, y, present, absent)
    comparison = fits.compare_slopes(x, y, present, absent)
    by_levels = np.isnan(comparison.p) and has_levels(fits.result)
    return _compare_curves(fits.result, x, y, present, absent) if by_levels else comparison


def _compare_curves(
    result: ContextGraphs, x: int, y: int, present: int, absent: int
) -> SlopeComparison:
    """The comparison of a curve, or of the effect of a category, in the context with the edge and
    in the one without it.
    """
    rows = compared_rows(result, x, y, present, absent)
    present_slope, absent_slope = (
        (UNKNOWN_SLOPE, UNKNOWN_SLOPE) if rows is None else curve_shares(rows)
    )
    doubt = "" if directed(_endpoints(result, present))[x, y] else "its direction is open"
    doubt = SHOWN if absent_slope.p < STILL_THERE else doubt
    p = heterogeneity((present_slope, absent_slope))[1]
    if rows is not None and not doubt and p <= UNCHANGED:
        doubt = scale_doubt(rows) or (proxy(result, rows) if is_curved(result) else "")
    return SlopeComparison(present_slope, absent_slope, p, doubt, shares=True)


class RowFits:
    """Slopes by the moments of every context: of normal scores, where the search used these.

    With several context variables the rows of two contexts are those that agree with either on the
    variables that differ between the two and on those that are conditioned on; the others stay
    pooled.

    A comparison of two contexts asks for the same regressions several times: moments, possible
    causes and slopes are computed once for each.
    """

    def __init__(self, result: ContextGraphs, moments: Moments | None = None) -> None:
        moments_by_cell = result.moments if moments is None else moments
        if moments_by_cell is None:
            raise NotYetError(
                "not yet: changes and labels need moments of every context, which this result does"
                " not have"
            )
        self.result = result
        self.moments = moments_by_cell
        self._known_moments: dict[tuple[tuple[int, ...], tuple[int, ...]], Moments] = {}
        self._known_causes: dict[tuple[int, int, tuple[int, int]], tuple[int, ...]] = {}
        self._known_slopes: dict[
            tuple[int, int, tuple[int, ...], tuple[int, int]], tuple[Slope, Slope]
        ] = {}
        if moments is None and by_ranks(result) and result.rows is not None:
            scores = with_normal_scores(result.rows)
            self.moments = gather_statistics(scores, "listwise").of_columns(scores)

    def moved(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Links that both contexts have and whose slopes differ in the model of a score; curves
        have none.
        """
        model = None if self.result.evidence is None else self.result.evidence.mechanisms
        if model is None:
            return
        both = directed(_endpoints(self.result, a)) & directed(_endpoints(self.result, b))
        both[list(context_nodes(self.result))] = False
        for x, y in np.argwhere(both).tolist():
            if y in context_nodes(self.result) or bends_in(self.result, y, (a, b)):
                continue
            if len({model.equation(y, r).slope(x, r) for r in (a, b)}) > 1:
                yield x, y

    def shared_links(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """The links between numbers that both contexts have, as the first one draws them; those
        that turn around are left out.
        """
        first, second = (_endpoints(self.result, context_index) for context_index in (a, b))
        shared = (first != 0) & (second != 0)
        shared &= ~((directed(first) & directed(second).T) | (directed(first).T & directed(second)))
        contexts = context_nodes(self.result)
        for i, j in np.argwhere(np.triu(shared)).tolist():
            kinds = (Kind(self.result.data.kinds[end]) for end in (i, j))
            if contexts.isdisjoint((i, j)) and all(kind.is_number for kind in kinds):
                yield as_written(first, i, j)

    def compare_slopes(
        self, x: int, y: int, present: int, absent: int, both: bool = False
    ) -> SlopeComparison:
        """By the largest p-value over all sets and directions that could be right; `both` contexts
        may have the link.

        A set that leaves causes of y out, or holds effects of it, bends slopes by context though
        nothing has changed. So the slopes are compared given the set that separated the pair and
        given all possible causes of y. Both directions are compared where the graph gives none,
        where the context cannot cause the effect, and where it is adjacent to the cause: choosing
        rows by the context may bend either. In a PAG a direction does not exclude a hidden common
        cause, so both are compared. A link of y to a variable whose mechanism changes too may point
        one way in one context and the other way in the other, so slopes are also compared with it
        turned. The slopes of the outcome are those given the possible causes.
        """
        present_slope, absent_slope, p = self.slopes_apart(x, y, (present, absent))
        doubt = SHOWN if absent_slope.p < STILL_THERE and not both else ""
        return SlopeComparison(
            present_slope, absent_slope, p, doubt or self.direction_doubt(x, y, (present, absent))
        )

    def slopes_apart(self, x: int, y: int, two: tuple[int, int]) -> tuple[Slope, Slope, float]:
        """The slopes of y on x in two contexts given the possible causes of y, and the largest
        p-value of "they are the same" over all sets and directions that could be right.

        The p-value is NaN where one of the slopes cannot be compared.
        """
        endpoints = _endpoints(self.result, two[0])
        apart = list(self.result.cells.differing(*two))
        causes_effect = may_cause(endpoints)[apart, y].any()
        next_to_cause = endpoints[apart, x].any()
        directions = [(x, y)]
        if not self._is_directed(x, y, two) or not causes_effect or next_to_cause:
            directions.append((y, x))
        regressions = [
            (cause, effect, given)
            for cause, effect in directions
            for given in self._sets(cause, effect, two)
        ]
        p_values = []
        for regression in regressions:
            p_values.append(heterogeneity(self.slopes(*regression, two))[1])
            p_values += [heterogeneity(slopes)[1] for slopes in self._turned(*regression, two)]
        first_slope, second_slope = self.slopes(x, y, self._possible_causes(y, x, two), two)
        return first_slope, second_slope, float(np.max(p_values))

    def direction_doubt(self, x: int, y: int, two: tuple[int, int]) -> str:
        """The reason why x -> y may point the other way, where nothing changes; "" if nothing says
        so.

        After a search by scores nothing is asked: a score has weighed the other direction itself.
        """
        if self.result.evidence is not None or not self._is_directed(x, y, two):
            return ""
        if self.unchanged(x, (y, *self._possible_causes(x, y, two)), two) > UNCHANGED:
            return "no change if the edge has the other direction"
        return ""

    def _is_directed(self, x: int, y: int, two: tuple[int, int]) -> bool:
        """True where the first of two contexts has x -> y, and no hidden common cause instead."""
        into_effect = directed(_endpoints(self.result, two[0]))[x, y]
        return bool(into_effect) and self.result.union.kind is GraphKind.CPDAG

    def inside(self, x: int, y: int, context_index: int) -> tuple[Slope, int, int]:
        """The slope in one context given the set that decided about the pair; the rows, and the
        size of the set.
        """
        result = self.result
        contexts = result.cells.positions
        given = conditions(result, x, y, context_index)
        near = {
            *given,
            *possible_causes(result, y, x, (context_index,)),
            *possible_causes(result, x, y, (context_index,)),
        }
        fixed = contexts if len(contexts) == 1 else [z for z in contexts if z in near]
        chosen = self._moments_at([context_index], fixed)
        system = [z for z in given if z not in contexts]
        return slope(chosen, 0, x, y, system), int(chosen.rows[0]), len(system)

    def slopes(
        self, cause: int, effect: int, given: Sequence[int], two: tuple[int, int]
    ) -> tuple[Slope, Slope]:
        """The slope of the effect on the cause given a set, in either of two contexts.

        A cause in one context may be an effect in the other, where it bends the slope: there it is
        left out, if a score says so.
        """
        key = (cause, effect, tuple(given), two)
        if key not in self._known_slopes:
            moments, kept = self._kept(effect, given, two)
            self._known_slopes[key] = (
                slope(moments, 0, cause, effect, kept[0]),
                slope(moments, 1, cause, effect, kept[1]),
            )
        return self._known_slopes[key]

    def _kept(
        self, effect: int, given: Sequence[int], two: tuple[int, int]
    ) -> tuple[Moments, tuple[tuple[int, ...], tuple[int, ...]]]:
        """The moments of both contexts, and what slopes are given in either.

        A score may have a cause of one context among the effects in the other; it is left out
        there, since slopes given an effect are bent.
        """
        moments, system = self._given(given, two)
        if self.result.evidence is None:
            return moments, (system, system)
        below = [descendants(directed(_endpoints(self.result, r)), effect) for r in two]
        first, second = (tuple(z for z in system if not is_below[z]) for is_below in below)
        return moments, (first, second)

    def _turned(
        self, cause: int, effect: int, given: Sequence[int], two: tuple[int, int]
    ) -> Iterator[tuple[Slope, Slope]]:
        """The slopes with one link of the effect turned in one context, where the context changes
        both of its ends.

        Also without an effect of both that may be drawn as their cause: given it, they are linked
        where they are not.
        """
        result = self.result
        apart = list(result.cells.differing(*two))
        model = None if result.evidence is None else result.evidence.mechanisms
        if model is None:
            return
        moments, kept = self._kept(effect, given, two)
        for side, r in enumerate(two):
            endpoints = _endpoints(result, r)
            turns = {
                int(z)
                for z in np.nonzero(directed(endpoints)[apart])[1]
                if model.differs(int(z), *two)
            }
            if effect not in turns:
                continue
            if side == 0 and cause in turns:
                turns |= {z for z in kept[0] if endpoints[cause, z]}
            for z in sorted(turns - {cause, *result.cells.positions}):
                if not endpoints[effect, z]:
                    continue
                turned_sets = list(kept)
                turned_sets[side] = tuple(sorted({*turned_sets[side]} ^ {z}))
                yield (
                    slope(moments, 0, cause, effect, turned_sets[0]),
                    slope(moments, 1, cause, effect, turned_sets[1]),
                )

    def errors_explain(self, x: int, y: int, present: int, absent: int) -> str:
        """The reason in words why errors of measurement may explain that slopes differ; "" if they
        do not.

        A cause that is measured with an error leaves a part of its effect to what goes along with
        it, so that another slope moves where its effect goes.
        """
        contexts = self.result.cells.positions
        two = (present, absent)
        system = [
            v
            for v, kind in enumerate(self.result.data.kinds)
            if kind == Kind.CONTINUOUS and v not in contexts
        ]
        moments, given = self._given(self._possible_causes(y, x, two), two)
        whole = self.moments.merged()
        variance = np.diagonal(whole.scatter[0]) / whole.rows[0]
        if not {x, y}.issubset(system) or not (variance[system] > 0.0).all():
            return ""
        apart = slope(moments, 0, x, y, given).value - slope(moments, 1, x, y, given).value
        if not np.isfinite(apart):  # categories among the conditions, which moments do not hold
            return ""
        inside = [moments.scatter[r][np.ix_(system, system)] / moments.rows[r] for r in (0, 1)]
        errors = np.where(np.isin(np.arange(len(variance)), system), variance, 0.0)
        for share in shares_of_errors(inside, variance[system]):
            pair = [corrected_slope(moments, r, x, y, given, share * errors) for r in (0, 1)]
            if (
                apart * (pair[0].value - pair[1].value) <= 0.0
                or not heterogeneity(pair)[1] <= DESPITE_ERRORS
            ):
                return BY_ERRORS.format(share)
        return ""

    def unchanged(self, effect: int, given: Sequence[int], two: tuple[int, int]) -> float:
        """The p-value of "one regression of the effect on a set, its variance included, for both
        contexts".
        """
        moments, system = self._given(given, two)
        return _same_regression(moments, self.result.cells.differing(*two)[0], effect, system)

    def _given(self, given: Sequence[int], two: tuple[int, int]) -> tuple[Moments, tuple[int, ...]]:
        """The moments of both contexts, and the system variables of a set."""
        contexts = self.result.cells.positions
        apart = self.result.cells.differing(*two)
        system = tuple(z for z in given if z not in contexts)
        return self._moments_at(two, [z for z in contexts if z in given or z in apart]), system

    def _moments_at(self, places: Sequence[int], fixed: Sequence[int]) -> Moments:
        """The moments of the rows that agree with some contexts, in this order, on the context
        variables `fixed`.
        """
        key = (tuple(places), tuple(fixed))
        if key not in self._known_moments:
            cells = self.result.cells
            views = [
                cells.number(adaptive(cells.cell(context_index), fixed)) for context_index in places
            ]
            parts = [self.moments.merged(cells.members(view)) for view in views]
            self._known_moments[key] = stacked(parts)
        return self._known_moments[key]

    def _possible_causes(self, effect: int, cause: int, two: tuple[int, int]) -> tuple[int, ...]:
        """The variables that may cause `effect` in one of two contexts, besides `cause`."""
        key = (effect, cause, two)
        if key not in self._known_causes:
            self._known_causes[key] = possible_causes(self.result, effect, cause, two)
        return self._known_causes[key]

    def _sets(self, cause: int, effect: int, two: tuple[int, int]) -> list[tuple[int, ...]]:
        """The sets given which slopes are compared, each once.

        After a search by scores it is the set of possible causes in the model. After one by tests
        it is also the set that decided about the pair: a set that leaves a cause out bends slopes
        one way, a set that holds an effect the other, and the larger p-value counts.
        """
        causes = self._possible_causes(effect, cause, two)
        if self.result.evidence is not None:
            return [causes]
        return list(
            dict.fromkeys((tuple(sorted(conditions(self.result, cause, effect, two[1]))), causes))
        )


class WindowFits:
    """Slopes on the windows with one value of the context lag that the effect reads."""

    def __init__(self, result: ContextGraphs) -> None:
        self.result = result
        series = series_of(result)
        # names may be shown otherwise
        nodes = [*window_names(series.variables, series.lags), *series.covariates]
        self._rows: dict[tuple[int, int], list[SlopeRow]] = {}
        for row in series.slopes:  # those of a link are in the order of the contexts
            self._rows.setdefault((nodes.index(row.source), nodes.index(row.target)), []).append(
                row
            )

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
        if rows is None:
            return UNKNOWN_SLOPE, UNKNOWN_SLOPE, np.nan
        first_slope, second_slope = (
            Slope(row.own, row.own_error, np.nan, int(row.df)) for row in (rows[a], rows[b])
        )
        known = all(
            context_slope.error > 0.0 and context_slope.df > 0
            for context_slope in (first_slope, second_slope)
        )
        return (
            first_slope,
            second_slope,
            heterogeneity((first_slope, second_slope))[1] if known else np.nan,
        )

    def compare_slopes(
        self, x: int, y: int, present: int, absent: int, both: bool = False
    ) -> SlopeComparison:
        """By regressions inside the contexts; inside a time step both ways, where direction or rows
        are in doubt.
        """
        present_slope, absent_slope, p = self.slopes(x, y, present, absent)
        if absent_slope.error > 0.0 and absent_slope.p < STILL_THERE and not both:
            return SlopeComparison(present_slope, absent_slope, p, SHOWN)
        known = self.result.window_moments is not None and self.result.final
        if not known or not {x, y}.issubset(self.mechanics.window.now):
            return SlopeComparison(present_slope, absent_slope, p, "")
        endpoints = _endpoints(self.result, present)
        copies = list(context_nodes(self.result))
        is_directed = bool(directed(endpoints)[x, y])
        if (
            not is_directed
            or not may_cause(endpoints)[copies, y].any()
            or endpoints[copies, x].any()
        ):
            back = [
                self._fit(y, x, self._moments(y, context_index))[0]
                for context_index in (present, absent)
            ]
            p = float(np.max([p, heterogeneity(back)[1]]))
        doubt = ""
        if is_directed and self._fixed(y, present):
            # one regression of x on y and its causes, its variance included
            two = stacked([self._moments(y, context_index) for context_index in (present, absent)])
            context = self.result.cells.positions[0]  # a column without moments of its own
            if (
                _same_regression(two, context, x, tuple(sorted({y, *self._causes(x)} - {x})))
                > UNCHANGED
            ):
                doubt = "no change if it points the other way"
        return SlopeComparison(present_slope, absent_slope, p, doubt)

    def inside(self, x: int, y: int, context_index: int) -> tuple[Slope, int, int]:
        """Given the causes of all contexts."""
        return self._fit(x, y, self._moments(y, context_index))

    def _fit(self, x: int, y: int, moments: Moments) -> tuple[Slope, int, int]:
        """The slope of y on x beside the other causes of y, the rows, and the number of these
        causes.
        """
        given = sorted(self._causes(y) - {x, y})
        return slope(moments, 0, x, y, given), int(moments.rows[0]), len(given)

    def _causes(self, y: int) -> set[int]:
        """The causes of a variable in some context, with open edges settled in one way."""
        mechanics = self.mechanics
        family = self._family(y)
        return {cause for g in mechanics.cells for cause in mechanics.parents(family, g, y)}

    def _family(self, y: int) -> Family:
        """The graphs in which open links at a variable are settled in one way: the first such
        family.
        """
        graphs = self.mechanics.graphs
        families = graphs.families(graphs.touching([(g, y) for g in self.mechanics.cells]))
        return families[0] if families else Family(graphs.settled)

    def _fixed(self, y: int, context_index: int) -> tuple[int, ...]:
        """The context copies that a variable reads, so that its rows are those with their
        values.
        """
        return self.mechanics.rows_for(self._family(y), context_index, y).fixed

    def _moments(self, y: int, context_index: int) -> Moments:
        """The moments of the windows in which these have the value of a context."""
        return self.mechanics.moments.merged(
            self.mechanics.rows_of(context_index, self._fixed(y, context_index))
        )


def conditions(result: ContextGraphs, x: int, y: int, context_index: int) -> tuple[int, ...]:
    """The set that decided about x and y in a context, with the context variables that were fixed.

    A score-based method decides by the causes it gives to y. The context variables of the rows
    count as conditions: slopes are compared within their values.
    """
    if result.evidence is not None:
        return possible_causes(result, y, x, (context_index,))
    query = result.log.query(context_index, x, y)
    return (*query.given, *result.cells.fixed(query.view))


def possible_causes(
    result: ContextGraphs, effect: int, cause: int, places: Sequence[int]
) -> tuple[int, ...]:
    """The possible causes of `effect` in some of the contexts, besides `cause`.

    They are the variables with an edge to it that has no arrowhead at their end, by the graphs of
    these contexts, as sorted numbers.
    """
    possible = np.zeros(len(result.names), dtype=bool)
    for context_index in places:
        possible |= may_cause(_endpoints(result, context_index))[:, effect]
    possible[[cause, effect]] = False
    return tuple(np.flatnonzero(possible).tolist())


def _same_regression(two: Moments, context: int, effect: int, given: tuple[int, ...]) -> float:
    """The p-value of "one regression of the effect on a set, its variance included" in both of two
    cells.

    It is the test of a context against a variable, LR* of `ci_tests.gaussian`, with the two cells
    as the two values of a context.
    """
    test = PreparedGaussian(two, Contexts((context,), ((0,), (1,))), STUDENT)
    return float(test.answer([CIQuery(context, effect, given)]).p[0])


def _endpoints(result: ContextGraphs, context_index: int) -> Endpoints:
    """The marks of the graph of a context, by its place: shape (variables, variables)."""
    return result.graphs[result.contexts[context_index]].endpoints
