"""One level of the skeleton, and the votes on its colliders, as single compiled calls.

Contexts share what they can: a set is tested once on a sheet of rows, for all graphs in which it is a candidate. Graphs
are bits of an integer, and a neighbour carries the bits of the graphs in which it may be conditioned on. Columns that
switch the rows (*triggers*: context variables, or the column that an indicator is made of) are enumerated apart from
the others: a *mask* is a set of triggers, and the sets of a mask are answered on the sheet of (graph, mask).

A call returns the deciding set of every pair and graph (`Decisions`); who keeps records, and where, is not known here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from causalcontext.kernels.levels.gaussian import (
    CHOSEN,
    GIVEN,
    MINE,
    ONE_VIEW,
    POOL,
    TESTABLE,
    THEIRS,
    Question,
    Sheets,
    Views,
    Workspace,
    answer_set,
    label_of,
    start,
    tail,
)
from causalcontext.kernels.levels.projection import next_combination

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

P, STATISTIC, DF = 0, 1, 2
ROWS, MASK, SIZE, REASON, UNTESTED, SEPARATED, CUT, LABEL = 0, 1, 2, 3, 4, 5, 6, 7
FACTS = 8
"""Columns of `Decisions.numbers` and `Decisions.facts`; the mask is -1 where nothing could be tested."""
MOST_SETS = 100_000
"""Sets of one size that are tried among the neighbours of one variable. Larger neighbourhoods are cut short there."""


class Neighbours(NamedTuple):
    """Who may be conditioned on for the sake of a variable, and in which graphs.

    Attributes
    ----------
    start : array of int, shape (N + 1,)
        Variable i has the neighbours `columns[start[i] : start[i + 1]]`, in column order, triggers not among them.
    columns, graphs : arrays of int, shape (neighbours,)
        Their columns, and the bits of the graphs in which they may serve.
    triggers : array of int, shape (N, triggers)
        The bits of the graphs in which a trigger may serve a variable.
    """

    start: Ints
    columns: Ints
    graphs: Ints
    triggers: Ints


class Masks(NamedTuple):
    """Sets of triggers, smallest first.

    Attributes
    ----------
    bits, size : arrays of int, shape (masks,)
        Which triggers, and how many.
    kept : array of int, shape (masks, most)
        System columns that a mask leaves among the conditions, padded with -1.
    sheet : array of int, shape (graphs, masks)
        Which rows answer.
    own : array of int, shape (N,)
        The bit of the trigger that a column is, 0 for others.
    """

    bits: Ints
    size: Ints
    kept: Ints
    sheet: Ints
    own: Ints


class Level(NamedTuple):
    """All that the pairs of a level have in common."""

    data: Views
    sheets: Sheets
    neighbours: Neighbours
    masks: Masks
    alpha: float
    size: int


class Pairs(NamedTuple):
    """Pairs of variables, and the bits of the graphs in which they are asked about."""

    first: Ints
    second: Ints
    active: Ints


class Decisions(NamedTuple):
    """The deciding set of every pair and graph: the separating one, else the one with the largest p-value.

    Attributes
    ----------
    numbers : array, shape (pairs, graphs, 3)
    facts : array of int32, shape (pairs, graphs, `FACTS`)
    given : array of int16, shape (pairs, graphs, width)
        The members that are not triggers, padded with -1.
    """

    numbers: NDArray[np.float64]
    facts: NDArray[np.int32]
    given: NDArray[np.int16]


class Subject(NamedTuple):
    """What a run of sets is about: a pair, whose neighbours are tried, how many at a time, with which mask."""

    x: int
    y: int
    node: int
    mask: int
    size: int
    kept: int


def no_decisions(pairs: int, graphs: int, width: int) -> Decisions:
    """Room for the decisions on so many pairs."""
    numbers = np.full((pairs, graphs, 3), np.nan)
    numbers[:, :, P] = -1.0
    facts = np.zeros((pairs, graphs, FACTS), dtype=np.int32)
    facts[:, :, MASK] = -1
    return Decisions(numbers, facts, np.full((pairs, graphs, width), -1, dtype=np.int16))


@njit(cache=True, nogil=True)
def search_pairs(level: Level, pairs: Pairs, decisions: Decisions, work: Workspace) -> Ints:
    """Look for a separating set of `level.size` variables for every pair; the number of tests on all rows and on some.

    Sets without triggers come first, from the neighbours of the first variable, then of the second. For every graph the
    first separating set in this order wins; the graphs that are still active stop there.
    """
    tests = np.zeros(2, dtype=np.int64)
    for k in range(pairs.first.size):
        x, y = pairs.first[k], pairs.second[k]
        left = pairs.active[k]
        for m in range(level.masks.bits.size):
            if left == 0:
                break
            if not _mask_fits(level, m, x, y):
                continue
            done = 0
            for g in range(level.masks.sheet.shape[0]):
                if left & ~done & (1 << g):
                    same = _same_sheet(level.masks.sheet, g, m) & left & ~done
                    done |= same
                    left &= ~_scan_sides(level, k, x, y, m, same, decisions, work, tests)
    return tests


@njit(cache=True, nogil=True)
def _mask_fits(level: Level, m: int, x: int, y: int) -> bool:
    """Whether a mask is small enough for the level, and holds none of the two variables."""
    own = level.masks.own
    return bool(level.masks.size[m] <= level.size and level.masks.bits[m] & (own[x] | own[y]) == 0)


@njit(cache=True, nogil=True)
def _same_sheet(sheet: Ints, g: int, m: int) -> int:
    bits = 0
    for h in range(g, sheet.shape[0]):
        if sheet[h, m] == sheet[g, m]:
            bits |= 1 << h
    return bits


@njit(cache=True, nogil=True)
def _serving(level: Level, node: int, m: int, active: int) -> int:
    """The graphs in which all triggers of a mask may serve a variable."""
    for t in range(level.neighbours.triggers.shape[1]):
        if level.masks.bits[m] & (1 << t):
            active &= level.neighbours.triggers[node, t]
    return active


@njit(cache=True, nogil=True)
def _scan_sides(level: Level, k: int, x: int, y: int, m: int, active: int, decisions: Decisions, work: Workspace,
                tests: Ints) -> int:  # fmt: skip
    """Scan the sets of a mask from both neighbourhoods; the graphs that found a separating set."""
    scanned, found = 0, 0
    size, kept = level.size - level.masks.size[m], _keep(level.masks.kept[m], work.lists[GIVEN])
    for side in range(2):
        node, other = (x, y) if side == 0 else (y, x)
        about = Subject(x, y, node, m, size, kept)
        open_here = _serving(level, node, m, active & ~found)
        count = _fill_pool(level.neighbours, about, other, open_here, work.lists)
        open_here = _small_enough(about.size, count, open_here, level.size, decisions.facts[k], work.lists[MINE])
        if open_here != 0:
            found |= _scan(level, k, about, count, open_here, scanned, decisions, work, tests)
            scanned = open_here
    return found


@njit(cache=True, nogil=True)
def _keep(kept: Ints, given: Ints) -> int:
    """Put the columns that a mask keeps at the head of the set; how many there are."""
    count = 0
    for column in kept:
        if column >= 0:
            given[count] = column
            count += 1
    return count


@njit(cache=True, nogil=True)
def _fill_pool(neighbours: Neighbours, about: Subject, other: int, active: int, lists: Ints) -> int:
    """List the variables that may serve a node in some active graph, with the graphs; how many there are."""
    count, j, end = 0, neighbours.start[other], neighbours.start[other + 1]
    if about.size == 0:
        return 0
    for i in range(neighbours.start[about.node], neighbours.start[about.node + 1]):
        z = neighbours.columns[i]
        if z == about.x or z == about.y or neighbours.graphs[i] & active == 0:
            continue
        while j < end and neighbours.columns[j] < z:
            j += 1
        lists[POOL, count] = z
        lists[MINE, count] = neighbours.graphs[i]
        lists[THEIRS, count] = neighbours.graphs[j] if j < end and neighbours.columns[j] == z else 0
        count += 1
    return count


@njit(cache=True, nogil=True)
def combinations(candidates: int, size: int) -> float:
    """The number of sets of `size` among so many candidates."""
    count = 1.0
    for k in range(size):
        count *= (candidates - k) / (k + 1.0)
    return count


@njit(cache=True, nogil=True)
def _small_enough(size: int, count: int, active: int, level: int, facts: NDArray[np.int32], mine: Ints) -> int:
    """The graphs in which the sets of this size are few enough; the others note the level at which they were cut."""
    if size <= 1 or combinations(count, size) <= MOST_SETS:
        return active
    kept = 0
    for g in range(facts.shape[0]):
        if not active & (1 << g):
            continue
        candidates = 0
        for place in range(count):
            candidates += (mine[place] >> g) & 1
        if combinations(candidates, size) <= MOST_SETS:
            kept |= 1 << g
        elif facts[g, CUT] == 0:
            facts[g, CUT] = level
    return kept


@njit(cache=True, nogil=True)
def _scan(level: Level, k: int, about: Subject, count: int, active: int, skipped: int, decisions: Decisions,
          work: Workspace, tests: Ints) -> int:  # fmt: skip
    """Test the subsets of one neighbourhood in lexicographic order; the graphs that found a separating set.

    `skipped` are the graphs for which the sets inside the other variable's neighbourhood were tested before.
    """
    if count < about.size:
        return 0
    asked, lists, data, sheets = _question(level, about, active), work.lists, level.data, level.sheets
    label, inside = label_of(sheets, asked.sheet), sheets.inside[asked.sheet]
    _first_set(lists, about)
    work.weakest[:] = 2.0
    start(data, sheets, asked.sheet, asked.x, asked.y, work.fit)
    found, stale, length = 0, 0, about.size + about.kept
    given = lists[GIVEN, :length]
    while True:
        eligible = _eligible(lists, about.size, active & ~found, skipped)
        if eligible:
            statistic, df, rows, reason = answer_set(data, sheets, asked, given, stale, work.fit)
            stale = length
            tests[inside] += 1
            if label == ONE_VIEW and reason == TESTABLE and work.fit.rank[0, length] == length:
                eligible = _weakest(eligible, abs(statistic), work.weakest)
            if eligible:
                p = tail(data, label, statistic, df) if reason == TESTABLE else -1.0
                answer = Answer(p, statistic, df, rows, reason, label, 1 if p > level.alpha else 0)
                _write(decisions, k, eligible, answer, about, given)
                if answer.separates:
                    found |= eligible
                    if found == active:
                        return found
        changed = _next_set(lists, about, count)
        if changed < 0:
            return found
        stale = min(stale, changed)


@njit(cache=True, nogil=True)
def _weakest(eligible: int, size: float, weakest: Floats) -> int:
    """The graphs for which no set so far has left a smaller correlation; their smallest one is noted."""
    kept = 0
    for g in range(weakest.size):
        if eligible & (1 << g) and size < weakest[g]:
            weakest[g] = size
            kept |= 1 << g
    return kept


@njit(cache=True, nogil=True)
def _question(level: Level, about: Subject, active: int) -> Question:
    """The pair and the sheet that answers; against a context variable only the other one is looked at."""
    g = 0
    while not active & (1 << g):
        g += 1
    x = about.y if level.sheets.change == 1 else about.x
    return Question(level.masks.sheet[g, about.mask], x, about.y)


@njit(cache=True, nogil=True)
def _first_set(lists: Ints, about: Subject) -> None:
    """Let the set hold what is kept and the first variables of the pool."""
    for j in range(about.size):
        lists[CHOSEN, j] = j
        lists[GIVEN, about.kept + j] = lists[POOL, j]


@njit(cache=True, nogil=True)
def _next_set(lists: Ints, about: Subject, count: int) -> int:
    """Let the set hold the next subset of the pool; the first place that changed, or -1 after the last."""
    changed = next_combination(lists[CHOSEN], about.size, count)
    if changed < 0:
        return -1
    for j in range(changed, about.size):
        lists[GIVEN, about.kept + j] = lists[POOL, lists[CHOSEN, j]]
    return about.kept + changed


@njit(cache=True, nogil=True)
def _eligible(lists: Ints, size: int, active: int, skipped: int) -> int:
    """The active graphs in which the whole set is a candidate, and was not one for the other variable."""
    before = active & skipped
    for j in range(size):
        active &= lists[MINE, lists[CHOSEN, j]]
        before &= lists[THEIRS, lists[CHOSEN, j]]
    return active & ~before


class Answer(NamedTuple):
    """What a test says: p is -1 where it could not be run, `separates` is 1 where p is large."""

    p: float
    statistic: float
    df: float
    rows: int
    reason: int
    label: int
    separates: int


@njit(cache=True, nogil=True)
def _write(decisions: Decisions, k: int, graphs: int, answer: Answer, about: Subject, given: Ints) -> None:
    """Write an answer down for some graphs, where it is the weakest evidence so far."""
    for g in range(decisions.facts.shape[1]):
        if not graphs & (1 << g):
            continue
        facts, numbers = decisions.facts[k, g], decisions.numbers[k, g]
        if answer.reason != TESTABLE:
            facts[UNTESTED] += 1
            if facts[MASK] < 0:
                facts[ROWS], facts[REASON] = answer.rows, answer.reason
            continue
        facts[SEPARATED] |= answer.separates
        if answer.p > numbers[P]:
            numbers[P], numbers[STATISTIC], numbers[DF] = answer.p, answer.statistic, answer.df
            facts[ROWS], facts[MASK], facts[SIZE] = answer.rows, about.mask, about.size
            facts[REASON], facts[LABEL] = TESTABLE, answer.label
            for j in range(decisions.given.shape[2]):
                decisions.given[k, g, j] = given[about.kept + j] if j < about.size else -1


@njit(cache=True, nogil=True)
def keep_better(records: Decisions, places: Ints, decisions: Decisions, g: int) -> None:
    """Carry the decisions of one graph over to its records, shapes (all pairs, ...), at these places.

    The largest p-value of all calls counts; what could not be tested adds up, and has the say where nothing else has.
    """
    for k in range(places.size):
        old, new, place = records.facts[places[k]], decisions.facts[k, g], places[k]
        better = decisions.numbers[k, g, P] > records.numbers[place, P]
        if better or (old[MASK] < 0 and new[UNTESTED] > 0):
            old[ROWS], old[REASON] = new[ROWS], new[REASON]
        if better:
            old[MASK], old[SIZE], old[LABEL] = new[MASK], new[SIZE], new[LABEL]
            records.numbers[place] = decisions.numbers[k, g]
            for j in range(records.given.shape[1]):
                records.given[place, j] = decisions.given[k, g, j] if j < decisions.given.shape[2] else -1
        old[UNTESTED] += new[UNTESTED]
        old[SEPARATED] |= new[SEPARATED]
        if old[CUT] == 0:
            old[CUT] = new[CUT]


class Ballots(NamedTuple):
    """Pairs whose separating sets vote, each in one graph: on the centres from `offset[k]` up to `offset[k + 1]`."""

    graph: Ints
    first: Ints
    second: Ints
    centre: Ints
    offset: Ints


@njit(cache=True, nogil=True)
def count_votes(level: Level, ballots: Ballots, most: int, separating: Ints, holding: Ints, work: Workspace) -> None:
    """Count, for every pair, the sets of `level.size` neighbours (triggers not counted) that separate it.

    Sets with triggers hold at most `most` variables. `separating[k]` gains the number of separating sets of pair k,
    `holding[offset[k] : offset[k + 1]]` how many of them hold each of its possible centres.
    """
    masks, own = level.masks, level.masks.own
    for k in range(ballots.first.size):
        x, y, graph = ballots.first[k], ballots.second[k], 1 << ballots.graph[k]
        middle = slice(ballots.offset[k], ballots.offset[k + 1])
        for m in range(masks.bits.size):
            if masks.bits[m] & (own[x] | own[y]) == 0 and masks.size[m] + level.size <= most:
                separating[k] += _vote_sides(level, x, y, m, graph, ballots.centre[middle], holding[middle], work)


@njit(cache=True, nogil=True)
def _vote_sides(level: Level, x: int, y: int, m: int, graph: int, middle: Ints, votes: Ints,
                work: Workspace) -> int:  # fmt: skip
    """Count the separating sets of a mask from both neighbourhoods, each set once."""
    total, kept, scanned = 0, _keep(level.masks.kept[m], work.lists[GIVEN]), 0
    for side in range(2):
        node, other = (x, y) if side == 0 else (y, x)
        about = Subject(x, y, node, m, level.size, kept)
        if _serving(level, node, m, graph):
            count = _fill_pool(level.neighbours, about, other, graph, work.lists)
            total += _vote(level, about, count, graph, scanned, middle, votes, work)
            scanned = graph
    return total


@njit(cache=True, nogil=True)
def _vote(level: Level, about: Subject, count: int, graph: int, skipped: int, middle: Ints, votes: Ints,
          work: Workspace) -> int:  # fmt: skip
    if count < about.size:
        return 0
    asked, lists, data, sheets = _question(level, about, graph), work.lists, level.data, level.sheets
    label = label_of(sheets, asked.sheet)
    _first_set(lists, about)
    start(data, sheets, asked.sheet, asked.x, asked.y, work.fit)
    total, stale, length = 0, 0, about.size + about.kept
    given = lists[GIVEN, :length]
    inside, outside = 0.0, 2.0  # correlations of sets of full rank that are known to separate, and not to
    while True:
        if _eligible(lists, about.size, graph, skipped):
            statistic, df, _, reason = answer_set(data, sheets, asked, given, stale, work.fit)
            stale, size = length, abs(statistic)
            alike = label == ONE_VIEW and reason == TESTABLE and work.fit.rank[0, length] == length
            if alike and (size <= inside or size >= outside):
                separates = size <= inside
            else:
                separates = reason == TESTABLE and tail(data, label, statistic, df) > level.alpha
                inside = size if alike and separates else inside
                outside = size if alike and not separates else outside
            if separates:
                total += 1
                for place in range(middle.size):
                    votes[place] += _holds(level.masks, about.mask, given[about.kept :], middle[place])
        changed = _next_set(lists, about, count)
        if changed < 0:
            return total
        stale = min(stale, changed)


@njit(cache=True, nogil=True)
def _holds(masks: Masks, mask: int, members: Ints, node: int) -> int:
    if masks.own[node] != 0:
        return 1 if masks.own[node] & masks.bits[mask] else 0
    for member in members:
        if member == node:
            return 1
    return 0


class Share(NamedTuple):
    """Whose answers a graph takes over (`leader[g]`), and the graphs from `begin` up to `end` that are looked at."""

    leader: Ints
    begin: int
    end: int


@njit(cache=True, nogil=True)
def list_neighbours(adjacency: Bools, may: Bools, trigger: Ints, hidden: Bools, share: Share,
                    triggers: int) -> Neighbours:  # fmt: skip
    """Who may serve whom: neighbours that may be causes, in a graph or in any of those that it answers for.

    Parameters
    ----------
    adjacency : array of bool, shape (graphs, N, N)
    may : array of bool, shape (N, N)
        From cause to effect.
    trigger : array of int, shape (N,)
        The number of the trigger that a column is, -1 for others.
    hidden : array of bool, shape (N,)
        Columns that are never conditioned on.
    """
    size = may.shape[0]
    begin = np.zeros(size + 1, dtype=np.int64)
    serving = np.zeros((size, triggers), dtype=np.int64)
    bits = np.zeros(size, dtype=np.int64)
    for i in range(size):
        begin[i + 1] = begin[i] + _row(adjacency, may, share, i, bits, trigger, hidden, serving)
    index, graphs = np.empty(begin[size], dtype=np.int64), np.empty(begin[size], dtype=np.int64)
    for i in range(size):
        _row(adjacency, may, share, i, bits, trigger, hidden, serving)
        place = begin[i]
        for z in range(size):
            if bits[z]:
                index[place], graphs[place] = z, bits[z]
                place += 1
    return Neighbours(begin, index, graphs, serving)


@njit(cache=True, nogil=True)
def _row(adjacency: Bools, may: Bools, share: Share, i: int, bits: Ints, trigger: Ints, hidden: Bools,
         serving: Ints) -> int:  # fmt: skip
    """Fill the bits of those that may serve variable i, triggers apart; how many there are."""
    bits[:] = 0
    for g in range(adjacency.shape[0]):
        leader = share.leader[g]
        if share.begin <= leader < share.end:
            for z in range(bits.size):
                if adjacency[g, i, z] and may[z, i]:
                    bits[z] |= 1 << (leader - share.begin)
    count = 0
    for z in range(bits.size):
        if trigger[z] >= 0:
            serving[i, trigger[z]] = bits[z]
        if trigger[z] >= 0 or hidden[z]:
            bits[z] = 0
        count += bits[z] != 0
    return count


class Wanted(NamedTuple):
    """Which pairs are looked for.

    Attributes
    ----------
    adjacency : array of bool, shape (graphs, N, N)
    required : array of bool, shape (N, N)
        Pairs that are not asked about.
    group : array of int, shape (N,)
        The number of the searched context variable that a column is, -1 for others.
    role : tuple of two int
        The context variables of a pair by these numbers: (-1, -1) for two system variables, (a, -1) for a context
        variable, which comes first, and a system variable, (a, b) for two context variables.
    """

    adjacency: Bools
    required: Bools
    group: Ints
    role: tuple[int, int]


def open_pairs(wanted: Wanted, share: Share) -> Pairs:
    """The pairs of a role that are adjacent and not required, with the bits of the leading graphs where they are."""
    nothing = np.empty(0, dtype=np.int64)
    found = _list_pairs(wanted, share, Pairs(nothing, nothing, nothing))
    pairs = Pairs(*(np.empty(found, dtype=np.int64) for _ in range(3)))
    _list_pairs(wanted, share, pairs)
    return pairs


@njit(cache=True, nogil=True)
def _list_pairs(wanted: Wanted, share: Share, pairs: Pairs) -> int:
    """Write down as many pairs as there is room for; how many there are."""
    found, size, one, two = 0, wanted.group.size, wanted.role[0], wanted.role[1]
    for i in range(size):
        if wanted.group[i] != one:
            continue
        for j in range(i + 1 if one == two else 0, size):
            if wanted.group[j] != two or i == j or wanted.required[i, j]:
                continue
            bits = 0
            for g in range(share.begin, share.end):
                if share.leader[g] == g and wanted.adjacency[g, i, j]:
                    bits |= 1 << (g - share.begin)
            if bits and found < pairs.first.size:
                pairs.first[found], pairs.second[found], pairs.active[found] = i, j, bits
            found += bits != 0
    return found


@njit(cache=True, nogil=True)
def reach(neighbours: Neighbours, pairs: Pairs, trigger: Ints) -> Ints:
    """The most candidates that one of the two variables of every pair has, triggers included."""
    size = neighbours.start.size - 1
    count = neighbours.start[1:] - neighbours.start[:-1]
    for i in range(size):
        for t in range(neighbours.triggers.shape[1]):
            count[i] += neighbours.triggers[i, t] != 0
    most = np.empty(pairs.first.size, dtype=np.int64)
    for k in range(pairs.first.size):
        x, y = pairs.first[k], pairs.second[k]
        most[k] = max(count[x] - _serves(neighbours, x, y, trigger), count[y] - _serves(neighbours, y, x, trigger))
    return most


@njit(cache=True, nogil=True)
def _serves(neighbours: Neighbours, node: int, z: int, trigger: Ints) -> int:
    if trigger[z] >= 0:
        return 1 if neighbours.triggers[node, trigger[z]] else 0
    row = neighbours.columns[neighbours.start[node] : neighbours.start[node + 1]]
    place = np.searchsorted(row, z)
    return 1 if place < row.size and row[place] == z else 0


@njit(cache=True, nogil=True)
def widest_pools(neighbours: Neighbours, graph: Ints, first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """For every (graph, pair) the most candidates that one of the two variables has, and the triggers of either."""
    wide, triggers = np.zeros_like(first), np.zeros_like(first)
    for k in range(first.size):
        x, y, g = first[k], second[k], graph[k]
        for node in (x, y):
            count = 0
            for i in range(neighbours.start[node], neighbours.start[node + 1]):
                z = neighbours.columns[i]
                count += z != x and z != y and (neighbours.graphs[i] >> g) & 1
            wide[k] = max(wide[k], count)
        for t in range(neighbours.triggers.shape[1]):
            triggers[k] += ((neighbours.triggers[x, t] | neighbours.triggers[y, t]) >> g) & 1
    return wide, triggers
