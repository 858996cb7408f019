"""A context C = g(W) that is a function of a column (paper, App. "Deterministic indicators").

C is not searched over. A question with W among its conditions is asked where g(W) = c, W staying among them; every
other question on all rows (i). C enters the graphs afterwards: with W --> C, and with links to the effects of edges
that are missing in some context (ii, iii).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.graph import Mark
from causalcontext.knowledge import Links
from causalcontext.search.algorithm import Found
from causalcontext.search.family import Doubt, Origin


def with_indicator(found: Found, indicator: int, source: int) -> Found:
    """The graphs of a search with an indicator at one position, made from the column `source`: its links are drawn."""
    if not found.complete:
        return found
    marks, origins, doubts = found.marks.copy(), dict(found.origins), list(found.doubts)
    _draw(marks, origins, source, indicator, Origin("deterministic", 0, ()))
    for effect, certain, origin in links_of_indicator(found.marks, source):
        if marks[0, indicator, effect] != Mark.FORWARD:
            _draw(marks, origins, indicator, effect, origin if certain else None)
    doubts += [Doubt("V2", place, x, y) for place, x, y in _special(found.marks, source)]
    return Found(marks, found.ledger, True, origins, tuple(doubts))


def links_of_indicator(marks: NDArray[np.int8], source: int) -> Iterator[tuple[int, bool, Origin]]:
    """Effects of the indicator: (variable, whether it is certain, why), from edges that some graphs do not have.

    The effect of a vanishing edge is a child of C, hence adjacent to W. Where only one end can be one, it is the
    effect; where both can, the direction of the edge decides; without one, both are possible. Certain links come first.
    """
    uncertain: list[tuple[int, bool, Origin]] = []
    for h, x, y in _vanishing(marks):
        ends = [end for end in (x, y) if _may_be_child(marks, source, end)]
        directed = {(Mark(int(m))) for m in marks[:, x, y]} & {Mark.FORWARD, Mark.BACKWARD}
        if len(ends) == 2 and len(directed) == 1:
            ends = [y if directed == {Mark.FORWARD} else x]
        for end in ends:
            link = (end, len(ends) == 1, Origin("indicator", h, (x + y - end,)))
            if link[1]:
                yield link
            else:
                uncertain.append(link)
    yield from uncertain


def without(links: Links, variable: int) -> Links:
    """The same knowledge with no link at a variable."""
    may, must = links.may.copy(), links.must.copy()
    for array in (may, must):
        array[variable], array[:, variable] = False, False
    return Links(may, must)


def _vanishing(marks: NDArray[np.int8]) -> Iterator[tuple[int, int, int]]:
    """(graph without it, x, y), x < y, for edges that some graphs have and others have not."""
    present = marks != Mark.ABSENT
    for x, y in zip(*np.nonzero(np.triu(present.any(axis=0) & ~present.all(axis=0))), strict=True):
        yield int(np.flatnonzero(~present[:, x, y])[0]), int(x), int(y)


def _special(marks: NDArray[np.int8], source: int) -> Iterator[tuple[int, int, int]]:
    """Edges that vanish though no end can be a child of the indicator: not a physical change."""
    for h, x, y in _vanishing(marks):
        if not any(_may_be_child(marks, source, end) for end in (x, y)):
            yield h, x, y


def _may_be_child(marks: NDArray[np.int8], source: int, node: int) -> bool:
    """Whether a variable is adjacent to W and not a known cause of it."""
    found = marks[:, source, node]
    return node != source and bool((found != Mark.ABSENT).any() and not (found == Mark.BACKWARD).any())


def _draw(marks: NDArray[np.int8], origins: dict[tuple[int, int, int], Origin], cause: int, effect: int,
          origin: Origin | None) -> None:  # fmt: skip
    """Draw cause --> effect in all graphs; without an origin, an edge that may be there."""
    mark = Mark.UNDIRECTED if origin is None else Mark.FORWARD
    marks[:, cause, effect], marks[:, effect, cause] = mark, mark.reversed
    if origin is not None:
        for g in range(len(marks)):
            origins[g, cause, effect] = origin
