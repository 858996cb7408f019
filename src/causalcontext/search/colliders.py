"""Judging which unshielded triples x - w - y are colliders x --> w <-- y.

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
from causalcontext.search.settings import MOST_VOTING_SETS

Triple = tuple[int, int, int]

COLLIDER_RULES = ("majority", "conservative", "first")

NO_COLLIDER = 0
COLLIDER = 1
OPEN = -1
"""Verdicts on a triple: not a collider, a collider, none."""


@dataclass(frozen=True)
class Triples:
    """The verdicts on the unshielded triples (x, w, y), x < y, of one graph.

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
    only: OpenTriples | None = None,
) -> list[Triples]:
    """The colliders of every graph by the rule of the plan; without a search to ask, no set has a
    vote.

    All unshielded triples are judged, or those that are asked about, whose centre need not be next
    to both ends. An edge that nothing tested leaves its triples without a verdict.
    """
    triples = _open_triples(edges, plan.variables) if only is None else only
    separating = np.zeros_like(triples.w)
    holding = np.zeros_like(triples.w)
    if search is not None:
        for numbers, group, ballots, pair, centre in _ballots(plan, sepsets, edges, triples):
            separates, holds = search.of(group.contexts).vote(group, ballots)
            separating[numbers] = separates[pair]
            holding[numbers] = holds[centre]
    verdicts = _verdicts(plan, sepsets, triples, (separating, holding))
    untested = sepsets.untested(edges, plan)
    if untested.any():
        verdicts[_through(edges._replace(present=untested), plan.variables, triples)] = OPEN
    judged = []
    for g in range(len(edges.present)):
        in_graph = triples.graph == g
        colliders = _chosen_triples(triples, in_graph & (verdicts == COLLIDER))
        ambiguous = _chosen_triples(triples, in_graph & (verdicts == OPEN))
        judged.append(Triples(colliders, ambiguous))
    return judged


def _chosen_triples(triples: OpenTriples, chosen: Bools) -> frozenset[Triple]:
    """The triples (x, w, y) where `chosen`, shape (triples,), is true."""
    columns = (column[chosen].tolist() for column in (triples.x, triples.w, triples.y))
    return frozenset(zip(*columns, strict=True))


def ruling(held: int, of: int, rule: str) -> bool | None:
    """Collider, not a collider, or no verdict, from `held` of `of` separating sets that hold the
    centre.
    """
    verdict = _counted((np.array([of]), np.array([held])), np.bool_(rule == "conservative"))[0]
    return None if verdict == OPEN else bool(verdict == COLLIDER)


def _verdicts(
    plan: Plan, sepsets: SepsetRecords, triples: OpenTriples, votes: tuple[Ints, Ints]
) -> Ints:
    """`COLLIDER`, `NO_COLLIDER` or `OPEN` for every triple; around a context the vote is
    conservative.
    """
    at_context = plan.among(plan.contexts.positions)[triples.w]
    verdicts = _counted(votes, at_context | (plan.collider_rule == "conservative"))
    ends = (-1, -1, -1)
    known = None
    if plan.collider_rule != "first":
        return verdicts
    for k in np.flatnonzero(~at_context).tolist():
        g, x, y, w = (int(column[k]) for column in triples)
        if (g, x, y) != ends:  # triples with the same ends follow each other
            ends = (g, x, y)
            known = sepsets.separating_set(g, x, y)
        if known is not None:
            verdicts[k] = (
                NO_COLLIDER if w in (*known[0], *plan.masks[known[1]].triggers) else COLLIDER
            )
    return verdicts


def _counted(votes: tuple[Ints, Ints], conservative: Bools | np.bool_) -> Ints:
    """The verdicts, from the number of sets that separate the ends, and how many of these hold the
    centre.

    Without any such set there is no verdict: the set that the skeleton found may have lost its
    members since, and which one it found depends on the order of the columns.
    """
    separating, holding = votes
    unanimous = (holding == 0) | (holding == separating)
    majority = ~conservative & (2 * holding != separating)
    clear = (separating > 0) & (holding >= 0) & (unanimous | majority)
    return np.where(clear, np.where(2 * holding < separating, COLLIDER, NO_COLLIDER), OPEN)


def _through(edges: Edges, variables: int, triples: OpenTriples) -> Bools:
    """True for triples with one of these edges between their centre and an end,
    shape (triples,).
    """
    among = graphs_of(edges, variables)
    from_x = among[triples.graph, triples.x, triples.w]
    from_y = among[triples.graph, triples.y, triples.w]
    return np.asarray(from_x | from_y)


def _open_triples(edges: Edges, variables: int) -> OpenTriples:
    """The unshielded triples of all graphs, in the order of their graph, ends and centre."""
    columns_of_graphs = []
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
        numbers_of_edges = np.append(first * variables + second, -1)
        numbers = x * variables + y
        nearest = numbers_of_edges[np.searchsorted(numbers_of_edges[:-1], numbers)]
        apart = np.flatnonzero(nearest != numbers)
        x = x[apart]
        y = y[apart]
        w = w[apart]
        order = np.lexsort((w, y, x))
        columns_of_graphs.append((np.full(order.size, g), x[order], y[order], w[order]))
    return OpenTriples(
        *(np.concatenate(columns) for columns in zip(*columns_of_graphs, strict=True))
    )


def _ballots(
    plan: Plan, sepsets: SepsetRecords, edges: Edges, triples: OpenTriples
) -> Iterator[tuple[Ints, PairGroup, Ballots, Ints, Ints]]:
    """Numbers of triples with their group, its ballots, and the pair and the centre in these that
    every such triple is.

    The triples are those whose ends some set separates; with the rule "first" those around
    contexts. A graph that takes over the answers about a pair from another one takes over the votes
    as well.
    """
    voted = sepsets.are_separated(triples.graph, triples.x, triples.y)
    if plan.collider_rule == "first":
        voted &= plan.among(plan.contexts.positions)[triples.w]
    searched = plan.among(plan.searched)
    at_x = searched[triples.x]
    at_y = searched[triples.y]
    for contexts, share in plan.shares:
        of_group = plan.among(contexts).astype(np.int64)
        ends_of_group = of_group[triples.x] + of_group[triples.y] == len(contexts)
        no_other_context = at_x.astype(np.int64) + at_y == len(contexts)
        leading = share.leader[triples.graph]
        looked_at = (share.begin <= leading) & (leading < share.end)
        numbers = np.flatnonzero(voted & ends_of_group & no_other_context & looked_at)
        if numbers.size:
            x = triples.x[numbers]
            y = triples.y[numbers]
            swapped = (at_y & ~at_x)[numbers]
            first = np.where(swapped, y, x)  # a context comes first
            second = np.where(swapped, x, y)
            group = group_of(plan, edges, contexts, share)
            asked = OpenTriples(leading[numbers] - share.begin, first, second, triples.w[numbers])
            yield numbers, group, *_ballots_of_group(group, asked)


def _ballots_of_group(group: PairGroup, asked: OpenTriples) -> tuple[Ballots, Ints, Ints]:
    """The ballots on triples, of which some may be the same, each with the end first that a
    question begins with.

    Pairs that are asked with larger sets come first, so sets of every size have a vote on a leading
    part of them. Also the pair and the centre among the ballots that every triple is.
    """
    n = group.plan.variables
    graphs = group.share.end - group.share.begin
    alike = _alike(group)
    asking = alike[asked.graph, asked.x] * graphs + alike[asked.graph, asked.y]
    different = ((asking * n + asked.x) * n + asked.y) * n + asked.w
    kept = ballot_of = np.arange(different.size)
    # the numbers rise, but where graphs or contexts share answers
    if not (different[1:] > different[:-1]).all():
        different, kept, ballot_of = np.unique(different, return_index=True, return_inverse=True)
    first_of_pair = np.flatnonzero(np.diff(different // n, prepend=-1))
    centres = np.diff(first_of_pair, append=different.size)
    pair = np.repeat(np.arange(first_of_pair.size), centres)
    graph = asked.graph[kept[first_of_pair]]
    first = asked.x[kept[first_of_pair]]
    second = asked.y[kept[first_of_pair]]
    wide, triggers = widest_pools(group.neighbours, graph, first, second)
    times = 2 << triggers
    sizes = [_largest_size(*counts) for counts in zip(wide.tolist(), times.tolist(), strict=True)]
    largest = np.array(sizes, dtype=np.int64)  # the largest set that a pair is asked with
    order = np.argsort(-largest, kind="stable")
    rank = np.argsort(order, kind="stable")[pair]
    by_rank = np.argsort(rank, kind="stable")
    offset = np.concatenate([[0], np.cumsum(centres[order])])
    ballots = Ballots(
        graph[order], first[order], second[order], largest[order], different[by_rank] % n, offset
    )
    return ballots, rank[ballot_of], np.argsort(by_rank, kind="stable")[ballot_of]


def _alike(group: PairGroup) -> Ints:
    """For every graph and variable the first graph in which the same sets of its neighbours answer
    on the same rows.

    Shape (graphs, N). What two graphs ask with the same sets on the same rows is voted on once.
    Triggers change the rows: with one of them among its neighbours, a variable is looked at in
    every graph.
    """
    start, _, bits, triggers = group.neighbours
    share = group.share
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
    """The largest size such that all sets up to it are at most `MOST_VOTING_SETS`."""
    total = 0
    for size in range(candidates + 1):
        total += times * comb(candidates, size)
        if total > MOST_VOTING_SETS:
            return max(size - 1, 0)
    return candidates
