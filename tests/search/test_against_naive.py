"""The compiled search and the batched one against Algorithm 1 written the obvious way, on noisy
tables.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import naive
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.levels.neighbours import graphs_of, list_edges
from causalcontext.kernels.levels.skeleton import CUT
from causalcontext.knowledge import Knowledge
from causalcontext.results.log import CITestLog
from causalcontext.search.algorithm import FoundGraphs, algorithm_1
from causalcontext.search.batched_search import BatchedSearch
from causalcontext.search.colliders import judge_triples
from causalcontext.search.level_search import SplitSearch
from causalcontext.search.plan import Plan
from causalcontext.views import adaptive, masked, pooled
from marks import rest_slow

RULES = {"adaptive": adaptive, "masked": masked, "pooled": pooled}


@dataclass(frozen=True)
class Case:
    """A table with the context at column `place`, the last of the names by position."""

    table: pd.DataFrame
    place: int

    @cached_property
    def prepared(self):
        data = read_table(self.table, "R")
        return find_test("partial-correlation").prepare(data, gather_statistics(data))

    @property
    def levels(self):
        return tuple(sorted(self.table["R"].unique().tolist()))

    def answer(self):
        """The naive p-value of a question about columns by position."""
        system = self.table.drop(columns="R").to_numpy(float)
        context = self.table["R"].to_numpy()
        to = {j: j if j < self.place else j - 1 for j in range(self.table.shape[1])}

        @cache
        def p_value(x, y, given, where):
            rows = slice(None) if where is None else context == where
            rest = tuple(to[z] for z in given if z != self.place)
            if self.place in (x, y):
                twin = naive.context_change(system, context, to[x + y - self.place], rest)
            elif self.place in given:
                twin = naive.stratified_partial_correlation(system, context, to[x], to[y], rest)
            else:
                twin = naive.partial_correlation(system[rows], to[x], to[y], rest)
            return None if twin is None else twin[-1]

        return p_value


def make_case(
    seed: int, sizes=(120, 80), columns: int = 6, place: int = 3, ugly: bool = False
) -> Case:
    """A random linear system; the context is a noisy threshold of one column, and changes some of
    the slopes.
    """
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    values = rng.standard_normal((n, columns))
    values[:, 1] += 0.8 * values[:, 0]
    driver = values[:, 1] + 0.3 * rng.standard_normal(n)
    context = np.searchsorted(np.quantile(driver, np.cumsum(sizes)[:-1] / n), driver)
    for j in range(2, columns):
        for i in rng.choice(j, size=min(2, j), replace=False):
            keep = (
                np.where(context == rng.integers(len(sizes)), 0.0, 1.0)
                if rng.random() < 0.4
                else 1.0
            )
            values[:, j] += keep * rng.choice([-0.6, 0.5, 0.9]) * values[:, i]
    if ugly:
        values[:, 2] = 3 * values[:, 0] - values[:, 1]  # collinear everywhere
        values[context == 0, 4] = 0.1  # constant in one context
    table = pd.DataFrame(values, columns=[f"X{j}" for j in range(columns)])
    table.insert(place, "R", context)
    return Case(table, place)


def search(
    case: Case,
    rule: str,
    knowledge: Knowledge | None = None,
    max_given=None,
    batched=False,
    n_jobs=1,
    collider_rule="majority",
) -> tuple[FoundGraphs, Plan]:
    variables = case.table.shape[1]
    links = (knowledge or Knowledge()).links(tuple(case.table.columns))
    levels = (0,) if rule == "pooled" else case.levels
    limit = variables if max_given is None else max_given
    plan = Plan(
        variables, case.prepared.contexts, RULES[rule], levels, links, 0.05, limit, collider_rule
    )
    engine = BatchedSearch(case.prepared) if batched else SplitSearch(case.prepared)
    return algorithm_1(engine, plan, n_jobs, lambda *_: None), plan


def edge_sets(found: FoundGraphs) -> list[set[frozenset[int]]]:
    return [
        {frozenset((int(i), int(j))) for i, j in zip(*np.nonzero(marks), strict=True)}
        for marks in found.endpoints
    ]


CASES = {
    "plain": make_case(1),
    "five small contexts": make_case(6, sizes=(40, 12, 12, 10, 9)),
    "ugly, three contexts": make_case(8, sizes=(70, 40, 12), ugly=True),
    "context first": make_case(2, place=0),
    "context last": make_case(3, place=6),
    "three contexts": make_case(4, sizes=(90, 60, 50)),
    "tiny context": make_case(5, sizes=(150, 9)),
    "ugly": make_case(7, ugly=True),
}
every_case = pytest.mark.parametrize("case", rest_slow(CASES.values(), fast=3), ids=list(CASES))
every_rule = pytest.mark.parametrize("rule", list(RULES))


@every_case
@every_rule
@pytest.mark.parametrize("max_given", [None, 1])
def test_skeleton_and_separating_sets_are_the_naive_ones(case, rule, max_given):
    found, plan = search(case, rule, max_given=max_given)
    twins = naive.pc_stable_contexts(
        case.answer(), range(plan.variables), case.place, plan.cells, rule, max_given=max_given
    )
    for g, (edges, twin) in enumerate(zip(edge_sets(found), twins.values(), strict=True)):
        assert edges == twin.edges
        for pair, sets in twin.separations.items():
            chosen, mask = found.sepsets.separating_set(g, *sorted(pair))
            fixed = plan.contexts.fixed(int(plan.views[g, mask]))
            assert frozenset((*chosen, *plan.masks[mask].triggers, *fixed)) in sets


@every_case
@every_rule
@pytest.mark.parametrize("collider_rule", ["majority", "conservative", "first"])
def test_batches_give_the_same_as_the_kernel(case, rule, collider_rule):
    kernel, plan = search(case, rule, collider_rule=collider_rule)
    batched, _ = search(case, rule, batched=True, collider_rule=collider_rule)
    assert np.array_equal(kernel.endpoints, batched.endpoints)
    mine, theirs = (
        CITestLog.from_sepsets(plan, found.sepsets, len(plan.cells), ())
        for found in (kernel, batched)
    )
    for name in ("decision", "n", "view", "given", "reason", "untested", "cut", "label"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name))
    for name in ("p", "statistic", "df"):
        np.testing.assert_allclose(
            getattr(mine, name), getattr(theirs, name), rtol=1e-7, atol=1e-12
        )


@every_case
@every_rule
def test_threads_do_not_matter(case, rule):
    one, _ = search(case, rule)
    two, _ = search(case, rule, n_jobs=2)
    assert np.array_equal(one.endpoints, two.endpoints)
    for name in ("numbers", "facts", "given"):
        assert np.array_equal(
            getattr(one.sepsets, name), getattr(two.sepsets, name), equal_nan=name == "numbers"
        )


@every_case
@every_rule
@pytest.mark.parametrize("collider_rule", ["majority", "conservative"])
def test_colliders_are_those_of_the_naive_votes(case, rule, collider_rule):
    found, plan = search(case, rule, collider_rule=collider_rule)
    adjacency = found.endpoints != 0
    listed = found.sepsets.edges(adjacency)
    judged = judge_triples(SplitSearch(case.prepared), plan, found.sepsets, listed)
    untested = graphs_of(
        listed._replace(present=found.sepsets.untested(listed, plan)), plan.variables
    )
    union = [
        frozenset(map(int, pair)) for pair in zip(*np.nonzero(adjacency.any(axis=0)), strict=True)
    ]
    seen = 0
    for g, edges in enumerate(edge_sets(found)):
        for x, w, y in unshielded(edges, plan.variables):
            pool = union if case.place in (x, y) else edges
            total, held = naive.collider_votes(
                case.answer(), pool, (x, w, y), rule, case.place, plan.cells[g]
            )
            strict = collider_rule == "conservative" or w == case.place
            collider = held == 0 if strict else 2 * held < total
            unclear = (0 < held < total if strict else 2 * held == total) or total == 0
            unclear = bool(
                unclear or untested[g, x, w] or untested[g, y, w]
            )  # such an edge is in no collider
            assert ((x, w, y) in judged[g].colliders) == (collider and not unclear)
            assert ((x, w, y) in judged[g].ambiguous) == unclear
            seen += 1
    assert seen > 0 or rule == "masked"


class CountingSearch(SplitSearch):
    asked: int = 0

    def of(self, contexts):
        self.answering = super().of(contexts)
        return self

    def vote(self, group, ballots):
        self.asked += ballots.first.size
        return self.answering.vote(group, ballots)


def test_what_two_graphs_ask_alike_is_voted_on_once():
    case = CASES["plain"]
    plan = search(case, "adaptive")[1]
    chain = np.zeros((plan.variables, plan.variables), dtype=bool)
    system = [j for j in range(plan.variables) if j != case.place]
    for a, b in pairwise(system):
        chain[a, b] = chain[b, a] = True
    asked = []
    for graphs in (1, 2):
        some = replace(plan, cells=plan.cells[:graphs])
        found = algorithm_1(SplitSearch(case.prepared), some, 1, lambda *_: None)
        counting = CountingSearch(case.prepared)
        judged = judge_triples(
            counting, some, found.sepsets, list_edges(np.repeat(chain[None], graphs, axis=0))
        )
        assert all(one == judged[0] for one in judged)
        asked.append(counting.asked)
    assert 0 < asked[0] <= asked[1] < 2 * asked[0]


def unshielded(edges, variables):
    for x in range(variables):
        for y in range(x + 1, variables):
            if frozenset((x, y)) not in edges:
                for w in range(variables):
                    if {frozenset((x, w)), frozenset((w, y))} <= edges:
                        yield x, w, y


@every_case
@pytest.mark.parametrize("rule", ["adaptive", "pooled"])
def test_knowledge_limits_what_is_tested_and_conditioned_on(case, rule):
    knowledge = Knowledge(
        required=[("R", "X5")],
        forbidden=[("X1", "X3"), ("X3", "X1"), ("X4", "X0")],
        tiers=[["X0"], ["X2", "X4"]],
    )
    names = tuple(case.table.columns)
    links = knowledge.links(names)
    found, plan = search(case, rule, knowledge)
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    twins = naive.pc_stable_contexts(
        case.answer(),
        range(len(names)),
        case.place,
        plan.cells,
        rule,
        required=[pair for pair in pairs if links.required[pair]],
        absent=[pair for pair in pairs if links.absent[pair]],
        possible_parent=lambda x, z: bool(links.may[z, x]),
    )
    assert [twin.edges for twin in twins.values()] == edge_sets(found)


def test_the_weakest_evidence_is_kept_for_edges():
    case = CASES["plain"]
    found, _ = search(case, "adaptive")
    answer = case.answer()
    for g, edges in enumerate(edge_sets(found)):
        for x, y in (sorted(pair) for pair in edges if case.place not in pair):
            p = found.sepsets.numbers[g, found.sepsets.slot(x, y), 0]
            assert p >= (answer(x, y, (), None)) - 1e-12
            assert p <= 0.05


def test_many_contexts_search_in_groups():
    """More graphs than bits: 70 contexts, each with a few rows, still agree with the batched
    search.
    """
    rng = np.random.default_rng(3)
    context = np.repeat(np.arange(70), 12)
    x = rng.standard_normal((context.size, 3))
    x[:, 1] += x[:, 0] * (context % 2)
    table = pd.DataFrame(x, columns=["X0", "X1", "X2"])
    table.insert(0, "R", context)
    case = Case(table, 0)
    kernel, _ = search(case, "adaptive")
    assert kernel.endpoints.shape == (70, 4, 4)
    twins = naive.pc_stable_contexts(case.answer(), range(4), 0, case.levels, "adaptive")
    assert [twin.edges for twin in twins.values()] == edge_sets(kernel)


@pytest.mark.slow
def test_too_many_sets_are_cut_short_and_noted():
    """A context that changes 24 variables has more than a hundred thousand sets of six neighbours;
    the search ends.
    """
    rng = np.random.default_rng(8)
    context = rng.permutation(np.repeat([0, 1], 300))
    values = rng.standard_normal((600, 26)) * np.where(
        np.arange(26) < 24, 1.0 + 2.0 * context[:, None], 1.0
    )
    table = pd.DataFrame(values, columns=[f"X{j}" for j in range(26)])
    table.insert(0, "R", context)
    case = Case(table, 0)
    found, plan = search(case, "adaptive")
    log = CITestLog.from_sepsets(plan, found.sepsets, 2, case.prepared.labels)
    assert (found.endpoints[:, 0, 1:25] != 0).all()
    cut = log.cut > 0
    assert set(log.cut[cut].tolist()) == {6}
    assert cut.sum() == 2 * 24
    assert (
        np.triu_indices(27, 1)[0][np.nonzero(cut)[1]] == 0
    ).all()  # links at the context alone have so many sets


def test_batches_are_cut_short_too(monkeypatch):
    from causalcontext.search import batched_search

    case = make_case(21, columns=7)
    monkeypatch.setattr(batched_search, "MOST_SETS", 3)
    found, _ = search(case, "adaptive", batched=True)
    cut = found.sepsets.facts[:, :, CUT]
    assert cut.max() >= 1
    kept = (found.endpoints != 0)[:, found.sepsets.first, found.sepsets.second]
    assert kept[(cut > 0) & ~found.sepsets.separated()].all()
