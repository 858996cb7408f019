"""Which unshielded triples x - w - y are colliders x --> w <-- y.

`first` asks the separating set that the skeleton found. `majority` and `conservative` ask every set of neighbours that
separates x and y: w is a collider if fewer than half of them (or none) hold it. Around the context the vote is always
conservative, since a test that is blind to variances calls x <-- R --> y a collider.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from causalcontext.search.ledger import Ledger
from causalcontext.search.levels import LevelSearch, candidate_bits
from causalcontext.search.plan import NO_CONTEXT, Bools, Plan

Ints = NDArray[np.int64]
Triple = tuple[int, int, int]

COLLIDER_RULES = ("majority", "conservative", "first")
MOST_SETS = 100_000
"""Sets that may vote on one pair. Larger neighbourhoods are heard up to the largest set size that stays below."""


@dataclass(frozen=True)
class Triples:
    """What was decided about the unshielded triples (x, w, y), x < y, of one graph.

    `ambiguous` holds the triples without a verdict; like those whose ends are apart by assumption, they orient nothing.
    """

    colliders: frozenset[Triple]
    ambiguous: frozenset[Triple]


def judge_triples(search: LevelSearch, plan: Plan, ledger: Ledger, adjacency: Bools, rule: str) -> list[Triples]:
    """The colliders of every graph by the chosen rule."""
    open_pairs = _open_pairs(adjacency)
    votes = _votes(search, plan, ledger, adjacency, open_pairs, everywhere=rule != "first")
    colliders: list[set[Triple]] = [set() for _ in plan.levels]
    ambiguous: list[set[Triple]] = [set() for _ in plan.levels]
    for (g, x, y), centres in open_pairs.items():
        known = ledger.separating_set(g, x, y, plan.context)
        total, holding = votes.get((g, x, y), (0, ()))
        for place, w in enumerate(centres):
            if known is None:
                verdict = None
            elif rule == "first" and w != plan.context:
                verdict = w not in known
            else:
                held = int(holding[place]) if total else 0
                verdict = _verdict(held, total, "conservative" if w == plan.context else rule)
            if verdict is None:
                ambiguous[g].add((x, w, y))
            elif verdict:
                colliders[g].add((x, w, y))
    return [Triples(frozenset(c), frozenset(a)) for c, a in zip(colliders, ambiguous, strict=True)]


def _verdict(held: int, of: int, rule: str) -> bool | None:
    """Collider, not a collider, or no verdict, from `held` of `of` separating sets that hold the centre.

    Without any such set there is no verdict: the set that the skeleton found may have lost its members since, and which
    one it found depends on the order of the columns.
    """
    if of == 0:
        return None
    if held in (0, of):
        return held == 0
    if rule == "conservative" or 2 * held == of:
        return None
    return 2 * held < of


def _open_pairs(adjacency: Bools) -> dict[tuple[int, int, int], list[int]]:
    """The common neighbours of every non-adjacent pair (graph, x, y) that has some."""
    pairs: dict[tuple[int, int, int], list[int]] = {}
    for g, graph in enumerate(adjacency):
        neighbours = [np.flatnonzero(row).tolist() for row in graph]
        for w, around in enumerate(neighbours):
            for i, x in enumerate(around):
                for y in around[i + 1 :]:
                    if not graph[x, y]:
                        pairs.setdefault((g, x, y), []).append(w)
    return pairs


def _votes(search: LevelSearch, plan: Plan, ledger: Ledger, adjacency: Bools,
           open_pairs: dict[tuple[int, int, int], list[int]],
           everywhere: bool) -> dict[tuple[int, int, int], tuple[int, Ints]]:  # fmt: skip
    """For every pair the number of separating sets, and how many hold each centre."""
    found: dict[tuple[int, int, int], tuple[int, Ints]] = {}
    for g in range(len(plan.levels)):
        asked = [
            (pair, centres)
            for pair, centres in open_pairs.items()
            if pair[0] == g
            and (everywhere or plan.context in centres)
            and ledger.separating_set(*pair, plan.context) is not None
        ]
        if asked:
            found |= _votes_in_graph(search, plan, adjacency, g, asked)
    return found


def _votes_in_graph(search: LevelSearch, plan: Plan, adjacency: Bools, g: int,
                    asked: list[tuple[tuple[int, int, int], list[int]]],
                    ) -> dict[tuple[int, int, int], tuple[int, Ints]]:  # fmt: skip
    one = slice(g, g + 1)
    candidates = candidate_bits(plan, adjacency, one)
    reach, largest = _sizes(plan, candidates.system != 0, candidates.context != 0, asked)
    order = np.array([pair[1:] for pair, _ in asked], dtype=np.int64)
    lengths = np.array([len(centres) for _, centres in asked])
    offset = np.concatenate([[0], np.cumsum(lengths)])
    centre = np.concatenate([centres for _, centres in asked]).astype(np.int64)
    separating = np.zeros(len(asked), dtype=np.int64)
    holding = np.zeros(centre.size, dtype=np.int64)
    for size in range(int(min(reach, plan.max_given)) + 1):
        chosen = np.flatnonzero(largest >= size)
        if chosen.size == 0:
            break
        some_centre, some_offset, places = _some(centre, offset, chosen)
        some_separating, some_holding = np.zeros(chosen.size, dtype=np.int64), np.zeros(places.size, dtype=np.int64)
        with_context = plan.searches_context and size < plan.max_given
        search.count_votes(plan.alpha, size, np.zeros(chosen.size, dtype=np.int64), order[chosen, 0], order[chosen, 1],
                           some_centre, some_offset, with_context, candidates, some_separating,
                           some_holding)  # fmt: skip
        separating[chosen] += some_separating
        holding[places] += some_holding
    return {pair: (int(separating[k]), holding[offset[k] : offset[k + 1]]) for k, (pair, _) in enumerate(asked)}


def _some(centre: Ints, offset: Ints, chosen: Ints) -> tuple[Ints, Ints, Ints]:
    """The centres of the chosen pairs alone: centres, offsets, and their places among all."""
    places = np.concatenate([np.arange(offset[k], offset[k + 1]) for k in chosen])
    lengths = offset[chosen + 1] - offset[chosen]
    return centre[places], np.concatenate([[0], np.cumsum(lengths)]), places


def _sizes(plan: Plan, serves: Bools, with_context: Bools,
           asked: list[tuple[tuple[int, int, int], list[int]]]) -> tuple[int, Ints]:  # fmt: skip
    """The largest candidate neighbourhood, and for every pair the largest set size that it is asked with."""
    count = serves.sum(axis=1)
    largest = []
    for (_, x, y), _ in asked:
        wide = int(max(count[x] - serves[x, y], count[y] - serves[y, x]))
        twice = 2 if plan.context != NO_CONTEXT and (with_context[x] or with_context[y]) else 1
        largest.append(_largest_size(wide, 2 * twice))
    return max(largest, default=0), np.array(largest, dtype=np.int64)


def _largest_size(candidates: int, times: int) -> int:
    """The largest size such that all sets up to it are at most `MOST_SETS`."""
    total = 0
    for size in range(candidates + 1):
        total += times * comb(candidates, size)
        if total > MOST_SETS:
            return max(size - 1, 0)
    return candidates
