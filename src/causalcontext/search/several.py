"""Algorithm 1 with several context variables: a question is asked where those in its conditions have their value.

The context variables among the conditions are fixed, the others stay pooled, and one graph is searched for every
combination of values that occurs. Combinations that ask the same questions about a pair are answered once, so the
number of tests grows with the context variables near a pair, not with the combinations (paper, App. "Complexity").
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from causalcontext.independence.protocol import PreparedTest
from causalcontext.kernels.levels import VIEW, Candidates, Records
from causalcontext.rules import Trial
from causalcontext.search.batches import BatchedSearch, Ints
from causalcontext.search.plan import NO_CONTEXT


class SeveralSearch(BatchedSearch):
    """Searches one graph for every cell.

    Parameters
    ----------
    prepared : PreparedTest
    contexts : tuple of int
        Positions of the context variables.
    codes : array of int, shape (cells, context variables)
        Their levels in every cell; graph g of a plan with `levels` belongs to cell `levels[g]`.
    """

    def __init__(self, prepared: PreparedTest, contexts: tuple[int, ...], codes: Ints) -> None:
        super().__init__(prepared, NO_CONTEXT)
        self.contexts, self.codes = contexts, codes

    def search_pairs(self, alpha: float, level: int, first: Ints, second: Ints, slot: Ints, active: Ints,
                     candidates: Candidates, records: Records) -> Ints:  # fmt: skip
        """Look for separating sets, once for all graphs that ask the same questions about a pair."""
        leaders = np.zeros_like(active)
        followers: list[tuple[int, int, int]] = []
        for k, (x, y) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            known: dict[tuple[bytes, ...], int] = {}
            for bit in _bits(int(active[k])):
                leader = known.setdefault(self._questions(x, y, bit, candidates), bit)
                if leader == bit:
                    leaders[k] |= 1 << bit
                else:
                    followers.append((bit, leader, int(slot[k])))
        tests = super().search_pairs(alpha, level, first, second, slot, leaders, candidates, records)
        for bit, leader, place in followers:
            for array in records:
                array[bit, place] = array[leader, place]
            if records.facts[bit, place, VIEW] > 0:
                records.facts[bit, place, VIEW] = candidates.plain_view[bit]
        return tests

    def _questions(self, x: int, y: int, bit: int, candidates: Candidates) -> tuple[bytes, ...]:
        """What a graph may ask about a pair: the candidates, and the values of the context variables among them."""
        pools = (candidates.system[[x, y]] >> bit & 1).astype(bool)
        near = pools[:, self.contexts].any(axis=0)
        values = np.where(near, self.codes[self._cell(bit, candidates)], -1)
        return pools.tobytes(), values.tobytes()

    def _cell(self, bit: int, candidates: Candidates) -> int:
        return int(candidates.plain_view[bit]) - 1

    def _trial(self, x: int, y: int, given: tuple[int, ...], bit: int, with_context: bool,
               candidates: Candidates) -> Trial:  # fmt: skip
        values = self.codes[self._cell(bit, candidates)]
        where = tuple((c, int(v)) for c, v in zip(self.contexts, values, strict=True) if c in given)
        return Trial(x, y, tuple(z for z in given if z not in self.contexts), where)

    def _written(self, trial: Trial, view: int) -> tuple[int, tuple[int, ...]]:
        """A fixed context variable is written down as a condition, the view as that of the graph's own cell."""
        fixed = tuple(column for column, _ in trial.where)
        return (view if fixed else 0), (*trial.given, *fixed)


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
