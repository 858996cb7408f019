"""Every model of two observed processes and two hidden ones with one lag: 543 graphs of a step, 65,536 of the past.

What models differ in by the names of the observed, or of the hidden ones, is searched once. Answers to all questions
about the window are one number; what is kept of the models with the same answers is who causes whom in all of them, and
in some. `python tests/timeseries/every_hidden_model.py` counts all 35,586,048 models, in some minutes.
"""

from __future__ import annotations

from itertools import combinations, permutations, product

import numba
import numpy as np
from hidden_chains import Known, plan_of, search

from causalcontext.graphs.endpoints import Endpoint, adjacent
from causalcontext.graphs.paths import is_acyclic
from causalcontext.search.lagged.plan import Window, pairs_now
from causalcontext.views import Contexts

SIZE, TIMES = 4, 7
"""Processes, the hidden ones last, and steps that are unrolled, five of them before the window."""
WINDOW = Window(2, 1, beyond=0)
NODES = np.array([(TIMES - 1 - lag) * SIZE + v for v, lag in map(WINDOW.place, range(4))])
PAIRS = list(combinations(range(4), 2))
ASKED = [(x, y, given) for x, y in PAIRS for count in range(3)
         for given in combinations([z for z in range(4) if z not in (x, y)], count)]  # fmt: skip
CAUSES = list(permutations(range(4), 2))
RENAMED = [(0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 3, 2), (1, 0, 3, 2)]


def graphs_of_a_step():
    """All acyclic graphs; shape (543, 4, 4)."""
    found = []
    for kinds in product(range(3), repeat=len(PAIRS)):
        links = np.zeros((SIZE, SIZE), dtype=bool)
        for pair, kind in zip(PAIRS, kinds, strict=True):
            if kind:
                links[pair if kind == 1 else pair[::-1]] = True
        if is_acyclic(links):
            found.append(links)
    return np.array(found)


def codes(links):
    """Links as numbers: shape (...,)."""
    return (links.reshape(*links.shape[:-2], -1) << np.arange(SIZE**2)).sum(axis=-1)


def renamed(links):
    """The numbers of graphs after every change of names: shape (4, graphs)."""
    return np.stack([codes(links[:, order][:, :, order]) for order in map(list, RENAMED)])


@numba.njit(cache=False)
def answers_of(inside, lagged, nodes, asked, given, pairs):
    """The answers to all questions, a bit each, and which nodes cause which others, a bit for every pair."""
    total = TIMES * SIZE
    parents, children, above = np.zeros(total, np.int64), np.zeros(total, np.int64), np.zeros(total, np.int64)
    for t in range(TIMES):
        for i in range(SIZE):
            for j in range(SIZE):
                if inside >> (i * SIZE + j) & 1:
                    parents[t * SIZE + j] |= 1 << (t * SIZE + i)
                    children[t * SIZE + i] |= 1 << (t * SIZE + j)
                if t > 0 and lagged >> (i * SIZE + j) & 1:
                    parents[t * SIZE + j] |= 1 << ((t - 1) * SIZE + i)
                    children[(t - 1) * SIZE + i] |= 1 << (t * SIZE + j)
    moved = True
    while moved:
        moved = False
        for v in range(total):
            more = above[v] | parents[v]
            for u in range(total):
                if more >> u & 1:
                    more |= above[u]
            if more != above[v]:
                above[v], moved = more, True
    found = 0
    for k in range(len(asked)):
        x, y, chosen = asked[k, 0], asked[k, 1], given[k]
        opened = chosen
        for v in range(total):
            if chosen >> v & 1:
                opened |= above[v]
        from_child, from_parent, done_child, done_parent = parents[x], children[x], 0, 0
        while True:  # `from_child` was reached by an arrow that leaves it, `from_parent` by one that points at it
            ups, downs = from_child & ~done_child, from_parent & ~done_parent
            if ups == 0 and downs == 0:
                break
            done_child, done_parent = from_child, from_parent
            for v in range(total):
                bit = 1 << v
                if ups & bit and not chosen & bit:
                    from_child |= parents[v]
                    from_parent |= children[v]
                if downs & bit:
                    if not chosen & bit:
                        from_parent |= children[v]
                    if opened & bit:
                        from_child |= parents[v]
        if not (from_child | from_parent) >> y & 1:
            found |= 1 << k
    causes = 0
    for k in range(len(pairs)):
        if above[nodes[pairs[k, 1]]] >> nodes[pairs[k, 0]] & 1:
            causes |= 1 << k
    return found, causes


@numba.njit(cache=False)
def gathered(inside, lagged, asked, tables):
    """Count models by their answers; `inside` and `lagged` are the numbers of graphs after every change of names."""
    count, ever, always = tables
    for i in range(inside.shape[1]):
        for j in range(lagged.shape[1]):
            first, alike = True, 1
            for k in range(1, 4):
                a, b = inside[k, i] - inside[0, i], lagged[k, j] - lagged[0, j]
                first = first and (a > 0 or (a == 0 and b >= 0))
                alike += a == 0 and b == 0
            if first:
                found, causes = answers_of(inside[0, i], lagged[0, j], *asked)
                count[found] += 4 // alike
                ever[found] |= causes
                always[found] &= causes


def questions():
    """What `answers_of` is asked, as arrays."""
    given = np.array([sum(1 << int(NODES[z]) for z in ask[2]) for ask in ASKED])
    return NODES, NODES[np.array([ask[:2] for ask in ASKED])], given, np.array(CAUSES)


def counted():
    """Counts over all models."""
    past = np.arange(2**16)[:, None] >> np.arange(16) & 1
    kinds = ((0, np.int64), (0, np.int16), (-1, np.int16))
    tables = tuple(np.full(2 ** len(ASKED), start, dtype) for start, dtype in kinds)
    inside, lagged = renamed(graphs_of_a_step()), renamed(past.reshape(-1, SIZE, SIZE).astype(bool))
    gathered(inside, lagged, questions(), tables)
    total = dict.fromkeys(("models", "sets of answers", "true", "lost", "too many", "arrows", "tails", "wrong"), 0)
    for number in np.flatnonzero(tables[0]).tolist():
        for name, found in _compared(number, *(int(table[number]) for table in tables)).items():
            total[name] += found
    return total


def _compared(number, models, ever, always):
    """The counts of the models with the same answers."""
    answers = {ask: bool(number >> k & 1) for k, ask in enumerate(ASKED)}
    endpoints = search(Known(answers), plan_of(WINDOW, Contexts())).endpoints[0]
    there = {pair for pair in PAIRS if not any(answers[ask] for ask in ASKED if ask[:2] == pair)}
    now, here = pairs_now(WINDOW), adjacent(endpoints)
    asked = [pair for pair in PAIRS if now[pair]]
    wrong = 0
    for k, (a, b) in enumerate(CAUSES):  # the end at a says whether a causes b
        wrong += endpoints[b, a] == Endpoint.ARROW and bool(ever >> k & 1)
        wrong += endpoints[b, a] == Endpoint.TAIL and not always >> k & 1
    return {
        "models": models,
        "sets of answers": 1,
        "true": models * sum(pair in there for pair in asked),
        "lost": models * sum(pair in there and not here[pair] for pair in asked),
        "too many": models * sum(bool(here[pair]) and pair not in there for pair in asked),
        "arrows": models * int(((endpoints == Endpoint.ARROW) & now).sum()),
        "tails": models * int(((endpoints == Endpoint.TAIL) & now).sum()),
        "wrong": models * int(wrong),
    }


if __name__ == "__main__":
    print(counted())
