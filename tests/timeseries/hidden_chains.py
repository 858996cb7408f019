"""Models over time with hidden processes, without noise: all small ones, and random ones with
contexts.

Without contexts answers are separations in a graph that is unrolled over time; with contexts they
are those of exact binary chains, of which some variables are not in the table. `python
tests/timeseries/hidden_chains.py` counts them all.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
from binary_chains import NO_COPY, random_chain

from causalcontext.graphs.endpoints import Endpoint, GraphKind, adjacent
from causalcontext.graphs.paths import is_acyclic, mag_adjacency, open_paths, reach
from causalcontext.knowledge import Links
from causalcontext.search.fci import Caution, fci
from causalcontext.search.lagged.own_past import OwnPastSearch
from causalcontext.search.lagged.plan import Window, WindowPlan, pairs_now, repeated_links
from causalcontext.views import Contexts, Outcomes, adaptive
from causalcontext_lab.simulate.hidden import PreparedOracle
from causalcontext_lab.simulate.testing import DiscreteModel
from oracle import always_trusted

BEFORE = 4
"""Steps before the window that are unrolled: one lag and three hidden or observed variables lead no
further.
"""
SMALLEST = 1e-13
"""Deviations below are rounding; those of dependent binary variables, three steps apart, may be
1e-11.
"""


def plan_of(window, contexts, across=True):
    """A search over the window, nothing known but time order."""
    may = np.zeros((window.nodes, window.nodes), dtype=bool)
    may[:, list(window.now)] = True
    np.fill_diagonal(may, False)
    links = repeated_links(Links(may, np.zeros_like(may)), window, contexts)
    return WindowPlan(
        window.nodes,
        contexts,
        adaptive,
        tuple(range(len(contexts.cells))),
        links,
        0.5,
        window.nodes,
        across=always_trusted if across else None,
        kind=GraphKind.PAG,
        asked=pairs_now(window),
        window=window,
    )


def search(prepared, plan, **caution):
    return fci(
        OwnPastSearch(prepared),
        plan,
        Caution(**{"contested": "bidirected", **caution}),
        1,
        lambda *_: None,
    )


def wrong_endpoints(endpoints, causes):
    """Arrows at causes, and tails at what is none; `causes[a, b]`: a is a cause of b."""
    at_second = causes.swapaxes(-1, -2)
    return ((endpoints == Endpoint.ARROW) & at_second) | ((endpoints == Endpoint.TAIL) & ~at_second)


class Known:
    """A test that looks answers up."""

    def __init__(self, answers):
        self.answers = answers

    def answer(self, queries):
        p = np.array(
            [
                float(self.answers[min(q.x, q.y), max(q.x, q.y), tuple(sorted(q.given))])
                for q in queries
            ]
        )
        nothing = np.zeros(len(p), dtype=np.int64)
        return Outcomes(1 - p, np.full(len(p), np.nan), p, nothing, nothing.astype(np.int8))


def every_model(variables):
    """Links from the last step and inside a step of all models; shapes (models, variables,
    variables).
    """
    pairs, inside = list(combinations(range(variables), 2)), []
    for kinds in product(range(3), repeat=len(pairs)):
        links = np.zeros((variables, variables), dtype=bool)
        for pair, kind in zip(pairs, kinds, strict=True):
            if kind:
                links[pair if kind == 1 else pair[::-1]] = True
        if is_acyclic(links):
            inside.append(links)
    size = variables**2
    lagged = (
        ((np.arange(2**size)[:, None] >> np.arange(size)) & 1)
        .astype(bool)
        .reshape(-1, variables, variables)
    )
    return np.repeat(lagged, len(inside), axis=0), np.tile(np.array(inside), (len(lagged), 1, 1))


def random_models(variables, models, seed, share):
    """The same of random models."""
    random = np.random.default_rng(seed)
    place = np.argsort(random.random((models, variables)), axis=1)
    later = place[:, :, None] < place[:, None]
    lagged, inside = (random.random((models, variables, variables)) < share for _ in range(2))
    return lagged, inside & later


def unrolled(lagged, inside, times):
    """The graph of so many steps, earliest first."""
    models, size, _ = inside.shape
    found = np.zeros((models, times, size, times, size), dtype=bool)
    for t in range(times):
        found[:, t, :, t] = inside
        if t:
            found[:, t - 1, :, t] = lagged
    return found.reshape(models, times * size, times * size)


def counted(observed, lags, lagged, inside):
    """Counts over models whose first variables are observed; what answers alike is searched
    once.
    """
    window, size, times = Window(observed, lags, beyond=0), inside.shape[1], lags + 1 + BEFORE
    nodes = [(times - 1 - lag) * size + v for v, lag in map(window.place, range(window.nodes))]
    asked = [
        (x, y, given)
        for x, y in combinations(range(window.nodes), 2)
        for count in range(window.nodes - 1)
        for given in combinations([z for z in range(window.nodes) if z not in (x, y)], count)
    ]
    graph = unrolled(lagged, inside, times)
    answers = np.empty((len(inside), len(asked)), dtype=bool)
    for k, (x, y, given) in enumerate(asked):
        chosen = np.zeros(graph.shape[-1], dtype=bool)
        chosen[[nodes[z] for z in given]] = True
        answers[:, k] = ~open_paths(graph, nodes[x], chosen)[:, nodes[y]]
    _, first, place = np.unique(
        np.packbits(answers, axis=1), axis=0, return_index=True, return_inverse=True
    )
    found = [
        search(Known(dict(zip(asked, row.tolist(), strict=True))), plan_of(window, Contexts()))
        for row in answers[first]
    ]
    endpoints = np.concatenate([one.endpoints for one in found])[place.ravel()]
    causes, there = reach(graph)[:, np.array(nodes)[:, None], nodes], mag_adjacency(graph, nodes)
    here, pairs, now = adjacent(endpoints), np.triu(pairs_now(window), 1), pairs_now(window)
    return {
        "models": len(inside),
        "sets of answers": len(first),
        "true": int((there & pairs).sum()),
        "lost": int((there & ~here & pairs).sum()),
        "too many": int((here & ~there & pairs).sum()),
        "arrows": int(((endpoints == Endpoint.ARROW) & now).sum()),
        "tails": int(((endpoints == Endpoint.TAIL) & now).sum()),
        "wrong": int(wrong_endpoints(endpoints, causes).sum()),
        "conflicts": (
            int((endpoints == Endpoint.CONFLICT).sum()) + sum(len(one.doubts) for one in found)
        ),
    }


class ExactOracle(PreparedOracle):
    """Answers of an exact law; only rounding is called independence."""

    def answer(self, queries):
        found = super().answer(queries)
        p = np.where(np.isnan(found.statistic), np.nan, found.statistic <= SMALLEST)
        return Outcomes(found.statistic, found.df, p, found.n, found.reason)


def graph_of(chain, values):
    """The graph of a chain where context lags, (number of the context, lag), have values; others
    are free.
    """
    n, d, times = chain.variables, len(chain.reads), 2 + BEFORE
    graph = np.zeros((times, n, times, n), dtype=bool)
    for ago, j in product(range(times), range(n)):
        reads = chain.reads[j] if j < d else ()
        fixed = {
            k: values[k, ago + lag]
            for k, lag in enumerate(reads)
            if lag != NO_COPY and (k, ago + lag) in values
        }
        fits = [
            r
            for r, cell in enumerate(chain.values)
            if all(cell[k] == value for k, value in fixed.items())
        ]
        links, t = chain.links[fits, :, :, j].any(axis=0), times - 1 - ago
        for lag in range(min(t, 1) + 1):
            graph[t - lag, :, t, j] = links[lag]
    return graph.reshape(times * n, times * n)


def search_chain(chain, hidden):
    """(found, plan, variables of the table) where the last `hidden` variables, before the contexts,
    are not there.
    """
    n, d = chain.variables, len(chain.reads)
    seen = [v for v in range(n) if not d - hidden <= v < d]
    window = Window(len(seen), 1, contexts=tuple(map(seen.index, chain.context_places)), beyond=0)
    columns = tuple((1 - lag) * n + seen[v] for v, lag in map(window.place, range(window.nodes)))
    positions = tuple(window.at(v, lag) for lag in (0, 1) for v in window.contexts)
    contexts = Contexts(positions, tuple(product(range(2), repeat=len(positions))))
    axes = chain.joint.ndim
    law = DiscreteModel(
        tuple(map(str, range(axes))), axes - 1, np.zeros((2, axes, axes), dtype=bool), chain.joint
    )
    plan = plan_of(window, contexts)
    return search(ExactOracle(law.deviation, columns, contexts), plan), plan, seen


def count_chain(chain, hidden):
    """Ends of the PAGs of one chain, and which are wrong.

    Before the context lags the context is free: x is a cause of y if it is one for some values
    there. A pair that is adjacent for some of them must be found.
    """
    found, plan, seen = search_chain(chain, hidden)
    window, n, times = plan.window, chain.variables, 2 + BEFORE
    nodes = [(times - 1 - lag) * n + seen[v] for v, lag in map(window.place, range(window.nodes))]
    system = np.array([not window.is_context(v) for v in range(window.nodes)])
    pairs = np.triu(pairs_now(window) & system & system[:, None], 1)
    free = range(2, times) if len(window.contexts) == 1 else range(2, 4)
    earlier, counts = [(k, lag) for k in range(len(window.contexts)) for lag in free], Counter()
    for endpoints, cell in zip(found.endpoints, plan.contexts.cells, strict=True):
        fixed = {
            (window.context_number(p), window.lag(p)): value
            for p, value in zip(plan.contexts.positions, cell, strict=True)
        }
        graphs = np.stack(
            [
                graph_of(chain, fixed | dict(zip(earlier, values, strict=True)))
                for values in product(range(2), repeat=len(earlier))
            ]
        )
        causes = reach(graphs)[:, np.array(nodes)[:, None], nodes].any(axis=0)
        there, here = mag_adjacency(graphs, nodes).any(axis=0), adjacent(endpoints)
        counts.update(
            {
                "true": int((there & pairs).sum()),
                "lost": int((there & ~here & pairs).sum()),
                "arrows": int(((endpoints == Endpoint.ARROW) & pairs_now(window)).sum()),
                "tails": int(((endpoints == Endpoint.TAIL) & pairs_now(window)).sum()),
                "wrong": int(wrong_endpoints(endpoints, causes).sum()),
                "conflicts": int((endpoints == Endpoint.CONFLICT).sum()),
            }
        )
    counts["conflicts"] += len(found.doubts)
    return counts


def count_chains(variables, hidden, chains, contexts=1, share=0.3, first=0):
    """The same of random chains."""
    total = Counter()
    for number in range(first, first + chains):
        seed = [number, variables, hidden, contexts]
        total.update(
            count_chain(random_chain(variables + hidden, seed, "any", share, contexts), hidden)
        )
    return total


if __name__ == "__main__":
    for hidden, lags in ((1, 1), (1, 2)):
        print(
            f"2 observed, {hidden} hidden, lags={lags}, all:",
            counted(2, lags, *every_model(2 + hidden)),
        )
    for observed, hidden, lags, models, share in ((3, 1, 1, 4000, 0.3), (3, 2, 1, 4000, 0.25)):
        drawn = random_models(observed + hidden, models, [observed, hidden, lags], share)
        print(
            f"{observed} observed, {hidden} hidden, lags={lags}, random:",
            counted(observed, lags, *drawn),
        )
    for variables, hidden, contexts, chains in (
        (2, 1, 1, 1500),
        (2, 2, 1, 300),
        (3, 1, 1, 200),
        (3, 2, 1, 20),
        (1, 1, 2, 300),
        (2, 1, 2, 60),
    ):
        found = count_chains(variables, hidden, chains, contexts, 0.25, 5000)
        print(
            f"{variables} observed, {hidden} hidden, {contexts} contexts, {chains} chains:",
            dict(found),
        )
