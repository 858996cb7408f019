"""Every model of some observed and hidden processes with one lag, or every one with few links.

What models differ in by the names of the observed, or of the hidden ones, is searched once. Answers
to all questions about the window are a few numbers; what is kept of the models with the same
answers is who causes whom in all of them, and in some.

    python tests/timeseries/every_hidden_model.py 2 2          # all 35,586,048, in a minute or two
    python tests/timeseries/every_hidden_model.py 3 1          # as many, in some minutes
    python tests/timeseries/every_hidden_model.py 3 2 6        # those with at most six links
"""

from __future__ import annotations

import sys
from itertools import combinations, permutations, product

import numba
import numpy as np
from hidden_chains import Known, plan_of, search
from numba.typed import Dict

from causalcontext.graphs.endpoints import Endpoint, adjacent
from causalcontext.search.lagged.plan import Window, pairs_now
from causalcontext.views import Contexts

TIMES = {3: 7, 4: 7, 5: 12}
"""Steps that are unrolled, by the number of processes: cycles of two and of three steps meet every
six steps.
"""
WORDS = 4
"""Numbers of 60 bits that hold the answers."""
KEY = numba.types.UniTuple(numba.int64, WORDS)
COUNTS = numba.types.UniTuple(numba.int64, 3)


class Models:
    """Models of which the first processes are observed; their windows, and what may be asked about
    these.
    """

    def __init__(self, observed, hidden):
        self.size = observed + hidden
        self.times = TIMES[self.size]
        self.window = Window(observed, 1, beyond=0)
        nodes = range(self.window.nodes)
        self.nodes = np.array(
            [(self.times - 1 - lag) * self.size + v for v, lag in map(self.window.place, nodes)]
        )
        self.pairs = list(combinations(nodes, 2))
        self.asked = [
            (x, y, given)
            for x, y in self.pairs
            for count in range(len(nodes) - 1)
            for given in combinations([z for z in nodes if z not in (x, y)], count)
        ]
        self.causes = list(permutations(nodes, 2))
        names = product(permutations(range(observed)), permutations(range(observed, self.size)))
        self.names = [list(seen + unseen) for seen, unseen in names]

    def inside(self):
        """All acyclic graphs of a step; shape (graphs, size, size)."""
        found = np.zeros((1, self.size, self.size), dtype=bool)
        for v in range(
            1, self.size
        ):  # no variable or some receive arrows from v, which receives them from others
            columns = (np.arange(4**v)[:, None] >> np.arange(2 * v) & 1).astype(bool)
            more = np.repeat(found, len(columns), axis=0)
            more[:, :v, v], more[:, v, :v] = (
                np.tile(half, (len(found), 1)) for half in np.split(columns, 2, axis=1)
            )
            found = more[_acyclic(more)]
        return found

    def lagged(self, most):
        """All graphs of the past with at most so many links."""
        places = range(self.size**2)
        chosen = [
            some
            for count in range(min(most, len(places)) + 1)
            for some in combinations(places, count)
        ]
        found = np.zeros((len(chosen), len(places)), dtype=bool)
        for row, some in zip(found, chosen, strict=True):
            row[list(some)] = True
        return found.reshape(-1, self.size, self.size)

    def renamed(self, links):
        """The numbers of graphs after every change of names: shape (changes, graphs)."""
        return np.stack([codes(links[:, order][:, :, order]) for order in self.names])

    def questions(self):
        """What `answers_of` is asked, as arrays."""
        given = np.array([sum(1 << int(self.nodes[z]) for z in ask[2]) for ask in self.asked])
        ends = self.nodes[np.array([ask[:2] for ask in self.asked])]
        return self.size, self.times, self.nodes, ends, given, np.array(self.causes)


def codes(links):
    """Links as numbers: shape (...,)."""
    size = links.shape[-1] ** 2
    return (links.reshape(*links.shape[:-2], size) << np.arange(size)).sum(axis=-1)


def _acyclic(links):
    paths = links.astype(np.int64)
    for _ in range(links.shape[-1]):
        paths = np.minimum(paths + paths @ paths, 1)
    return ~paths.diagonal(axis1=1, axis2=2).any(axis=1)


@numba.njit(cache=False)
def _below(bit):
    """The place of a bit that stands alone."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        if bit >> step:
            bit >>= step
            place += step
    return place


@numba.njit(cache=False)
def answers_of(inside, lagged, size, times, nodes, asked, given, pairs):
    """The answers to all questions, a bit each, and which nodes cause which others, a bit for every
    pair.
    """
    total = times * size
    parents, children, above = (
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
    )
    for t in range(times):
        for i in range(size):
            for j in range(size):
                if inside >> (i * size + j) & 1:
                    parents[t * size + j] |= 1 << (t * size + i)
                    children[t * size + i] |= 1 << (t * size + j)
                if t > 0 and lagged >> (i * size + j) & 1:
                    parents[t * size + j] |= 1 << ((t - 1) * size + i)
                    children[(t - 1) * size + i] |= 1 << (t * size + j)
    for v in range(total):
        fresh = parents[v]
        while fresh:
            above[v] |= fresh
            bit = fresh & -fresh
            fresh = (fresh ^ bit) | parents[_below(bit)] & ~above[v]
    found = np.zeros(WORDS, np.int64)
    for k in range(len(asked)):
        x, y, chosen = asked[k, 0], asked[k, 1], given[k]
        opened, rest = chosen, chosen
        while rest:
            bit = rest & -rest
            opened |= above[_below(bit)]
            rest ^= bit
        ups, downs, done_up, done_down = parents[x], children[x], 0, 0
        while (ups | downs) and not (ups | downs) >> y & 1:
            if ups:  # reached by an arrow that leaves it
                bit = ups & -ups
                ups, done_up = ups ^ bit, done_up | bit
                if not chosen & bit:
                    v = _below(bit)
                    ups, downs = ups | parents[v] & ~done_up, downs | children[v] & ~done_down
            else:  # by one that points at it
                bit = downs & -downs
                downs, done_down = downs ^ bit, done_down | bit
                v = _below(bit)
                if not chosen & bit:
                    downs |= children[v] & ~done_down
                if opened & bit:
                    ups |= parents[v] & ~done_up
        if not ups | downs:
            found[k // 60] |= 1 << k % 60
    causes = 0
    for k in range(len(pairs)):
        if above[nodes[pairs[k, 1]]] >> nodes[pairs[k, 0]] & 1:
            causes |= 1 << k
    return (found[0], found[1], found[2], found[3]), causes


@numba.njit(cache=False)
def gathered(inside, lagged, links, most, asked, told):
    """Count models by their answers; `inside` and `lagged` are the numbers of graphs after every
    change of names.

    `links` are how many they have of them, those of `lagged` ascending. `told` has the number of
    models with the same answers, and the bits of who causes whom in some of them and in all.
    """
    changes = len(inside)
    for i in range(inside.shape[1]):
        for j in range(lagged.shape[1]):
            if links[0][i] + links[1][j] > most:
                break
            first, alike = True, 1
            for k in range(1, changes):
                a, b = inside[k, i] - inside[0, i], lagged[k, j] - lagged[0, j]
                first = first and (a > 0 or (a == 0 and b >= 0))
                alike += a == 0 and b == 0
            if first:
                found, causes = answers_of(inside[0, i], lagged[0, j], *asked)
                count, ever, always = told.get(found, (0, 0, -1))
                told[found] = (count + changes // alike, ever | causes, always & causes)


def counted(observed, hidden, most=99):
    """Counts over all models with at most so many links."""
    models = Models(observed, hidden)
    inside, lagged = models.inside(), models.lagged(most)
    links = inside.sum(axis=(1, 2)), lagged.sum(axis=(1, 2))
    told = Dict.empty(KEY, COUNTS)
    gathered(models.renamed(inside), models.renamed(lagged), links, most, models.questions(), told)
    total = dict.fromkeys(
        ("models", "sets of answers", "true", "lost", "too many", "arrows", "tails", "wrong"), 0
    )
    for answers, facts in told.items():
        for name, found in _compared(models, answers, *facts).items():
            total[name] += found
    return total


def _compared(models, number, count, ever, always):
    """The counts of the models with the same answers."""
    answers = {ask: bool(number[k // 60] >> k % 60 & 1) for k, ask in enumerate(models.asked)}
    endpoints = search(Known(answers), plan_of(models.window, Contexts())).endpoints[0]
    apart = {ask[:2] for ask, separates in answers.items() if separates}
    now, here = pairs_now(models.window), adjacent(endpoints)
    asked = [pair for pair in models.pairs if now[pair]]
    wrong = 0
    for k, (a, b) in enumerate(models.causes):  # the end at a says whether a causes b
        wrong += endpoints[b, a] == Endpoint.ARROW and bool(ever >> k & 1)
        wrong += endpoints[b, a] == Endpoint.TAIL and not always >> k & 1
    return {
        "models": count,
        "sets of answers": 1,
        "true": count * sum(pair not in apart for pair in asked),
        "lost": count * sum(pair not in apart and not here[pair] for pair in asked),
        "too many": count * sum(bool(here[pair]) and pair in apart for pair in asked),
        "arrows": count * int(((endpoints == Endpoint.ARROW) & now).sum()),
        "tails": count * int(((endpoints == Endpoint.TAIL) & now).sum()),
        "wrong": count * int(wrong),
    }


if __name__ == "__main__":
    print(counted(*map(int, sys.argv[1:])))
