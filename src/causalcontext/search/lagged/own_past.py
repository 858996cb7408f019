"""Searches PAGs over the window with the own past of both ends among the conditions.

What persists differs from its own past by little, and that little is what causes show in. So a set
is asked together with X(t-2) and Y(t-1) where X(t-1) and Y are the ends. If these are causes of the
ends, as where processes have a memory, nothing is lost: of sets that hold only causes of the two
ends, one that separates them goes on to do so with more of these causes (all paths outside of these
causes are closed anyway, and inside them separation is that of an undirected graph). If an own past
is no cause, but shares a hidden one with its future, it may connect what another set separates. So
sets are asked without own pasts as well, but as a second opinion, which it takes a p-value of
`WITHOUT_PAST` to follow: where columns persist, one of many such sets nearly always looks as if it
separated. For the same reason a collider takes a set that separates its ends by more than `CLEAR`.
Exact answers are followed all the same. Votes on Y(t-1) between X and Y are of one voice, since all
sets hold it: so a second opinion may deny them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from causalcontext.kernels.arrays import Codes, Ints
from causalcontext.kernels.levels.skeleton import Ballots
from causalcontext.search.batched_search import BatchedSearch, CandidateSet, members_of_sets
from causalcontext.search.lagged.plan import WindowPlan
from causalcontext.search.plan import PairGroup
from causalcontext.views import CIQuery

WITHOUT_PAST = 0.8
"""The p-value by which a set separates that leaves out an own past (design seeds 100 to 111 of
hidden_series.py).
"""

CLEAR = 0.5
"""The p-value that some set has to exceed which separates the ends of a collider (design seeds 100
to 123).
"""


class OwnPastSearch(BatchedSearch):
    """Searches levels of a `WindowPlan` with any prepared test."""

    more = 2
    clear = CLEAR

    def sets(
        self,
        group: PairGroup,
        x: int,
        y: int,
        g: int,
        mask: int,
        size: int,
        overflow: tuple[Codes, int] | None = None,
    ) -> Iterator[CandidateSet]:
        """The sets of neighbours with the own past of x and y, then as they are; the latter have no
        vote.
        """
        past = _own_past(group, x, y)
        second = overflow is not None and group.plan.alpha < 1.0
        view = int(group.plan.views[group.share.begin + g, mask])
        kept = group.plan.masks[mask].kept
        for chosen in members_of_sets(group, x, y, g, mask, size, overflow):
            if past.isdisjoint(chosen):  # else asked with fewer neighbours
                more = tuple(sorted((*past, *chosen)))
                given = tuple(sorted({*more, *kept})) if kept else more
                yield CandidateSet(CIQuery(x, y, given, view), more, mask)
            if second and not past.issubset(chosen):
                yield CandidateSet(
                    CIQuery(x, y, (*chosen, *kept), view), chosen, mask, WITHOUT_PAST
                )

    def vote(self, group: PairGroup, ballots: Ballots) -> tuple[Ints, Ints]:
        """As any search; but an own past, which all sets hold, has no verdict where a set without
        it separates.
        """
        separating, holding = super().vote(group, ballots)
        of_pair = np.repeat(np.arange(separating.size), np.diff(ballots.offset))
        places = np.flatnonzero((holding == separating[of_pair]) & (holding > 0)).tolist()
        asked = {
            place: list(self._without(group, ballots, int(of_pair[place]), place))
            for place in places
        }
        self._answers.run(query for queries in asked.values() for query in queries)
        for place, queries in asked.items():
            if any(self._answers.of(query).p > WITHOUT_PAST for query in queries):
                holding[place] = -1
        return separating, holding

    def _without(self, group: PairGroup, ballots: Ballots, k: int, place: int) -> Iterator[CIQuery]:
        """The queries about a pair without one of its centres, if that is an own past."""
        x, y, g, w = (
            int(number)
            for number in (
                ballots.first[k],
                ballots.second[k],
                ballots.graph[k],
                ballots.centre[place],
            )
        )
        if w not in _own_past(group, x, y):
            return
        for size, (mask, entry) in product(
            range(int(ballots.largest[k]) + 1), enumerate(group.plan.masks)
        ):
            if size + len(entry.triggers) <= group.plan.max_given:
                for chosen in members_of_sets(group, x, y, g, mask, size):
                    if w not in chosen:
                        view = int(group.plan.views[group.share.begin + g, mask])
                        yield CIQuery(x, y, (*chosen, *entry.kept), view)


def _own_past(group: PairGroup, x: int, y: int) -> set[int]:
    """What the two variables were a step earlier, as far as these are plain columns of the
    window.
    """
    assert isinstance(group.plan, WindowPlan)
    return {v for v in (group.plan.own_past[x], group.plan.own_past[y]) if v is not None} - {x, y}
