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

from causalcontext import _kernels
from causalcontext.kernels.arrays import Codes, Floats, Ints, Shorts
from causalcontext.kernels.levels.gaussian import (
    RowSelections,
    Views,
    Workspace,
)
from causalcontext.kernels.levels.neighbours import Neighbours, Pairs

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
    _kernels.search_pairs(level, begin, end, pairs, decisions, work, tests)


class SetAnswer(NamedTuple):
    """What a test says: p is -1 where it could not be run, `separates` is 1 where p is large."""

    p: float
    statistic: float
    df: float
    rows: int
    reason: int
    label: int
    separates: int


def keep_better(records: Decisions, places: Ints, decisions: Decisions, g: int) -> None:
    """Carry the decisions of one graph over to its records, shapes (all pairs, ...), at these
    places.

    The largest p-value of all calls counts. Tests that could not run are counted, and decide where
    no other ran.
    """
    _kernels.keep_better(records, places, decisions, g)


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
    _kernels.count_votes(level, begin, end, ballots, sizes, separating, holding, work)
