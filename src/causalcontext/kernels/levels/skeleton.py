"""One level of the skeleton, and the votes on its colliders, as single compiled calls.

Contexts share what they can: a set is tested once in a view, for all graphs in which it is a candidate. Graphs are
bits of an integer, and a variable carries the bits of the graphs in which it may be conditioned on. One more bit, above
those of the graphs, stands for their union: it answers for the pairs that hold the context, which all graphs share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from causalcontext.kernels.levels.gaussian import (
    CONTEXT_CHANGE,
    EVERY_CONTEXT,
    ONE_VIEW,
    TESTABLE,
    Statistics,
    Workspace,
    evaluate,
    extend,
    start,
    tail,
)
from causalcontext.kernels.levels.projection import next_combination

Ints = NDArray[np.int64]

# columns of Ledger.numbers and Ledger.facts
P, STATISTIC, DF = 0, 1, 2
ROWS, VIEW, SIZE, REASON, UNTESTED, SEPARATED, CUT, LABEL = 0, 1, 2, 3, 4, 5, 6, 7
FACTS = 8
"""`LABEL` is the place of the test among the labels of the prepared test; here the mode of the question."""
GIVEN_CONTEXT = -1
"""The view of a set that holds the context in a search over all rows: every context, combined."""
MOST_SETS = 100_000
"""Sets of one size that are tried among the neighbours of one variable. Larger neighbourhoods are cut short there."""


class Records(NamedTuple):
    """The deciding test of every graph and pair; all arrays have the shape (graphs, pairs, columns)."""

    numbers: NDArray[np.float64]
    facts: NDArray[np.int32]
    given: NDArray[np.int16]


class Candidates(NamedTuple):
    """Who may be conditioned on: `system[i, z]` has the bits of the graphs in which z may serve variable i.

    `system` leaves the context out, `context` is the context's own column of bits, `plain_view` and `context_view` say
    for every graph which rows answer a set without and with the context in it.
    """

    system: Ints
    context: Ints
    plain_view: Ints
    context_view: Ints


@njit(cache=True, nogil=True)
def search_pairs(data: Statistics, alpha: float, level: int, context: int, first: Ints, second: Ints, slot: Ints,
                 active: Ints, candidates: Candidates, records: Records, work: Workspace) -> Ints:  # fmt: skip
    """Look for a separating set of `level` variables for every pair; the number of tests on all rows and on some.

    Sets without the context come first, from the neighbours of the first variable, then of the second. For every
    graph the first separating set in this order wins; the graphs that are still `active` stop there.
    """
    tests = np.zeros(2, dtype=np.int64)
    for k in range(first.size):
        x, y = first[k], second[k]
        if x == context or y == context:
            system = y if x == context else x
            _scan_sides(data, alpha, CONTEXT_CHANGE, 0, context, context, system, level, False, active[k],
                        candidates, records, slot[k], work, tests)  # fmt: skip
            continue
        left = active[k]
        done = 0
        for g in range(candidates.plain_view.size):
            view = candidates.plain_view[g]
            same = _graphs_with_view(candidates.plain_view, view) & left & ~done
            if same & (1 << g):
                done |= same
                remaining = _scan_sides(data, alpha, ONE_VIEW, view, context, x, y, level, False, same, candidates,
                                        records, slot[k], work, tests)  # fmt: skip
                left &= ~(same & ~remaining)
        if context < 0 or level == 0:
            continue
        for g in range(candidates.plain_view.size):
            if left & (1 << g):
                view = candidates.context_view[g]
                mode = EVERY_CONTEXT if view == GIVEN_CONTEXT else ONE_VIEW
                _scan_sides(data, alpha, mode, view, context, x, y, level, True, 1 << g, candidates, records,
                            slot[k], work, tests)  # fmt: skip
    return tests


@njit(cache=True, nogil=True)
def _graphs_with_view(views: Ints, view: int) -> int:
    bits = 0
    for g in range(views.size):
        if views[g] == view:
            bits |= 1 << g
    return bits


@njit(cache=True, nogil=True)
def _scan_sides(data: Statistics, alpha: float, mode: int, view: int, context: int, x: int, y: int, level: int,
                with_context: bool, active: int, candidates: Candidates, records: Records, slot: int,
                work: Workspace, tests: Ints) -> int:  # fmt: skip
    """Scan the sets from both neighbourhoods; the graphs that found no separating set."""
    scanned = 0
    size = level - 1 if with_context else level
    for side in range(2):
        node, other = (x, y) if side == 0 else (y, x)
        open_here = active & candidates.context[node] if with_context else active
        open_here = _small_enough(candidates.system, node, x, y, size, level, open_here, records.facts, slot)
        if open_here == 0:
            continue
        found = _scan(data, alpha, mode, view, context, x, y, node, other, level, with_context, open_here, scanned,
                      candidates.system, records, slot, work, tests)  # fmt: skip
        scanned = open_here
        active &= ~found
    return active


@njit(cache=True, nogil=True)
def _scan(data: Statistics, alpha: float, mode: int, view: int, context: int, x: int, y: int, node: int, other: int,
          level: int, with_context: bool, active: int, skipped: int, system: Ints, records: Records, slot: int,
          work: Workspace, tests: Ints) -> int:  # fmt: skip
    """Test the subsets of one neighbourhood in lexicographic order; the graphs that found a separating set.

    `skipped` are the graphs for which the sets inside the other variable's neighbourhood were tested before.
    """
    size = level - 1 if with_context else level
    pool = _pool(system, node, x, y, active) if size > 0 else work.given[:0]
    if pool.size < size:
        return 0
    _first_set(work, pool, size)
    work.weakest[:] = 2.0
    start(data, mode, view, x, y, work)
    found, stale = 0, 0
    while True:
        eligible = _eligible(system, node, other, work.given, size, active & ~found, skipped)
        if eligible:
            extend(data, mode, view, x, y, stale, size, work)
            stale = size
            tests[0 if view <= 0 else 1] += 1
            found |= _decide(data, alpha, mode, view, context, x, y, size, with_context, eligible, records, slot, work)
            if found == active:
                return found
        changed = _next_set(work, pool, size)
        if changed < 0:
            return found
        stale = min(stale, changed)


@njit(cache=True, nogil=True)
def _pool(system: Ints, node: int, x: int, y: int, active: int) -> Ints:
    """The variables that may serve `node` in some active graph, in column order."""
    pool = np.empty(system.shape[0], dtype=np.int64)
    count = 0
    for z in range(system.shape[0]):
        if z != x and z != y and system[node, z] & active:
            pool[count] = z
            count += 1
    return pool[:count]


@njit(cache=True, nogil=True)
def combinations(candidates: int, size: int) -> float:
    """The number of sets of `size` among so many candidates."""
    count = 1.0
    for k in range(size):
        count *= (candidates - k) / (k + 1.0)
    return count


@njit(cache=True, nogil=True)
def _small_enough(system: Ints, node: int, x: int, y: int, size: int, level: int, active: int,
                  facts: NDArray[np.int32], slot: int) -> int:  # fmt: skip
    """The graphs in which the sets of this size are few enough; the others note the level at which they were cut."""
    if size <= 1 or combinations(_pool(system, node, x, y, active).size, size) <= MOST_SETS:
        return active
    kept = 0
    for bit in range(facts.shape[0] + 1):
        if not active & (1 << bit):
            continue
        if combinations(_pool(system, node, x, y, 1 << bit).size, size) <= MOST_SETS:
            kept |= 1 << bit
        elif facts[bit % facts.shape[0], slot, CUT] == 0:
            facts[bit % facts.shape[0], slot, CUT] = level
    return kept


@njit(cache=True, nogil=True)
def _first_set(work: Workspace, pool: Ints, size: int) -> None:
    """Let `work.given` hold the first `size` variables of the pool."""
    for j in range(size):
        work.chosen[j] = j
        work.given[j] = pool[j]


@njit(cache=True, nogil=True)
def _next_set(work: Workspace, pool: Ints, size: int) -> int:
    """Let `work.given` hold the next subset of the pool; the first place that changed, or -1 after the last."""
    changed = next_combination(work.chosen, size, pool.size)
    if changed >= 0:
        for j in range(changed, size):
            work.given[j] = pool[work.chosen[j]]
    return changed


@njit(cache=True, nogil=True)
def _eligible(system: Ints, node: int, other: int, given: Ints, size: int, active: int, skipped: int) -> int:
    """The active graphs in which the whole set is a candidate, and was not one for the other variable."""
    before = active & skipped
    for j in range(size):
        active &= system[node, given[j]]
        before &= system[other, given[j]]
    return active & ~before


@njit(cache=True, nogil=True)
def _decide(data: Statistics, alpha: float, mode: int, view: int, context: int, x: int, y: int, size: int,
            with_context: bool, eligible: int, records: Records, slot: int, work: Workspace) -> int:  # fmt: skip
    """Test one set and write it down where it is the weakest evidence so far; the graphs that it separates."""
    statistic, df, rows, reason = evaluate(data, mode, view, x, y, size, work)
    p = -1.0
    found = 0
    graphs = records.facts.shape[0]
    for bit in range(graphs + 1):
        if not eligible & (1 << bit):
            continue
        g = bit % graphs  # the union's bit writes to the first graph; the caller copies it to all
        if reason != TESTABLE:
            _note_untested(records.facts[g, slot], rows, reason)
            continue
        if mode == ONE_VIEW and work.rank[0, size] == size:
            if abs(statistic) >= work.weakest[g]:
                continue
            work.weakest[g] = abs(statistic)
        if p < 0.0:
            p = tail(data, mode, statistic, df)
        if p > records.numbers[g, slot, P]:
            _write(records, g, slot, p, statistic, df, rows, mode, view, context, size, with_context, work.given)
        if p > alpha:
            records.facts[g, slot, SEPARATED] = 1
            found |= 1 << bit
    return found


@njit(cache=True, nogil=True)
def _note_untested(facts: NDArray[np.int32], rows: int, reason: int) -> None:
    facts[UNTESTED] += 1
    if facts[VIEW] < 0:
        facts[ROWS] = rows
        facts[REASON] = reason


@njit(cache=True, nogil=True)
def _write(records: Records, g: int, slot: int, p: float, statistic: float, df: float, rows: int, mode: int, view: int,
           context: int, size: int, with_context: bool, given: Ints) -> None:  # fmt: skip
    records.numbers[g, slot, P] = p
    records.numbers[g, slot, STATISTIC] = statistic
    records.numbers[g, slot, DF] = df
    facts = records.facts[g, slot]
    facts[ROWS] = rows
    facts[VIEW] = max(view, 0)
    facts[REASON] = TESTABLE
    facts[LABEL] = mode
    records.given[g, slot, :] = -1
    for j in range(size):
        records.given[g, slot, j] = given[j]
    if with_context and view == GIVEN_CONTEXT:
        records.given[g, slot, size] = context
        size += 1
    facts[SIZE] = size


@njit(cache=True, nogil=True)
def count_votes(data: Statistics, alpha: float, size: int, context: int, graph: Ints, first: Ints, second: Ints,
                centre: Ints, offset: Ints, with_context: bool, candidates: Candidates, separating: Ints, holding: Ints,
                work: Workspace) -> None:  # fmt: skip
    """Count, for every pair, the candidate sets of `size` system variables that separate it.

    `with_context` also counts these sets with the context added. `separating[k]` gains the number of separating
    sets of pair k, `holding[offset[k] : offset[k + 1]]` how many of them hold each of its possible centres.
    """
    for k in range(first.size):
        x, y, g = first[k], second[k], graph[k]
        middle = centre[offset[k] : offset[k + 1]]
        votes = holding[offset[k] : offset[k + 1]]
        if x == context or y == context:
            system = y if x == context else x
            union = 1 << candidates.plain_view.size
            separating[k] += _vote_sides(data, alpha, CONTEXT_CHANGE, 0, context, context, system, size, False, union,
                                         candidates, middle, votes, work)  # fmt: skip
            continue
        view = candidates.plain_view[g]
        separating[k] += _vote_sides(data, alpha, ONE_VIEW, view, context, x, y, size, False, 1 << g, candidates,
                                     middle, votes, work)  # fmt: skip
        if with_context:
            view = candidates.context_view[g]
            mode = EVERY_CONTEXT if view == GIVEN_CONTEXT else ONE_VIEW
            separating[k] += _vote_sides(data, alpha, mode, view, context, x, y, size, True, 1 << g,
                                         candidates, middle, votes, work)  # fmt: skip


@njit(cache=True, nogil=True)
def _vote_sides(data: Statistics, alpha: float, mode: int, view: int, context: int, x: int, y: int, size: int,
                with_context: bool, graph: int, candidates: Candidates, middle: Ints, votes: Ints,
                work: Workspace) -> int:  # fmt: skip
    """Count the separating sets from both neighbourhoods, each set once."""
    total = 0
    for side in range(2):
        node, other = (x, y) if side == 0 else (y, x)
        allowed = graph & candidates.context[node] if with_context else graph
        skipped = (graph & candidates.context[other] if with_context else graph) if side == 1 else 0
        if allowed:
            total += _vote(data, alpha, mode, view, context, x, y, node, other, size, with_context, graph, skipped,
                           candidates.system, middle, votes, work)  # fmt: skip
    return total


@njit(cache=True, nogil=True)
def _vote(data: Statistics, alpha: float, mode: int, view: int, context: int, x: int, y: int, node: int, other: int,
          size: int, with_context: bool, graph: int, skipped: int, system: Ints, middle: Ints, votes: Ints,
          work: Workspace) -> int:  # fmt: skip
    pool = _pool(system, node, x, y, graph)
    if pool.size < size:
        return 0
    _first_set(work, pool, size)
    start(data, mode, view, x, y, work)
    total, stale = 0, 0
    while True:
        if _eligible(system, node, other, work.given, size, graph, skipped):
            extend(data, mode, view, x, y, stale, size, work)
            stale = size
            statistic, df, _, reason = evaluate(data, mode, view, x, y, size, work)
            if reason == TESTABLE and tail(data, mode, statistic, df) > alpha:
                total += 1
                for m in range(middle.size):
                    votes[m] += _holds(work.given, size, with_context, context, middle[m])
        changed = _next_set(work, pool, size)
        if changed < 0:
            return total
        stale = min(stale, changed)


@njit(cache=True, nogil=True)
def _holds(given: Ints, size: int, with_context: bool, context: int, node: int) -> int:
    if node == context:
        return 1 if with_context else 0
    for j in range(size):
        if given[j] == node:
            return 1
    return 0


@njit(cache=True, nogil=True)
def pack_graphs(adjacency: NDArray[np.bool_], only: NDArray[np.bool_], may: NDArray[np.bool_],
                required: NDArray[np.bool_], begin: int, end: int) -> tuple[Ints, Ints]:  # fmt: skip
    """Bits of the graphs `begin` to `end` in which z may serve i, above them the union's, and in which a pair is open.

    A pair is open in a graph where it is adjacent, in `only`, and not required.
    """
    size = may.shape[0]
    serves = np.zeros((size, size), dtype=np.int64)
    pairs = np.zeros((size, size), dtype=np.int64)
    for g in range(adjacency.shape[0]):
        inside = begin <= g < end
        for i in range(size):
            for j in range(size):
                if not adjacency[g, i, j]:
                    continue
                if may[j, i]:
                    serves[i, j] |= 1 << (end - begin)
                    if inside:
                        serves[i, j] |= 1 << (g - begin)
                if inside and only[g, i, j] and not required[i, j]:
                    pairs[i, j] |= 1 << (g - begin)
    return serves, pairs


@njit(cache=True, nogil=True)
def choose_pairs(candidates: Candidates, pairs: Ints, first: Ints, second: Ints, context: int,
                 shared: int, level: int) -> tuple[Ints, Ints, int]:  # fmt: skip
    """The pairs with enough candidates for sets of `level` variables, their graphs, and the most candidates.

    Pairs with the context are answered for by the bit `shared`, or left out if there is none.
    """
    system, with_context = candidates.system, candidates.context != 0
    count = with_context.astype(np.int64)
    for i in range(count.size):
        for j in range(count.size):
            count[i] += system[i, j] != 0
    slots = np.empty(first.size, dtype=np.int64)
    active = np.empty(first.size, dtype=np.int64)
    found, most = 0, 0
    for k in range(first.size):
        x, y = first[k], second[k]
        bits = pairs[x, y]
        reach = max(count[x] - (system[x, y] != 0), count[y] - (system[y, x] != 0))
        if (x == context or y == context) and bits != 0:
            other = y if x == context else x
            bits = shared
            reach = max(count[other] - with_context[other], count[context] - (system[context, other] != 0))
        if bits != 0 and reach >= level:
            slots[found], active[found] = k, bits
            found += 1
            most = max(most, reach)
    return slots[:found], active[:found], most
