"""fci-ac over time: a PAG over the window for every combination of the values of context lags.

The window is a table like any other, and what lies before it is hidden; so the search is that of `search.fci`, with
context lags as context variables, and nothing can precede its cause. Time adds that the law of the window is that of
every window before it. What separates a pair at time t separates the pair one step earlier, given the set one step
earlier, which may lie outside of the window. So only pairs with an end at time t are tested. Rows where R(t-1) has a
value become rows where R(t-2) has it; where that is no context lag of the plan, nothing is said about earlier pairs.

Ends say who causes whom where context lags have their values. Before the earliest one the context is free, so a pair
at time t has the mechanisms of its combination, and the earlier pair has those and perhaps others: what causes another
at time t does so earlier, and what does not cause it earlier does not at time t. Without contexts both hold both ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.skeleton import MASK, SEPARATED, SIZE
from causalcontext.knowledge import Links
from causalcontext.search.family import TAIL, Proposal
from causalcontext.search.lagged.plan import Window
from causalcontext.search.plan import Plan
from causalcontext.search.sepsets import SepsetRecords, slot
from causalcontext.views import Contexts

NO_WINDOW = Window(0, 0)


@dataclass(frozen=True, eq=False)
class WindowPlan(Plan):
    """One joint search for PAGs over the window."""

    window: Window = NO_WINDOW

    def repeat_cuts(self, sepsets: SepsetRecords, before: Bools) -> None:
        """What was separated since `before`, shape (graphs, pairs), is separated at earlier times as well."""
        for g, place in np.argwhere(sepsets.separated() & ~before).tolist():
            for steps in range(1, self.window.lags + 1):
                self._repeat_cut(sepsets, g, place, steps)

    def _repeat_cut(self, sepsets: SepsetRecords, graph: int, place: int, steps: int) -> None:
        """Write down that the pair at a place is separated so many steps earlier; members beyond the window go."""
        x, y = (self._moved(int(ends[place]), steps) for ends in (sepsets.first, sepsets.second))
        named = self.masks[sepsets.facts[graph, place, MASK]].named
        fixed = [self._moved(position, steps) for position in named]
        if x is None or y is None or not set(self.contexts.positions).issuperset(fixed):
            return
        other = slot(x, y, self.variables)
        mask = next(m for m, mask in enumerate(self.masks) if set(mask.named) == set(fixed))
        earlier = (self._moved(v, steps) for v in sepsets.given[graph, place].tolist() if v >= 0)
        given = [v for v in earlier if v is not None]
        for h in self._alike(graph, dict(zip(named, fixed, strict=True))):
            if sepsets.facts[h, other, SEPARATED] != 1:
                sepsets.numbers[h, other] = sepsets.numbers[graph, place]
                sepsets.facts[h, other] = sepsets.facts[graph, place]
                sepsets.facts[h, other, [MASK, SIZE]] = mask, len(given)
                sepsets.given[h, other] = -1
                sepsets.given[h, other, : len(given)] = given

    def repeated(self, proposal: Proposal) -> Iterator[Proposal]:
        """The same end at other times: an arrow later, a tail earlier, and without contexts either at all times."""
        lags = [self.window.lag(v) for v in (proposal.a, proposal.b)]
        free = not self.contexts.positions
        earlier = range(1, self.window.lags - max(lags) + 1) if free or proposal.end is TAIL else ()
        later = range(-min(lags), 0) if free or proposal.end is not TAIL else ()
        for steps in (*earlier, *later):
            a, b = (self._moved(v, steps) for v in (proposal.a, proposal.b))
            if a is None or b is None or {a, b} == {proposal.a, proposal.b}:
                continue
            moved = {position: self._moved(position, steps) for position in self.contexts.positions}
            for h in self._alike(proposal.graph, moved):
                yield proposal._replace(graph=h, a=a, b=b, source=h)

    def _alike(self, graph: int, moved: Mapping[int, int | None]) -> Iterator[int]:
        """The graphs in which context lags have the values that others have in a graph; those outside are free."""
        here = dict(self.contexts.cell(self.cells[graph]))
        wanted = {there: here[position] for position, there in moved.items() if there is not None}
        for h, number in enumerate(self.cells):
            cell = dict(self.contexts.cell(number))
            if all(cell.get(position, value) == value for position, value in wanted.items()):
                yield h

    def _moved(self, node: int, steps: int) -> int | None:
        """The same variable so many steps earlier, None outside of the window; a covariate stays where it is."""
        place = self.window.place(node)
        if place is None:
            return node
        lag = place[1] + steps
        return self.window.at(place[0], lag) if 0 <= lag <= self.window.lags else None


def pairs_now(window: Window) -> Bools:
    """True for pairs with an end at time t; shape (nodes, nodes)."""
    now = np.zeros(window.nodes, dtype=bool)
    now[list(window.now)] = True
    return np.asarray(now[:, None] | now[None])


def repeated_links(links: Links, window: Window, contexts: Contexts) -> Links:
    """What is known about links into time t, said of all earlier times as well.

    Context lags that are not told apart have no links: they are not in the table.
    """
    may, must = (np.zeros((window.nodes, window.nodes), dtype=bool) for _ in range(2))
    extra = list(window.extra)
    may[extra], must[extra] = links.may[extra], links.must[extra]
    placed = {v: place for v in range(window.nodes) if (place := window.place(v)) is not None}
    for (a, (cause, before)), (b, (effect, after)) in product(placed.items(), repeat=2):
        if before >= after:
            here = window.at(cause, before - after), window.at(effect, 0)
            may[a, b], must[a, b] = links.may[here], links.must[here]
    for v in placed:
        if window.is_context(v) and v not in contexts.positions:
            may[v], may[:, v], must[v], must[:, v] = (False,) * 4
    return Links(may, must)
