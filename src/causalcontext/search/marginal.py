"""Level 0 of the linear-Gaussian tests: every pair of system variables at once, from a matrix of correlations.

Nothing is written down about a pair that the empty set separates in every graph: its record is made again if somebody
asks for it.
"""

from __future__ import annotations

import numpy as np

from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.levels.marginal import answer_pairs, bounds, list_survivors
from causalcontext.kernels.levels.skeleton import Decisions, no_decisions
from causalcontext.kernels.threads import in_threads

PAIRS_PER_CALL = 1_000_000
"""Pairs that a call of the kernel looks at, so that Ctrl-C is heard."""


class Marginal:
    """What the empty set separates.

    Parameters
    ----------
    prepared : PreparedGaussian
    views : array of int, shape (graphs,)
        The view that answers in every graph.
    asked : array of bool, shape (N, N)
        Pairs of system variables.
    """

    def __init__(self, prepared: PreparedGaussian, views: Ints, asked: Bools) -> None:
        self.prepared, self.views = prepared, views
        self._size, self._asked = len(asked), np.packbits(asked, axis=1)

    def survivors(self, alpha: float, n_jobs: int = 1) -> tuple[Ints, Ints]:
        """The pairs that are not separated in all graphs, in row order."""
        places = np.unique(self._places())  # which makes room for the views
        data, size = self.prepared.views(0), self._size
        known = bounds(data, places, alpha)
        step = max(1, PAIRS_PER_CALL // size)

        def of_rows(begin: int) -> Ints:
            asked = np.unpackbits(self._asked[begin : begin + step], axis=1, count=size).view(bool)
            room = np.empty((2, asked.size), dtype=np.int64)
            count = list_survivors(data, known, asked, begin, room)
            return room[:, :count].copy()

        first, second = np.concatenate(list(in_threads(of_rows, range(0, size, step), n_jobs)), axis=1)
        return first, second

    def separates(self, first: Ints, second: Ints) -> Bools:
        """Whether these pairs, none of which survived, were asked about."""
        bits = self._asked[first, second >> 3] >> (7 - (second & 7)).astype(np.uint8)
        return np.asarray(bits & 1 == 1)

    def decisions(self, first: Ints, second: Ints) -> Decisions:
        """The decisions on such pairs; of pairs that were not asked about, nothing."""
        found = no_decisions(first.size, self.views.size, 0)
        answer_pairs(self.prepared.views(0), self._places(), first, second, self.separates(first, second), found)
        return found

    def _places(self) -> Ints:
        """Where the moments of every graph's view are."""
        return np.array([self.prepared.place(int(view)) for view in self.views], dtype=np.int64)
