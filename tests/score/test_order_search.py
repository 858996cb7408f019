"""The searches: what a move claims is what a fresh fit finds, and the optimum is the best of all models."""

import naive_score
import numpy as np
import pytest
from score_tables import model_table, quiet, setup_of

import causalcontext as cc
from causalcontext.graphs.ends import directed, marked
from causalcontext.kernels.orders.context_parents import choose_context_parents, no_memory, remembered_score
from causalcontext.kernels.orders.order_moves import climb, sweep
from causalcontext.kernels.orders.order_state import refit
from causalcontext.score.equivalence import equivalence_ends
from causalcontext.score.exact_search import search_exactly
from causalcontext.score.model import read_model
from causalcontext.score.options import ScoreOptions
from causalcontext.score.order_search import random_order, search_orders
from causalcontext.score.problem import context_table, lattice_layout, make_state

OPTIONS = ScoreOptions()
CYCLIC = {"cycles": "enforce", "edits": ("add", "remove", "flip")}


def numbered_links(setup):
    return cc.Knowledge().links([str(i) for i in range(setup.variables + 1)])


@pytest.mark.parametrize("contexts", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_kept_scores_are_those_of_a_fresh_fit(contexts, seed):
    table = model_table(300, 100 + seed, nodes=9, contexts=max(contexts, 2), edits=("add", "remove", "flip"))
    setup = setup_of(table) if contexts > 1 else setup_of(table.drop(columns="R"), None)
    layout, generator = lattice_layout(setup, OPTIONS), np.random.default_rng(seed)
    order = random_order(setup, generator)
    for shared in (True, False) if contexts > 1 else (True,):
        state = make_state(setup, layout, np.tile(order, (setup.contexts, 1)), shared, no_memory())
        before = refit(layout.problem, state)
        for _ in range(3):
            gain = sweep(layout.problem, state, generator.permutation(setup.variables), shared)
            kept = state.value.copy()
            after = refit(layout.problem, state)
            assert np.allclose(kept, state.value, atol=1e-8)
            assert after - before == pytest.approx(gain, abs=1e-6)
            assert gain >= 0.0
            assert np.array_equal(np.argsort(state.orders, axis=1), state.place)
            before = after
        order = state.orders[0]
    prefix = state.orders[:, : state.place[0, setup.variables] + 1]
    assert (prefix == prefix[0]).all()


def small_problem(seed, contexts):
    setup = setup_of(model_table(150, seed, nodes=4, density=0.7, contexts=contexts, edits=("add", "remove", "flip")))
    table, memory = context_table(setup, OPTIONS), no_memory()

    def of_context(prefix):
        before = np.isin(np.arange(3), prefix)
        chosen, count = choose_context_parents(table, before)
        return remembered_score(table, chosen, count, memory), tuple(chosen[:count].tolist())

    return setup, naive_score.SmallProblem(setup.values, setup.codes, 2.0, of_context)


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_search_finds_the_best_of_all_models_and_marks_what_they_share(seed):
    setup, naive = small_problem(500 + seed, 2)
    models = list(naive.models())
    best = max(model[0] for model in models)
    found = search_exactly(setup, OPTIONS)
    assert found.score == pytest.approx(best, abs=1e-5)
    ties = {model[1:] for model in models if model[0] > best - 1e-6}
    arrows = np.array([_links(model, 3, 2) for model in ties])
    ends = equivalence_ends(found, numbered_links(setup))
    always, ever = arrows.all(axis=0), arrows.any(axis=0)
    assert np.array_equal(directed(ends), always)
    undirected = (ever | ever.transpose(0, 2, 1)) & ~always & ~always.transpose(0, 2, 1)
    assert np.array_equal(marked(ends, "o-o"), undirected)


def _links(model, p, contexts):
    """Directed links of a naive model, shape (contexts, p + 1, p + 1)."""
    parents_of_context, children, parents = model
    links = np.zeros((contexts, p + 1, p + 1), dtype=bool)
    for node in range(p):
        links[:, p, node] = children[node]
        for r in range(contexts):
            links[r, list(parents[node][r]), node] = True
    links[:, list(parents_of_context), p] = True
    return links


def test_three_contexts_are_searched_exactly_too():
    setup, naive = small_problem(700, 3)
    best = max(model[0] for model in naive.models())
    assert search_exactly(setup, OPTIONS).score == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize(
    "design", [{}, {"cycles": "enforce", "edits": ("add", "remove", "flip")}, {"contexts": 3, "nodes": 6}]
)
def test_the_order_search_reaches_the_optimum(design):
    reached = 0
    for seed in range(10):
        setup = setup_of(model_table(300, 900 + seed, **design))
        best = search_exactly(setup, OPTIONS).score
        found = search_orders(setup, OPTIONS, 0, 1, quiet).models
        assert [model.score for model in found] == sorted((model.score for model in found), reverse=True)
        reached += found[0].score > best - 1e-3
    assert reached >= 9


def test_union_cycles_are_within_reach():
    found = 0
    for seed in range(10):
        model = cc.simulate.random_model(seed=seed, cycles="enforce", edits=("flip",))
        result = cc.discover(model.sample(1000, seed), "R", method="score-ac")
        truth, union = (marked(graph.ends, "<=>") for graph in (model.union_graph(), result.union))
        found += bool((truth & union).any())
    assert found >= 7


def test_a_read_model_respects_its_orders_and_its_score_is_the_sum_of_naive_scores():
    setup = setup_of(model_table(400, 41, contexts=3))
    layout = lattice_layout(setup, OPTIONS)
    state = make_state(setup, layout, np.tile(random_order(setup, np.random.default_rng(0)), (3, 1)), True, no_memory())
    visits = np.random.default_rng(1).permuted(np.tile(np.arange(7), (20, 1)), axis=1)
    _, score = climb(layout.problem, state, visits, True)
    state = make_state(setup, layout, np.tile(state.orders[0], (3, 1)), False, no_memory())
    _, score = climb(layout.problem, state, visits, False)
    model = read_model(setup, layout, state, score)
    total = naive_score.context_score(setup.values, setup.codes, np.flatnonzero(model.context_parents), 2.0)
    for node in range(7):
        if model.shifted[node]:
            parents = np.flatnonzero(model.parents[0, node])
            total += naive_score.shifted_score(setup.values, setup.codes, node, parents, 2.0)
            continue
        for mask in set(model.block[:, node].tolist()):
            members = [r for r in range(3) if mask >> r & 1]
            rows = setup.values[np.isin(setup.codes, members)]
            parents = np.flatnonzero(model.parents[members[0], node])
            total += naive_score.local_score(rows, node, parents, 2.0)
    assert score == pytest.approx(total, abs=1e-3)
    for r, links in enumerate(model.links()):
        place = np.argsort(model.orders[r])
        causes, effects = np.nonzero(links)
        assert (place[causes] < place[effects]).all()


def test_many_contexts_are_merged():
    """Six contexts, two mechanisms: the contexts that share one are found."""
    generator = np.random.default_rng(3)
    code = generator.integers(6, size=1200)
    x = generator.normal(size=1200)
    y = np.where(code < 3, 1.5, -1.0) * x + generator.normal(size=1200)
    z = y + generator.normal(size=1200)
    result = cc.discover({"X": x, "Y": y, "Z": z, "R": code}, "R", method="score-ac", transform="none")
    evidence = result.evidence
    assert evidence.model[:3] == ("pooled", "partitioned", "pooled")
    assert [evidence.merged(1, r, result.contexts) for r in (0, 5)] == [(0, 1, 2), (3, 4, 5)]
    assert result.union.mark("R", "Y") == "-->"
    assert "shared by 0, 1, 2" in result.explain("X", "Y")


def test_greedy_merging_agrees_with_all_partitions():
    """Merging pair by pair finds the best of all partitions of five contexts, or comes close."""
    import causalcontext.score.merging as merging

    equal = 0
    for seed in range(6):
        setup = setup_of(model_table(600, 300 + seed, contexts=5, nodes=5, edits=("add", "remove", "flip")))
        greedy = search_orders(setup, OPTIONS, 0, 1, quiet).models[0]
        merger = merging.Merger(setup, OPTIONS)
        place = np.argsort(greedy.orders, axis=1)
        for node in range(4):
            if not greedy.context_children[node] or greedy.shifted[node]:
                continue
            ways = [way for way in naive_score.partitions(list(range(5))) if len(way) > 1]
            best = max(sum(merger.score(node, sum(1 << r for r in block), place) for block in way) for way in ways)
            own = sum(merger.score(node, mask, place) for mask in set(greedy.block[:, node].tolist()))
            equal += own > best - 1e-6
            assert own > best - 10.0
    assert equal >= 4
