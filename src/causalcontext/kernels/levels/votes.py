"""The votes on colliders: how many of the sets that separate a pair hold each of its possible centres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.levels.gaussian import (
    GIVEN,
    ONE_VIEW,
    TESTABLE,
    Workspace,
    answer_set,
    label_of,
    start,
    tail,
)
from causalcontext.kernels.levels.skeleton import (
    Level,
    Masks,
    Subject,
    eligible_graphs,
    fill_pool,
    first_set,
    keep_columns,
    next_set,
    question_of,
    serving_graphs,
)


class Ballots(NamedTuple):
    """Pairs whose separating sets vote, each in one graph: on the centres from `offset[k]` up to `offset[k + 1]`.

    `largest` is the size of the largest sets that have a vote; it never grows from one pair to the next.
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
    return Ballots(ballots.graph[part], ballots.first[part], ballots.second[part], ballots.largest[part],
                   ballots.centre[offset[0] : offset[-1]], offset - offset[0])  # fmt: skip


def with_sets_of(ballots: Ballots, size: int) -> Ballots:
    """The ballots on which sets of that size have a vote."""
    return part_of(ballots, slice(0, int(np.count_nonzero(ballots.largest >= size))))


class Sizes(NamedTuple):
    """Which sets are counted: neighbours from `first` up to `last`, triggers not counted; with triggers, `most`."""

    first: int
    last: int
    most: int


@kernel
def count_votes(level: Level, begin: int, end: int, ballots: Ballots, sizes: Sizes, separating: Ints, holding: Ints,
                work: Workspace) -> None:  # fmt: skip
    """Count, for these pairs, the sets of these sizes that separate them; on a card a thread takes one at a time.

    `separating[k]` gains the number of separating sets of pair k, `holding[offset[k] : offset[k + 1]]` how many of them
    hold each of its possible centres.
    """
    masks, own = level.masks, level.masks.own
    for k in range(begin, end):
        x, y, graph = ballots.first[k], ballots.second[k], 1 << ballots.graph[k]
        middle = slice(ballots.offset[k], ballots.offset[k + 1])
        for size in range(sizes.first, min(sizes.last, ballots.largest[k]) + 1):
            for m in range(masks.bits.size):
                if masks.bits[m] & (own[x] | own[y]) == 0 and masks.size[m] + size <= sizes.most:
                    about = Subject(x, y, x, m, size, keep_columns(masks.kept[m], work.lists[GIVEN]))
                    separating[k] += _vote(level, about, graph, ballots.centre[middle], holding[middle], work)


@kernel
def _vote(level: Level, asked_about: Subject, graph: int, middle: Ints, votes: Ints, work: Workspace) -> int:
    """Count the separating sets of a mask from both neighbourhoods, each set once."""
    x, y, _, mask, size, kept = asked_about
    data, selections, lists, length = level.data, level.selections, work.lists, size + kept
    given = lists[GIVEN, :length]
    total, scanned = 0, 0
    for side in range(2):
        node, other = (x, y) if side == 0 else (y, x)
        about = Subject(x, y, node, mask, size, kept)
        if not serving_graphs(level, node, mask, graph):
            continue
        count = fill_pool(level.neighbours, about, other, graph, lists)
        asked, stale, changed = question_of(level, about, graph), 0, 0 if count >= size else -1
        label = label_of(selections, asked.selection)
        if changed == 0:
            first_set(lists, about)
            start(data, selections, asked.selection, asked.x, asked.y, work.fit)
        inside, outside = 0.0, 2.0  # correlations of sets of full rank that are known to separate, and not to
        while changed >= 0:
            if eligible_graphs(lists, size, graph, scanned):
                statistic, df, _, reason = answer_set(data, selections, asked, given, stale, work.fit)
                stale, strength = length, abs(statistic)
                alike = label == ONE_VIEW and reason == TESTABLE and work.fit.rank[0, length] == length
                if alike and (strength <= inside or strength >= outside):
                    separates = strength <= inside
                else:
                    separates = reason == TESTABLE and tail(data.kind, label, statistic, df) > level.alpha
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
