"""What a search over time is about: its window, the rows that may answer, and what is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from causalcontext.kernels.arrays import Bools
from causalcontext.knowledge import Links
from causalcontext.search.lagged.window import Window
from causalcontext.views import Contexts, View, ViewRule, adaptive, masked, pooled

FIRST_LEVEL = 0.1
"""A column of the past stays a possible parent if it is dependent at this level: a parent that is lost is lost."""


@dataclass(frozen=True, eq=False)
class LaggedPlan:
    """One joint search for the window graphs of all contexts.

    Attributes
    ----------
    window : Window
    contexts : Contexts
        Of the columns: the context variables are the copies of the context that are told apart, R(t) first.
    rule : ViewRule
        `adaptive`, `masked` (on R(t)) or `pooled`.
    values : tuple of int
        The value of the context in every graph.
    reading : tuple of int
        The lags of the copies that a variable may read.
    links : Links
        What is known about the nodes; time order is a part of it.
    alpha : float
    max_given : int
        The largest set of variables of the same time step that are conditioned on.
    collider_rule : {"majority", "conservative", "first"}
    """

    window: Window
    contexts: Contexts
    rule: ViewRule
    values: tuple[int, ...]
    reading: tuple[int, ...]
    links: Links
    alpha: float
    max_given: int
    collider_rule: str = "majority"

    @property
    def first_level(self) -> float:
        """The level at which columns of the past are possible parents."""
        return max(FIRST_LEVEL, self.alpha)

    @property
    def graphs(self) -> range:
        """The graphs that are searched."""
        return range(len(self.values))

    @cached_property
    def copies(self) -> tuple[int, ...]:
        """The columns that are copies of the context and told apart, that of now first; none where it is not tested."""
        return () if self.rule is masked else self.contexts.positions

    @cached_property
    def past_copies(self) -> tuple[int, ...]:
        """Those of the past."""
        return tuple(copy for copy in self.copies if not self.window.is_now(copy))

    @property
    def context_now(self) -> int | None:
        """The column of the context at time t, where its links are tested."""
        return self.copies[0] if self.copies else None

    @cached_property
    def targets(self) -> tuple[int, ...]:
        """The variables at time t whose causes are looked for."""
        return tuple(y for y in self.window.now if not self.window.is_context(y) or y in self.copies)

    def is_shared(self, x: int, y: int) -> bool:
        """Whether a pair has the same answer in all graphs: a link at the context does not depend on its value."""
        return self.window.is_context(x) or self.window.is_context(y)

    def rows(self, graph: int, named: Sequence[int]) -> tuple[int | None, tuple[int, ...]]:
        """The view that answers where conditions name some copies of the context, and the copies that stay conditions.

        There is no view where the copies never have the value of the graph together.
        """
        cell = self._cell(graph)
        ordered = tuple(copy for copy in self.contexts.positions if copy in named)
        try:
            view = self.contexts.number(self.rule(cell, ordered))
        except KeyError:
            return None, ()
        return view, ordered if self.rule is pooled else ()

    def first_views(self, graph: int) -> tuple[int, ...]:
        """The rows on which a column of the past may show that it is a parent: all, or those of one copy."""
        if self.rule is not adaptive:
            found, _ = self.rows(graph, ())
            return () if found is None else (found,)
        named = [(), *((copy,) for copy in self.copies)]
        views = (self.rows(graph, copies)[0] for copies in named)
        return tuple(view for view in views if view is not None)

    def candidates(self, y: int) -> Iterator[int]:
        """The columns of the past, and covariates, that may cause a variable."""
        for u in range(self.window.nodes):
            if self.window.is_now(u) or not self.links.may[u, y]:
                continue
            if not self.window.is_context(u) or self._is_read(u, y):
                yield u

    def known_parents(self, y: int) -> tuple[int, ...]:
        """The columns of the past that are known to cause a variable."""
        return tuple(u for u in np.flatnonzero(self.links.must[:, y]).tolist() if not self.window.is_now(u))

    def searched(self) -> Bools:
        """Pairs that may be adjacent, shape (nodes, nodes): those with an end at time t that are not ruled out."""
        here = np.zeros((self.window.nodes, self.window.nodes), dtype=bool)
        for y in self.targets:
            here[[*self.candidates(y)], y] = True
            here[[x for x in self.targets if not self.links.absent[x, y]], y] = True
        return here | here.T

    def _is_read(self, copy: int, y: int) -> bool:
        """Whether a copy of the past may act on a variable; on the context every copy that is told apart may."""
        return copy in self.past_copies and (self.window.is_context(y) or self.window.lag(copy) in self.reading)

    def _cell(self, graph: int) -> View:
        """All copies at the value of a graph; where only the present is looked at, that of now."""
        value = self.values[graph]
        positions = self.contexts.positions[:1] if self.rule is masked else self.contexts.positions
        return tuple((position, value) for position in positions)
