"""Searches PAGs over the window with the own past of both ends among the conditions.

What persists differs from its own past by little, and that little is what causes show in. So a set is asked together
with X(t-2) and Y(t-1) where X(t-1) and Y are the ends. If these are causes of the ends, as where processes have a
memory, nothing is lost: of sets that hold only causes of the two ends, one that separates them goes on to do so with
more of these causes (all paths outside of these causes are closed anyway, and inside them separation is that of an
undirected graph). If an own past is no cause, but shares a hidden one with its future, it may connect what another set
separates. So sets are asked without own pasts as well, but as a second opinion, which it takes a p-value of
`WITHOUT_PAST` to follow: where columns persist, one of many such sets nearly always looks as if it separated. For the
same reason a collider takes a set that separates its ends by more than `CLEAR`. Exact answers are followed all the
same.
"""

from __future__ import annotations

from collections.abc import Iterator

from causalcontext.kernels.arrays import Codes
from causalcontext.search.lagged.plan import WindowPlan
from causalcontext.search.level_search import BatchedSearch, CandidateSet, members_of_sets
from causalcontext.search.plan import PairGroup
from causalcontext.views import CIQuery

WITHOUT_PAST = 0.8
"""The p-value by which a set separates that leaves out an own past (design seeds 100 to 111 of hidden_series.py)."""

CLEAR = 0.5
"""The p-value that some set has to exceed which separates the ends of a collider (design seeds 100 to 123)."""


class OwnPastSearch(BatchedSearch):
    """Searches levels of a `WindowPlan` with any prepared test."""

    more, clear = 2, CLEAR

    def sets(self, group: PairGroup, x: int, y: int, g: int, mask: int, size: int,
             note: tuple[Codes, int] | None = None) -> Iterator[CandidateSet]:  # fmt: skip
        """The sets of neighbours with the own past of x and y, then as they are; the latter have no vote."""
        plan = group.plan
        assert isinstance(plan, WindowPlan)
        past = {v for v in (plan.own_past[x], plan.own_past[y]) if v is not None} - {x, y}
        second = note is not None and plan.alpha < 1.0
        view, kept = int(plan.views[group.share.begin + g, mask]), plan.masks[mask].kept
        for chosen in members_of_sets(group, x, y, g, mask, size, note):
            if past.isdisjoint(chosen):  # else asked with fewer neighbours
                more = tuple(sorted((*past, *chosen)))
                given = tuple(sorted({*more, *kept})) if kept else more
                yield CandidateSet(CIQuery(x, y, given, view), more, mask)
            if second and not past.issubset(chosen):
                yield CandidateSet(CIQuery(x, y, (*chosen, *kept), view), chosen, mask, WITHOUT_PAST)
