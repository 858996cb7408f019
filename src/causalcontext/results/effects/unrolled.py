"""Window graphs at all times: what may lead to what, and what lies between.

A window graph has links into time t. Links repeat, so that X(t-2) has the causes of X two steps
earlier, and nodes go on beyond the window (numbered as in `Window`). Without lags there is one
time, and all nodes are of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from causalcontext.graphs.dags import Family
from causalcontext.graphs.endpoints import Endpoints, directed, may_cause
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools
from causalcontext.search.lagged.plan import Window


class UnrolledGraphs:
    """One graph per context, `endpoints` of shape (graphs, N, N).

    `window` says which variable at which lag the nodes are; `contexts` are context variables as
    nodes, at all lags.
    """

    def __init__(self, endpoints: Endpoints, window: Window, contexts: frozenset[int]) -> None:
        self.endpoints = endpoints
        self.window = window
        self.contexts = contexts
        self._places = [self._place(node) for node in range(window.nodes)]
        self._nodes_now = [*window.now, *window.extra]
        self._parents: dict[tuple[Family, int, int], tuple[int, ...]] = {}
        self._between: dict[tuple[int, int, int], list[int]] = {}
        self._reached: Bools = np.zeros((len(endpoints), 0, 0, 0), dtype=bool)
        self.context_variables = tuple(sorted({self.place(node)[0] for node in contexts}))

    @property
    def cells(self) -> range:
        """The contexts, by number."""
        return range(len(self.endpoints))

    @cached_property
    def links(self) -> Bools:
        """`links[g, lag, x, y]`: x may be a cause of y so many steps later; covariates come last,
        without lags.
        """
        window = self.window
        found = may_cause(self.endpoints)
        width = window.variables + window.covariates
        now = self._nodes_now
        links = np.zeros((len(found), window.lags + 1, width, width), dtype=bool)
        for lag in range(window.lags + 1):
            earlier = now if lag == 0 else [window.at(v, lag) for v in range(window.variables)]
            links[:, lag, : len(earlier)] = found[:, earlier][:, :, now]
        return links

    def leads(self, g: int, x: int, y: int) -> bool:
        """True if x may lead to y in a graph along links between system variables, at any times."""
        (v, lag), (w, later) = self.place(x), self.place(y)
        return lag >= later and bool(self._reach_within(lag - later)[g, lag - later, v, w])

    def _reach_within(self, steps: int) -> Bools:
        """`reach[g, k, v, w]`: v may lead to w within exactly k steps, k up to `steps` or more."""
        if len(self._reached[0]) <= steps:
            # short lags are asked for first
            most = max(steps, self.window.lags, 2 * len(self._reached[0]))
            self._reached = np.stack([self._reach_of(links, most) for links in self._system_links])
        return self._reached

    @cached_property
    def _system_links(self) -> Bools:
        links = self.links.copy()
        held = list(self.context_variables)
        links[:, :, held] = links[:, :, :, held] = False
        return links

    def _reach_of(self, links: Bools, steps: int) -> Bools:
        found = [reach(links[0])]
        present = (np.eye(links.shape[1], dtype=bool) | found[0]).astype(np.float32)
        for k in range(1, steps + 1):
            arrived = np.zeros_like(present)
            for lag in range(1, min(k, self.window.lags) + 1):
                before = present if k == lag else found[k - lag].astype(np.float32)
                arrived += before @ links[lag].astype(np.float32)
            found.append(np.asarray((arrived > 0).astype(np.float32) @ present > 0))
        return np.stack(found)

    @cached_property
    def reach(self) -> Bools:
        """`reach[g, x, y]`: the same for the nodes of a graph; shape (graphs, N, N)."""
        places = np.array(self._places)
        steps = places[:, None, 1] - places[None, :, 1]
        within = self._reach_within(self.window.lags)
        return np.asarray(
            within[:, np.maximum(steps, 0), places[:, None, 0], places[None, :, 0]] & (steps >= 0)
        )

    @cached_property
    def from_contexts(self) -> Bools:
        """`from_contexts[g, y]`: a context variable may lead to y; shape (graphs, N)."""
        children: Bools = np.asarray(
            may_cause(self.endpoints)[:, list(self.contexts), :].any(axis=1)
        )
        return np.asarray(children | (children[:, :, None] & self.reach).any(axis=1))

    @cached_property
    def into_contexts(self) -> Bools:
        """`into_contexts[g, v]`: v may lead to a context variable, at once or later; shape (graphs,
        variables).
        """
        parents: Bools = np.asarray(
            self.links[:, :, :, list(self.context_variables)].any(axis=(1, 3))
        )
        ever = reach(np.asarray(self._system_links.any(axis=1)))
        return np.asarray(parents | (parents[:, None, :] & ever).any(axis=2))

    @cached_property
    def cyclic(self) -> Bools:
        """`cyclic[g, v]`: directed links lead from a system variable to itself; shape (graphs,
        N).
        """
        links = directed(self.endpoints)
        links[:, list(self.contexts)] = False
        return np.asarray(np.diagonal(reach(links), axis1=1, axis2=2))

    def between(self, g: int, x: int, y: int) -> list[int]:
        """What may lie on a directed path from x to y, y included and x not, as nodes of time t."""
        (v, lag), (w, later) = self.place(x), self.place(y)
        if lag < later:
            return []
        if (g, x, y) not in self._between:
            steps = lag - later
            ahead = self._reach_within(steps)[g, : steps + 1]
            on_the_way = ahead[:, v] & ahead[::-1, :, w]
            on_the_way[steps, w] = ahead[steps, v, w]
            on_the_way[0, v] = False
            self._between[g, x, y] = [
                self._nodes_now[u] for u in np.flatnonzero(on_the_way.any(axis=0)).tolist()
            ]
        return self._between[g, x, y]

    def place(self, node: int) -> tuple[int, int]:
        """The variable and the lag of a node; covariates are variables after all others, at lag
        0.
        """
        return self._places[node] if node < len(self._places) else self._place(node)

    def _place(self, node: int) -> tuple[int, int]:
        found = self.window.place(node)
        return (self.window.variables + node - self.window.extra[0], 0) if found is None else found

    def lag(self, node: int) -> int:
        """The number of steps from a node to the present."""
        return self.place(node)[1]

    def at(self, variable: int, lag: int = 0) -> int:
        """The node of a variable so many steps ago; -1 for a covariate of the past, which is
        none.
        """
        if variable < self.window.variables:
            return self.window.at(variable, lag)
        return self.window.extra[variable - self.window.variables] if lag == 0 else -1

    def now(self, node: int) -> int:
        """The node of the same variable at time t."""
        variable, lag = self.place(node)
        return node if lag == 0 else self.at(variable)

    def column(self, node: int) -> int:
        """The column of a node; beyond the window that of the same variable at time t."""
        return node if node < len(self._places) else self.now(node)

    def earlier(self, causes: Iterable[int], node: int) -> tuple[int, ...]:
        """The causes of a node, by those that it has at time t."""
        lag = self.lag(node)
        return (
            tuple(causes)
            if lag == 0
            else tuple(self.at(v, before + lag) for v, before in map(self.place, causes))
        )

    def parents(self, family: Family, g: int, node: int) -> tuple[int, ...]:
        """The causes of a node at any time that are no contexts."""
        key = (family, g, node)
        if key not in self._parents:
            own = (
                cause for cause in family.parents(g, self.now(node)) if cause not in self.contexts
            )
            self._parents[key] = self.earlier(own, node)
        return self._parents[key]
