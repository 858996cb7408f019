"""Which rows answer an independence question: the one idea of the paper.

Every constraint-based search asks questions. Context-specific discovery only changes which rows answer them, so
the methods of the paper differ in one small function each: `adaptive` (PC-AC, Algorithm 1, line 8), `masked`
(PC-M) and `pooled` (PC-P).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Query(NamedTuple):
    """What a search asks: are columns `x` and `y` independent given the columns `given`?"""

    x: int
    y: int
    given: tuple[int, ...]


class Trial(NamedTuple):
    """What is run: a query on the rows where every `(context column, level)` of `where` holds.

    The pooled view is the empty `where`.
    """

    x: int
    y: int
    given: tuple[int, ...]
    where: tuple[tuple[int, int], ...] = ()


Rule = Callable[[Query, int, int], Trial]
"""`rule(query, context column, level)`: the trial that answers the query in the graph of that level."""


def adaptive(query: Query, context: int, level: int) -> Trial:
    """The paper's line 8: rows of one context if the context is in the conditioning set, all rows otherwise."""
    if context not in query.given:
        return Trial(*query)
    rest = tuple(column for column in query.given if column != context)
    return Trial(query.x, query.y, rest, where=((context, level),))


def masked(query: Query, context: int, level: int) -> Trial:
    """Rows of one context, always. The context is constant there, so it leaves the conditioning set."""
    rest = tuple(column for column in query.given if column != context)
    return Trial(query.x, query.y, rest, where=((context, level),))


def pooled(query: Query, context: int, level: int) -> Trial:
    """All rows, always; the context is a column like any other."""
    return Trial(*query)
