"""The deciding test of every pair in every graph: the separating one, or else the weakest evidence for the edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints, Shorts
from causalcontext.kernels.levels.skeleton import FACTS, MASK, SEPARATED, SIZE, Decisions, P, keep_better


@dataclass
class Ledger:
    """Records of all pairs `i < j`, in row order, as arrays of shape (graphs, pairs, ...).

    Attributes
    ----------
    variables, graphs : int
    first, second : arrays of int, shape (pairs,)
        The two variables of every pair.
    numbers : array, shape (graphs, pairs, 3)
        p-value (-1 before any test), statistic, degrees of freedom.
    facts : array of int32, shape (graphs, pairs, columns)
        As the kernels have them; a set of triggers by its place among the masks of the plan.
    given : array of int16, shape (graphs, pairs, width)
        The other members of the conditioning set, padded with -1; grows with the size of the sets.
    tests : array of int, shape (2,)
        Tests run on all rows, and on the rows of some contexts.
    """

    variables: int
    graphs: int
    first: Ints
    second: Ints
    numbers: Floats
    facts: Codes
    given: Shorts
    tests: Ints

    @classmethod
    def empty(cls, variables: int, graphs: int) -> Ledger:
        """A ledger in which nothing has been tested."""
        first, second = _pairs(variables)
        numbers = np.full((graphs, first.size, 3), np.nan)
        numbers[:, :, P] = -1.0
        facts = np.zeros((graphs, first.size, FACTS), dtype=np.int32)
        facts[:, :, MASK] = -1
        given = np.full((graphs, first.size, 0), -1, dtype=np.int16)
        return cls(variables, graphs, first, second, numbers, facts, given, np.zeros(2, dtype=np.int64))

    def slot(self, x: int, y: int) -> int:
        """The place of a pair."""
        return slot(x, y, self.variables)

    def separated(self) -> Bools:
        """True for the pairs that some set separates, shape (graphs, pairs)."""
        separated: Bools = self.facts[:, :, SEPARATED] == 1
        return separated

    def separating_set(self, graph: int, x: int, y: int) -> tuple[tuple[int, ...], int] | None:
        """The separating set of a pair, triggers apart, and the place of its mask; None if there is none."""
        slot = self.slot(x, y)
        facts = self.facts[graph, slot]
        if facts[SEPARATED] != 1:
            return None
        return tuple(int(z) for z in self.given[graph, slot, : facts[SIZE]]), int(facts[MASK])

    def take(self, decisions: Decisions, places: Ints, leader: Ints, begin: int) -> None:
        """Write decisions down, for the graphs from `begin` on, and for those that take over their answers.

        Parameters
        ----------
        decisions : Decisions
            Of the pairs at these `places`; of a graph that does not lead, they say nothing.
        leader : array of int, shape (graphs,)
            The graph that answers for every graph.
        """
        self._make_room(decisions.given.shape[2])
        for bit in range(decisions.facts.shape[1]):
            if leader[begin + bit] != begin + bit:
                continue
            records = Decisions(self.numbers[begin + bit], self.facts[begin + bit], self.given[begin + bit])
            keep_better(records, places, decisions, bit)
            for g in np.flatnonzero(leader == begin + bit)[1:]:
                for array in (self.numbers, self.facts, self.given):
                    array[g, places] = array[begin + bit, places]

    def remove_separated(self, graphs: Bools) -> None:
        """Take the edges out of the graphs, shape (graphs, N, N), for which there is a separating set."""
        g, pair = np.nonzero(self.separated())
        graphs[g, self.first[pair], self.second[pair]] = False
        graphs[g, self.second[pair], self.first[pair]] = False

    def _make_room(self, size: int) -> None:
        """Let records hold conditioning sets of `size` variables."""
        if self.given.shape[2] < size:
            wider = np.full((*self.given.shape[:2], size), -1, dtype=np.int16)
            wider[:, :, : self.given.shape[2]] = self.given
            self.given = wider


def slot(x: int, y: int, variables: int) -> int:
    """The place of a pair among all pairs `i < j`, in row order."""
    i, j = min(x, y), max(x, y)
    return i * (2 * variables - i - 1) // 2 + j - i - 1


def slots(first: Ints, second: Ints, variables: int) -> Ints:
    """The places of pairs, for arrays of them."""
    i, j = np.minimum(first, second), np.maximum(first, second)
    return np.asarray(i * (2 * variables - i - 1) // 2 + j - i - 1)


@lru_cache(maxsize=1)
def _pairs(variables: int) -> tuple[Ints, Ints]:
    """All pairs `i < j`, in row order."""
    return np.triu_indices(variables, 1)
