"""The deciding test of every pair in every graph: the separating one, or else the weakest evidence for the edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.levels.skeleton import FACTS, SEPARATED, SIZE, VIEW, P, Records

Ints = NDArray[np.int64]


@dataclass
class Ledger:
    """Records of all pairs `i < j`, in row order; grows with the size of the conditioning sets.

    Attributes
    ----------
    variables, graphs : int
    first, second : arrays of int, shape (pairs,)
        The two variables of every pair.
    records : Records
        Arrays of shape (graphs, pairs, ...), written by the kernels.
    tests : array of int, shape (2,)
        Tests run on all rows, and on the rows of one context.
    """

    variables: int
    graphs: int
    first: Ints
    second: Ints
    records: Records
    tests: Ints

    @classmethod
    def empty(cls, variables: int, graphs: int) -> Ledger:
        """A ledger in which nothing has been tested."""
        first, second = _pairs(variables)
        numbers = np.full((graphs, first.size, 3), np.nan)
        numbers[:, :, P] = -1.0
        facts = np.zeros((graphs, first.size, FACTS), dtype=np.int32)
        facts[:, :, VIEW] = -1
        given = np.full((graphs, first.size, 1), -1, dtype=np.int16)
        return cls(variables, graphs, first, second, Records(numbers, facts, given), np.zeros(2, dtype=np.int64))

    def make_room(self, size: int) -> None:
        """Let records hold conditioning sets of `size` variables."""
        given = self.records.given
        if given.shape[2] < size:
            wider = np.full((*given.shape[:2], size), -1, dtype=np.int16)
            wider[:, :, : given.shape[2]] = given
            self.records = self.records._replace(given=wider)

    def slot(self, x: int, y: int) -> int:
        """The place of a pair."""
        i, j = min(x, y), max(x, y)
        return i * (2 * self.variables - i - 1) // 2 + j - i - 1

    def separated(self) -> NDArray[np.bool_]:
        """True for the pairs that some set separates, shape (graphs, pairs)."""
        separated: NDArray[np.bool_] = self.records.facts[:, :, SEPARATED] == 1
        return separated

    def separating_set(self, graph: int, x: int, y: int, context: int) -> tuple[int, ...] | None:
        """The separating set of a pair, the context included if its rows were used; None if there is none."""
        slot = self.slot(x, y)
        facts = self.records.facts[graph, slot]
        if facts[SEPARATED] != 1:
            return None
        given = tuple(int(z) for z in self.records.given[graph, slot, : facts[SIZE]])
        return (*given, context) if facts[VIEW] > 0 else given

    def of_graphs(self, graphs: slice) -> Records:
        """The records of some graphs, sharing memory."""
        numbers, facts, given = self.records
        return Records(numbers[graphs], facts[graphs], given[graphs])

    def share(self, pairs: Ints) -> None:
        """Copy the records of these pairs from the first graph to all others."""
        for array in self.records:
            array[1:, pairs] = array[0, pairs]

    def remove_separated(self, graphs: NDArray[np.bool_]) -> None:
        """Take the edges out of the graphs, shape (graphs, N, N), for which there is a separating set."""
        g, pair = np.nonzero(self.separated())
        graphs[g, self.first[pair], self.second[pair]] = False
        graphs[g, self.second[pair], self.first[pair]] = False


@lru_cache(maxsize=1)
def _pairs(variables: int) -> tuple[Ints, Ints]:
    """All pairs `i < j`, in row order."""
    return np.triu_indices(variables, 1)
