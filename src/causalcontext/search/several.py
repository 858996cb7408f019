"""Algorithm 1 with several context variables: a question is asked where those in its conditions have their value.

The context variables among the conditions are fixed, the others stay pooled, and one graph is searched for every
combination of values that occurs. Combinations that ask the same questions about a pair are answered once, so the
number of tests grows with the context variables near a pair, not with the combinations (paper, App. "Complexity").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from causalcontext.independence.protocol import PreparedTest
from causalcontext.kernels.levels.skeleton import VIEW, Candidates, Records
from causalcontext.questions import Trial
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
        self._context_set = frozenset(contexts)
        self._votes: dict[tuple[Any, ...], tuple[int, Ints]] = {}

    def search_pairs(self, alpha: float, level: int, first: Ints, second: Ints, slot: Ints, active: Ints,
                     candidates: Candidates, records: Records) -> Ints:  # fmt: skip
        """Look for separating sets, once for all graphs that ask the same questions about a pair."""
        leaders = np.zeros_like(active)
        followers: list[tuple[int, int, int]] = []
        for k, (x, y) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            known: dict[tuple[bytes, ...], int] = {}
            for bit in _bits(int(active[k])):
                questions = self._questions(x, y, bit, candidates) if level > 0 else ()
                leader = known.setdefault(questions, bit)
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

    def count_votes(self, alpha: float, size: int, graph: Ints, first: Ints, second: Ints, centre: Ints, offset: Ints,
                    with_context: bool, candidates: Candidates, separating: Ints, holding: Ints) -> None:  # fmt: skip
        """Count the sets that separate each pair, once for all graphs that ask the same questions about it."""
        for k in range(first.size):
            part = slice(offset[k], offset[k + 1])
            asked = self._questions(int(first[k]), int(second[k]), int(graph[k]), candidates)
            key = (int(first[k]), int(second[k]), size, centre[part].tobytes(), *asked)
            if key not in self._votes:
                total, held = np.zeros(1, dtype=np.int64), np.zeros(centre[part].size, dtype=np.int64)
                one = slice(k, k + 1)
                super().count_votes(alpha, size, graph[one], first[one], second[one], centre[part],
                                    np.array([0, held.size]), False, candidates, total, held)  # fmt: skip
                self._votes[key] = (int(total[0]), held)
            separating[k] += self._votes[key][0]
            holding[part] += self._votes[key][1]

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
        if self._context_set.isdisjoint(given):
            return Trial(x, y, given)
        values = self.codes[self._cell(bit, candidates)]
        where = tuple((c, int(v)) for c, v in zip(self.contexts, values, strict=True) if c in given)
        return Trial(x, y, tuple(z for z in given if z not in self._context_set), where)

    def _written(self, trial: Trial, view: int) -> tuple[int, tuple[int, ...]]:
        """A fixed context variable is written down as a condition, the view as that of the graph's own cell."""
        fixed = tuple(column for column, _ in trial.where)
        return (view if fixed else 0), (*trial.given, *fixed)


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
