"""What a search is about: how many graphs over which variables, whose rows answer, and what is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.levels.skeleton import GIVEN_CONTEXT
from causalcontext.knowledge import Links
from causalcontext.questions import Query, Rule, masked
from causalcontext.search.ledger import Ledger

Bools = NDArray[np.bool_]
NO_CONTEXT = -1
Physical = Callable[[int, int, int, int], bool]
"""`physical(x, y, present, absent)`: whether x - y is missing in graph `absent` though its rows could show it."""


class ContextVariables(NamedTuple):
    """The context variables that a family of graphs shares: their positions, and their levels in every graph."""

    positions: tuple[int, ...] = ()
    codes: tuple[tuple[int, ...], ...] = ()

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """(g, h, position): the pairs of graphs, both ways, between which just one context variable differs."""
        for j, position in enumerate(self.positions):
            others: dict[tuple[int, ...], list[int]] = {}
            for g, codes in enumerate(self.codes):
                others.setdefault((*codes[:j], *codes[j + 1 :]), []).append(g)
            for graphs in others.values():
                yield from ((g, h, position) for g, h in permutations(graphs, 2))


@dataclass(frozen=True)
class Plan:
    """One joint search for several graphs.

    Attributes
    ----------
    variables : int
        How many, the context included.
    context : int
        The position of the context among them, or `NO_CONTEXT`.
    rule : Rule
        Which rows answer a query.
    levels : tuple of int
        The context level of every graph that is searched; pooled search has a single graph, of level 0.
    links : Links
        What is known.
    alpha : float
        Two variables are called independent if the p-value is larger.
    max_given : int
        The largest conditioning set.
    masked_scope : {"adaptive", "cycle", "always"}
        For which of the edges that are left all sets are asked once more, inside the context.
    across : function, optional
        `across(ledger)`: whether an edge that is missing in one graph may orient others. Without one, every graph is
        oriented by itself.
    cells : ContextVariables, optional
        Several context variables, which are searched over like other variables; then `context` is `NO_CONTEXT`.
    """

    variables: int
    context: int
    rule: Rule
    levels: tuple[int, ...]
    links: Links
    alpha: float
    max_given: int
    masked_scope: str = "adaptive"
    across: Callable[[Ledger], Physical] | None = None
    cells: ContextVariables | None = None

    @property
    def contexts(self) -> ContextVariables:
        """The context variables whose links can be tested; the graphs share them."""
        if self.cells is not None:
            return self.cells
        if not self.searches_context:
            return ContextVariables()
        return ContextVariables((self.context,), tuple((level,) for level in self.levels))

    @property
    def searches_context(self) -> bool:
        """Whether links at the context can be tested: inside one context it is constant."""
        return self.context != NO_CONTEXT and self.rule is not masked

    @cached_property
    def views(self) -> NDArray[np.int64]:
        """For every graph, the rows that answer a set without the context: 0 for all of them, 1 + level for some."""
        return np.array([self._view(level, ()) for level in self.levels], dtype=np.int64)

    @cached_property
    def context_views(self) -> NDArray[np.int64]:
        """For every graph, the rows that answer a set with the context in it."""
        return np.array([self._view(level, (self.context,)) for level in self.levels], dtype=np.int64)

    def complete_graphs(self) -> Bools:
        """Every pair adjacent in every graph, but for those absent by assumption; shape (graphs, N, N).

        Where the context cannot be tested, only its required links are there.
        """
        start = ~self.links.absent
        if self.context != NO_CONTEXT and not self.searches_context:
            at_context = self.links.required[self.context]
            start[self.context], start[:, self.context] = at_context, at_context
        return np.repeat(start[None], len(self.levels), axis=0)

    def _view(self, level: int, given: tuple[int, ...]) -> int:
        trial = self.rule(Query(NO_CONTEXT, NO_CONTEXT, given), self.context, level)
        if trial.where:
            return trial.where[0][1] + 1
        return GIVEN_CONTEXT if trial.given else 0
