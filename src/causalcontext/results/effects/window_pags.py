"""Which edges a PAG over the window has between earlier columns: what adjustment over time needs to
know.

A window graph shows links into time t. Everything before the window is hidden, so that the graph of
the whole window has the same links a step earlier, and perhaps more: two columns may share a cause
that lies before the window. A pair that is adjacent at time t is so at all earlier times, with the
same ends, since a set that separates it in the window would separate it later. A pair that a set
separates at time t is separated earlier by the earlier set, if that set lies in the window. All
other pairs of earlier columns may be adjacent, and of their ends we know who cannot cause whom.
`graphs.paths.adjustment` takes such a part of a PAG.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent
from causalcontext.kernels.arrays import Bools
from causalcontext.results.effects.unrolled import UnrolledGraphs
from causalcontext.results.log import Decision
from causalcontext.search.lagged.plan import Window

if TYPE_CHECKING:
    from causalcontext.results.effects.mechanics import Mechanics

MOST_GIVEN = 3
"""The size of the sets of neighbours that are asked whether they separate a pair."""


class WindowPag(NamedTuple):
    """The ends of all edges that the window may have, shape (N, N), and which of them it surely
    has.
    """

    endpoints: Endpoints
    sure: Bools


class LoggedSeparations:
    """The sets of the log, and whether others leave a partial correlation: what a linear adjustment
    rests on.
    """

    def __init__(self, mechanics: Mechanics, g: int) -> None:
        self._log = mechanics.result.log
        self._graph = g
        self._alpha = mechanics.result.settings.alpha
        self._rows = mechanics.moments.merged(mechanics.everyone)

    def found(self, a: int, b: int) -> tuple[int, ...] | None:
        """The set that separated them in the search; None if there is none."""
        entry = self._log.at(self._graph, self._log.slot(a, b))
        return entry.conditions if entry.decision == Decision.ABSENT else None

    def separates(self, a: int, b: int, given: tuple[int, ...]) -> bool:
        """True if another set separates them."""
        fit = self._rows.regression(b, [a, *given])
        if fit is None or fit.df < 1 or not fit.errors[0] > 0.0:
            return False
        return (
            float(2.0 * scipy.special.stdtr(fit.df, -abs(fit.slopes[0] / fit.errors[0])))
            > self._alpha
        )


def window_pag(graphs: UnrolledGraphs, g: int, separations: LoggedSeparations) -> WindowPag:
    """The PAG of the whole window, as far as the graph of a context shows it.

    Edges in conflict have ends that are not known. Contexts are not allowed for: before the window
    they are free.
    """
    shown = graphs.endpoints[g]
    window = graphs.window
    shown = np.where(shown == Endpoint.CONFLICT, np.int8(Endpoint.CIRCLE), shown)
    ends = shown.copy()
    sure = adjacent(shown)
    reach = graphs.reach[g]
    earliest: dict[tuple[int, int], int] = {}
    placed = [
        (v, place)
        for v in range(window.nodes)
        if (place := window.place(v)) is not None and place[1] > 0
    ]
    for (a, (first, before)), (b, (second, after)) in combinations(placed, 2):
        steps = min(before, after)  # how much later the same two columns can be
        later = window.at(first, before - steps), window.at(second, after - steps)
        if sure[later]:
            ends[a, b] = shown[later]
            ends[b, a] = shown[later[::-1]]
            sure[a, b] = True
            sure[b, a] = True
            continue
        if later not in earliest:
            around = np.flatnonzero(sure[list(later)].any(axis=0)).tolist()
            earliest[later] = _shortest(window, separations, later, around)
        if earliest[later] + steps > window.lags:
            ends[a, b] = Endpoint.CIRCLE if reach[later[::-1]] else Endpoint.ARROW
            ends[b, a] = Endpoint.CIRCLE if reach[later] else Endpoint.ARROW
    past = [v for v in range(window.nodes) if window.lag(v) > 0]
    covariates = list(window.extra)
    ends[np.ix_(covariates, past)] = Endpoint.ARROW
    ends[np.ix_(past, covariates)] = Endpoint.CIRCLE
    # nothing of the table causes them; the rest was not asked
    ends[np.ix_(covariates, covariates)] = Endpoint.CIRCLE
    np.fill_diagonal(ends, Endpoint.NONE)
    return WindowPag(ends, sure)


def _shortest(
    window: Window, separations: LoggedSeparations, pair: tuple[int, int], around: Sequence[int]
) -> int:
    """The longest lag of the set that separates a pair with the shortest lags; more than the window
    has without any.
    """
    known = separations.found(*pair)
    if known is None:
        return window.lags + 1
    longest = max((window.lag(z) for z in known), default=0)
    for deepest in range(longest):
        pool = [z for z in around if window.lag(z) <= deepest and z not in pair]
        for given in (some for size in range(MOST_GIVEN + 1) for some in combinations(pool, size)):
            if separations.separates(*pair, given):
                return deepest
    return longest
