"""One level of the skeleton as a single compiled call.

Contexts share what they can: a set is tested once on a row selection, for all graphs in which it is
a candidate. Graphs are bits of an integer, and a neighbour carries the bits of the graphs in which
it may be conditioned on. Columns that switch the rows (*triggers*: context variables, or the column
that an indicator is made of) are enumerated apart from the others: a *mask* is a set of triggers,
and the sets of a mask are answered on the row selection of (graph, mask).

A call returns the deciding set of every pair and graph (`Decisions`); who keeps records, and where,
is not known here.

The votes on colliders go through the same sets: how many of those that separate a pair hold each
possible centre.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Codes, Floats, Ints, Shorts
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.levels.gaussian import (
    CHOSEN,
    GIVEN,
    MINE,
    ONE_VIEW,
    POOL,
    TESTABLE,
    THEIRS,
    PairQuery,
    RowSelections,
    Views,
    Workspace,
    answer_set,
    label_of,
    start,
    tail,
)
from causalcontext.kernels.levels.neighbours import Neighbours, Pairs
from causalcontext.kernels.limits import TIED

P = 0
STATISTIC = 1
DF = 2
ROWS = 0
MASK = 1
SIZE = 2
REASON = 3
UNTESTED = 4
SEPARATED = 5
CUT = 6
LABEL = 7
FACTS = 8
"""Columns of `Decisions.numbers` and `Decisions.facts`; the mask is -1 where nothing could be
tested.
"""
MOST_SETS = 100_000
"""Sets of one size that are tried among the neighbours of one variable. Larger neighbourhoods are
cut short there.
"""


class Masks(NamedTuple):
    """Sets of triggers, smallest first."""

    # bits, size: shape (masks,): which triggers, and how many
    bits: Ints
    size: Ints
    # shape (masks, most): system columns that a mask leaves among the conditions, padded with -1
    kept: Ints
    selection: Ints  # shape (graphs, masks): which rows answer
    own: Ints  # shape (N,): the bit of the trigger that a column is, 0 for others


class Level(NamedTuple):
    """All that the pairs of a level have in common."""

    data: Views
    selections: RowSelections
    neighbours: Neighbours
    masks: Masks
    alpha: float
    size: int


class Decisions(NamedTuple):
    """The deciding set of every pair and graph: the separating one, else the one with the largest
    p-value.
    """

    numbers: Floats  # shape (pairs, graphs, 3)
    facts: Codes  # shape (pairs, graphs, `FACTS`)
    given: Shorts  # shape (pairs, graphs, width): the members that are not triggers, padded with -1


class Subject(NamedTuple):
    """What a run of sets is about: a pair, whose neighbours are tried, how many at a time, with
    which mask.
    """

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


@kernel
def search_pairs(
    level: Level,
    begin: int,
    end: int,
    pairs: Pairs,
    decisions: Decisions,
    work: Workspace,
    tests: Ints,
) -> None:
    """Look for a separating set of `level.size` variables for these pairs; count tests on all rows
    and on some.

    Sets without triggers come first, from the neighbours of the first variable, then of the second.
    For every graph the first separating set in this order wins; the graphs that are still active
    stop there. On a card a thread takes one pair at a time.
    """
    for k in range(begin, end):
        x = pairs.first[k]
        y = pairs.second[k]
        left = pairs.active[k]
        for m in range(level.masks.bits.size):
            if left == 0:
                break
            if level.masks.size[m] > level.size or level.masks.bits[m] & (
                level.masks.own[x] | level.masks.own[y]
            ):
                continue  # too large for the level, or one of the two variables is in it
            done = 0
            for g in range(level.masks.selection.shape[0]):
                if left & ~done & (1 << g):
                    same = 0  # the graphs that the same rows answer for
                    for h in range(g, level.masks.selection.shape[0]):
                        if level.masks.selection[h, m] == level.masks.selection[g, m]:
                            same |= left & ~done & (1 << h)
                    done |= same
                    left &= ~_scan(level, k, x, y, m, same, decisions, work, tests)


@kernel
def serving_graphs(level: Level, node: int, m: int, active: int) -> int:
    """The graphs in which all triggers of a mask may serve a variable."""
    for t in range(level.neighbours.triggers.shape[1]):
        if level.masks.bits[m] & (1 << t):
            active &= level.neighbours.triggers[node, t]
    return active


@kernel
def _scan(
    level: Level,
    k: int,
    x: int,
    y: int,
    m: int,
    active: int,
    decisions: Decisions,
    work: Workspace,
    tests: Ints,
) -> int:
    """Test the sets of a mask, in lexicographic order, from both neighbourhoods; the graphs that
    found a separating one. A set that is inside both is tested once."""
    data = level.data
    selections = level.selections
    lists = work.lists
    scanned = 0
    found = 0
    size = level.size - level.masks.size[m]
    kept = keep_columns(level.masks.kept[m], lists[GIVEN])
    length = size + kept
    given = lists[GIVEN, :length]
    for side in range(2):
        node, other = (x, y) if side == 0 else (y, x)
        about = Subject(x, y, node, m, size, kept)
        here = serving_graphs(level, node, m, active & ~found)
        count = fill_pool(level.neighbours, about, other, here, lists)
        here = _small_enough(size, count, here, level.size, decisions.facts[k], lists[MINE])
        if here == 0:
            continue
        asked = question_of(level, about, here)
        stale = 0
        changed = 0 if count >= size else -1
        label = label_of(selections, asked.selection)
        inside = selections.inside[asked.selection]
        if changed == 0:
            first_set(lists, about)
            work.weakest[:] = 2.0
            start(data, selections, asked.selection, asked.x, asked.y, work.fit)
        while changed >= 0 and here & ~found:
            eligible = eligible_graphs(lists, size, here & ~found, scanned)
            if eligible:
                statistic, df, rows, reason = answer_set(
                    data, selections, asked, given, stale, work.fit
                )
                stale = length
                tests[inside] += 1
                if label == ONE_VIEW and reason == TESTABLE and work.fit.rank[0, length] == length:
                    eligible = _weakest(eligible, abs(statistic), work.weakest)
                if eligible:
                    p = tail(data.kind, label, statistic, df) if reason == TESTABLE else -1.0
                    answer = SetAnswer(
                        p, statistic, df, rows, reason, label, 1 if p > level.alpha else 0
                    )
                    _write(decisions, k, eligible, answer, about, given)
                    found |= eligible if answer.separates else 0
            changed = next_set(lists, about, count)
            stale = min(stale, changed)
        scanned = here
    return found


@kernel
def keep_columns(kept: Ints, given: Ints) -> int:
    """Put the columns that a mask keeps at the head of the set; how many there are."""
    count = 0
    for column in kept:
        if column >= 0:
            given[count] = column
            count += 1
    return count


@kernel
def fill_pool(neighbours: Neighbours, about: Subject, other: int, active: int, lists: Ints) -> int:
    """List the variables that may serve a node in some active graph, with the graphs; how many
    there are.
    """
    count = 0
    j = neighbours.start[other]
    end = neighbours.start[other + 1]
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


@kernel
def combinations(candidates: int, size: int) -> float:
    """The number of sets of `size` among so many candidates."""
    count = 1.0
    for k in range(size):
        count *= (candidates - k) / (k + 1.0)
    return count


@kernel
def _small_enough(size: int, count: int, active: int, level: int, facts: Codes, mine: Ints) -> int:
    """The graphs in which the sets of this size are few enough; the others note the level at which
    they were cut.
    """
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


@kernel
def _weakest(eligible: int, size: float, weakest: Floats) -> int:
    """The graphs for which no set so far has left a smaller correlation; their smallest one is
    noted.
    """
    kept = 0
    for g in range(weakest.size):
        if eligible & (1 << g) and size < weakest[g] * (1.0 - TIED):
            weakest[g] = size
            kept |= 1 << g
    return kept


@kernel
def question_of(level: Level, about: Subject, active: int) -> PairQuery:
    """The pair and the row selection that answers; against a context variable only the other one is
    looked at.
    """
    g = 0
    while not active & (1 << g):
        g += 1
    x = about.y if level.selections.change == 1 else about.x
    return PairQuery(level.masks.selection[g, about.mask], x, about.y)


@kernel
def first_set(lists: Ints, about: Subject) -> None:
    """Let the set hold what is kept and the first variables of the pool."""
    for j in range(about.size):
        lists[CHOSEN, j] = j
        lists[GIVEN, about.kept + j] = lists[POOL, j]


@kernel
def next_set(lists: Ints, about: Subject, count: int) -> int:
    """Let the set hold the next subset of the pool; the first place that changed, or -1 after the
    last.
    """
    for changed in range(about.size - 1, -1, -1):
        if lists[CHOSEN, changed] < count - about.size + changed:
            lists[CHOSEN, changed] += 1
            for j in range(changed, about.size):
                if j > changed:
                    lists[CHOSEN, j] = lists[CHOSEN, j - 1] + 1
                lists[GIVEN, about.kept + j] = lists[POOL, lists[CHOSEN, j]]
            return int(about.kept + changed)
    return -1


@kernel
def eligible_graphs(lists: Ints, size: int, active: int, skipped: int) -> int:
    """The active graphs in which the whole set is a candidate, and was not one for the other
    variable.
    """
    before = active & skipped
    for j in range(size):
        active &= lists[MINE, lists[CHOSEN, j]]
        before &= lists[THEIRS, lists[CHOSEN, j]]
    return active & ~before


class SetAnswer(NamedTuple):
    """What a test says: p is -1 where it could not be run, `separates` is 1 where p is large."""

    p: float
    statistic: float
    df: float
    rows: int
    reason: int
    label: int
    separates: int


@kernel
def _write(
    decisions: Decisions, k: int, graphs: int, answer: SetAnswer, about: Subject, given: Ints
) -> None:
    """Write an answer down for some graphs, where it is the weakest evidence so far."""
    for g in range(decisions.facts.shape[1]):
        if not graphs & (1 << g):
            continue
        facts = decisions.facts[k, g]
        numbers = decisions.numbers[k, g]
        if answer.reason != TESTABLE:
            facts[UNTESTED] += 1
            if facts[MASK] < 0:
                facts[ROWS] = answer.rows
                facts[REASON] = answer.reason
            continue
        facts[SEPARATED] |= answer.separates
        if answer.separates or answer.p > numbers[P] * (1.0 + TIED):
            numbers[P] = answer.p
            numbers[STATISTIC] = answer.statistic
            numbers[DF] = answer.df
            facts[ROWS] = answer.rows
            facts[MASK] = about.mask
            facts[SIZE] = about.size
            facts[REASON] = TESTABLE
            facts[LABEL] = answer.label
            for j in range(decisions.given.shape[2]):
                decisions.given[k, g, j] = given[about.kept + j] if j < about.size else -1


@kernel
def keep_better(records: Decisions, places: Ints, decisions: Decisions, g: int) -> None:
    """Carry the decisions of one graph over to its records, shapes (all pairs, ...), at these
    places.

    The largest p-value of all calls counts. Tests that could not run are counted, and decide where
    no other ran.
    """
    for k in range(places.size):
        old = records.facts[places[k]]
        new = decisions.facts[k, g]
        place = places[k]
        largest = records.numbers[place, P] * (1.0 + TIED)
        better = new[SEPARATED] > old[SEPARATED] or (
            new[MASK] >= 0 and decisions.numbers[k, g, P] > largest
        )
        if better or (old[MASK] < 0 and new[UNTESTED] > 0):
            old[ROWS] = new[ROWS]
            old[REASON] = new[REASON]
        if better:
            old[MASK] = new[MASK]
            old[SIZE] = new[SIZE]
            old[LABEL] = new[LABEL]
            for j in range(records.numbers.shape[1]):
                records.numbers[place, j] = decisions.numbers[k, g, j]
            for j in range(records.given.shape[1]):
                records.given[place, j] = (
                    decisions.given[k, g, j] if j < decisions.given.shape[2] else -1
                )
        old[UNTESTED] += new[UNTESTED]
        old[SEPARATED] |= new[SEPARATED]
        if old[CUT] == 0:
            old[CUT] = new[CUT]


class Ballots(NamedTuple):
    """Pairs whose separating sets vote, each in one graph: on the centres from `offset[k]` up to
    `offset[k + 1]`.

    `largest` is the size of the largest sets that have a vote; it never grows from one pair to the
    next.
    """

    graph: Ints
    first: Ints
    second: Ints
    largest: Ints
    centre: Ints
    offset: Ints


def part_of(ballots: Ballots, part: slice) -> Ballots:
    """Some of the ballots that follow each other."""
    offset = ballots.offset[part.start : part.stop + 1]
    return Ballots(
        ballots.graph[part],
        ballots.first[part],
        ballots.second[part],
        ballots.largest[part],
        ballots.centre[offset[0] : offset[-1]],
        offset - offset[0],
    )


def with_sets_of(ballots: Ballots, size: int) -> Ballots:
    """The ballots on which sets of that size have a vote."""
    return part_of(ballots, slice(0, int(np.count_nonzero(ballots.largest >= size))))


class Sizes(NamedTuple):
    """Which sets are counted: neighbours from `first` up to `last`, triggers not counted; with
    triggers, `most`.
    """

    first: int
    last: int
    most: int


@kernel
def count_votes(
    level: Level,
    begin: int,
    end: int,
    ballots: Ballots,
    sizes: Sizes,
    separating: Ints,
    holding: Ints,
    work: Workspace,
) -> None:
    """Count, for these pairs, the sets of these sizes that separate them; on a card a thread takes
    one at a time.

    `separating[k]` gains the number of separating sets of pair k, `holding[offset[k] : offset[k +
    1]]` how many of them hold each of its possible centres.
    """
    masks, own = level.masks, level.masks.own
    for k in range(begin, end):
        x = ballots.first[k]
        y = ballots.second[k]
        graph = 1 << ballots.graph[k]
        middle = slice(ballots.offset[k], ballots.offset[k + 1])
        for size in range(sizes.first, min(sizes.last, ballots.largest[k]) + 1):
            for m in range(masks.bits.size):
                if masks.bits[m] & (own[x] | own[y]) == 0 and masks.size[m] + size <= sizes.most:
                    about = Subject(
                        x, y, x, m, size, keep_columns(masks.kept[m], work.lists[GIVEN])
                    )
                    separating[k] += _vote(
                        level, about, graph, ballots.centre[middle], holding[middle], work
                    )


@kernel
def _vote(
    level: Level, asked_about: Subject, graph: int, middle: Ints, votes: Ints, work: Workspace
) -> int:
    """Count the separating sets of a mask from both neighbourhoods, each set once."""
    x, y, _, mask, size, kept = asked_about
    data = level.data
    selections = level.selections
    lists = work.lists
    length = size + kept
    given = lists[GIVEN, :length]
    total, scanned = 0, 0
    for side in range(2):
        node, other = (x, y) if side == 0 else (y, x)
        about = Subject(x, y, node, mask, size, kept)
        if not serving_graphs(level, node, mask, graph):
            continue
        count = fill_pool(level.neighbours, about, other, graph, lists)
        asked = question_of(level, about, graph)
        stale = 0
        changed = 0 if count >= size else -1
        label = label_of(selections, asked.selection)
        if changed == 0:
            first_set(lists, about)
            start(data, selections, asked.selection, asked.x, asked.y, work.fit)
        inside, outside = (
            0.0,
            2.0,
        )  # correlations of sets of full rank that are known to separate, and not to
        while changed >= 0:
            if eligible_graphs(lists, size, graph, scanned):
                statistic, df, _, reason = answer_set(
                    data, selections, asked, given, stale, work.fit
                )
                stale = length
                strength = abs(statistic)
                alike = (
                    label == ONE_VIEW and reason == TESTABLE and work.fit.rank[0, length] == length
                )
                if alike and (strength <= inside or strength >= outside):
                    separates = strength <= inside
                else:
                    separates = (
                        reason == TESTABLE and tail(data.kind, label, statistic, df) > level.alpha
                    )
                    inside = strength if alike and separates else inside
                    outside = strength if alike and not separates else outside
                if separates:
                    total += 1
                    for place in range(middle.size):
                        votes[place] += _holds(level.masks, mask, given[kept:], middle[place])
            changed = next_set(lists, about, count)
            stale = min(stale, changed)
        scanned = graph
    return total


@kernel
def _holds(masks: Masks, mask: int, members: Ints, node: int) -> int:
    if masks.own[node] != 0:
        return 1 if masks.own[node] & masks.bits[mask] else 0
    for j in range(members.size):
        if members[j] == node:
            return 1
    return 0
