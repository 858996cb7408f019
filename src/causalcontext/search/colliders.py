"""Which unshielded triples x - w - y are colliders x --> w <-- y.

`first` asks the separating set that the skeleton found. `majority` and `conservative` ask every set
of neighbours that separates x and y: w is a collider if fewer than half of them (or none) hold it.
Around a context the vote is always conservative, since a test that is blind to variances calls x
<-- R --> y a collider.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.levels.neighbours import Edges, graphs_of, widest_pools
from causalcontext.kernels.levels.skeleton import Ballots
from causalcontext.search.plan import LevelSearch, PairGroup, Plan, group_of
from causalcontext.search.sepsets import SepsetRecords

Triple = tuple[int, int, int]

COLLIDER_RULES = ("majority", "conservative", "first")
MOST_SETS = 100_000
"""Sets that may vote on one pair. Larger neighbourhoods are heard up to the largest set size that
stays below.
"""

PASSES = 0
COLLIDER = 1
OPEN = -1
"""Verdicts on a triple: not a collider, a collider, none."""


@dataclass(frozen=True)
class Triples:
    """What was decided about the unshielded triples (x, w, y), x < y, of one graph.

    `ambiguous` holds the triples without a verdict; like those whose endpoints are apart by
    assumption, they orient nothing.
    """

    colliders: frozenset[Triple]
    ambiguous: frozenset[Triple]


class OpenTriples(NamedTuple):
    """Unshielded triples, shape (triples,): x < y are not adjacent in the graph, and both are next
    to w.
    """

    graph: Ints
    x: Ints
    y: Ints
    w: Ints


def judge_triples(
    search: LevelSearch | None,
    plan: Plan,
    sepsets: SepsetRecords,
    edges: Edges,
    asked: OpenTriples | None = None,
) -> list[Triples]:
    """The colliders of every graph by the rule of the plan; without a search to ask, no set has a
    vote.

    All unshielded triples are judged, or those that are asked about, whose centre need not be next
    to both ends. An edge that nothing tested leaves its triples without a verdict.
    """
    triples = _open_triples(edges, plan.variables) if asked is None else asked
    separating = np.zeros_like(triples.w)
    holding = np.zeros_like(triples.w)
    if search is not None:
        for places, group, ballots, pair, centre in _ballots(plan, sepsets, edges, triples):
            separates, holds = search.of(group.contexts).vote(group, ballots)
            separating[places] = separates[pair]
            holding[places] = holds[centre]
    verdicts = _verdicts(plan, sepsets, triples, (separating, holding))
    found = []
    untested = sepsets.untested(edges, plan)
    if untested.any():
        verdicts[_through(edges._replace(present=untested), plan.variables, triples)] = OPEN
    for g in range(len(edges.present)):
        here = triples.graph == g
        chosen = (here & (verdicts == verdict) for verdict in (COLLIDER, OPEN))
        columns = (
            [column[some].tolist() for column in (triples.x, triples.w, triples.y)]
            for some in chosen
        )
        found.append(Triples(*(frozenset(zip(*some, strict=True)) for some in columns)))
    return found


def ruling(held: int, of: int, rule: str) -> bool | None:
    """Collider, not a collider, or no verdict, from `held` of `of` separating sets that hold the
    centre.
    """
    verdict = _counted((np.array([of]), np.array([held])), np.bool_(rule == "conservative"))[0]
    return None if verdict == OPEN else bool(verdict == COLLIDER)


def _verdicts(
    plan: Plan, sepsets: SepsetRecords, triples: OpenTriples, votes: tuple[Ints, Ints]
) -> Ints:
    """`COLLIDER`, `PASSES` or `OPEN` for every triple; around a context the vote is
    conservative.
    """
    at_context = plan.among(plan.contexts.positions)[triples.w]
    verdicts = _counted(votes, at_context | (plan.collider_rule == "conservative"))
    ends = (-1, -1, -1)
    known = None
    for k in np.flatnonzero(~at_context).tolist() if plan.collider_rule == "first" else ():
        g, x, y, w = (int(column[k]) for column in triples)
        if (g, x, y) != ends:  # triples with the same ends follow each other
            ends = (g, x, y)
            known = sepsets.separating_set(g, x, y)
        if known is not None:
            verdicts[k] = PASSES if w in (*known[0], *plan.masks[known[1]].triggers) else COLLIDER
    return verdicts


def _counted(votes: tuple[Ints, Ints], conservative: Bools | np.bool_) -> Ints:
    """The verdicts, from the number of sets that separate the ends, and how many of these hold the
    centre.

    Without any such set there is no verdict: the set that the skeleton found may have lost its
    members since, and which one it found depends on the order of the columns.
    """
    separating, holding = votes
    one_voice = (holding == 0) | (holding == separating)
    clear = (
        (separating > 0)
        & (holding >= 0)
        & (one_voice | ~conservative & (2 * holding != separating))
    )
    return np.where(clear, np.where(2 * holding < separating, COLLIDER, PASSES), OPEN)


def _through(edges: Edges, variables: int, triples: OpenTriples) -> Bools:
    """Which triples have one of these edges between their centre and an end; shape (triples,)."""
    among = graphs_of(edges, variables)
    return np.asarray(
        among[triples.graph, triples.x, triples.w] | among[triples.graph, triples.y, triples.w]
    )


def _open_triples(edges: Edges, variables: int) -> OpenTriples:
    """The unshielded triples of all graphs, in the order of their graph, ends and centre."""
    found = []
    for g, present in enumerate(edges.present):
        first = edges.first[present]
        second = edges.second[present]
        start = np.searchsorted(first, np.arange(variables + 1))
        degree = np.diff(start)[second]
        x = np.repeat(first, degree)
        w = np.repeat(second, degree)
        y = second[np.arange(x.size) - np.repeat(np.cumsum(degree) - degree, degree) + start[w]]
        chosen = np.flatnonzero(x < y)
        x = x[chosen]
        y = y[chosen]
        w = w[chosen]
        places = np.append(first * variables + second, -1)
        apart = np.flatnonzero(
            places[np.searchsorted(places[:-1], x * variables + y)] != x * variables + y
        )
        x = x[apart]
        y = y[apart]
        w = w[apart]
        order = np.lexsort((w, y, x))
        found.append((np.full(order.size, g), x[order], y[order], w[order]))
    return OpenTriples(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _ballots(
    plan: Plan, sepsets: SepsetRecords, edges: Edges, triples: OpenTriples
) -> Iterator[tuple[Ints, PairGroup, Ballots, Ints, Ints]]:
    """For the triples at some places a group and its ballots, and which pair and which centre of
    these every one is.

    They are those whose ends some set separates; with the rule "first" those around contexts. A
    graph that takes over the answers about a pair from another one takes over the votes as well.
    """
    voted = sepsets.are_separated(triples.graph, triples.x, triples.y)
    if plan.collider_rule == "first":
        voted &= plan.among(plan.contexts.positions)[triples.w]
    at_x, at_y = (plan.among(plan.searched)[column] for column in (triples.x, triples.y))
    for contexts, share in plan.shares:
        own = plan.among(contexts).astype(np.int64)
        mine = (own[triples.x] + own[triples.y] == len(contexts)) & (
            at_x.astype(np.int64) + at_y == len(contexts)
        )
        leading = share.leader[triples.graph]
        places = np.flatnonzero(voted & mine & (share.begin <= leading) & (leading < share.end))
        if places.size:
            x, y, w = (column[places] for column in (triples.x, triples.y, triples.w))
            swapped = (at_y & ~at_x)[places]
            first = np.where(swapped, y, x)  # a context comes first
            second = np.where(swapped, x, y)
            group = group_of(plan, edges, contexts, share)
            yield (
                places,
                group,
                *_ballots_of_group(
                    group, OpenTriples(leading[places] - share.begin, first, second, w)
                ),
            )


def _ballots_of_group(group: PairGroup, asked: OpenTriples) -> tuple[Ballots, Ints, Ints]:
    """The ballots on triples, of which some may be the same, each with the end first that a
    question begins with.

    Pairs that are asked with larger sets come first, so sets of every size have a vote on a leading
    part of them. Also which pair and which centre every triple is.
    """
    n = group.plan.variables
    graphs = group.share.end - group.share.begin
    alike = _alike(group)
    asking = alike[asked.graph, asked.x] * graphs + alike[asked.graph, asked.y]
    different = ((asking * n + asked.x) * n + asked.y) * n + asked.w
    here = own = np.arange(different.size)
    if not (
        different[1:] > different[:-1]
    ).all():  # they do rise, but where graphs or contexts share answers
        different, here, own = np.unique(different, return_index=True, return_inverse=True)
    one = np.flatnonzero(np.diff(different // n, prepend=-1))
    centres = np.diff(one, append=different.size)
    pair = np.repeat(np.arange(one.size), centres)
    graph = asked.graph[here[one]]
    first = asked.x[here[one]]
    second = asked.y[here[one]]
    wide, triggers = widest_pools(group.neighbours, graph, first, second)
    sizes = [
        _largest_size(*both) for both in zip(wide.tolist(), (2 << triggers).tolist(), strict=True)
    ]
    largest = np.array(sizes, dtype=np.int64)  # the largest set that a pair is asked with
    order = np.argsort(-largest, kind="stable")
    rank = np.argsort(order, kind="stable")[pair]
    by_rank = np.argsort(rank, kind="stable")
    offset = np.concatenate([[0], np.cumsum(centres[order])])
    ballots = Ballots(
        graph[order], first[order], second[order], largest[order], different[by_rank] % n, offset
    )
    return ballots, rank[own], np.argsort(by_rank, kind="stable")[own]


def _alike(group: PairGroup) -> Ints:
    """For every graph and variable the first graph in which the same sets of its neighbours answer
    on the same rows.

    Shape (graphs, N). What two graphs ask with the same sets on the same rows is voted on once.
    Triggers change the rows: with one of them among its neighbours, a variable is looked at in
    every graph.
    """
    (start, _, bits, triggers), share = group.neighbours, group.share
    alike = np.repeat(np.arange(share.end - share.begin)[:, None], start.size - 1, axis=1)
    owner = np.repeat(np.arange(start.size - 1), np.diff(start))
    views = group.plan.views[share.begin : share.end, 0]
    for h, g in combinations(range(len(alike)), 2):
        if views[g] != views[h]:
            continue
        other = np.bincount(owner[(bits >> g ^ bits >> h) & 1 == 1], minlength=start.size - 1) > 0
        switched = ((triggers >> g | triggers >> h) & 1 == 1).any(axis=1)
        alike[g] = np.where((alike[g] == g) & ~other & ~switched, h, alike[g])
    return alike


@cache
def _largest_size(candidates: int, times: int) -> int:
    """The largest size such that all sets up to it are at most `MOST_SETS`."""
    total = 0
    for size in range(candidates + 1):
        total += times * comb(candidates, size)
        if total > MOST_SETS:
            return max(size - 1, 0)
    return candidates
