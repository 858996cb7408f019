"""How a prepared test searches a level: by its own kernel, in batches of trials, or each for some of the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalcontext.independence.protocol import PreparedTest
from causalcontext.kernels.levels.skeleton import Candidates, Records
from causalcontext.search.batches import BatchedSearch
from causalcontext.search.levels import LevelSearch

Ints = NDArray[np.int64]


def level_search(prepared: PreparedTest, context: int, n_jobs: int = 1) -> LevelSearch:
    """The test itself if it has a compiled level search, else one in batches, at least for pairs at the context."""
    if hasattr(prepared, "search_pairs"):
        return prepared  # type: ignore[return-value]
    batched = BatchedSearch(prepared, context, n_jobs)
    compiled: LevelSearch | None = getattr(prepared, "compiled", None)
    return batched if compiled is None else SplitSearch(compiled, batched, context)


class SplitSearch:
    """Pairs of system variables go to a compiled search, pairs that hold the context to one in batches."""

    def __init__(self, compiled: LevelSearch, batched: BatchedSearch, context: int) -> None:
        self.compiled, self.batched, self.context = compiled, batched, context

    def search_pairs(self, alpha: float, level: int, first: Ints, second: Ints, slot: Ints, active: Ints,
                     candidates: Candidates, records: Records) -> Ints:  # fmt: skip
        """Look for separating sets of `level` variables for every pair, writing to `records`."""
        tests = np.zeros(2, dtype=np.int64)
        for search, chosen in self._parts(first, second):
            if chosen.size:
                tests += search.search_pairs(alpha, level, first[chosen], second[chosen], slot[chosen], active[chosen],
                                             candidates, records)  # fmt: skip
        return tests

    def count_votes(self, alpha: float, size: int, graph: Ints, first: Ints, second: Ints, centre: Ints, offset: Ints,
                    with_context: bool, candidates: Candidates, separating: Ints, holding: Ints) -> None:  # fmt: skip
        """Count the sets of `size` system variables that separate each pair, and those that hold each centre."""
        for search, chosen in self._parts(first, second):
            if not chosen.size:
                continue
            places = np.concatenate([np.arange(offset[k], offset[k + 1]) for k in chosen])
            ends = np.concatenate([[0], np.cumsum(np.diff(offset)[chosen])])
            votes, held = separating[chosen], holding[places]
            search.count_votes(alpha, size, graph[chosen], first[chosen], second[chosen], centre[places], ends,
                               with_context, candidates, votes, held)  # fmt: skip
            separating[chosen], holding[places] = votes, held

    def _parts(self, first: Ints, second: Ints) -> list[tuple[LevelSearch, NDArray[np.intp]]]:
        at_context = (first == self.context) | (second == self.context)
        return [(self.compiled, np.flatnonzero(~at_context)), (self.batched, np.flatnonzero(at_context))]
