"""The deciding test of every pair in every graph: the separating one, or else the weakest evidence
for the edge.

Most pairs of a wide table are separated by the empty set. Sepset records may leave them out: they
hold records of the pairs that they *list*, and know what separated all others at once (`Marginal`),
from which their records are made again on demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints, Shorts
from causalcontext.kernels.levels import skeleton
from causalcontext.kernels.levels.neighbours import Edges, list_edges

if TYPE_CHECKING:
    from causalcontext.search.level_search import Marginal
    from causalcontext.search.plan import Plan

NO_PAIRS = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


@dataclass
class SepsetRecords:
    """Records of pairs `i < j`, in row order, as arrays of shape (graphs, pairs, ...).

    A record has the deciding test of a pair: the set that separated it, or the one with the largest
    p-value. Of wide tables only the pairs are listed that some graph does not separate given
    nothing; `screened` makes the records of all others again if they are asked for, since a table
    of 10,000 columns has 50 million pairs.
    """

    variables: int
    graphs: int
    # first, second: shape (pairs,): the two variables of every listed pair
    first: Ints
    second: Ints
    # shape (pairs,): the numbers of the listed pairs among all pairs; None where all are listed
    slots: Ints | None
    # shape (graphs, pairs, 3): p-value (-1 before any test), statistic, degrees of freedom
    numbers: Floats
    # shape (graphs, pairs, columns): as the kernels have them; a set of triggers by its place among
    # the masks of the plan
    facts: Codes
    # shape (graphs, pairs, width): the other members of the conditioning set, padded with -1; grows
    # with the size of the sets
    given: Shorts
    tests: Ints  # shape (2,): tests run on all rows, and on the rows of some contexts
    screened: Marginal | None = None  # what separated all other pairs

    @classmethod
    def empty(
        cls,
        variables: int,
        graphs: int,
        listed: tuple[Ints, Ints] | None = None,
        screened: Marginal | None = None,
    ) -> SepsetRecords:
        """Records in which nothing has been tested, of all pairs, or of `listed` ones in row order.

        The p-values are -1 until there is a test, and the sets are empty.
        """
        first, second = np.triu_indices(variables, 1) if listed is None else listed
        listed_slots = None if listed is None else slots(*listed, variables)
        numbers = np.full((graphs, first.size, 3), np.nan)
        numbers[:, :, skeleton.P] = -1.0
        facts = np.zeros((graphs, first.size, skeleton.FACTS), dtype=np.int32)
        facts[:, :, skeleton.MASK] = -1
        given = np.full((graphs, first.size, 0), -1, dtype=np.int16)
        tests = np.zeros(2, dtype=np.int64)
        return cls(
            variables, graphs, first, second, listed_slots, numbers, facts, given, tests, screened
        )

    def edges(self, graphs: Bools) -> Edges:
        """The edges that some graph has, none of them between pairs that are not listed."""
        if self.slots is None:
            return list_edges(graphs)
        first, second = self._both_ways
        present = graphs[:, first, second]
        kept = np.flatnonzero(present.any(axis=0))
        return Edges(first[kept], second[kept], present[:, kept])

    @cached_property
    def _both_ways(self) -> tuple[Ints, Ints]:
        """The listed pairs, each of them twice, as (x, y) and (y, x), in row order; shape (2
        pairs,) each.
        """
        first = np.concatenate([self.first, self.second])
        second = np.concatenate([self.second, self.first])
        order = np.lexsort((second, first))
        return first[order], second[order]

    def untested(self, edges: Edges, plan: Plan) -> Bools:
        """True for the edges that are left only because no query about them could be run, shape
        (graphs, edges).

        One that knowledge requires is not among them, nor one that repeats another in time and is
        not asked about.
        """
        slots_of_edges = self.slots_of(edges.first, edges.second)
        unknown = self.facts[:, slots_of_edges, skeleton.MASK] < 0
        untested = edges.present & unknown & ~plan.links.required[edges.first, edges.second]
        if plan.asked is not None:
            untested &= plan.asked[edges.first, edges.second]
        return np.asarray(untested)

    def slot(self, x: int, y: int) -> int:
        """The place of a pair in these records; -1 if it is not listed."""
        number = slot(x, y, self.variables)
        if self.slots is None:
            return number
        index = int(np.searchsorted(self.slots, number))
        return index if index < self.slots.size and self.slots[index] == number else -1

    def slots_of(self, first: Ints, second: Ints) -> Ints:
        """The places of pairs in these records, all of them listed."""
        wanted = slots(first, second, self.variables)
        return wanted if self.slots is None else np.searchsorted(self.slots, wanted)

    def separated(self) -> Bools:
        """True for the listed pairs that some set separates, shape (graphs, pairs)."""
        return np.asarray(self.facts[:, :, skeleton.SEPARATED] == 1)

    def are_separated(self, graph: Ints, x: Ints, y: Ints) -> Bools:
        """True for the pairs that some set separates, each in its graph; shape (pairs,)."""
        wanted = slots(x, y, self.variables)
        if self.slots is None:
            return np.asarray(self.facts[graph, wanted, skeleton.SEPARATED] == 1)
        index = np.minimum(np.searchsorted(self.slots, wanted), max(self.slots.size - 1, 0))
        listed = np.zeros(wanted.size, dtype=bool)
        if self.slots.size:
            listed = self.slots[index] == wanted
        separated = np.zeros(wanted.size, dtype=bool)
        separated[listed] = self.facts[graph[listed], index[listed], skeleton.SEPARATED] == 1
        if self.screened is not None:
            first = np.minimum(x, y)[~listed]
            second = np.maximum(x, y)[~listed]
            separated[~listed] = self.screened.separates(first, second)
        return separated

    def separating_set(self, graph: int, x: int, y: int) -> tuple[tuple[int, ...], int] | None:
        """The separating set of a pair, triggers apart, and the place of its mask; None if there is
        none.

        A pair that is not listed was separated by the empty set, whose mask is the first.
        """
        slot = self.slot(x, y)
        if slot < 0:
            first = np.array([min(x, y)])
            second = np.array([max(x, y)])
            if self.screened is not None and self.screened.separates(first, second)[0]:
                return (), 0
            return None
        facts = self.facts[graph, slot]
        if facts[skeleton.SEPARATED] != 1:
            return None
        members = self.given[graph, slot, : facts[skeleton.SIZE]]
        return tuple(int(z) for z in members), int(facts[skeleton.MASK])

    def take(
        self, decisions: skeleton.Decisions, pair_slots: Ints, leader: Ints, begin: int
    ) -> None:
        """Write decisions on pairs at their slots down, for the graphs from `begin` on and those
        they lead.

        A decision replaces a record if it separates, or is weaker evidence for the edge than the
        record. `leader`, shape (graphs,), is the graph that answers for every graph; of one that
        does not lead, decisions say nothing, and its records are copied.
        """
        graphs, pairs, width = self.given.shape
        if width < decisions.given.shape[2]:
            wider = np.full((graphs, pairs, decisions.given.shape[2]), -1, dtype=np.int16)
            wider[:, :, :width] = self.given
            self.given = wider
        for bit in range(decisions.facts.shape[1]):
            if leader[begin + bit] != begin + bit:
                continue
            records = skeleton.Decisions(
                self.numbers[begin + bit], self.facts[begin + bit], self.given[begin + bit]
            )
            skeleton.keep_better(records, pair_slots, decisions, bit)
            for g in np.flatnonzero(leader == begin + bit)[1:]:
                for array in (self.numbers, self.facts, self.given):
                    array[g, pair_slots] = array[begin + bit, pair_slots]

    def remove_separated(self, graphs: Bools) -> None:
        """Take the edges out of the graphs, shape (graphs, N, N), for which there is a separating
        set.
        """
        g, pair = np.nonzero(self.separated())
        graphs[g, self.first[pair], self.second[pair]] = False
        graphs[g, self.second[pair], self.first[pair]] = False

    def records(self) -> skeleton.Decisions:
        """The records of the listed pairs, shapes (graphs, pairs, ...)."""
        return skeleton.Decisions(self.numbers, self.facts, self.given)

    def unlisted(self, first: Ints, second: Ints) -> skeleton.Decisions:
        """The records of pairs that are not listed, made again; shapes (graphs, pairs, ...)."""
        if self.screened is None:
            decisions = skeleton.no_decisions(first.size, self.graphs, 0)
        else:
            decisions = self.screened.decisions(first, second)
        return skeleton.Decisions(
            decisions.numbers.swapaxes(0, 1),
            decisions.facts.swapaxes(0, 1),
            decisions.given.swapaxes(0, 1),
        )

    def cut_short(self, pairs: Sequence[tuple[int, int]], size: int) -> None:
        """Note for these pairs the size of sets from which on not all were tried."""
        for slot in (self.slot(x, y) for x, y in pairs):
            if slot >= 0:
                incomplete_from = self.facts[:, slot, skeleton.CUT]
                incomplete_from[incomplete_from == 0] = size


def slot(x: int, y: int, variables: int) -> int:
    """The number of a pair among all pairs `i < j`, in row order: i (2 N - i - 1) / 2 + j - i
    - 1.
    """
    i = min(x, y)
    j = max(x, y)
    return i * (2 * variables - i - 1) // 2 + j - i - 1


def slots(first: Ints, second: Ints, variables: int) -> Ints:
    """The numbers of pairs among all pairs, for arrays of them; the order in a pair does not
    matter.
    """
    i = np.minimum(first, second)
    j = np.maximum(first, second)
    return np.asarray(i * (2 * variables - i - 1) // 2 + j - i - 1)


def pairs_at(numbers: Ints, variables: int) -> tuple[Ints, Ints]:
    """The pairs `i < j` with these numbers among all pairs."""
    starts = slots(np.arange(variables), np.arange(variables) + 1, variables)
    first = np.searchsorted(starts, numbers, side="right") - 1
    return first, numbers - starts[first] + first + 1
