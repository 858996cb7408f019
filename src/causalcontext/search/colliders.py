"""Which unshielded triples x - w - y are colliders x --> w <-- y.

`first` asks the separating set that the skeleton found. `majority` and `conservative` ask every set of neighbours that
separates x and y: w is a collider if fewer than half of them (or none) hold it. Around a context the vote is always
conservative, since a test that is blind to variances calls x <-- R --> y a collider.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import comb

import numpy as np
from numpy.typing import NDArray

from causalcontext.search.ledger import Ledger
from causalcontext.search.levels import LevelSearch, candidate_bits
from causalcontext.search.plan import Bools, Plan

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
    contexts = {plan.context, *plan.contexts.positions}
    votes = _votes(search, plan, ledger, adjacency, open_pairs, None if rule != "first" else contexts)
    colliders: list[set[Triple]] = [set() for _ in plan.levels]
    ambiguous: list[set[Triple]] = [set() for _ in plan.levels]
    for (g, x, y), centres in open_pairs.items():
        known = ledger.separating_set(g, x, y, plan.context) if rule == "first" else None
        total, holding = votes.get((g, x, y), (0, ()))
        for place, w in enumerate(centres):
            if rule == "first" and w not in contexts:
                verdict = None if known is None else w not in known
            else:
                held = int(holding[place]) if total else 0
                verdict = _verdict(held, total, "conservative" if w in contexts else rule)
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
        neighbours: list[list[int]] = [[] for _ in graph]
        for a, b in np.argwhere(graph).tolist():
            neighbours[a].append(b)
        for w, around in enumerate(neighbours):
            for i, x in enumerate(around):
                for y in around[i + 1 :]:
                    if y not in neighbours[x]:
                        pairs.setdefault((g, x, y), []).append(w)
    return pairs


def _votes(search: LevelSearch, plan: Plan, ledger: Ledger, adjacency: Bools,
           open_pairs: dict[tuple[int, int, int], list[int]],
           around: set[int] | None) -> dict[tuple[int, int, int], tuple[int, Ints]]:  # fmt: skip
    """For every pair (with one of `around` among its centres) the number of separating sets, and who holds what."""
    found: dict[tuple[int, int, int], tuple[int, Ints]] = {}
    separated = ledger.separated()
    for g in range(len(plan.levels)):
        asked = [
            (pair, centres)
            for pair, centres in open_pairs.items()
            if pair[0] == g
            and (around is None or around.intersection(centres))
            and separated[g, ledger.slot(*pair[1:])]
        ]
        if asked:
            found |= _votes_in_graph(search, plan, adjacency, g, asked)
    return found


def _votes_in_graph(search: LevelSearch, plan: Plan, adjacency: Bools, g: int,
                    asked: list[tuple[tuple[int, int, int], list[int]]],
                    ) -> dict[tuple[int, int, int], tuple[int, Ints]]:  # fmt: skip
    """The votes of one graph. Pairs that are asked with larger sets come first, so every size asks a leading part."""
    candidates = candidate_bits(plan, adjacency, slice(g, g + 1))[0]
    largest = _sizes(candidates.system != 0, candidates.context != 0, asked)
    order = np.argsort(-largest, kind="stable")
    asked, largest = [asked[k] for k in order], largest[order]
    first, second = np.array([pair[1:] for pair, _ in asked], dtype=np.int64).T.copy()
    offset = np.array([0, *accumulate(len(centres) for _, centres in asked)])
    centre = np.array([w for _, centres in asked for w in centres])
    graph, separating, holding = (
        np.zeros(len(asked), dtype=np.int64),
        np.zeros(len(asked), dtype=np.int64),
        np.zeros_like(centre),
    )
    for size in range(min(int(largest[0]), plan.max_given) + 1):
        n = int(np.count_nonzero(largest >= size))
        part = slice(offset[n])
        with_context = plan.searches_context and size < plan.max_given
        search.count_votes(plan.alpha, size, graph[:n], first[:n], second[:n], centre[part], offset[: n + 1],
                           with_context, candidates, separating[:n], holding[part])  # fmt: skip
    return {pair: (int(separating[k]), holding[offset[k] : offset[k + 1]]) for k, (pair, _) in enumerate(asked)}


def _sizes(serves: Bools, with_context: Bools, asked: list[tuple[tuple[int, int, int], list[int]]]) -> Ints:
    """For every pair the largest set size that it is asked with."""
    count = serves.sum(axis=1)
    first, second = np.array([pair[1:] for pair, _ in asked]).T
    wide = np.maximum(count[first] - serves[first, second], count[second] - serves[second, first]).tolist()
    twice = (with_context[first] | with_context[second]).tolist()
    return np.array([_largest_size(n, 4 if both else 2) for n, both in zip(wide, twice, strict=True)], dtype=np.int64)


@cache
def _largest_size(candidates: int, times: int) -> int:
    """The largest size such that all sets up to it are at most `MOST_SETS`."""
    total = 0
    for size in range(candidates + 1):
        total += times * comb(candidates, size)
        if total > MOST_SETS:
            return max(size - 1, 0)
    return candidates
