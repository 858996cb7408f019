"""What local models are made of: moments of a lagged table by every copy of the context, prices, and what is allowed.

Nodes are numbered 0 .. d - 1, the context d. Columns are numbered as in `data/windows.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from causalcontext.data.moments import Moments
from causalcontext.data.windows import LaggedTable
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.lagged.subsets import CLOSED, FORCED, OPEN

MOST_CONTEXTS = 6
"""Blocks of contexts double with every value."""
ALL_PATTERNS = 4
"""Up to so many contexts every pattern is tried; beyond, patterns of one block or of two that make up the whole."""


@dataclass(frozen=True, eq=False)
class Allowed:
    """Links that may and that must be there, shape (L + 1, d + 1, d + 1): lag, cause, effect."""

    may: Bools
    must: Bools


@dataclass(frozen=True, eq=False)
class Blocks:
    """The moments of one copy of the context, for every set of its values as a bit mask.

    Attributes
    ----------
    rows : array of float, shape (2**K,)
    own : array, shape (2**K, p, p)
        Covariances of the rows of a mask.
    within : array, shape (2**K, p, p)
        Cross products around the mean of each context, over all rows.
    """

    rows: Floats
    own: Floats
    within: Floats


@dataclass(frozen=True, eq=False)
class LaggedProblem:
    """All that the search needs."""

    table: LaggedTable
    allowed: Allowed
    copies: tuple[int, ...]
    penalty: float
    has_context: bool

    @property
    def variables(self) -> int:
        """The system variables."""
        return self.table.variables

    @property
    def nodes(self) -> int:
        """The system variables and the context."""
        return self.table.variables + self.has_context

    @property
    def contexts(self) -> int:
        """The values of the context."""
        return self.table.contexts

    @property
    def rows(self) -> float:
        """The windows."""
        return float(len(self.table.row))

    def cost(self, rows: float) -> float:
        """The price of one parameter."""
        return 0.5 * self.penalty * log(max(rows, 2.0))

    @cached_property
    def moments(self) -> tuple[Moments, ...]:
        """By every copy of the context that may be read, in the order of `copies`."""
        return tuple(self.table.moments(lag) for lag in self.copies) if self.has_context else (self.everything,)

    @cached_property
    def everything(self) -> Moments:
        """Of all rows."""
        return Moments.of_rows(self.table.values, np.zeros(len(self.table.row), dtype=np.int64), 1)

    @cached_property
    def pooled(self) -> Floats:
        """The covariance of all rows."""
        return np.asarray(self.everything.scatter[0] / self.rows)

    @cached_property
    def blocks(self) -> tuple[Blocks, ...]:
        """By every copy of the context."""
        return tuple(_blocks(moments, self.rows) for moments in self.moments) if self.has_context else ()

    @cached_property
    def patterns(self) -> Ints:
        """Every pattern: the masks of its blocks, shape (patterns, K); the first is empty, the second is everything."""
        return _patterns(self.contexts)

    def status(self, node: int, before: int, lags: int | None = None) -> Ints:
        """Which columns are closed, open or forced for a system variable after the nodes of the bit mask `before`."""
        d, most = self.variables, self.table.lags if lags is None else lags
        status = np.full(self.table.width, OPEN, dtype=np.int64)
        for lag in range(self.table.lags + 1):
            for cause in range(d):
                place = lag * d + cause
                reachable = lag <= most and (lag > 0 or before >> cause & 1)
                status[place] = (
                    FORCED if self.allowed.must[lag, cause, node] and reachable
                    else OPEN if reachable and self.allowed.may[lag, cause, node] else CLOSED
                )  # fmt: skip
        status[node] = CLOSED
        status[self.table.scale <= 0.0] = CLOSED
        return status


def _blocks(moments: Moments, rows: float) -> Blocks:
    contexts, width = moments.mean.shape
    total = 1 << contexts
    n, own, within = np.zeros(total), np.zeros((total, width, width)), np.zeros((total, width, width))
    for mask in range(1, total):
        members = [r for r in range(contexts) if mask >> r & 1]
        merged = moments.merged(members)
        n[mask] = merged.rows[0]
        own[mask] = merged.scatter[0] / max(n[mask], 1.0)
        within[mask] = moments.scatter[members].sum(axis=0) / rows
    return Blocks(n, own, within)


def _patterns(contexts: int) -> Ints:
    everything = (1 << contexts) - 1
    if contexts <= ALL_PATTERNS:
        found = [tuple(blocks) for blocks in _partial_partitions(everything)]
    else:
        masks = range(1, everything + 1)
        halves = [(mask, everything ^ mask) for mask in masks if mask < everything ^ mask]
        found = [(), *((mask,) for mask in masks), *halves, tuple(1 << r for r in range(contexts))]
    rest = sorted({tuple(sorted(blocks)) for blocks in found} - {(), (everything,)}, key=lambda b: (len(b), b))
    table = np.zeros((len(rest) + 2, max(contexts, 2)), dtype=np.int64)
    for number, blocks in enumerate([(), (everything,), *rest]):
        table[number, : len(blocks)] = blocks
    return table


def _partial_partitions(rest: int) -> list[list[int]]:
    """Every set of disjoint blocks of the contexts in a mask."""
    if rest == 0:
        return [[]]
    lowest = rest & -rest
    found = _partial_partitions(rest ^ lowest)
    others = rest ^ lowest
    some = others
    while True:
        found += [[lowest | some, *more] for more in _partial_partitions(others ^ some)]
        if some == 0:
            return found
        some = (some - 1) & others
