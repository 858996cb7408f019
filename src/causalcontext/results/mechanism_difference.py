"""Does a mechanism differ between two contexts? Slopes side by side, and what speaks against a change.

A slope is that of a mechanism only given the right causes and in the right direction. So a difference is asked about
given every set that could be right, both ways where the direction is in doubt, and it does not count where the edge
that is missing shows there all the same, or where the other direction needs no change at all. Of a curved mechanism,
and of one with categories among its causes, which have no slopes, it is asked how much of it is left
(`results.curve_difference`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.data.moments import Moments
from causalcontext.graphs.endpoints import Endpoints, GraphKind, directed, may_cause
from causalcontext.kernels.levels.gaussian import STUDENT
from causalcontext.results.curve_difference import UNKNOWN, compared_rows, curve_shares, scale_doubt
from causalcontext.results.proxies import proxy
from causalcontext.results.slopes import Slope, heterogeneity, slope
from causalcontext.results.violations import has_levels, is_curved
from causalcontext.views import CIQuery, Contexts, adaptive

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

STILL_THERE = 0.001
"""A slope with a smaller p-value is there, whatever the graph says."""
UNCHANGED = 0.05
"""The other direction needs no change if "one regression for both contexts" has a larger p-value."""
SHOWN = "the slope differs from 0 there too"


class SlopeComparison(NamedTuple):
    """The slopes where the edge is found and where it is not, the p-value of "they are the same", and a doubt.

    `shares` says that the slopes are shares of the mechanism: 1 is all of it.
    """

    here: Slope
    there: Slope
    p: float
    doubt: str
    shares: bool = False


class TwoContexts:
    """The moments of two contexts side by side.

    With several context variables the rows are those that agree with either context on the variables that differ
    between the two and on those that are conditioned on; the others stay pooled.

    Parameters
    ----------
    result : ContextGraphs
    moments : Moments
    present, absent : int
        Places of the context that has the edge, and of the one that has not.
    """

    def __init__(self, result: ContextGraphs, moments: Moments, present: int, absent: int) -> None:
        self.result, self.moments = result, moments
        self.places = (present, absent)
        self.differing = result.cells.differing(present, absent)

    def slopes(self, cause: int, effect: int, given: Sequence[int]) -> tuple[Slope, Slope]:
        """The slope of the effect on the cause given a set, in either context."""
        moments, system = self._given(given)
        return slope(moments, 0, cause, effect, system), slope(moments, 1, cause, effect, system)

    def unchanged(self, effect: int, given: Sequence[int]) -> float:
        """The p-value of "one regression of the effect on a set, its variance included, for both contexts"."""
        moments, system = self._given(given)
        test = PreparedGaussian(moments, Contexts(self.differing[:1], ((0,), (1,))), STUDENT)
        return float(test.answer([CIQuery(self.differing[0], effect, system)]).p[0])

    def _given(self, given: Sequence[int]) -> tuple[Moments, tuple[int, ...]]:
        """The moments of both contexts, and the system variables of a set."""
        contexts = self.result.cells.positions
        system = tuple(z for z in given if z not in contexts)
        fixed = [z for z in contexts if z in given or z in self.differing]
        return moments_at(self.result, self.moments, self.places, fixed), system


def compare(result: ContextGraphs, moments: Moments, x: int, y: int, present: int,
            absent: int) -> SlopeComparison:  # fmt: skip
    """Whether the slope of y on x differs between a context that has x - y and one that has not.

    A set that leaves causes of y out, or holds effects of it, bends slopes by context though nothing has changed. So
    the slopes are compared given the set that separated the pair and given all possible causes of y, and the larger
    p-value counts. Both directions are compared where the graph gives none, where the context cannot cause the effect,
    and where it is adjacent to the cause: choosing rows by the context may bend either. In a PAG a direction does not
    exclude a hidden common cause, so both are compared. The slopes of the outcome are those given the possible causes.
    Curves have a direction by themselves: there the slopes are shares of the curve, and so they are where categories
    leave no slope to compare.
    """
    if is_curved(result):
        return compare_curves(result, x, y, present, absent)
    found = _compare_slopes(result, moments, x, y, present, absent)
    return compare_curves(result, x, y, present, absent) if np.isnan(found.p) and has_levels(result) else found


def _compare_slopes(result: ContextGraphs, moments: Moments, x: int, y: int, present: int,
                    absent: int) -> SlopeComparison:  # fmt: skip
    two = TwoContexts(result, moments, present, absent)
    endpoints, apart = _endpoints(result, present), list(two.differing)
    found = bool(directed(endpoints)[x, y]) and result.union.kind is GraphKind.CPDAG
    settled = found and may_cause(endpoints)[apart, y].any() and not endpoints[apart, x].any()
    p_values = [
        heterogeneity(two.slopes(cause, effect, given))[1]
        for cause, effect in (((x, y),) if settled else ((x, y), (y, x)))
        for given in _sets(result, cause, effect, (present, absent))
    ]
    here, there = two.slopes(x, y, possible_causes(result, y, x, (present, absent)))
    return SlopeComparison(here, there, float(np.max(p_values)), _doubt(two, x, y, there, found))  # NaN if one is


def compare_curves(result: ContextGraphs, x: int, y: int, present: int, absent: int) -> SlopeComparison:
    """Whether less of a curve, or of what a category does, shows in the context without the edge."""
    rows = compared_rows(result, x, y, present, absent)
    here, there = (UNKNOWN, UNKNOWN) if rows is None else curve_shares(rows)
    doubt = "" if directed(_endpoints(result, present))[x, y] else "its direction is open"
    doubt = SHOWN if there.p < STILL_THERE else doubt
    p = heterogeneity((here, there))[1]
    if rows is not None and not doubt and p <= UNCHANGED:
        doubt = scale_doubt(rows) or (proxy(result, rows) if is_curved(result) else "")
    return SlopeComparison(here, there, p, doubt, shares=True)


def conditions(result: ContextGraphs, x: int, y: int, place: int) -> tuple[int, ...]:
    """The set that decided about x and y in a context, with the context variables that were fixed.

    A score-based method decides by the causes it gives to y.
    """
    if result.evidence is not None:
        return possible_causes(result, y, x, (place,))
    query = result.log.query(place, x, y)
    return (*query.given, *result.cells.fixed(query.view))


def possible_causes(result: ContextGraphs, effect: int, cause: int, places: Sequence[int]) -> tuple[int, ...]:
    """What may cause `effect` in some of the contexts, besides `cause`."""
    possible = np.zeros(len(result.names), dtype=bool)
    for place in places:
        possible |= may_cause(_endpoints(result, place))[:, effect]
    possible[[cause, effect]] = False
    return tuple(np.flatnonzero(possible).tolist())


def moments_at(result: ContextGraphs, moments: Moments, places: Sequence[int], fixed: Sequence[int]) -> Moments:
    """The moments of the rows that agree with some contexts, in this order, on the context variables `fixed`."""
    cells = result.cells
    parts = [moments.merged(cells.members(cells.number(adaptive(cells.cell(place), fixed)))) for place in places]
    return Moments(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "mean", "scatter")))


def _sets(result: ContextGraphs, cause: int, effect: int, places: tuple[int, int]) -> list[tuple[int, ...]]:
    """The sets given which slopes are compared, each once."""
    causes = possible_causes(result, effect, cause, places)
    if result.evidence is not None:
        return [causes]
    return list(dict.fromkeys((tuple(sorted(conditions(result, cause, effect, places[1]))), causes)))


def _doubt(two: TwoContexts, x: int, y: int, there: Slope, directed: bool) -> str:
    """What speaks against a change of x --> y, in words; empty if nothing does."""
    if there.p < STILL_THERE:
        return SHOWN
    if directed and two.unchanged(x, (y, *possible_causes(two.result, x, y, two.places))) > UNCHANGED:
        return "no change if the edge has the other direction"
    return ""


def _endpoints(result: ContextGraphs, place: int) -> Endpoints:
    return result.graphs[result.contexts[place]].endpoints
