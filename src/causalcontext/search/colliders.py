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

from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.levels.neighbours import Edges, Share, list_edges, widest_pools
from causalcontext.kernels.levels.votes import Ballots
from causalcontext.search.ledger import Ledger
from causalcontext.search.levels import MOST_GRAPHS, LevelSearch, Scene, scene_of
from causalcontext.search.plan import Plan
from causalcontext.search.sharing import Role, sharing_of

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


def judge_triples(search: LevelSearch, plan: Plan, ledger: Ledger, graphs: Bools) -> list[Triples]:
    """The colliders of every graph by the rule of the plan."""
    rule, contexts = plan.collider_rule, set(plan.contexts.positions)
    open_pairs = _open_pairs(graphs)
    votes = _votes(search, plan, ledger, graphs, open_pairs, None if rule != "first" else contexts)
    colliders: list[set[Triple]] = [set() for _ in plan.cells]
    ambiguous: list[set[Triple]] = [set() for _ in plan.cells]
    for (g, x, y), centres in open_pairs.items():
        known = _separating_set(plan, ledger, g, x, y) if rule == "first" else None
        total, holding = votes.get((g, x, y), (0, {}))
        for w in centres:
            if rule == "first" and w not in contexts:
                verdict = None if known is None else w not in known
            else:
                verdict = ruling(holding.get(w, 0), total, "conservative" if w in contexts else rule)
            if verdict is None:
                ambiguous[g].add((x, w, y))
            elif verdict:
                colliders[g].add((x, w, y))
    return [Triples(frozenset(c), frozenset(a)) for c, a in zip(colliders, ambiguous, strict=True)]


def judge_centre(search: LevelSearch, plan: Plan, ledger: Ledger, graphs: Bools, triple: Triple,
                 graph: int) -> bool | None:  # fmt: skip
    """Whether the sets that separate x and y leave w out, by the rule of the plan; w need not be next to both."""
    x, w, y = triple
    pair, at_context = (graph, min(x, y), max(x, y)), w in plan.contexts.positions
    if plan.collider_rule == "first" and not at_context:
        known = _separating_set(plan, ledger, *pair)
        return None if known is None else w not in known
    total, holding = _votes(search, plan, ledger, graphs, {pair: [w]}, None).get(pair, (0, {}))
    return ruling(holding.get(w, 0), total, "conservative" if at_context else plan.collider_rule)


def _separating_set(plan: Plan, ledger: Ledger, g: int, x: int, y: int) -> set[int] | None:
    """The separating set that the skeleton found, triggers included."""
    found = ledger.separating_set(g, x, y)
    return None if found is None else {*found[0], *plan.masks[found[1]].triggers}


def ruling(held: int, of: int, rule: str) -> bool | None:
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


def _open_pairs(graphs: Bools) -> dict[tuple[int, int, int], list[int]]:
    """The common neighbours of every non-adjacent pair (graph, x, y) that has some."""
    pairs: dict[tuple[int, int, int], list[int]] = {}
    for g, graph in enumerate(graphs):
        neighbours: list[list[int]] = [[] for _ in graph]
        for a, b in np.argwhere(graph).tolist():
            neighbours[a].append(b)
        for w, around in enumerate(neighbours):
            for i, x in enumerate(around):
                for y in around[i + 1 :]:
                    if y not in neighbours[x]:
                        pairs.setdefault((g, x, y), []).append(w)
    return pairs


Votes = dict[tuple[int, int, int], tuple[int, dict[int, int]]]
"""For (graph, x, y) the number of separating sets, and how many of them hold each centre."""


def _votes(search: LevelSearch, plan: Plan, ledger: Ledger, graphs: Bools,
           open_pairs: dict[tuple[int, int, int], list[int]], around: set[int] | None) -> Votes:  # fmt: skip
    """The votes on every pair (with one of `around` among its centres) that some set separates.

    A graph that takes over the answers about a pair from another one takes over the votes as well.
    """
    sharing, edges = sharing_of(plan), list_edges(graphs)
    asked: dict[Role, dict[tuple[int, int, int], set[int]]] = {}
    represented = {}
    for (g, x, y), centres in open_pairs.items():
        if (around is None or around.intersection(centres)) and ledger.is_separated(g, x, y):
            role = sharing.role(x, y)
            first, second = (x, y) if x in role.contexts or not role.contexts else (y, x)
            represented[g, x, y] = leading = (int(sharing.leaders[role][g]), first, second)
            asked.setdefault(role, {}).setdefault(leading, set()).update(centres)
    found: Votes = {}
    for role, pairs in asked.items():
        found |= _votes_of_role(search, plan, edges, role, {pair: sorted(pairs[pair]) for pair in sorted(pairs)})
    return {pair: found[leading] for pair, leading in represented.items()}


def _votes_of_role(search: LevelSearch, plan: Plan, edges: Edges, role: Role,
                   asked: dict[tuple[int, int, int], list[int]]) -> Votes:  # fmt: skip
    found: Votes = {}
    leader = sharing_of(plan).leaders[role]
    for begin in range(0, len(plan.cells), MOST_GRAPHS):
        share = Share(leader, begin, min(begin + MOST_GRAPHS, len(plan.cells)))
        here = {pair: centres for pair, centres in asked.items() if share.begin <= pair[0] < share.end}
        if here:
            found |= _votes_of_scene(search, scene_of(plan, edges, role, share), here)
    return found


def _votes_of_scene(search: LevelSearch, scene: Scene, asked: dict[tuple[int, int, int], list[int]]) -> Votes:
    """The votes of some graphs. Pairs that are asked with larger sets come first, so every size asks a leading part."""
    plan, pairs = scene.plan, list(asked)
    graph, first, second = np.array(pairs, dtype=np.int64).T
    largest = _sizes(scene, graph - scene.share.begin, first, second)
    order = np.argsort(-largest, kind="stable")
    pairs, largest = [pairs[k] for k in order], largest[order]
    offset = np.array([0, *accumulate(len(asked[pair]) for pair in pairs)])
    centre = np.array([w for pair in pairs for w in asked[pair]], dtype=np.int64)
    separating, holding = np.zeros(len(pairs), dtype=np.int64), np.zeros_like(centre)
    graph, first, second = graph[order] - scene.share.begin, first[order], second[order]
    for size in range(min(int(largest[0]), plan.max_given) + 1):
        n = int(np.count_nonzero(largest >= size))
        ballots = Ballots(graph[:n], first[:n], second[:n], centre[: offset[n]], offset[: n + 1])
        more_separating, more_holding = search.vote(scene, size, ballots)
        separating[:n] += more_separating
        holding[: offset[n]] += more_holding
    held, start = holding.tolist(), offset.tolist()
    return {
        pair: (total, dict(zip(asked[pair], held[begin:end], strict=True)))
        for pair, total, begin, end in zip(pairs, separating.tolist(), start, start[1:], strict=False)
    }


def _sizes(scene: Scene, graph: Ints, first: Ints, second: Ints) -> Ints:
    """For every pair the largest set size that it is asked with."""
    wide, triggers = widest_pools(scene.neighbours, graph, first, second)
    sizes = [_largest_size(*both) for both in zip(wide.tolist(), (2 << triggers).tolist(), strict=True)]
    return np.array(sizes, dtype=np.int64)


@cache
def _largest_size(candidates: int, times: int) -> int:
    """The largest size such that all sets up to it are at most `MOST_SETS`."""
    total = 0
    for size in range(candidates + 1):
        total += times * comb(candidates, size)
        if total > MOST_SETS:
            return max(size - 1, 0)
    return candidates
